package panes

import (
	"fmt"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Utilization is how one engine uses its accelerators, opened: the roofline, every
// measure with whose word it is, and where shape and peaks come from.
type Utilization struct{ wholeScreen }

// Name names the pane.
func (Utilization) Name() string { return "utilization" }

// Render draws the lines from View.Scroll on.
func (Utilization) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(utilizationPage(f, size.W, look), look.View.Scroll, size, look)
}

// Scroll is how far the page can be scrolled.
func (Utilization) Scroll(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(utilizationPage(f, size.W, look)), size)
}

func utilizationPage(f *model.Frame, w int, look Look) []string {
	u := utilizationOf(f, look.View.Engine)
	if u == nil && look.View.Engine == "" {
		u = UtilizationUnder(f, look.View)
	}
	if u == nil {
		return []string{look.line(w).pad(1).put(themes.Muted, "this engine is no longer watched: esc goes back").String()}
	}
	s := &sheet{w: w, look: look}
	c := utilizationCondition(u)
	s.out = append(s.out, look.rule(w, []seg{
		{conditionTable[c].role, look.mark(c) + " "}, {themes.Strong, look.foreign(u.Target, 40)}, {themes.Text, " " + look.cut(look.ceiling(u), 40)},
	}, say(1, themes.Muted, window(f, look))))
	s.text(1, boundRole(u), s.look.sentenceOf(u))
	if impossible(u) {
		s.text(1, themes.Warn, beyondText)
	}
	if u.Gap != "" {
		s.text(1, themes.Text, string(u.Gap))
	}
	s.useCharts(f, u)
	s.measures(u)
	s.points(u)
	s.origins(u)
	s.missing(u)
	return s.out
}

// useCharts is the roofline, the step and the GPUs, next to one another as far as
// there is room.
func (s *sheet) useCharts(f *model.Frame, u *model.UtilizationView) {
	const h = 12
	switch {
	case s.w >= threeWide:
		s.out = append(s.out, useColumns(f, u, layout.Size{W: s.w, H: h}, s.look, roofColumn, stepColumn, figuresColumn)...)
		return
	case s.w >= twoWide:
		s.out = append(s.out, useColumns(f, u, layout.Size{W: s.w, H: h}, s.look, roofColumn, stepColumn)...)
	default:
		s.out = append(s.out, drawRoof(f, u, layout.Size{W: s.w, H: h}, s.look)...)
		s.out = append(s.out, drawStep(f, u, layout.Size{W: s.w, H: stepLines + 1}, s.look)...)
	}
	s.out = append(s.out, drawFigures(f, u, layout.Size{W: s.w, H: len(u.Measures) + stepLines}, s.look)...)
}

// measures is every basis with what it says in full, the most trusted first.
func (s *sheet) measures(u *model.UtilizationView) {
	s.rule("MEASURES", say(1, themes.Muted, "the most trusted first"))
	if len(u.Measures) == 0 {
		s.text(1, themes.Muted, "none: nobody tells compute or bandwidth of it")
	}
	for _, m := range u.Measures {
		compute, bandwidth := measureWords(m)
		of := Within(u.Target, string(m.Basis))
		words := basisWords[m.Basis]
		if words.word == "" {
			words.word, words.long = s.look.basis(m.Basis), string(m.Basis)
		}
		ps := []part{
			s.look.measure(0, compute, s.look.useShare(m.Compute, 12), "").of("compute", of), s.look.measure(0, bandwidth, s.look.useShare(m.Bandwidth, 12), "").of("bandwidth", of),
		}
		if m.FLOPs.OK() {
			ps = append(ps, say(0, themes.Text, unit.FLOPs(m.FLOPs.Value)).of("flops", of))
		}
		if m.Bytes.OK() {
			ps = append(ps, say(0, themes.Text, unit.Bandwidth(m.Bytes.Value)).of("bytes", of))
		}
		if m.Note == "" {
			ps = append(ps, say(0, themes.Muted, s.look.sentence(words.long, 60)))
		}
		s.facts(s.look.cut(words.word, labelW-1), ps...)
		if m.Note != "" {
			s.prose("", themes.Muted, string(m.Note))
		}
	}
}

// points is where it runs under the roof, in numbers.
func (s *sheet) points(u *model.UtilizationView) {
	s.rule("OPERATING POINT", say(1, themes.Muted, "of one GPU"))
	n := len(s.out)
	for _, x := range []struct {
		label string
		at    *model.PointView
	}{{"now", u.Point}, {"prefill", u.Prefill}, {"decode", u.Decode}} {
		if x.at == nil || !x.at.FLOPs.OK() || !x.at.Intensity.OK() {
			continue
		}
		ps := []part{say(0, themes.Text, unit.FLOPs(x.at.FLOPs.Value)), say(0, themes.Text, "at "+unit.Intensity(x.at.Intensity.Value)).of("intensity", u.Target)}
		if reach, ok := reachable(u, x.at.Intensity.Value); ok {
			ps = append(ps, say(0, themes.Muted, unit.Ratio(x.at.FLOPs.Value/reach)+" of the "+unit.FLOPs(reach)+" that the roof allows there").of("efficiency", u.Target))
		}
		s.facts(x.label, ps...)
	}
	if len(s.out) == n {
		s.text(1, themes.Muted, noPoint(u))
	}
	if v, ok := u.Ridge.Get(); ok {
		s.facts("ridge", say(0, themes.Text, unit.Intensity(v)).of("ridge", u.Target), say(0, themes.Muted, "left of it bandwidth is the roof, right of it compute"))
	}
	if text, ok := trailText(u, s.look); ok {
		s.facts("10 minutes", say(0, themes.Text, text))
	}
}

// reachable is the roof at an intensity.
func reachable(u *model.UtilizationView, intensity float64) (float64, bool) {
	if !u.PeakFLOPs.OK() || !u.PeakBytes.OK() {
		return 0, false
	}
	roof := min(u.PeakFLOPs.Value, u.PeakBytes.Value*intensity)
	return roof, roof > 0
}

// trailText is between what the point moved.
func trailText(u *model.UtilizationView, look Look) (string, bool) {
	lo, hi := model.PointView{}, model.PointView{}
	for _, p := range u.Trail {
		for _, x := range []struct {
			lo, hi *model.Reading
			v      model.Reading
		}{{&lo.FLOPs, &hi.FLOPs, p.FLOPs}, {&lo.Intensity, &hi.Intensity, p.Intensity}} {
			if !x.v.OK() {
				continue
			}
			if !x.lo.OK() || x.v.Value < x.lo.Value {
				*x.lo = x.v
			}
			if !x.hi.OK() || x.v.Value > x.hi.Value {
				*x.hi = x.v
			}
		}
	}
	if !lo.FLOPs.OK() || !lo.Intensity.OK() {
		return "", false
	}
	to := look.pick("–", "-")
	return fmt.Sprintf("%s%s%s, %s%s%s", unit.Number(lo.FLOPs.Value/tera), to, unit.FLOPs(hi.FLOPs.Value),
		unit.Number(lo.Intensity.Value), to, unit.Intensity(hi.Intensity.Value)), true
}

// origins says where shape and peaks come from.
func (s *sheet) origins(u *model.UtilizationView) {
	k := s.look
	s.rule("WHAT IT IS WORKED OUT FROM")
	known := func(t model.Text, missing string) part {
		if t == "" {
			return say(0, themes.Warn, missing)
		}
		return say(0, themes.Text, k.sentence(string(t), 60))
	}
	by := func(t model.Text) part {
		if t == "" {
			return part{}
		}
		return say(0, themes.Muted, "("+k.sentence(string(t), 60)+")")
	}
	s.facts("models", say(0, themes.Text, k.foreign(strings.Join(u.Models, ", "), maxProse)))
	s.facts("shape", known(u.Shape, "not known: models in the configuration names it"), by(u.ShapeFrom))
	s.facts("accelerator", known(u.Device, "not known: hardware in the configuration names it"), by(u.DeviceFrom))
	s.facts("GPUs", part{segs: []seg{seg(k.count(u.GPUs, 12)), {themes.Muted, " serve it"}}}.of("gpus", u.Target), known(model.Text(strings.ToUpper(string(u.Precision))), "precision not known"))
	ps := peaks(u, k)
	if len(ps) == 0 {
		ps = []part{say(0, themes.Warn, "not known")}
	}
	if meaning, ok := confidenceMeaning[string(u.Confidence)]; ok {
		ps = append(ps, say(0, themes.Muted, meaning))
	}
	s.facts("peaks", append(ps, say(0, themes.Muted, "dense, of one GPU"))...)
	s.prose("", themes.Muted, string(u.PeakNote))
	if u.Step != nil && noSplit(u) == "" {
		s.prose("step", themes.Muted, string(u.Step.Why))
	}
}

// confidenceMeaning is what the grades of the table of accelerators stand for.
var confidenceMeaning = map[string]string{
	"A": "A: cross-checked by the clock",
	"B": "B: one secondary source",
	"C": "C: derived or remembered, take care",
}

// missing is what would tell more.
func (s *sheet) missing(u *model.UtilizationView) {
	if len(u.Missing) == 0 {
		return
	}
	s.rule("WHAT WOULD TELL MORE")
	for _, m := range u.Missing {
		at := len(s.out)
		s.text(indent, themes.Text, m)
		if at < len(s.out) {
			s.out[at] = s.look.line(s.w).pad(1).put(themes.Muted, s.look.pick("·", "-")).String() + " " + strings.TrimPrefix(s.out[at], spaces(indent))
		}
	}
}
