package panes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Headline says who is hurt and since when, why as far as the diagnosis can tell
// and how sure it is, and what to try; then what was measured. Without a diagnosis
// it states which objective is missed and never guesses a cause.
type Headline struct{}

// Name names the pane.
func (Headline) Name() string { return "headline" }

// Want is at least two lines, whether there is something to add or not, so that
// what is below stands still, and as many as a breach can take once anybody looks
// for its cause. A narrow screen has no line to spare.
func (Headline) Want(f *model.Frame, w int, look Look) layout.Want {
	most := maxHeadlines(f, w)
	n := min(len(headlines(f, w, look)), most)
	switch {
	case w < narrow && explained(f):
		return layout.Want{Min: n, Ideal: n, Max: n}
	case w < narrow:
		return layout.Want{Min: min(n, 1), Ideal: n, Max: n}
	case explained(f):
		return layout.Want{Min: reasonLines, Ideal: most, Max: most}
	default:
		return layout.Want{Min: n, Ideal: max(n, 2), Max: max(n, 2)}
	}
}

// How many lines there are at most: a breach with its cause, what it is not and what
// to try; and anything else.
const (
	reasonLines = 4
	plainLines  = 3
)

// maxHeadlines leaves the screen to what proves them. A wide screen has room for
// what was measured as well.
func maxHeadlines(f *model.Frame, w int) int {
	switch {
	case w < narrow || !explained(f) && len(attention(f, w, Look{})) < 2:
		return plainLines
	case !explained(f):
		return plainLines + 1
	case w < wideScreen:
		return reasonLines
	default:
		return reasonLines + 2
	}
}

// explained reports whether the worst workflow misses an objective and anybody
// looked why.
func explained(f *model.Frame) bool {
	if len(f.Workflows) == 0 || of(&f.Workflows[0]) != breached {
		return false
	}
	l := f.LeadOf(f.Workflows[0].Name)
	return l.Finding != nil || l.Pool != nil
}

// Render draws the lines.
func (Headline) Render(f *model.Frame, size layout.Size, look Look) string {
	return lines(size.H, headlines(f, size.W, look)...)
}

// headlines is what there is to say, the most urgent first.
func headlines(f *model.Frame, w int, look Look) []string {
	var out []string
	say := func(rows ...[]part) {
		for _, ps := range rows {
			from := 1
			if len(out) > 0 {
				from = indent
			}
			out = append(out, look.line(w).pad(from).parts(3, ps...).String())
		}
	}
	if down := inCondition(f, down); len(down) == len(servers(f)) && len(down) > 0 {
		say(allDown(f, down, look), faultSummary(down, look))
		return out
	}
	if explained(f) {
		worst := &f.Workflows[0]
		say(promised(f, worst, look))
		for _, r := range reasons(f, worst, w, look) {
			out = append(out, r.put(w, look))
		}
		say(missed(worst, look))
		say(behind(f, worst, look)...)
		return out[:min(len(out), maxHeadlines(f, w))]
	}
	rows, more := first(f, look), append(targetTrouble(f, look), restarts(f, look)...)
	seen := attention(f, w, look)
	if len(more)+len(seen) > 0 && len(f.Workflows) > 0 && of(&f.Workflows[0]) >= met {
		rows = rows[:1] // what is nearest to its end is less than news
	}
	say(append(rows, more...)...)
	if len(seen) > 0 {
		out = out[:min(len(out), maxHeadlines(f, w)-len(seen))]
	}
	for _, r := range seen {
		out = append(out, r.put(w, look))
	}
	return out
}

// attention is a cause that stands while no objective is missed for sure: of the worst
// workflow with what to try, and where all is well any, in one quiet line.
func attention(f *model.Frame, w int, look Look) []labelled {
	if len(f.Workflows) == 0 || len(f.Findings) == 0 {
		return nil
	}
	worst := &f.Workflows[0]
	l := f.LeadOf(worst.Name)
	switch {
	case of(worst) >= met && l.Finding == nil:
		return []labelled{noticed(&f.Findings[0], w)}
	case l.Finding == nil:
		return nil
	case of(worst) >= met:
		return []labelled{noticed(l.Finding, w)}
	}
	seen, try := noticed(l.Finding, w), next(l.Finding, w, look)
	seen.role, seen.remark, try.role = themes.Text, nil, themes.Text
	return []labelled{seen, try}
}

// first is the lines about the workflow that hurts most, where nobody looked why.
func first(f *model.Frame, look Look) [][]part {
	if len(f.Workflows) == 0 {
		return [][]part{nothingServed(f, look)}
	}
	worst := &f.Workflows[0]
	switch c := of(worst); {
	case c == breached:
		return append([][]part{promised(f, worst, look), missed(worst, look)}, behind(f, worst, look)...)
	case c == partly:
		return [][]part{append(promised(f, worst, look), alsoHurt(f, look))}
	case c.hurts():
		return [][]part{append(title(f, worst, look), alsoHurt(f, look))}
	case c == atRisk:
		return [][]part{promised(f, worst, look), {riskWhy(f, worst, look)}}
	case c == undecided:
		return append([][]part{append(title(f, worst, look), undecidedWhy(worst, look)...)}, behind(f, worst, look)...)
	case c == cannot:
		return [][]part{append(title(f, worst, look), say(1, themes.Muted, look.sentence(cannotWhy(worst), 200)))}
	case c == starting:
		return [][]part{measuring(worst, look)}
	default:
		return calm(f, look)
	}
}

// nothingServed is for targets that answer and serve no workflow we know.
func nothingServed(f *model.Frame, look Look) []part {
	return []part{
		{segs: []seg{{themes.Warn, look.mark(undecided) + " no workflow found"}}},
		say(1, themes.Muted, plural(len(servers(f)), "target")+" on screen 5, enter says what each one exports"),
	}
}

// title is "▲ chat BREACHED for 4 min".
func title(f *model.Frame, w *model.WorkflowView, look Look) []part {
	role := conditionTable[of(w)].role
	segs := []seg{
		{role, look.mark(of(w)) + " "}, {themes.Strong, look.foreign(w.Name, 40)}, {themes.Text, " "}, {role, word(w, 40)},
	}
	segs = append(segs, seg{themes.Text, lasted(f, w, look)})
	if acknowledged(f, w) {
		segs = append(segs, seg{themes.Muted, ", acknowledged"})
	}
	return []part{part{segs: segs}.of("condition", w.Name)}
}

// StateText is who is hurt in one plain line, "" where nobody is. It changes when
// the state does and not with every second.
func StateText(f *model.Frame, ascii bool) string {
	look := Look{ASCII: ascii}
	if list := inCondition(f, down); len(list) == len(servers(f)) && len(list) > 1 {
		return look.mark(down) + " all " + plural(len(list), "target") + " down"
	}
	if len(f.Workflows) == 0 {
		return ""
	}
	w := &f.Workflows[0]
	if c := of(w); !c.hurts() && c != atRisk {
		return ""
	}
	return look.mark(of(w)) + " " + look.foreign(w.Name, 40) + " " + word(w, 40)
}

// lasted is since when, in the words that suit the condition. A workflow that
// cannot be judged has no beginning worth telling.
func lasted(f *model.Frame, w *model.WorkflowView, look Look) string {
	c := of(w)
	d := f.At.Sub(w.Since).Truncate(time.Second)
	switch {
	case w.Since.IsZero() || d <= 0 || !c.hurts() && c != atRisk:
		return ""
	case c == stale:
		return " since " + hms(w.Since)
	default:
		return " for " + look.span(d)
	}
}

// acknowledged reports whether somebody has taken all that fires for a workflow.
func acknowledged(f *model.Frame, w *model.WorkflowView) bool {
	taken := false
	for i := range f.Alerts {
		if a := &f.Alerts[i]; a.State == model.AlertFiring && string(a.Workflow) == w.Name {
			if !a.Acknowledged {
				return false
			}
			taken = true
		}
	}
	return taken
}

// promised is the title with what was promised and what is kept of it.
func promised(f *model.Frame, w *model.WorkflowView, look Look) []part {
	head := title(f, w, look)
	if g := w.Goodput; g != nil && g.Share.Lo.OK() {
		head = append(head, part{segs: []seg{
			{themes.Muted, "goodput "}, {verdictRole(g.Verdict), look.share(g.Share)},
			{themes.Muted, " (objective " + unit.Promised(g.Target.Value) + ")"},
		}, drop: 1}.of("goodput", w.Name))
	}
	if b := w.Budget; b != nil && b.Burn.M5.OK() {
		head = append(head, part{segs: []seg{{themes.Muted, "burn "}, seg(look.times(b.Burn.M5))}, drop: 2}.of("burn.5m", w.Name))
	}
	return head
}

// missed is what was measured against each missed objective.
func missed(w *model.WorkflowView, look Look) []part {
	var out []part
	for _, o := range w.Objectives {
		if o.Verdict != model.Missed {
			continue
		}
		out = append(out, part{segs: []seg{
			{themes.Strong, o.Metric.Title() + " " + unit.Limit(o.MaxS)}, {themes.Muted, ": "},
			{themes.Breach, look.within(o)}, {themes.Text, " met"},
		}, drop: len(out)}.of(string(o.Metric)+".share", w.Name))
	}
	if w.AssumedObjectives {
		out = append(out, say(len(out)+1, themes.Muted, "assumed objectives"))
	}
	return out
}

// few is up to how many requests are counted rather than given as a share.
const few = 20

// within is how many of the measured requests kept to an objective: 1 of 1892,
// 81.0 % of 180, 2–11 % of 1032.
func (k Look) within(o model.ObjectiveView) string {
	if !o.Share.Lo.OK() {
		return k.share(o.Share)
	}
	n := math.Round(o.Share.Lo.Value * o.N)
	if exact := o.Share.Hi.Value == o.Share.Lo.Value; exact && o.N > 0 && (n <= few || o.N < few) {
		return unit.Integer(n) + " of " + samples(o.N)
	}
	if o.N <= 0 {
		return k.share(o.Share)
	}
	return k.share(o.Share) + " of " + samples(o.N)
}

// behind is of which requests the goodput is, where most of a request's time
// goes, and who hurts too.
func behind(f *model.Frame, w *model.WorkflowView, look Look) [][]part {
	var out []part
	if g := w.Goodput; g != nil && g.N > 0 && !saysHowMany(w) {
		out = append(out, say(1, themes.Muted, "goodput of "+judged(g.Of)).of("goodput.n", w.Name))
	}
	if s := splitOf(w); of(w) == breached {
		if text := s.takes(w); text != "" {
			out = append(out, say(2, themes.Text, text))
		}
	}
	out = append(out, alsoHurt(f, look))
	if v, ok := w.Requests.Unaccounted.Get(); ok && v >= 1 {
		out = append(out, say(4, themes.Warn, samples(v)+" unaccounted").of("requests.unaccounted", w.Name))
	}
	if len(fitting(out, math.MaxInt16, 3)) == 0 {
		return nil
	}
	return [][]part{out}
}

// saysHowMany reports whether the headline says already of how many a goodput is.
func saysHowMany(w *model.WorkflowView) bool { return of(w) == undecided && w.Goodput.Sample.Lo.OK() }

// judged names the requests that a goodput is the share of.
func judged(d model.Denominator) string {
	text := samples(d.Finished.Value) + " finished"
	if d.Failed > 0 {
		text += ", " + samples(d.Failed) + " failed"
	}
	if c := d.Judged + d.Unmeasured.Value - d.Finished.Value - d.Failed; c >= 1 {
		text += ", " + samples(c) + " cancelled"
	} else if unsettled(d) {
		text += " and up to " + samples(d.Cancelled.Value) + " cancelled"
	}
	return text
}

// unsettled reports whether it is not known how many of the cancelled count: the ends
// of the share differ in that.
func unsettled(d model.Denominator) bool { return d.Cancelled.Value >= 1 && !d.Excluded.OK() }

// alsoHurt names the workflows beside the worst that hurt or are about to.
func alsoHurt(f *model.Frame, look Look) part {
	n := 1
	for n < len(f.Workflows) && of(&f.Workflows[n]) <= atRisk {
		n++
	}
	if n == 1 {
		return part{}
	}
	w := &f.Workflows[1]
	c := conditionTable[of(w)]
	segs := []seg{{themes.Muted, "also "}, {themes.Strong, look.foreign(w.Name, 24)}, {themes.Text, " "}, {c.role, word(w, 40)}}
	if n > 2 {
		segs = append(segs, seg{themes.Warn, fmt.Sprintf(" and %d more", n-2)})
	}
	return part{segs: segs, drop: 3}.of("condition", w.Name)
}

// riskWhy is the alert that speaks for a workflow at risk, else its budget.
func riskWhy(f *model.Frame, w *model.WorkflowView, look Look) part {
	for i := range f.Alerts {
		if a := &f.Alerts[i]; string(a.Workflow) == w.Name && active(a) {
			return say(0, themes.Text, look.sentence(a.Text, 200))
		}
	}
	switch b := w.Budget; {
	case b == nil:
	case spent(b):
		return say(0, themes.Text, "nothing left of its budget").of("budget", w.Name)
	case goneIn(b).OK():
		return say(0, themes.Text, unit.Percent(b.Remaining.Value)+" of the budget left, gone in "+unit.Duration(b.ExhaustedIn.Value)+" at this burn").of("budget", w.Name)
	}
	return part{}
}

// undecidedWhy says which of two reasons it is: too few requests, or a bucket so
// wide that the share may lie on either side of the promise.
func undecidedWhy(w *model.WorkflowView, look Look) []part {
	if g := w.Goodput; g != nil && g.Why != "" {
		if !g.Sample.Lo.OK() && g.Share.Lo.Value < g.Target.Value && g.Share.Hi.Value >= g.Target.Value {
			return []part{say(0, themes.Text, "goodput "+look.share(g.Share)+" lies on both sides of the objective "+unit.Promised(g.Target.Value)).of("goodput", w.Name)}
		}
		return []part{say(0, themes.Text, look.sentence(string(g.Why), 200))}
	}
	for _, o := range w.Objectives {
		if o.Verdict != model.Undecided {
			continue
		}
		if !o.Share.Lo.OK() && !o.Share.Hi.OK() {
			return []part{say(0, themes.Text, o.Metric.Title()+": nothing fresh is known")}
		}
		head := say(0, themes.Text, o.Metric.Title()+": too few requests to judge")
		if o.Share.Lo.Value < o.Target && o.Share.Hi.Value >= o.Target {
			head = say(0, themes.Text, o.Metric.Title()+": its bucket spans the promise")
		}
		met := say(2, themes.Muted, look.share(o.Share)+" met "+unit.Limit(o.MaxS)+", promised "+unit.Promised(o.Target)).of(string(o.Metric)+".share", w.Name)
		if d := distOf(w, o.Metric); d != nil {
			return []part{head, met, say(1, themes.Muted, "n "+samples(d.N)).of(string(o.Metric)+".n", w.Name)}
		}
		return []part{head, met}
	}
	return []part{say(1, themes.Muted, "requests run, and none has ended in the window")}
}

func cannotWhy(w *model.WorkflowView) string {
	if w.Goodput != nil && w.Goodput.Why != "" {
		return string(w.Goodput.Why)
	}
	var missing []string
	for _, o := range w.Objectives {
		if slices.Contains(w.Missing, signalOf(o.Metric)) {
			missing = append(missing, o.Metric.Title())
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
