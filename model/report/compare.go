package report

import (
	"fmt"
	"io"
	"strings"

	"slotop/model"
	"slotop/model/compare"
	"slotop/model/paper"
	"slotop/model/unit"
)

// ComparedSchema is the version of a comparison's JSON form.
const ComparedSchema = "slotop.compare/1"

// ComparedJSON writes a comparison as one line of JSON.
func ComparedJSON(out io.Writer, c *compare.Comparison) error {
	return writeJSON(out, "the comparison", struct {
		Schema string `json:"schema"`
		*compare.Comparison
	}{ComparedSchema, c})
}

// sideLine is what one side is: its name, when it began and how long it was.
func sideLine(s *compare.Side) []string {
	out := []string{s.Name}
	if !s.From.IsZero() {
		out = append(out, "from "+s.From.Wall.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if v, ok := s.LastedS.Get(); ok {
		out = append(out, "for "+unit.Duration(v))
	}
	return out
}

// verdictLine is the whole in a sentence.
func verdictLine(c *compare.Comparison) string {
	differ, worse := c.Count()
	switch {
	case c.Compared == 0:
		return "not a figure could be compared"
	case differ == 0:
		return fmt.Sprintf("nothing differs by more than noise, of %s", plural(c.Compared, "figure"))
	}
	s := fmt.Sprintf("%d of %s differ by more than noise", differ, plural(c.Compared, "figure"))
	if differ == 1 {
		s = fmt.Sprintf("1 of %s differs by more than noise", plural(c.Compared, "figure"))
	}
	better := 0
	for i := range c.Workflows {
		for _, r := range c.Workflows[i].Rows {
			if r.Sense == compare.Better {
				better++
			}
		}
	}
	return fmt.Sprintf("%s, %d worse and %d better", s, worse, better)
}

// noiseLine says what noise means.
func noiseLine(c *compare.Comparison) string {
	return fmt.Sprintf("noise: the difference is not larger than its sampling error, with requests that share their fate counted as fewer, "+
		"and the buckets it was read from allow; a risk of %s that any of the %s is called different by chance (Holm)", unit.Percent(c.Risk), plural(c.Compared, "figure"))
}

// ComparedText writes a comparison for people: plain lines of at most the given width,
// without escape sequences.
func ComparedText(c *compare.Comparison, opt Options) string {
	p := newPage(&model.Frame{}, opt)
	p.flow("A  ", ", ", p.allSafe(sideLine(&c.A))...)
	p.flow("B  ", ", ", p.allSafe(sideLine(&c.B))...)
	if c.Simulated {
		p.sentence("note  ", "SIMULATED")
	}
	for _, n := range c.Notes {
		p.sentence("note  ", p.safe(n))
	}
	p.line("")
	p.sentence("", verdictLine(c))
	for i := range c.Workflows {
		p.against(&c.Workflows[i])
	}
	p.line("")
	p.sentence("", p.safe("+ better  ! worse  * different  ~ noise  ? cannot tell"))
	p.sentence("", p.safe(noiseLine(c)))
	return p.b.String()
}

func (p *page) allSafe(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = p.safe(s)
	}
	return out
}

// against is a workflow's figures.
func (p *page) against(w *compare.Workflow) {
	if w.Only != "" {
		return
	}
	p.line("")
	p.flow(p.name(w.Name, p.width/2)+"  ", ", ", strings.Split(w.Counted(), ", ")...)
	for _, n := range w.Notes {
		p.sentence("  note  ", p.safe(n))
	}
	t := p.table(
		column{head: "  FIGURE"},
		column{head: "A", min: 10, drop: 2}, column{head: "95 %", min: 13, drop: 5},
		column{head: "B", min: 10, drop: 1}, column{head: "95 %", min: 13, drop: 4},
		column{head: "CHANGE", min: 10}, column{head: "BETWEEN", min: 17, drop: 3},
		column{head: "VERDICT", min: 14, left: true},
	)
	for i := range w.Rows {
		r := &w.Rows[i]
		f := &r.Figure
		p.row(t, r.Mark()+" "+f.Title,
			p.or(f.Text(r.A, p.ascii)), p.or(f.Interval(r.A, p.ascii)),
			p.or(f.Text(r.B, p.ascii)), p.or(f.Interval(r.B, p.ascii)),
			p.or(r.ChangeText(p.ascii)), p.or(r.ChangeInterval(p.ascii)), r.Word())
	}
	for _, why := range w.Reasons() {
		p.sentence("  ? ", p.safe(why))
	}
}

// or is a text, or the sign for none.
func (p *page) or(s string) string {
	if s == "" {
		return unit.None(p.ascii)
	}
	return s
}

// ComparedPaper is a comparison as a document.
func ComparedPaper(c *compare.Comparison) *paper.Paper {
	p := &paper.Paper{
		Over: "slotop compare", Title: c.B.Name + " against " + c.A.Name,
		Under: []paper.Text{
			paper.Strong("A ").And(paper.T(strings.Join(sideLine(&c.A), ", "))),
			paper.Strong("B ").And(paper.T(strings.Join(sideLine(&c.B), ", "))),
		},
		Foot: []paper.Text{paper.T("! worse, + better, * different, ~ noise, ? cannot tell. " + noiseLine(c) + ".")},
	}
	if c.Simulated {
		p.Badge = "SIMULATED"
	}
	head := paper.Notice{Tone: comparedTone(c), Body: []paper.Block{paper.Para{Text: paper.Strong(verdictLine(c))}}}
	if len(c.Notes) > 0 {
		var l paper.List
		for _, n := range c.Notes {
			l.Items = append(l.Items, paper.T(n))
		}
		head.Body = append(head.Body, l)
	}
	p.Body = append(p.Body, head)
	for i := range c.Workflows {
		if w := &c.Workflows[i]; w.Only == "" {
			p.Body = append(p.Body, comparedSection(w))
		}
	}
	return p
}

func comparedTone(c *compare.Comparison) paper.Tone {
	switch differ, worse := c.Count(); {
	case worse > 0:
		return paper.Breach
	case differ > 0:
		return paper.Good
	default:
		return paper.Quiet
	}
}

func comparedSection(w *compare.Workflow) paper.Section {
	s := paper.Section{Title: w.Name}
	notes := paper.List{}
	for _, n := range w.Notes {
		notes.Items = append(notes.Items, paper.T(n))
	}
	for _, why := range w.Reasons() {
		notes.Items = append(notes.Items, paper.T("cannot tell "+why))
	}
	t := paper.Table{Caption: w.Name + ", B against A", Columns: []paper.Column{
		{Head: "figure"}, {Head: "A", Right: true}, {Head: "95 %", Right: true}, {Head: "B", Right: true}, {Head: "95 %", Right: true},
		{Head: "change", Right: true}, {Head: "between", Right: true}, {Head: "verdict"},
	}}
	for i := range w.Rows {
		t.Rows = append(t.Rows, comparedRow(&w.Rows[i]))
	}
	s.Body = append(s.Body, paper.Para{Text: paper.Toned(w.Counted(), paper.Quiet)}, t)
	if len(notes.Items) > 0 {
		s.Body = append(s.Body, notes)
	}
	return s
}

func comparedRow(r *compare.Row) paper.Row {
	f := &r.Figure
	or := func(s string) paper.Text {
		if s == "" {
			s = unit.None(false)
		}
		return paper.T(s)
	}
	tone := map[string]paper.Tone{"!": paper.Breach, "+": paper.Good, "*": paper.Warn}[r.Mark()]
	verdict := paper.Toned(r.Mark()+" "+r.Word(), tone)
	if tone != "" {
		verdict[0].Strong = true
	}
	row := paper.Row{Cells: []paper.Text{
		paper.T(f.Title), or(f.Text(r.A, false)), or(f.Interval(r.A, false)), or(f.Text(r.B, false)), or(f.Interval(r.B, false)),
		or(r.ChangeText(false)), or(r.ChangeInterval(false)), verdict,
	}}
	if tone == "" {
		row.Tone = paper.Quiet
	}
	return row
}
