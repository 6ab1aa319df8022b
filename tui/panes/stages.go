package panes

import (
	"fmt"
	"slices"
	"strconv"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Stages lists the marked stages of a load test with the figures of one workflow, each
// with its change against the one before. Two are chosen and compared.
type Stages struct {
	wholeScreen

	At       StageKey // under the cursor; 0: the last one
	First    StageKey // chosen to be compared with another; 0: none
	Workflow string   // whose figures; "": those of the overview's
	Replayed bool     // nobody can mark: how to is another
}

// StageKey names a stage for as long as it is remembered: when it began.
type StageKey int64

// KeyOf is the key of a stage.
func KeyOf(s *model.StageView) StageKey { return StageKey(s.From.Mono) + 1 }

// String is the key as marks name a stage: two may have one name.
func (k StageKey) String() string { return strconv.FormatInt(int64(k), 10) }

// StageIndex is the place of a stage in a frame, -1 where it is not there at that time.
func StageIndex(f *model.Frame, key StageKey) int {
	return slices.IndexFunc(f.Stages, func(s model.StageView) bool { return KeyOf(&s) == key })
}

// Name names the pane.
func (Stages) Name() string { return "stages" }

// Under is the stage under the cursor, -1 without any.
func (p Stages) Under(f *model.Frame) int {
	if i := StageIndex(f, p.At); i >= 0 {
		return i
	}
	return len(f.Stages) - 1
}

// Moved is the list with its cursor on another stage.
func (p Stages) Moved(f *model.Frame, by int) Stages {
	if i := p.Under(f); i >= 0 {
		p.At = KeyOf(&f.Stages[min(max(i+by, 0), len(f.Stages)-1)])
	}
	return p
}

// Turned is the list with the figures of the next workflow, or the one before.
func (p Stages) Turned(f *model.Frame, by int, v View) Stages {
	all := stageFlows(f)
	if len(all) == 0 {
		return p
	}
	at := max(slices.Index(all, p.whose(f, v)), 0)
	p.Workflow = all[(at+by+len(all))%len(all)]
	return p
}

// whose figures are shown.
func (p Stages) whose(f *model.Frame, v View) string {
	all := stageFlows(f)
	if slices.Contains(all, p.Workflow) {
		return p.Workflow
	}
	if w := WorkflowUnder(f, v); w != nil && (slices.Contains(all, w.Name) || len(all) == 0) {
		return w.Name
	}
	if len(all) > 0 {
		return all[0]
	}
	return ""
}

// stageFlows are the workflows that were measured in any stage, by name.
func stageFlows(f *model.Frame) []string {
	var out []string
	for i := range f.Stages {
		for k := range f.Stages[i].Workflows {
			out = append(out, f.Stages[i].Workflows[k].Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Render draws the rows around the cursor.
func (p Stages) Render(f *model.Frame, size layout.Size, look Look) string {
	s := &sheet{w: size.W, look: look}
	if len(f.Stages) == 0 {
		s.rule("STAGES")
		s.noStages(p.Replayed)
		return lines(size.H, s.out...)
	}
	flow := p.whose(f, look.View)
	remarks := []part{say(2, themes.Muted, signs)}
	if all := stageFlows(f); len(all) > 1 {
		remarks = append(remarks, say(1, themes.Muted, fmt.Sprintf("workflow %d of %d", slices.Index(all, flow)+1, len(all))))
	}
	s.out = append(s.out, look.rule(size.W, []seg{{themes.Strong, "STAGES"}, {themes.Text, " of " + look.foreign(flow, 30)}}, remarks...))
	at := s.stageList(f, flow, p)
	s.text(1, themes.Muted, p.hint(f, len(stageFlows(f)) > 1, look))
	return scrolled(s.out, toCursor(s.out, at, size), size, look)
}

// stageList writes the rows and returns the last line of the one under the cursor.
func (s *sheet) stageList(f *model.Frame, flow string, p Stages) (at int) {
	rows := allStageRows(f, flow)
	longest := 0
	for i := range f.Stages {
		longest = max(longest, cells(unit.Escape(f.Stages[i].Name, s.look.ASCII)))
	}
	t := fit(stageColumns(longest, s.w), s.w-1)
	s.out = append(s.out, t.head(s.look))
	under := p.Under(f)
	for _, r := range rows {
		l := s.look.line(s.w)
		if r.diff == nil {
			if r.i == under {
				l.put(themes.Cursor, s.look.pick("▸", ">"))
			}
			l.pad(1).put(themes.Event, string(stageLetter(r.i)))
			if KeyOf(r.s) == p.First {
				l.put(themes.Cursor, "*")
			}
		}
		s.out = append(s.out, t.fill(l.pad(indent), r, s.look))
		if r.i == under {
			at = len(s.out) - 1
		}
	}
	return at
}

// allStageRows are all stages, also those in which the workflow was not measured.
func allStageRows(f *model.Frame, flow string) []stageRow {
	var rows []stageRow
	for i := range f.Stages {
		v := &f.Stages[i]
		w := staged(v, flow)
		rows = append(rows, stageRow{i: i, s: v, flow: w, at: f.At})
		if i > 0 && w != nil && staged(&f.Stages[i-1], flow) != nil {
			rows = append(rows, stageRow{i: i, s: v, flow: w, diff: against(f, i-1, i).Of(flow), at: f.At})
		}
	}
	return rows
}

// hint says what can be done here.
func (p Stages) hint(f *model.Frame, several bool, look Look) string {
	out := "enter chooses the first of two, and then the second"
	if i := StageIndex(f, p.First); i >= 0 {
		out = "enter compares with " + string(stageLetter(i)) + " " + unit.Escape(f.Stages[i].Name, look.ASCII)
	}
	if len(f.Stages) > 1 {
		out += "; c compares with the one before"
	}
	if several {
		out += "; " + look.pick("← →", "left, right") + " another workflow"
	}
	return out
}

// noStages says how to get a stage.
func (s *sheet) noStages(replayed bool) {
	s.text(indent, themes.Text, "no stage is marked")
	s.out = append(s.out, "")
	if replayed {
		s.text(indent, themes.Muted, "stages are marked while they run: m on the live screen. Two recordings are compared by slotop compare A.tape B.tape.")
		return
	}
	s.text(indent, themes.Muted, "m marks one where the load changes: give it a name, such as 20 users. From there on its figures are counted by themselves, until the next mark.")
	s.text(indent, themes.Muted, "Then c lists the stages, and compares two: what differs by more than noise is marked.")
}
