package capacity

import "slotop/model"

// Lever is a change and the machine after it.
type Lever struct {
	Change string
	Then   Machine
}

// morePoints is by how much prefix hits are tried higher: ten points.
const morePoints = 0.1

// Levers are what may be changed of a machine: ten points more of prefix hits (as
// far as there are misses), answers half as long, and a KV cache in 8 bits, where
// it is in 16.
func (m Machine) Levers(eightBit bool) []Lever {
	var out []Lever
	if hits := min(morePoints*m.Mix.Prompt, m.Mix.Uncached); hits > 0 {
		then := m
		then.Mix.Uncached -= hits
		out = append(out, Lever{"prefix hits +10 points", then})
	}
	half := m
	half.Mix.Output /= 2
	out = append(out, Lever{"answers half as long", half})
	if !eightBit && m.Fit.PerKVToken > 0 {
		then := m
		then.Fit.PerKVToken /= 2
		then.KV *= 2
		out = append(out, Lever{"KV cache in 8 bits", then})
	}
	return out
}

// More is what a lever lets pass beyond the planned rate of the machine before, in
// requests a second.
func (l Lever) More(before Machine) float64 { return l.Then.PlannedRate() - before.PlannedRate() }

// View is the lever for a pool of machines at a rate in requests a second of each.
func (l Lever) View(before Machine, machines, rate float64) model.LeverView {
	return model.LeverView{Change: l.Change, Rate: model.Of(machines * l.More(before)), Load: model.Of(l.Then.Load(rate))}
}
