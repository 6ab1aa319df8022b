package panes

import (
	"math"
	"time"

	"slotop/model"
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
	var before *model.StageWorkflow
	if i > 0 {
		before = staged(&f.Stages[i-1], w.Name)
	}
	ps := []part{head}
	for _, c := range stageFigures {
		if c.drop == 0 {
			continue
		}
		p := part{segs: []seg{{themes.Muted, c.label + " "}, seg(c.show(now, 9, look)), {themes.Muted, c.unit}}, drop: c.drop}
		if before != nil {
			if d := c.against(now, before, look); d != "" {
				p.segs = append(p.segs, seg{themes.Muted, " " + d})
			}
		}
		ps = append(ps, p)
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
func staged(s *model.StageView, name string) *model.StageWorkflow {
	for i := range s.Workflows {
		if s.Workflows[i].Name == name {
			return &s.Workflows[i]
		}
	}
	return nil
}

// figure is one number of a stage: how it shows, and what is compared.
type figure struct {
	title string
	label string // on the line of the running stage
	unit  string
	w     int
	drop  int // on that line; 0: it is not there
	table int // in the table
	show  func(w *model.StageWorkflow, room int, look Look) cell
	value func(w *model.StageWorkflow) ranged
	share bool // compared by points, not by a factor
}

// ranged is a number and between which it may lie.
type ranged struct{ v, lo, hi model.Reading }

func exact(r model.Reading) ranged { return ranged{r, r, r} }

func rangeOf(d *model.Dist, which func(*model.Dist) model.Estimate) ranged {
	if d == nil {
		return ranged{}
	}
	e := which(d)
	return ranged{e.Value, e.Lo, e.Hi}
}

func p50(d *model.Dist) model.Estimate { return d.P50 }
func p95(d *model.Dist) model.Estimate { return d.P95 }

// rangeOfShare is as wide as the buckets or the few requests make it.
func rangeOfShare(g *model.GoodputView) ranged {
	switch {
	case g == nil:
		return ranged{}
	case g.Sample.Lo.OK() && g.Sample.Hi.OK():
		return ranged{g.Share.Point, g.Sample.Lo, g.Sample.Hi}
	default:
		return ranged{g.Share.Point, g.Share.Lo, g.Share.Hi}
	}
}

var stageFigures = [...]figure{
	{
		title: "n", w: 5, table: 4,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.reading(w.Finished, room, samples) },
		value: func(*model.StageWorkflow) ranged { return ranged{} },
	}, {
		title: "REQ/S", label: "requests", unit: "/s", w: 5, drop: 3,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.rate(w.PerSecond, room) },
		value: func(w *model.StageWorkflow) ranged { return exact(w.PerSecond) },
	}, {
		title: "OUT tok/s", w: 9, table: 2,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.rate(w.OutputPerSecond, room) },
		value: func(w *model.StageWorkflow) ranged { return exact(w.OutputPerSecond) },
	}, {
		title: "TTFT p50", w: 8, table: 3,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TTFT, room, p50) },
		value: func(w *model.StageWorkflow) ranged { return rangeOf(w.TTFT, p50) },
	}, {
		title: "TTFT p95", label: "TTFT p95", w: 8, drop: 1,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TTFT, room, p95) },
		value: func(w *model.StageWorkflow) ranged { return rangeOf(w.TTFT, p95) },
	}, {
		title: "TPOT p95", label: "TPOT p95", w: 8, drop: 2,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.TPOT, room, p95) },
		value: func(w *model.StageWorkflow) ranged { return rangeOf(w.TPOT, p95) },
	}, {
		title: "E2E p95", w: 8, table: 5,
		show:  func(w *model.StageWorkflow, room int, k Look) cell { return k.quantileOf(w.E2E, room, p95) },
		value: func(w *model.StageWorkflow) ranged { return rangeOf(w.E2E, p95) },
	}, {
		title: "GOODPUT", label: "goodput", w: 8, drop: 1, share: true,
		show:  func(w *model.StageWorkflow, _ int, k Look) cell { return k.goodputOf(w.Goodput, true) },
		value: func(w *model.StageWorkflow) ranged { return rangeOfShare(w.Goodput) },
	},
}

// against is how a figure changed since the stage before: ×1.5, -5 pt, with ~ where
// buckets leave open by how much, ≈ where the two may be the same, "" where one of
// them is not known.
func (c figure) against(now, before *model.StageWorkflow, look Look) string {
	a, b := c.value(before), c.value(now)
	wide := a.lo != a.hi || b.lo != b.hi
	switch {
	case !a.v.OK() || !b.v.OK():
		return ""
	case wide && a.lo.Value <= b.hi.Value && b.lo.Value <= a.hi.Value:
		return look.pick("≈", "~")
	case c.share:
		by := 100 * (b.v.Value - a.v.Value)
		sign, text := "", unit.Number(by)
		if by >= 0 {
			sign = "+"
		}
		if a.hi.Value-a.lo.Value > point || b.hi.Value-b.lo.Value > point {
			sign, text = "~"+sign, unit.Integer(math.Round(by))
		}
		return sign + text + " pt"
	case a.v.Value <= 0:
		return ""
	case a.loose() || b.loose():
		return "~" + look.pick("×", "x") + roughly(b.v.Value/a.v.Value)
	default:
		return look.pick("×", "x") + unit.Number(b.v.Value/a.v.Value)
	}
}

// point is the width up to which a share reads as one number.
const point = 0.01

// loose reports whether a number reads as a guess: its bracket is no narrow one.
func (r ranged) loose() bool { return r.hi.Value > r.lo.Value*narrowBracket }

// roughly is a factor between numbers that are known by their buckets: in two digits.
func roughly(v float64) string {
	if v >= 10 {
		return unit.Integer(math.Round(v))
	}
	return unit.Rate(v)
}

// stageRow is a row of the table: a stage, or how it differs from the one before.
type stageRow struct {
	i      int
	s      *model.StageView
	now    *model.StageWorkflow
	before *model.StageWorkflow // of a row of differences
	at     model.Instant
}

// stages is the stages of a workflow, each but the first with its change.
func (s *sheet) stages(f *model.Frame, w *model.WorkflowView) {
	var rows []stageRow
	longest := 0
	for i := range f.Stages {
		v := &f.Stages[i]
		now := staged(v, w.Name)
		if now == nil {
			continue
		}
		rows = append(rows, stageRow{i: i, s: v, now: now, at: f.At})
		longest = max(longest, cells(unit.Escape(v.Name, s.look.ASCII)))
		if i == 0 {
			continue
		}
		if before := staged(&f.Stages[i-1], w.Name); before != nil {
			rows = append(rows, stageRow{i: i, s: v, now: now, before: before, at: f.At})
		}
	}
	if len(rows) == 0 {
		return
	}
	s.rule("STAGES", say(1, themes.Muted, "below each: against the one before"))
	t := fit(stageColumns(longest, s.w), s.w-1)
	s.out = append(s.out, t.head(s.look))
	for _, r := range rows {
		l := s.look.line(s.w - 1).pad(1)
		if r.before == nil {
			l.put(themes.Event, string(stageLetter(r.i)))
		}
		s.out = append(s.out, t.fill(l.pad(indent), r, s.look))
	}
}

func stageColumns(longest, w int) []column[stageRow] {
	cols := []column[stageRow]{
		{title: "STAGE", min: leastName(longest, w, 10), max: nameWidth(longest), left: true, draw: func(r stageRow, w int, k Look) cell {
			if r.before != nil {
				return cell{themes.Muted, "against " + string(stageLetter(r.i-1))}
			}
			return cell{themes.Strong, k.foreign(r.s.Name, w)}
		}},
		{title: "FROM", min: 8, drop: 6, left: true, draw: func(r stageRow, _ int, _ Look) cell {
			if r.before != nil {
				return cell{}
			}
			return cell{themes.Muted, hms(r.s.From)}
		}},
		{title: "LASTED", min: 6, drop: 1, draw: func(r stageRow, _ int, k Look) cell {
			to := r.s.To
			if to.IsZero() {
				to = r.at
			}
			if r.before != nil {
				return cell{}
			}
			return cell{themes.Text, k.age(to.Sub(r.s.From))}
		}},
	}
	for _, c := range stageFigures {
		cols = append(cols, column[stageRow]{title: c.title, min: c.w, drop: c.table, draw: func(r stageRow, w int, k Look) cell {
			if r.before != nil {
				return cell{themes.Muted, c.against(r.now, r.before, k)}
			}
			return c.show(r.now, w, k)
		}})
	}
	return cols
}
