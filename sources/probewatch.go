package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"slotop/model"
)

// probe sends a request now and then and times its answer. An answer may take
// longer than a poll may: each request has a goroutine of its own, at most one at a
// time, and polls take what has ended.
type probe struct {
	sender *sender
	set    probeSettings
	budget spending
	time   time.Duration // as the schedule has it
	due    time.Duration // of the next request

	under *sending // nil while none is under way
	count int      // requests so far
	born  string   // keeps the names of requests apart from those of another run

	ended  []model.Request // not yet passed on
	lost   int             // of those, for want of room
	gaps   []model.Reported
	fault  error // why nobody was there the last time
	note   string
	failed string
	said   said
	closed bool
}

var (
	_ Source   = (*probe)(nil)
	_ Advancer = (*probe)(nil)
)

// maxWaiting bounds the requests that wait to be passed on while polls fail.
const maxWaiting = 64

func newProbe(asked *asked, set probeSettings, now func() time.Time) *probe {
	return &probe{
		sender: &sender{asked: asked, set: set, now: now, model: set.model}, set: set,
		budget: spending{requests: set.requests, tokens: set.tokens},
		born:   strconv.FormatInt(now().UnixNano(), 36),
	}
}

// Advance tells the time, by which requests are sent and called off.
func (p *probe) Advance(to time.Duration) { p.time = to }

// Poll takes what has ended and sends the next request where it is due. It waits
// for that one's answer as long as it may: a quick one is told at once.
func (p *probe) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if p.closed {
		return model.Batch{}, os.ErrClosed
	}
	p.collect()
	if p.under == nil && p.time >= p.due && !p.budget.exceeded(p.time, p.cost()) {
		p.send(ctx)
		select {
		case <-p.under.done:
			p.collect()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return model.Batch{}, ctx.Err()
			}
		}
	}
	if p.fault != nil {
		return model.Batch{}, p.fault
	}
	return p.batch(), nil
}

// cost is what a request may take from the budget at most: its prompt with what a
// chat template adds, and its answer.
func (p *probe) cost() int { return p.set.prompt + templateTokens + p.set.answer }

// templateTokens is more than any chat template was seen to add.
const templateTokens = 64

// send sends the next request. It outlives the poll.
func (p *probe) send(ctx context.Context) {
	p.count++
	p.due = p.time + p.set.every
	p.budget.spend(p.time, p.cost())
	whole, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	p.under = &sending{id: "probe-" + p.born + "-" + strconv.Itoa(p.count), since: p.time, stop: stop, done: make(chan struct{})}
	go p.sender.run(whole, p.under)
}

// collect takes what the request under way came to, and calls one off that takes
// too long.
func (p *probe) collect() {
	if p.under == nil {
		return
	}
	if p.time-p.under.since >= p.set.timeout {
		p.under.stop(errTooLong)
		<-p.under.done
	}
	select {
	case <-p.under.done:
	default:
		return
	}
	p.under.stop(errProbeClosed) // what is left of the context
	p.take(p.under.result)
	p.under = nil
}

// take takes a request that has ended.
func (p *probe) take(r probeResult) {
	for range r.tries - 1 {
		p.budget.spend(p.time, p.cost())
	}
	if n, ok := r.request.OutputTokens.Get(); ok && r.request.InputTokens.OK() && r.tries == 1 {
		p.budget.settle(n + r.request.InputTokens.Value)
	}
	p.fault = r.fault
	if r.request.ID != "" {
		p.ended = append(p.ended, r.request)
	}
	if n := len(p.ended) - maxWaiting; n > 0 {
		p.ended = slices.Delete(p.ended, 0, n)
		p.lost += n
	}
	if r.request.Outcome == model.RequestFailed {
		p.failed = "the last request failed (" + r.request.Reason + ")"
		if r.note != "" {
			p.failed += ": " + r.note
		}
		return
	}
	p.failed, p.note = "", r.note
	if len(r.gaps) > 0 {
		p.gaps = []model.Reported{gapsOf(r.gaps)}
	}
}

// gapsOf sums up the gaps between the events of an answer: each quantile is a gap
// that was seen.
func gapsOf(gaps []float64) model.Reported {
	slices.Sort(gaps)
	r := model.Reported{Signal: model.ITL, Count: model.Of(float64(len(gaps)))}
	for _, q := range []float64{0.5, 0.95, 1} {
		r.Quantiles = append(r.Quantiles, model.QuantileAt{Q: q, S: gaps[int(q*float64(len(gaps)-1)+0.5)]})
	}
	return r
}

// batch is what there is to pass on: what has ended, and how far the request is
// that has not.
func (p *probe) batch() model.Batch {
	b := model.Batch{About: p.describe(), Requests: p.ended, Lost: p.lost, Reported: p.gaps}
	p.ended, p.lost = nil, 0
	if p.under != nil {
		b.Requests = append(b.Requests, p.sender.underway(p.under))
	}
	return b
}

// describe says what the probe does, and what is to be known of its figures.
func (p *probe) describe() *model.About {
	about := model.About{Notes: []string{fmt.Sprintf(
		"a probe: a request of about %d tokens for %d at most each %v, in no workflow's figures", p.set.prompt, p.set.answer, p.set.every)}}
	if p.set.model != "" || p.under == nil && p.sender.model != "" {
		about.Models = []string{cleanName([]byte(p.sender.model))}
	}
	if p.budget.exceeded(p.time, p.cost()) {
		about.Notes = append(about.Notes, fmt.Sprintf(
			"stopped: its budget of %d requests and %d tokens an hour is spent; it goes on as the hour passes", p.set.requests, p.set.tokens))
	}
	for _, note := range []string{p.failed, p.note} {
		if note != "" {
			about.Notes = append(about.Notes, note)
		}
	}
	return p.said.of(about)
}

// Close calls the request under way off and waits for its end.
func (p *probe) Close() error {
	p.closed = true
	if p.under != nil {
		p.under.stop(errProbeClosed)
		<-p.under.done
		p.under = nil
	}
	p.sender.client.CloseIdleConnections()
	return nil
}

// spending keeps what was spent within the last hour.
type spending struct {
	requests, tokens int // an hour
	list             []spent
}

type spent struct {
	at     time.Duration
	tokens int
}

// exceeded reports whether a request of so many tokens would exceed the budget.
func (s *spending) exceeded(now time.Duration, tokens int) bool {
	s.list = slices.DeleteFunc(s.list, func(one spent) bool { return now-one.at >= time.Hour })
	sum := tokens
	for _, one := range s.list {
		sum += one.tokens
	}
	return len(s.list) >= s.requests || sum > s.tokens
}

// spend notes a request with what it may take at most.
func (s *spending) spend(at time.Duration, tokens int) { s.list = append(s.list, spent{at, tokens}) }

// settle puts what the last request took in the place of what it might have. It is the
// server's word: more than the whole budget is as much as that.
func (s *spending) settle(tokens float64) {
	if n := len(s.list); n > 0 {
		s.list[n-1].tokens = int(min(tokens, float64(s.tokens)))
	}
}
