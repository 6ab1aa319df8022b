package diagnose

import (
	"math"
	"slices"

	"slotop/model"
	"slotop/model/unit"
)

// settingRules say what binds, and that it is the cause where nothing else moved.
var settingRules = []rule{
	{
		id: "C1", title: "the configuration limits it", layer: model.LayerCause,
		when:    "something is full though no factor of the load and no machine changed, or the KV pool became smaller",
		against: "a factor of the load moved, an engine is missing, or the queue shrinks: then what filled it is over",
		try:     []string{"take back the last change", "compare the settings with those of a healthy replica"},
		says:    configured,
	},
	{
		id: "B1", title: "a resource is full", layer: model.LayerBinding,
		when:    "requests wait, or are preempted, for want of one resource",
		against: "nothing waits; or what waits becomes less (B2)",
		try:     []string{"add a replica, or admit less"},
		says:    full,
	},
	{
		id: "B2", title: "a backlog drains", layer: model.LayerBinding,
		when:    "requests wait, fewer and fewer, and no factor of the load or machine is up any more",
		against: "the queue grows, or a factor of the work is still up",
		try:     []string{"wait for it", "drop what waits too long to be of use"},
		says:    backlog,
	},
}

// smallerPool is what is left of a KV pool that counts as smaller.
const smallerPool = 0.8

// shrank reports whether the engine's KV pool is smaller than in the baseline.
func (e *Engine) shrank() bool { return value(e.KVCapacity) < smallerPool*value(e.KVCapacityBefore) }

func configured(p *probe) []saying {
	if p.bound.binds == model.BindsNothing || p.bound.binds == model.BindsCap || p.hosted() {
		return nil
	}
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		if p.bound.binds != model.BindsKV || !e.shrank() {
			continue
		}
		before, now := value(e.KVCapacityBefore), value(e.KVCapacity)
		name := p.among(e)
		if !slices.ContainsFunc(p.f.Engines, func(e Engine) bool { return !e.shrank() }) {
			name = "" // all did
		}
		return []saying{{
			engine: name, factor: setting(before, now), weight: math.Log(before / now),
			cause:    "KV pool " + unit.Count(before) + " → " + unit.Count(now) + " tokens",
			evidence: listed(append([]string{p.changed(e)}, p.state()...)...),
			not:      []string{"load: the pool is " + unit.Times(now/before) + " of what it was"},
			try:      []string{"give the KV pool its memory back"},
		}}
	}
	if !p.compares() || p.grew() || p.bound.engine == nil || p.f.Silent > 0 || p.drains() {
		return nil
	}
	e := p.bound.engine
	said := saying{engine: p.only(p.bound), factor: setting(math.NaN(), math.NaN()), evidence: p.state()}
	if what := p.changed(e); what != "" {
		said.cause, said.evidence = e.Changes[0].What, append(said.evidence, what)
		return []saying{said}
	}
	if p.again == nil || !p.again("binds "+e.Name) {
		return nil // the minute's means may not show yet what filled it
	}
	said.cause = "no load factor moved: a setting, or load that grew slowly"
	said.doubt = "no change of the engine was seen"
	if !e.Step.Residual.OK() {
		said.cause, said.factor = "no load factor moved: a setting, or a slower machine", nil
		said.doubt = "how long its steps should take is not known: a slow GPU or host looks the same"
	}
	return []saying{said}
}

// shrunk is the part of the minute's mean queue below which its newest end counts as
// shrinking.
const shrunk = 0.9

// drains reports whether the queue shrinks: what filled it is over.
func (s *scene) drains() bool {
	now, minute := s.backlog()
	return minute > leastWaiting && now < shrunk*minute
}

// backlog is how many wait at the end of the present, and over all of it.
func (s *scene) backlog() (now, minute float64) {
	for i := range s.f.Engines {
		blocks := s.f.Engines[i].Now
		now += mean(last(blocks, 1), WaitingLevel).Value()
		minute += mean(blocks, WaitingLevel).Value()
	}
	return now, minute
}

func backlog(p *probe) []saying {
	if p.hosted() || !p.matters() || p.grew() || !p.drains() || !p.compares() {
		return nil
	}
	now, minute := p.backlog()
	said := saying{
		weight:   1, // before what it left full
		cause:    "a backlog drains: " + unit.Count(minute) + " → " + unit.Count(now) + " waiting",
		evidence: append([]string{"no factor of the load or the machine is up"}, p.state()...),
	}
	return []saying{said}
}

func full(p *probe) []saying {
	switch b := p.bound; {
	case b.binds == model.BindsNothing, b.binds == model.BindsCap, b.binds == model.BindsProvider:
		return nil
	case b.binds == model.BindsKV && p.preemptions() > p.ease*someKV:
		return nil // T6 says so
	case p.drains() && !p.grew():
		return nil // B2 says so
	default:
		return []saying{{engine: p.only(b), evidence: p.state(), try: listed(p.addReplica())}}
	}
}
