package sources

import (
	"context"

	"slotop/model"
	"slotop/sources/sim"
)

// simulatedGPUs is the driver of the boards that the replicas run on.
type simulatedGPUs struct {
	watched
	gpus    *sim.GPUs
	begun   bool
	devices []model.Device // reused: a batch is valid until the next poll
	said    *model.About
}

var (
	_ Source   = (*simulatedGPUs)(nil)
	_ Advancer = (*simulatedGPUs)(nil)
)

// Poll reads every board. Where the service ran before the first poll, the driver
// begins to count there.
func (s *simulatedGPUs) Poll(ctx context.Context) (model.Batch, error) {
	if err := s.run(ctx); err != nil {
		return model.Batch{}, err
	}
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	if !s.begun && s.from > 0 {
		s.gpus = s.service.sim.GPUs()
	}
	s.begun = true
	s.said = s.about(s.said, "the boards of the simulated replicas, with hardware counters")
	s.devices = s.gpus.Read(s.devices[:0])
	return model.Batch{Devices: s.devices, About: s.said}, nil
}

// Close has nothing to release.
func (s *simulatedGPUs) Close() error { return nil }
