package fleet

import (
	"cmp"
	"slices"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
)

// This file and capacity_* say how much room each pool of engines has. They look at the
// newest minute of whole blocks, once a block; the frames in between show the same.

// room is what was worked out last.
type room struct {
	of    roomKey
	views []model.CapacityView // shared with frames, never written again
}

// roomKey is what a survey is of: it is made anew for every block, and when workflows
// or engines come or go.
type roomKey struct {
	block          int64
	flows, engines int
}

// seeCapacity puts on the frame how much room every pool has.
func (f *Fleet) seeCapacity(fr *model.Frame) {
	of := roomKey{block: f.block, flows: len(f.flows)}
	for _, t := range f.targets {
		if t.fresh() && t.computes() {
			of.engines++
		}
	}
	if f.room.views == nil || of != f.room.of {
		f.room.views = f.survey(fr, of.block != f.room.of.block)
		f.room.of = of
	}
	fr.Capacity = f.room.views
}

// survey looks at all pools. Ended: a block has ended since the last one.
func (f *Fleet) survey(fr *model.Frame, ended bool) []model.CapacityView {
	s := &survey{f: f, at: fr.At, on: f.runningOn(), seen: map[string]*model.WorkflowView{}}
	for i := range fr.Workflows {
		s.seen[fr.Workflows[i].Name] = &fr.Workflows[i]
	}
	out := []model.CapacityView{}
	for _, p := range f.pools() {
		r := &poolRoom{survey: s, pool: &p, last: p.newest()}
		if r.engines = r.ready(); len(r.engines) == 0 {
			continue
		}
		r.flows = map[*workflow]minute{}
		for _, w := range p.flows {
			r.flows[w] = w.minuteOf(r.last)
		}
		r.load()
		if ended {
			r.remember()
		}
		out = append(out, r.see())
	}
	slices.SortStableFunc(out, func(a, b model.CapacityView) int { return cmp.Compare(fullness(&b), fullness(&a)) })
	return out
}

// newest is the last block that was looked at for the pool; -1 before there is one.
func (p *pool) newest() int64 {
	if q := p.flows[0].story.asked; q != nil {
		return q.last
	}
	return -1
}

// fullness orders pools; those of which it is not known come last.
func fullness(v *model.CapacityView) float64 {
	if !v.Load.OK() {
		return -1
	}
	return v.Load.Value
}

// survey is one look at all pools.
type survey struct {
	f    *Fleet
	at   model.Instant
	on   map[*target][]*device
	seen map[string]*model.WorkflowView // by name
	row  []float64                      // to work in
}

// engineRoom is one engine of a pool that answers.
type engineRoom struct {
	t       *target
	now     minute
	servers float64 // alike, behind the target
}

// poolRoom is one pool while its room is worked out. Rates are in requests a second.
type poolRoom struct {
	*survey
	pool    *pool
	last    int64 // the newest block of its present minute
	engines []engineRoom
	flows   map[*workflow]minute

	replicas float64
	rate     float64          // that arrives at the pool; NaN unknown
	machine  capacity.Machine // one replica
	first    capacity.Ceiling // what binds first
	slower   float64          // steps take so many times what was learned; 1 where the load explains them
	why      string           // there is no load factor
	lacks    string           // what one that there is lacks
}

// ready are the engines that answer.
func (r *poolRoom) ready() []engineRoom {
	var out []engineRoom
	for _, t := range r.pool.targets {
		if t.computes() && t.fresh() {
			p := &t.past.whole
			from, to := p.between(r.last-diagnose.NowBlocks+1, r.last)
			out = append(out, engineRoom{t, p.sums[from:to], t.servers()})
		}
	}
	return out
}

// servers is how many engines that are alike a target tells of: replicas behind a
// server of metrics, or data-parallel ones on one page.
func (t *target) servers() float64 {
	if t.steps != nil && t.steps.ranks >= 1 {
		return t.steps.ranks
	}
	return max(1, float64(len(t.view.Engines)), float64(t.view.Replicas.Fresh))
}
