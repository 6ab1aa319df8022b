package fleet

import (
	"math"
	"slices"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/unit"
)

// Waste is work that helped nobody. How many requests it was counters tell; what came
// out of them only reports of single requests do.

// The kinds of requests whose output is wasted.
const (
	wasteFailed = iota
	wasteAbandoned
	wasteTruncated
	numWastes
)

// wasted is the output of one kind of requests.
type wasted struct {
	tokens float64
	untold float64 // requests that did not say
}

// wastes is that of all kinds.
type wastes [numWastes]wasted

// add takes in a request that ended.
func (s *wastes) add(q *model.Request) {
	var one *wasted
	switch q.Outcome {
	case model.RequestFailed:
		one = &s[wasteFailed]
	case model.RequestCancelled:
		one = &s[wasteAbandoned]
	case model.OutputLimited:
		one = &s[wasteTruncated]
	default:
		return
	}
	switch {
	case q.OutputTokens.OK():
		one.tokens += q.OutputTokens.Value
	case q.FirstToken == 0 && q.Outcome != model.OutputLimited:
		// It ended before there was any.
	default:
		one.untold++
	}
}

func (s *wastes) merge(o *wastes) {
	for i := range s {
		s[i].tokens += o[i].tokens
		s[i].untold += o[i].untold
	}
}

// wasteKinds are the kinds of waste that requests are counted by, in the order in which
// they are shown.
var wasteKinds = [...]struct {
	name  string
	count diagnose.Count
	of    int // among wastes; -1: none of them
}{
	{"failed", diagnose.Failed, wasteFailed},
	{"abandoned", diagnose.Cancelled, wasteAbandoned},
	{"truncated", diagnose.Limited, wasteTruncated},
	{"retried", diagnose.Retried, -1},
}

// waste is a line for each kind of waste over the present minute.
func (r *poolRoom) waste() []model.WasteView {
	out := make([]model.WasteView, 0, len(wasteKinds)+1)
	told, single := r.wasted()
	output := r.counted(diagnose.OutputTokens)
	for _, k := range wasteKinds {
		v := model.WasteView{Kind: k.name, N: r.ended(k.count)}
		switch {
		case !v.N.OK():
			v.Note = r.uncounted("nobody counts them")
		case v.N.Value == 0:
			v.Tokens, v.Share = model.Of(0), model.Of(0)
		case k.of < 0:
			v.Note = "attempts after the first: what came of those before is among the failed and the abandoned"
		case !single:
			v.Note = "requests are counted: how many tokens they had only reports of single requests tell"
		case told[k.of].untold > 0:
			v.Note = model.Text(unit.Integer(told[k.of].untold) + " of them did not say how many tokens they had")
		default:
			v.Note = "as each request was reported"
			v.Tokens = model.Of(told[k.of].tokens / presentMinute.Seconds())
			v.Share = model.Of(v.Tokens.Value / output)
		}
		out = append(out, v)
	}
	return append(out, r.recomputed())
}

// uncounted is why something is not counted: that is the servers' doing only where
// something of the present minute was read.
func (r *poolRoom) uncounted(why model.Text) model.Text {
	if !slices.ContainsFunc(r.engines, func(e engineRoom) bool { return len(e.now) > 0 }) {
		return "nothing of the last minute was read"
	}
	return why
}

// ended is a count of requests in the present minute over the pool's workflows.
func (r *poolRoom) ended(c diagnose.Count) model.Reading {
	sum := math.NaN()
	for _, w := range r.pool.flows {
		n, _ := r.flows[w].count(c)
		sum = plusKnown(sum, n)
	}
	return model.Of(sum)
}

// wasted is what single requests that ended in the present minute told; not ok where
// any workflow is not reported so.
func (r *poolRoom) wasted() (all wastes, ok bool) {
	for _, w := range r.pool.flows {
		if !w.byRequests(r.at.Mono) {
			return wastes{}, false
		}
		for _, b := range w.events.blocks {
			if at := blockOf(b.start); at > r.last-diagnose.NowBlocks && at <= r.last {
				all.merge(&b.wasted)
			}
		}
	}
	return all, true
}

// recomputed is what was computed twice because requests were preempted: each time
// about what a running sequence holds. How much of it a cache gave back is not known.
func (r *poolRoom) recomputed() model.WasteView {
	v := model.WasteView{Kind: "recomputed"}
	rate := r.counted(diagnose.Preemptions)
	v.N = model.Of(r.total(func(e *engineRoom) float64 { n, _ := e.now.count(diagnose.Preemptions); return n }))
	switch context := r.machine.Mix.Context; {
	case math.IsNaN(rate):
		v.Note = r.uncounted("the engines do not count preemptions")
	case rate == 0:
		v.Tokens, v.Share = model.Of(0), model.Of(0)
	case !(context > 0) || r.machine.Fit.ByShare:
		v.Note = "preemptions are counted: how much a sequence holds is not known in tokens"
	default:
		v.Note = "at most: preemptions times what a running sequence holds in the mean"
		v.Tokens = model.Of(rate * context)
		v.Share = model.Of(v.Tokens.Value / r.total((*engineRoom).prompted))
	}
	return v
}
