package requests

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"slotop/model"
)

// stream is a made-up service: requests with all their states, in the order in
// which they were true, some of them retried, some never ending.
func stream(r *rand.Rand, requests int) (out []model.Request) {
	for i := range requests {
		s := 100 * r.Float64()
		state := model.Request{
			ID: "r" + strconv.Itoa(i), Workflow: fmt.Sprint("w", i%3), Phase: model.PhaseQueued, Queued: stamp(s),
			Attempt: 1 + r.IntN(2), Stream: model.Streaming(r.IntN(3)),
		}
		report := func() {
			state.At = stamp(s)
			out = append(out, state)
		}
		report()
		s += r.Float64()
		state.Phase, state.Admitted = model.PhaseAtModel, stamp(s)
		report()
		s += r.Float64()
		state.Phase, state.FirstToken = model.PhaseStreaming, stamp(s)
		for range r.IntN(4) {
			state.OutputTokens = model.Of(state.OutputTokens.Value + 10)
			s += r.Float64()
			report()
		}
		if r.IntN(5) == 0 {
			continue // never heard of again
		}
		s += r.Float64()
		state.Phase, state.Completed = model.PhaseDone, stamp(s)
		state.Outcome = []model.Outcome{model.Completed, model.OutputLimited, model.RequestFailed}[r.IntN(3)]
		report()
	}
	slices.SortStableFunc(out, func(a, b model.Request) int { return int(a.At - b.At) })
	for i := range out {
		out[i].Seq = uint64(i + 1)
	}
	return out
}

// outcome is everything that a tracker tells, but for when things arrived.
func outcome(tr *Tracker, ended []Ended) map[string]string {
	out := map[string]string{}
	for _, e := range ended {
		if _, twice := out[e.Request.ID]; twice {
			out[e.Request.ID] = "twice"
			continue
		}
		out[e.Request.ID] = fmt.Sprint(*e.Request, e.Times(), e.First, e.Tries, e.Backwards, e.WaitedS())
	}
	for _, r := range inFlight(tr, 200) {
		out[r.id] += "running " + string(r.phase)
	}
	s := tr.Stats()
	out["stats"] = fmt.Sprint(s.Ended, s.InFlight, s.Skipped, s.Refused, s.Mended, s.Backwards)
	return out
}

func run(reports []model.Request, batch int) map[string]string {
	tr := New(time.Hour)
	var ended []Ended
	for b := range slices.Chunk(reports, batch) {
		ended = append(ended, take(tr, 200, b...)...)
	}
	return outcome(tr, ended)
}

// However a stream is cut, repeated and shuffled, it tells the same.
func TestShuffledAndRepeated(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		reports := stream(r, 40)
		want := run(reports, 1)
		mixed := slices.Clone(reports)
		for range len(reports) / 2 {
			mixed = append(mixed, reports[r.IntN(len(reports))])
		}
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		for name, got := range map[string]map[string]string{
			"cut":      run(reports, 7),
			"repeated": run(append(slices.Clone(reports), reports...), 13),
			"mixed":    run(mixed, 1+r.IntN(9)),
		} {
			for _, id := range slices.Sorted(maps.Keys(want)) {
				if got[id] != want[id] {
					t.Fatalf("seed %d, %s, %s:\n%s\nwant\n%s", seed, name, id, got[id], want[id])
				}
			}
		}
	}
}

// The same inputs give the same results in the same order.
func TestDeterministic(t *testing.T) {
	reports := stream(rand.New(rand.NewPCG(3, 3)), 300)
	once := func() (out []string) {
		tr := New(time.Second)
		for i, b := range slices.Collect(slices.Chunk(reports, 11)) {
			for _, e := range take(tr, float64(i), b...) {
				out = append(out, fmt.Sprint(e.Request.ID, e.At))
			}
			out = append(out, fmt.Sprint(inFlight(tr, float64(i))))
		}
		return append(out, fmt.Sprint(tr.Stats()))
	}
	want := once()
	for range 5 {
		if got := once(); !slices.Equal(got, want) {
			t.Fatal("two runs differ")
		}
	}
}

// Users, over chains of retries in any order.
func TestUsersOfAnyStream(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		people := 1 + r.IntN(6)
		var reports []model.Request
		for u := range people {
			before := ""
			for k := range 1 + r.IntN(6) {
				id := fmt.Sprint(u, "-", k)
				end := try(id, before, float64(k))
				runs := state(id, float64(k), model.PhaseStreaming)
				runs.RetryOf = before
				reports = append(reports, end, runs)
				before = id
			}
		}
		r.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
		if got := users(take(New(time.Minute), 10, reports...)); got != people {
			t.Errorf("seed %d: %d users, want %d", seed, got, people)
		}
	}
}
