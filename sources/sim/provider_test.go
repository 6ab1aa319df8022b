package sim

import (
	"testing"
	"time"
)

// straight is the least-squares line of TTFT over prompt tokens.
func straight(events []Event) (intercept, slope float64) {
	var n, x, y, xx, xy float64
	for _, e := range events {
		p, t := float64(e.PromptTokens), e.TTFT().Seconds()
		n, x, y, xx, xy = n+1, x+p, y+t, xx+p*p, xy+p*t
	}
	slope = (n*xy - x*y) / (n*xx - x*x)
	return (y - slope*x) / n, slope
}

// At a hosted provider the first token is late whatever the prompt, and the slope on
// its length stays.
func TestSlowProvider(t *testing.T) {
	m := &meter{sim: service(t, Options{Seed: 1, Scenario: "S8"})}
	was, is := m.watch(baselineFrom, baselineTo), m.watch(incidentFrom+30*time.Second, incidentTo+200*time.Second)
	a0, b0 := straight(was.ended)
	a1, b1 := straight(is.ended)
	near(t, "intercept, times", a1/a0, 2.5, 0.1)
	near(t, "slope, times", b1/b0, 1, 0.3)
	near(t, "TPOT, times", mean(is.answered("", tpotOf))/mean(was.answered("", tpotOf)), 1.6, 0.03)
	near(t, "requests/s, times", float64(len(is.ended))/is.seconds*was.seconds/float64(len(was.ended)), 1, 0.1)
	if g := was.goodput("chat", 500*time.Millisecond, 50*time.Millisecond); g < 0.95 {
		t.Errorf("%.3f of chat keep their promise while the provider is well", g)
	}
}

func TestAHostedProviderShowsNothingOfItself(t *testing.T) {
	s := service(t, Options{Seed: 1, Scenario: "S8"})
	if len(s.Replicas()) > 0 || len(s.GPUs().Read(nil)) > 0 || !s.Hosted() {
		t.Errorf("%d replicas", len(s.Replicas()))
	}
	for _, o := range []Options{{Scenario: "S8", With: []string{"dead"}}, {Scenario: "S8", Restarts: []Restart{{}}}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v: a provider's engines are nobody's to break", o)
		}
	}
}
