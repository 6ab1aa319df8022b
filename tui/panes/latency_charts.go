package panes

import (
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// This file draws the phases of the mean request over time, and how a latency was
// spread.

// phasesOver are the phases of the mean request, in the order of the table of phases.
func phasesOver(h *model.History) [len(phases)][]float32 {
	return [...][]float32{h.Queue, h.Prefill, h.Decode}
}

// stackable reports whether any phase is known at any time.
func stackable(h *model.History) bool {
	for _, v := range phasesOver(h) {
		if slices.ContainsFunc(v, known) {
			return true
		}
	}
	return false
}

func known(v float32) bool { return !math.IsNaN(float64(v)) }

// drawPhases is the stack of the phases under its rule.
func (g graph) drawPhases(size layout.Size, shared bool, look Look) []string {
	h := g.w.History
	p := g.plot(look)
	s := chart.Stack{
		W: size.W, H: size.H - 1, Step: p.Step, Span: p.Span, End: p.End, Since: p.Since, Format: p.Format, TagWidth: p.TagWidth,
		Marks: p.Marks, Empty: "no request ended in this time", Shared: shared, Label: p.Label, Rule: p.Rule, MarkInk: p.MarkInk, ASCII: p.ASCII,
	}
	var legend []part
	sum, unknown := 0.0, 0
	for i, values := range phasesOver(h) {
		fill, ascii := []rune(phases[i].fill)[0], []rune(phases[i].ascii)[0]
		s.Parts = append(s.Parts, chart.Part{Values: values, Fill: fill, ASCII: ascii, Ink: look.ink(phases[i].role)})
		name := " " + phases[i].name
		if !slices.ContainsFunc(values, known) {
			name += " " + look.pick("–", "-")
		}
		legend = append(legend, part{segs: []seg{{phases[i].role, look.pick(phases[i].fill, phases[i].ascii)}, {themes.Muted, name}}, drop: 1})
		if n := len(values); n > 0 && known(values[n-1]) {
			sum += float64(values[n-1])
		} else {
			unknown++
		}
	}
	numbers := map[string]About{}
	switch text := unit.Duration(sum); {
	case sum <= 0:
	case unknown > 0: // the whole is longer by what is not known
		s.Tags = []chart.Tag{{Value: sum, Text: look.pick("≥ ", ">= ") + text, Ink: look.ink(themes.Muted)}}
	default:
		numbers[text] = About{"e2e.mean", g.w.Name}
		s.Tags = []chart.Tag{{Value: sum, Text: text, Ink: look.ink(themes.Text)}}
	}
	title := []seg{{themes.Strong, "PHASES"}, {themes.Muted, " of the mean request"}}
	if size.W < narrow {
		title = title[:1]
	}
	return append([]string{look.rule(size.W, title, legend...)}, look.pointable(strings.Split(s.Render(), "\n"), g.f, size.W, s.TagWidth, s.Span, h.End, numbers)...)
}

// drawHeat is the heat map under its rule.
func (s spreading) drawHeat(size layout.Size, look Look) []string {
	p := s.plot(look)
	m := chart.Heat{
		W: size.W, H: size.H - 1, Bounds: s.heat.Bounds, Counts: s.heat.Counts, Step: s.heat.Step, Behind: behindOf(s.w.History, s.heat.End),
		TagWidth: p.TagWidth, Marks: p.Marks, Empty: p.Empty, Span: p.Span, End: p.End, Since: p.Since, Format: p.Format,
		Label: p.Label, Rule: p.Rule, ObjectiveInk: p.ObjectiveInk, MarkInk: p.MarkInk, ASCII: p.ASCII,
	}
	numbers := map[string]About{}
	for i, r := range heatRamp {
		m.Ramp[i], m.Over[i] = look.ink(r), look.ink(themes.Over)
	}
	if o, ok := objectiveFor(s.w, s.metric()); ok {
		m.Objective, m.Tag = o.MaxS, "SLO "+unit.Limit(o.MaxS)
		numbers[m.Tag] = About{string(s.metric()) + ".max", s.w.Name}
	}
	title := []seg{{themes.Strong, "HEAT"}, {themes.Muted, " " + s.what() + ", requests by bucket"}}
	if s.marked {
		title[1].text = " " + s.what() + " " + look.foreign(s.w.Name, 24)
	}
	return append([]string{look.rule(size.W, title, heatLegend(size.W, look)...)}, look.pointable(strings.Split(m.Render(), "\n"), s.f, size.W, m.TagWidth, m.Span, s.w.History.End, numbers)...)
}

// heatRamp is the role of each shade, from little to much.
var heatRamp = [chart.Shades]themes.Role{themes.Band, themes.Low, themes.Low, themes.Low}

// heatLegend says which share of a moment's requests each shade stands for.
func heatLegend(w int, look Look) []part {
	p := part{}
	if w >= narrow {
		p.segs = append(p.segs, seg{themes.Muted, "share "})
	}
	for i := range chart.Shades {
		from, sign := chart.ShadeFrom(i, look.ASCII)
		text := " any "
		if i > 0 {
			text = " " + unit.Percent(from) + " "
		}
		if i == chart.Shades-1 {
			text = strings.TrimRight(text, " ")
		}
		p.segs = append(p.segs, seg{heatRamp[i], string(sign)}, seg{themes.Muted, text})
	}
	p.drop = 1
	return []part{p}
}
