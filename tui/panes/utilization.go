package panes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Utilizations is a row an engine: how much of its accelerators it uses, by whose
// word, which ceiling is near, and whether its steps take as long as they should.
// Where there is one engine the roofline says all of it.
type Utilizations struct{}

// Name names the pane.
func (Utilizations) Name() string { return "utilizations" }

// Want is a title and a row for each engine, where there are several.
func (Utilizations) Want(f *model.Frame, w int, look Look) layout.Want {
	n := len(f.Utilization)
	if n < 2 {
		return layout.Want{}
	}
	drop := 1
	if look.View.Device != "" {
		drop = 2
	}
	head := 2
	if w < narrow {
		head = 1
	}
	return layout.Want{Min: min(n, 2) + head, Ideal: min(n, 4) + head, Max: min(n, 12) + head, Drop: drop}
}

// Render draws the rows around the cursor, and only those.
func (Utilizations) Render(f *model.Frame, size layout.Size, look Look) string {
	if len(f.Utilization) < 2 || size.H <= 0 {
		return ""
	}
	order := utilizationOrder(f, look.View.UseSort)
	var out []string
	if size.W >= narrow {
		out = append(out, look.rule(size.W, utilizationTitle(f, look), say(1, themes.Muted, look.View.UseSort.Words())))
	}
	under := UtilizationUnder(f, look.View)
	at := max(slices.Index(order, under), 0)
	from, to, more := visible(len(order), at, size.H-len(out)-1)
	t := fit(utilizationColumns(order[from:to], size.W, look), size.W-1)
	out = append(out, t.head(look))
	for i, u := range order[from:to] {
		out = append(out, t.row(u, utilizationCondition(u), look.View.Device == "" && from+i == at, look))
	}
	if more > 0 {
		text := fmt.Sprintf("%d to %d of %d", from+1, to, len(order))
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, text).String())
	}
	return lines(size.H, out...)
}

// utilizationTitle counts the engines by what is near their ceiling.
func utilizationTitle(f *model.Frame, look Look) []seg {
	title := []seg{{themes.Strong, "ENGINES"}, {themes.Text, " " + unit.Integer(float64(len(f.Utilization)))}}
	slow := 0
	for i := range f.Utilization {
		if machineOf(&f.Utilization[i]) >= machineSlower {
			slow++
		}
	}
	if slow > 0 {
		title = append(title, seg{themes.Breach, fmt.Sprintf("  %d slow", slow)})
	}
	for _, b := range []model.Bound{model.BoundCompute, model.BoundBandwidth, model.BoundStarved} {
		n := 0
		for i := range f.Utilization {
			if f.Utilization[i].Bound == b {
				n++
			}
		}
		if n > 0 {
			title = append(title, seg{themes.Muted, fmt.Sprintf("  %d %s", n, b)})
		}
	}
	return title
}

// UseSort is an order of the engines on the screen of utilization.
type UseSort uint8

// The orders, in the order of the key that steps through them.
const (
	UseByTrouble UseSort = iota
	UseByName
	UseByMFU
	UseByMBU
	UseByResidual
	useSorts
)

var useSortWords = [useSorts]string{"worst first", "by name", "by MFU", "by MBU", "by slowdown"}

// Next is the order after s.
func (s UseSort) Next() UseSort { return (s + 1) % useSorts }

// Words is the order as the end of a sentence.
func (s UseSort) Words() string { return useSortWords[s] }

// utilizationOrder sorts the engines. In the first order a row moves only when its
// trouble changes, and never with a number.
func utilizationOrder(f *model.Frame, by UseSort) []*model.UtilizationView {
	out := make([]*model.UtilizationView, len(f.Utilization))
	for i := range f.Utilization {
		out[i] = &f.Utilization[i]
	}
	larger := func(x, y model.Reading) int { return cmp.Compare(sortable(y), sortable(x)) }
	slices.SortStableFunc(out, func(a, b *model.UtilizationView) int {
		first := 0
		switch by {
		case UseByTrouble:
			first = cmp.Compare(troubleOf(b), troubleOf(a))
		case UseByMFU:
			first = larger(a.MFU, b.MFU)
		case UseByMBU:
			first = larger(a.MBU, b.MBU)
		case UseByResidual:
			first = larger(residualOf(a), residualOf(b))
		}
		return cmp.Or(first, naturalCompare(a.Target, b.Target))
	})
	return out
}

// troubleOf ranks an engine by what is wrong with it; one of which nothing is known
// comes last.
func troubleOf(u *model.UtilizationView) int {
	switch {
	case machineOf(u) > machineAsExpected:
		return 3 + int(machineOf(u))
	case u.Bound == model.BoundStarved:
		return 3
	case u.MFU.OK() || u.MBU.OK() || len(u.Measures) > 0:
		return 2
	case u.Busy.OK():
		return 1
	default:
		return 0
	}
}

// UseRow is what the cursor of the screen is on: an engine, or a GPU.
type UseRow struct{ Engine, Device string }

// UseOrder lists the engines and then the GPUs as the screen shows them.
func UseOrder(f *model.Frame, v View) []UseRow {
	var out []UseRow
	for _, u := range utilizationOrder(f, v.UseSort) {
		out = append(out, UseRow{Engine: u.Target})
	}
	for _, d := range DeviceOrder(f) {
		out = append(out, UseRow{Device: d})
	}
	return out
}

// UseUnder is the row under the cursor: the GPU that was chosen, else an engine, else
// the first GPU; the zero row where there is neither.
func UseUnder(f *model.Frame, v View) UseRow {
	if v.Device == "" {
		if u := UtilizationUnder(f, v); u != nil {
			return UseRow{Engine: u.Target}
		}
	}
	if d := DeviceUnder(f, v); d != nil {
		return UseRow{Device: d.UUID}
	}
	return UseRow{}
}

// UtilizationUnder is the engine whose roofline is shown: that of the GPU under the
// cursor, the one that was chosen, else the first; nil where there is none.
func UtilizationUnder(f *model.Frame, v View) *model.UtilizationView {
	if v.Device != "" {
		if d := deviceNamed(f, v.Device); d != nil && len(d.Engines) > 0 {
			if u := utilizationOf(f, d.Engines[0]); u != nil {
				return u
			}
		}
	}
	if u := utilizationOf(f, v.Engine); u != nil {
		return u
	}
	if order := utilizationOrder(f, v.UseSort); len(order) > 0 {
		return order[0]
	}
	return nil
}

func utilizationOf(f *model.Frame, target string) *model.UtilizationView {
	for i := range f.Utilization {
		if f.Utilization[i].Target == target {
			return &f.Utilization[i]
		}
	}
	return nil
}

// machine is what the residual of a step says of its machine.
type machine uint8

const (
	machineUnknown machine = iota
	machineAsExpected
	machineDoubtful
	machineSlower
)

func residualOf(u *model.UtilizationView) model.Reading {
	if u.Step == nil {
		return model.Reading{}
	}
	return u.Step.Residual
}

func machineOf(u *model.UtilizationView) machine {
	switch r, ok := residualOf(u).Get(); {
	case !ok:
		return machineUnknown
	case r >= model.ResidualSlower:
		return machineSlower
	case r >= model.ResidualExplained:
		return machineDoubtful
	default:
		return machineAsExpected
	}
}

func (m machine) role() themes.Role {
	switch m {
	case machineSlower:
		return themes.Breach
	case machineDoubtful:
		return themes.Warn
	default:
		return themes.Text
	}
}

// utilizationCondition is the mark of an engine's row.
func utilizationCondition(u *model.UtilizationView) condition {
	switch {
	case machineOf(u) == machineSlower || impossible(u):
		return atRisk
	case u.Bound == model.BoundStarved:
		return atRisk
	case troubleOf(u) <= 1:
		return cannot
	default:
		return up
	}
}

// impossible reports whether a share lies above the whole: then a peak, the shape,
// the precision or the number of GPUs is wrong.
func impossible(u *model.UtilizationView) bool {
	return slices.ContainsFunc(u.Measures, func(m model.MeasureView) bool { return beyondWhole(m.Compute) || beyondWhole(m.Bandwidth) }) ||
		beyondWhole(u.MFU) || beyondWhole(u.MBU)
}

func beyondWhole(r model.Reading) bool { return r.OK() && r.Value > 1 }

// ceiling is which ceiling is near, and how sure that is.
func (k Look) ceiling(u *model.UtilizationView) string {
	text := unit.Escape(string(u.Bound), k.ASCII)
	switch {
	case u.Bound == model.BoundUnknown:
		return "unknown"
	case u.Likely:
		return "likely " + text
	default:
		return text
	}
}

// basisWords are the bases in a word, in a few cells and in full.
var basisWords = map[model.UtilizationBasis]struct{ word, short, long string }{
	model.ByGPM:      {"GPM", "GPM", "counted by the hardware (GPM)"},
	model.ByDCGM:     {"DCGM", "DCGM", "counted by the hardware (DCGM)"},
	model.ByExporter: {"counters", "counters", "counted by the hardware, told by an exporter"},
	model.ByEngine:   {"engine", "engine estimate", "estimated by the engine from its shapes"},
	model.ByShape:    {"model", "model", "worked out from the network's shape and the rates"},
}

func (k Look) basis(b model.UtilizationBasis) string {
	if w, ok := basisWords[b]; ok {
		return w.short
	}
	return k.foreign(string(b), 16)
}

// counted reports whether a basis is hardware counters: what they count is near MFU
// and MBU and not the same.
func counted(b model.UtilizationBasis) bool {
	return b == model.ByGPM || b == model.ByDCGM || b == model.ByExporter
}

// useShare is a share of a peak, never clipped: what cannot be has a colour and a
// mark.
func (k Look) useShare(r model.Reading, w int) cell {
	c := k.reading(r, w, unit.Ratio)
	switch {
	case beyondWhole(r) && r.Value >= 10:
		c = cell{themes.Warn, ">999 %!"}
	case beyondWhole(r):
		c.role, c.text = themes.Warn, c.text+"!"
	}
	return c
}

func utilizationColumns(shown []*model.UtilizationView, w int, look Look) []column[*model.UtilizationView] {
	longest, device := 0, 8
	for _, u := range shown {
		longest = max(longest, cells(unit.Escape(u.Target, look.ASCII)))
		device = max(device, cells(unit.Escape(withPrecision(hardwareText(u), u), look.ASCII)))
	}
	return []column[*model.UtilizationView]{
		{title: "ENGINE", min: leastName(longest, w, 14), max: nameWidth(longest), left: true, about: useAbout("row.engine"), draw: func(u *model.UtilizationView, w int, k Look) cell {
			return cell{themes.Strong, k.foreign(u.Target, w)}
		}},
		{title: "COMPUTE", min: 7, about: useAbout("mfu"), draw: func(u *model.UtilizationView, w int, k Look) cell { return k.useShare(u.MFU, w) }},
		{title: "BANDWIDTH", min: 9, about: useAbout("mbu"), draw: func(u *model.UtilizationView, w int, k Look) cell { return k.useShare(u.MBU, w) }},
		{title: "BY", min: 8, max: len("engine estimate"), drop: 3, left: true, draw: func(u *model.UtilizationView, w int, k Look) cell {
			words := basisWords[u.Basis]
			switch {
			case u.Basis == "":
				return cell{themes.Muted, unit.None(k.ASCII)}
			case words.word == "":
				return cell{themes.Muted, k.foreign(string(u.Basis), w)}
			case w < cells(words.short):
				return cell{themes.Muted, words.word}
			default:
				return cell{themes.Muted, words.short}
			}
		}},
		{title: "BOUND", min: len("likely bandwidth"), drop: 1, left: true, draw: func(u *model.UtilizationView, w int, k Look) cell {
			role := themes.Text
			if u.Bound == model.BoundUnknown {
				role = themes.Muted
			}
			return cell{role, k.cut(strings.TrimSuffix(k.ceiling(u), "-bound"), w)}
		}},
		{title: "STEP", min: 8, drop: 4, about: useAbout("step"), draw: func(u *model.UtilizationView, w int, k Look) cell {
			if u.Step == nil {
				return k.absent(model.Unknown, w)
			}
			c := k.reading(u.Step.Seconds, w, unit.Milliseconds)
			c.text = k.cut(c.text, w)
			return c
		}},
		{title: "SLOWDOWN", min: 8, drop: 2, about: useAbout("step.residual"), draw: func(u *model.UtilizationView, w int, k Look) cell {
			c := k.reading(residualOf(u), w, func(v float64) string { return unit.Multiple(v, k.ASCII) })
			if c.role == themes.Text {
				c.role = machineOf(u).role()
			}
			c.text = k.cut(c.text, w)
			return c
		}},
		{title: "BUSY", min: 6, drop: 5, about: useAbout("busy"), draw: func(u *model.UtilizationView, w int, k Look) cell { return k.ratio(u.Busy, w) }},
		{title: "HARDWARE", min: min(device, 24), max: min(device, 40), drop: 6, left: true, draw: func(u *model.UtilizationView, w int, k Look) cell {
			return cell{themes.Muted, k.foreign(withPrecision(hardwareText(u), u), w)}
		}},
	}
}

// useAbout says what a column holds of its row's engine.
func useAbout(topic string) func(*model.UtilizationView) About {
	return func(u *model.UtilizationView) About { return About{topic, u.Target} }
}

// hardwareText is what an engine runs on: 2 x H100 SXM.
func hardwareText(u *model.UtilizationView) string {
	text := string(u.Device)
	if text == "" {
		text = "accelerator not known"
	}
	if n, ok := u.GPUs.Get(); ok && n != 1 && !math.IsInf(n, 0) {
		text = unit.Number(n) + " x " + text
	}
	return text
}

// withPrecision adds the precision of the arithmetic, which decides which peak there
// is.
func withPrecision(text string, u *model.UtilizationView) string {
	if u.Precision == "" {
		return text
	}
	return text + " " + strings.ToUpper(string(u.Precision))
}
