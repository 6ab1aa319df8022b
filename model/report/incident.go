package report

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/story"
	"slotop/model/unit"
)

// incident is the story of what was breached: what, who, why, what was tried, and when.
func (d *dossier) incident() (title string, body []paper.Block) {
	body = append(body, d.summary())
	if facts := d.incidentFacts(); len(facts.Items) > 0 {
		body = append(body, facts)
	}
	body = append(body, d.breached()...)
	body = append(body, d.why()...)
	body = append(body, d.moved()...)
	body = append(body, d.tried()...)
	body = append(body, d.incidentCharts()...)
	body = append(body, d.timeline())
	body = append(body, d.alertTable()...)
	body = append(body, paper.Section{Title: "The worst moment in figures", Body: append([]paper.Block{
		paper.Para{Text: paper.T("At " + d.time(d.s.Worst.At) + ", the moment at which " + d.worstMeans() + ".")},
		d.worst().workflows("Workflows at " + d.time(d.s.Worst.At)),
	}, d.worst().targets("Targets at "+d.time(d.s.Worst.At))...)})
	return d.incidentTitle(), append(body, d.quality())
}

func (d *dossier) worstMeans() string {
	switch {
	case len(d.s.Last.Workflows) == 0:
		return "the story ends"
	case len(d.s.Breaches) == 0:
		return "the story ends: no promise was broken"
	}
	return "most requests of a window were surely bad"
}

func (d *dossier) incidentTitle() string {
	names := d.hurt()
	if len(names) == 0 {
		if len(d.s.Last.Workflows) == 0 {
			return "Nothing can be told: " + d.nobody()
		}
		if n := len(d.untold()); n == len(d.s.Last.Workflows) {
			return "Nobody can tell whether an objective was breached"
		}
		return "No objective was breached"
	}
	all := d.breaches(names[0])
	b := longest(all)
	took := unit.Duration(b.Lasted().Seconds())
	if b.Open {
		took = "at least " + took
	}
	switch n := len(names) - 1; {
	case n == 0:
		return names[0] + " " + breachWord(b) + " for " + took
	case n == 1:
		return names[0] + " " + breachWord(b) + " for " + took + ", and " + names[1] + " was hurt too"
	default:
		return names[0] + " " + breachWord(b) + " for " + took + ", and " + plural(n, "other workflow") + " were hurt"
	}
}

// breachWord is what a workflow was for most of the time.
func breachWord(b *story.Breach) string {
	switch mostly := b.Mostly(); mostly {
	case model.IsMissed:
		return "breached its objectives"
	case model.IsStale:
		return "had no data"
	default:
		return "was " + mostly.Word()
	}
}

// summary is what to read if nothing else is read.
func (d *dossier) summary() paper.Block {
	names := d.hurt()
	if len(names) == 0 {
		tone := paper.Good
		if len(d.untold()) > 0 || len(d.s.Last.Workflows) == 0 {
			tone = paper.Warn
		}
		return paper.Notice{Tone: tone, Body: []paper.Block{paper.Para{Text: paper.T(d.nothing())}}}
	}
	var items []paper.Text
	for _, name := range names[:min(len(names), maxHurt)] {
		items = append(items, d.hurtLine(name))
	}
	if n := len(names) - maxHurt; n > 0 {
		items = append(items, paper.T(plural(n, "workflow")+" more: see the table"))
	}
	if kept := d.kept(); kept != "" {
		items = append(items, paper.T(kept))
	}
	items = append(items, d.whyLines()...)
	return paper.Notice{Tone: paper.Breach, Body: []paper.Block{paper.List{Items: items}}}
}

// maxHurt is how many workflows the summary, the charts and the sections tell of.
const maxHurt = 4

// nothing is what there is to say where no promise was broken.
func (d *dossier) nothing() string {
	fired := 0
	for i := range d.s.Alerts {
		if d.s.Alerts[i].Fired {
			fired++
		}
	}
	text := "No workflow missed what it was promised in the " + unit.Duration(d.s.Duration().Seconds()) + " that were seen"
	if len(d.s.Last.Workflows) == 0 {
		text = "Whether a promise was kept is not known: " + d.nobody() + " in the " + unit.Duration(d.s.Duration().Seconds()) + " that were watched"
	}
	if fired > 0 {
		text += ", but " + plural(fired, "alert") + " fired"
	}
	switch names := d.untold(); {
	case len(names) > maxSources:
		text += "; but the goodput of " + plural(len(names), "workflow") + " was never known"
	case len(names) > 0:
		text += "; but the goodput of " + strings.Join(names, ", ") + " was never known"
	}
	if n := d.undecided(); n > 0 {
		text += fmt.Sprintf("; undecided at the end: %d of %s", n, plural(len(d.s.Last.Workflows), "workflow"))
	}
	return text + "."
}

// undecided is for how many workflows the last window cannot tell, of those that were
// judged: few requests prove no promise kept.
func (d *dossier) undecided() int {
	n := 0
	for i := range d.s.Last.Workflows {
		if g := d.s.Last.Workflows[i].Goodput; g != nil && g.Verdict == model.Undecided && g.N > 0 {
			n++
		}
	}
	return n
}

// nobody is why there is not a workflow: silence is no promise kept.
func (d *dossier) nobody() string {
	for i := range d.s.Last.Targets {
		if t := &d.s.Last.Targets[i]; t.Polls > t.FailedPolls {
			return "no target named a model"
		}
	}
	return "no target ever answered"
}

// untold are the workflows of which no moment was judged: that they missed nothing is not
// known.
func (d *dossier) untold() []string {
	var names []string
	for i := range d.s.Last.Workflows {
		name := d.s.Last.Workflows[i].Name
		if good := d.s.Workflow(name).Of("goodput"); good != nil && !good.Known() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hurtLine is one workflow's breach in a sentence.
func (d *dossier) hurtLine(name string) paper.Text {
	all := d.breaches(name)
	b := longest(all)
	text := paper.Strong(name).And(paper.T(" "), paper.Toned(breachWord(b), paper.Breach), paper.T(" "+d.span(b.From, b.To, b.Open)+" ("+lasted(b.Lasted().Seconds(), b.Open)+")"))
	if len(all) > 1 {
		text = text.And(paper.T(fmt.Sprintf(", the longest of %d times", len(all))))
	}
	for _, s := range b.Spells {
		if s.Condition != b.Mostly() {
			text = text.And(paper.T(", " + s.Condition.Word() + " for " + unit.Duration(s.Lasted.Seconds()) + " of it"))
		}
	}
	if b.Assumed {
		text = text.And(paper.T(", by objectives that are assumed"))
	}
	if o := missedMost(&b.Worst); o != nil {
		text = text.And(paper.T(": at the worst "), d.metShare(o), paper.T(" of "+plural(o.N, "request")+" met "+o.Metric.Title()+" "+unit.Limit(o.MaxS)+", promised "+unit.Promised(o.Target)))
	}
	if who := badOf(b); len(who) > 0 {
		text = text.And(paper.T("; "), who)
	}
	return text.And(paper.T("."))
}

// metShare is the share of requests within an objective.
func (d *dossier) metShare(o *model.ObjectiveView) paper.Text {
	return paper.Toned(unit.Share(o.Share, false), paper.Breach)
}

// badOf is how many requests of a breach were bad.
func badOf(b *story.Breach) paper.Text {
	bad, ok := b.Bad.Get()
	if !ok {
		return nil
	}
	text := "about " + plural(bad, "request") + " hurt"
	if n, ok := b.Judged.Get(); ok && n > 0 {
		text += " of " + unit.Integer(n) + ", " + unit.Percent(min(1, bad/n))
	}
	return paper.T(text)
}

// missedMost is the objective that was missed by most, nil where none was.
func missedMost(w *model.WorkflowView) *model.ObjectiveView {
	var worst *model.ObjectiveView
	for i := range w.Objectives {
		o := &w.Objectives[i]
		if o.Verdict == model.Missed && o.Share.Hi.OK() && (worst == nil || o.Share.Hi.Value < worst.Share.Hi.Value) {
			worst = o
		}
	}
	return worst
}

// kept names the workflows that were not hurt.
func (d *dossier) kept() string {
	hurt := d.hurt()
	var names []string
	for i := range d.s.Last.Workflows {
		if w := &d.s.Last.Workflows[i]; !slices.Contains(hurt, w.Name) && len(w.Objectives) > 0 {
			names = append(names, w.Name)
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return ""
	case len(names) > maxSources:
		return plural(len(names), "workflow") + " kept what they were promised, or nobody can tell."
	default:
		return "Not hurt: " + strings.Join(names, ", ") + "."
	}
}

// whyLines are the leading cause and what to try.
func (d *dossier) whyLines() []paper.Text {
	lead := d.lead()
	if lead == nil {
		return []paper.Text{paper.Strong("Why: ").And(paper.T(d.noCause()))}
	}
	f := &lead.Finding
	out := []paper.Text{paper.Strong("Because ").And(paper.T(f.Because() + " (confidence " + string(f.Confidence) + nOf(f) + ")."))}
	if len(f.Not) > 0 {
		out = append(out, paper.Strong("Not ").And(paper.T(strings.Join(f.Not, "; ")+".")))
	}
	if len(f.Try) > 0 {
		out = append(out, paper.Strong("Try ").And(paper.T(strings.Join(f.Try, ", or ")+".")))
	}
	return out
}

func nOf(f *model.FindingView) string {
	if n, ok := f.N.Get(); ok {
		return ", n " + unit.Integer(n)
	}
	return ""
}

// lead is the finding that says most of why: a cause before what binds, before a
// symptom; the surest, then the one that held longest.
func (d *dossier) lead() *story.Held {
	all := d.ranked()
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// ranked are the findings in the order in which they are told.
func (d *dossier) ranked() []*story.Held {
	all := make([]*story.Held, len(d.s.Findings))
	for i := range d.s.Findings {
		all[i] = &d.s.Findings[i]
	}
	sure := []model.Confidence{model.HighConfidence, model.MediumConfidence, model.LowConfidence}
	slices.SortStableFunc(all, func(a, b *story.Held) int {
		if c := a.Finding.Layer.Rank() - b.Finding.Layer.Rank(); c != 0 {
			return c
		}
		if c := slices.Index(sure, a.Finding.Confidence) - slices.Index(sure, b.Finding.Confidence); c != 0 {
			return c
		}
		return int((heldFor(b) - heldFor(a)) * 1000)
	})
	return all
}

// heldFor is how many seconds a finding held in all.
func heldFor(h *story.Held) (seconds float64) {
	for _, s := range h.Spans {
		seconds += s.To.Sub(s.From).Seconds()
	}
	return seconds
}

// noCause is what the diagnosis came to where it found nothing.
func (d *dossier) noCause() string {
	for i := range d.s.Worst.Diagnoses {
		return d.s.Worst.Diagnoses[i].Verdict() + "."
	}
	return "nobody looked: a diagnosis needs engines that are watched directly."
}

func (d *dossier) incidentFacts() paper.Facts {
	var f paper.Facts
	names := d.hurt()
	if len(names) == 0 {
		return f
	}
	all := d.breaches(names[0])
	b := longest(all)
	f.Items = append(f.Items, paper.Fact{Name: "Breached for", Value: paper.T(lasted(b.Lasted().Seconds(), b.Open)), Note: paper.T(names[0] + ", since " + d.time(b.From)), Tone: paper.Breach})
	f.Items = append(f.Items, d.hurtFact())
	f.Items = append(f.Items, paper.Fact{Name: "Goodput at the worst", Value: d.goodputAt(b), Note: paper.T(names[0] + " at " + d.time(b.WorstAt) + promisedOf(&b.Worst))})
	if o := missedMost(&b.Worst); o != nil {
		if dist := b.Worst.Latency(o.Metric); dist != nil && dist.P95.Exists() {
			f.Items = append(f.Items, paper.Fact{Name: o.Metric.Title() + " p95 at the worst", Value: paper.T(unit.Estimate(dist.P95, false)), Note: paper.T("objective " + unit.Limit(o.MaxS))})
		}
	}
	end, note, tone := "over", "at "+d.time(b.To), paper.Good
	if b.Open {
		end, note, tone = "not over", "at the end, "+d.time(d.s.Last.At), paper.Breach
	}
	return paper.Facts{Items: append(f.Items, paper.Fact{Name: "State at the end", Value: paper.T(end), Note: paper.T(note), Tone: tone})}
}

func promisedOf(w *model.WorkflowView) string {
	if w.Goodput == nil || !w.Goodput.Target.OK() {
		return ""
	}
	return ", promised " + unit.Promised(w.Goodput.Target.Value)
}

func (d *dossier) goodputAt(b *story.Breach) paper.Text {
	if b.Worst.Goodput == nil || !b.Worst.Goodput.Share.Hi.OK() {
		return paper.T("not known")
	}
	return paper.T(unit.Share(b.Worst.Goodput.Share, false))
}

// hurtFact is how many requests were hurt in all breaches of all workflows.
func (d *dossier) hurtFact() paper.Fact {
	bad, judged, untold := 0.0, 0.0, 0
	for i := range d.s.Breaches {
		b := &d.s.Breaches[i]
		if !b.Bad.OK() || !b.Judged.OK() {
			untold++
			continue
		}
		bad += b.Bad.Value
		judged += b.Judged.Value
	}
	if judged == 0 {
		return paper.Fact{Name: "Requests hurt", Value: paper.T("not known"), Note: paper.T("nobody counts them")}
	}
	note := "of " + unit.Integer(judged) + " in breaches"
	if untold > 0 {
		note += "; of " + unit.Integer(float64(untold)) + " more it is not known"
	}
	return paper.Fact{Name: "Requests hurt", Value: paper.T("≈ " + unit.Integer(bad)), Note: paper.T(note)}
}
