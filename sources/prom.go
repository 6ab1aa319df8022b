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
	if f.set.Kind(f.choice) == model.GPUTarget {
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

// asking is what is being asked for, where that takes longer than a poll.
type asking struct {
	levels bool // they are answered
	failed error
	at     time.Time // of the counts
	due    []*track
	settle []*track // those whose anchors are moved, once the counts are answered
	to     time.Time
}

// refresh asks for levels now, and for counts at the last instant of the grid.
func (p *prometheus) refresh(ctx context.Context) error {
	if p.asking == nil {
		p.asking = &asking{}
	}
	q := p.asking
	if !q.levels {
		q.failed = p.askLevels(ctx)
		if refused := (*queryError)(nil); q.failed != nil && !errors.As(q.failed, &refused) {
			return p.drop(ctx, q.failed)
		}
		q.levels = true
	}
	counts := p.askCounts(ctx, q)
	if counts != nil && (ctx.Err() != nil || q.failed != nil) {
		return p.drop(ctx, counts)
	}
	p.asking = nil
	p.told.note("levels", q.failed)
	p.told.note("counts", counts)
	return nil
}

// drop ends a refresh that failed. One that only takes long goes on.
func (p *prometheus) drop(ctx context.Context, err error) error {
	if ctx.Err() == nil || p.flight == nil {
		p.asking = nil
	}
	return err
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
		if tagOf(s) == tagClock && isTime(float64(s.Value)) {
			p.clock = serverTime{unixTime(float64(s.Value)), answer.at}
		}
		countServers(&p.fresh, s)
	}
	p.levelsAt = p.now()
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
func (p *prometheus) askCounts(ctx context.Context, q *asking) error {
	if p.interval == 0 { // nothing can be counted before that is known
		p.next = p.now().Add(lookSoon)
		return nil
	}
	if q.at.IsZero() && !p.plan(q) {
		return nil
	}
	if len(q.settle) == 0 {
		answer, err := p.gain(ctx, q.due, q.at)
		if err != nil {
			if ctx.Err() == nil {
				p.load.tell(q.due, 0, err)
				p.next = q.at.Add(p.load.wait(p.step()))
			}
			return err
		}
		p.load.tell(q.due, answer.spent, nil)
		p.told.remarks = append(p.told.remarks, answer.remarks...)
		p.count(q)
	}
	return p.settleAnchors(ctx, q)
}

// planned is an instant that was asked for, and what the clocks showed then.
type planned struct {
	at   time.Time
	then serverTime
}

// jumped reports whether the server's clock went on otherwise than ours since then: it
// was set, or another server of several answers.
func (p *prometheus) jumped() bool {
	drift := p.now().Sub(p.planned.then.shown) - (p.progress - p.planned.then.at)
	return !p.planned.at.IsZero() && drift.Abs() > nearestAnchor*p.interval
}

// plan chooses what to ask for, and from when on; ok is false where the server's clock
// has not come to another instant of the grid. What was gained meanwhile is not known
// where that clock jumped: to ask for a stretch of it would count much of it twice.
func (p *prometheus) plan(q *asking) (ok bool) {
	now, step, jumped := p.now(), p.step(), p.jumped()
	if p.began.IsZero() || jumped {
		p.began = now.Truncate(time.Millisecond)
	}
	q.at = p.began.Add(max(0, now.Sub(p.began)) / step * step)
	if !jumped && !p.planned.at.IsZero() && !q.at.After(p.planned.at) {
		p.next = p.planned.at.Add(step)
		return false
	}
	p.planned = planned{q.at, serverTime{now, p.progress}}
	q.due = p.load.choose(p.counts, q.at)
	p.next = q.at.Add(step)
	from := q.at.Add(-(nearestAnchor + 1) * p.interval)
	for _, t := range p.counts {
		if jumped && !t.anchor.at.IsZero() {
			t.resume(q.at)
			t.asked, t.shown = q.at, time.Time{}
		}
	}
	for _, t := range q.due {
		switch gap := q.at.Sub(t.last.at); {
		case t.anchor.at.IsZero():
			t.begin(from)
		case gap < 0 || gap > longestGap*p.interval:
			t.resume(from)
		}
	}
	return true
}

// gain asks what metrics gained from their anchors up to an instant.
func (p *prometheus) gain(ctx context.Context, tracks []*track, at time.Time) (answerOf, error) {
	exprs := make([]string, len(tracks))
	for i, t := range tracks {
		span, _ := rangeFrom(at.Sub(t.anchor.at), p.interval, p.wholes)
		exprs[i] = tagged(p.increase(&t.read, span), t.tag)
	}
	answer, err := p.instant(ctx, joined(exprs), at)
	if err == nil {
		p.answerTo(tracks, answer.vector)
	}
	return answer, err
}

// count takes the answer, and finds the anchors that lie far back by now.
func (p *prometheus) count(q *asking) {
	step := p.step()
	for _, t := range q.due {
		_, factor := rangeFrom(q.at.Sub(t.anchor.at), p.interval, p.wholes)
		t.take(q.at, t.got, factor)
		t.lag = step
		switch {
		case t.asked.IsZero() && p.spoke: // what came before is no gain of the moment at which it appears
			t.zero()
		case !t.asked.IsZero() && p.load.turns:
			t.lag = max(step, q.at.Sub(t.asked))
		}
		t.asked = q.at
		if to, ok := t.settles(q.at, p.interval); ok && (len(q.settle) == 0 || to.Equal(q.to)) {
			q.to, q.settle = to, append(q.settle, t)
		}
	}
}

// settleAnchors moves anchors to a later instant, for which all samples must have come
// in by now.
func (p *prometheus) settleAnchors(ctx context.Context, q *asking) error {
	if len(q.settle) == 0 {
		return nil
	}
	answer, err := p.gain(ctx, q.settle, q.to)
	if err != nil {
		return err
	}
	p.told.remarks = append(p.told.remarks, answer.remarks...)
	for _, t := range q.settle {
		_, factor := rangeFrom(q.to.Sub(t.anchor.at), p.interval, p.wholes)
		t.settle(q.to, t.got, factor)
	}
	return nil
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
