package report

import (
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// CheckText writes a check for people: the outcome first, a row a workflow, and
// below each what it rests on.
func CheckText(c *Check, opt Options) string {
	p := newPage(c.frame, opt)
	p.head(c.frame)
	p.sentence("", p.safe(c.Why))
	p.verdicts(c.Rows)
	p.cannotEvaluate(c.frame.Unjudged)
	if g := c.frame.Goodput; g != nil && c.all && len(c.Rows) > 1 {
		p.line("")
		p.flow("total     ", ", ", p.goodput(g)...)
	}
	p.explain()
	return p.b.String()
}

func (p *page) verdicts(rows []CheckRow) {
	if len(rows) == 0 {
		return
	}
	p.line("")
	widest := len("VERDICT")
	for i := range rows {
		widest = max(widest, len(rows[i].word()))
	}
	t := p.table(
		column{head: "WORKFLOW"},
		column{head: "VERDICT", min: widest, left: true},
		column{head: "GOODPUT", min: 8},
		column{head: "PROMISED", min: 8, drop: 2},
		column{head: "REQUESTS", min: 8, drop: 1},
	)
	for i := range rows {
		r := &rows[i]
		p.row(t, append([]string{p.name(r.Name, t.name), r.word()}, p.figures(r)...)...)
	}
	for i := range rows {
		p.verdict(&rows[i])
	}
}

// word is the row's verdict; what it could not tell, in the word of its reason.
func (r *CheckRow) word() string {
	word := r.Outcome.word()
	if r.flow == nil {
		return word
	}
	if g := r.flow.Goodput; g != nil && r.Outcome == CheckUntold && !r.hush && outcomeOf(g.Verdict) == CheckUntold {
		word = g.Verdict.Word()
	}
	if r.flow.AssumedObjectives {
		word += " (assumed)"
	}
	return word
}

// figures are the row's goodput, what was promised, and of how many requests.
func (p *page) figures(r *CheckRow) []string {
	if r.flow == nil || r.flow.Goodput == nil {
		none := p.missing(model.Unknown)
		return []string{none, none, none}
	}
	g := r.flow.Goodput
	return []string{p.shareCell(g), unit.Promised(g.Target.Value), unit.Integer(g.N)}
}

// shareCell is a goodput in eight cells.
func (p *page) shareCell(g *model.GoodputView) string {
	switch s := g.Share; {
	case s.Lo.OK() && s.Hi.OK():
		return unit.Share(s, p.ascii)
	case s.Hi.OK():
		return p.short("≤") + unit.Percent(s.Hi.Value)
	default:
		return p.missing(presenceOf(g.Verdict))
	}
}

// goodputCell is the same, or why there is nothing to show.
func (p *page) goodputCell(g *model.GoodputView) string {
	if g == nil {
		return p.missing(model.Unknown)
	}
	return p.shareCell(g)
}

// presenceOf is why there is no share.
func presenceOf(v model.Verdict) model.Presence {
	switch v {
	case model.NoData:
		return model.NoTraffic
	case model.CannotCompute:
		return model.Unsupported
	default:
		return model.Unknown
	}
}

// verdict is what one row rests on.
func (p *page) verdict(r *CheckRow) {
	p.line("")
	p.flow("", ": ", p.name(r.Name, p.width), r.word())
	if r.Why != "" {
		p.sentence("  why       ", p.safe(r.Why))
	}
	for _, s := range r.cause {
		label, text, _ := strings.Cut(s, ": ")
		p.sentence("  "+unit.PadRight(label, 10), p.safe(text))
	}
	if r.flow == nil {
		return
	}
	p.promise(r.flow)
	p.absent("  ", r.flow.Missing)
	p.notes("  ", r.flow.Notes)
}
