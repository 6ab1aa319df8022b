package sim

import "time"

// schedule decides what the next step computes, as vLLM's V1 scheduler does: first
// what is running, in the order of admission, then, unless something had to be
// preempted, what waits, first come first served.
func (r *Replica) schedule(now time.Duration) {
	r.work = Work{}
	budget := r.limits.TokenBudget
	if !r.continueRunning(&budget) {
		r.admit(now, &budget)
	}
}

// continueRunning gives every running request its next token, or the next chunk
// of its prefill, and reports whether one was preempted to make room.
func (r *Replica) continueRunning(budget *int) (preempted bool) {
	for i := 0; i < len(r.running) && *budget > 0; i++ {
		q := r.running[i]
		n := min(q.rest(), *budget)
		q.draft = r.drafted(q, n, *budget)
		need := r.blocksFor(q, n+q.draft)
		for need > r.free && len(r.running) > i {
			r.preemptLast()
			preempted = true
		}
		if i >= len(r.running) {
			return preempted
		}
		r.compute(q, n, need, budget)
	}
	return preempted
}

// preemptLast takes the blocks of the request that was admitted last, and gives
// it the first place in the queue. Its tokens are kept and computed anew.
func (r *Replica) preemptLast() {
	last := len(r.running) - 1
	q := r.running[last]
	r.running[last] = nil
	r.running = r.running[:last]
	r.free += q.blocks
	q.blocks, q.computed, q.draft = 0, 0, 0
	q.preemptions++
	r.names[q.workflow].preemptions++
	r.totals.preemptions++
	r.waiting.pushFront(q)
}

// admit starts waiting requests while budget, sequence cap and blocks allow. The
// first that does not fit holds up all behind it.
func (r *Replica) admit(now time.Duration, budget *int) {
	for *budget > 0 && len(r.running) < r.limits.Sequences && r.waiting.len() > 0 {
		q := r.waiting.first()
		if r.hopeless(q, now) {
			r.waiting.popFront()
			r.drop(q, now)
			continue
		}
		q.computed = r.cachedTokens(q)
		n := min(q.rest(), *budget)
		need := r.blocksFor(q, n)
		if need > r.free {
			q.computed = 0
			return
		}
		r.waiting.popFront()
		r.running = append(r.running, q)
		if q.scheduled == 0 {
			q.scheduled = now
			r.names[q.workflow].admitted(q)
		}
		r.compute(q, n, need, budget)
	}
}

// hopeless reports whether a waiting request is not worth starting: its client
// gave up before it began, or it could never fit into the whole pool.
func (r *Replica) hopeless(q *request, now time.Duration) bool {
	return q.scheduled == 0 && q.deadline <= now || !r.fits(q)
}

// fits reports whether the whole pool would hold the request to its end.
func (r *Replica) fits(q *request) bool {
	return (q.prompt+q.output+r.limits.BlockSize-1)/r.limits.BlockSize <= r.limits.Blocks
}

// cachedTokens is how much of the prompt needs no computation: whole blocks.
func (r *Replica) cachedTokens(q *request) int {
	q.cached -= q.cached % r.limits.BlockSize
	return q.cached
}

// blocksFor is how many more blocks the request needs to hold n more tokens.
func (r *Replica) blocksFor(q *request, n int) int {
	return (q.computed+n+r.limits.BlockSize-1)/r.limits.BlockSize - q.blocks
}

func (r *Replica) compute(q *request, n, blocks int, budget *int) {
	r.free -= blocks
	q.blocks += blocks
	q.chunk = n
	*budget -= n + q.draft
	r.work.chunk(q.computed, n, n == q.rest())
}
