package capacity

import (
	"math"

	"slotop/model"
)

// Ceiling is a rate in requests a second that one thing does not let pass.
type Ceiling struct {
	Binds model.Binding
	Rate  float64
	Name  string // of the workflow whose objective it is, else ""
}

// Promised is a bound on TPOT that a workflow was promised.
type Promised struct {
	Workflow string
	Max      float64 // s
	// Over is how much longer the promised percentile is than the mean, as observed;
	// NaN where it is not known.
	Over float64
}

// Ceilings are the rates at which anything binds, the lowest first: the KV cache,
// the sequence cap, an objective on TPOT, and the load itself, at which queues
// never end. What is not known is left out.
func (m Machine) Ceilings(promised []Promised) []Ceiling {
	all := []Ceiling{{model.BindsKV, m.KVRate(), ""}, {model.BindsCap, m.CapRate(), ""}, {model.BindsQueue, m.MaxRate(), ""}}
	for _, p := range promised {
		all = append(all, Ceiling{model.BindsObjective, m.RateAt(p.Max / p.Over), p.Workflow})
	}
	out := all[:0]
	for _, c := range all {
		if !math.IsNaN(c.Rate) {
			out = append(out, c)
		}
	}
	return sorted(out)
}

// sorted orders by rate; of equal ones the first stays first.
func sorted(all []Ceiling) []Ceiling {
	for i := range all {
		for k := i; k > 0 && all[k].Rate < all[k-1].Rate; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	return all
}
