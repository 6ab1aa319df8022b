package sim

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"slotop/model"
)

// Gateway reports the service's requests one by one, as a gateway before it
// would: the whole known state of a request each time its phase changes. A
// request is queued until the engine first takes it into a batch, waits for the
// model until its first token, then streams. Its times are exact.
//
// It belongs to one goroutine, that of the Sim.
type Gateway struct {
	sim     *Sim
	from    time.Duration // reported up to it
	ended   uint64        // events reported
	numbers uint64
	events  []Event
	changes []change
}

// change is one change of a request's phase.
type change struct {
	at    time.Duration
	phase model.Phase
	of    int // place in events
}

// Gateway is one that reports what happens from now on.
func (s *Sim) Gateway() *Gateway {
	g := &Gateway{sim: s, from: s.now, ended: s.events.next}
	if s.now == 0 {
		g.from = -1 // what is there at the start was reported by nobody
	}
	return g
}

// Reports appends to dst what happened since the last call, in the order in
// which it did, with times from the given beginning of the simulation. Lost is
// how many requests ended that nobody asked for in time.
func (g *Gateway) Reports(start time.Time, dst []model.Request) (_ []model.Request, lost int) {
	events, missed := g.sim.Events(g.ended, g.events[:0])
	done := len(events)
	g.ended += uint64(done) + missed
	g.events = g.sim.InFlight(events)
	g.changes = g.changes[:0]
	for i := range g.events {
		g.look(i, i < done)
	}
	slices.SortFunc(g.changes, g.order)
	for _, c := range g.changes {
		dst = append(dst, g.report(c, start))
	}
	g.from = g.sim.now
	return dst, int(missed)
}

// look notes the changes of one request since the last report.
func (g *Gateway) look(i int, done bool) {
	e := &g.events[i]
	note := func(at time.Duration, phase model.Phase) {
		if at > g.from {
			g.changes = append(g.changes, change{at, phase, i})
		}
	}
	note(e.Arrival, model.PhaseQueued)
	if e.Scheduled > 0 {
		note(e.Scheduled, model.PhaseAtModel)
	}
	if e.FirstToken > 0 {
		note(e.FirstToken, model.PhaseStreaming)
	}
	if done {
		note(e.Finish, model.PhaseDone)
	}
}

var phases = []model.Phase{model.PhaseQueued, model.PhaseAtModel, model.PhaseStreaming, model.PhaseDone}

// order is that of time, then of requests, then of phases.
func (g *Gateway) order(a, b change) int {
	return cmp.Or(
		cmp.Compare(a.at, b.at),
		cmp.Compare(g.events[a.of].ID, g.events[b.of].ID),
		cmp.Compare(slices.Index(phases, a.phase), slices.Index(phases, b.phase)),
	)
}

// report is the state of a request at a change of its phase.
func (g *Gateway) report(c change, start time.Time) model.Request {
	e := &g.events[c.of]
	stamp := func(t time.Duration) model.Stamp { return model.StampOf(start.Add(t)) }
	g.numbers++
	r := model.Request{
		ID: id(e.ID), Seq: g.numbers, At: stamp(c.at), Phase: c.phase,
		Workflow: e.Workflow, Model: e.Workflow, Stream: model.Streamed,
		Queued: stamp(e.Arrival), InputTokens: model.Of(float64(e.PromptTokens)),
		Attempt: e.Attempt, Retries: e.Attempt - 1,
	}
	if e.RetryOf > 0 {
		r.RetryOf = id(e.RetryOf)
	}
	if c.phase == model.PhaseQueued {
		return r
	}
	if e.Replica >= 0 {
		r.Instance = g.sim.replicas[e.Replica].Name()
	}
	if e.Scheduled > 0 {
		r.Admitted, r.CachedTokens = stamp(e.Scheduled), model.Of(float64(e.CachedTokens))
	}
	if c.phase == model.PhaseAtModel {
		return r
	}
	if e.FirstToken > 0 {
		r.FirstToken, r.OutputTokens = stamp(e.FirstToken), model.Of(1)
	}
	if c.phase == model.PhaseDone {
		r.Completed, r.OutputTokens = stamp(e.Finish), model.Of(float64(e.OutputTokens))
		r.Outcome, r.Reason, r.Status = e.end()
	}
	return r
}

func id(n int64) string { return "sim-" + strconv.FormatInt(n, 10) }

// HTTP statuses that a gateway gives its client.
const (
	statusOK         = 200
	statusTooLarge   = 413
	statusClientGone = 499
	statusNoServer   = 503
)

// end is how a gateway tells the end of a request.
func (e *Event) end() (outcome model.Outcome, reason string, status int) {
	switch e.Cause {
	case GaveUp:
		return model.RequestCancelled, "client_disconnect", statusClientGone
	case TooLong:
		return model.RequestFailed, "rejected", statusTooLarge
	case Lost, Refused:
		return model.RequestFailed, "upstream_5xx", statusNoServer
	}
	if e.Outcome == LengthReached {
		return model.OutputLimited, "", statusOK
	}
	return model.Completed, "", statusOK
}
