package notify

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"slotop/model"
)

// maxRemembered is how many alerts that are in no frame any more are remembered
// at least, so that one that comes back is not told twice.
const maxRemembered = 1024

// Options are what a Sender is given besides the configuration.
type Options struct {
	Version string // of slotop, for receivers
	// DryRun, where it is set, gets what would be sent, without secrets, and
	// nothing is sent.
	DryRun io.Writer
}

// Sender carries alerts to the sinks of a configuration. Each sink has its own
// queue and pace.
type Sender struct {
	workers []*worker
	life    context.Context // ends when deliveries are cut off
	cut     context.CancelFunc
	closing chan struct{}

	// Owned by the caller of Frame.
	seen    map[model.AlertID]*sighting
	round   uint64 // of frames
	changes []change

	mu      sync.Mutex
	closed  bool
	running chan struct{} // closed when Run ends; nil before it
}

// sighting is how an alert stood when a frame last held it.
type sighting struct {
	fired  time.Duration // when, on the core's clock: which of its episodes
	rank   int           // of the severity it was taken with; 0 when it was not
	firing bool          // taken, and not over
	round  uint64
}

// New checks a configuration and makes a Sender for it. It starts nothing and
// speaks to nobody. Its error names the sink and what to change, never a secret.
func New(c Config, opt Options) (*Sender, error) {
	s := &Sender{closing: make(chan struct{}), seen: map[model.AlertID]*sighting{}}
	s.life, s.cut = context.WithCancel(context.Background())
	if opt.DryRun != nil {
		opt.DryRun = &lockedWriter{w: opt.DryRun}
	}
	names := map[string]bool{}
	for i, sink := range c.Sinks {
		sink = sink.withDefaults()
		if names[sink.Name] {
			return nil, fmt.Errorf("receiver %d: there is another one called %s: give each its own name", i+1, clean(sink.Name))
		}
		names[sink.Name] = true
		w, err := newWorker(s.life, sink, opt)
		if err != nil {
			return nil, fmt.Errorf("receiver %s: %w", clean(cmp.Or(sink.Name, fmt.Sprint(i+1))), err)
		}
		s.workers = append(s.workers, w)
	}
	return s, nil
}

// Frame takes what changed since the frame before: alerts that began to fire,
// became more severe, or were resolved. It never waits for a receiver, and
// allocates nothing while nothing changes. It is called from one goroutine.
//
// An alert that is acknowledged before its firing was taken is not told, nor is
// its end; acknowledging it later changes nothing, and only a higher severity is
// told again. An alert that was resolved before any frame showed it firing is
// not told either: a receiver never hears of the end of something it did not
// hear of.
func (s *Sender) Frame(f *model.Frame) {
	if len(s.workers) == 0 {
		return
	}
	s.round++
	s.changes = s.changes[:0]
	for i := range f.Alerts {
		s.look(&f.Alerts[i], f.Simulated)
	}
	s.forget(len(f.Alerts))
	for _, w := range s.workers {
		w.take(f, s.changes)
	}
	clear(s.changes) // they hold on to their frame
}

// look notes what is new about an alert.
func (s *Sender) look(a *model.AlertView, simulated bool) {
	firing := a.State == model.AlertFiring
	if !firing && a.State != model.AlertResolved {
		return
	}
	was := s.seen[a.ID]
	if was == nil {
		was = &sighting{fired: a.FiredAt.Mono}
		s.seen[a.ID] = was
	}
	was.round = s.round
	if was.fired != a.FiredAt.Mono {
		if was.firing {
			s.note(endedBefore(*a, was.fired), was.fired, ended, simulated)
		}
		*was = sighting{fired: a.FiredAt.Mono, round: s.round}
	}
	switch {
	case firing && rank(a.Severity) > was.rank && (was.firing || !a.Acknowledged):
		was.firing, was.rank = true, rank(a.Severity)
		s.note(*a, was.fired, began, simulated)
	case !firing && was.firing:
		was.firing = false
		s.note(*a, was.fired, ended, simulated)
	}
}

// endedBefore is the end of an episode whose alert was resolved and fired again
// between two frames.
func endedBefore(a model.AlertView, fired time.Duration) model.AlertView {
	if a.ResolvedAt.Mono < fired || a.ResolvedAt.Mono > a.FiredAt.Mono {
		a.ResolvedAt = a.FiredAt
	}
	return a
}

func (s *Sender) note(a model.AlertView, fired time.Duration, what step, simulated bool) {
	s.changes = append(s.changes, change{
		key:    episode{a.ID, fired},
		notice: notice{what: what, alert: a, simulated: simulated},
	})
}

// forget drops alerts that are in no frame any more once they are many.
func (s *Sender) forget(shown int) {
	if len(s.seen) <= 2*shown+maxRemembered {
		return
	}
	for id, was := range s.seen {
		if was.round != s.round {
			delete(s.seen, id)
		}
	}
}

// Run delivers until Close, or until ctx ends, which cuts off what is under way:
// call Close first to give it a moment. When Run returns, no goroutine and no
// process of it is left.
func (s *Sender) Run(ctx context.Context) {
	s.mu.Lock()
	if s.closed || s.running != nil {
		s.mu.Unlock()
		return
	}
	s.running = make(chan struct{})
	s.mu.Unlock()
	defer close(s.running)
	stop := context.AfterFunc(ctx, s.cut)
	defer stop()
	var all sync.WaitGroup
	for _, w := range s.workers {
		all.Go(func() { w.run(s.life, s.closing) })
	}
	all.Wait()
}

// Close tries once more to deliver what is waiting, for at most within, and
// returns when Run has ended. What was not delivered by then stays in Status as
// Waiting. An alert that still fires is not reported as resolved.
func (s *Sender) Close(within time.Duration) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	running := s.running
	s.mu.Unlock()
	defer s.cut()
	if running == nil {
		return
	}
	grace := time.NewTimer(within)
	defer grace.Stop()
	select {
	case <-running:
	case <-grace.C:
		s.cut()
		<-running
	}
}

// SinkStatus is how the deliveries to one sink go. It holds no secret.
type SinkStatus struct {
	Name  string
	Where string // the program, or the server without its path

	Waiting    int // notices that are not delivered yet
	Delivered  int // notices, each once
	Failures   int // deliveries that failed and were, or will be, tried again
	Dropped    int // alerts for which there was no room
	Superseded int // alerts that were over before they could be told, at a sink that hears of no end

	LastError   string // "" once a delivery succeeded after it
	FailedAt    time.Time
	DeliveredAt time.Time
	RetryAt     time.Time // zero while nothing is tried again
}

// Status says how the deliveries go, one for each sink in the order given.
func (s *Sender) Status() []SinkStatus {
	all := make([]SinkStatus, 0, len(s.workers))
	for _, w := range s.workers {
		all = append(all, w.status())
	}
	return all
}

// severities from the least to the most.
var severities = []model.Severity{model.Note, model.Warn, model.Page}

// rank orders severities from 1 up; one that is unknown counts as the least.
func rank(s model.Severity) int { return max(slices.Index(severities, s), 0) + 1 }

// lockedWriter lets several sinks write whole texts to one place.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
