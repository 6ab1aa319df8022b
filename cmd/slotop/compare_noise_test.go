package main

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/compare"
)

// played folds a simulated service for so long.
func playedDemo(t *testing.T, scenario string, seed int, long time.Duration) *model.StageView {
	t.Helper()
	a := &app{out: io.Discard, err: io.Discard, flags: flags{forTime: long}}
	s, err := a.played(context.Background(), fmt.Sprintf("demo:%s?seed=%d&at=1s", scenario, seed))
	if err != nil {
		t.Fatal(err)
	}
	return s.stage
}

// The steady service compared with itself under other seeds: how often anything is
// called different is what chance does. The nominal risk is one comparison in twenty;
// of 30 that is 1.5, and more than 4 would come of it once in 60 times.
func TestNoiseIsNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	const pairs, most = 30, 4
	for _, long := range []time.Duration{time.Minute, 3 * time.Minute} {
		before, wrong := playedDemo(t, "S0", 1, long), 0
		for seed := 2; seed <= pairs+1; seed++ {
			now := playedDemo(t, "S0", seed, long)
			c := compare.Stages(before, now)
			if c.Compared < 20 {
				t.Fatalf("%v, seed %d: %d figures compared", long, seed, c.Compared)
			}
			if n, _ := c.Count(); n > 0 {
				wrong++
				t.Logf("%v, seeds %d and %d: %s", long, seed-1, seed, differing(&c))
			}
			before = now
		}
		if wrong > most {
			t.Errorf("%v: %d of %d comparisons of the same say that it differs", long, wrong, pairs)
		}
	}
}

func differing(c *compare.Comparison) string {
	out := ""
	for i := range c.Workflows {
		w := &c.Workflows[i]
		for k := range w.Rows {
			if r := &w.Rows[k]; r.Verdict == compare.Higher || r.Verdict == compare.Lower {
				out += fmt.Sprintf("%s %s %s (%s); ", w.Name, r.Figure.Key, r.ChangeText(false), r.ChangeInterval(false))
			}
		}
	}
	return out
}

// What is no noise is found, whatever the seed: more chat than the service carries, and a
// throttled GPU.
func TestIncidentsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	const long = 3 * time.Minute
	want := map[string][]string{
		"S1": {"chat goodput", "chat ttft.p95", "chat e2e.p95", "chat tpot.p50"},
		"S4": {"chat goodput", "chat tpot.p50", "chat e2e.p95"},
	}
	for scenario, figures := range want {
		for seed := 1; seed <= 5; seed++ {
			c := compare.Stages(playedDemo(t, "S0", 100+seed, long), playedDemo(t, scenario, seed, long))
			found := map[string]compare.Sense{}
			for i := range c.Workflows {
				for _, r := range c.Workflows[i].Rows {
					found[c.Workflows[i].Name+" "+r.Figure.Key] = r.Sense
				}
			}
			for _, f := range figures {
				if found[f] != compare.Worse {
					t.Errorf("%s, seed %d: %s is not worse: %s", scenario, seed, f, differing(&c))
				}
			}
		}
	}
}
