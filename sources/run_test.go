package sources_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"slotop/model"
	"slotop/sources"
)

// scripted is a source whose polls a test writes down.
type scripted struct {
	polls  int
	closed int
	flying atomic.Int32
	script func(ctx context.Context, n int) (model.Batch, error)
}

func (s *scripted) Poll(ctx context.Context) (model.Batch, error) {
	if s.flying.Add(1) != 1 {
		panic("two polls of one target at once")
	}
	defer s.flying.Add(-1)
	s.polls++
	return s.script(ctx, s.polls)
}

func (s *scripted) Close() error { s.closed++; return nil }

func good(context.Context, int) (model.Batch, error) {
	return model.Batch{Samples: []model.Sample{{Signal: model.Running, Value: 1}}}, nil
}

func failing(kind model.FaultKind) func(context.Context, int) (model.Batch, error) {
	return func(context.Context, int) (model.Batch, error) {
		return model.Batch{}, &sources.FaultError{Kind: kind, Detail: "as written"}
	}
}

// hanging ends with its context.
func hanging(ctx context.Context, _ int) (model.Batch, error) {
	<-ctx.Done()
	return model.Batch{}, &sources.FaultError{Kind: model.Timeout, Detail: "as written"}
}

func fleet(scripts ...func(context.Context, int) (model.Batch, error)) []sources.Opened {
	var opened []sources.Opened
	for i, script := range scripts {
		id := fmt.Sprintf("http://engine-%d:8000/metrics", i)
		opened = append(opened, sources.Opened{
			Target: model.Target{ID: model.TargetID(id), Name: id, Kind: model.EngineTarget},
			Source: &scripted{script: script},
		})
	}
	return opened
}

// watch runs targets for a span of virtual time.
func watch(t *testing.T, targets []sources.Opened, opt sources.RunOptions, span time.Duration, emit func(model.Input)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	if err := sources.Run(ctx, targets, opt, emit); err != nil {
		t.Errorf("run: %v", err)
	}
}

// polls are the instants at which the batches of a target came.
func polls(inputs []model.Input, id model.TargetID) []time.Duration {
	var at []time.Duration
	for _, in := range inputs {
		if in.Batch != nil && in.Batch.Target == id {
			at = append(at, in.At.Mono)
		}
	}
	return at
}

func collect(inputs *[]model.Input) func(model.Input) {
	return func(in model.Input) {
		if in.Batch != nil {
			b := *in.Batch
			in.Batch = &b
		}
		*inputs = append(*inputs, in)
	}
}

func TestRunPollsOnAGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(good)
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Every: 5 * time.Second}, time.Minute, collect(&inputs))
		at := polls(inputs, targets[0].Target.ID)
		if len(at) < 12 || at[0] != 0 || at[1] != 500*time.Millisecond {
			t.Fatalf("got polls at %v", at)
		}
		if gap := at[2] - at[1]; gap < 2500*time.Millisecond-10*time.Millisecond || gap > 7500*time.Millisecond {
			t.Errorf("the third poll follows after %v", gap)
		}
		for i := 3; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 4980*time.Millisecond || gap > 5020*time.Millisecond {
				t.Errorf("poll %d follows after %v", i, gap)
			}
		}
		source := targets[0].Source.(*scripted)
		if source.closed != 1 {
			t.Errorf("closed %d times", source.closed)
		}
	})
}

func TestRunSpreadsAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		scripts := make([]func(context.Context, int) (model.Batch, error), n)
		for i := range scripts {
			scripts[i] = good
		}
		targets := fleet(scripts...)
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Every: 5 * time.Second}, 30*time.Second, collect(&inputs))
		first := map[model.TargetID]bool{}
		var tenths [50]int // of the interval from 20 s to 25 s
		for _, in := range inputs {
			if in.Batch == nil {
				continue
			}
			if id := in.Batch.Target; !first[id] {
				first[id] = true
				if in.At.Mono > 400*time.Millisecond {
					t.Fatalf("%s is polled first at %v", id, in.At.Mono)
				}
			}
			if late := in.At.Mono - 20*time.Second; late >= 0 && late < 5*time.Second {
				tenths[late/(100*time.Millisecond)]++
			}
		}
		if len(first) != n {
			t.Fatalf("%d targets were polled", len(first))
		}
		for i, polls := range tenths {
			if polls == 0 || polls > 50 {
				t.Errorf("%d of 1000 polls in tenth %d of the interval", polls, i)
			}
		}
	})
}

func TestRunTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(good, good, good)
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Every: 300 * time.Millisecond}, 10*time.Second, collect(&inputs))
		if !inputs[0].IsTick() || inputs[0].At.Mono != 0 {
			t.Error("no tick before the first poll ended")
		}
		shown, last := false, time.Duration(0)
		for i, in := range inputs[1:] {
			if in.At.Mono < last {
				t.Fatalf("input %d goes back in time", i)
			}
			last = in.At.Mono
			shown = shown || in.IsTick() && last < 10*time.Millisecond
		}
		if !shown {
			t.Error("the first answer is not shown at once")
		}
		checkTicks(t, inputs, 100*time.Millisecond, 400*time.Millisecond)
	})
}

// TestRunTicksWithTheAnswer: polled each second, every tick has the answer that came just
// then; none comes before it, to show it a tick late.
func TestRunTicksWithTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polled := 0
		var inputs []model.Input
		uneven := func(ctx context.Context, n int) (model.Batch, error) {
			polled++
			time.Sleep(time.Duration(2+polled*7%20) * time.Millisecond)
			return good(ctx, n)
		}
		watch(t, fleet(uneven), sources.RunOptions{Every: time.Second}, 30*time.Second, collect(&inputs))
		for i, in := range inputs {
			if in.At.Mono > 3*time.Second && in.IsTick() && (inputs[i-1].Batch == nil || inputs[i-1].At.Mono != in.At.Mono) {
				t.Errorf("the tick at %v shows nothing new", in.At.Mono)
			}
		}
		if polled < 29 {
			t.Errorf("%d polls", polled)
		}
	})
}

func TestRunTicksWhileNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inputs []model.Input
		watch(t, fleet(hanging), sources.RunOptions{Every: time.Minute, Timeout: time.Minute}, 30*time.Second, collect(&inputs))
		if len(inputs) != 31 && len(inputs) != 30 {
			t.Errorf("%d ticks in 30 s", len(inputs))
		}
		checkTicks(t, inputs, time.Second, time.Second)
	})
}

func TestRunTicksLessOftenWhereTheyCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inputs []model.Input
		keep := collect(&inputs)
		watch(t, fleet(good, good, good, good), sources.RunOptions{Every: 100 * time.Millisecond}, 10*time.Second, func(in model.Input) {
			keep(in)
			if in.IsTick() {
				time.Sleep(25 * time.Millisecond) // a fold that takes its time
			}
		})
		checkTicks(t, inputs, 500*time.Millisecond, 600*time.Millisecond)
	})
}

func checkTicks(t *testing.T, inputs []model.Input, least, most time.Duration) {
	t.Helper()
	last, n := time.Duration(0), 0
	for _, in := range inputs {
		if !in.IsTick() {
			continue
		}
		if n++; n > 2 { // the first answer is shown at once
			if gap := in.At.Mono - last; gap < least || gap > most {
				t.Errorf("tick %d follows after %v", n, gap)
			}
		}
		last = in.At.Mono
	}
	if n < 3 {
		t.Errorf("%d ticks", n)
	}
}

func TestRunBacksOff(t *testing.T) {
	tests := []struct {
		kind model.FaultKind
		want []float64 // seconds between failures, within the jitter
	}{
		{model.Refused, []float64{1, 2, 4, 8, 16, 30, 30}},
		{model.Timeout, []float64{1, 2, 4, 8, 16, 30, 30}},
		{model.Malformed, []float64{1, 2, 4, 8, 16, 30, 30}},
		{model.Denied, []float64{1, 30, 30}},
		{model.NotFound, []float64{1, 30, 30}},
		{model.Certificate, []float64{1, 30, 30}},
		{model.Redirected, []float64{1, 30, 30}},
	}
	for _, tc := range tests {
		t.Run(string(tc.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				targets := fleet(failing(tc.kind))
				var inputs []model.Input
				watch(t, targets, sources.RunOptions{Every: 2 * time.Second, Seed: 7}, 2*time.Minute, collect(&inputs))
				at := polls(inputs, targets[0].Target.ID)
				if len(at) <= len(tc.want) {
					t.Fatalf("polls at %v", at)
				}
				for i, want := range tc.want {
					if gap := (at[i+1] - at[i]).Seconds(); gap < want*0.8-0.011 || gap > want*1.2 {
						t.Errorf("failure %d is followed by a poll after %.2f s, want about %v", i+1, gap, want)
					}
				}
				for _, in := range inputs {
					if b := in.Batch; b != nil && (b.Fault == nil || b.Fault.Kind != tc.kind || b.Samples != nil) {
						t.Errorf("got %+v", b)
					}
				}
			})
		})
	}
}

func TestRunComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(func(ctx context.Context, n int) (model.Batch, error) {
			if n >= 5 && n < 8 {
				return failing(model.Refused)(ctx, n)
			}
			return good(ctx, n)
		})
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Every: 2 * time.Second}, time.Minute, collect(&inputs))
		at := polls(inputs, targets[0].Target.ID)
		for i := 9; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 1980*time.Millisecond || gap > 2020*time.Millisecond {
				t.Errorf("poll %d follows after %v", i, gap)
			}
		}
	})
}

// runAgain is when each of two targets that fail was polled, as text.
func runAgain(t *testing.T, seed uint64) string {
	var at []any
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(failing(model.Refused), failing(model.Denied))
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Seed: seed}, time.Minute, collect(&inputs))
		at = []any{polls(inputs, targets[0].Target.ID), polls(inputs, targets[1].Target.ID)}
	})
	return fmt.Sprint(at...)
}

func TestRunJitterComesFromTheSeed(t *testing.T) {
	first, second := runAgain(t, 7), runAgain(t, 7)
	if first != second {
		t.Error("two runs with one seed differ")
	}
	if first == runAgain(t, 8) {
		t.Error("another seed changes nothing")
	}
}

func TestRunSlowTargetDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scripts := []func(context.Context, int) (model.Batch, error){good}
		for range 200 {
			scripts = append(scripts, hanging)
		}
		targets := fleet(scripts...)
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Every: time.Second}, 20*time.Second, collect(&inputs))
		at := polls(inputs, targets[0].Target.ID)
		if len(at) < 19 {
			t.Errorf("%d polls in 20 s", len(at))
		}
		for i := 3; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap > 1020*time.Millisecond {
				t.Errorf("poll %d follows after %v", i, gap)
			}
		}
	})
}

func TestRunReadsFewPagesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flying, most atomic.Int32
		page := func(ctx context.Context, n int) (model.Batch, error) {
			if now := flying.Add(1); now > most.Load() {
				most.Store(now)
			}
			time.Sleep(100 * time.Millisecond)
			flying.Add(-1)
			return good(ctx, n)
		}
		scripts := make([]func(context.Context, int) (model.Batch, error), 1000)
		for i := range scripts {
			scripts[i] = page
		}
		var inputs []model.Input
		targets := fleet(scripts...)
		watch(t, targets, sources.RunOptions{Every: 5 * time.Second}, 5*time.Second, collect(&inputs))
		if n := most.Load(); n > 64 {
			t.Errorf("%d polls at once", n)
		}
		for _, o := range targets {
			if at := polls(inputs, o.Target.ID); len(at) < 2 || at[0] > 2*time.Second {
				t.Fatalf("%s is polled at %v", o.Target.ID, at)
			}
		}
	})
}

func TestRunTimeOut(t *testing.T) {
	tests := []struct{ every, timeout, want time.Duration }{
		{500 * time.Millisecond, 0, time.Second},
		{3 * time.Second, 0, 3 * time.Second},
		{time.Minute, 0, 5 * time.Second},
		{time.Second, 7 * time.Second, 7 * time.Second},
	}
	for _, tc := range tests {
		synctest.Test(t, func(t *testing.T) {
			var inputs []model.Input
			watch(t, fleet(hanging), sources.RunOptions{Every: tc.every, Timeout: tc.timeout}, 8*time.Second, collect(&inputs))
			for _, in := range inputs {
				if b := in.Batch; b != nil {
					if b.Took != tc.want || in.At.Mono != tc.want {
						t.Errorf("every %v: took %v, ended at %v, want %v", tc.every, b.Took, in.At.Mono, tc.want)
					}
					return
				}
			}
			t.Errorf("every %v: no poll ended", tc.every)
		})
	}
}

func TestRunContainsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(good, func(context.Context, int) (model.Batch, error) { panic("index out of range\x1b[2J") })
		var inputs []model.Input
		watch(t, targets, sources.RunOptions{Every: time.Second}, 5*time.Second, collect(&inputs))
		if n := len(polls(inputs, targets[0].Target.ID)); n < 5 {
			t.Errorf("the other target was polled %d times", n)
		}
		for _, in := range inputs {
			if b := in.Batch; b != nil && b.Target == targets[1].Target.ID {
				if b.Fault == nil || !strings.HasPrefix(b.Fault.Detail, "collector failed: index out of range") || strings.Contains(b.Fault.Detail, "\x1b") {
					t.Errorf("got %+v", b.Fault)
				}
			}
		}
	})
}

func TestRunEndsWithItsSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(func(ctx context.Context, n int) (model.Batch, error) {
			if n > 3 {
				return model.Batch{}, io.EOF
			}
			return good(ctx, n)
		})
		var inputs []model.Input
		if err := sources.Run(t.Context(), targets, sources.RunOptions{}, collect(&inputs)); err != nil {
			t.Fatal(err)
		}
		if n := len(polls(inputs, targets[0].Target.ID)); n != 3 {
			t.Errorf("%d polls", n)
		}
		if !inputs[len(inputs)-1].IsTick() {
			t.Error("the last poll is followed by no tick")
		}
	})
}

// TestCaseOC05NoScrapeAfterCancel: when the terminal is gone and the run is
// cancelled, no request follows and nothing is left running.
func TestCaseOC05NoScrapeAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(good, hanging, failing(model.Refused))
		ctx, cancel := context.WithCancel(t.Context())
		over, after := false, 0
		go func() {
			time.Sleep(3300 * time.Millisecond)
			cancel()
		}()
		start := time.Now()
		err := sources.Run(ctx, targets, sources.RunOptions{Every: time.Second, Timeout: time.Minute}, func(model.Input) {
			if over = over || ctx.Err() != nil; over {
				after++
			}
		})
		if err != nil || time.Since(start) != 3300*time.Millisecond {
			t.Errorf("run ended with %v after %v", err, time.Since(start))
		}
		var before [3]int
		for i, o := range targets {
			before[i] = o.Source.(*scripted).polls
		}
		time.Sleep(time.Minute)
		for i, o := range targets {
			if s := o.Source.(*scripted); s.polls != before[i] || s.closed != 1 || s.flying.Load() != 0 {
				t.Errorf("target %d: %d polls after the end, closed %d times", i, s.polls-before[i], s.closed)
			}
		}
		if after > 0 {
			t.Errorf("%d inputs after the end", after)
		}
	})
}

func TestRunLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	server := serve(t, reply(enginePage))
	targets := resolve(t, server.URL, server.URL+"/a", server.URL+"/b")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	batches := 0
	err := sources.Run(ctx, targets, sources.RunOptions{Every: 50 * time.Millisecond}, func(in model.Input) {
		if in.Batch != nil {
			if batches++; in.Batch.Fault != nil {
				t.Errorf("got %+v", in.Batch.Fault)
			}
		}
		if batches == 9 {
			cancel()
		}
	})
	if err != nil || batches != 9 {
		t.Errorf("%d batches, %v", batches, err)
	}
	server.Close()
	goleak.VerifyNone(t, before)
}

func TestRunPassesAPanicOfTheConsumerOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := fleet(hanging)
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
			if targets[0].Source.(*scripted).closed != 1 {
				t.Error("the source is open")
			}
		}()
		_ = sources.Run(t.Context(), targets, sources.RunOptions{}, func(in model.Input) {
			if in.At.Mono > 0 {
				panic("drawing failed")
			}
		})
	})
}

// BenchmarkPoll is what one scrape of a small page costs, HTTP included.
func BenchmarkPoll(b *testing.B) {
	server := serve(b, reply(enginePage))
	opened := resolve(b, server.URL)
	defer func() { _ = sources.CloseAll(opened) }()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := opened[0].Source.Poll(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
