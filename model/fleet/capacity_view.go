package fleet

import (
	"cmp"
	"slices"

	"slotop/model"
	"slotop/model/unit"
)

// see is the pool's view.
func (r *poolRoom) see() model.CapacityView {
	good := r.good()
	v := model.CapacityView{
		Pool: r.pool.name, Targets: []string{}, Workflows: []string{},
		Rate: model.Of(r.rate), Replicas: model.ReplicaPlan{Ready: int(r.replicas)},
		Levers: []model.LeverView{}, Cost: r.cost(good), Energy: r.energy(good), Waste: r.waste(),
		Why: model.Text(cmp.Or(r.why, r.lacks)),
	}
	for i := range r.engines {
		v.Targets = append(v.Targets, r.engines[i].t.spec.Name)
	}
	for _, w := range r.pool.flows {
		v.Workflows = append(v.Workflows, w.name)
	}
	r.past(&v)
	if r.why == "" {
		r.room(&v)
		r.plan(&v)
	}
	v.Sentence = r.sentence(&v)
	return v
}

// room puts on the view what the formulas say of the pool: so many machines alike, each
// with its part of the rate.
func (r *poolRoom) room(v *model.CapacityView) {
	m, n := &r.machine, r.replicas
	each := r.rate / n
	v.Load, v.PerCall = model.Of(m.Load(each)), model.Of(m.PerRequest())
	v.MaxRate, v.KVRate = model.Of(n*m.MaxRate()), model.Of(n*m.KVRate())
	v.Headroom = model.Of(m.Headroom(each))
	v.Expected = &model.ExpectedView{
		TPOT: model.Of(m.TPOT(each)), Running: model.Of(n * m.Running(each)), KVUse: model.Of(m.KVUse(each)), Fit: model.Of(n * m.Sequences()),
	}
	if !m.Fit.ByShare { // else it is a share of a cache of unknown size
		v.Expected.Context = model.Of(m.Mix.Context)
	}
	ceilings := m.Ceilings(r.promised())
	for _, c := range ceilings {
		if c.Binds == model.BindsObjective && !v.SLORate.OK() {
			v.SLORate = model.Of(n * c.Rate)
		}
	}
	r.first = ceilings[0]
	v.More = model.Of(n*min(m.PlannedRate(), r.first.Rate) - r.rate)
	v.First, v.FirstWhy = r.first.Binds, model.Text(r.ceiling()+", "+r.atRate(r.first.Rate))
	for _, l := range m.Levers(r.eightBit()) {
		v.Levers = append(v.Levers, l.View(*m, n, each))
	}
}

// ceiling is what binds first.
func (r *poolRoom) ceiling() string {
	switch r.first.Binds {
	case model.BindsKV:
		return "the KV cache"
	case model.BindsCap:
		return "the cap of " + unit.Integer(r.machine.Cap) + " sequences"
	case model.BindsObjective:
		return "the objective on TPOT of " + r.first.Name
	default:
		return "the load"
	}
}

// binds says that it does.
func (r *poolRoom) binds() string {
	if r.first.Binds == model.BindsObjective {
		return r.ceiling() + " breaks"
	}
	return r.ceiling() + " binds"
}

// atRate is a rate of each replica, as one of the pool.
func (r *poolRoom) atRate(each float64) string {
	return "at " + unit.Rate(r.replicas*each) + " req/s (model)"
}

// eightBit reports whether the KV cache is known to be in 8 bits already.
func (r *poolRoom) eightBit() bool {
	for _, spec := range r.f.policy.Models {
		for i := range r.engines {
			if r.engines[i].t.about != nil && slices.ContainsFunc(r.engines[i].t.about.Models, func(name string) bool { return matches(spec.Name, name) }) {
				return spec.KVBytes > 0 && spec.KVBytes <= 1
			}
		}
	}
	return false
}

// sentence is the view in one sentence.
func (r *poolRoom) sentence(v *model.CapacityView) string {
	load, known := v.Load.Get()
	if !known {
		return "no load factor: " + string(v.Why)
	}
	limit := unit.Load(model.PlanningLimit)
	switch {
	case load >= 1:
		return "overloaded: load " + unit.Load(load) + short(&v.Replicas)
	case load > model.PlanningLimit:
		return "load " + unit.Load(load) + ", beyond the planning limit of " + limit + ", where the model is optimistic" + short(&v.Replicas)
	default:
		return "load " + unit.Load(load) + " of " + limit + ": " + r.leaves(v.More.Value) + short(&v.Replicas)
	}
}

// leaves says how much the rate may grow: to the planning limit, or until something
// binds before it.
func (r *poolRoom) leaves(more float64) string {
	ceiling := r.replicas * r.first.Rate
	switch spare := ceiling - r.rate; {
	case ceiling == 0:
		return r.binds() + " at any rate (model)"
	case spare <= 0:
		return r.binds() + " already " + r.atRate(r.first.Rate)
	case r.first.Rate < r.machine.PlannedRate():
		return "room for " + unit.Rate(spare) + " req/s more of this mix, until " + r.binds() + ", " + r.atRate(r.first.Rate)
	default:
		return "room for " + unit.Rate(more) + " req/s more of this mix; " + r.binds() + " first, " + r.atRate(r.first.Rate)
	}
}

// short says how many replicas are missing.
func short(p *model.ReplicaPlan) string {
	switch more := p.Needed.Value - float64(p.Ready); {
	case !(more > 0):
		return ""
	case more == 1:
		return "; 1 more replica for this rate"
	default:
		return "; " + unit.Integer(more) + " more replicas for this rate"
	}
}
