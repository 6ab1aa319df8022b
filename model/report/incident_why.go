package report

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/story"
	"slotop/model/unit"
)

// maxBreachRows bounds the table of breaches.
const maxBreachRows = 40

// breached are two tables: what was breached when, and who was hurt by it.
func (d *dossier) breached() []paper.Block {
	if len(d.s.Breaches) == 0 {
		return nil
	}
	t := paper.Table{Caption: "Breaches, oldest first; the worst moment of each is when most requests of a window were surely bad", Columns: []paper.Column{
		{Head: "Workflow"}, {Head: "State"}, {Head: "When"}, {Head: "Lasted", Right: true}, {Head: "Objective"}, {Head: "Met it at the worst", Right: true},
		{Head: "p95 then", Right: true}, {Head: "Requests hurt", Right: true},
	}}
	for i := range d.s.Breaches[:min(len(d.s.Breaches), maxBreachRows)] {
		t.Rows = append(t.Rows, d.breachRows(&d.s.Breaches[i])...)
	}
	body := []paper.Block{t}
	if n := len(d.s.Breaches) - maxBreachRows + d.s.Left.Breaches; n > 0 {
		body = append(body, paper.Para{Text: paper.Toned(unit.Integer(float64(n))+" breaches more.", paper.Quiet)})
	}
	body = append(body, paper.Para{Text: paper.T("Requests hurt are those that likely missed an objective, failed, or were given up, from one window before the breach to its end, of those that ended in that time. " +
		"A workflow that misses its promise again within a window of the end of a breach is still in that breach.")})
	return []paper.Block{paper.Section{Title: "What was breached, and who was hurt", Body: body}}
}

// breachRows is a row an objective that was missed at the worst moment, one at least.
func (d *dossier) breachRows(b *story.Breach) []paper.Row {
	words := make([]string, len(b.Spells))
	for i, s := range b.Spells {
		words[i] = s.Condition.Word()
		if s.Condition != b.Mostly() {
			words[i] += " " + unit.Duration(s.Lasted.Seconds())
		}
	}
	head := []paper.Text{paper.T(b.Workflow), paper.Toned(strings.Join(words, ", "), paper.Breach), paper.T(d.when(b.From, b.To, b.Open)), paper.T(lasted(b.Lasted().Seconds(), b.Open))}
	tail := hurtOf(b)
	var rows []paper.Row
	for i := range b.Worst.Objectives {
		o := &b.Worst.Objectives[i]
		if o.Verdict != model.Missed {
			continue
		}
		p95 := paper.Toned(unit.None(false), paper.Quiet)
		if dist := b.Worst.Latency(o.Metric); dist != nil && dist.P95.Exists() {
			p95 = paper.T(unit.Estimate(dist.P95, false))
		}
		promised := o.Metric.Title() + " " + unit.Limit(o.MaxS) + " for " + unit.Promised(o.Target)
		if b.Assumed {
			promised += " (assumed)"
		}
		rows = append(rows, paper.Row{Cells: slices.Concat(head, []paper.Text{paper.T(promised), d.metShare(o).And(paper.T(" at " + d.time(b.WorstAt))), p95, tail})})
		head = []paper.Text{paper.Toned(b.Workflow, paper.Quiet), nil, nil, nil}
		tail = nil
	}
	if len(rows) == 0 {
		none := paper.Toned(unit.None(false), paper.Quiet)
		what := paper.T("the promise as a whole")
		if b.Mostly() != model.IsMissed {
			what = none // nothing that was promised was measured
		}
		rows = append(rows, paper.Row{Cells: slices.Concat(head, []paper.Text{what, d.goodputAt(b), none, tail})})
	}
	return rows
}

// hurtOf is how many requests of a breach were bad, of how many.
func hurtOf(b *story.Breach) paper.Text {
	bad, ok := b.Bad.Get()
	n, also := b.Judged.Get()
	if !ok || !also || n == 0 {
		return paper.Toned("not known", paper.Quiet)
	}
	return paper.T(unit.Integer(bad) + " of " + unit.Integer(n) + ", " + unit.Percent(min(1, bad/n)))
}

// maxCauses is how many findings are told in full.
const maxCauses = 4

// why is every finding with its evidence: the causes in full, the others in a table.
func (d *dossier) why() []paper.Block {
	all := d.ranked()
	if len(all) == 0 {
		return []paper.Block{paper.Section{Title: "Why", Body: []paper.Block{paper.Para{Text: paper.T("No finding held in this time: " + d.noCause())}}}}
	}
	var body []paper.Block
	told := 0
	for _, h := range all {
		if told < maxCauses && (h.Finding.Layer == model.LayerCause || told == 0) {
			body = append(body, d.finding(h))
			told++
		}
	}
	if rest := all[told:]; len(rest) > 0 {
		body = append(body, d.findingTable(rest))
	}
	return []paper.Block{paper.Section{Title: "Why", Body: body}}
}

// finding is one finding in full, at its strongest.
func (d *dossier) finding(h *story.Held) paper.Block {
	f := &h.Finding
	items := []paper.Text{paper.Strong("Held ").And(paper.T(d.held(h) + "; the evidence is that of " + d.time(h.At)))}
	say := func(label, text string) {
		if text != "" {
			items = append(items, paper.Strong(label+" ").And(paper.T(text)))
		}
	}
	say("Symptom", string(f.Symptom))
	say("Cause", string(f.Cause))
	say("What binds", string(f.Binding))
	say("Confidence", string(f.Confidence)+nOf(f)+", "+against(f))
	say("Evidence", strings.Join(f.Evidence, "; "))
	say("Looked at and ruled out", strings.Join(f.Not, "; "))
	say("Would contradict it", strings.Join(f.Against, "; "))
	say("Try next", strings.Join(f.Try, ", or "))
	return paper.Section{Title: f.ID + " " + f.Title + whose(f), Body: []paper.Block{paper.List{Items: items}}}
}

// whose names whom a finding is about.
func whose(f *model.FindingView) string {
	for _, s := range []model.Text{f.Workflow, f.Target} {
		if s != "" {
			return ": " + string(s)
		}
	}
	return ""
}

// against is the two stretches that a finding compares.
func against(f *model.FindingView) string {
	text := unit.Limit(f.WindowS)
	if v, ok := f.BaselineS.Get(); ok && v > 0 {
		return text + " against " + unit.Limit(v) + " before"
	}
	return text + " of data"
}

// held is when a finding was made.
func (d *dossier) held(h *story.Held) string {
	if len(h.Spans) == 1 {
		s := h.Spans[0]
		return d.span(s.From, s.To, s.Open) + " (" + lasted(s.To.Sub(s.From).Seconds(), s.Open) + ")"
	}
	return unit.Integer(float64(len(h.Spans)+h.Dropped)) + " times, " + unit.Duration(heldFor(h)) + " in all, " + d.span(h.First(), h.Last(), h.Open())
}

// heldShort is when a finding was made, in a cell.
func (d *dossier) heldShort(h *story.Held) string {
	text := d.when(h.First(), h.Last(), h.Open())
	if n := len(h.Spans) + h.Dropped; n > 1 {
		return text + ", " + unit.Integer(float64(n)) + " times"
	}
	return text
}

func (d *dossier) findingTable(rest []*story.Held) paper.Block {
	t := paper.Table{Caption: "Other findings: what binds, and what users feel", Columns: []paper.Column{
		{Head: "Finding", Wide: true}, {Head: "Kind"}, {Head: "Confidence"}, {Head: "Held"}, {Head: "Evidence", Wide: true},
	}}
	for _, h := range rest {
		f := &h.Finding
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{
			paper.T(f.ID + " " + f.Title + whose(f)), paper.T(string(f.Layer)), paper.T(string(f.Confidence) + nOf(f)), paper.T(d.heldShort(h)), paper.T(strings.Join(f.Evidence, "; ")),
		}})
	}
	return t
}

// factorFormats are how the values of factors are written; they are in the factor's own
// unit.
var factorFormats = []struct {
	factor model.Factor
	name   string
	format func(float64) string
}{
	{model.FactorArrivals, "arrival rate", rate},
	{model.FactorPrompt, "prompt tokens", unit.Integer},
	{model.FactorMiss, "cache misses", unit.Percent},
	{model.FactorOutput, "output tokens", unit.Integer},
	{model.FactorResidual, "step time over explained", unit.Times},
	{model.FactorAcceptance, "tokens a step", unit.Number},
	{model.FactorRetries, "retries", unit.Percent},
	{model.FactorSetting, "configuration", unit.Count},
	{model.FactorReplicas, "replicas ready", unit.Number},
	{model.FactorProvider, "provider", unit.Times},
	{model.FactorOutside, "outside the engine", unit.Duration},
}

func factorLook(f model.Factor) (string, func(float64) string) {
	for _, row := range factorFormats {
		if row.factor == f {
			return row.name, row.format
		}
	}
	return strings.ReplaceAll(string(f), "_", " "), unit.Number
}

// moved is what of the load and of the machine changed, at the moment of the leading
// finding.
func (d *dossier) moved() []paper.Block {
	var pools []*model.DiagnosisView
	at := d.s.Worst.At
	if lead := d.lead(); lead != nil && lead.Diagnosis != nil {
		pools, at = []*model.DiagnosisView{lead.Diagnosis}, lead.At
	} else {
		for i := range d.s.Worst.Diagnoses[:min(len(d.s.Worst.Diagnoses), maxCauses)] {
			pools = append(pools, &d.s.Worst.Diagnoses[i])
		}
	}
	var body []paper.Block
	for _, v := range pools {
		body = append(body, d.factors(v, at)...)
	}
	if len(body) == 0 {
		return nil
	}
	return []paper.Block{paper.Section{Title: "What moved", Body: body}}
}

func (d *dossier) factors(v *model.DiagnosisView, at model.Instant) []paper.Block {
	if len(v.Factors) == 0 {
		return []paper.Block{paper.Para{Text: paper.T(v.Pool + ": " + v.Verdict())}}
	}
	caption := "At " + d.time(at) + ", " + unit.Limit(v.WindowS) + " against quiet time before"
	if b, ok := v.BaselineS.Get(); ok && b > 0 {
		caption = "At " + d.time(at) + ", " + unit.Limit(v.WindowS) + " against " + unit.Limit(b) + " of quiet time"
		if !v.BaselineTo.IsZero() {
			caption += " before " + d.time(v.BaselineTo)
		}
	}
	t := paper.Table{Caption: caption, Columns: []paper.Column{
		{Head: "Factor"}, {Head: "Moved"}, {Head: "Before", Right: true}, {Head: "Then", Right: true}, {Head: "Ratio", Right: true}, {Head: "Work", Right: true}, {Head: "Who"},
	}}
	for i := range v.Factors {
		f := &v.Factors[i]
		name, format := factorLook(f.Factor)
		moved, row := paper.Toned("no", paper.Quiet), paper.Row{Tone: paper.Quiet}
		if f.Moved {
			moved, row.Tone = paper.Strong("yes"), paper.Plain
		}
		row.Cells = []paper.Text{paper.T(name), moved, known(f.Before, format), known(f.Now, format), known(f.Ratio, unit.Times), known(f.Work, unit.More), paper.T(mover(f))}
		t.Rows = append(t.Rows, row)
	}
	body := []paper.Block{t}
	if v.Why != "" {
		body = append(body, paper.Para{Text: paper.Strong("What limits this: ").And(paper.T(string(v.Why)))})
	}
	return body
}

// known is a reading in words, a dash where there is none.
func known(r model.Reading, format func(float64) string) paper.Text {
	if !r.OK() {
		return paper.Toned(unit.None(false), paper.Quiet)
	}
	return paper.T(format(r.Value))
}

// mover is who moved a factor.
func mover(f *model.FactorView) string {
	switch {
	case f.Mix:
		return "the mix of workflows"
	case f.Who == "":
		return ""
	}
	if s, ok := f.WhoShare.Get(); ok && s < 0.95 {
		return string(f.Who) + ", " + unit.Percent(s) + " of it"
	}
	return string(f.Who)
}

// tried is what somebody noted: deployments, stages, acknowledgements.
func (d *dossier) tried() []paper.Block {
	var items []paper.Text
	for i := range d.s.Events {
		e := &d.s.Events[i]
		switch e.Kind {
		case model.EventDeploy:
			items = append(items, paper.T(d.time(e.At)+"  ").And(paper.Strong(string(e.Target))))
		case model.EventStage:
			if string(e.Target) != d.from.Whole {
				items = append(items, paper.T(d.time(e.At)+"  a stage was marked: ").And(paper.Strong(string(e.Target))))
			}
		}
	}
	for i := range d.s.Alerts {
		if a := &d.s.Alerts[i].Alert; a.Acknowledged {
			items = append(items, paper.T("acknowledged: "+strings.Join(words(a.Rule, string(a.Workflow), string(a.Target)), " ")))
		}
	}
	items = slices.CompactFunc(items, func(a, b paper.Text) bool { return a.String() == b.String() })
	body := []paper.Block{paper.List{Items: items}}
	if len(items) == 0 {
		body = []paper.Block{paper.Para{Text: paper.T("Nothing was noted in this time: no deployment was annotated, no stage marked, no alert acknowledged.")}}
	}
	return []paper.Block{paper.Section{Title: "What was tried", Body: body}}
}

// words are the texts that are not empty.
func words(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
