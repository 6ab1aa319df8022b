package report

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// ends says how requests ended that were not simply completed.
func (p *page) ends(r *model.Requests) {
	all := r.Finished.Plus(r.Failed)
	if r.Cancelled.OK() {
		all = all.Plus(r.Cancelled)
	}
	for _, list := range []struct {
		label  string
		causes []model.Cause
	}{{"  failed    ", r.FailedBy}, {"  cancelled ", r.CancelledBy}} {
		if len(list.causes) == 0 {
			continue
		}
		pieces := make([]string, len(list.causes))
		for i, c := range list.causes {
			pieces[i] = p.cause(c, all)
		}
		p.flow(list.label, ", ", pieces...)
	}
	if some(r.OutputLimit) || some(r.Retries) {
		p.flow("  also      ", ", ", "cut at the output limit "+count(r.OutputLimit), "retries "+count(r.Retries))
	}
}

func some(r model.Reading) bool { return r.OK() && r.Value > 0 }

// cause is how many of all requests ended for one reason.
func (p *page) cause(c model.Cause, all model.Reading) string {
	s := p.safe(c.Reason) + ": " + unit.Integer(c.N)
	if n, ok := all.Get(); ok && n > 0 {
		s += " of " + unit.Integer(n) + ", " + unit.Ratio(c.N/n)
	}
	return s
}

// phases counts requests in flight by where they stand.
func (p *page) phases(f *model.Phases) {
	pieces := make([]string, 0, 8)
	for _, one := range []struct {
		name  string
		count model.Reading
	}{
		{"queued", f.Queued}, {"preparing context", f.PreparingContext}, {"waiting for the model", f.WaitingForModel},
		{"streaming", f.Streaming}, {"tool call", f.ToolCall}, {"retrying", f.Retrying}, {"other", f.Other}, {"unknown", f.Unknown},
	} {
		if one.count.OK() {
			pieces = append(pieces, one.name+" "+count(one.count))
		}
	}
	if len(pieces) > 0 {
		p.flow("  in flight ", ", ", pieces...)
	}
}

// known is a sum of tokens, and of how many requests it is not the whole.
func (p *page) known(k *model.Known) string {
	switch {
	case k == nil || k.N+k.Unknown == 0:
		return ""
	case k.Unknown == 0:
		return unit.Integer(k.Sum) + " output tokens (n " + unit.Integer(k.N) + ")"
	default:
		return "at least " + unit.Integer(k.Sum) + " output tokens (" +
			unit.Integer(k.Unknown) + " of " + unit.Integer(k.N+k.Unknown) + " unknown, n " + unit.Integer(k.N) + ")"
	}
}

// latencies are the distributions of a workflow, one a line.
func (p *page) latencies(w *model.WorkflowView) {
	for _, d := range []struct {
		name   string
		signal model.Signal // "" where no histogram measures it
		dist   *model.Dist
		always bool
	}{
		{"TTFT", model.TTFT, w.TTFT, true}, {"1st answer", "", w.FirstAnswer, false},
		{"ITL", model.ITL, w.ITL, true}, {"TPOT", model.TPOT, w.TPOT, true},
		{"E2E", model.E2E, w.E2E, false}, {"response", "", w.Response, false}, {"queue", model.Queue, w.Queue, false},
		{"prefill", model.Prefill, w.Prefill, false}, {"decode", model.Decode, w.Decode, false},
	} {
		if d.dist != nil || d.always {
			pieces := p.dist(d.dist, !slices.Contains(w.Missing, d.signal))
			if d.name == "E2E" && d.dist.Basis == model.FromEvents && w.Load == nil {
				pieces = append(pieces, "client delay not included")
			}
			p.flow("  "+unit.PadRight(d.name+" ", 10), "  ", pieces...)
		}
	}
	if w.Load != nil {
		p.load(w.Load)
	}
	if o := w.Worst; o != nil && o.Latency != nil {
		p.flow("  slowest   ", "  ", append([]string{p.safe(o.Target) + ", its " + o.Metric.Title()}, p.dist(o.Latency, true)...)...)
	}
	p.wait(w)
}

// wait is what a request that arrives now meets.
func (p *page) wait(w *model.WorkflowView) {
	if !w.WaitNow.OK() && !w.BreachIn.OK() {
		return
	}
	breach := ""
	switch {
	case !w.BreachIn.OK():
	case w.BreachIn.Value > 0:
		breach = "longer than promised in " + unit.Duration(w.BreachIn.Value)
	default:
		breach = "longer than promised"
	}
	p.flow("  wait now  ", ", ", unit.Reading(w.WaitNow, unit.Duration)+" to the first token", breach)
}

// load compares what a load generator meant to send with what it sent.
func (p *page) load(l *model.LoadView) {
	pieces := []string{"offered " + perSecond(l.OfferedPerSecond), "sent " + perSecond(l.SentPerSecond)}
	if some(l.BehindS) {
		pieces = append(pieces, "generator behind by "+unit.Duration(l.BehindS.Value))
	}
	p.flow("  load      ", ", ", strings.Join(pieces, ", "), "response counts from the schedule")
}
