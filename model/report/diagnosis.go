package report

import (
	"fmt"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// maxPools bounds how many pools have lines of their own in the text; the JSON has
// all.
const maxPools = 20

// diagnosis is what was found in each pool, and in a line each what the others came
// to.
func (p *page) diagnosis(f *model.Frame) {
	if len(f.Diagnoses) == 0 && len(f.Findings) == 0 {
		return
	}
	p.line("")
	told := make([]bool, len(f.Findings))
	for i := range f.Diagnoses[:min(len(f.Diagnoses), maxPools)] {
		p.pool(f, &f.Diagnoses[i], told)
	}
	if n := len(f.Diagnoses) - maxPools; n > 0 {
		p.line(fmt.Sprintf("DIAGNOSIS  %d pools more", n))
	}
	for i := range f.Findings {
		if !told[i] && len(f.Diagnoses) <= maxPools {
			p.finding(&f.Findings[i])
		}
	}
}

// pool is one diagnosis and its findings.
func (p *page) pool(f *model.Frame, d *model.DiagnosisView, told []bool) {
	text := d.Verdict()
	if d.State == model.Diagnosed {
		text = d.Sentence
	}
	if len(f.Diagnoses) > 1 && d.Pool != "" {
		text = d.Pool + ": " + text
	}
	if what := p.compared(d); what != "" {
		text += "; " + what
	}
	p.sentence("DIAGNOSIS  ", p.safe(text))
	if d.State == model.Diagnosed && d.Why != "" {
		p.sentence("  limits  ", p.safe(string(d.Why)))
	}
	for i := range f.Findings {
		if v := &f.Findings[i]; !told[i] && v.Of(d) {
			told[i] = true
			p.finding(v)
		}
	}
}

// compared is the two stretches that were compared, "" where there was nothing to
// compare with.
func (p *page) compared(d *model.DiagnosisView) string {
	v, ok := d.BaselineS.Get()
	if !ok || v <= 0 {
		return ""
	}
	text := unit.Limit(d.WindowS) + " against " + unit.Limit(v)
	if !d.BaselineTo.IsZero() {
		text += " before " + p.zoned(d.BaselineTo)
	}
	return text
}

// finding is one finding: a cause in full, of anything else what it shows and what to
// try, for it rests on the same.
func (p *page) finding(d *model.FindingView) {
	p.sentence("  "+unit.PadRight(p.name(d.ID, 6), 7)+" ", p.safe(d.Title)+" ("+strings.Join(p.about(d), ", ")+")")
	cause := d.Layer == model.LayerCause
	for _, x := range []struct {
		label, text string
		show        bool
	}{
		{"symptom", string(d.Symptom), cause}, {"because", d.Because(), cause || d.Cause != ""}, {"against", strings.Join(d.Against, "; "), cause},
		{"shows", strings.Join(d.Evidence, "; "), true}, {"not", strings.Join(d.Not, "; "), cause}, {"try", strings.Join(d.Try, ", or "), true},
	} {
		if x.show && x.text != "" && x.text != d.Title {
			p.sentence("    "+unit.PadRight(x.label, 8), p.safe(x.text))
		}
	}
}

// about is what kind of statement a finding is, whom it names, how sure it is and
// since when.
func (p *page) about(d *model.FindingView) []string {
	pieces := []string{string(d.Layer)}
	pieces = append(pieces, p.words(string(d.Workflow), string(d.Target))...)
	pieces = append(pieces, "confidence "+p.safe(string(d.Confidence)))
	if n, ok := d.N.Get(); ok {
		pieces = append(pieces, "n "+unit.Integer(n))
	}
	if !d.Since.IsZero() {
		pieces = append(pieces, "since "+p.zoned(d.Since))
	}
	return pieces
}
