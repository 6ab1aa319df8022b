package panes

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file lists what the diagnosis of each pool came to: above the alerts, for an
// alert says that users are hurt, and a finding why.

// Entry is a row of the screen of findings and alerts that a cursor can stand on.
type Entry struct {
	Finding string // its key; "": an alert
	Alert   model.AlertID
}

// FindingKey tells a finding from the others of a frame, and is the same in the next.
func FindingKey(d *model.FindingView) string {
	return strings.Join([]string{d.ID, string(d.Pool), string(d.Workflow), string(d.Target)}, "\x00")
}

// Entries lists findings and alerts as the screen shows them.
func Entries(f *model.Frame) []Entry {
	var out []Entry
	for _, d := range listed(f) {
		out = append(out, Entry{Finding: FindingKey(d)})
	}
	for _, id := range AlertOrder(f) {
		out = append(out, Entry{Alert: id})
	}
	return out
}

// EntryAt is the place of the row under the cursor among the entries: the first
// without a choice, -1 when there is none.
func EntryAt(f *model.Frame, v View) int {
	all := Entries(f)
	i := slices.IndexFunc(all, func(e Entry) bool {
		return v.Finding != "" && e.Finding == v.Finding || v.Finding == "" && v.Alert != "" && e.Alert == v.Alert
	})
	if i < 0 && len(all) > 0 {
		return 0
	}
	return i
}

// FindingUnder is the finding under the cursor, nil when an alert is.
func FindingUnder(f *model.Frame, v View) *model.FindingView {
	list := listed(f)
	if i := EntryAt(f, v); i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}

// maxFindings bounds how many findings are listed: more than a screen has lines.
const maxFindings = 50

// listed is the findings in the order of the screen: by pool, and within a pool
// causes before what binds before symptoms. Of two with the same key the first one
// stands for both.
func listed(f *model.Frame) []*model.FindingView {
	var out []*model.FindingView
	seen := map[string]bool{}
	add := func(match func(*model.FindingView) bool) {
		for i := 0; i < len(f.Findings) && len(out) < maxFindings; i++ {
			d := &f.Findings[i]
			if !match(d) {
				continue
			}
			if key := FindingKey(d); !seen[key] {
				seen[key] = true
				out = append(out, d)
			}
		}
	}
	for i := range f.Diagnoses {
		add(func(d *model.FindingView) bool { return d.Of(&f.Diagnoses[i]) })
	}
	add(func(*model.FindingView) bool { return true })
	return out
}

// diagnosed reports whether anybody looked for causes.
func diagnosed(f *model.Frame) bool { return len(f.Diagnoses)+len(f.Findings) > 0 }

// diagnoses writes what was found, pool by pool, and in a line each what the pools
// without a finding came to. It returns the last line of the finding under the cursor.
func (s *sheet) diagnoses(f *model.Frame) (at int) {
	list, under := listed(f), FindingUnder(f, s.look.View)
	left := list
	var others []*model.DiagnosisView
	for i := range f.Diagnoses {
		d := &f.Diagnoses[i]
		n := slices.IndexFunc(left, func(v *model.FindingView) bool { return !v.Of(d) })
		if n < 0 {
			n = len(left)
		}
		if n == 0 {
			others = append(others, d)
			continue
		}
		s.heading(f, d)
		at = max(at, s.findings(left[:n], under))
		s.concluded(d)
		left = left[n:]
	}
	if len(left) > 0 {
		s.rule("FINDINGS")
		at = max(at, s.findings(left, under))
	}
	s.more(len(f.Findings) - len(list))
	s.undiagnosed(f, others)
	return at
}

// heading is the rule above a pool's findings: which pool, and what was compared
// with what.
func (s *sheet) heading(f *model.Frame, d *model.DiagnosisView) {
	title := []seg{{themes.Strong, "DIAGNOSIS"}}
	if len(f.Diagnoses) > 1 && d.Pool != "" {
		title = append(title, seg{themes.Muted, " " + s.look.foreign(d.Pool, 30)})
	}
	s.out = append(s.out, s.look.rule(s.w, title, say(1, themes.Muted, compared(d.WindowS, d.BaselineS, d.BaselineTo, s.look))))
}

// compared is the two stretches that were compared: 60 s against 350 s before 03:09.
func compared(window float64, baseline model.Reading, to model.Instant, look Look) string {
	text := unit.Limit(window)
	if v, ok := baseline.Get(); ok && v > 0 {
		text += " against " + unit.Limit(v)
		if !to.IsZero() {
			text += " before " + unit.ClockMinute(to, look.ASCII)
		}
	}
	return text
}

// findings is a row each: what kind of statement it is, its rule and title, whom it
// names, how sure it is and since when; below it the cause, and what to try.
func (s *sheet) findings(list []*model.FindingView, under *model.FindingView) (at int) {
	longest := 0
	for _, d := range list {
		longest = max(longest, cells(unit.Escape(aboutWhom(d), s.look.ASCII)))
	}
	t := fit(findingColumns(longest, s.w), s.w-1)
	for _, d := range list {
		l := s.look.line(s.w)
		if d == under {
			l.put(themes.Cursor, s.look.pick("▸", ">"))
		}
		k := layerLooks[d.Layer]
		l.pad(1).put(k.role, s.look.pick(k.mark, k.ascii)).pad(indent)
		s.out = append(s.out, t.fill(l, d, s.look))
		s.text(indent, themes.Text, briefly(d))
		if d.Layer == model.LayerCause && len(d.Try) > 0 {
			s.text(indent, themes.Muted, "try "+tryText(d))
		}
		if d == under {
			at = len(s.out) - 1
		}
	}
	return at
}

// briefly is a finding in a line below its title: what binds stands once, with the
// cause and by itself.
func briefly(d *model.FindingView) string {
	switch {
	case d.Layer == model.LayerCause && d.Cause != "":
		return d.Because()
	case d.Layer == model.LayerBinding && d.Binding != "":
		return string(d.Binding)
	default:
		return string(d.Cause)
	}
}

// layerLook is how a kind of statement shows.
type layerLook struct {
	mark, ascii, word string
	role              themes.Role
}

var layerLooks = map[model.Layer]layerLook{
	model.LayerCause:   {"●", "*", "cause", themes.Warn},
	model.LayerBinding: {"■", "#", "binds", themes.Text},
	model.LayerSymptom: {"○", "o", "symptom", themes.Muted},
}

// aboutWhom is whom a finding names.
func aboutWhom(d *model.FindingView) string {
	if d.Workflow != "" {
		return string(d.Workflow)
	}
	return string(d.Target)
}

func findingColumns(longest, w int) []column[*model.FindingView] {
	name, since := min(nameWidth(longest), max(w/5, 10)), len("since 03:09")
	if w < narrow {
		since = len("03:09")
	}
	return []column[*model.FindingView]{
		{title: "", min: 7, left: true, drop: 3, draw: func(d *model.FindingView, w int, k Look) cell {
			return cell{layerLooks[d.Layer].role, k.cut(layerLooks[d.Layer].word, w)}
		}},
		{title: "", min: 3, left: true, draw: func(d *model.FindingView, w int, k Look) cell {
			return cell{themes.Muted, k.foreign(d.ID, w)}
		}},
		{title: "", min: 14, max: 60, left: true, about: func(d *model.FindingView) About { return About{"row.finding", FindingKey(d)} }, draw: func(d *model.FindingView, w int, k Look) cell {
			return cell{themes.Strong, k.clipped(unit.Sentence(d.Title, k.ASCII), w)}
		}},
		{title: "", min: name, left: true, drop: 2, draw: func(d *model.FindingView, w int, k Look) cell {
			return cell{themes.Text, k.foreign(aboutWhom(d), w)}
		}},
		{title: "", min: 6, left: true, about: findingAbout("confidence"), draw: func(d *model.FindingView, w int, k Look) cell {
			return cell{themes.Text, k.foreign(string(d.Confidence), w)}
		}},
		{title: "", min: since, left: true, drop: 1, about: findingAbout("finding.since"), draw: func(d *model.FindingView, w int, k Look) cell {
			at := unit.ClockMinute(d.Since, k.ASCII)
			if w > len(at) {
				at = "since " + at
			}
			return cell{themes.Muted, at}
		}},
	}
}

// findingAbout says what a column holds of its row's finding.
func findingAbout(topic string) func(*model.FindingView) About {
	return func(d *model.FindingView) About { return About{topic, FindingKey(d)} }
}

// concluded is what a diagnosis says beside its findings: what limits it, and how
// each factor moved.
func (s *sheet) concluded(d *model.DiagnosisView) {
	switch {
	case d.State == model.CannotTell:
		s.text(indent, themes.Warn, "now "+d.Verdict()+": this stands from before")
	case d.Why != "":
		s.text(indent, themes.Muted, string(d.Why))
	}
	s.factors(d.Pool, d.Factors)
}

// undiagnosed is the pools without a finding: a line for all of which the same is so.
func (s *sheet) undiagnosed(f *model.Frame, list []*model.DiagnosisView) {
	if len(list) == 0 {
		return
	}
	if len(f.Diagnoses) == 1 {
		s.heading(f, list[0])
		s.text(indent, themes.Text, list[0].Verdict())
		s.factors(list[0].Pool, list[0].Factors)
		return
	}
	if len(s.out) == 0 {
		s.rule("DIAGNOSIS")
	}
	var order []string
	pools := map[string][]string{}
	for _, d := range list {
		v := d.Verdict()
		if len(pools[v]) == 0 {
			order = append(order, v)
		}
		pools[v] = append(pools[v], d.Pool)
	}
	for _, v := range order[:min(len(order), maxListed)] {
		who := s.look.foreign(pools[v][0], 24)
		if n := len(pools[v]) - 1; n > 0 {
			who += " and " + unit.Integer(float64(n)) + " more"
		}
		s.text(indent, themes.Muted, who+": "+v)
	}
	s.more(len(order) - maxListed)
}
