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
		s.agenda = append(s.agenda,
			entry{r.At, func() { replica.stop(s.now) }},
			entry{r.At + r.Down, func() { replica.start(s.now, r.At) }})
	}
	slices.SortStableFunc(s.agenda, func(a, b entry) int { return int(a.at - b.at) })
}

func (s *Sim) shift(c Shift) {
	for _, a := range s.arrivals {
		if a.Name != c.Workflow {
			continue
		}
		if c.Rate > 0 {
			a.pace(s.now, c.Rate)
		}
		a.patience = defaulted(c.Patience, a.patience)
	}
	for _, r := range s.replicas {
		r.machine.SMClock = defaulted(c.SMClock, r.machine.SMClock)
		r.machine.MemoryClock = defaulted(c.MemoryClock, r.machine.MemoryClock)
	}
	for _, r := range s.replicas[:min(c.Ready, len(s.replicas))] {
		if !r.ready {
			r.start(s.now, s.now-bootTime)
		}
	}
}

// recover ends the incident: traffic and machines are what they were. A replica
// that was added stays.
func (s *Sim) recover() {
	for _, a := range s.arrivals {
		a.pace(s.now, 1)
		a.patience = a.Patience
	}
	for _, r := range s.replicas {
		r.machine = s.options.Machine
	}
}
