package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// OC-13: fire above 1000 ms for two samples, clear below 900 ms for three.
var flapping = Rule{
	Name: "ttft_p95_ms", Severity: model.Page, Limit: 1000, Clear: 900,
	For: 10 * time.Second, Hold: 20 * time.Second,
}

type flappingSample struct {
	T   int     `json:"t"`
	P95 float64 `json:"ttft_p95_ms"`
}

func flappingSamples(t *testing.T) []flappingSample {
	t.Helper()
	var samples []flappingSample
	if err := json.Unmarshal(shared.File(t, "cases/files/flapping.json"), &samples); err != nil {
		t.Fatal(err)
	}
	if len(samples) != 13 {
		t.Fatalf("%d samples, want 13", len(samples))
	}
	return samples
}

// OC-13: a value that dances around the threshold fires once and resolves once.
func TestFlappingFiresOnceAndResolvesOnce(t *testing.T) {
	var got []string
	plain, above := 0, false
	b := NewBook()
	var s Status
	for _, x := range flappingSamples(t) {
		at := after(time.Duration(x.T) * time.Second)
		was := s.State
		s = flapping.Step(s, model.Of(x.P95), at)
		if s.State != was && (s.State == model.AlertFiring || s.State == model.AlertResolved) {
			got = append(got, fmt.Sprintf("%s at %s", s.State, at.Mono))
		}
		if (x.P95 > 1000) != above {
			plain, above = plain+1, !above
		}
		b.Observe(Observation{Rule: flapping, Workflow: "chat", Compare: true, Value: model.Of(x.P95)}, at)
		b.Settle(at)
	}
	if want := []string{"firing at 10s", "resolved at 1m50s"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	if plain != 8 {
		t.Errorf("a plain threshold gives %d events, want 8: are these the samples of the case?", plain)
	}
	alerts := b.Alerts(after(2 * time.Minute))
	if len(alerts) != 1 {
		t.Fatalf("%d rows, want 1: %+v", len(alerts), alerts)
	}
	a := alerts[0]
	if a.Since != after(0) || a.FiredAt != after(10*time.Second) || a.LastAt != after(80*time.Second) ||
		a.ResolvedAt != after(110*time.Second) || a.Peak != model.Of(1030) || a.Times != 1 {
		t.Errorf("row: %+v", a)
	}
}

// OC-13 for a week: the log holds the flapping alert's steps folded, and what
// others did before it is still there.
func TestFlappingPushesNobodyOut(t *testing.T) {
	samples := flappingSamples(t)
	for _, pause := range []time.Duration{0, 20 * time.Minute} {
		b := NewBook()
		down := Observation{Rule: Rule{Name: "down"}, Target: "a", Truth: Yes, Text: "a is down"}
		b.Observe(down, after(0))
		b.Settle(after(0))
		rounds := 0
		for at := time.Duration(0); at < 7*24*time.Hour; at += pause {
			for _, x := range samples {
				now := after(at + time.Duration(x.T)*time.Second)
				b.Observe(Observation{Rule: flapping, Compare: true, Value: model.Of(x.P95)}, now)
				b.Settle(now)
			}
			at += 130 * time.Second
			rounds++
		}
		log := b.Log()
		if last := log[len(log)-1]; last.Text != "a is down" {
			t.Errorf("pause %s: the other alert's step is lost: %+v", pause, last)
		}
		folded := 0
		for _, e := range log {
			if e.State == model.AlertFiring && e.Rule == flapping.Name {
				folded += e.Times
			}
		}
		if pause == 0 && (len(log) != 4 || folded != rounds) {
			t.Errorf("%d events for %d firings of %d, want 4 for all", len(log), folded, rounds)
		}
		if pause > 0 && len(log) != 1+maxStepsEach {
			t.Errorf("pause %s: %d events, want %d", pause, len(log), 1+maxStepsEach)
		}
		if steps := b.Forgotten() + sum(log); pause > 0 && steps != 1+3*rounds {
			t.Errorf("pause %s: %d steps held or counted as forgotten, want %d", pause, steps, 1+3*rounds)
		}
	}
}

func sum(log []model.AlertEvent) int {
	n := 0
	for _, e := range log {
		n += e.Times
	}
	return n
}
