package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Headline says who is hurt and since when, then what is known of it. It states
// what was measured and never guesses a cause.
type Headline struct{}

// Name names the pane.
func (Headline) Name() string { return "headline" }

// Want is two lines, whether there is something to add or not, so that what is
// below stands still; three where there is more. A narrow screen has no line to
// spare.
func (Headline) Want(f *model.Frame, w int, look Look) layout.Want {
	n := len(headlines(f, look))
	if w < narrow {
		return layout.Want{Min: 1, Ideal: min(n, 3), Max: min(n, 3)}
	}
	return layout.Want{Min: 1, Ideal: max(min(n, 3), 2), Max: max(min(n, 3), 2)}
}

// Render draws the lines.
func (Headline) Render(f *model.Frame, size layout.Size, look Look) string {
	var out []string
	for i, ps := range headlines(f, look) {
		from := 1
		if i > 0 {
			from = indent
		}
		out = append(out, look.line(size.W).pad(from).parts(3, ps...).String())
	}
	return lines(size.H, out...)
}

// recent is how long a restart is worth a line.
const recent = 10 * time.Minute

// headlines is what there is to say, the most urgent first.
func headlines(f *model.Frame, look Look) [][]part {
	var out [][]part
	if down := inCondition(f, down); len(down) == len(f.Targets) && len(down) > 0 {
		return append(out, allDown(f, down, look), faultSummary(down, look))
	}
	out = append(out, first(f, look)...)
	out = append(out, targetTrouble(f, look)...)
	return append(out, restarts(f, look)...)
}

func inCondition(f *model.Frame, c condition) []*model.TargetView {
	var out []*model.TargetView
	for i := range f.Targets {
		if conditionOf(&f.Targets[i]) == c {
			out = append(out, &f.Targets[i])
		}
	}
	return out
}

// first is the line about the workflow that hurts most, and its evidence.
func first(f *model.Frame, look Look) [][]part {
	if len(f.Workflows) == 0 {
		return [][]part{nothingServed(f, look)}
	}
	worst := &f.Workflows[0]
	switch c := of(worst); {
	case c.hurts():
		return hurt(f, look)
	case c == undecided:
		return [][]part{append(title(worst, look, ""), undecidedWhy(worst, look)...)}
	case c == cannot:
		return [][]part{append(title(worst, look, ""), say(1, themes.Muted, cannotWhy(worst)))}
	case c == starting:
		return [][]part{measuring(worst, look)}
	default:
		return [][]part{calm(f, look)}
	}
}

// nothingServed is for targets that answer and serve no workflow we know.
func nothingServed(f *model.Frame, look Look) []part {
	return []part{
		{segs: []seg{{themes.Warn, look.mark(undecided) + " no workflow found"}}},
		say(1, themes.Muted, plural(len(f.Targets), "target")+" on screen 5, enter says what each one exports"),
	}
}

// title is "▲ chat BREACHED for 4 min".
func title(w *model.WorkflowView, look Look, since string) []part {
	role := conditionTable[of(w)].role
	segs := []seg{
		{role, look.mark(of(w)) + " "},
		{themes.Strong, look.foreign(w.Name, 40)},
		{themes.Text, " "},
		{role, word(w, 40)},
		{themes.Text, since},
	}
	return []part{{segs: segs}}
}

func hurt(f *model.Frame, look Look) [][]part {
	worst := &f.Workflows[0]
	since := ""
	if !worst.Since.IsZero() {
		if d := f.At.Sub(worst.Since).Truncate(time.Second); d > 0 {
			since = " for " + look.span(d)
		}
	}
	head := title(worst, look, since)
	if s := splitOf(worst); of(worst) == breached {
		if text := s.takes(worst); text != "" {
			head = append(head, say(2, themes.Text, text+", n "+samples(s.n)))
		}
	}
	if n := others(f); n > 0 {
		head = append(head, say(3, themes.Warn, fmt.Sprintf("%d more below", n)))
	}
	out := [][]part{head}
	if of(worst) == breached {
		out = append(out, evidence(worst, look))
	}
	return out
}

// others counts the workflows beside the worst that hurt too.
func others(f *model.Frame) int {
	n := 0
	for n+1 < len(f.Workflows) && of(&f.Workflows[n+1]).hurts() {
		n++
	}
	return n
}

// evidence is what was measured against each missed objective.
func evidence(w *model.WorkflowView, look Look) []part {
	var out []part
	var promised string
	var n float64
	for _, o := range w.Objectives {
		if o.Verdict != model.Missed {
			continue
		}
		out = append(out, part{segs: []seg{
			{themes.Breach, look.share(o.Share)},
			{themes.Text, " met " + metricTitle(o.Metric) + " " + unit.Limit(o.MaxS)},
		}, drop: len(out)})
		promised = unit.Percent(o.Target)
		if d := distOf(w, o.Metric); d != nil {
			n = max(n, d.N)
		}
	}
	return append(out, say(3, themes.Muted, "promised "+promised), say(2, themes.Muted, "n "+samples(n)))
}

// undecidedWhy says which of two reasons it is: too few requests, or a bucket so
// wide that the share may lie on either side of the promise.
func undecidedWhy(w *model.WorkflowView, look Look) []part {
	for _, o := range w.Objectives {
		if o.Verdict != model.Undecided {
			continue
		}
		if !o.Share.Lo.OK() && !o.Share.Hi.OK() {
			return []part{say(0, themes.Text, metricTitle(o.Metric)+": nothing fresh is known")}
		}
		head := say(0, themes.Text, metricTitle(o.Metric)+": too few requests to judge")
		if o.Share.Lo.Value < o.Target && o.Share.Hi.Value >= o.Target {
			head = say(0, themes.Text, metricTitle(o.Metric)+": its bucket spans the promise")
		}
		met := say(2, themes.Muted, look.share(o.Share)+" met "+unit.Limit(o.MaxS)+", promised "+unit.Percent(o.Target))
		if d := distOf(w, o.Metric); d != nil {
			return []part{head, met, say(1, themes.Muted, "n "+samples(d.N))}
		}
		return []part{head, met}
	}
	return []part{say(1, themes.Muted, "requests run, and none has ended in the window")}
}

func cannotWhy(w *model.WorkflowView) string {
	var missing []string
	for _, o := range w.Objectives {
		if slices.Contains(w.Missing, signalOf(o.Metric)) {
			missing = append(missing, metricTitle(o.Metric))
		}
	}
	if len(missing) == 0 {
		return "no percentile from this server's histograms"
	}
	return strings.Join(missing, " and ") + " not exported by this server"
}

func measuring(w *model.WorkflowView, look Look) []part {
	return []part{
		{segs: []seg{
			{themes.Muted, look.mark(starting) + " "}, {themes.Strong, look.foreign(w.Name, 40)},
			{themes.Text, " answers"},
		}},
		say(1, themes.Muted, "rates need a second poll"),
	}
}

// calm is the line of a screen on which nothing needs doing.
func calm(f *model.Frame, look Look) []part {
	n := 0
	for i := range f.Workflows {
		if of(&f.Workflows[i]) == met {
			n++
		}
	}
	if n == 0 {
		return []part{{segs: []seg{{themes.Text, look.mark(quiet) + " no traffic"}}}}
	}
	head := fmt.Sprintf("all %d workflows met", n)
	switch all := len(f.Workflows); {
	case all == 1:
		head = look.foreign(f.Workflows[0].Name, 40) + " met"
	case n < all:
		head = fmt.Sprintf("%d of %d workflows met, the others without traffic", n, all)
	}
	out := []part{{segs: []seg{{themes.OK, look.mark(met) + " "}, {themes.Strong, head}}}}
	return append(out, nearest(f, look))
}

// nearest names the objective that is closest to being missed.
func nearest(f *model.Frame, look Look) part {
	var w *model.WorkflowView
	var at model.ObjectiveView
	var most float64
	for i := range f.Workflows {
		r := &f.Workflows[i]
		for _, o := range r.Objectives {
			d := distOf(r, o.Metric)
			if d == nil || o.Verdict != model.Met || o.MaxS <= 0 {
				continue
			}
			if v := d.P95.Value.Value / o.MaxS; d.P95.Value.OK() && v > most {
				w, at, most = r, o, v
			}
		}
	}
	if w == nil {
		return part{}
	}
	text := metricTitle(at.Metric) + " p95 " + look.estimate(distOf(w, at.Metric).P95) + " of " + unit.Limit(at.MaxS)
	if len(f.Workflows) > 1 {
		text = "nearest: " + look.foreign(w.Name, 24) + " " + text
	}
	return say(2, themes.Muted, text)
}

// targetTrouble is a line for each kind of trouble that targets are in: one
// line for a hundred of them.
func targetTrouble(f *model.Frame, look Look) [][]part {
	var out [][]part
	for _, c := range []condition{down, stalled, stale} {
		list := inCondition(f, c)
		switch {
		case len(list) == 0:
		case len(list) == 1:
			out = append(out, oneInTrouble(f, list[0], c, look))
		case c == down:
			out = append(out, append(manyDown(f, list, look), faultSummary(list, look)...))
		default:
			out = append(out, []part{{segs: []seg{
				{conditionTable[c].role, fmt.Sprintf("%s %d of %d targets %s", look.mark(c), len(list), len(f.Targets), targetWord(c))},
				{themes.Muted, ", the first since " + earliest(list)},
			}}})
		}
	}
	return out
}

func oneInTrouble(f *model.Frame, t *model.TargetView, c condition, look Look) []part {
	head := part{segs: []seg{
		{conditionTable[c].role, look.mark(c) + " "},
		{themes.Strong, look.foreign(t.Name, 30)},
		{conditionTable[c].role, " " + targetWord(c)},
		{themes.Muted, " since " + hms(t.Since)},
	}}
	switch {
	case c == stalled:
		return []part{head, say(0, themes.Text, stalledText(f, t, look))}
	case t.Fault != nil:
		return []part{head, {segs: []seg{
			{themes.Text, t.Fault.Kind.Word()},
			{themes.Muted, ": " + look.sentence(t.Fault.Detail, 400)},
		}}}
	default:
		return []part{head}
	}
}

// stalledText is the alert's own sentence where there is one.
func stalledText(f *model.Frame, t *model.TargetView, look Look) string {
	for _, a := range f.Alerts {
		if string(a.Target) == t.Name && a.Rule == "stalled" {
			return look.sentence(a.Text, 200)
		}
	}
	return look.count(t.Running, 12).text + " running, " + look.count(t.Waiting, 12).text + " waiting, nothing moves"
}

func manyDown(f *model.Frame, list []*model.TargetView, look Look) []part {
	return []part{{segs: []seg{
		{conditionTable[down].role, fmt.Sprintf("%s %d of %d targets down", look.mark(down), len(list), len(f.Targets))},
		{themes.Muted, " since " + earliest(list)},
	}}}
}

func allDown(f *model.Frame, list []*model.TargetView, look Look) []part {
	if len(list) == 1 {
		t := list[0]
		return []part{{segs: []seg{
			{conditionTable[down].role, look.mark(down) + " "},
			{themes.Strong, look.foreign(t.Name, 40)},
			{conditionTable[down].role, " down"},
			{themes.Muted, " since " + hms(t.Since)},
		}}}
	}
	return manyDown(f, list, look)
}

// faultSummary counts the faults of targets, most frequent first, and shows one.
func faultSummary(list []*model.TargetView, look Look) []part {
	counts := map[model.FaultKind]int{}
	var kinds []model.FaultKind
	for _, t := range list {
		if t.Fault == nil {
			continue
		}
		if counts[t.Fault.Kind] == 0 {
			kinds = append(kinds, t.Fault.Kind)
		}
		counts[t.Fault.Kind]++
	}
	slices.SortStableFunc(kinds, func(a, b model.FaultKind) int { return counts[b] - counts[a] })
	if len(list) == 1 && len(kinds) == 1 {
		return []part{{segs: []seg{
			{themes.Text, kinds[0].Word()}, {themes.Muted, ": " + look.sentence(list[0].Fault.Detail, 400)},
		}}}
	}
	var words []string
	for _, k := range kinds {
		words = append(words, fmt.Sprintf("%d %s", counts[k], k.Word()))
	}
	return []part{say(1, themes.Text, strings.Join(words, ", "))}
}

// restarts names the target that restarted last.
func restarts(f *model.Frame, look Look) [][]part {
	var last *model.TargetView
	for i := range f.Targets {
		t := &f.Targets[i]
		if t.RestartedAt.IsZero() || f.At.Sub(t.RestartedAt) > recent {
			continue
		}
		if last == nil || t.RestartedAt.Mono > last.RestartedAt.Mono {
			last = t
		}
	}
	if last == nil {
		return nil
	}
	return [][]part{{{segs: []seg{
		{themes.Warn, look.pick("↻", "R") + " "},
		{themes.Strong, look.foreign(last.Name, 30)},
		{themes.Warn, " restarted"},
		{themes.Muted, " at " + hms(last.RestartedAt) + ", " + look.age(f.At.Sub(last.RestartedAt)) + " ago"},
	}}}}
}

func earliest(list []*model.TargetView) string {
	at := list[0].Since
	for _, t := range list[1:] {
		if t.Since.Mono < at.Mono {
			at = t.Since
		}
	}
	return hms(at)
}

// hms is the time of day of an instant.
func hms(i model.Instant) string {
	if i.IsZero() {
		return "the start"
	}
	return i.Wall.UTC().Format("15:04:05")
}
