package sim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// bench is a replica without traffic, for schedules by hand.
func bench(t *testing.T, l Limits) *Replica {
	t.Helper()
	s := service(t, Options{Replicas: 1, Limits: l, Workflows: []Workflow{{Name: "w", Prompt: fixed(1), Output: fixed(1)}}})
	return s.replicas[0]
}

// give puts requests into the engine's queue.
func give(r *Replica, requests ...*request) {
	for i, q := range requests {
		q.id, q.deadline = int64(i+1), never
		r.totals.arrived++
		r.waiting.pushBack(q)
	}
}

// step runs one step and returns what each running request computed in it.
func step(r *Replica, now time.Duration) map[int64]int {
	r.schedule(now)
	chunks := map[int64]int{}
	for _, q := range r.running {
		chunks[q.id] = q.chunk
	}
	r.complete(now + time.Millisecond)
	return chunks
}

func small(budget, sequences, blocks int) Limits {
	return Limits{TokenBudget: budget, Sequences: sequences, Blocks: blocks, BlockSize: 16, Context: 4096}
}

func TestDecodesComeBeforePrefills(t *testing.T) {
	r := bench(t, small(100, 8, 100))
	give(r, &request{prompt: 60, output: 9}, &request{prompt: 90, output: 9})
	for i, want := range []map[int64]int{
		{1: 60, 2: 40}, // the second prefill gets what is left of the budget
		{1: 1, 2: 50},  // and its rest, behind the first's token
		{1: 1, 2: 1},
	} {
		got := step(r, time.Duration(i)*time.Second)
		if len(got) != len(want) || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("step %d computed %v, want %v", i, got, want)
		}
	}
}

func TestAFullBudgetLeavesTheRestOfTheRunningOut(t *testing.T) {
	r := bench(t, small(10, 8, 100))
	give(r, &request{prompt: 25, output: 3}, &request{prompt: 5, output: 3})
	step(r, 0)
	if len(r.running) != 1 {
		t.Fatalf("%d running, want the first alone", len(r.running))
	}
	if step(r, 1); len(r.running) != 1 {
		t.Fatalf("%d running: a prefill that takes the whole budget lets nobody in", len(r.running))
	}
	if got := step(r, 2); got[1] != 5 || got[2] != 5 {
		t.Errorf("computed %v, want 5 and 5", got)
	}
}

func TestAdmissionIsFirstComeFirstServed(t *testing.T) {
	r := bench(t, small(2048, 8, 10)) // 160 tokens
	give(r, &request{prompt: 100, output: 2}, &request{prompt: 100, output: 2}, &request{prompt: 16, output: 2})
	step(r, 0)
	if len(r.running) != 1 || r.waiting.len() != 2 {
		t.Errorf("%d running, %d waiting: the second does not fit and holds up the third",
			len(r.running), r.waiting.len())
	}
}

func TestTheCapOnSequences(t *testing.T) {
	r := bench(t, small(2048, 2, 100))
	give(r, &request{prompt: 10, output: 5}, &request{prompt: 10, output: 5}, &request{prompt: 10, output: 5})
	if step(r, 0); len(r.running) != 2 {
		t.Errorf("%d running, want 2", len(r.running))
	}
}

func TestACachedPrefixIsWholeBlocks(t *testing.T) {
	r := bench(t, small(2048, 8, 100))
	give(r, &request{prompt: 100, cached: 60, output: 3})
	if got := step(r, 0); got[1] != 52 {
		t.Errorf("computed %d tokens, want 100 − 48", got[1])
	}
	if s := r.names[0]; s.queries != 100 || s.hits != 48 || s.cachedTokens != 48 || s.computedTokens != 52 {
		t.Errorf("queries %v, hits %v, cached %v, computed %v", s.queries, s.hits, s.cachedTokens, s.computedTokens)
	}
	if got := r.limits.Blocks - r.free; got != 7 {
		t.Errorf("%d blocks in use, want 7: a cached prefix takes its blocks too", got)
	}
}

func TestTheLastAdmittedIsPreempted(t *testing.T) {
	r := bench(t, small(2048, 8, 4)) // 64 tokens
	first, second := &request{prompt: 31, output: 30}, &request{prompt: 30, output: 30}
	give(r, first, second)
	step(r, 1) // 31 and 30 tokens in two blocks each
	step(r, 2) // 32 and 31
	step(r, 3) // the first needs a third block
	if len(r.running) != 1 || r.running[0] != first || r.waiting.first() != second {
		t.Fatalf("%d running, %d waiting", len(r.running), r.waiting.len())
	}
	if second.computed != 0 || second.blocks != 0 || second.generated != 2 || second.preemptions != 1 {
		t.Errorf("preempted: %+v; it keeps its tokens and nothing else", second)
	}
	if first.generated != 3 || r.names[0].preemptions != 1 || r.free != 1 {
		t.Errorf("first has %d tokens, %v preemptions, %d free blocks", first.generated, r.names[0].preemptions, r.free)
	}
	queued := second.scheduled
	for i := 4; second.preemptions > 0 && r.totals.finished == 0; i++ {
		step(r, time.Duration(i))
	}
	if got := step(r, 1000); got[2] != 32 {
		t.Errorf("computed %d tokens, want the prompt and both tokens anew", got[2])
	}
	if second.scheduled != queued {
		t.Error("a preempted request keeps its first queue time")
	}
	if n := r.names[0].queries; n != 61 {
		t.Errorf("%v tokens looked up: a preempted request is not looked up again", n)
	}
}

func TestARequestMayPreemptItself(t *testing.T) {
	r := bench(t, small(2048, 8, 3)) // 48 tokens
	give(r, &request{prompt: 32, output: 15}, &request{prompt: 15, output: 10})
	step(r, 1)
	step(r, 2) // 33 tokens do not fit beside 16: the second goes
	if len(r.running) != 1 || r.waiting.len() != 1 || r.waiting.first().id != 2 {
		t.Fatalf("%d running, %d waiting", len(r.running), r.waiting.len())
	}
	alone := bench(t, small(2048, 8, 4))
	give(alone, &request{prompt: 47, output: 5}, &request{prompt: 16, output: 5})
	step(alone, 1) // 47 and 16 tokens: the pool is full
	step(alone, 2) // the first has room for its 48th, the second needs a block
	if len(alone.running) != 1 || alone.waiting.first().id != 2 {
		t.Errorf("%d running: the last gives way to itself", len(alone.running))
	}
}

func TestTheImpatientAreDroppedWhenTheirTurnComes(t *testing.T) {
	r := bench(t, small(2048, 1, 100))
	gone, patient := &request{prompt: 10, output: 2}, &request{prompt: 10, output: 2}
	busy := &request{prompt: 10, output: 4}
	give(r, busy, gone, patient)
	gone.deadline = 2
	step(r, 1)
	step(r, 3)
	if r.waiting.len() != 2 {
		t.Fatal("dropped although the scheduler never came to it")
	}
	for i := 4; r.waiting.len() > 0; i++ {
		step(r, time.Duration(i))
	}
	if r.totals.aborted != 1 || r.names[0].finished[Aborted] != 1 || r.names[0].ttft.count() != 2 {
		t.Errorf("%d aborted, %v first tokens", r.totals.aborted, r.names[0].ttft.count())
	}
	if n := r.names[0].e2e.count(); n != 1 {
		t.Errorf("%v requests in the latency histograms, want the finished one", n)
	}
}

func TestWhatCanNeverFitIsRefused(t *testing.T) {
	r := bench(t, small(2048, 8, 4))
	give(r, &request{prompt: 60, output: 5}, &request{prompt: 10, output: 1})
	step(r, 1)
	if r.totals.aborted != 1 || r.totals.finished != 1 {
		t.Errorf("%d aborted, %d finished", r.totals.aborted, r.totals.finished)
	}
}

// TestScheduleKeepsItsBooks runs random loads into small pools and checks after
// every step that blocks, budget and cap were kept and that nothing got lost.
func TestScheduleKeepsItsBooks(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		limits := small(32+random.IntN(300), 1+random.IntN(12), 40+random.IntN(60))
		w := Workflow{Name: "w", Rate: 200, Prompt: Lengths{4, 0.8}, Output: Lengths{3, 0.8}, MaxOutput: 200,
			Hit: 0.4, HitSpread: 0.3, Total: 300, Patience: 20 * time.Second, Retries: 1, RetryAfter: time.Second}
		s := service(t, Options{Seed: seed, Replicas: 1, Limits: limits, Workflows: []Workflow{w}})
		r := s.replicas[0]
		for s.now < 200*time.Second {
			at, _ := s.next()
			if at == never {
				break
			}
			s.Advance(at)
			checkBooks(t, r)
		}
		if r.outstanding() != 0 || r.free != limits.Blocks || r.totals.arrived != r.totals.finished+r.totals.aborted {
			t.Errorf("seed %d: %d outstanding, %d of %d blocks free, %+v", seed, r.outstanding(), r.free, limits.Blocks, r.totals)
		}
	}
}

func checkBooks(t *testing.T, r *Replica) {
	t.Helper()
	used := 0
	for _, q := range r.running {
		used += q.blocks
		if q.computed+q.chunk > q.blocks*r.limits.BlockSize || q.computed > q.prompt+q.generated {
			t.Fatalf("at %v: %+v", r.sim.now, q)
		}
	}
	for i := range r.waiting.len() {
		if q := r.waiting.at(i); q.blocks != 0 || q.computed != 0 {
			t.Fatalf("at %v: waiting with blocks: %+v", r.sim.now, q)
		}
	}
	if used+r.free != r.limits.Blocks || r.free < 0 {
		t.Fatalf("at %v: %d blocks used and %d free of %d", r.sim.now, used, r.free, r.limits.Blocks)
	}
	if r.work.Tokens > r.limits.TokenBudget || len(r.running) > r.limits.Sequences {
		t.Fatalf("at %v: %d tokens, %d running", r.sim.now, r.work.Tokens, len(r.running))
	}
	if r.outstanding() != r.totals.arrived-r.totals.finished-r.totals.aborted {
		t.Fatalf("at %v: %d outstanding of %+v", r.sim.now, r.outstanding(), r.totals)
	}
}
