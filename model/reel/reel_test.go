package reel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// at is an instant so many seconds after the start.
func at(seconds float64) model.Instant {
	return model.Instant{}.Add(time.Duration(seconds * float64(time.Second)))
}

// shot is a frame with an hour of points behind it and the events so far.
func shot(seconds float64, events ...model.Event) *model.Frame {
	n := int(seconds) + 1
	points := make([]float32, n)
	for i := range points {
		points[i] = float32(i)
	}
	h := &model.History{Step: time.Second, End: at(float64(n - 1)), Running: points, Events: events}
	h.HeatTTFT = &model.Heat{Step: 10 * time.Second, End: at(float64(n / 10 * 10)), Counts: make([][]float32, n/10)}
	for i := range h.HeatTTFT.Counts {
		h.HeatTTFT.Counts[i] = []float32{1}
	}
	return &model.Frame{At: at(seconds), Every: time.Second, Events: events, Workflows: []model.WorkflowView{{Name: "chat", History: h}}}
}

func seconds(r *Reel) []float64 {
	var out []float64
	for _, t := range r.takes {
		out = append(out, t.at.Mono.Seconds())
	}
	return out
}

func TestReelKeeps(t *testing.T) {
	breach := model.Event{At: at(4), Kind: model.EventBreach}
	for _, c := range []struct {
		name   string
		config Config
		frames []float64
		want   string
	}{
		{"every frame of the dense part", Config{Dense: time.Minute, Gap: 10 * time.Second, Weight: 1 << 30}, []float64{0, 1, 2, 3}, "[0 1 2 3]"},
		{"none twice, none backwards", Config{Dense: time.Minute, Weight: 1 << 30}, []float64{0, 2, 2, 1, 3}, "[0 2 3]"},
		{"those that come fast replace one another", Config{Least: time.Second, Dense: time.Minute, Weight: 1 << 30}, []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 2.2}, "[0 0.8 1.2 2.2]"},
		{"one in ten seconds before that, and where something happened", Config{Dense: 3 * time.Second, Gap: 10 * time.Second, Weight: 1 << 30}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, "[0 4 12 13 14 15]"},
		{"nothing beyond the reach", Config{Dense: time.Minute, Reach: 5 * time.Second, Weight: 1 << 30}, []float64{0, 1, 2, 9, 10}, "[9 10]"},
		{"the oldest and those that are not packed, however heavy", Config{Dense: time.Minute}, []float64{0, 1, 2, 3, 5}, "[0 3 5]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(c.config)
			for _, s := range c.frames {
				var events []model.Event
				if s >= 4 {
					events = []model.Event{breach}
				}
				r.Add(shot(s, events...))
			}
			if got := fmt.Sprint(seconds(r)); got != c.want {
				t.Errorf("kept %s, want %s", got, c.want)
			}
		})
	}
}

func TestReelFinds(t *testing.T) {
	r := New(Config{Dense: 3 * time.Second, Gap: 4 * time.Second, Weight: 1 << 30})
	if r.Near(at(1)) != nil || r.Step(at(1), -1) != nil || r.Since(at(0)) != nil {
		t.Error("an empty reel has frames")
	}
	for s := range 13 {
		r.Add(shot(float64(s)))
	}
	if got := fmt.Sprint(seconds(r)); got != "[0 4 8 9 10 11 12]" {
		t.Fatal(got)
	}
	second := func(f *model.Frame) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprint(f.At.Mono.Seconds())
	}
	var got []string
	for _, f := range []*model.Frame{
		r.Step(at(12), -1), r.Step(at(12), -4), r.Step(at(12), -6), r.Step(at(12), -7), r.Step(at(12), 1), r.Step(at(0), 1), r.Step(at(0), -1),
		r.Step(at(2), 1), r.Step(at(2), -1), r.Step(at(2), 0), r.Step(at(99), -1),
	} {
		got = append(got, second(f))
	}
	if want := "11 8 0 - - 4 - 4 0 - 12"; strings.Join(got, " ") != want {
		t.Errorf("stepping: %s, want %s", strings.Join(got, " "), want)
	}
	got = nil
	for _, s := range []float64{-5, 1, 2, 3, 6.1, 12, 99} {
		got = append(got, second(r.Near(at(s))))
	}
	if want := "0 0 0 4 8 12 12"; strings.Join(got, " ") != want {
		t.Errorf("near: %s, want %s", strings.Join(got, " "), want)
	}
	for _, c := range []struct {
		at    float64
		frame string
		exact bool
	}{{-1, "-", false}, {0, "0", true}, {1, "0", false}, {4, "4", true}, {6, "4", false}, {8.5, "8", true}, {12, "12", true}, {13, "12", false}} {
		if f, exact := r.Until(at(c.at)); second(f) != c.frame || exact != c.exact {
			t.Errorf("until %v: %s, exact %v", c.at, second(f), exact)
		}
	}
}

// TestReelHangsThePastBack: charts of long ago end where the picture does, and nothing
// that was handed out is written to.
func TestReelHangsThePastBack(t *testing.T) {
	r := New(Config{Dense: 3 * time.Second, Gap: 4 * time.Second, Weight: 1 << 30})
	events := []model.Event{{At: at(2), Kind: model.EventStage}, {At: at(30), Kind: model.EventStage}}
	for s := range 40 {
		n := 0
		for n < len(events) && events[n].At.Mono <= at(float64(s)).Mono {
			n++
		}
		r.Add(shot(float64(s), events[:n]...))
	}
	f := r.Near(at(22))
	h := f.Workflows[0].History
	if h == nil || h.End != at(22) || len(h.Running) != 23 || h.Running[22] != 22 || len(h.Events) != 1 {
		t.Errorf("%+v", h)
	}
	if m := h.HeatTTFT; m.End != at(20) || len(m.Counts) != 2 {
		t.Errorf("heat until %v, %d columns", m.End, len(m.Counts))
	}
	if m := r.Near(at(8)).Workflows[0].History.HeatTTFT; m != nil {
		t.Errorf("before the first column was full there was none: %+v", m)
	}
	if cap(h.Running) != len(h.Running) {
		t.Error("who appends to it writes over the newest frame's")
	}
	if again := r.Near(at(22)); again == f || again.Workflows[0].History.End != h.End {
		t.Error("the same instant shows something else")
	}
	if newest := r.Near(at(39)); len(newest.Workflows[0].History.Running) != 40 {
		t.Error("the newest frame lost its past")
	}
}

// TestReelIsBounded: whatever comes, the frames stay in order, weigh no more than they
// may, and reach as far as they should.
func TestReelIsBounded(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const one = 100 // bytes, about: an empty frame is packed into as much
		c := Config{
			Least: time.Duration(rng.IntN(3)) * time.Second, Dense: time.Duration(1+rng.IntN(60)) * time.Second, Gap: time.Duration(rng.IntN(20)) * time.Second,
			Reach: time.Duration(rng.IntN(3)) * 200 * time.Second, Weight: one * (2 + rng.IntN(60)),
		}
		r := New(c)
		now := 0.0
		for range 600 {
			now += float64(rng.IntN(3000)) / 1000
			var events []model.Event
			if rng.IntN(20) == 0 {
				events = []model.Event{{At: at(now), Kind: model.EventRestart}}
			}
			r.Add(&model.Frame{At: at(now), Events: events})
			check(t, seed, c, r, now)
		}
	}
}

func check(t *testing.T, seed uint64, c Config, r *Reel, now float64) {
	t.Helper()
	kept, weight := seconds(r), 0
	for _, k := range r.takes {
		weight += len(k.packed)
	}
	switch {
	case !slices.IsSorted(kept) || len(slices.Compact(slices.Clone(kept))) != len(kept):
		t.Fatalf("seed %d: out of order: %v", seed, kept)
	case r.takes[len(kept)-1].at != at(now):
		t.Fatalf("seed %d: the newest is missing", seed)
	case weight != r.weight || r.weight > c.Weight && r.packed > 1:
		t.Fatalf("seed %d: %d frames weigh %d, counted %d of %d", seed, len(kept), weight, r.weight, c.Weight)
	case c.Reach > 0 && now-kept[0] > c.Reach.Seconds() && len(kept) > 1:
		t.Fatalf("seed %d: %v s back of %v", seed, now-kept[0], c.Reach)
	case c.Reach == 0 && kept[0] > 3:
		t.Fatalf("seed %d: the beginning is gone", seed)
	case r.sparse < 0 || r.sparse > len(kept) || r.packed < 0 || r.packed > len(kept):
		t.Fatalf("seed %d: %d sparse, %d packed of %d", seed, r.sparse, r.packed, len(kept))
	case slices.ContainsFunc(r.takes[:r.packed], func(k take) bool { return k.frame != nil }):
		t.Fatalf("seed %d: what is packed is kept twice", seed)
	case slices.ContainsFunc(r.takes[r.packed:], func(k take) bool { return k.frame == nil }):
		t.Fatalf("seed %d: the newest is packed", seed)
	}
}
