package panes

import (
	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// stepLines is a step with its parts, below its title.
const stepLines = 8

// stepPart is one part of a step.
type stepPart struct {
	name, short, topic string
	of                 func(*model.StepView) model.Reading
}

// stepParts are the parts of a step in their order; they add up to it.
var stepParts = []stepPart{
	{"fixed+weights", "weights", "step.fixed", func(s *model.StepView) model.Reading { return s.Fixed }},
	{"KV reads", "KV", "step.kv", func(s *model.StepView) model.Reading { return s.KV }},
	{"prefill", "prefill", "step.prefill", func(s *model.StepView) model.Reading { return s.Prefill }},
	{"sequences", "sequences", "step.sequences", func(s *model.StepView) model.Reading { return s.Sequences }},
	{"unexplained", "unexplained", "step.unexplained", func(s *model.StepView) model.Reading { return s.Unexplained }},
}

// drawStep is what the mean step is made of, as bars of one scale, and how long it
// takes against what its load explains.
func drawStep(_ *model.Frame, u *model.UtilizationView, size layout.Size, look Look) []string {
	title, remark := stepTitle(u)
	if r, ok := residualOf(u).Get(); ok && size.H <= len(stepParts)+1 { // no line is left for it
		remark = []part{say(0, machineOf(u).role(), unit.Multiple(r, look.ASCII)+" of what load explains").of("step.residual", u.Target)}
	}
	out := []string{look.rule(size.W, title, remark...)}
	s := &sheet{w: size.W, look: look}
	if why := noSplit(u); why != "" {
		for _, l := range wrap(look.sentence(why, maxProse), size.W-1) {
			s.out = append(s.out, look.line(size.W).pad(1).put(themes.Muted, l).String())
		}
		return append(out, s.out[:min(len(s.out), max(size.H-1, 0))]...)
	}
	for _, p := range stepParts {
		out = append(out, stepBar(u, p, size.W, look))
	}
	for _, p := range stepRemarks(u, look) {
		out = append(out, look.line(size.W).pad(1).parts(0, p).String())
	}
	return out[:min(len(out), max(size.H, 0))]
}

// stepTitle is the length of the mean step, and whether it was counted.
func stepTitle(u *model.UtilizationView) (title []seg, remark []part) {
	title = []seg{{themes.Strong, "STEP"}}
	if u.Step == nil || !u.Step.Seconds.OK() {
		return title, nil
	}
	title = append(title, seg{themes.Text, " " + unit.Milliseconds(u.Step.Seconds.Value)})
	return title, []part{say(1, themes.Muted, "model")}
}

// noSplit says why a step has no parts, "" where it has.
func noSplit(u *model.UtilizationView) string {
	switch {
	case u.Step == nil:
		return "no split: nothing is known of its steps"
	case u.Step.Fixed.OK():
		return ""
	case u.Step.Why != "":
		return string(u.Step.Why)
	default:
		return "no split: no step in the window"
	}
}

// stepBar is one part: its name, its share of the step as a bar, and its time.
func stepBar(u *model.UtilizationView, p stepPart, w int, look Look) string {
	const timeW = 8 // 122.4 ms
	s := u.Step
	r := p.of(s)
	c := look.reading(r, timeW, unit.Milliseconds)
	role := themes.Meter
	if p.name == "unexplained" && r.OK() && r.Value >= (model.ResidualExplained-1)*s.Seconds.Value {
		role, c.role = themes.Warn, themes.Warn
	}
	l := look.line(w).pad(1).put(themes.Muted, p.name).pad(labelW + 2)
	room := min(w-l.w-timeW-1, 28)
	if room >= 3 && r.OK() && s.Seconds.OK() {
		full, empty := chart.Meter(r.Value/s.Seconds.Value, room, look.ASCII)
		l.put(role, full).put(themes.Rule, empty)
	}
	return l.pad(max(labelW+2+max(room, 0)+timeW-cells(c.text), l.w)).parts(0, part{segs: []seg{seg(c)}}.of(p.topic, u.Target)).String()
}

// stepRemarks is how long a step takes against what its load explains, and what else
// must be known to believe it, a line each.
func stepRemarks(u *model.UtilizationView, look Look) []part {
	out := []part{say(0, themes.Muted, "nothing to hold it against yet")}
	if r, ok := residualOf(u).Get(); ok {
		out[0] = say(0, machineOf(u).role(), unit.Multiple(r, look.ASCII)+" of what load explains").of("step.residual", u.Target)
	}
	if machineOf(u) == machineSlower {
		out = append(out, say(0, themes.Breach, "slower than its own baseline"))
	}
	switch {
	case u.Step.Gap:
		out = append(out, say(0, themes.Warn, "step = gap between tokens"))
	case u.Step.Samples > 0:
		out = append(out, say(0, themes.Muted, "fitted to "+plural(u.Step.Samples, "sample")).of("step.samples", u.Target))
	}
	if v, ok := u.Step.Floor.Get(); ok {
		out = append(out, say(0, themes.Muted, "the roofline allows "+unit.Milliseconds(v)).of("step.floor", u.Target))
	}
	return out
}

// stepInOneLine is the split where there is no room for bars.
func stepInOneLine(u *model.UtilizationView, w int, look Look) string {
	l := look.line(w - 1).pad(1)
	if why := noSplit(u); why != "" {
		return l.put(themes.Muted, "step").pad(labelW+1).put(themes.Muted, look.sentence(why, w)).String()
	}
	ps := []part{part{segs: []seg{{themes.Muted, "step "}, {themes.Text, unit.Milliseconds(u.Step.Seconds.Value)}}}.of("step", u.Target)}
	if r, ok := residualOf(u).Get(); ok {
		ps = append(ps, say(0, machineOf(u).role(), unit.Multiple(r, look.ASCII)+" of load").of("step.residual", u.Target))
	}
	for i, p := range stepParts {
		if v, ok := p.of(u.Step).Get(); ok {
			ps = append(ps, part{segs: []seg{{themes.Muted, p.short + " "}, {themes.Text, unit.Milliseconds(v)}}, drop: i + 1}.of(p.topic, u.Target))
		}
	}
	return l.parts(2, ps...).String()
}

// stepShares is the same as shares of the step, for a page about many engines.
func stepShares(u *model.UtilizationView, look Look) []part {
	s := u.Step
	ps := []part{say(0, themes.Text, unit.Milliseconds(s.Seconds.Value)).of("step", u.Target)}
	for _, p := range stepParts {
		if v, ok := p.of(s).Get(); ok && s.Seconds.Value > 0 && unit.Percent(v/s.Seconds.Value) != "0 %" {
			ps = append(ps, part{segs: []seg{{themes.Muted, p.name + " "}, {themes.Text, unit.Percent(v / s.Seconds.Value)}}}.of(p.topic, u.Target))
		}
	}
	if r, ok := s.Residual.Get(); ok {
		ps = append(ps, say(0, themes.Text, unit.Multiple(r, look.ASCII)+" of what load explains").of("step.residual", u.Target))
	}
	return ps
}
