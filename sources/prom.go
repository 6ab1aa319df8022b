package sources

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	prommodel "github.com/prometheus/common/model"

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
	target model.Target // of its past
	now    serverTime
	looked time.Time // the last look at what is there
	next   time.Time // the next question
	began  time.Time // the grid of instants that are asked for
	load   load
	told   promTold

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
	return &prometheus{promFleet: fleet}, nil
}

// serverTime is the server's clock: what it showed last, and how far the schedule has
// come since.
type serverTime struct {
	shown   time.Time
	at, now time.Duration // on the schedule
}

func (c *serverTime) of() time.Time { return c.shown.Add(c.now - c.at) }

func (c *serverTime) set(t time.Time) { c.shown, c.at = t, c.now }

// Advance tells how far the schedule has come.
func (p *prometheus) Advance(to time.Duration) { p.now.now = to }

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
// it only moves on between the last two answers.
func (p *prometheus) Poll(ctx context.Context) (model.Batch, error) {
	if p.now.shown.IsZero() {
		now, err := p.greet(ctx)
		if err != nil {
			return model.Batch{}, asFault(err)
		}
		p.now.set(now)
		p.told.server = p.software(ctx)
	}
	if err := p.lookAgain(ctx); err != nil {
		return model.Batch{}, asFault(err)
	}
	if len(p.views) > 0 && !p.now.of().Before(p.next) {
		if err := p.ask(ctx); err != nil {
			return model.Batch{}, asFault(err)
		}
	}
	return p.batch(), nil
}

// lookAgain looks what is there when it is time. What was there goes on where the
// look fails.
func (p *prometheus) lookAgain(ctx context.Context) error {
	now, every := p.now.of(), lookEvery
	if len(p.views) == 0 || p.interval == 0 {
		every = lookSoon
	}
	if !p.looked.IsZero() && now.Sub(p.looked) < every {
		return nil
	}
	err := p.look(ctx, now, lookBack)
	if err != nil && len(p.views) == 0 {
		return err
	}
	p.looked = now
	p.told.note("look", err)
	if p.close == nil && p.replicas > 0 {
		p.close = closeUps(p.promFleet)
	}
	return nil
}

// step is how far apart the answers are: a scrape interval, or a whole part of it.
func (p *prometheus) step() time.Duration {
	parts := max(1, (p.interval+longestStep-1)/longestStep)
	return p.interval / parts
}

// ask asks for levels now, and for counts at the last instant of the grid.
func (p *prometheus) ask(ctx context.Context) error {
	levels := p.askLevels(ctx)
	if refused := (*queryError)(nil); levels != nil && !errors.As(levels, &refused) {
		return levels
	}
	counts := p.askCounts(ctx)
	if errors.Is(counts, context.Canceled) || levels != nil && counts != nil {
		return cmpErr(levels, counts)
	}
	p.told.note("levels", levels)
	p.told.note("counts", counts)
	return nil
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// The tags of what is asked for beside the dialects' metrics.
const (
	tagClock = "clock"
	tagFresh = "fresh" // servers that answered lately
	tagKnown = "known" // servers that the server means to scrape
)

// levelQuestions ask for what the servers show, and how many there are.
func (p *prometheus) levelQuestions() []string {
	lately := nearestAnchor * max(p.interval, time.Second)
	exprs := []string{
		tagged("count(count by (instance) ("+p.servers(lately)+"))", tagFresh),
		tagged("count(count by (instance) ("+p.servers(lookBack)+") and on (instance) up)", tagKnown),
	}
	for _, t := range p.levels {
		exprs = append(exprs, tagged(p.level(&t.read, lately), t.tag))
	}
	for _, c := range p.close {
		exprs = append(exprs, c.questions(p.promFleet, lately)...)
	}
	return exprs
}

// askLevels asks for what the servers show now, and what time it is there.
func (p *prometheus) askLevels(ctx context.Context) error {
	exprs := append(p.levelQuestions(), tagged("vector(time())", tagClock))
	answer, err := p.instant(ctx, joined(exprs), time.Time{})
	if err != nil {
		return err
	}
	p.told.remarks = answer.remarks
	p.fresh = model.Replicas{}
	rest := p.answerTo(p.levels, answer.vector)
	for _, s := range rest {
		if tagOf(s) == tagClock {
			p.now.set(unixTime(float64(s.Value)))
		}
		countServers(&p.fresh, s)
	}
	for _, t := range p.levels {
		t.level = append(t.level[:0], t.got...)
	}
	for _, c := range p.close {
		c.answer(p.promFleet, rest)
	}
	return nil
}

// countServers reads how many servers there are.
func countServers(n *model.Replicas, s *prommodel.Sample) {
	switch tagOf(s) {
	case tagFresh:
		n.Fresh = int(s.Value)
	case tagKnown:
		n.Total = int(s.Value)
	}
	n.Total = max(n.Total, n.Fresh)
}

// askCounts asks for what the servers counted, up to the last instant of the grid on
// which the anchors lie.
func (p *prometheus) askCounts(ctx context.Context) error {
	if p.interval == 0 {
		return nil
	}
	now, step := p.now.of(), p.step()
	if p.began.IsZero() || now.Before(p.began) {
		p.began = now.Truncate(time.Millisecond)
	}
	at := p.began.Add(now.Sub(p.began) / step * step)
	p.next = at.Add(step)
	due := p.load.choose(p.counts, at)
	for _, t := range due {
		switch gap := at.Sub(t.last.at); {
		case t.anchor.at.IsZero():
			t.begin(at.Add(-(nearestAnchor + 1) * p.interval))
		case gap <= 0 || gap > longestGap*p.interval:
			t.resume(at.Add(-(nearestAnchor + 1) * p.interval))
		}
	}
	spent := p.spent
	remarks, err := p.gain(ctx, due, at)
	if p.load.tell(due, p.spent-spent, err); err != nil {
		p.next = at.Add(p.load.wait(step))
		return err
	}
	p.told.remarks = append(p.told.remarks, remarks...)
	for _, t := range due {
		since := at.Sub(t.anchor.at)
		_, factor := rangeFrom(since, p.interval, p.wholes)
		t.take(at, t.got, factor)
		t.lag = step
		if !t.asked.IsZero() {
			t.lag = max(step, at.Sub(t.asked))
		}
		t.asked = at
	}
	return p.settleAnchors(ctx, due, at)
}

// gain asks what metrics gained from their anchors up to an instant.
func (f *promFleet) gain(ctx context.Context, tracks []*track, at time.Time) (remarks []string, err error) {
	exprs := make([]string, len(tracks))
	for i, t := range tracks {
		span, _ := rangeFrom(at.Sub(t.anchor.at), f.interval, f.wholes)
		exprs[i] = tagged(f.increase(&t.read, span), t.tag)
	}
	answer, err := f.instant(ctx, joined(exprs), at)
	if err != nil {
		return nil, err
	}
	f.answerTo(tracks, answer.vector)
	return answer.remarks, nil
}

// settleAnchors moves anchors that lie far back to a later instant, for which all
// samples must have come in by now.
func (p *prometheus) settleAnchors(ctx context.Context, tracks []*track, now time.Time) error {
	var due []*track
	var at time.Time
	for _, t := range tracks {
		if then, ok := t.settles(now, p.interval); ok && (at.IsZero() || then.Equal(at)) {
			at, due = then, append(due, t)
		}
	}
	if len(due) == 0 {
		return nil
	}
	if _, err := p.gain(ctx, due, at); err != nil {
		return err
	}
	for _, t := range due {
		_, factor := rangeFrom(at.Sub(t.anchor.at), p.interval, p.wholes)
		t.settle(at, t.got, factor)
	}
	return nil
}

// batch is what the last answers say of this instant. Counts are shown as they were
// one step ago, when it is known how they went on.
func (p *prometheus) batch() model.Batch {
	now := p.now.of()
	for _, t := range p.counts {
		if t.asked.IsZero() || now.Sub(t.asked) > nearestAnchor*p.interval+t.lag {
			t.hide()
			continue
		}
		t.showCounts(t.until(now))
	}
	b := p.gather()
	b.Clock, b.ClockError = now, time.Millisecond
	return b
}

// gather reads the pages as they stand.
func (p *prometheus) gather() model.Batch {
	p.samples = p.samples[:0]
	dropped := 0
	for _, t := range p.levels {
		t.showLevels()
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
