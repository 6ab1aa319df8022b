package report

import (
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// promise is what a workflow was promised, how it was kept, and what is left of
// its budget.
func (p *page) promise(w *model.WorkflowView) {
	for _, o := range w.Objectives {
		p.objective(o, w.AssumedObjectives)
	}
	if g := w.Goodput; g != nil {
		p.flow("  goodput   ", ", ", append(p.goodput(g), p.assumed(w))...)
		p.flow("  of        ", ", ", p.denominator(g)...)
		p.evidence(g)
	}
	if w.Budget != nil {
		p.budget(w.Budget)
	}
	if w.Deadline != nil {
		p.deadline(w.Deadline)
	}
}

func (p *page) assumed(w *model.WorkflowView) string {
	if w.AssumedObjectives {
		return "assumed"
	}
	return ""
}

func (p *page) objective(o model.ObjectiveView, assumed bool) {
	mark, edges := "", ""
	if assumed {
		mark = "assumed"
	}
	if lo, hi := o.Bounds.Lo, o.Bounds.Hi; lo.OK() || hi.OK() {
		edges = "nearest bucket edges " + edge(lo) + " and " + edge(hi)
	}
	p.flow("  objective ", ", ",
		o.Metric.Title()+" "+unit.Limit(o.MaxS)+" for "+unit.Promised(o.Target)+": "+o.Verdict.Word(),
		p.share(o.Share, " within it"), edges, mark)
}

// edge is a bucket edge, or what stands for it below the first and above the
// last.
func edge(r model.Reading) string {
	if v, ok := r.Get(); ok {
		return unit.Limit(v)
	}
	return "none"
}

// share is a share and what it is of, "" where there is none.
func (p *page) share(s model.Share, of string) string {
	switch {
	case s.Lo.OK() && s.Hi.OK():
		return unit.Share(s, p.ascii) + of
	case s.Hi.OK():
		return "at most " + unit.Ratio(s.Hi.Value) + of
	case s.Lo.OK():
		return "at least " + unit.Ratio(s.Lo.Value) + of
	default:
		return ""
	}
}

// goodput is a goodput in pieces: verdict, share, rates and why.
func (p *page) goodput(g *model.GoodputView) []string {
	promised := ""
	if v, ok := g.Target.Get(); ok { // of all workflows together nothing is
		promised = "promised " + unit.Promised(v)
	}
	pieces := []string{
		g.Verdict.Word(), p.share(g.Share, " of "+plural(g.N, "request")), promised,
		p.between(g.PerSecond, "good/s"), p.between(g.OutputPerSecond, "good tok/s"),
	}
	switch g.Basis {
	case model.ByRequests:
		pieces = append(pieces, "one by one")
	case model.ByHistograms:
		pieces = append(pieces, "from histograms")
	}
	return append(pieces, p.safe(string(g.Why)))
}

// between is a rate that lies between two others.
func (p *page) between(r model.Range, of string) string {
	lo, hi := r.Lo, r.Hi
	switch {
	case !lo.OK() && !hi.OK():
		return ""
	case !lo.OK():
		return "at most " + unit.Rate(hi.Value) + " " + of
	case !hi.OK():
		return "at least " + unit.Rate(lo.Value) + " " + of
	case unit.Rate(lo.Value) == unit.Rate(hi.Value):
		return unit.Rate(lo.Value) + " " + of
	default:
		return unit.Rate(lo.Value) + p.dash() + unit.Rate(hi.Value) + " " + of
	}
}

// dash stands between the ends of a range.
func (p *page) dash() string { return p.short("–") }

// denominator says of which requests a goodput is the share.
func (p *page) denominator(g *model.GoodputView) []string {
	d := g.Of
	pieces := []string{unit.Integer(d.Judged) + " judged"}
	if v, ok := d.Finished.Get(); ok {
		pieces = append(pieces, unit.Integer(v)+" finished")
	}
	pieces = append(pieces, unit.Integer(d.Failed)+" failed")
	if d.Cancelled.OK() {
		cancelled := unit.Integer(d.Cancelled.Value) + " cancelled"
		switch {
		case some(d.Excluded):
			cancelled += ", " + unit.Integer(d.Excluded.Value) + " of them not counted"
		case !d.Excluded.OK() && some(d.Cancelled):
			cancelled += ", how many of them count is not known"
		}
		pieces = append(pieces, cancelled)
	}
	if some(d.Unmeasured) {
		pieces = append(pieces, unit.Integer(d.Unmeasured.Value)+" not measured")
	}
	return append(pieces, "unaccounted "+count(d.Unaccounted))
}

// evidence is what a goodput says beyond its window.
func (p *page) evidence(g *model.GoodputView) {
	var pieces []string
	if lo, hi := g.Sample.Lo, g.Sample.Hi; lo.OK() && hi.OK() {
		pieces = append(pieces, unit.Ratio(lo.Value)+" to "+unit.Ratio(hi.Value)+" by its sample")
	}
	if e := g.Evidence; e != nil && e.Lo.OK() && e.Hi.OK() {
		said := unit.Ratio(e.Lo.Value) + " to " + unit.Ratio(e.Hi.Value) + " for the service"
		if e.DesignEffect > 1 {
			said += ", " + unit.Number(e.DesignEffect) + " requests that share their fate counted as one"
		}
		pieces = append(pieces, said)
	}
	if s := p.share(g.UserShare, " of users"); s != "" {
		pieces = append(pieces, s+", each by the best attempt")
	}
	if len(pieces) > 0 {
		p.flow("  evidence  ", ", ", pieces...)
	}
}

func (p *page) budget(b *model.BudgetView) {
	burn := "burn " + strings.Join([]string{
		times(b.Burn.M2) + " in 2 min", times(b.Burn.M5) + " in 5 min", times(b.Burn.M30) + " in 30 min",
	}, ", ")
	left := "left " + unit.Reading(b.Remaining, unit.Ratio)
	gone := b.Remaining.OK() && b.Remaining.Value <= 0
	if gone {
		left = "spent"
	}
	seen := "seen for " + unit.Duration(b.ObservedS) + " of " + unit.Period(b.PeriodS)
	spent, until := "", ""
	if b.Bad.OK() && b.Allowed.OK() {
		spent = unit.Integer(b.Bad.Value) + " bad of " + unit.Integer(b.Allowed.Value) + " allowed"
	}
	if v, ok := b.ExhaustedIn.Get(); ok && !gone && v <= b.PeriodS { // what is older leaves the period
		until = "gone in " + unit.Duration(v)
	}
	p.flow("  budget    ", ", ", left, spent, seen, burn, until, p.safe(string(b.Text)))
}

// times is a burn rate, or the word for why there is none.
func times(r model.Reading) string { return unit.Reading(r, unit.Number) }

func (p *page) deadline(d *model.DeadlineView) {
	p.flow("  deadline  ", ", ",
		unit.Period(d.DeadlineS)+" from "+p.ago(d.Began)+": "+d.Verdict.Word(),
		"left "+unit.Reading(d.LeftS, unit.Duration), "needs "+unit.Reading(d.NeedsS, unit.Duration),
		"requests to go "+count(d.Remaining), "done "+perSecond(d.PerSecond))
}
