package compare

import (
	"fmt"

	"slotop/model"
	"slotop/model/unit"
)

// muchLonger is from when on two stages are of different lengths.
const muchLonger = 1.25

// note says what makes the stages differ before any figure does.
func (c *Comparison) note(a, b *model.StageView) {
	la, lb := c.A.LastedS.Value, c.B.LastedS.Value
	if la > muchLonger*lb || lb > muchLonger*la {
		c.Notes = append(c.Notes, fmt.Sprintf("A lasted %s and B %s: the shorter one is known less well", unit.Duration(la), unit.Duration(lb)))
	}
	for _, s := range []struct {
		name string
		side Side
	}{{"A", c.A}, {"B", c.B}} {
		if s.side.UnseenS >= 1 {
			c.Notes = append(c.Notes, fmt.Sprintf("in %s something was not read for %s of %s", s.name, unit.Duration(s.side.UnseenS), unit.Duration(s.side.LastedS.Value)))
		}
	}
	for i := range c.Workflows {
		w := &c.Workflows[i]
		switch w.Only {
		case "a":
			c.Notes = append(c.Notes, unit.Escape(w.Name, false)+" is in A only")
		case "b":
			c.Notes = append(c.Notes, unit.Escape(w.Name, false)+" is in B only")
		}
	}
	if len(a.Workflows) == 0 && len(b.Workflows) == 0 {
		c.Notes = append(c.Notes, "nothing was measured in either")
	}
}

// Fewer than fewStretches leave the design effect so uncertain that Student's quantile
// alone widens an interval of 95 % by an eighth, and the narrower risks of Holm's steps
// by more.
const fewStretches = 12

// note says what makes a workflow's figures differ before they do, or hides that they do.
func (w *Workflow) note(a, b *model.StageWorkflow) {
	if n := min(w.A.Batches, w.B.Batches); n > 0 && n < fewStretches {
		w.Notes = append(w.Notes, fmt.Sprintf("%d and %d stretches are few: only a large difference stands out from noise, longer stages show smaller ones", w.A.Batches, w.B.Batches))
	}
	if a.Goodput != nil && b.Goodput != nil {
		if !samePromise(a, b) {
			w.Notes = append(w.Notes, "promised were different things: A "+promise(a)+"; B "+promise(b))
		}
		if a.Goodput.Basis != b.Goodput.Basis {
			w.Notes = append(w.Notes, fmt.Sprintf("A was judged from %s and B from %s, which measure at different places", a.Goodput.Basis, b.Goodput.Basis))
		}
	}
	for _, l := range []struct {
		name string
		of   func(*model.StageWorkflow) *model.Dist
	}{{"TTFT", func(w *model.StageWorkflow) *model.Dist { return w.TTFT }}, {"TPOT", func(w *model.StageWorkflow) *model.Dist { return w.TPOT }}, {"E2E", func(w *model.StageWorkflow) *model.Dist { return w.E2E }}} {
		if da, db := l.of(a), l.of(b); coarse(da) || coarse(db) {
			w.Notes = append(w.Notes, l.name+": bucket bounds differ between servers, percentiles use the common ones")
		}
	}
}

func coarse(d *model.Dist) bool { return d != nil && d.Fidelity == model.Coarse }

// promise is the objectives as people write them.
func promise(w *model.StageWorkflow) string {
	out := ""
	for _, o := range w.Objectives {
		if out != "" {
			out += ", "
		}
		out += o.Metric.Title() + " " + unit.Limit(o.MaxS)
	}
	if out == "" {
		return "nothing"
	}
	if g := w.Goodput; g != nil && g.Target.OK() {
		out += " for " + unit.Promised(g.Target.Value)
	}
	return out
}
