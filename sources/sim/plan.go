package sim

import (
	"slices"
	"time"
)

// entry is something that is known to happen at a time.
type entry struct {
	at time.Duration
	do func()
}

// plan sets what the scenario and the options have in store.
func (s *Sim) plan() {
	o := s.options
	for _, shift := range s.scenario.Shifts {
		s.agenda = append(s.agenda, entry{o.At + shift.After, func() { s.shift(shift) }})
	}
	if o.For > 0 {
		s.agenda = append(s.agenda, entry{o.At + o.For, s.recover})
	}
	for _, r := range o.Restarts {
		replica := s.replicas[r.Replica]
		s.agenda = append(s.agenda, entry{r.At, func() { replica.stop(s.now) }})
		if r.Down > 0 {
			s.agenda = append(s.agenda, entry{r.At + r.Down, func() { replica.start(s.now, r.At) }})
		}
	}
	slices.SortStableFunc(s.agenda, func(a, b entry) int { return int(a.at - b.at) })
}

func (s *Sim) shift(c Shift) {
	s.outside = defaulted(c.Outside, s.outside)
	for _, a := range s.arrivals {
		a.retries = defaulted(c.Retries, a.retries)
		if a.Name == c.Workflow {
			a.shift(c, s.now)
		}
	}
	if s.provider != nil {
		s.provider.shift(c)
	}
	for _, r := range s.replicas {
		r.shift(c)
	}
	for _, r := range s.replicas[:min(c.Ready, len(s.replicas))] {
		if !r.ready {
			r.start(s.now, s.now-bootTime)
		}
	}
}

func (a *arrivals) shift(c Shift, now time.Duration) {
	if c.Rate > 0 {
		a.pace(now, c.Rate)
	}
	a.patience = defaulted(c.Patience, a.patience)
	a.prompt = defaulted(c.Prompt, a.prompt)
	a.answer = defaulted(c.Output, a.answer)
	a.maxOutput = defaulted(c.MaxOutput, a.maxOutput)
	a.cold = a.cold || c.Cold
}

func (r *Replica) shift(c Shift) {
	m := &r.machine
	m.SMClock = defaulted(c.SMClock, m.SMClock)
	m.MemoryClock = defaulted(c.MemoryClock, m.MemoryClock)
	m.StepOverhead = defaulted(c.StepOverhead, m.StepOverhead)
	m.SequenceOverhead = defaulted(c.SequenceOverhead, m.SequenceOverhead)
	r.speculation.Acceptance = defaulted(c.Acceptance, r.speculation.Acceptance)
	l := r.limits
	l.TokenBudget = defaulted(c.TokenBudget, l.TokenBudget)
	l.Sequences = defaulted(c.Sequences, l.Sequences)
	l.Blocks = defaulted(c.Blocks, l.Blocks)
	r.limit(l)
}

// recover ends the incident: traffic, machines and limits are what they were. A
// replica that was added stays.
func (s *Sim) recover() {
	s.outside = s.options.Outside
	if s.provider != nil {
		s.provider.hosting = s.scenario.Hosting
	}
	for _, a := range s.arrivals {
		usual := a.usual()
		a.pace(s.now, usual.factor)
		a.mood = usual
	}
	for _, r := range s.replicas {
		r.machine = s.options.Machine
		r.speculation = s.scenario.Speculation
		r.limit(s.options.Limits)
	}
}
