package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

func (b *bench) mark(name string) { b.f.Step(model.Input{At: b.at, Mark: name}) }

// A mark begins new figures without touching anything else, for counters and for
// reports alike. A closed stage keeps what it was.
func TestStages(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	page := func(n, tokens float64) []model.Sample {
		return []model.Sample{
			histogram(model.TTFT, []float64{0.5, 1}, []float64{n / 2, n, n}, n), counter(model.Finished, n), counter(model.OutputTokens, tokens),
		}
	}
	b.round(page(1000, 50000)...)
	if f := b.round(page(1100, 51000)...); len(f.Stages) != 0 {
		t.Fatalf("stages without a mark: %+v", f.Stages)
	}
	b.mark("warm")
	b.round(page(1300, 53000)...)
	f := b.round(page(1400, 54000)...)
	if len(f.Stages) != 1 || f.Stages[0].Name != "warm" || len(f.Stages[0].Workflows) != 1 {
		t.Fatalf("stages %+v", f.Stages)
	}
	s := f.Stages[0].Workflows[0]
	near(t, "finished", s.Finished, 300)
	near(t, "finished a second", s.PerSecond, 300/20.0) // the page before the mark was read 20 s before the newest
	near(t, "tokens a second", s.OutputPerSecond, 150)
	if s.TTFT.N != 300 || s.Name != "chat" {
		t.Errorf("%s: %+v", s.Name, s.TTFT)
	}
	b.mark("load")
	f = b.round(page(1450, 54100)...)
	if len(f.Stages) != 2 || f.Stages[0].To.IsZero() || !f.Stages[1].To.IsZero() {
		t.Fatalf("stages %+v", f.Stages)
	}
	near(t, "the first stage", f.Stages[0].Workflows[0].Finished, 300)
	near(t, "the second", f.Stages[1].Workflows[0].Finished, 50)
	if h := f.Workflows[0].History; len(h.Events) != 2 || h.Events[1].Kind != "stage" || h.Events[1].Target != "load" {
		t.Errorf("marks %+v", h.Events)
	}
}

// A server that is first read after the mark had counted before it.
func TestStageOfALateTarget(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	b.round(counter(model.Finished, 10))
	b.mark("one")
	b.poll("b", counter(model.Finished, 5000))
	b.round(counter(model.Finished, 30))
	b.poll("b", counter(model.Finished, 5007))
	f := b.round(counter(model.Finished, 40))
	near(t, "finished", f.Stages[0].Workflows[0].Finished, 37)
}

// Servers that come or go while a stage is open count for as long as they were watched.
func TestStageOfServersThatComeAndGo(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	page := func(name string, n float64) {
		b.poll(name, counter(model.Finished, n), histogram(model.TTFT, []float64{1}, []float64{n, n}, n), gauge(model.Waiting, 3))
	}
	rounds := func(pages ...func()) (f *model.Frame) {
		for _, p := range pages {
			p()
		}
		f = b.tick()
		b.pass(10 * time.Second)
		return f
	}
	rounds(func() { page("a", 100) })
	b.mark("grown")
	rounds(func() { page("a", 110) })
	b.join("b")
	rounds(func() { page("a", 120) }, func() { page("b", 7000) })
	f := rounds(func() { page("a", 130) }, func() { page("b", 7005) })
	s := f.Stages[0].Workflows[0]
	near(t, "finished on two", s.Finished, 30+5)
	b.leaves("b")
	f = rounds(func() { page("a", 140) })
	s = f.Stages[0].Workflows[0]
	near(t, "finished after one left", s.Finished, 40+5)
	near(t, "a second", s.PerSecond, 45/40.0)
	if s.TTFT.N != 45 {
		t.Errorf("TTFT of %v", s.TTFT.N)
	}
	b.mark("next")
	f = rounds(func() { page("a", 150) })
	near(t, "finished in the next", f.Stages[1].Workflows[0].Finished, 10)
}

func TestStagesAreBounded(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 3 * maxStages {
		b.mark(fmt.Sprint("stage ", i))
		b.round(counter(model.Finished, float64(i)))
	}
	if n := len(b.tick().Stages); n != maxStages+1 {
		t.Errorf("%d stages", n)
	}
}

func TestStageOfReports(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	for i := range 10 {
		b.report(b.done(fmt.Sprint("cold", i), 40, 41, 10))
		b.tick()
		b.pass(time.Second)
	}
	b.mark("warm")
	b.pass(time.Second)
	for i := range 30 {
		b.report(b.done(fmt.Sprint("warm", i), 0.3, 1, 10))
		b.tick()
		b.pass(time.Second)
	}
	f := b.tick()
	s := f.Stages[0].Workflows[0]
	near(t, "p95 of the stage", s.TTFT.P95.Value, 0.3)
	near(t, "goodput of the stage", s.Goodput.Share.Lo, 1)
	if s.TTFT.N != 30 {
		t.Errorf("n %v", s.TTFT.N)
	}
	near(t, "p95 of the window", f.Workflows[0].TTFT.P95.Value, 40)
}

// A long name is cut between characters.
func TestStageName(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	b.round(counter(model.Finished, 1))
	b.f.Step(model.Input{At: b.at, Mark: strings.Repeat("世", 30)})
	if got, want := b.tick().Stages[0].Name, strings.Repeat("世", maxStageName/3); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
