package sources

import (
	"context"
	"errors"
	"strings"
	"time"

	"slotop/model"
)

// searched is a gateway that was named without a path. Events are looked for at its
// root; where there are none, once at the paths of the gateways that we know.
type searched struct {
	Source
	open  func(path string) Source
	paths []string      // to be tried
	now   time.Duration // as the schedule has it
}

var (
	_ Source   = (*searched)(nil)
	_ Advancer = (*searched)(nil)
)

// portkeyPath is where Portkey streams its log. It is tried last: it is the only one
// whose first answer does not say whose it is.
const portkeyPath = "/log/stream"

// knownPaths are those of the gateways' records.
func knownPaths() (paths []string) {
	for _, f := range logFormats {
		paths = append(paths, f.paths[0])
	}
	return append(paths, portkeyPath)
}

// Advance tells the time.
func (s *searched) Advance(to time.Duration) {
	s.now = to
	if a, ok := s.Source.(Advancer); ok {
		a.Advance(to)
	}
}

// Poll polls what was found.
func (s *searched) Poll(ctx context.Context) (model.Batch, error) {
	batch, err := s.Source.Poll(ctx)
	fault := (*FaultError)(nil)
	if err == nil || len(s.paths) == 0 || !errors.As(err, &fault) {
		return batch, err
	}
	switch fault.Kind {
	case model.NotFound, model.NotMetrics:
		return s.search(ctx, fault)
	}
	return batch, err
}

// search tries the paths. A gateway that wants a key for one of them has it.
func (s *searched) search(ctx context.Context, why *FaultError) (model.Batch, error) {
	paths := s.paths
	s.paths = nil
	for _, path := range paths {
		batch, err := s.try(ctx, path)
		if err == nil {
			return batch, nil
		}
		if ctx.Err() != nil {
			s.paths = paths // it was not looked for to the end
			return model.Batch{}, err
		}
		if fault := (*FaultError)(nil); errors.As(err, &fault) && fault.Kind == model.Denied {
			why = fault
		}
	}
	return model.Batch{}, &FaultError{why.Kind, why.Detail + "; tried " + strings.Join(paths, ", ") + " too"}
}

// try takes another path, if there is what was looked for. One that wants a key is
// asked again once there is one.
func (s *searched) try(ctx context.Context, path string) (model.Batch, error) {
	source := s.open(path)
	if a, ok := source.(Advancer); ok {
		a.Advance(s.now)
	}
	batch, err := source.Poll(ctx)
	fault := (*FaultError)(nil)
	if err != nil && (!errors.As(err, &fault) || fault.Kind != model.Denied) {
		return model.Batch{}, errors.Join(err, source.Close())
	}
	old := s.Source
	s.Source = source
	return batch, errors.Join(err, old.Close())
}
