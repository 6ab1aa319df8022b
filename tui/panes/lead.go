package panes

import (
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file is what the overview says of the diagnosis: why the workflow that
// hurts most does, what was ruled out, and what to try. The rest is on screen 6.

// labelled is a line of the headline that has a label, a sentence that is cut between
// its words, and a remark at its right end.
type labelled struct {
	label, brief string // brief on a narrow screen
	role         themes.Role
	text         string
	short        string   // for where text does not fit
	list         bool     // text is cut between its clauses
	remark       []string // from long to short; nil: none
}

// reasons is why a workflow hurts, what it is not, and what to try: at least one
// line where anybody looked. A narrow screen has no room for what it is not.
func reasons(f *model.Frame, w *model.WorkflowView, width int, look Look) []labelled {
	l := f.LeadOf(w.Name)
	switch {
	case l.Finding == nil && l.Pool == nil:
		return nil
	case l.Finding == nil:
		return []labelled{{label: "cause", brief: "why", role: themes.Text, text: verdict(l.Pool), list: l.Pool.State == model.NoFinding}}
	}
	label := "because"
	if l.Finding.Layer == model.LayerSymptom { // it says how it shows, and not why
		label = "seen"
	}
	out := []labelled{{label: label, brief: "why", role: themes.Strong, text: l.Finding.Because()}}
	if others := unit.Integer(float64(l.More)) + " more on 6"; l.More > 0 && out[0].room(width, look) >= cells(others)+remarkGap+2 {
		out[0].remark = []string{"+ " + others}
	}
	switch not := strings.Join(l.Finding.Not, "; "); {
	case width < narrow:
	case l.Pool != nil && l.Pool.State == model.CannotTell: // it stands from before
		out = append(out, labelled{label: "now", role: themes.Text, text: l.Pool.Verdict()})
	case not != "":
		out = append(out, labelled{label: "not", role: themes.Text, text: not, short: firstOf(l.Finding.Not, look)})
	}
	return append(out, next(l.Finding, width, look))
}

// next is what to try, and how sure the finding is.
func next(d *model.FindingView, width int, look Look) labelled {
	return labelled{label: "try", brief: "try", role: themes.Strong, text: tryText(d), short: firstOf(d.Try, look), remark: sureness(d, width)}
}

// firstOf is the first of several texts, with a mark that there are more.
func firstOf(texts []string, look Look) string {
	if len(texts) < 2 {
		return ""
	}
	return texts[0] + " " + look.pick("…", "..")
}

// verdict is what a diagnosis without a finding comes to while users are hurt: how
// far everything moved. What moved is no finding before it is seen a second time.
func verdict(d *model.DiagnosisView) string {
	var moved []string
	for i := range d.Factors {
		if v := &d.Factors[i]; v.Ratio.OK() {
			moved = append(moved, factorChange(v))
		}
	}
	if d.State != model.NoFinding || len(moved) == 0 {
		return d.Verdict()
	}
	return "no finding yet: " + strings.Join(moved, ", ")
}

// factorChange is "arrival rate ×3.60".
func factorChange(v *model.FactorView) string {
	if r, ok := v.Ratio.Get(); ok {
		return factorWord(v.Factor) + " " + unit.Times(r)
	}
	return factorWord(v.Factor)
}

// noticed is a cause while nobody hurts, in one quiet line.
func noticed(d *model.FindingView, width int) labelled {
	return labelled{label: "noticed", brief: "why", role: themes.Muted, text: d.Because(), remark: sureness(d, width)}
}

// tryText is the next experiment, and one more.
func tryText(d *model.FindingView) string {
	switch len(d.Try) {
	case 0:
		return "nothing that is known: screen 6 has the evidence"
	case 1:
		return d.Try[0]
	default:
		return d.Try[0] + ", or " + d.Try[1]
	}
}

// sureness is how sure a finding is and on how many requests it rests, in fewer and
// fewer words. Only a narrow screen has no room for the requests.
func sureness(d *model.FindingView, width int) []string {
	sure := string(d.Confidence)
	n, ok := d.N.Get()
	if !ok {
		return []string{"confidence " + sure, sure}
	}
	out := []string{"confidence " + sure + ", n " + samples(n), sure + ", n " + samples(n)}
	if width < narrow {
		out = append(out, sure)
	}
	return out
}

// remarkGap is the blank before a remark, leastText what a sentence keeps beside it.
const (
	remarkGap = 3
	leastText = 17
)

// from is where the sentence begins on a screen.
func (r labelled) from(w int) int {
	if w < narrow {
		return 1 + len("why ")
	}
	return indent + len("because  ")
}

// room is how many cells the whole sentence leaves.
func (r labelled) room(w int, look Look) int {
	return w - 1 - r.from(w) - cells(unit.Sentence(r.text, look.ASCII))
}

// put writes the line with the longest remark that leaves the sentence whole, else
// with one that leaves something of it.
func (r labelled) put(w int, look Look) string {
	l := look.line(w - 1)
	if w < narrow {
		l.pad(1).put(themes.Muted, r.brief)
	} else {
		l.pad(indent).put(themes.Muted, r.label)
	}
	l.pad(r.from(w))
	remark := r.fitting(w, look)
	room := l.max - l.w
	if remark != "" {
		room -= cells(remark) + remarkGap
	}
	text := unit.Sentence(r.text, look.ASCII)
	switch {
	case cells(text) <= room:
	case r.short != "":
		text = unit.Sentence(r.short, look.ASCII)
	case r.list:
		text = look.fewer(text, room)
	}
	l.put(r.role, look.clipped(text, room))
	if w < wideScreen { // at the edge it stands still; on a wide screen that is too far away
		l.pad(l.max - cells(remark) - remarkGap)
	}
	return l.pad(l.w+remarkGap).put(themes.Muted, remark).String()
}

// fewer leaves out clauses of a list from its end until it fits into n cells with a
// mark that there are more, or until one is left.
func (k Look) fewer(s string, n int) string {
	mark := " " + k.pick("…", "..")
	for i := len(s); i > 0; i = strings.LastIndex(s, ", ") {
		if s = s[:i]; cells(s)+cells(mark) <= n {
			break
		}
	}
	return s + mark
}

// fitting is the remark that the line has room for.
func (r labelled) fitting(w int, look Look) string {
	all := make([]string, len(r.remark))
	for i, s := range r.remark {
		if all[i] = unit.Sentence(s, look.ASCII); cells(all[i])+remarkGap <= r.room(w, look) {
			return all[i]
		}
	}
	for i := 1; i < len(all); i++ {
		if cells(all[i])+remarkGap+leastText <= w-1-r.from(w) {
			return all[i]
		}
	}
	return ""
}
