package panes

import (
	"time"

	"slotop/model"
	"slotop/model/compare"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Stage is one line about the stage of a load test that runs: the chosen
// workflow's figures since its mark, and how they changed.
type Stage struct{}

// Name names the pane.
func (Stage) Name() string { return "stage" }

// Want is one line while a stage is open.
func (Stage) Want(f *model.Frame, _ int, _ Look) layout.Want {
	if openStage(f) < 0 {
		return layout.Want{}
	}
	return layout.Want{Min: 1, Ideal: 1, Max: 1, Drop: 4}
}

// Render draws the line.
func (Stage) Render(f *model.Frame, size layout.Size, look Look) string {
	i := openStage(f)
	if i < 0 || size.H <= 0 {
		return ""
	}
	s := &f.Stages[i]
	head := part{segs: []seg{
		{themes.Event, string(stageLetter(i)) + " "}, {themes.Strong, look.foreign(s.Name, 24)},
		{themes.Muted, " for " + look.span(f.At.Sub(s.From).Truncate(time.Second))},
	}}
	l := look.line(size.W - 1).pad(1)
	w := chosenOne(f, look)
	if w == nil {
		return l.parts(3, head).String()
	}
	now := staged(s, w.Name)
	if now == nil {
		return l.parts(3, head, say(1, themes.Muted, "nothing measured yet")).String()
	}
	var changes *compare.Workflow
	if i > 0 {
		changes = against(f, i-1, i).Of(w.Name)
	}
	ps := []part{head}
	for _, c := range stageFigures {
		if c.drop == 0 {
			continue
		}
		p := part{segs: []seg{{themes.Muted, c.label + " "}, seg(c.show(now, 9, look)), {themes.Muted, c.unit}}, drop: c.drop}
		if changes != nil {
			if t := look.changed(changes.Row(c.key)); t.text != "" {
				p.segs = append(p.segs, seg{themes.Muted, " "}, seg(t))
			}
		}
		ps = append(ps, p.of(c.topic(), Within(w.Name, KeyOf(s).String())))
	}
	return l.parts(3, ps...).String()
}

// openStage is the place of the stage that runs, -1 without one.
func openStage(f *model.Frame) int {
	if n := len(f.Stages); n > 0 && f.Stages[n-1].To.IsZero() {
		return n - 1
	}
	return -1
}

// stageLetters mark stages on a time axis; R is a restart, S a stage beyond them.
const stageLetters = "ABCDEFGHIJKLMNOPQTUVWXYZ"

func stageLetter(i int) rune {
	if i < len(stageLetters) {
		return rune(stageLetters[i])
	}
	return 'S'
}

// staged is a workflow's figures in a stage, nil without any.
func staged(s *model.StageView, name string) *model.StageWorkflow { return compare.Find(s, name) }

// against is how one stage of a frame differs from another; the later one is b.
func against(f *model.Frame, a, b int) *compare.Comparison {
	c := compare.Stages(compare.Until(&f.Stages[a], f.At), compare.Until(&f.Stages[b], f.At))
	return &c
}

// stageFigure is one number of a stage in a table or on a line.
type stageFigure struct {
	key   string // of compare.Figures; "": it is not compared
	title string
	label string // on the line of the running stage
	unit  string
	w     int
	drop  int // on that line; 0: it is not there
	table int // in the table
	show  func(w *model.StageWorkflow, room int, look Look) cell
}

// topic is what the glossary calls the figure.
func (c stageFigure) topic() string {
	switch c.key {
	case "":
		return "requests.finished"
	case "good_per_second":
		return "goodput.rate"
	default:
		return c.key
	}
}

func p50(d *model.Dist) model.Estimate { return d.P50 }
func p95(d *model.Dist) model.Estimate { return d.P95 }

var stageFigures = [...]stageFigure{
	{
		title: "n", w: 5, table: 6,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.reading(w.Finished, room, samples) },
	}, {
		key: "requests_per_second", title: "REQ/S", label: "requests", unit: "/s", w: 6, drop: 3, table: 1,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.rate(w.PerSecond, room) },
	}, {
		key: "output_per_second", title: "OUT tok/s", w: 9, table: 4,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.rate(w.OutputPerSecond, room) },
	}, {
		key: "ttft.p50", title: "TTFT p50", w: 9, table: 7,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TTFT, room, p50) },
	}, {
		key: "ttft.p95", title: "TTFT p95", label: "TTFT p95", w: 9, drop: 1,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TTFT, room, p95) },
	}, {
		key: "ttft.p99", title: "TTFT p99", w: 9, table: 9,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TTFT, room, p99) },
	}, {
		key: "tpot.p50", title: "TPOT p50", w: 9, table: 8,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TPOT, room, p50) },
	}, {
		key: "tpot.p95", title: "TPOT p95", label: "TPOT p95", w: 9, drop: 2, table: 2,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TPOT, room, p95) },
	}, {
		key: "e2e.p95", title: "E2E p95", w: 9, table: 10,
		show: func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.E2E, room, p95) },
	}, {
		key: "goodput", title: "GOODPUT", label: "goodput", w: 9, drop: 1,
		show: func(w *model.StageWorkflow, _ int, k Look) cell { return k.goodputOf(w.Goodput, true) },
	},
}

// changed is by how much a figure changed, with a sign for what that means and never by
// colour alone; noise is called so. Empty where it cannot be told.
func (k Look) changed(r *compare.Row) cell {
	switch {
	case r == nil || r.Verdict == compare.CannotTell:
		return cell{}
	case r.Verdict == compare.Noise:
		return cell{themes.Muted, "noise"}
	}
	return cell{senseRole(r), r.Mark() + r.ChangeText(k.ASCII)}
}

func senseRole(r *compare.Row) themes.Role {
	switch {
	case r.Sense == compare.Worse:
		return themes.Breach
	case r.Sense == compare.Better:
		return themes.OK
	case r.Verdict == compare.Higher || r.Verdict == compare.Lower:
		return themes.Strong
	default:
		return themes.Muted
	}
}

// signs says what the signs before a change mean.
const signs = "! worse  + better  * different"

// stageRow is a row of a table: a stage, or how it differs from the one before.
type stageRow struct {
	i    int
	s    *model.StageView
	flow *model.StageWorkflow // nil: nothing was measured of it
	diff *compare.Workflow    // of a row of differences
	at   model.Instant
}

// stages is the stages of a workflow, each but the first with its change.
func (s *sheet) stages(f *model.Frame, w *model.WorkflowView) {
	rows, longest := stageRows(f, w.Name, s.look)
	if len(rows) == 0 {
		return
	}
	s.rule("STAGES", say(1, themes.Muted, "below each: against the one before"), say(2, themes.Muted, signs))
	t := fit(stageColumns(longest, s.w), s.w-1)
	s.out = append(s.out, t.head(s.look))
	for _, r := range rows {
		s.out = append(s.out, stageLine(t, r, s.w, s.look))
	}
}

// stageRows are the stages in which a workflow was measured, each with its change
// against the one before, and how wide the longest name is.
func stageRows(f *model.Frame, workflow string, look Look) (rows []stageRow, longest int) {
	for i := range f.Stages {
		v := &f.Stages[i]
		flow := staged(v, workflow)
		if flow == nil {
			continue
		}
		rows = append(rows, stageRow{i: i, s: v, flow: flow, at: f.At})
		longest = max(longest, cells(unit.Escape(v.Name, look.ASCII)))
		if i == 0 || staged(&f.Stages[i-1], workflow) == nil {
			continue
		}
		rows = append(rows, stageRow{i: i, s: v, flow: flow, diff: against(f, i-1, i).Of(workflow), at: f.At})
	}
	return rows, longest
}

func stageLine(t table[stageRow], r stageRow, w int, look Look) string {
	l := look.line(w - 1).pad(1)
	if r.diff == nil {
		l.put(themes.Event, string(stageLetter(r.i)))
	}
	return t.fill(l.pad(indent), r, look)
}

// about says what a number of the row is: a figure, or how it changed.
func (r stageRow) about(topic string) About {
	switch {
	case r.flow == nil:
		return About{}
	case r.diff != nil:
		topic = "change"
	}
	return About{topic, Within(r.flow.Name, KeyOf(r.s).String())}
}

func stageColumns(longest, w int) []column[stageRow] {
	cols := []column[stageRow]{
		{title: "STAGE", min: leastName(longest, w, 10), max: nameWidth(longest), left: true, draw: func(r stageRow, w int, k Look) cell {
			if r.diff != nil {
				return cell{themes.Muted, "against " + string(stageLetter(r.i-1))}
			}
			return cell{themes.Strong, k.foreign(r.s.Name, w)}
		}, about: func(r stageRow) About {
			if r.diff != nil {
				return About{}
			}
			return About{Topic: "row.stage", Of: KeyOf(r.s).String()}
		}},
		{title: "FROM", min: 8, drop: 11, left: true, draw: func(r stageRow, _ int, _ Look) cell {
			if r.diff != nil {
				return cell{}
			}
			return cell{themes.Muted, hms(r.s.From)}
		}},
		{title: "LASTED", min: 6, drop: 5, about: func(r stageRow) About { return r.about("stage") }, draw: func(r stageRow, _ int, k Look) cell {
			if r.diff != nil {
				return cell{}
			}
			return cell{themes.Text, k.age(compare.Until(r.s, r.at).To.Sub(r.s.From))}
		}},
	}
	for _, c := range stageFigures {
		cols = append(cols, column[stageRow]{title: c.title, min: c.w, drop: c.table, about: func(r stageRow) About { return r.about(c.topic()) }, draw: func(r stageRow, w int, k Look) cell {
			switch {
			case r.diff != nil:
				return k.changed(r.diff.Row(c.key))
			case r.flow == nil:
				return cell{themes.Muted, unit.None(k.ASCII)}
			default:
				return c.show(r.flow, w, k)
			}
		}})
	}
	return cols
}
