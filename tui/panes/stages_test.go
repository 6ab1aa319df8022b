package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// twoFlows is a load test with a second workflow that came late, and as many stages as
// are remembered.
func twoFlows() *model.Frame {
	f := tuitest.LoadTest()
	late := f.Stages[1].Workflows[0]
	late.Name = "世界 🚀 late\x1b[31m"
	f.Stages[1].Workflows = append(f.Stages[1].Workflows, late)
	f.Stages[2].Workflows = append(f.Stages[2].Workflows, late)
	return f
}

func manyStages() *model.Frame {
	f := tuitest.LoadTest()
	for i := range 60 {
		s := f.Stages[0]
		s.Name = fmt.Sprintf("段階 %d %s", i, strings.Repeat("long ", 12))
		s.From = model.Instant{Wall: s.From.Wall.Add(time.Duration(i-100) * time.Second), Mono: time.Duration(i) * time.Millisecond}
		f.Stages = append([]model.StageView{s}, f.Stages...)
	}
	return f
}

// TestComparisonGoldens draws two stages, and one that is not there, at every size.
func TestComparisonGoldens(t *testing.T) {
	for name, f := range map[string]*model.Frame{"loadtest": tuitest.LoadTest(), "twoflows": twoFlows()} {
		drawGolden(t, Comparison{A: KeyOf(&f.Stages[0]), B: KeyOf(&f.Stages[2])}, "comparison", tuitest.Named{Name: name, Frame: f})
	}
	drawGolden(t, Comparison{A: 1, B: 2}, "comparison", tuitest.Named{Name: "gone", Frame: tuitest.LoadTest()})
	drawGolden(t, Stages{}, "stages", tuitest.Named{Name: "twoflows", Frame: twoFlows()})
	drawGolden(t, Stages{}, "stages", tuitest.Named{Name: "many", Frame: manyStages()})
}

// TestStagesFit: no line wider and no page taller, at any size, wherever the cursor is.
func TestStagesFit(t *testing.T) {
	for _, f := range []*model.Frame{tuitest.LoadTest(), twoFlows(), manyStages(), tuitest.Empty(), tuitest.Hostile()} {
		for w := 1; w < 140; w += 7 {
			for h := range 14 {
				p := Stages{}
				if n := len(f.Stages); n > 0 {
					p.At, p.First = KeyOf(&f.Stages[(w*h)%n]), KeyOf(&f.Stages[0])
				}
				tuitest.Fits(t, fmt.Sprintf("stages at %d×%d", w, h), p.Render(f, layout.Size{W: w, H: h}, Look{}), w, h)
				c := Comparison{Scroll: w % 5}
				if n := len(f.Stages); n > 1 {
					c.A, c.B = KeyOf(&f.Stages[0]), KeyOf(&f.Stages[n-1])
				}
				tuitest.Fits(t, fmt.Sprintf("comparison at %d×%d", w, h), c.Render(f, layout.Size{W: w, H: h}, Look{ASCII: h%2 == 0}), w, h)
			}
		}
	}
}

// TestStagesList: all stages are there, also those without the workflow, and all
// workflows are reached.
func TestStagesList(t *testing.T) {
	f := twoFlows()
	p := Stages{Workflow: "bench"}
	has(t, ansi.Strip(p.Render(f, layout.Size{W: 100, H: 20}, Look{})), "STAGES of bench", "workflow 1 of 2", "A warm-up", "B 10 users", "▸C stage 3", "against A")
	p = p.Turned(f, 1, View{})
	got := ansi.Strip(p.Render(f, layout.Size{W: 100, H: 20}, Look{}))
	has(t, got, "STAGES of 世界 🚀 late␛[31m", "workflow 2 of 2", "A warm-up", "against B")
	hasNot(t, got, "against A")
	if p.Turned(f, 1, View{}).Workflow != "bench" || p.Turned(f, -1, View{}).Workflow != "bench" {
		t.Error("workflows do not go round")
	}
	if i := p.Moved(f, -1).Under(f); i != 1 {
		t.Errorf("up leads to %d", i)
	}
	if i := p.Moved(f, -9).Moved(f, 9).Under(f); i != 2 {
		t.Errorf("down leads to %d", i)
	}
	many := manyStages()
	p = Stages{}.Moved(many, -40)
	has(t, ansi.Strip(p.Render(many, layout.Size{W: 80, H: 12}, Look{})), "▸")
	has(t, Stages{}.Render(tuitest.Calm(), layout.Size{W: 80, H: 20}, Look{}), "no stage is marked", "m marks one")
	has(t, Stages{Replayed: true}.Render(tuitest.Calm(), layout.Size{W: 80, H: 20}, Look{}), "slotop compare A.tape B.tape")
}

// TestSideNames: notes of a comparison speak of the stages' letters.
func TestSideNames(t *testing.T) {
	for note, want := range map[string]string{
		"A lasted 2 min and B 10 min: the shorter one": "C lasted 2 min and F 10 min: the shorter one", "in B something was not read": "in F something was not read",
		"promised were different things: A TTFT 1 s; B TPOT": "promised were different things: C TTFT 1 s; F TPOT", "not known of B": "not known of F", "BA Ab": "BA Ab",
	} {
		if got := sideNames(note, 2, 5); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
