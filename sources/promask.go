package sources

import (
	"context"
	"errors"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/model"
)

// asking is what is being asked for, where that takes longer than a poll.
type asking struct {
	levels bool // they are answered
	failed error
	at     time.Time // of the counts
	due    []*track
	settle []*track // those whose anchors are moved, once the counts are answered
	bounds *track   // whose bounds are looked at
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
	if len(p.views) > 0 && p.alias[p.views[0].view.Marker().Names[0]] != "" {
		p.fresh = model.Replicas{} // a rule does not tell how many servers it adds up
	}
	p.levelsAt = p.now()
	for _, t := range p.levels {
		t.takeLevels(p.levelsAt)
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
	if len(q.settle) == 0 {
		return p.askBounds(ctx, q)
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
		exprs[i], _ = p.question(t, at.Sub(t.anchor.at))
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
		_, factor := p.question(t, q.at.Sub(t.anchor.at))
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
		_, factor := p.question(t, q.to.Sub(t.anchor.at))
		t.settle(q.to, t.got, factor)
	}
	return nil
}
