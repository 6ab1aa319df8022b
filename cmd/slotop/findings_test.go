package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"slotop/sources/sim"
)

// reasoned is what a frame says of why.
type reasoned struct {
	Utilization json.RawMessage `json:"utilization"`
	Findings    json.RawMessage `json:"findings"`
	Diagnoses   json.RawMessage `json:"diagnoses"`
	Capacity    json.RawMessage `json:"capacity"`
}

func reasonedBy(t *testing.T, r ran) reasoned {
	t.Helper()
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	var f reasoned
	if err := json.Unmarshal([]byte(r.out), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// A recording says why as the run that it recorded did, to the byte.
func TestTapeSaysWhyAsLive(t *testing.T) {
	if testing.Short() {
		t.Skip("plays minutes of virtual time, with no second goroutine to race with")
	}
	t.Parallel()
	const target, span = "demo:S4?seed=7", "720s"
	tape := filepath.Join(t.TempDir(), "s4.tape")
	if r := headless(t, "record", "-o", tape, "--for", span, target); r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	live := reasonedBy(t, headless(t, "snapshot", "-o", "json", "--for", span, target))
	past := reasonedBy(t, headless(t, "snapshot", "-o", "json", tape))
	for what, both := range map[string][2]json.RawMessage{
		"utilization": {live.Utilization, past.Utilization},
		"findings":    {live.Findings, past.Findings},
		"diagnoses":   {live.Diagnoses, past.Diagnoses},
		"capacity":    {live.Capacity, past.Capacity},
	} {
		if l := string(both[0]); len(l) < 20 || l != string(both[1]) {
			t.Errorf("%s: recorded %.300s\nlive %.300s", what, both[1], both[0])
		}
	}
}

// claim is what a finding comes to, apart from its exact figures.
type claim struct {
	ID       string  `json:"id"`
	Layer    string  `json:"layer"`
	Workflow string  `json:"workflow"`
	Binds    *string `json:"binds"`
	Factor   *struct {
		Factor string   `json:"factor"`
		Who    string   `json:"who"`
		Ratio  *float64 `json:"ratio"`
	} `json:"factor"`
}

func claimsOf(t *testing.T, findings json.RawMessage) []claim {
	t.Helper()
	var out []claim
	if err := json.Unmarshal(findings, &out); err != nil {
		t.Fatalf("%v: %s", err, findings)
	}
	return out
}

// sameClaims compares what was found over two ways of watching one run: the same
// cause comes first and binds the same, and no cause is claimed in one alone. Figures
// differ by as much as the moments of the scrapes do.
func sameClaims(t *testing.T, live, past []claim) {
	t.Helper()
	if len(live) == 0 || len(past) == 0 {
		if len(live) != len(past) {
			t.Errorf("%d findings live, %d from the past", len(live), len(past))
		}
		return
	}
	l, p := live[0], past[0]
	if l.ID != p.ID || l.Workflow != p.Workflow || (l.Binds == nil) != (p.Binds == nil) || l.Binds != nil && *l.Binds != *p.Binds {
		t.Errorf("the first finding is %+v, live %+v", p, l)
	}
	if l.Factor != nil && p.Factor != nil && l.Factor.Ratio != nil && p.Factor.Ratio != nil {
		if off := math.Abs(*p.Factor.Ratio / *l.Factor.Ratio - 1); off > 0.15 || l.Factor.Factor != p.Factor.Factor || l.Factor.Who != p.Factor.Who {
			t.Errorf("the first factor is %+v (×%.2f), live %+v (×%.2f)", *p.Factor, *p.Factor.Ratio, *l.Factor, *l.Factor.Ratio)
		}
	}
	for _, one := range causes(past) {
		if !slices.Contains(causes(live), one) {
			t.Errorf("the cause %s is found in the past alone", one)
		}
	}
}

func causes(all []claim) []string {
	var out []string
	for _, c := range all {
		if c.Layer == "cause" {
			out = append(out, c.ID)
		}
	}
	return out
}

// Two polls teach nothing of steps: there is no load then, and none of what follows
// from it.
func TestNoLoadYet(t *testing.T) {
	t.Parallel()
	var rooms []struct {
		Load    *float64 `json:"load"`
		PerCall *float64 `json:"machine_s_per_request"`
		First   *string  `json:"binds_first"`
		Why     string   `json:"why"`
	}
	said := reasonedBy(t, headless(t, "snapshot", "-o", "json", "demo:S0"))
	if err := json.Unmarshal(said.Capacity, &rooms); err != nil {
		t.Fatal(err)
	}
	if len(rooms) != 1 || rooms[0].Load != nil || rooms[0].PerCall != nil || rooms[0].First != nil || rooms[0].Why == "" {
		t.Errorf("%s", said.Capacity)
	}
}

// Who logs in seven minutes into an incident is told its cause at once, out of the hour
// that the server remembers: what a step cost before it too.
func TestPastHourSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("plays an hour of virtual time, with no second goroutine to race with")
	}
	for scenario, want := range map[string]string{"S1": "arrival_rate", "S4": "step_residual"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			const span, into = 45 * time.Minute, 7 * time.Minute
			o := sim.Options{Scenario: scenario, At: span - into, Start: time.Now().Add(-span).Truncate(time.Second)}
			server := "prom+http://" + serverOf(t, scraped(t, o, incidentStep, span))
			said := reasonedBy(t, headless(t, "snapshot", "-o", "json", "--for", "6s", "--slo", "chat:ttft=500ms,tpot=50ms,95%", server))
			claims := claimsOf(t, said.Findings)
			if len(claims) == 0 || claims[0].Factor == nil || claims[0].Factor.Factor != want {
				t.Errorf("the first of %+v, want %s: %s", claims, want, said.Diagnoses)
			}
		})
	}
}
