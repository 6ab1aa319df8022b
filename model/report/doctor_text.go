package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// CheckupText writes a checkup for people: each target, then the promises and the
// rules, and what comes of it all at the end, where a terminal shows it.
func CheckupText(c *Checkup, width int, ascii bool) string {
	p := &page{width: max(width, minCheckup), ascii: ascii}
	for i := range c.Targets {
		p.checkup(&c.Targets[i])
	}
	p.promises(c.Promises)
	p.blind(c)
	p.facts(c.Host)
	p.sentence("", c.conclusion())
	return p.b.String()
}

// minCheckup is the width below which a terminal may break the lines itself.
const minCheckup = 40

// checkup is one target: what it is on the first line, then what can be told.
func (p *page) checkup(t *TargetCheckup) {
	p.sentence("", p.safe(t.title()))
	p.fact("serves", t.Models...)
	p.fact("answers", t.answers()...)
	if t.BadLines > 0 {
		p.text("skipped", string(t.FirstBad))
	}
	if t.Dropped > 0 {
		p.text("dropped", fmt.Sprintf("%s series, beyond the limits", unit.Integer(float64(t.Dropped))))
	}
	p.fact("shows", t.Shows...)
	p.fact("not yet", t.Waits...)
	p.lacks("lacks", t.Lacks)
	for _, alike := range devicesAlike(t.Devices) {
		p.devices(alike)
	}
	for _, n := range t.Notes {
		p.text("note", n)
	}
	p.meanings(t.Signals)
	p.line("")
}

// title is what the target is, and its fault where that is all that is known.
func (t *TargetCheckup) title() string {
	what := string(t.Engine)
	if t.Version != "" {
		what += " " + string(t.Version)
	}
	switch {
	case t.Fault != nil:
		return t.Name + ": " + t.Fault.Kind.Word() + ": " + t.Fault.Detail
	case t.Exact && what == "":
		what = "reports of single requests"
	case what == "" && t.Kind == model.FinderTarget:
		return t.Name + ": finds the targets to watch"
	case what == "" && t.Kind == model.ProbeTarget:
		return t.Name + ": a probe, which sends requests of its own"
	case what == "" && t.Kind == model.PrometheusTarget:
		what = "a Prometheus-compatible server"
	case what == "":
		what = "nothing that is known"
	}
	if t.Kind == "" || t.Engine == "" && t.Kind == model.EngineTarget {
		return t.Name + ": " + what
	}
	return t.Name + ": " + what + " (" + t.Kind + ")"
}

// answers are how and when the target does.
func (t *TargetCheckup) answers() []string {
	var out []string
	if t.TookS.OK() {
		out = append(out, "in "+unit.Duration(t.TookS.Value))
	}
	switch s := t.SkewS; {
	case !s.OK():
	case s.Value >= skewFrom:
		out = append(out, "its clock is "+unit.Duration(s.Value)+" ahead of ours")
	case s.Value <= -skewFrom:
		out = append(out, "its clock is "+unit.Duration(-s.Value)+" behind ours")
	default:
		out = append(out, "its clock and ours agree")
	}
	if t.StepS.OK() {
		out = append(out, "a new value every "+unit.Duration(t.StepS.Value))
	}
	if t.Replicas.Total > 0 {
		out = append(out, fmt.Sprintf("%d of the %d servers behind it answer", t.Replicas.Fresh, t.Replicas.Total))
	}
	return out
}

// skewFrom is the difference of two clocks, in seconds, from which on it is worth a
// word: that of a Date header has no more digits.
const skewFrom = 1

// label is the first column of a target's lines.
func label(word string) string { return "  " + unit.PadRight(word, 12) }

// fact is a list of pieces behind a label, nothing where there is none.
func (p *page) fact(word string, pieces ...string) {
	if len(pieces) == 0 {
		return
	}
	safe := make([]string, len(pieces))
	for i, s := range pieces {
		safe[i] = p.safe(s)
	}
	p.flow(label(word), ", ", safe...)
}

// text is a sentence behind a label.
func (p *page) text(word, s string) { p.sentence(label(word), p.safe(s)) }

// lacks puts together what is lacking for one reason, with the exposed names.
func (p *page) lacks(word string, all []Lack) {
	var reasons []Lack
	for _, l := range all {
		same := func(r Lack) bool { return r.Why == l.Why && r.Do == l.Do }
		if i := slices.IndexFunc(reasons, same); i >= 0 {
			reasons[i].What += ", " + l.What
			reasons[i].Metrics = append(reasons[i].Metrics, l.Metrics...)
			continue
		}
		l.Metrics = slices.Clone(l.Metrics)
		reasons = append(reasons, l)
	}
	for _, l := range reasons {
		s := l.What + ": " + l.Why + exposedAs(l.Metrics)
		if l.Do != "" {
			s += p.arrow() + string(l.Do)
		}
		p.text(word, s)
		word = ""
	}
}

// fewNames is how many exposed names are shown of those that are missing for one
// reason: whoever knows some finds the others.
const fewNames = 3

func exposedAs(metrics []string) string {
	slices.Sort(metrics)
	metrics = slices.Compact(metrics)
	switch more := len(metrics) - fewNames; {
	case len(metrics) == 0:
		return ""
	case more > 1:
		return fmt.Sprintf(" (%s and %d more)", strings.Join(metrics[:fewNames], ", "), more)
	default:
		return " (" + strings.Join(metrics, ", ") + ")"
	}
}

// arrow leads from what is wrong to what to do.
func (p *page) arrow() string {
	if p.ascii {
		return " -> "
	}
	return " → "
}

// devicesAlike puts devices together of which the same is to be said.
func devicesAlike(all []DeviceCheckup) [][]DeviceCheckup {
	var out [][]DeviceCheckup
	for _, d := range all {
		i := slices.IndexFunc(out, func(group []DeviceCheckup) bool { return group[0].isLike(&d) })
		if i < 0 {
			out = append(out, []DeviceCheckup{d})
			continue
		}
		out[i] = append(out[i], d)
	}
	return out
}

func (d *DeviceCheckup) isLike(o *DeviceCheckup) bool {
	return d.Name == o.Name && d.State == o.State && d.Detail == o.Detail && slices.Equal(d.Shows, o.Shows) &&
		slices.EqualFunc(d.Lacks, o.Lacks, func(a, b Lack) bool { return a.What == b.What && a.Why == b.Why && a.Do == b.Do })
}

// devices are GPUs of which the same is to be said.
func (p *page) devices(alike []DeviceCheckup) {
	d := &alike[0]
	title := cmp.Or(string(d.Name), "GPU")
	if len(alike) > 1 {
		title = fmt.Sprintf("%d × %s", len(alike), title)
	}
	if d.State != model.DevicePresent {
		title += ", " + string(d.State)
	}
	if d.Detail != "" {
		title += ": " + string(d.Detail)
	}
	p.text("GPU", title)
	uuids := make([]string, len(alike))
	for i := range alike {
		uuids[i] = alike[i].UUID
	}
	p.fact("", uuids...)
	p.fact("  shows", d.Shows...)
	p.lacks("  lacks", d.Lacks)
}

// widestSignal is how wide the column of signals gets: a longer word stands on a
// line of its own.
const widestSignal = 24

// meanings say where each signal comes from, and what it measures there where that
// is not what its name says.
func (p *page) meanings(all []model.Meaning) {
	widest := 0
	for _, m := range all {
		if w := unit.Width(m.Signal.Title()); w <= widestSignal {
			widest = max(widest, w)
		}
	}
	word := "reads"
	for _, m := range all {
		s, title := m.Metric, m.Signal.Title()
		if m.Measures != "" {
			s += ": " + m.Measures
		}
		if m.AtFinish {
			s += " (at finish)"
		}
		if unit.Width(title) > widest {
			p.line(label(word) + title)
			word, title = "", ""
		}
		head := label(word) + unit.PadRight(title, widest) + "  "
		p.sentence(head, breakable(p.safe(s), p.width-unit.Width(head)))
		word = ""
	}
}

// breakable lets a selector that is wider than a line be broken before its labels,
// and anywhere where that is not enough.
func breakable(s string, room int) string {
	var words []string
	for _, w := range strings.Fields(s) {
		if unit.Width(w) > room {
			w = strings.Replace(w, "{", " {", 1)
		}
		for _, part := range strings.Fields(w) {
			words = append(words, cut(part, room)...)
		}
	}
	return strings.Join(words, " ")
}

// cut cuts a word into pieces of so many cells at most.
func cut(w string, room int) []string {
	var pieces []string
	from, width := 0, 0
	for i, r := range w {
		n := unit.Width(string(r))
		if width+n > room && i > from {
			pieces, from, width = append(pieces, w[from:i]), i, 0
		}
		width += n
	}
	return append(pieces, w[from:])
}

func (p *page) promises(all []PromiseCheckup) {
	for i := range all {
		w := &all[i]
		title := "promise " + w.Workflow
		switch {
		case w.Every:
			title = "nothing is promised: what is assumed of every workflow"
		case w.Assumed:
			title += ", assumed"
		}
		if w.Lost {
			title += ": CANNOT BE JUDGED"
		}
		p.sentence("", p.safe(title))
		for _, s := range w.Says {
			p.text("", s)
		}
		for _, s := range w.Do {
			p.text("to do", s)
		}
		p.line("")
	}
}

// blind lists the rules that will never fire.
func (p *page) blind(c *Checkup) {
	if c.Answered() == 0 {
		return
	}
	if len(c.Blind) == 0 {
		p.sentence("", fmt.Sprintf("rules: all %d can be evaluated", c.Watching))
		p.line("")
		return
	}
	p.line("rules that cannot be evaluated")
	widest := 0
	for _, r := range c.Blind {
		widest = max(widest, unit.Width(p.safe(r.Rule)))
	}
	for _, r := range c.Blind {
		s := r.Why
		if r.On != "" {
			s = string(r.On) + ": " + s
		}
		p.sentence("  "+unit.PadRight(p.safe(r.Rule), widest)+"  ", p.safe(s))
	}
	p.line("")
}

func (p *page) facts(all []Fact) {
	if len(all) == 0 {
		return
	}
	p.line("this host")
	for _, f := range all {
		p.text(f.What, f.Says)
	}
	p.line("")
}

// conclusion is the whole in a sentence.
func (c *Checkup) conclusion() string {
	silent := len(c.Targets) - c.Answered()
	parts := []string{numbered(c.Answered(), "target answers", "targets answer")}
	if silent > 0 {
		parts = append(parts, numbered(silent, "does not", "do not"))
	}
	lost := 0
	for i := range c.Promises {
		if c.Promises[i].Lost {
			lost++
		}
	}
	switch {
	case len(c.Promises) == 0:
		parts = append(parts, "nothing is promised")
	case c.Promises[0].Every && lost == 0:
		parts = append(parts, "what is assumed can be judged")
	case c.Promises[0].Every:
		parts = append(parts, "what is assumed cannot be judged")
	case lost == 0:
		parts = append(parts, "all that is promised can be judged")
	default:
		parts = append(parts, numbered(lost, "promise cannot be judged", "promises cannot be judged"))
	}
	if n := len(c.rulesBlind()); n > 0 {
		parts = append(parts, numbered(n, "rule cannot be evaluated", "rules cannot be evaluated"))
	}
	return strings.Join(parts, ", ")
}

// rulesBlind are the rules that cannot be evaluated somewhere, each once.
func (c *Checkup) rulesBlind() []string {
	var names []string
	for _, r := range c.Blind {
		if !slices.Contains(names, r.Rule) {
			names = append(names, r.Rule)
		}
	}
	return names
}

func numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
