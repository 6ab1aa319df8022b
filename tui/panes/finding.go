package panes

import (
	"fmt"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Finding is one finding, opened: what users feel, why, what binds, what would
// change the mind, the evidence, what was ruled out, and the experiments in order.
type Finding struct{ wholeScreen }

// Name names the pane.
func (Finding) Name() string { return "finding" }

// Render draws the lines from View.Scroll on.
func (Finding) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(findingPage(f, size.W, look), look.View.Scroll, size, look)
}

// Scroll is how far the page can be scrolled.
func (Finding) Scroll(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(findingPage(f, size.W, look)), size)
}

func findingPage(f *model.Frame, w int, look Look) []string {
	d := FindingUnder(f, look.View)
	if d == nil || look.View.Finding != "" && FindingKey(d) != look.View.Finding {
		return []string{look.line(w).pad(1).put(themes.Muted, "this finding is over: esc goes back").String()}
	}
	s := &sheet{w: w, look: look}
	pool := poolWith(f, d)
	s.out = append(s.out, look.rule(w,
		[]seg{{themes.Muted, look.foreign(d.ID, 8) + "  "}, {themes.Strong, look.clipped(unit.Sentence(d.Title, look.ASCII), max(w-16, 20))}},
		say(1, themes.Text, sure(d, look)), say(2, themes.Muted, compared(d.WindowS, d.BaselineS, model.Instant{}, look))))
	s.prose("symptom", themes.Text, string(d.Symptom))
	s.cause(d, pool)
	s.prose("binding", themes.Text, string(d.Binding))
	if len(d.Against) > 0 {
		s.prose("against", themes.Text, "would change my mind: "+strings.Join(d.Against, "; "))
	}
	s.items("evidence", "▸ ", "> ", d.Evidence)
	s.prose("not", themes.Text, strings.Join(d.Not, "; "))
	for i, text := range d.Try {
		label := ""
		if i == 0 {
			label = "try"
		}
		s.prose(label, themes.Strong, fmt.Sprintf("%d %s", i+1, text))
	}
	s.rests(f, d)
	if pool != nil {
		s.about(f, pool)
	}
	return s.out
}

// sure is how sure a finding is.
func sure(d *model.FindingView, look Look) string {
	return "confidence " + look.foreign(string(d.Confidence), 8)
}

// poolWith is the diagnosis that a finding belongs to.
func poolWith(f *model.Frame, d *model.FindingView) *model.DiagnosisView {
	for i := range f.Diagnoses {
		if p := &f.Diagnoses[i]; string(d.Pool) == p.Pool || d.Pool == "" && p.State == model.Diagnosed {
			return p
		}
	}
	return nil
}

// cause is the cause in words and in numbers, with what else was looked at.
func (s *sheet) cause(d *model.FindingView, pool *model.DiagnosisView) {
	s.prose("cause", themes.Strong, string(d.Cause))
	if d.Factor == nil {
		return
	}
	label := ""
	if d.Cause == "" {
		label = "cause"
	}
	text := factorText(d.Factor)
	var rest []string
	if pool != nil {
		for i := range pool.Factors {
			v := &pool.Factors[i]
			if word, ok := shortFactors[v.Factor]; ok && v.Factor != d.Factor.Factor && v.Ratio.OK() {
				rest = append(rest, word+" "+unit.Times(v.Ratio.Value))
			}
		}
	}
	if len(rest) > 0 {
		text += "   (" + strings.Join(rest, ", ") + ")"
	}
	s.prose(label, themes.Text, text)
}

// factorText is "arrival rate ×3.60 → +260 % work".
func factorText(v *model.FactorView) string {
	text := factorChange(v)
	if w, ok := v.Work.Get(); ok {
		text += " → " + unit.More(w) + " work"
	}
	return text
}

// items are short texts, each with a mark before it, over as many lines as needed.
func (s *sheet) items(label, mark, ascii string, texts []string) {
	var ps []part
	for _, text := range texts {
		ps = append(ps, say(0, themes.Text, s.look.pick(mark, ascii)+s.look.sentence(text, maxProse)))
	}
	if len(ps) > 0 {
		s.facts(label, ps...)
	}
}

// rests is what a finding is about, on how much it rests and since when it stands.
func (s *sheet) rests(f *model.Frame, d *model.FindingView) {
	var ps []part
	if s.w < narrow { // its title has no room for it
		ps = append(ps, say(0, themes.Text, sure(d, s.look)).of("confidence", FindingKey(d)))
	}
	if n, ok := d.N.Get(); ok {
		ps = append(ps, say(0, themes.Text, samples(n)+" requests").of("finding.n", FindingKey(d)))
	}
	if !d.Since.IsZero() {
		ps = append(ps, part{segs: []seg{{themes.Muted, "since "}, {themes.Text, when(d.Since, f.At)}}}.of("finding.since", FindingKey(d)))
	}
	for _, about := range []struct{ word, name string }{{"workflow", string(d.Workflow)}, {"target", string(d.Target)}} {
		if about.name != "" {
			ps = append(ps, part{segs: []seg{{themes.Muted, about.word + " "}, {themes.Text, s.look.foreign(about.name, max(s.w-labelW-12, 8))}}})
		}
	}
	if len(ps) > 0 {
		s.facts("rests on", ps...)
	}
}

// about is the diagnosis that a finding belongs to: what it compared and all that it
// looked at.
func (s *sheet) about(f *model.Frame, d *model.DiagnosisView) {
	s.heading(f, d)
	s.concluded(d)
}
