package sim

import (
	"slices"
	"testing"
	"time"
)

// service is a simulation that must exist. Its seed is logged.
func service(tb testing.TB, o Options) *Sim {
	tb.Helper()
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("seed %d", o.Seed)
	return s
}

// published marks a test that compares figures over hours of virtual time. It takes
// a second or two, twenty times that under the race detector, which has nothing to
// find in it: -short leaves it out.
func published(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("figures over hours of virtual time, not with -short")
	}
}

// meter watches a simulation each virtual second and keeps its truth.
type meter struct {
	sim    *Sim
	events []Event
	seen   uint64
}

// span is what was true between two times, over all replicas.
type span struct {
	seconds                    float64
	running, waiting, usage    float64 // means over seconds; usage over ready replicas
	steps, output, preemptions float64 // per second
	prefill                    float64 // computed prompt tokens per second
	firsts                     float64 // first tokens per second
	mfu, mbu                   float64
	ttft                       float64 // mean over first tokens in the span
	gap                        float64 // mean over gaps in the span
	ended                      []Event
}

func (m *meter) collect() {
	var missed uint64
	m.events, missed = m.sim.Events(m.seen, m.events)
	if missed > 0 {
		panic("the meter reads too seldom")
	}
	m.seen = m.sim.events.next
}

type sums struct {
	steps, output, preemptions, prefill, flops, bytes float64
	ttftN, ttftSum, gapN, gapSum                      float64
}

func (m *meter) sums() sums {
	var t sums
	for _, r := range m.sim.replicas {
		t.steps += float64(r.totals.steps)
		t.preemptions += float64(r.totals.preemptions)
		t.flops += r.totals.flops
		t.bytes += r.totals.bytes
		for _, s := range r.names {
			t.output += s.outputTokens
			t.prefill += s.computedTokens
			t.ttftN += s.ttft.count()
			t.ttftSum += s.ttft.sum
			t.gapN += s.gap.count()
			t.gapSum += s.gap.sum
		}
	}
	return t
}

// watch runs the simulation over the span.
func (m *meter) watch(from, to time.Duration) span {
	for m.sim.now < from {
		m.sim.Advance(min(from, m.sim.now+time.Minute))
		m.collect()
	}
	skip := len(m.events)
	before := m.sums()
	var out span
	var ready float64
	for t := from + time.Second; t <= to; t += time.Second {
		m.sim.Advance(t)
		m.collect()
		for _, r := range m.sim.replicas {
			if !r.ready {
				continue
			}
			ready++
			out.running += float64(len(r.running))
			out.waiting += waitingIn(r)
			out.usage += float64(r.limits.Blocks-r.free) / float64(r.limits.Blocks)
		}
	}
	after := m.sums()
	n := (to - from).Seconds()
	out.seconds = n
	out.running /= n
	out.waiting /= n
	out.usage /= ready
	out.steps = (after.steps - before.steps) / n
	out.output = (after.output - before.output) / n
	out.prefill = (after.prefill - before.prefill) / n
	out.firsts = (after.ttftN - before.ttftN) / n
	out.preemptions = (after.preemptions - before.preemptions) / n
	machine := m.sim.options.Machine
	out.mfu = (after.flops - before.flops) / ready / machine.PeakFLOPs
	out.mbu = (after.bytes - before.bytes) / ready / machine.Bandwidth
	out.ttft = (after.ttftSum - before.ttftSum) / (after.ttftN - before.ttftN)
	out.gap = (after.gapSum - before.gapSum) / (after.gapN - before.gapN)
	out.ended = m.events[skip:]
	return out
}

// waitingIn is how many requests the engine has and does not run.
func waitingIn(r *Replica) float64 {
	n := float64(r.waiting.len())
	for i := range r.front.len() {
		if r.front.at(i).queued <= r.sim.now {
			n++
		}
	}
	return n
}

// share is the part of the ended requests that end as told.
func (s span) share(o Outcome) float64 {
	var n float64
	for _, e := range s.ended {
		if e.Outcome == o {
			n++
		}
	}
	return n / float64(len(s.ended))
}

// answered are the values of f over the requests of a workflow ("" for all) that
// got their whole answer.
func (s span) answered(workflow string, f func(Event) (time.Duration, bool)) []float64 {
	var out []float64
	for _, e := range s.ended {
		if e.Outcome == Aborted || (workflow != "" && e.Workflow != workflow) {
			continue
		}
		if d, ok := f(e); ok {
			out = append(out, d.Seconds())
		}
	}
	return out
}

// goodput is the share of a workflow's answered requests within both bounds.
func (s span) goodput(workflow string, ttft, tpot time.Duration) float64 {
	var good, all float64
	for _, e := range s.ended {
		if e.Outcome == Aborted || e.Workflow != workflow {
			continue
		}
		all++
		if per, many := e.TPOT(); e.TTFT() <= ttft && (!many || per <= tpot) {
			good++
		}
	}
	return good / all
}

func ttftOf(e Event) (time.Duration, bool) { return e.TTFT(), e.FirstToken > 0 }

func tpotOf(e Event) (time.Duration, bool) { return e.TPOT() }

func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// near fails when got is further from want than the relative tolerance.
func near(tb testing.TB, what string, got, want, tolerance float64) {
	tb.Helper()
	if !(got >= want*(1-tolerance) && got <= want*(1+tolerance)) {
		tb.Errorf("%s: got %.5g, published %.5g (±%.0f %%)", what, got, want, tolerance*100)
		return
	}
	tb.Logf("%s: %.5g (published %.5g, %+.1f %%)", what, got, want, (got/want-1)*100)
}
