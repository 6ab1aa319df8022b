package llmdsim

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The run: quiet stretches between the phases, so that a window can hold one
// phase and nothing else.
const (
	quiet        = 3 * time.Second
	lightFor     = 12 * time.Second
	saturatedFor = 10 * time.Second
	recoverFor   = 8 * time.Second
	crashAfter   = 5 * time.Second
	downFor      = 4 * time.Second
	backFor      = 8 * time.Second

	light     = 2.0 // requests per second
	saturated = 30.0
)

// On the way from the server's clock to the client's: loopback, the scheduler of
// a busy machine, and the server's rounding of what it simulates to milliseconds.
const slack = 0.030

// TestAgainstRealServer loads the server in phases, kills and restarts it, all
// while slotop records it, and compares every figure with the clients' record.
func TestAgainstRealServer(t *testing.T) {
	s := &server{program: build(t, ".", serverPackage), port: freePort(t)}
	slotop := build(t, filepath.Join("..", "..", ".."), "./cmd/slotop")
	s.start(t)
	defer func() { s.kill() }()

	tape := filepath.Join(t.TempDir(), "run.tape")
	rec := record(t, slotop, tape, s.url("/metrics"))
	l := newLoad(s.url("/v1/completions"), 1)
	run := drive(t, s, l, slotop)
	rec.stop(t)

	tb := &table{t: t}
	defer func() { t.Logf("what slotop showed, what the clients measured\n%s", strings.Join(tb.rows, "\n")) }()
	all := frames(t, slotop, tape, time.Minute)
	if e := all[len(all)-1].Targets[0].Engine; e == nil || *e != "llm-d-inference-sim" {
		t.Errorf("engine %v", e)
	}
	comparePhase(tb, slotop, tape, all, run.light, run.light)
	comparePhase(tb, slotop, tape, all, run.saturated, run.recovering)
	compareLevels(tb, l, all, run)
	compareCrash(tb, slotop, tape, all, run)
	compareSnapshot(tb, run)
}

// theRun is what happened when.
type theRun struct {
	light, saturated, recovering, before, after *phase
	killed, back                                time.Time
	snapshot                                    *frame // taken live while saturated
}

func drive(t *testing.T, s *server, l *load, slotop string) *theRun {
	t.Helper()
	ctx := t.Context()
	run := &theRun{}
	rest := func() { time.Sleep(quiet) }

	rest()
	var wait, waitToo func()
	run.light, wait = l.run(ctx, "light", light, lightFor)
	wait()
	rest()

	snapshot := make(chan []byte, 1)
	go func() { snapshot <- live(ctx, slotop, s.url("/metrics")) }()
	run.saturated, wait = l.run(ctx, "saturated", saturated, saturatedFor)
	run.recovering, waitToo = l.run(ctx, "recovering", light, recoverFor)
	wait()
	waitToo()
	run.snapshot = decode(t, <-snapshot)[0]
	rest()

	run.before, wait = l.run(ctx, "before crash", light, crashAfter)
	s.kill()
	run.killed = time.Now()
	wait()
	time.Sleep(downFor)
	s.start(t)
	run.back = time.Now()
	run.after, wait = l.run(ctx, "after crash", light, backFor)
	wait()
	rest()
	return run
}

// live is a second slotop, started while the server is saturated.
func live(ctx context.Context, slotop, target string) []byte {
	time.Sleep(2 * time.Second)
	out, err := exec.CommandContext(ctx, slotop, "snapshot", "-o", "json", "--every", "1s", "--for", "5s", target).Output()
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// comparePhase finds the frame and the window that hold the phases from first to
// last and nothing else, and compares each figure.
func comparePhase(tb *table, slotop, tape string, all []*frame, first, last *phase) {
	t := tb.t
	t.Helper()
	name := first.name
	requests := slices.Clone(first.requests)
	if last != first {
		name = first.name + "+"
		requests = append(requests, last.requests...)
	}
	f := windowOver(t, slotop, tape, all, first.start, last.drained)
	w := f.workflow(t)
	span := *f.CoveredS

	var e2e, ttft, gaps []float64
	var prompt, output float64
	for _, r := range requests {
		if r.err != nil {
			t.Fatalf("%s: a request failed: %v", name, r.err)
		}
		e2e, ttft, gaps = append(e2e, r.e2e()), append(ttft, r.ttft()), append(gaps, r.gaps()...)
		prompt, output = prompt+float64(r.prompt), output+float64(r.output)
	}
	n := float64(len(requests))
	tb.count(name, "requests finished", w.Requests.Finished, n, 0)
	tb.count(name, "TTFT n", nOf(w.TTFT), n, 0)
	tb.count(name, "E2E n", nOf(w.E2E), n, 0)
	tb.count(name, "ITL n", nOf(w.ITL), float64(len(gaps)), 0)
	tb.count(name, "prompt tokens", times(w.Tokens.Prompt, span), prompt, 0)
	tb.count(name, "output tokens", times(w.Tokens.Output, span), output, 0)
	if w.E2E == nil || w.ITL == nil || w.TTFT == nil || w.Decode == nil {
		t.Fatalf("%s: a distribution is missing: %+v", name, w)
	}
	tb.mean(name, "E2E mean", w.E2E.Mean, mean(e2e), slack)
	tb.quantile(name, "E2E p50", w.E2E.P50, nearestRank(e2e, .50), slack)
	tb.quantile(name, "E2E p95", w.E2E.P95, nearestRank(e2e, .95), slack)
	tb.quantile(name, "E2E p99", w.E2E.P99, nearestRank(e2e, .99), slack)
	tb.mean(name, "ITL mean", w.ITL.Mean, mean(gaps), .002)
	tb.quantile(name, "ITL p50", w.ITL.P50, nearestRank(gaps, .50), .003)
	tb.quantile(name, "ITL p95", w.ITL.P95, nearestRank(gaps, .95), .010)
	// The server's TTFT clock starts when a request leaves the queue. What the
	// client waits is E2E without the decoding.
	fromArrival := *w.E2E.Mean - *w.Decode.Mean
	tb.mean(name, "E2E - decode, mean", &fromArrival, mean(ttft), slack)
	queued := w.Queue != nil && w.Queue.N > 0
	if !queued {
		tb.mean(name, "TTFT mean", w.TTFT.Mean, mean(ttft), slack)
		tb.quantile(name, "TTFT p50", w.TTFT.P50, nearestRank(ttft, .50), slack)
		tb.quantile(name, "TTFT p95", w.TTFT.P95, nearestRank(ttft, .95), slack)
		return
	}
	waited := (*w.Queue.Mean * w.Queue.N) / n
	withoutQueue := mean(ttft) - waited
	tb.mean(name, "TTFT mean, queue apart", w.TTFT.Mean, withoutQueue, slack)
	tb.row(name, "says that TTFT lacks it", fmt.Sprint(hasNote(w, "leaves out")), seconds(mean(ttft))+" waited", hasNote(w, "leaves out"))
}

// windowOver returns a frame whose rates cover from just before the first
// request to just after the last.
func windowOver(t *testing.T, slotop, tape string, all []*frame, from, to time.Time) *frame {
	t.Helper()
	for _, f := range all {
		good := f.Targets[0].LastGoodAt
		if good == nil || good.Before(to.Add(200*time.Millisecond)) {
			continue
		}
		window := good.Sub(from).Truncate(100*time.Millisecond) + 1500*time.Millisecond
		for _, g := range frames(t, slotop, tape, window) {
			if !g.At.Equal(f.At) {
				continue
			}
			begin, end := g.covered(t)
			if begin.After(from) || begin.Before(from.Add(-quiet)) || end.Before(to) {
				t.Fatalf("the window covers %v to %v, wanted %v to %v", begin, end, from, to)
			}
			return g
		}
	}
	t.Fatalf("no frame after %v", to)
	return nil
}

// compareLevels compares what runs and waits with the clients' open requests at
// every poll. The server moves its gauges a moment after the clients see it.
func compareLevels(tb *table, l *load, all []*frame, run *theRun) {
	var polls, off int
	var most, waiting float64
	var seen time.Time
	for _, f := range all {
		v := f.Targets[0]
		if v.LastGoodAt == nil || v.LastGoodAt.Equal(seen) || v.Running == nil || v.Waiting == nil || v.LastGoodAt.After(run.killed) {
			continue
		}
		seen = *v.LastGoodAt
		polls++
		least, top := l.inFlight(seen, 100*time.Millisecond)
		sum := *v.Running + *v.Waiting
		if sum < float64(least)-1 || sum > float64(top)+1 {
			off++
			tb.t.Logf("poll at %v: running %v waiting %v, the clients had %d to %d open", seen, *v.Running, *v.Waiting, least, top)
		}
		if *v.Running > slots {
			tb.t.Errorf("running %v of %d slots", *v.Running, slots)
		}
		most, waiting = max(most, *v.Running), max(waiting, *v.Waiting)
	}
	tb.row("all", "running + waiting", fmt.Sprintf("%d of %d polls agree", polls-off, polls), "open requests", polls > 30 && off*20 <= polls)
	tb.row("all", "most running", fmt.Sprint(most), fmt.Sprint(slots)+" slots", most == slots)
	tb.row("all", "most waiting", fmt.Sprint(waiting), "a queue built up", waiting > slots)
}

// compareCrash looks at what was shown while the server was gone, and that its
// counters starting again at zero never became a rate.
func compareCrash(tb *table, slotop, tape string, all []*frame, run *theRun) {
	t := tb.t
	var downAt, upAt time.Time
	for _, f := range all {
		v := f.Targets[0]
		down := v.State != nil && *v.State == "down"
		if down && downAt.IsZero() && f.At.After(run.killed) {
			downAt = f.At
			tb.row("crash", "fault", v.Fault.Kind, "refused", v.Fault.Kind == "refused")
		}
		if !down && upAt.IsZero() && f.At.After(run.back) {
			upAt = f.At
		}
		for _, w := range f.Workflows {
			for _, rate := range []*float64{w.Requests.PerSecond, w.Tokens.Output, w.Tokens.Prompt} {
				if rate != nil && (*rate < 0 || *rate > 10_000) {
					t.Errorf("at %v a rate of %v", f.At, *rate)
				}
			}
		}
	}
	tb.row("crash", "down is shown after", downAt.Sub(run.killed).Round(time.Millisecond).String(), "one poll", downAt.Sub(run.killed) < 2500*time.Millisecond)
	tb.row("crash", "up is shown after", upAt.Sub(run.back).Round(time.Millisecond).String(), "one backed-off poll", !upAt.IsZero() && upAt.Sub(run.back) < 5*time.Second)
	last := all[len(all)-1]
	tb.row("crash", "restarts", fmt.Sprint(last.Targets[0].Restarts), "1", last.Targets[0].Restarts == 1)

	f := windowOver(t, slotop, tape, all, run.before.start, run.after.drained)
	finished, lost, unseen := 0, 0, 0
	lastSeen := lastPollBefore(all, run.killed)
	for _, r := range slices.Concat(run.before.requests, run.after.requests) {
		switch {
		case r.err != nil:
			lost++
		case r.end.Before(run.killed) && r.end.After(lastSeen.Add(-50*time.Millisecond)):
			unseen++ // finished between the last scrape and the crash: gone with the counters
		default:
			finished++
		}
	}
	w := f.workflow(t)
	got := -1.0
	if w.Requests.Finished != nil {
		got = *w.Requests.Finished
	}
	tb.row("crash", "requests finished", fmt.Sprint(got), fmt.Sprintf("%d, %d unseen, %d lost", finished, unseen, lost),
		got >= float64(finished) && got <= float64(finished+unseen))
}

// lastPollBefore is when the last good poll before an instant was.
func lastPollBefore(all []*frame, at time.Time) time.Time {
	var last time.Time
	for _, f := range all {
		if g := f.Targets[0].LastGoodAt; g != nil && g.Before(at) {
			last = *g
		}
	}
	return last
}

// compareSnapshot checks the second slotop, which saw a part of the saturation.
func compareSnapshot(tb *table, run *theRun) {
	f := run.snapshot
	from, to := f.covered(tb.t)
	finished := 0
	for _, r := range run.saturated.requests {
		if r.end.After(from) && r.end.Before(to) {
			finished++
		}
	}
	w := f.workflow(tb.t)
	tb.count("snapshot", "finished in "+to.Sub(from).Round(time.Millisecond).String(), w.Requests.Finished, float64(finished), 3)
	tb.row("snapshot", "all slots run", fmt.Sprint(*f.Targets[0].Running), fmt.Sprint(slots), *f.Targets[0].Running == slots)
}

func nOf(d *dist) *float64 {
	if d == nil {
		return nil
	}
	return &d.N
}

func times(rate *float64, span float64) *float64 {
	if rate == nil {
		return nil
	}
	v := *rate * span
	return &v
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// nearestRank is the smallest value with at least a share q at or below it.
func nearestRank(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	i := int(q * float64(len(s)))
	if float64(i) == q*float64(len(s)) {
		i--
	}
	return s[max(0, min(i, len(s)-1))]
}

func hasNote(w *workflow, text string) bool {
	return slices.ContainsFunc(w.Notes, func(n string) bool { return strings.Contains(n, text) })
}
