package panes

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Roofline is how one engine uses its accelerators: where it runs under the roof and
// where it ran, what a step is made of, what the GPUs' counters say, and one sentence
// that decides or says what it would take to.
type Roofline struct{}

// Name names the pane.
func (Roofline) Name() string { return "roofline" }

// The heights and widths of its parts.
const (
	roofMaxH   = 44
	roofUsualH = 10
	threeWide  = 112                                // from here on the GPUs' figures stand beside the step
	twoWide    = 70                                 // from here on the step stands beside the plot
	plotAloneH = chart.MinRoofH + 1 + stepLines + 1 // below it a narrow screen has no plot
)

// Want is what its text needs; the plot takes what the rest of the screen leaves.
func (Roofline) Want(f *model.Frame, w int, look Look) layout.Want {
	u := UtilizationUnder(f, look.View)
	if u == nil {
		return layout.Want{}
	}
	if !plottable(u) {
		n := len(untold(f, u, w, look))
		return layout.Want{Min: min(n, 4), Ideal: n, Max: n}
	}
	t := belowPlot(f, u, w, look)
	if w < twoWide {
		return layout.Want{Min: t.must + 1, Ideal: t.all() + 1 + stepLines, Max: t.all() + 2 + stepLines + roofMaxH}
	}
	return layout.Want{Min: t.must + 1, Ideal: t.all() + roofUsualH, Max: t.all() + roofMaxH}
}

// Render draws as much as there is room for: the sentence and the figures stay, then
// comes the plot, then the rest of the text.
func (Roofline) Render(f *model.Frame, size layout.Size, look Look) string {
	u := UtilizationUnder(f, look.View)
	if u == nil || size.H <= 0 {
		return ""
	}
	if !plottable(u) {
		return lines(size.H, untold(f, u, size.W, look)...)
	}
	t := belowPlot(f, u, size.W, look)
	text := t.lines(size.H - 1)
	if size.W >= twoWide {
		if plot := min(roofUsualH, size.H-t.least()); plot > chart.MinRoofH {
			text = t.lines(size.H - plot)
		}
	}
	top := roofTop(f, u, layout.Size{W: size.W, H: size.H - len(text)}, look)
	return lines(size.H, append(top, text...)...)
}

// roofTop is the plot and the step, as far as they fit.
func roofTop(f *model.Frame, u *model.UtilizationView, size layout.Size, look Look) []string {
	switch {
	case size.W >= threeWide && size.H > chart.MinRoofH:
		return useColumns(f, u, size, look, roofColumn, stepColumn, figuresColumn)
	case size.W >= twoWide && size.H > chart.MinRoofH:
		return useColumns(f, u, size, look, roofColumn, stepColumn)
	case size.W >= chart.MinRoofW && size.H >= plotAloneH:
		plot := layout.Size{W: size.W, H: size.H - stepLines - 1}
		return append(drawRoof(f, u, plot, look), drawStep(f, u, layout.Size{W: size.W, H: stepLines + 1}, look)...)
	case size.H > len(stepParts)+1:
		title, _ := stepTitle(u)
		title = append([]seg{{themes.Text, look.foreign(u.Target, 24) + "  "}}, title...)
		return append([]string{look.rule(size.W, title, peaksRemark(u, look)...)}, drawStep(f, u, size, look)[1:]...)
	default:
		top := []string{look.rule(size.W, roofTitle(u, size.W, look), peaksRemark(u, look)...)}
		if size.H > 1 {
			top = append(top, stepInOneLine(u, size.W, look))
		}
		return top
	}
}

// plottable reports whether there is anything to draw: a roof, or a point.
func plottable(u *model.UtilizationView) bool {
	return u.PeakFLOPs.OK() && u.PeakBytes.OK() || u.Point != nil || len(u.Trail) > 0
}

// untold is an engine of which there is nothing to draw: what is known, and all that
// is missing.
func untold(f *model.Frame, u *model.UtilizationView, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	s.out = append(s.out, look.rule(w, roofTitle(u, w, look)))
	s.text(1, boundRole(u), look.sentenceOf(u))
	s.useLines(f, u)
	if why := noSplit(u); why == "" {
		s.out = append(s.out, stepInOneLine(u, w, look))
	} else {
		s.text(1, themes.Muted, "step: "+why)
	}
	s.missing(u)
	return s.out
}

// useColumn is one of the columns of the pane: the width it wants, and what draws it
// under a rule of its own.
type useColumn struct {
	want layout.Want
	draw func(f *model.Frame, u *model.UtilizationView, size layout.Size, look Look) []string
}

var (
	roofColumn    = useColumn{layout.Want{Min: 36, Ideal: 38, Max: 84}, drawRoof}
	stepColumn    = useColumn{layout.Want{Min: 26, Ideal: 34, Max: 44}, drawStep}
	figuresColumn = useColumn{layout.Want{Min: 45, Ideal: 45, Max: 72}, drawFigures}
)

// useColumns draws columns next to one another, all of one height.
func useColumns(f *model.Frame, u *model.UtilizationView, size layout.Size, look Look, cols ...useColumn) []string {
	wants := make([]layout.Want, len(cols))
	for i, c := range cols {
		wants[i] = c.want
	}
	rects := layout.Columns(layout.Rect{W: size.W, H: size.H}, chartGap, wants)
	var out []string
	for i, c := range cols {
		drawn := c.draw(f, u, layout.Size{W: rects[i].W, H: size.H}, look)
		if i == 0 {
			out = drawn
			continue
		}
		out = sideBySide(out, drawn, size.H, rects[i].X, look)
	}
	return out
}

// drawRoof is the plot under its title.
func drawRoof(_ *model.Frame, u *model.UtilizationView, size layout.Size, look Look) []string {
	p := roofPlot(u, look)
	p.W, p.H = size.W, size.H-1
	return append([]string{look.rule(size.W, roofTitle(u, size.W, look))}, strings.Split(p.Render(), "\n")...)
}

// roofTitle is whose roofline it is, and on which hardware.
func roofTitle(u *model.UtilizationView, w int, look Look) []seg {
	const around = 6 + len("ROOFLINE ") + 2
	title := func(room int) []seg {
		return []seg{{themes.Strong, "ROOFLINE "}, {themes.Text, look.foreign(u.Target, min(24, max(room, 12)))}}
	}
	on := hardwareText(u)
	if u.Device == "" && cells(u.Target)+cells(on) > w-around { // the page says so
		return title(w - around)
	}
	out := title(w - around - cells(on))
	return append(out, seg{themes.Muted, "  " + look.sentence(on, max(w-around-cells(out[1].text), 1))})
}

// peaksRemark is how sure the peaks are.
func peaksRemark(u *model.UtilizationView, look Look) []part {
	text := confidenceText(u)
	if text == "" {
		return nil
	}
	return []part{say(1, themes.Muted, "peaks: "+look.sentence(text, 20))}
}

// confidenceText says where the peaks come from, in a word: the table with its
// grade, the operator, or the clock formula.
func confidenceText(u *model.UtilizationView) string {
	switch c := string(u.Confidence); {
	case c == "":
		return ""
	case strings.Contains(string(u.DeviceFrom), "derived"):
		return "derived " + c
	case len(c) == 1:
		return "table " + c
	default:
		return c
	}
}

// roofPlot is the plot without its size.
func roofPlot(u *model.UtilizationView, look Look) chart.Roofline {
	p := chart.Roofline{
		Peak: orZero(u.PeakFLOPs) / tera, Bandwidth: orZero(u.PeakBytes) / tera, UnitX: "FLOP/B", Empty: noPoint(u),
		FormatX: unit.Number, FormatY: unit.Number, UnitY: look.sentence(withPrecision("TFLOP/s", u), 24), ASCII: look.ASCII,
		Label: look.ink(themes.Muted), Rule: look.ink(themes.Rule), Roof: look.ink(themes.Objective),
		Ages: [3]chart.Ink{look.ink(themes.Rule), look.ink(themes.Low), look.ink(themes.High)},
	}
	if c := confidenceText(u); c != "" && p.Peak > 0 {
		p.PeakText = "peaks: " + look.sentence(c, 20)
	}
	if v, ok := u.Ridge.Get(); ok {
		p.RidgeText = "ridge " + unit.Number(v)
	}
	for _, t := range u.Trail {
		p.Trail = append(p.Trail, pointXY(t))
	}
	for _, s := range []struct {
		at             *model.PointView
		unicode, ascii rune
		text           string
		role           themes.Role
	}{
		{u.Prefill, 'P', 'P', "prefill", themes.Text}, {u.Decode, 'D', 'D', "decode", themes.Text}, {u.Point, '●', '*', "now", themes.Strong},
	} {
		if s.at == nil || !s.at.FLOPs.OK() || !s.at.Intensity.OK() {
			continue
		}
		sign := s.unicode
		if look.ASCII {
			sign = s.ascii
		}
		p.Spots = append(p.Spots, chart.Spot{XY: pointXY(*s.at), Sign: sign, Ink: look.ink(s.role), Text: s.text})
	}
	if len(u.Trail) > 1 {
		p.TrailText = "last 10 min"
	}
	return p
}

const tera = 1e12

func orZero(r model.Reading) float64 {
	v, _ := r.Get()
	return v
}

func pointXY(p model.PointView) chart.XY {
	if !p.FLOPs.OK() || !p.Intensity.OK() {
		return chart.XY{}
	}
	return chart.XY{X: p.Intensity.Value, Y: p.FLOPs.Value / tera}
}

// noPoint says why there is nothing to draw.
func noPoint(u *model.UtilizationView) string {
	if u.Device == "" {
		return "no peaks: accelerator not known"
	}
	return "no operating point yet"
}

// useText is what stands below the plot: what always does, the figures where no
// column of their own has them and the sentence, and what else must be known to read
// it.
type useText struct {
	w     int
	look  Look
	fixed []string
	must  int // of them, that stay on the smallest screen
	rest  []seg
}

func belowPlot(f *model.Frame, u *model.UtilizationView, w int, look Look) useText {
	figures, verdict := &sheet{w: w, look: look}, &sheet{w: w, look: look}
	if w < threeWide {
		figures.useLines(f, u)
	}
	verdict.text(1, boundRole(u), look.sentenceOf(u))
	t := useText{w: w, look: look, fixed: append(figures.out, verdict.out...)}
	t.must = len(t.fixed)
	if w < narrow { // the last line of figures may go
		t.fixed, t.must = append(verdict.out, figures.out...), t.must-1
	}
	add := func(role themes.Role, text string) {
		for _, l := range wrap(look.sentence(text, maxProse), w-1) {
			t.rest = append(t.rest, seg{role, l})
		}
	}
	if impossible(u) {
		add(themes.Warn, beyondText)
	}
	if u.Gap != "" {
		add(themes.Text, string(u.Gap))
	}
	if len(u.Missing) > 0 && (u.Bound == model.BoundUnknown || u.Likely) {
		add(themes.Muted, "to know more: "+u.Missing[0])
	}
	return t
}

// all is how many lines there are.
func (t useText) all() int { return len(t.fixed) + len(t.rest) }

// least is how many lines say that there is more.
func (t useText) least() int { return len(t.fixed) + min(len(t.rest), 1) }

// lines is at most n lines. Where not all fit the last one says how to see them.
func (t useText) lines(n int) []string {
	out := slices.Clone(t.fixed[:min(len(t.fixed), max(n, 0))])
	room := max(n-len(out), 0)
	for i, r := range t.rest[:min(len(t.rest), room)] {
		l := t.look.line(t.w).pad(1)
		if i == room-1 && room < len(t.rest) {
			l.put(r.role, t.look.cut(r.text+t.look.pick("…", ".."), t.w-1-cells(openForAll))).put(themes.Muted, openForAll)
		} else {
			l.put(r.role, r.text)
		}
		out = append(out, l.String())
	}
	return out
}

// openForAll ends what is cut short.
const openForAll = "  enter: all of it"

const beyondText = "above 100 %: a peak, the shape, the precision or the number of GPUs is wrong"

func boundRole(u *model.UtilizationView) themes.Role {
	if u.Bound == model.BoundUnknown {
		return themes.Muted
	}
	return themes.Strong
}

// sentenceOf is what it all comes to.
func (k Look) sentenceOf(u *model.UtilizationView) string {
	if u.Sentence != "" {
		return u.Sentence
	}
	return k.ceiling(u)
}
