package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// ErrNotReady is what a replica answers before it is ready: its port is closed.
// ErrSilent is what becomes of a page in a gap: nobody answers in time.
var (
	ErrNotReady = errors.New("replica is not ready")
	ErrSilent   = errors.New("no answer within the time-out")
)

// Replica is one server of the service: an engine and its API front end.
type Replica struct {
	sim     *Sim
	index   int
	machine Machine
	limits  Limits
	jitter  *rand.Rand

	speculation Speculation
	luck        *rand.Rand // of its drafts
	bounds      latencyBounds

	ready   bool
	readyAt time.Duration

	front    queue      // in the front end, not seen by the engine yet
	waiting  queue      // of the engine
	running  []*request // in the order of admission
	free     int        // blocks
	work     Work       // of the step under way
	cost     activity   // what it makes the GPU do
	stepFrom time.Duration
	stepEnd  time.Duration // never when idle
	idleFrom time.Duration // when idle

	names    []*served
	process  process
	http     front
	template *template

	totals totals
}

// totals are exact counts since the simulation began, over restarts.
type totals struct {
	arrived, finished, aborted int
	steps                      int
	preemptions                int
	busy                       time.Duration
	flops, bytes               float64
	gpu                        activity
}

// Name is what the replica is called, unique in its service.
func (r *Replica) Name() string { return fmt.Sprintf("sim-%d", r.index) }

// Ready reports whether the replica answers now.
func (r *Replica) Ready() bool { return r.ready }

// Page appends the replica's metrics page at the service's present time to dst.
// It fails with ErrNotReady while the replica does not answer, and with ErrSilent in
// a gap.
func (r *Replica) Page(dst []byte) ([]byte, error) {
	if !r.ready {
		return dst, ErrNotReady
	}
	if r.sim.silent() {
		return dst, ErrSilent
	}
	r.sample()
	return r.template.write(dst), nil
}

// sample sets the gauges, which are read when the page is.
func (r *Replica) sample() {
	for _, s := range r.names {
		s.running, s.waiting = 0, 0
		s.usage = r.usage()
	}
	for _, q := range r.running {
		r.names[q.workflow].running++
	}
	for i := range r.waiting.len() {
		r.names[r.waiting.at(i).workflow].waiting++
	}
	for i := range r.front.len() {
		if q := r.front.at(i); q.queued <= r.sim.now {
			r.names[q.workflow].waiting++
		}
	}
	r.process.observe(r.sim.now-r.readyAt, r.names[0].step.count(), float64(r.outstanding()))
}

// usage is the share of the KV pool in use.
func (r *Replica) usage() float64 {
	return min(1, float64(r.limits.Blocks-r.free)/float64(r.limits.Blocks))
}

// each visits the requests that the replica has and has not answered.
func (r *Replica) each(visit func(q *request)) {
	for _, q := range r.running {
		visit(q)
	}
	for i := range r.waiting.len() {
		visit(r.waiting.at(i))
	}
	for i := range r.front.len() {
		visit(r.front.at(i))
	}
}

func (r *Replica) outstanding() int { return r.front.len() + r.waiting.len() + len(r.running) }

// start makes the replica answer from now on, with every counter at zero.
func (r *Replica) start(now time.Duration, began time.Duration) {
	r.settle(now)
	r.ready, r.readyAt = true, now
	r.free, r.stepEnd = r.limits.Blocks, never
	r.names = r.names[:0:0]
	for _, a := range r.sim.arrivals {
		s := newServed(a.Name, r.limits.Context, r.speculation.Draft, r.bounds)
		s.shown = !a.late
		r.names = append(r.names, s)
	}
	r.http = newFront()
	r.process = process{started: r.sim.unix(began), ready: r.sim.unix(now)}
	r.layOut()
}

// layOut makes the replica's page anew, which then tells what its limits are now.
func (r *Replica) layOut() {
	var shown []*served
	for _, s := range r.names {
		if s.shown {
			shown = append(shown, s)
		}
	}
	all := families
	if r.speculation.Draft > 0 {
		all = slices.Concat(speculative, families)
	}
	r.template = newTemplate(&r.process, shown, &r.http, r.limits, all)
}

// limit changes the limits while the replica runs. A real server would have to be
// started anew for it; here only what does not fit into a smaller pool any more
// is preempted when the scheduler comes to it.
func (r *Replica) limit(l Limits) {
	grown := l.Blocks - r.limits.Blocks
	r.limits = l
	if r.ready && grown != 0 {
		r.free += grown
		r.layOut()
	}
}

// stop ends the process. What it worked on is lost to its clients.
func (r *Replica) stop(now time.Duration) {
	r.settle(now)
	r.ready, r.stepEnd = false, never
	for _, q := range r.running {
		r.lose(q, now)
	}
	r.running = r.running[:0]
	for r.waiting.len() > 0 {
		r.lose(r.waiting.popFront(), now)
	}
	for r.front.len() > 0 {
		r.lose(r.front.popFront(), now)
	}
}

func (r *Replica) lose(q *request, now time.Duration) {
	r.totals.aborted++
	r.sim.ended(r.index, q, now, Aborted, Lost)
}

// accept takes a request from the router.
func (r *Replica) accept(q *request, now time.Duration) {
	r.totals.arrived++
	if s := r.names[q.workflow]; !s.shown {
		s.shown, s.since = true, r.sim.unix(now)
		r.layOut()
	}
	q.received, q.queued = now, now+r.machine.Frontend
	r.front.pushBack(q)
}

// next is when the replica has something to do: the end of the step, or, when it
// is idle, the next request to reach the engine.
func (r *Replica) next() time.Duration {
	if r.stepEnd != never || r.front.len() == 0 {
		return r.stepEnd
	}
	return r.front.first().queued
}

// turn ends the step under way, if there is one, and begins the next.
func (r *Replica) turn(now time.Duration) {
	r.settle(now)
	if r.stepEnd != never {
		r.complete(now)
	}
	r.receive(now)
	r.schedule(now)
	r.stepEnd = never
	if r.work.Sequences == 0 {
		return
	}
	took := r.machine.StepTime(r.work)
	took += time.Duration(float64(took) * r.machine.Jitter * r.jitter.NormFloat64())
	r.stepFrom, r.stepEnd = now, now+took
	r.cost = r.machine.activity(r.work, took)
}

// receive moves to the engine what the front end has prepared.
func (r *Replica) receive(now time.Duration) {
	for r.front.len() > 0 && r.front.first().queued <= now {
		r.waiting.pushBack(r.front.popFront())
	}
}

// complete takes in the results of the step that ends now.
func (r *Replica) complete(now time.Duration) {
	r.count(now)
	var prompts, emitted int
	kept := r.running[:0]
	for _, q := range r.running {
		q.computed += q.chunk
		if q.chunk == 0 || q.rest() > 0 {
			q.chunk = 0
			kept = append(kept, q)
			continue
		}
		q.chunk = 0
		if q.first == 0 {
			prompts += q.prompt
		}
		tokens := 1 + r.check(q)
		emitted += tokens
		if !r.emit(q, tokens, now) {
			kept = append(kept, q)
		}
	}
	clear(r.running[len(kept):])
	r.running = kept
	if emitted > 0 {
		// As in vLLM a prompt counts whole, cached tokens too, in the step that
		// ends its prefill, and a step without an output is not seen.
		r.names[0].step.observe(float64(prompts + emitted))
	}
}

// count adds the step to what the engine estimates of itself.
func (r *Replica) count(now time.Duration) {
	flops, read, wrote := r.machine.FLOPs(r.work), r.machine.ReadBytes(r.work), r.machine.WriteBytes(r.work)
	first := r.names[0]
	first.flops += flops
	first.read += read
	first.wrote += wrote
	r.totals.steps++
	r.totals.busy += now - r.stepFrom
	r.totals.flops += flops
	r.totals.bytes += read + wrote
}

// emit gives the request its next tokens and reports whether those were the last.
func (r *Replica) emit(q *request, tokens int, now time.Duration) bool {
	s := r.names[q.workflow]
	q.generated += tokens
	s.outputTokens += float64(tokens)
	if q.first == 0 {
		q.first = now
		s.firstToken(q)
	} else {
		gap := now - q.last
		s.gap.observe(gap.Seconds())
		q.worst = max(q.worst, gap)
	}
	q.last = now
	if q.generated < q.output {
		return false
	}
	r.finish(q, now)
	return true
}

func (r *Replica) finish(q *request, now time.Duration) {
	outcome := Stopped
	if q.limited {
		outcome = LengthReached
	}
	r.free += q.blocks
	r.totals.finished++
	r.names[q.workflow].ended(q, outcome)
	r.http.answered(q, now)
	r.sim.ended(r.index, q, now, outcome, Answered)
}

// drop ends a request whose client gave up, or that can never fit.
func (r *Replica) drop(q *request, now time.Duration) {
	r.totals.aborted++
	r.names[q.workflow].finished[Aborted]++
	r.http.answered(q, now)
	cause := GaveUp
	if !r.fits(q) {
		cause = TooLong
	}
	r.sim.ended(r.index, q, now, Aborted, cause)
}
