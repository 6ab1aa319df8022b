package model

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestReadingJSON(t *testing.T) {
	for _, tt := range []struct {
		r    Reading
		want string
	}{
		{Reading{}, "null"},
		{Of(0), "0"},
		{Of(0.5), "0.5"},
		{Of(1e21), "1e+21"},
		{Of(math.NaN()), "null"},
		{Of(math.Inf(1)), "null"},
		{Reading{Value: 3, State: Stale}, "null"},
		{Missing(Unsupported), "null"},
	} {
		got, err := json.Marshal(tt.r)
		if err != nil || string(got) != tt.want {
			t.Errorf("%+v: %s, %v; want %s", tt.r, got, err, tt.want)
		}
		var back Reading
		if err := json.Unmarshal(got, &back); err != nil || back.OK() != tt.r.OK() || back.OK() && back.Value != tt.r.Value {
			t.Errorf("%s read back as %+v, %v", got, back, err)
		}
	}
	if err := new(Reading).UnmarshalJSON([]byte(`"x"`)); err == nil {
		t.Error("a string is a reading")
	}
}

func TestReadingSum(t *testing.T) {
	if s := Of(1).Plus(Of(2)); s.Value != 3 || !s.OK() {
		t.Errorf("1 + 2 = %+v", s)
	}
	for _, s := range []Reading{Of(1).Plus(Reading{}), Missing(NoTraffic).Plus(Of(1))} {
		if s.OK() {
			t.Errorf("a total over something unknown: %+v", s)
		}
	}
}

func TestAbsentIsNullInJSON(t *testing.T) {
	for name, v := range map[string]any{
		"estimate": Estimate{}, "share": Share{}, "instant": Instant{}, "text": Text(""), "state": State(""),
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != "null" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	open, err := json.Marshal(Estimate{Lo: Of(10), Open: true})
	if want := `{"value":null,"lo":10,"hi":null,"open":true,"enough":false}`; err != nil || string(open) != want {
		t.Errorf("open estimate: %s, %v", open, err)
	}
}

func TestInstantUsesTheMonotonicClock(t *testing.T) {
	zone := time.FixedZone("", 3600)
	a := Instant{Wall: time.Date(2026, 1, 1, 1, 0, 0, 0, zone), Mono: time.Second}
	b := a.Add(time.Minute)
	b.Wall = b.Wall.Add(-2 * time.Hour) // the clock was set back
	if d := b.Sub(a); d != time.Minute {
		t.Errorf("difference %v", d)
	}
	if got, _ := json.Marshal(a); string(got) != `"2026-01-01T00:00:00Z"` {
		t.Errorf("json %s", got)
	}
}

func TestLabels(t *testing.T) {
	a := Labels("model", "m", "engine", "0", "reason", "")
	b := Labels("engine", "0", "model", "m")
	if a != b {
		t.Errorf("%v and %v differ", a, b)
	}
	if a.Get("model") != "m" || a.Get("engine") != "0" || a.Get("reason") != "" || a.Get("mode") != "" {
		t.Errorf("labels %v", a)
	}
	if got := a.String(); got != "{engine=0,model=m}" {
		t.Errorf("String %q", got)
	}
	if (LabelSet{}) != Labels() || (LabelSet{}).String() != "{}" {
		t.Error("the zero set is not the empty one")
	}
	// Bytes that separate inside the set cannot come from a label.
	if hostile := Labels("model", "m\xff\xfeengine\xff1"); hostile.Get("engine") != "" || hostile == Labels("model", "m", "engine", "1") {
		t.Errorf("a value forged a label: %v", hostile)
	}
	for range a.All {
		break // stopping early must be fine
	}
	defer func() {
		if recover() == nil {
			t.Error("an odd number of arguments was taken")
		}
	}()
	Labels(strings.Split("model,m,engine", ",")...)
}

func TestSignalsAreUnique(t *testing.T) {
	seen := map[Signal]bool{}
	titles := map[string]Signal{}
	for _, s := range Signals {
		if seen[s.Signal] || s.Title == "" {
			t.Errorf("signal %q, title %q", s.Signal, s.Title)
		}
		if other, twice := titles[s.Title]; twice {
			t.Errorf("%s and %s are both called %q", other, s.Signal, s.Title)
		}
		seen[s.Signal], titles[s.Title] = true, s.Signal
	}
}

func TestWords(t *testing.T) {
	for _, p := range []Presence{Unknown, Present, Stale, Unsupported, NoTraffic} {
		if p.String() == "" {
			t.Errorf("presence %d has no word", p)
		}
	}
	for _, k := range []Kind{Gauge, Counter, Histogram} {
		if k.String() == "" {
			t.Errorf("kind %d has no word", k)
		}
	}
	words := map[string]Condition{}
	for i, c := range Conditions {
		if c.Rank() != i {
			t.Errorf("%s ranks %d", c, c.Rank())
		}
		if other, taken := words[c.Word()]; taken {
			t.Errorf("%s and %s are both %q", c, other, c.Word())
		}
		words[c.Word()] = c
	}
	for _, w := range []struct{ got, want string }{
		{Condition("").Word(), "starting"}, {IsMissed.Word(), "BREACHED"}, {IsAtRisk.Word(), "at risk"}, {IsStale.Word(), "no data"},
		{Missed.Word(), "missed"}, {NoData.Word(), "no traffic"}, {CannotCompute.Word(), "cannot compute"},
	} {
		if w.got != w.want {
			t.Errorf("%q, want %q", w.got, w.want)
		}
	}
	v := &WorkflowView{TTFT: &Dist{N: 1}, FirstAnswer: &Dist{N: 2}, TPOT: &Dist{N: 3}, E2E: &Dist{N: 4}, Queue: &Dist{N: 5}}
	for i, m := range Metrics {
		if d := v.Latency(m); d == nil || d.N != float64(i+1) {
			t.Errorf("%s is %+v", m, d)
		}
	}
	if !(Down.Rank() > Stalled.Rank() && Stalled.Rank() > Up.Rank() && Up.Rank() > Idle.Rank()) {
		t.Error("states rank in another order")
	}
	if Exact.String() == Coarse.String() {
		t.Error("both fidelities have one word")
	}
}

func TestBuckets(t *testing.T) {
	if n := (&Buckets{}).N(); n != 0 {
		t.Errorf("n of nothing is %v", n)
	}
	if n := (&Buckets{Bounds: []float64{1}, Counts: []float64{2, 5}}).N(); n != 5 {
		t.Errorf("n = %v", n)
	}
}

func TestTick(t *testing.T) {
	if !(Input{}).IsTick() || (Input{Batch: &Batch{}}).IsTick() || (Input{Window: time.Second}).IsTick() {
		t.Error("a tick is an input with neither batch nor window")
	}
}
