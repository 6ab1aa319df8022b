package panes

import (
	"strings"
	"time"

	"slotop/model"
	"slotop/model/compare"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Comparison is two stages figure by figure, of all workflows.
type Comparison struct {
	wholeScreen

	A, B   StageKey
	Scroll int // lines that the page has moved up
}

// Name names the pane.
func (Comparison) Name() string { return "comparison" }

// Render draws the page.
func (p Comparison) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(p.page(f, size.W, look), p.Scroll, size, look)
}

// Most is how far the page can be scrolled.
func (p Comparison) Most(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(p.page(f, size.W, look)), size)
}

func (p Comparison) page(f *model.Frame, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	a, b := StageIndex(f, p.A), StageIndex(f, p.B)
	if a < 0 || b < 0 {
		s.rule("COMPARE")
		s.text(indent, themes.Muted, "one of the two stages is not there at this time; esc leads back to the list")
		return s.out
	}
	c := against(f, a, b)
	differ, worse := c.Count()
	s.out = append(s.out, look.rule(w, []seg{
		{themes.Strong, "COMPARE  "}, {themes.Event, string(stageLetter(b))}, {themes.Text, " " + look.foreign(f.Stages[b].Name, 20) + " against "},
		{themes.Event, string(stageLetter(a))}, {themes.Text, " " + look.foreign(f.Stages[a].Name, 20)},
	}, say(1, themes.Muted, signs)))
	s.side(string(stageLetter(a)), &f.Stages[a], &c.A)
	s.side(string(stageLetter(b)), &f.Stages[b], &c.B)
	s.found(c.Compared, differ, worse)
	for _, n := range c.Notes {
		s.text(1, themes.Muted, sideNames(n, a, b))
	}
	for _, i := range flowsFirst(c, chosenOne(f, look)) {
		if wf := &c.Workflows[i]; wf.Only == "" {
			s.comparedFlow(f, wf, a, b)
		}
	}
	s.out = append(s.out, "")
	s.text(1, themes.Muted, "noise is what is not larger than the sampling error, with requests that share their fate counted as fewer, and the buckets allow. Of "+
		plural(c.Compared, "figure")+" chance calls any different once in 20 comparisons (Holm).")
	return s.out
}

// sideNames puts the stages' letters for A and B.
func sideNames(note string, a, b int) string {
	words := strings.Fields(note)
	for i, w := range words {
		switch strings.TrimRight(w, ":;,") {
		case "A":
			words[i] = string(stageLetter(a)) + w[1:]
		case "B":
			words[i] = string(stageLetter(b)) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// side is one of the stages: when it began and how long it was.
func (s *sheet) side(letter string, v *model.StageView, c *compare.Side) {
	lasted := time.Duration(c.LastedS.Value * float64(time.Second)).Truncate(time.Second)
	ps := []part{
		{segs: []seg{{themes.Event, letter + " "}, {themes.Strong, s.look.foreign(v.Name, 40)}}},
		say(1, themes.Muted, "from "+hms(v.From)), say(1, themes.Muted, "for "+s.look.span(lasted)),
	}
	if v.To.IsZero() {
		ps = append(ps, say(2, themes.Muted, "runs"))
	}
	s.out = append(s.out, s.look.line(s.w).pad(1).parts(3, ps...).String())
}

// found is the whole in a sentence.
func (s *sheet) found(compared, differ, worse int) {
	switch {
	case compared == 0:
		s.text(1, themes.Warn, "not a figure can be compared yet: three stretches of 5 s and 30 requests are needed on either side")
	case differ == 0:
		s.text(1, themes.OK, "nothing differs by more than noise, of "+plural(compared, "figure"))
	case worse > 0:
		s.text(1, themes.Breach, unit.Integer(float64(differ))+" of "+plural(compared, "figure")+" differ by more than noise, "+unit.Integer(float64(worse))+" worse")
	default:
		s.text(1, themes.Strong, unit.Integer(float64(differ))+" of "+plural(compared, "figure")+" differ by more than noise, none worse")
	}
}

// flowsFirst are the places of the workflows, the viewer's first.
func flowsFirst(c *compare.Comparison, chosen *model.WorkflowView) []int {
	var out, rest []int
	for i := range c.Workflows {
		if chosen != nil && c.Workflows[i].Name == chosen.Name {
			out = append(out, i)
			continue
		}
		rest = append(rest, i)
	}
	return append(out, rest...)
}

// comparedFlow is a workflow's rows.
func (s *sheet) comparedFlow(f *model.Frame, w *compare.Workflow, a, b int) {
	s.out = append(s.out, "", s.look.line(s.w).pad(1).parts(2, say(0, themes.Strong, s.look.foreign(w.Name, s.w/2)), say(1, themes.Muted, w.Counted())).String())
	for _, n := range w.Notes {
		s.text(indent, themes.Muted, sideNames(n, a, b))
	}
	t := fit(comparedColumns(f, a, b, w.Name), s.w-1)
	s.out = append(s.out, t.head(s.look))
	for i := range w.Rows {
		r := &w.Rows[i]
		l := s.look.line(s.w-1).pad(1).put(senseRole(r), r.Mark()).pad(indent)
		s.out = append(s.out, t.fill(l, r, s.look))
	}
	for _, why := range w.Reasons() {
		s.text(indent, themes.Muted, "? "+sideNames(why, a, b))
	}
}

func comparedColumns(f *model.Frame, a, b int, flow string) []column[*compare.Row] {
	value := func(of func(*compare.Row) compare.Value) func(*compare.Row, int, Look) cell {
		return func(r *compare.Row, _ int, k Look) cell { return orNone(themes.Text, r.Figure.Text(of(r), k.ASCII), k) }
	}
	interval := func(of func(*compare.Row) compare.Value) func(*compare.Row, int, Look) cell {
		return func(r *compare.Row, _ int, k Look) cell {
			return orNone(themes.Muted, r.Figure.Interval(of(r), k.ASCII), k)
		}
	}
	ofA, ofB := func(r *compare.Row) compare.Value { return r.A }, func(r *compare.Row) compare.Value { return r.B }
	of := func(i int) string { return Within(flow, KeyOf(&f.Stages[i]).String()) }
	about := func(i int) func(*compare.Row) About {
		return func(r *compare.Row) About { return About{Topic: topicOf(r.Figure.Key), Of: of(i)} }
	}
	change := func(*compare.Row) About { return About{Topic: "change", Of: of(b)} }
	return []column[*compare.Row]{
		{title: "FIGURE", min: 12, left: true, draw: func(r *compare.Row, _ int, _ Look) cell { return cell{themes.Text, r.Figure.Title} }},
		{title: string(stageLetter(a)), min: 10, drop: 2, draw: value(ofA), about: about(a)},
		{title: "95 %", min: 13, drop: 5, draw: interval(ofA)},
		{title: string(stageLetter(b)), min: 10, drop: 1, draw: value(ofB), about: about(b)},
		{title: "95 %", min: 13, drop: 4, draw: interval(ofB)},
		{title: "CHANGE", min: 9, about: change, draw: func(r *compare.Row, _ int, k Look) cell { return orNone(senseRole(r), r.ChangeText(k.ASCII), k) }},
		{title: "BETWEEN", min: 17, drop: 3, about: change, draw: func(r *compare.Row, _ int, k Look) cell {
			return orNone(themes.Muted, r.ChangeInterval(k.ASCII), k)
		}},
		{title: "VERDICT", min: 11, max: 15, left: true, draw: func(r *compare.Row, w int, _ Look) cell {
			if w < cells(r.Word()) && r.Sense != compare.Neither {
				return cell{senseRole(r), string(r.Sense)}
			}
			return cell{senseRole(r), r.Word()}
		}},
	}
}

// topicOf is what the glossary calls a figure.
func topicOf(key string) string { return stageFigure{key: key}.topic() }

func orNone(role themes.Role, text string, k Look) cell {
	if text == "" {
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	return cell{role, text}
}
