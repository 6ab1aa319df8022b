package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Options describe a service and its incident. The zero value of a field means
// the demo's choice.
type Options struct {
	Seed     uint64
	Scenario string        // ID of the incident; "" is S0
	At       time.Duration // when it starts; 0 is the scenario's own time
	For      time.Duration // how long it lasts; 0 is to the end
	Start    time.Time     // wall time at which the simulation begins

	Replicas  int
	Machine   Machine
	Limits    Limits
	Workflows []Workflow
	Outside   time.Duration // mean time of a request in the gateway

	With        []string // IDs of variants
	Restarts    []Restart
	Gaps        []Gap
	OtherBounds bool // the last replica's histograms have bounds of their own
}

// Restart ends a replica's process at a time and starts a new one after Down; with
// Down 0 it ends for good.
type Restart struct {
	Replica  int
	At, Down time.Duration
}

// start is when a simulation begins that was not told when: any fixed day will do.
var start = time.Date(2026, time.June, 1, 9, 0, 0, 0, time.UTC)

// bootTime is how long a process lives before it is ready: it loads the model.
const bootTime = 68 * time.Second

// demoReplicas is the size of the demo's service, demoOutside the mean time of a
// request in its gateway.
const (
	demoReplicas = 2
	demoOutside  = 2 * time.Millisecond
)

// Sim is a simulated service. It is not safe for concurrent use.
type Sim struct {
	options  Options
	scenario Scenario
	now      time.Duration
	arrivals []*arrivals
	replicas []*Replica
	provider *provider     // instead of replicas
	outside  time.Duration // in force now
	coming   []*request    // made already, by the time at which the gateway hands them over
	agenda   []entry
	prefer   int // replica that the router asks first
	ids      int64
	events   eventLog
	spare    []*request
}

// New makes a service at virtual time zero.
func New(o Options) (*Sim, error) {
	found, ok := scenario(defaulted(o.Scenario, "S0"))
	if !ok {
		return nil, fmt.Errorf("scenario %q: no such scenario (%s)", o.Scenario, known())
	}
	o.At = defaulted(o.At, found.At)
	if len(o.With) > 0 {
		o.At = defaulted(o.At, quiet) // a quiet service has no time of its own
	}
	o.Start = defaulted(o.Start, start)
	o.Replicas = defaulted(o.Replicas, demoReplicas)
	o.Machine = defaulted(o.Machine, H100())
	o.Limits = defaulted(o.Limits, DemoLimits())
	o.Outside = defaulted(o.Outside, demoOutside)
	if o.Workflows == nil {
		o.Workflows = DemoWorkflows()
	}
	if err := o.vary(&found); err != nil {
		return nil, err
	}
	if err := o.check(found); err != nil {
		return nil, err
	}
	s := &Sim{options: o, scenario: found}
	s.build()
	return s, nil
}

func defaulted[T comparable](v, or T) T {
	var zero T
	if v == zero {
		return or
	}
	return v
}

func known() string {
	var ids []string
	for _, s := range Scenarios {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, ", ")
}

func (o *Options) check(sc Scenario) error {
	switch {
	case o.Replicas <= sc.Standby:
		return fmt.Errorf("scenario %s needs more than %d replicas", sc.ID, sc.Standby)
	case len(o.Workflows) == 0:
		return fmt.Errorf("simulation without a workflow")
	case o.At < 0 || o.For < 0:
		return fmt.Errorf("an incident cannot start or last a negative time")
	}
	if len(o.Restarts) > 0 && sc.Hosting != (Hosting{}) {
		return fmt.Errorf("scenario %s has no replica to restart", sc.ID)
	}
	for _, r := range o.Restarts {
		if r.Replica < 0 || r.Replica >= o.Replicas {
			return fmt.Errorf("restart of replica %d: there are %d", r.Replica, o.Replicas)
		}
	}
	return nil
}

// Streams of random numbers: of each workflow for its requests and for their way to
// the engine, of each replica for its steps and for its drafts, and the provider's.
const (
	trafficStream = (1 + iota) << 32
	jitterStream
	transitStream
	draftStream
	providerStream
)

func (s *Sim) stream(kind uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(s.options.Seed, kind+uint64(i)))
}

func (s *Sim) build() {
	o := s.options
	ready := o.Replicas - s.scenario.Standby
	s.outside = o.Outside
	for i, w := range slices.Concat(o.Workflows, s.scenario.Comers) {
		a := newArrivals(w, s.stream(trafficStream, i), ready, i >= len(o.Workflows))
		a.transit = s.stream(transitStream, i)
		s.arrivals = append(s.arrivals, a)
	}
	s.serve(ready)
	s.plan()
	for i, a := range s.arrivals {
		for range a.Clients {
			s.later(s.draw(i, 0))
		}
	}
}

// serve makes the replicas, so many of them ready, or whatever stands for them.
func (s *Sim) serve(ready int) {
	o, sc := s.options, s.scenario
	if sc.Hosting != (Hosting{}) {
		s.provider = &provider{sim: s, random: s.stream(providerStream, 0), hosting: sc.Hosting}
		return
	}
	for i := range o.Replicas {
		s.replicas = append(s.replicas, &Replica{
			sim: s, index: i, machine: o.Machine, limits: o.Limits, stepEnd: never,
			jitter: s.stream(jitterStream, i), luck: s.stream(draftStream, i),
			speculation: sc.Speculation, bounds: currentBounds,
		})
	}
	if o.OtherBounds {
		s.replicas[o.Replicas-1].bounds = otherBounds
	}
	for _, r := range s.replicas[:ready] {
		r.start(0, -bootTime)
	}
}

// Now is the virtual time since the simulation began.
func (s *Sim) Now() time.Duration { return s.now }

// Hosted reports whether a provider answers, whose engines nobody sees.
func (s *Sim) Hosted() bool { return s.provider != nil }

// Incident names what goes wrong now, "" while nothing does.
func (s *Sim) Incident() string {
	o := s.options
	if len(s.scenario.Shifts) == 0 || s.now < o.At || o.For > 0 && s.now >= o.At+o.For {
		return ""
	}
	return s.scenario.ID + " " + s.scenario.Name
}

// silent reports whether no page answers now.
func (s *Sim) silent() bool {
	return slices.ContainsFunc(s.options.Gaps, func(g Gap) bool { return g.From <= s.now && s.now < g.To })
}

// Replicas are the service's servers, ready or not, always the same. A hosted
// provider shows none.
func (s *Sim) Replicas() []*Replica { return slices.Clone(s.replicas) }

// Events appends to dst what is known of the requests that ended after the one
// with the given sequence number, oldest first, and counts those that were
// dropped because nobody had asked in time.
func (s *Sim) Events(since uint64, dst []Event) ([]Event, uint64) {
	return s.events.since(since, dst)
}

// InFlight appends to dst what is known of the requests that have arrived and not
// ended, in no order: their Finish, Outcome and Cause say nothing yet.
func (s *Sim) InFlight(dst []Event) []Event {
	for _, q := range s.coming {
		if q.arrival <= s.now {
			dst = append(dst, s.event(-1, q))
		}
	}
	if s.provider != nil {
		for _, q := range s.provider.underway {
			dst = append(dst, s.event(-1, q))
		}
	}
	for _, r := range s.replicas {
		r.each(func(q *request) { dst = append(dst, s.event(r.index, q)) })
	}
	return dst
}

// unix is a virtual time as the Python client writes wall time.
func (s *Sim) unix(t time.Duration) float64 {
	return float64(s.options.Start.Add(t).UnixMicro()) / 1e6
}

// Advance runs the service up to and including the given time. Earlier times
// change nothing.
func (s *Sim) Advance(to time.Duration) {
	for {
		at, what := s.next()
		if at > to {
			break
		}
		s.now = at
		s.happen(what)
	}
	s.now = max(s.now, to)
}

// occasion is the kind of what happens next, and whose it is.
type occasion struct {
	kind  occasionKind
	index int
}

type occasionKind uint8

const (
	planned occasionKind = iota
	arrival
	handover
	turn
	answer
)

// next finds what happens first. Of things at the same time the plan goes first,
// then arrivals, then what the gateway hands over, then the replicas in their order.
func (s *Sim) next() (time.Duration, occasion) {
	at, what := never, occasion{}
	consider := func(t time.Duration, o occasion) {
		if t < at {
			at, what = t, o
		}
	}
	if len(s.agenda) > 0 {
		consider(s.agenda[0].at, occasion{kind: planned})
	}
	for i, a := range s.arrivals {
		consider(a.next, occasion{arrival, i})
	}
	if len(s.coming) > 0 {
		consider(s.coming[0].sent, occasion{kind: handover})
	}
	if s.provider != nil {
		consider(s.provider.next(), occasion{kind: answer})
	}
	for i, r := range s.replicas {
		consider(r.next(), occasion{turn, i})
	}
	return at, what
}

func (s *Sim) happen(o occasion) {
	switch o.kind {
	case planned:
		e := s.agenda[0]
		s.agenda = s.agenda[1:]
		e.do()
	case arrival:
		s.later(s.draw(o.index, s.now))
		s.arrivals[o.index].schedule(s.now)
	case handover:
		q := s.coming[0]
		s.coming = slices.Delete(s.coming, 0, 1)
		s.route(q)
	case turn:
		s.replicas[o.index].turn(s.now)
	case answer:
		s.provider.turn(s.now)
	}
}
