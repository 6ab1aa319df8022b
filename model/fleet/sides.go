package fleet

import (
	"time"

	"slotop/model"
	"slotop/model/slo"
)

// side is what one layer of the way to a model counts of a workflow: the engines,
// or the gateways in front of them. The same requests pass through both, so
// their counts are never added.
type side struct {
	sum     tally
	lone    tally // of targets with a single page: since start
	whole   bool  // the levels of those are in the sum
	ledger  ledger
	heats   heats
	counted slo.Span // of the window, as it was judged last
	read    int      // targets whose pages count for it
	fresh   int      // of them, those whose values may be added up
	midway  bool     // one was at work already when it was first read
}

func newSide(rank int, now time.Duration) side {
	return side{ledger: newLedger(now), heats: newHeats(rank)}
}

func (s *side) begin() {
	s.sum.reset()
	s.lone.reset()
	s.read, s.fresh, s.whole = 0, 0, false
}

// join adds a target's share. Counts since start and counts of a window are
// different things: the former are used only while there is nothing else.
func (s *side) join(t *target, ty *tally) {
	s.read++
	s.midway = s.midway || t.busyAt1
	if t.fresh() {
		s.fresh++
	}
	if ty.basis == model.SinceStart {
		s.lone.add(ty)
		return
	}
	s.sum.add(ty)
}

// tally is the side's sum. Levels count from every target.
func (s *side) tally() *tally {
	if s.sum.basis == "" {
		return &s.lone
	}
	if s.whole {
		return &s.sum
	}
	s.whole = true
	for i := range s.lone.level {
		s.sum.absent[i] = s.sum.absent[i] && (s.lone.basis == "" || s.lone.absent[i])
		if s.lone.exported[i] {
			s.sum.exported[i] = true
			s.sum.addLevel(i, s.lone.level[i])
		}
	}
	return &s.sum
}

// stands reports whether a target stands in front of engines: what was found
// behind a plain address may be a gateway too, and tells by its phases.
func (t *target) stands() bool {
	if t.kind() == model.GatewayTarget {
		return true
	}
	for _, s := range gatewayLevels {
		if t.exports(s) {
			return true
		}
	}
	return false
}

// gatewayLevels are the phases that only a gateway knows.
var gatewayLevels = []model.Signal{model.AtGateway, model.Preparing, model.AtModel, model.IsStreaming}

func (w *workflow) sideOf(t *target) *side {
	if t.atEdge {
		return &w.edge
	}
	return &w.engines
}

// front is the side that stands nearer to the users and is there: what counts of
// requests and latencies is what they felt.
func (w *workflow) front() *side {
	if w.edge.fresh > 0 || w.engines.read == 0 {
		return &w.edge
	}
	return &w.engines
}

// back is the side that computes: engines where any is watched.
func (w *workflow) back() *side {
	if w.engines.read > 0 {
		return &w.engines
	}
	return &w.edge
}

// phases is where requests in flight stand, by a gateway's own levels: nil where
// it has none.
func phases(ty *tally) *model.Phases {
	p := model.Phases{
		Queued: ty.levelOf(model.AtGateway), PreparingContext: ty.levelOf(model.Preparing),
		WaitingForModel: ty.levelOf(model.AtModel), Streaming: ty.levelOf(model.IsStreaming),
	}
	for _, s := range gatewayLevels {
		if ty.has(s) {
			return &p
		}
	}
	return nil
}

// inFlight fills in what runs and waits at a gateway that tells phases only.
func inFlight(r *model.Requests, p *model.Phases) {
	if p == nil {
		return
	}
	if !r.Waiting.OK() {
		r.Waiting = p.Queued
	}
	if !r.Running.OK() {
		r.Running = sum(sum(p.PreparingContext, p.WaitingForModel), p.Streaming)
	}
}
