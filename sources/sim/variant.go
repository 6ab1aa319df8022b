package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Variant is something that happens beside any incident, told by when that starts.
type Variant struct {
	ID       string
	Sentence string
	Engines  bool // it happens to engines, which a hosted provider does not show
	apply    func(o *Options, sc *Scenario)
}

// Gap is a time in which no page answers.
type Gap struct{ From, To time.Duration }

// Variants lists what may go with an incident.
var Variants = []Variant{
	{ID: "gap", Engines: true, Sentence: "no page answers for 30 s, from 30 s after the incident begins",
		apply: func(o *Options, _ *Scenario) {
			from := o.At + 30*time.Second
			o.Gaps = append(slices.Clone(o.Gaps), Gap{from, from + 30*time.Second})
		}},
	{ID: "restart", Engines: true, Sentence: "the first engine restarts 15 s after it begins and is back 10 s later",
		apply: func(o *Options, _ *Scenario) {
			o.Restarts = append(slices.Clone(o.Restarts), Restart{Replica: 0, At: o.At + 15*time.Second, Down: 10 * time.Second})
		}},
	{ID: "buckets", Engines: true, Sentence: "the last engine's histograms have other bounds than the first's",
		apply: func(o *Options, _ *Scenario) { o.OtherBounds = true }},
	{ID: "dead", Engines: true, Sentence: "an engine ends for good 30 s after it begins",
		apply: func(o *Options, sc *Scenario) {
			last := o.Replicas - sc.Standby - 1
			o.Restarts = append(slices.Clone(o.Restarts), Restart{Replica: last, At: o.At + 30*time.Second})
		}},
	{ID: "retries", Sentence: "from then on clients who gave up try again after 0.5 s, up to twice",
		apply: func(_ *Options, sc *Scenario) { sc.shift(Shift{Retries: 2}) }},
	{ID: "gateway", Sentence: "from then on the gateway holds each request for 0.4 s before it hands it over",
		apply: func(_ *Options, sc *Scenario) { sc.shift(Shift{Outside: 400 * time.Millisecond}) }},
}

// shift adds one to what the incident changes; the table of incidents stays as it is.
func (s *Scenario) shift(c Shift) { s.Shifts = append(slices.Clone(s.Shifts), c) }

// vary applies the options' variants to them and to the incident.
func (o *Options) vary(sc *Scenario) error {
	for _, id := range o.With {
		i := slices.IndexFunc(Variants, func(v Variant) bool { return strings.EqualFold(v.ID, id) })
		switch {
		case i < 0:
			return fmt.Errorf("variant %q: no such variant (%s)", id, knownVariants())
		case Variants[i].Engines && sc.Hosting != Hosting{}:
			return fmt.Errorf("variant %q: %s has no engine of its own", id, sc.ID)
		}
		Variants[i].apply(o, sc)
	}
	return nil
}

func knownVariants() string {
	var ids []string
	for _, v := range Variants {
		ids = append(ids, v.ID)
	}
	return strings.Join(ids, ", ")
}
