package story

import (
	"slices"
	"time"

	"slotop/model"
)

// maxColumns bounds how many columns of a distribution over time are remembered.
const maxColumns = 240

// heat gathers the columns of a distribution over time. Columns that are merged are
// added: counts of requests may be.
type heat struct {
	step   time.Duration
	end    model.Instant // of the last column
	own    time.Duration // step of what it is told
	bounds []float64
	counts [][]float32
	part   int // how many of own the last column holds already, of step/own
}

// warm adds what is new in a workflow's distributions.
func (s *Subject) warm(h *model.History) {
	for _, one := range []struct {
		name string
		heat *model.Heat
	}{{"ttft", h.HeatTTFT}, {"tpot", h.HeatTPOT}, {"e2e", h.HeatE2E}} {
		if one.heat == nil || len(one.heat.Counts) == 0 || one.heat.Step <= 0 {
			continue
		}
		if s.heats == nil {
			s.heats = map[string]*heat{}
		}
		if s.heats[one.name] == nil {
			s.heats[one.name] = &heat{}
		}
		s.heats[one.name].take(one.heat)
	}
}

// take adds the columns that end after the last one. Buckets that changed begin anew:
// columns of other bounds cannot stand beside one another.
func (h *heat) take(v *model.Heat) {
	if !slices.Equal(h.bounds, v.Bounds) || h.own != v.Step {
		*h = heat{step: v.Step, own: v.Step, bounds: v.Bounds, end: v.End.Add(-time.Duration(len(v.Counts)) * v.Step)}
	}
	fresh := int(v.End.Sub(h.end) / v.Step)
	if fresh <= 0 {
		return
	}
	for range max(0, fresh-len(v.Counts)) {
		h.push(nil)
	}
	for _, col := range v.Counts[max(0, len(v.Counts)-fresh):] {
		h.push(col)
	}
	h.end = v.End
}

func (h *heat) push(col []float32) {
	every := int(h.step / h.own)
	if h.part == 0 {
		h.counts = append(h.counts, nil)
	}
	last := len(h.counts) - 1
	h.counts[last] = sum(h.counts[last], col)
	h.part = (h.part + 1) % every
	if h.part == 0 && len(h.counts) > maxColumns {
		h.halve()
	}
}

// halve merges columns in pairs, the newest two into the newest one.
func (h *heat) halve() {
	if len(h.counts)%2 == 1 {
		h.counts = slices.Insert(h.counts, 0, nil)
	}
	merged := h.counts[:0]
	for i := 0; i < len(h.counts); i += 2 {
		merged = append(merged, sum(h.counts[i], h.counts[i+1]))
	}
	h.counts = merged
	h.step *= 2
}

// sum adds two columns into a new one; nil is a gap.
func sum(a, b []float32) []float32 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := slices.Clone(a)
	for i := range min(len(a), len(b)) {
		out[i] += b[i]
	}
	return out
}

// view is what was gathered; nil where nothing was. The last column may have room for
// more: it ends later than what is known.
func (h *heat) view() *model.Heat {
	if len(h.counts) == 0 {
		return nil
	}
	end := h.end
	if h.part > 0 {
		end = end.Add(h.step - time.Duration(h.part)*h.own)
	}
	return &model.Heat{Step: h.step, End: end, Bounds: h.bounds, Counts: h.counts}
}
