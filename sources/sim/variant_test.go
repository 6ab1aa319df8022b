package sim

import (
	"errors"
	"testing"
	"time"
)

// with is a service whose incident begins after a minute.
func with(t *testing.T, scenario string, variants ...string) *Sim {
	t.Helper()
	return service(t, Options{Seed: 5, Scenario: scenario, At: time.Minute, With: variants})
}

func TestGap(t *testing.T) {
	s, plain := with(t, "S1", "gap"), with(t, "S1")
	for at, silent := range map[time.Duration]bool{80 * time.Second: false, 90 * time.Second: true, 119 * time.Second: true, 120 * time.Second: false} {
		s := with(t, "S1", "gap")
		s.Advance(at)
		if _, err := s.Replicas()[1].Page(nil); errors.Is(err, ErrSilent) != silent {
			t.Errorf("at %v: %v", at, err)
		}
	}
	s.Advance(150 * time.Second)
	plain.Advance(150 * time.Second)
	a, errA := s.Replicas()[0].Page(nil)
	b, errB := plain.Replicas()[0].Page(nil)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Error("a gap in what is read changed what happened")
	}
}

func TestRestartAndDead(t *testing.T) {
	for at, want := range map[time.Duration][2]bool{
		70 * time.Second: {true, true}, 80 * time.Second: {false, true}, 86 * time.Second: {true, true},
		95 * time.Second: {true, false}, 300 * time.Second: {true, false},
	} {
		s := with(t, "S5", "restart", "dead")
		s.Advance(at)
		if got := [2]bool{s.Replicas()[0].Ready(), s.Replicas()[1].Ready()}; got != want {
			t.Errorf("at %v: %v are ready", at, got)
		}
	}
}

// The same happens, counted in other buckets.
func TestOtherBounds(t *testing.T) {
	s, plain := with(t, "S0", "buckets"), with(t, "S0")
	s.Advance(90 * time.Second)
	plain.Advance(90 * time.Second)
	for i := range 2 {
		a, b := s.replicas[i].names[0].ttft, plain.replicas[i].names[0].ttft
		if a.count() != b.count() || a.sum != b.sum || (len(a.bounds) == len(b.bounds)) != (i == 0) {
			t.Errorf("replica %d: %v and %v first tokens in %d and %d buckets", i, a.count(), b.count(), len(a.bounds), len(b.bounds))
		}
	}
}

func TestRetries(t *testing.T) {
	m := &meter{sim: with(t, "S1", "retries")}
	m.watch(0, 180*time.Second)
	attempts := map[int]int{}
	for _, e := range m.events {
		attempts[e.Attempt]++
	}
	if attempts[2] == 0 || attempts[3] == 0 || attempts[4] > 0 {
		t.Errorf("attempts: %v", attempts)
	}
}

// What the gateway holds back the engine does not know.
func TestSlowGateway(t *testing.T) {
	m := &meter{sim: with(t, "S0", "gateway")}
	was, is := m.watch(30*time.Second, 60*time.Second), m.watch(70*time.Second, 130*time.Second)
	outside := func(e Event) (time.Duration, bool) { return e.Received - e.Arrival, true }
	near(t, "in the gateway before, s", mean(was.answered("", outside)), 0.002, 0.15)
	near(t, "in the gateway, s", mean(is.answered("", outside)), 0.4, 0.15)
	near(t, "TTFT of the engine", is.ttft, was.ttft, 0.3)
}

func TestVariantsEndWithTheIncident(t *testing.T) {
	s := service(t, Options{Seed: 5, At: time.Minute, For: time.Minute, With: []string{"Gateway", "retries"}})
	s.Advance(90 * time.Second)
	during, retries := s.outside, s.arrivals[0].retries
	s.Advance(121 * time.Second)
	if during != 400*time.Millisecond || retries != 2 || s.outside != demoOutside || s.arrivals[0].retries != 0 {
		t.Errorf("held %v then %v, %d retries then %d", during, s.outside, retries, s.arrivals[0].retries)
	}
	if len(Scenarios[0].Shifts) > 0 {
		t.Error("a variant changed the table of incidents")
	}
	if _, err := New(Options{With: []string{"ghost"}}); err == nil {
		t.Error("a variant that there is not")
	}
}

func TestTheTableOfVariants(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range Variants {
		if v.ID == "" || v.Sentence == "" || v.apply == nil || seen[v.ID] {
			t.Errorf("%+v", v)
		}
		seen[v.ID] = true
	}
}

func TestIncidentNamesWhatGoesOn(t *testing.T) {
	s := service(t, Options{Seed: 1, Scenario: "s3B", At: 10 * time.Second, For: 10 * time.Second})
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{9, ""}, {10, "S3b small KV pool"}, {19, "S3b small KV pool"}, {20, ""}} {
		s.Advance(c.at * time.Second)
		if got := s.Incident(); got != c.want {
			t.Errorf("at %d s: %q", c.at, got)
		}
	}
}
