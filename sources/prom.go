package sources

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
)

var promKind = Kind{
	Name:    model.PrometheusTarget,
	Doc:     "a Prometheus-compatible server (Prometheus, Thanos, Mimir, VictoriaMetrics): a whole fleet, and its past",
	Example: "prom+http://prometheus:9090",
	Match:   isProm,
	Open:    openProm,
}

const (
	promScheme = "prom"
	promForm   = "write prom+http(s)://HOST:PORT, with the path before /graph if there is one, and ?dialect=NAME, replicas=N or match=LABEL=\"VALUE\" if need be"
)

func isProm(arg string) bool {
	scheme, _, found := strings.Cut(arg, ":")
	return found && (scheme == promScheme+"+http" || scheme == promScheme+"+https")
}

func openProm(_ context.Context, spec Spec) ([]Opened, error) {
	opened, err := openFleet(spec)
	if err != nil {
		return nil, err
	}
	return []Opened{opened}, nil
}

// openFleet opens the address of a server, with prom+ before it.
func openFleet(spec Spec) (Opened, error) {
	_, address, _ := strings.Cut(spec.Address, "+")
	u, err := parseWhole(address)
	if err != nil {
		return Opened{}, usage(spec.Address, "not a complete address", promForm)
	}
	source, err := newPrometheus(spec, u)
	if err != nil {
		return Opened{}, err
	}
	u.User = nil // it is sent as a header from here on
	target := model.Target{ID: promScheme + "+" + targetID(u), Name: u.Host, Kind: model.PrometheusTarget}
	source.target = target
	return Opened{Target: target, Source: source}, nil
}

// maxReplicas bounds the rows of single servers that may be asked for.
const maxReplicas = 200

// newPromFleet reads the settings that an address bears, and leaves the server those
// that are its own.
func newPromFleet(spec Spec, u *url.URL) (*promFleet, error) {
	f := &promFleet{set: spec.Options.Dialects}
	query := u.Query()
	f.choice, f.match = query.Get("dialect"), query.Get("match")
	if n := query.Get("replicas"); n != "" {
		var err error
		if f.replicas, err = strconv.Atoi(n); err != nil || f.replicas < 0 || f.replicas > maxReplicas {
			return nil, usage(spec.Address, "replicas is the number of single servers to show", fmt.Sprintf("from 0 to %d", maxReplicas))
		}
	}
	if f.choice != "" && !slices.Contains(f.set.Engines(), f.choice) {
		return nil, usage(spec.Address, fmt.Sprintf("there is no dialect %q", excerpt(f.choice)), "one of "+strings.Join(f.set.Engines(), ", "))
	}
	if f.choice != "" && f.set.Kind(f.choice) == model.GPUTarget {
		return nil, usage(spec.Address, f.choice+" tells of GPUs, which are read from their exporters alone", "name those: dns+http://NAME:PORT, or a file_sd: file")
	}
	for _, own := range []string{"dialect", "match", "replicas"} {
		query.Del(own)
	}
	server := *u
	server.RawQuery = query.Encode()
	var err error
	f.promServer, err = newPromServer(spec, &server)
	return f, err
}

// prometheus watches the servers that a Prometheus-compatible server scrapes.
type prometheus struct {
	*promFleet
	target   model.Target // of its past
	clock    serverTime
	asking   *asking
	looking  time.Time // the look under way; zero while there is none
	looked   time.Time // the last look at what is there
	levelsAt time.Time // the last answer of levels
	next     time.Time // the next question
	began    time.Time // the grid of instants that are asked for
	planned  planned   // the last instant of it
	load     load
	spoke    bool // something was told of the servers
	told     promTold

	samples []model.Sample // reused: a batch is valid until the next poll
	fresh   model.Replicas
	close   []*closeUp // single servers, of each view
	dressed map[dressed]model.LabelSet
}

// dressed is a set of labels with another engine.
type dressed struct {
	labels model.LabelSet
	engine string
}

var (
	_ Source   = (*prometheus)(nil)
	_ Advancer = (*prometheus)(nil)
)

// newPrometheus watches the engines behind the server at u, which is the address as
// in a browser: the path, if any, is what stands before /graph.
func newPrometheus(spec Spec, u *url.URL) (*prometheus, error) {
	fleet, err := newPromFleet(spec, u)
	if err != nil {
		return nil, err
	}
	return &prometheus{promFleet: fleet, load: load{most: firstSeries}}, nil
}

// serverTime is the server's clock: what it showed last, and when on the schedule.
type serverTime struct {
	shown time.Time
	at    time.Duration
}

// now is what the server's clock shows by now.
func (p *prometheus) now() time.Time { return p.clock.shown.Add(p.progress - p.clock.at) }

// Advance tells how far the schedule has come.
func (p *prometheus) Advance(to time.Duration) { p.progress = to }

const (
	// lookEvery is how often the source looks what is there, and lookSoon where there
	// is nothing yet.
	lookEvery = 5 * time.Minute
	lookSoon  = 15 * time.Second
	// longestStep is how far apart the answers are where the server scrapes less often:
	// of many servers some are scraped all the time.
	longestStep = 15 * time.Second
)

// Poll asks what is new, if there can be anything: between two scrapes of the server
// it only moves on between the last two answers. Where an answer takes longer than a
// poll may, that is what the poll shows too, until it would be out of date.
func (p *prometheus) Poll(ctx context.Context) (model.Batch, error) {
	err := p.ask(ctx)
	if err == nil || ctx.Err() != nil && p.flight != nil && p.current() {
		p.told.waits = err != nil
		return p.batch(), nil
	}
	err = asFault(err)
	if ctx.Err() != nil && p.flight != nil { // to wait for the answer costs nobody anything
		err = soon{err}
	}
	return model.Batch{}, err
}

// current reports whether the last levels may still be shown.
func (p *prometheus) current() bool {
	return !p.levelsAt.IsZero() && p.now().Sub(p.levelsAt) <= nearestAnchor*p.interval
}

// ask puts the questions that are due.
func (p *prometheus) ask(ctx context.Context) error {
	if p.clock.shown.IsZero() {
		if err := p.inSteps(ctx, func() error { return p.meet(ctx) }); err != nil {
			return err
		}
	}
	if p.asking == nil { // a question under way is waited for first
		if err := p.lookAgain(ctx); err != nil {
			return err
		}
	}
	if len(p.views) == 0 || p.asking == nil && p.now().Before(p.next) {
		return nil
	}
	return p.refresh(ctx)
}

// meet learns what server it is and what time it is there.
func (p *prometheus) meet(ctx context.Context) error {
	answer, err := p.greet(ctx)
	if err != nil {
		return err
	}
	if p.told.server, err = p.software(ctx); err != nil {
		return err
	}
	p.clock = serverTime{unixTime(float64(answer.vector[0].Value)), answer.at}
	return nil
}

// lookAgain looks what is there when it is time. What was there goes on where the
// look fails.
func (p *prometheus) lookAgain(ctx context.Context) error {
	now, every := p.now(), lookEvery
	if len(p.views) == 0 || p.interval == 0 {
		every = lookSoon
	}
	if since := now.Sub(p.looked); !p.looked.IsZero() && since >= 0 && since < every {
		return nil
	}
	err := p.lookNow(ctx)
	if err != nil && (len(p.views) == 0 || ctx.Err() != nil) {
		return err
	}
	p.looked = now
	p.told.note("look", err)
	if p.replicas > 0 {
		p.close = closeUps(p.promFleet)
	}
	return nil
}

// lookNow looks what is there. A look that takes longer than a poll is gone on with.
func (p *prometheus) lookNow(ctx context.Context) error {
	if now := p.now(); p.looking.IsZero() || now.Sub(p.looking).Abs() > flightTimeout {
		p.looking, p.kept = now, nil
	}
	err := p.inSteps(ctx, func() error { return p.look(ctx, p.looking, lookBack) })
	if ctx.Err() == nil {
		p.looking = time.Time{}
	}
	return err
}

// step is how far apart the answers are: a scrape interval, or a whole part of it.
func (p *prometheus) step() time.Duration {
	parts := max(1, (p.interval+longestStep-1)/longestStep)
	return p.interval / parts
}

// batch is what the last answers say of this instant. Counts are shown as they were
// one step ago, when it is known how they went on.
func (p *prometheus) batch() model.Batch {
	now := p.now()
	for _, t := range p.counts {
		if t.asked.IsZero() || now.Sub(t.asked) > nearestAnchor*p.interval+t.lag {
			t.hide()
			continue
		}
		t.showCounts(t.until(now))
	}
	for _, t := range p.levels {
		if now.Sub(t.level.at) > nearestAnchor*p.interval+p.step() && p.interval > 0 {
			t.hide()
			continue
		}
		t.showLevels(now.Add(-p.step()))
	}
	b := p.gather()
	b.Clock, b.ClockError = now, time.Millisecond
	if p.clock.at != p.progress { // it is only known how far the schedule has come since
		b.ClockError = time.Second
	}
	return b
}

// gather reads the pages as they stand.
func (p *prometheus) gather() model.Batch {
	p.samples, p.spoke = p.samples[:0], true
	dropped := 0
	for _, t := range p.levels {
		dropped += t.dropped
	}
	for _, t := range p.counts {
		dropped += t.dropped
	}
	for i, s := range p.views {
		first := len(p.samples)
		p.samples = s.read(p.samples)
		if len(p.views) > 1 {
			p.nameEngine(p.samples[first:], s.view.Engine())
		}
		if i < len(p.close) {
			p.samples = p.close[i].read(p, p.samples, first)
		}
	}
	return model.Batch{Samples: p.samples, About: p.told.about(p), Dropped: dropped}
}

// nameEngine tells the samples of a dialect apart from those of others that stand
// beside it.
func (p *prometheus) nameEngine(samples []model.Sample, engine string) {
	for i := range samples {
		samples[i].Labels = p.withEngine(samples[i].Labels, engine)
	}
}

// withEngine is a set of labels with another engine, "" for none. Each is made once.
func (p *prometheus) withEngine(labels model.LabelSet, engine string) model.LabelSet {
	key := dressed{labels, engine}
	if set, ok := p.dressed[key]; ok {
		return set
	}
	pairs := []string{model.LabelEngine, engine}
	for name, value := range labels.All {
		if name != model.LabelEngine {
			pairs = append(pairs, name, value)
		}
	}
	if p.dressed == nil || len(p.dressed) >= maxNames {
		p.dressed = map[dressed]model.LabelSet{}
	}
	p.dressed[key] = model.Labels(pairs...)
	return p.dressed[key]
}
