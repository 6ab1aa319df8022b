package sources

import (
	"context"

	"slotop/model"
	"slotop/sources/sim"
)

// simulatedGateway is what stands before the replicas, and knows of each request
// what a page only has in sums.
type simulatedGateway struct {
	watched
	gateway  *sim.Gateway
	begun    bool
	requests []model.Request // reused: a batch is valid until the next poll
	said     *model.About
}

var (
	_ Source   = (*simulatedGateway)(nil)
	_ Advancer = (*simulatedGateway)(nil)
)

// Poll reports the requests whose phase has changed since the last one. Where the
// service ran before the first poll, what happened then was reported to nobody.
// Stamps count from Epoch, as virtual time does.
func (s *simulatedGateway) Poll(ctx context.Context) (model.Batch, error) {
	if err := s.run(ctx); err != nil {
		return model.Batch{}, err
	}
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	if !s.begun && s.from > 0 {
		s.gateway = s.service.sim.Gateway()
	}
	s.begun = true
	requests, lost := s.gateway.Reports(Epoch.Add(-s.from), s.requests[:0])
	s.said = s.about(s.said, "reports of single requests, by the simulated gateway")
	s.requests = requests
	return model.Batch{Requests: requests, Lost: lost, About: s.said}, nil
}

// Close has nothing to release.
func (s *simulatedGateway) Close() error { return nil }
