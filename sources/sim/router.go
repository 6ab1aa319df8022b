package sim

import (
	"slices"
	"time"
)

// refusedPause is when a client of a closed loop tries again whom nobody answered.
const refusedPause = time.Second

// draw makes the next request of a workflow.
func (s *Sim) draw(workflow int, at time.Duration) *request {
	q := s.fresh()
	q.workflow = workflow
	s.arrivals[workflow].draw(at, s.options.Limits.Context, q)
	s.send(q)
	return q
}

// send sets how long the gateway keeps a request before it hands it over: half of
// the time is the same for all, the other half is exponential.
func (s *Sim) send(q *request) {
	held := s.outside.Seconds() * (1 + s.arrivals[q.workflow].transit.ExpFloat64()) / 2
	q.sent = q.arrival + seconds(held)
}

func (s *Sim) fresh() *request {
	q := new(request)
	if n := len(s.spare); n > 0 {
		q = s.spare[n-1]
		s.spare = s.spare[:n-1]
	}
	s.ids++
	*q = request{id: s.ids}
	return q
}

// route gives a request to the ready replica with the fewest outstanding. Among
// equals they take turns, so that an idle service spreads its load.
func (s *Sim) route(q *request) {
	if s.provider != nil {
		s.provider.accept(q, s.now)
		return
	}
	var best *Replica
	for i := range s.replicas {
		r := s.replicas[(s.prefer+i)%len(s.replicas)]
		if r.ready && (best == nil || r.outstanding() < best.outstanding()) {
			best = r
		}
	}
	if best == nil {
		s.ended(-1, q, q.sent, Aborted, Refused)
		return
	}
	s.prefer = best.index + 1
	best.accept(q, q.sent)
}

// event is what has happened to a request up to now.
func (s *Sim) event(replica int, q *request) Event {
	return Event{
		ID: q.id, RetryOf: q.retryOf, Attempt: q.attempt + 1, Workflow: s.arrivals[q.workflow].Name, Replica: replica,
		Arrival: q.arrival, Received: q.received, Scheduled: q.scheduled, FirstToken: q.first, WorstGap: q.worst,
		PromptTokens: q.prompt, CachedTokens: q.cached, OutputTokens: q.generated,
		Preemptions: q.preemptions,
	}
}

// ended records a request and lets its client go on: a closed loop sends the
// next one, a client with attempts left tries again.
func (s *Sim) ended(replica int, q *request, now time.Duration, o Outcome, c Cause) {
	a := s.arrivals[q.workflow]
	e := s.event(replica, q)
	e.Finish, e.Outcome, e.Cause = now, o, c
	s.events.add(e)
	if o == Aborted && q.attempt < a.retries {
		s.comeBack(q, now+defaulted(a.RetryAfter, retryPause))
	}
	s.spare = append(s.spare, q)
	if a.Clients == 0 || a.over() {
		return
	}
	if c == Refused {
		now += refusedPause
	}
	s.later(s.draw(q.workflow, now))
}

// comeBack puts the same request on the way again.
func (s *Sim) comeBack(q *request, at time.Duration) {
	a := s.arrivals[q.workflow]
	again := s.fresh()
	again.workflow, again.retryOf, again.attempt = q.workflow, q.id, q.attempt+1
	again.prompt, again.cached = q.prompt, q.cached
	again.output, again.limit, again.limited = q.output, q.limit, q.limited
	again.arrival, again.deadline = at, a.giveUp(at)
	s.send(again)
	s.later(again)
}

// later keeps a request until the gateway hands it over.
func (s *Sim) later(q *request) {
	i := len(s.coming)
	for i > 0 && s.coming[i-1].sent > q.sent {
		i--
	}
	s.coming = slices.Insert(s.coming, i, q)
}
