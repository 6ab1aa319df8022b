package sources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"slotop/model"
	"slotop/sources/sim"
)

var demoKind = Kind{
	Name:    "demo",
	Doc:     "the built-in simulated service and one of its incidents",
	Example: "demo:S4?seed=7",
	Match:   isDemo,
	Open:    openDemo,
}

// service is a simulation that several targets read, each on its own schedule.
type service struct {
	mu  sync.Mutex
	sim *sim.Sim
	now time.Duration // that the simulation has come to
}

// watched is the service as one target sees it.
type watched struct {
	service *service
	from    time.Duration // the service's time at the first poll
	to      time.Duration // the service's time at the next poll
}

// simulated is one replica of it. Its page goes through the same reader as a
// real server's.
type simulated struct {
	watched
	replica *sim.Replica
	page    *page
	text    []byte
}

var (
	_ Source   = (*simulated)(nil)
	_ Advancer = (*simulated)(nil)
)

func isDemo(arg string) bool {
	return arg == "demo" || strings.HasPrefix(arg, "demo:") || strings.HasPrefix(arg, "demo?")
}

func openDemo(_ context.Context, spec Spec) ([]Opened, error) {
	d, err := parseDemo(spec.Address)
	if err != nil {
		return nil, err
	}
	s, err := sim.New(d.options)
	if err != nil {
		return nil, usage(spec.Address, err.Error(), "slotop demo --list names the incidents and what may go with them")
	}
	if s.Hosted() {
		if d.events.given && !d.events.on {
			return nil, usage(spec.Address, "a hosted provider shows nothing but what a gateway reports", "leave events=0 out")
		}
		if d.gpus.given && d.gpus.on {
			return nil, usage(spec.Address, "nobody sees a hosted provider's GPUs", "leave gpus=1 out")
		}
		d.events.on = true
	}
	return d.open(spec, watched{service: &service{sim: s}, from: d.from}), nil
}

// open makes the targets of a service: its engines, then its gateway, then its
// boards. Its gateway and its boards tell of the incident.
func (d *demo) open(spec Spec, w watched) []Opened {
	var opened []Opened
	s := w.service.sim
	boards := d.gpus.on && !s.Hosted()
	for _, replica := range s.Replicas() {
		o := Opened{
			Target: simulatedTarget(spec, replica.Name(), engineKind.Name),
			Source: &simulated{watched: w, replica: replica, page: newPage(spec.Options)},
		}
		if boards {
			o.Target.GPUs = replica.GPU()
		}
		opened = append(opened, o)
	}
	if d.events.on {
		opened = append(opened, Opened{
			Target: simulatedTarget(spec, "sim-gateway", model.GatewayTarget),
			Source: &simulatedGateway{watched: w, gateway: s.Gateway()},
		})
	}
	if boards {
		opened = append(opened, Opened{
			Target: simulatedTarget(spec, "sim-gpus", model.GPUTarget),
			Source: &simulatedGPUs{watched: w, gpus: s.GPUs()},
		})
	}
	return opened
}

func simulatedTarget(spec Spec, name, kind string) model.Target {
	return model.Target{ID: model.TargetID(spec.Address + "#" + name), Name: name, Kind: kind, Simulated: true}
}

// demo is what the address of a simulation asks for.
type demo struct {
	options sim.Options
	from    time.Duration
	events  choice // with the gateway's reports of single requests
	gpus    choice // with the boards that the replicas run on
}

// choice is a yes or no that may have been left open.
type choice struct{ on, given bool }

const demoForm = "write demo:S4?seed=7&at=60s&for=5m, with any of seed, at, for, from, events=1, gpus=0 and with=VARIANT,VARIANT"

// parseDemo reads demo[:SCENARIO][?SETTING&SETTING]. At is when the incident starts
// and for how long it lasts, both the scenario's own choice unless given; from lets
// the service run up to a time before the first poll; events adds a gateway that
// reports each request; gpus=0 leaves the boards out; with names what else happens.
func parseDemo(arg string) (demo, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(arg, "demo"), ":")
	name, query, _ := strings.Cut(rest, "?")
	settings, err := url.ParseQuery(query)
	if err != nil {
		return demo{}, usage(arg, "its settings cannot be read", demoForm)
	}
	d := demo{gpus: choice{on: true}, options: sim.Options{Scenario: name}}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value := settings[key][len(settings[key])-1]
		known, err := d.set(key, value)
		switch {
		case !known:
			return d, usage(arg, fmt.Sprintf("no setting is called %q", key), demoForm)
		case err != nil:
			return d, usage(arg, fmt.Sprintf("%s cannot be %q", key, value), demoForm)
		}
	}
	return d, nil
}

func (d *demo) set(key, value string) (known bool, err error) {
	switch key {
	case "seed":
		d.options.Seed, err = strconv.ParseUint(value, 10, 64)
	case "at":
		d.options.At, err = parseSpan(value)
	case "for":
		d.options.For, err = parseSpan(value)
	case "from":
		d.from, err = parseSpan(value)
	case "events":
		d.events.given = true
		d.events.on, err = strconv.ParseBool(value)
	case "gpus":
		d.gpus.given = true
		d.gpus.on, err = strconv.ParseBool(value)
	case "with":
		d.options.With = strings.Split(value, ",")
	default:
		return false, nil
	}
	return true, err
}

// maxSpan bounds how long the first poll of a simulation takes.
const maxSpan = 24 * time.Hour

// parseSpan reads a duration, or a number of seconds.
func parseSpan(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil {
		d, err = time.ParseDuration(value + "s")
	}
	if err == nil && (d < 0 || d > maxSpan) {
		err = fmt.Errorf("from 0 to %v", maxSpan)
	}
	return d, err
}

// WatchedAt is when an incident starts that somebody looks on, unless it says
// itself: the diagnosis needs a minute of quiet before the present minute, and
// what a step costs is learned from it.
const WatchedAt = 150 * time.Second

// Watched is a target argument for somebody who looks on. An incident of the
// simulator that does not say when it starts does so after WatchedAt; anything
// else is as it was.
func Watched(arg string) string {
	if !isDemo(arg) {
		return arg
	}
	name, query, found := strings.Cut(arg, "?")
	settings, err := url.ParseQuery(query)
	if err != nil || !strings.Contains(name, ":") || settings.Has("at") || settings.Has("from") {
		return arg
	}
	join := "?"
	if found {
		join = "&"
	}
	return arg + join + "at=" + WatchedAt.String()
}

// Advance says up to which time the service runs before the next poll.
func (w *watched) Advance(to time.Duration) { w.to = w.from + to }

// about is what a target of the service says of itself, with the incident of now.
// It is the same until that changes. The service is locked.
func (w *watched) about(said *model.About, of string) *model.About {
	notes := []string{of}
	if incident := w.service.sim.Incident(); incident != "" {
		notes = append(notes, model.IncidentNote+incident)
	}
	if said != nil && slices.Equal(said.Notes, notes) {
		return said
	}
	return &model.About{Notes: notes}
}

func (w *watched) promises() []model.WorkflowSpec { return w.service.sim.Promises() }

// Promised is what the simulated services among the targets promise their workflows,
// each named once.
func Promised(opened []Opened) []model.WorkflowSpec {
	var all []model.WorkflowSpec
	for _, o := range opened {
		s, ok := o.Source.(interface{ promises() []model.WorkflowSpec })
		if !ok {
			continue
		}
		for _, w := range s.promises() {
			if !slices.ContainsFunc(all, func(have model.WorkflowSpec) bool { return have.Name == w.Name }) {
				all = append(all, w)
			}
		}
	}
	return all
}

// slice is how long the service runs before it looks whether anybody still
// waits: some milliseconds' work.
const slice = 10 * time.Second

// run lets the service run up to the time of this poll. It may be there already,
// for another target.
func (w *watched) run(ctx context.Context) error {
	for at := w.service.at(); at < w.to; at = w.service.at() {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.service.advance(at + min(slice, w.to-at))
	}
	return ctx.Err()
}

func (s *service) at() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *service) advance(to time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to > s.now { // another target may have been faster
		s.sim.Advance(to)
		s.now = to
	}
}

// Poll reads the replica's page as it is now.
func (s *simulated) Poll(ctx context.Context) (model.Batch, error) {
	if err := s.run(ctx); err != nil {
		return model.Batch{}, err
	}
	text, err := s.write()
	if errors.Is(err, sim.ErrSilent) {
		return model.Batch{}, &FaultError{model.Timeout, excerpt(err.Error())}
	}
	if err != nil {
		return model.Batch{}, &FaultError{model.Refused, excerpt(err.Error())}
	}
	return s.page.read(ctx, text, math.NaN())
}

func (s *simulated) write() (text []byte, err error) {
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	s.text, err = s.replica.Page(s.text[:0])
	return s.text, err
}

// Close has nothing to release.
func (s *simulated) Close() error { return nil }
