package panes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// queues is carriers with these requests waiting.
func queues(waiting ...float64) []carrier {
	out := make([]carrier, len(waiting))
	for i, n := range waiting {
		out[i] = carrier{name: fmt.Sprintf("e%d", i), waiting: model.Of(n)}
	}
	return out
}

func TestImbalances(t *testing.T) {
	bracket := func(v, lo, hi float64) *model.Dist {
		return &model.Dist{N: 400, Basis: model.OverWindow, P95: model.Estimate{Value: model.Of(v), Lo: model.Of(lo), Hi: model.Of(hi), Enough: true}}
	}
	few := bracket(3.4, 2.5, 5)
	few.P95.Enough = false
	full := func(name string, running, kv float64, ttft *model.Dist) carrier {
		return carrier{name: name, running: model.Of(running), kv: model.Of(kv), ttft: ttft}
	}
	unread := queues(104, 2)
	unread[1].waiting = model.Reading{}
	tests := []struct {
		what string
		all  []carrier
		want string // "": even
	}{
		{"one holds the queue", queues(104, 2), "e0 holds 104 of 106 waiting, 1.96× its share"},
		{"both hold it", queues(104, 90), ""},
		{"one of two is not read", unread, ""},
		{"a queue too short to speak of", queues(5, 0), ""},
		{"one of eight holds more", queues(60, 8, 9, 11, 7, 10, 8, 9), "e0 holds 60 of 122 waiting, 3.93× its share"},
		{"the unluckiest of many by chance", queues(append([]float64{16}, tens(99)...)...), ""},
		{"cache of one fuller", []carrier{full("a", 60, 0.98, nil), full("b", 58, 0.41, nil), full("c", 61, 0.39, nil)}, "a KV cache 98 %, the others 40 %"},
		{"caches of a few sequences differ by chance", []carrier{full("a", 3, 0.6, nil), full("b", 2, 0.3, nil), full("c", 3, 0.3, nil)}, ""},
		{"first tokens of one slower", []carrier{full("a", 20, 0.4, bracket(3.4, 2.5, 5)), full("b", 21, 0.41, bracket(0.4, 0.25, 0.5)), full("c", 19, 0.39, bracket(0.4, 0.25, 0.5))}, "a TTFT p95 ~3.4 s, the middle one ~400 ms"},
		{"brackets that touch", []carrier{full("a", 20, 0.4, bracket(0.7, 0.5, 1)), full("b", 21, 0.41, bracket(0.4, 0.25, 0.5))}, ""},
		{"too few requests for a percentile", []carrier{full("a", 20, 0.4, few), full("b", 21, 0.41, bracket(0.4, 0.25, 0.5))}, ""},
		{"alone", queues(400), ""},
		{"nobody", nil, ""},
	}
	for _, tc := range tests {
		got := ""
		for _, u := range imbalances(tc.all, Look{}) {
			got += u.name + " " + strings.Join(u.facts, "; ")
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.what, got, tc.want)
		}
	}
}

func tens(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(8 + i%5)
	}
	return out
}

// TestChanceIsNotImbalance deals requests out at random, as a router does that looks at
// nothing: hardly ever is anybody said to be uneven.
func TestChanceIsNotImbalance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, n := range []int{2, 4, 8, 64, 500} {
		said := 0
		const rounds = 400
		for range rounds {
			all := make([]float64, n)
			for range n * 20 {
				all[r.IntN(n)]++
			}
			if len(imbalances(queues(all...), Look{})) > 0 {
				said++
			}
		}
		if said > rounds/50 {
			t.Errorf("of %d even carriers one was called uneven in %d of %d rounds", n, said, rounds)
		}
	}
}

// TestImbalanceOfAFleet: targets are compared with those that serve the same, those
// that answer only, and engines with those beside them.
func TestImbalanceOfAFleet(t *testing.T) {
	f := tuitest.Calm()
	f.Targets[0].Waiting, f.Targets[1].Waiting = model.Of(104), model.Of(2)
	if got, want := imbalance(f, Look{}), "uneven: vllm-0:8000 holds 104 of 106 waiting, 1.96× its share"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := imbalance(f, Look{ASCII: true}); !strings.Contains(got, "1.96x") {
		t.Errorf("in ASCII: %q", got)
	}
	f.Targets[1].Models = []string{"another"}
	if got := imbalance(f, Look{}); got != "" {
		t.Errorf("two pools are compared: %q", got)
	}
	f.Targets[1].Models, f.Targets[1].State = f.Targets[0].Models, model.Down
	if got := imbalance(f, Look{}); got != "" {
		t.Errorf("compared with one that is down: %q", got)
	}
	f.Targets[0].Waiting = model.Of(64)
	f.Targets[0].Engines = ranks(60, 2, 1, 1)
	if got, want := imbalance(f, Look{}), "uneven: vllm-0:8000 engine 0 holds 60 of 64 waiting, 3.75× its share"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func ranks(waiting ...float64) []model.EngineView {
	var out []model.EngineView
	for i, n := range waiting {
		out = append(out, model.EngineView{ID: fmt.Sprint(i), Running: model.Of(20 + float64(i)), Waiting: model.Of(n), KVCacheUsage: model.Of(0.5)})
	}
	return out
}

// TestEnginesInside: expanded, each engine is a row under its target, the fullest first,
// and the cursor's target stays on screen with them.
func TestEnginesInside(t *testing.T) {
	f := tuitest.Fleet(2, 500)
	for i := range f.Targets {
		f.Targets[i].Engines = ranks(1, 30, 0, 3)
	}
	look := Look{View: View{Inside: true, Sort: ByName, Target: f.Targets[250].ID}}
	got := Fleet{}.Render(f, layout.Size{W: 120, H: 24}, look)
	at := strings.Index(got, "vllm-250.pool")
	if at < 0 {
		t.Fatalf("the target at the cursor is not shown:\n%s", got)
	}
	order := []string{"├ engine 1", "├ engine 3", "├ engine 0", "└ engine 2", "vllm-251.pool"}
	for _, w := range order {
		next := strings.Index(got[at:], w)
		if next < 0 {
			t.Fatalf("no %q after the rows before it:\n%s", w, got)
		}
		at += next
	}
	closed := Fleet{}.Render(f, layout.Size{W: 120, H: 24}, Look{View: View{Sort: ByName}})
	if strings.Contains(closed, "engine 1") && strings.Contains(closed, "├") {
		t.Errorf("engines are shown unasked:\n%s", closed)
	}
	f.Targets[0].Engines = ranks(make([]float64, 40)...)
	look.View.Target = f.Targets[0].ID
	if got := (Fleet{}).Render(f, layout.Size{W: 120, H: 40}, look); !strings.Contains(got, "24 engines more: enter") {
		t.Errorf("engines that are not shown are not counted:\n%s", got)
	}
}

func BenchmarkFleetOf500(b *testing.B) {
	f := tuitest.Fleet(40, 500)
	for i := range f.Targets {
		f.Targets[i].Engines = ranks(1, 30, 0, 3, 4, 5, 6, 7)
	}
	b.ReportAllocs()
	for b.Loop() {
		Fleet{}.Render(f, layout.Size{W: 120, H: 38}, Look{View: View{Inside: true}})
	}
}
