package panes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Sort is an order of the fleet's rows.
type Sort uint8

// The orders, in the order of the key that steps through them.
const (
	ByState Sort = iota
	ByName
	ByWaiting
	ByKV
	ByTTFT
	ByOutput
	sorts
)

var sortWords = [sorts]string{"worst first", "name", "waiting", "KV cache", "TTFT p95", "output tok/s"}

// Next is the order after s.
func (s Sort) Next() Sort { return (s + 1) % sorts }

// String says how the rows are sorted.
func (s Sort) String() string { return sortWords[s] }

// Words is String as the end of a sentence.
func (s Sort) Words() string {
	if s == ByState {
		return s.String()
	}
	return "by " + s.String()
}

// Fleet is a row a target, and where the viewer wants that a row an engine inside it.
type Fleet struct{}

// Name names the pane.
func (Fleet) Name() string { return "fleet" }

// Want takes all the room there is.
func (Fleet) Want(f *model.Frame, _ int, _ Look) layout.Want {
	return layout.Want{Min: 3, Ideal: len(f.Targets) + 3, Max: math.MaxInt16}
}

// Render draws the rows around the cursor, and only those.
func (Fleet) Render(f *model.Frame, size layout.Size, look Look) string {
	order := targetOrder(f, look.View.Filter, look.View.Sort)
	out := []string{fleetTitle(f, order, size.W, look)}
	out = append(out, unevenLines(f, size, look)...)
	if len(order) == 0 {
		return lines(size.H, append(out, noTarget(f, size.W, look)...)...)
	}
	rows, at := fleetRows(order, look.View)
	from, to, more := visible(len(rows), amid(rows, at, size.H-len(out)-2), size.H-len(out)-1)
	t := fit(targetColumns(f, targetsIn(rows[from:to]), size.W, 2, look), size.W-1)
	out = append(out, t.head(look))
	for i, r := range rows[from:to] {
		out = append(out, r.draw(f, t, from+i == at, look))
	}
	if more > 0 {
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, moreRows(rows[from:to], len(order), from, to, len(rows))).String())
	} else if room := size.H - len(out); room >= previewLeast {
		out = append(out, preview(f, rows[at].t, layout.Size{W: size.W, H: room}, look)...)
	}
	return lines(size.H, out...)
}

// previewLeast is how many lines below a short list are worth a look at the target under
// the cursor: how it answers, and some of its numbers.
const previewLeast = 8

// preview is the beginning of what opening a target shows, and how much more that is.
func preview(f *model.Frame, t *model.TargetView, size layout.Size, look Look) []string {
	all := detailLines(f, t, size.W, look)
	var more []part
	if n := len(all) - size.H; n > 0 {
		more = append(more, part{segs: []seg{{themes.Key, "enter"}, {themes.Muted, " " + plural(n, "more line")}}, drop: 1})
	}
	all[0] = look.rule(size.W, detailTitle(f, t, look), more...)
	return all[:min(len(all), size.H)]
}

// unevenLines is the imbalance in a sentence: on one line, on two where the screen has
// them to spare.
func unevenLines(f *model.Frame, size layout.Size, look Look) []string {
	text, w := imbalance(f, look), size.W-indent
	if text == "" {
		return nil
	}
	most := 1
	if size.H >= 2*shortFleet {
		most = 2
	}
	said := look.folded(look.sentence(text, maxProse), w, most)
	for i, l := range said {
		said[i] = look.line(size.W).pad(indent).put(themes.Warn, l).String()
	}
	return said
}

// shortFleet is a height in which each line is a target's.
const shortFleet = 10

// fleetTitle counts the states: the sum of a fleet in one line.
func fleetTitle(f *model.Frame, order []*model.TargetView, w int, look Look) string {
	var counts [conditions]int
	for i := range f.Targets {
		counts[conditionOf(&f.Targets[i])]++
	}
	title := []seg{{themes.Strong, plural(len(f.Targets), "target")}}
	if look.View.Filter != "" {
		title = append(title, seg{themes.Warn, fmt.Sprintf(", %d match %s", len(order), look.foreign(look.View.Filter, 16))})
	}
	for c, n := range counts {
		if n > 0 {
			role := conditionTable[c].role
			title = append(title, seg{themes.Text, "  "}, seg{role, fmt.Sprintf("%d %s", n, targetWord(condition(c)))})
		}
	}
	remarks := []part{say(1, themes.Muted, look.View.Sort.Words())}
	if slices.ContainsFunc(f.Targets, sinceItsStart) {
		remarks = append(remarks, say(2, themes.Warn, sinceStart+" since the server started"))
	}
	return look.rule(w, title, remarks...)
}

// sinceItsStart reports whether a percentile of the target covers more than the
// window.
func sinceItsStart(t model.TargetView) bool {
	for _, d := range []*model.Dist{t.TTFT, t.TPOT, t.ITL} {
		if d != nil && d.N > 0 && d.Basis == model.SinceStart {
			return true
		}
	}
	return false
}

// TargetOrder lists the targets as the fleet shows them.
func TargetOrder(f *model.Frame, v View) []model.TargetID {
	order := targetOrder(f, v.Filter, v.Sort)
	ids := make([]model.TargetID, len(order))
	for i, t := range order {
		ids[i] = t.ID
	}
	return ids
}

// targetOrder filters and sorts. Equals keep their names' order, so that rows do
// not jump.
func targetOrder(f *model.Frame, filter string, by Sort) []*model.TargetView {
	out := make([]*model.TargetView, 0, len(f.Targets))
	filter = strings.ToLower(filter)
	for i := range f.Targets {
		if t := &f.Targets[i]; filter == "" || matches(t, filter) {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *model.TargetView) int {
		return cmp.Or(compareBy(a, b, by), cmp.Compare(conditionOf(a), conditionOf(b)), naturalCompare(a.Name, b.Name))
	})
	return out
}

func matches(t *model.TargetView, filter string) bool {
	c := conditionOf(t)
	for _, s := range append([]string{t.Name, string(t.ID), t.Kind, engineText(t), targetWord(c)}, t.Models...) {
		if strings.Contains(strings.ToLower(s), filter) {
			return true
		}
	}
	return t.Fault != nil && strings.Contains(strings.ToLower(string(t.Fault.Kind)), filter)
}

// compareBy puts the largest first; what has no value comes last.
func compareBy(a, b *model.TargetView, by Sort) int {
	larger := func(x, y model.Reading) int { return cmp.Compare(sortable(y), sortable(x)) }
	switch by {
	case ByWaiting:
		return larger(a.Waiting, b.Waiting)
	case ByKV:
		return larger(a.KVCacheUsage, b.KVCacheUsage)
	case ByTTFT:
		return larger(upper(a.TTFT), upper(b.TTFT))
	case ByOutput:
		return larger(a.OutputPerSecond, b.OutputPerSecond)
	case ByName:
		return naturalCompare(a.Name, b.Name)
	default:
		return 0
	}
}

func sortable(r model.Reading) float64 {
	if v, ok := r.Get(); ok {
		return v
	}
	return math.Inf(-1)
}

// upper is a distribution's p95 for sorting; beyond the last bucket it is its
// edge.
func upper(d *model.Dist) model.Reading {
	if d == nil {
		return model.Reading{}
	}
	if d.P95.Value.OK() {
		return d.P95.Value
	}
	return d.P95.Lo
}

// naturalCompare orders names so that vllm-2 comes before vllm-10.
func naturalCompare(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
