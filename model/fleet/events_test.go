package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"slotop/model"
)

// happened is each event in words.
func happened(events []model.Event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, fmt.Sprintf("%v %s %s %s", e.At.Mono, e.Kind, e.Workflow, e.Target))
	}
	return out
}

// TestEvents is each kind of event: what the frame lists, and what the workflow's
// charts mark.
func TestEvents(t *testing.T) {
	page := func(n float64) []model.Sample {
		return []model.Sample{counter(model.Finished, n), gauge(model.Running, 1), counter(model.OutputTokens, 10*n)}
	}
	tests := []struct {
		name   string
		do     func(b *bench)
		listed []string
		marked []string // where it differs
	}{
		{"nothing", func(b *bench) { b.round(page(1)...) }, []string{}, nil},
		{"a restart is of what the target serves", func(b *bench) {
			b.round(page(100)...)
			b.round(page(3)...)
		}, []string{"1s restart chat a"}, nil},
		{"a mark", func(b *bench) {
			b.round(page(1)...)
			b.f.Step(model.Input{At: b.at, Mark: "64 users"})
		}, []string{"1s stage  64 users"}, nil},
		{"an incident that a target tells of, and its end", func(b *bench) {
			for _, notes := range [][]string{nil, {model.IncidentNote + "S1"}, {model.IncidentNote + "S1"}, nil} {
				b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Samples: page(1), About: &model.About{Engine: "test", Notes: notes}}})
				b.pass(time.Second)
			}
		}, []string{"1s incident  S1", "3s recovery  S1"}, nil},
		{"a deployment stands at its own time", func(b *bench) {
			b.round(page(1)...)
			b.pass(time.Minute)
			b.f.Step(model.Input{At: b.at, Mark: "late"})
			b.f.Step(model.Input{At: b.at, Note: &model.Annotation{At: noon.Add(30 * time.Second), Text: "chat v42"}})
		}, []string{"30s deploy  chat v42", "1m1s stage  late"}, nil},
		{"one of before the first poll too, and of before any workflow", func(b *bench) {
			b.f.Step(model.Input{At: b.at, Note: &model.Annotation{At: noon.Add(-time.Hour), Text: "v41"}})
			b.round(page(1)...)
		}, []string{"-1h0m0s deploy  v41"}, nil},
		{"told twice it is one", func(b *bench) {
			b.round(page(1)...)
			for range 2 {
				b.f.Step(model.Input{At: b.at, Note: &model.Annotation{At: noon, Text: "v42"}})
				b.pass(time.Second)
			}
			b.f.Step(model.Input{At: b.at, Note: &model.Annotation{At: noon, Text: "v43"}})
		}, []string{"0s deploy  v42", "0s deploy  v43"}, nil},
		{"time jumps: the order stays that of the clock that never steps", func(b *bench) {
			b.round(page(100)...)
			b.at.Wall = b.at.Wall.Add(-time.Hour)
			b.round(page(3)...)
			b.pass(5 * time.Hour)
			b.round(page(1)...)
		}, []string{"1s restart chat a", "5h0m2s restart chat a"}, nil},
		{"data stops: silence is no event", func(b *bench) {
			b.round(page(1)...)
			for range 60 {
				b.fail("a", model.Refused)
				b.tick()
				b.pass(time.Second)
			}
		}, []string{}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, time.Second, "a")
			tc.do(b)
			f := b.tick()
			if got := happened(f.Events); !slices.Equal(got, tc.listed) || f.Events == nil || f.EventsDropped != 0 {
				t.Errorf("listed %q, %d dropped; want %q", got, f.EventsDropped, tc.listed)
			}
			if got := happened(workflowNamed(t, f, "chat").History.Events); !slices.Equal(got, tc.listed) {
				t.Errorf("marked %q", got)
			}
		})
	}
}

// TestBreachEvents: a breach begins with the condition, and ends when all is known to
// be kept. Silence, a stall and too few requests end none.
func TestBreachEvents(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	good, n := 0.0, 0.0
	poll := func(isGood bool, rounds int) (f *model.Frame) {
		for range rounds {
			if n += 5; isGood {
				good += 5
			}
			f = b.round(
				histogram(model.TTFT, []float64{.5, 1}, []float64{good, n, n}, n/2), counter(model.Finished, n),
				gauge(model.Running, 1), counter(model.OutputTokens, 10*n),
			)
		}
		return f
	}
	var first model.Instant
	poll(true, 100)
	for i := range 100 {
		if f := poll(false, 1); workflowNamed(t, f, "chat").Condition == model.IsMissed {
			first = f.At
			break
		} else if i == 99 {
			t.Fatal("never missed")
		}
	}
	at := func(kind string) string { return fmt.Sprintf("%v %s chat ", first.Mono, kind) }
	expect := func(what string, f *model.Frame, want ...string) {
		t.Helper()
		if got := happened(f.Events); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		if got := happened(workflowNamed(t, f, "chat").History.Events); !slices.Equal(got, want) {
			t.Errorf("%s, on the chart: %q, want %q", what, got, want)
		}
	}
	expect("at once", b.tick(), at("breach"))
	expect("while it lasts", poll(false, 100), at("breach"))
	for range 60 {
		b.fail("a", model.Refused)
		b.tick()
		b.pass(time.Second)
	}
	expect("in silence", b.tick(), at("breach"))
	expect("after it", poll(false, 30), at("breach"))
	f := poll(true, 100)
	if len(f.Events) != 2 || f.Events[1].Kind != model.EventCleared {
		t.Fatalf("it ended: %q", happened(f.Events))
	}
	if f = poll(false, 100); len(f.Events) != 3 || f.Events[2].Kind != model.EventBreach {
		t.Errorf("the second breach: %q", happened(f.Events))
	}
}

// The list is bounded, what is dropped is counted, and what a frame holds of it stays
// as it is, also where something is told late.
func TestEventsAreBoundedAndShared(t *testing.T) {
	b := newBench(t, time.Second, "a")
	type kept struct {
		got []model.Event
		was string
	}
	var frames []kept
	var f *model.Frame
	told := 0
	for i := range 3 * maxListed {
		when := b.at.Wall
		if i%3 == 0 {
			when = when.Add(-time.Duration(i%50) * 10 * time.Second)
		}
		b.f.Step(model.Input{At: b.at, Note: &model.Annotation{At: when, Text: fmt.Sprint(i) + strings.Repeat("é", i%400)}})
		told++
		f = b.round(gauge(model.Running, 1))
		w := workflowNamed(t, f, "chat").History.Events
		frames = append(frames, kept{f.Events, fmt.Sprint(f.Events)}, kept{w, fmt.Sprint(w)})
		if !slices.IsSortedFunc(f.Events, func(a, b model.Event) int { return cmp.Compare(a.At.Mono, b.At.Mono) }) {
			t.Fatalf("out of order: %q", happened(f.Events))
		}
	}
	if len(f.Events) != maxListed || len(f.Events)+f.EventsDropped != told {
		t.Errorf("%d listed and %d dropped of %d", len(f.Events), f.EventsDropped, told)
	}
	if n := len(workflowNamed(t, f, "chat").History.Events); n != maxEvents {
		t.Errorf("%d marks", n)
	}
	for i, f := range frames {
		if fmt.Sprint(f.got) != f.was {
			t.Fatalf("list %d was written to", i)
		}
	}
	for _, e := range f.Events {
		if len(string(e.Target)) > maxNote || !utf8.ValidString(string(e.Target)) {
			t.Fatalf("text %q", e.Target)
		}
	}
}

// In the simulator's surge the breach is told with the frame in which the condition is
// first missed, and assumed objectives count like others.
func TestBreachOfASurge(t *testing.T) {
	missed := map[string]model.Instant{}
	var last *model.Frame
	playDemo(t, "demo:S1?seed=7&at=60s", time.Second, time.Minute, 3*time.Minute, func(f *model.Frame) {
		last = f
		for _, w := range f.Workflows {
			_, before := missed[w.Name]
			if w.Condition == model.IsMissed && !before {
				missed[w.Name] = f.At
				if n := len(f.Events); n == 0 || f.Events[n-1].Kind != model.EventBreach || f.Events[n-1].At != f.At {
					t.Errorf("%s is missed at %v, and the events are %q", w.Name, f.At.Mono, happened(f.Events))
				}
			}
		}
	})
	if len(missed) == 0 {
		t.Fatal("nothing was missed")
	}
	for _, e := range last.Events {
		if e.Kind == model.EventBreach && missed[string(e.Workflow)] != e.At {
			t.Errorf("%s is told of at %v, missed first at %v", e.Workflow, e.At.Mono, missed[string(e.Workflow)].Mono)
		}
	}
}
