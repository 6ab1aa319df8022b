package fleet

import (
	"cmp"
	"maps"
	"slices"

	"slotop/model"
)

// A gateway names workflows by who asks, engines by the model they serve, so that
// the two are rows of their own. What both name is the model: over all workflows of a
// gateway, its TTFT can be held against that of the model's engines.

// maxModels bounds the models that are summed of one gateway.
const maxModels = 64

// sumModels sums what a gateway measured of TTFT in the window, by model.
func (t *target) sumModels(basis model.Basis, ok bool) {
	for _, ty := range t.models {
		ty.reset()
	}
	if !t.atEdge || !ok || basis != model.OverWindow {
		return
	}
	for _, sl := range t.cols.slots {
		name := sl.key.labels.Get(model.LabelModel)
		if sl.key.signal != model.TTFT || name == "" || sl.pool != nil {
			continue
		}
		if t.models == nil {
			t.models = map[string]*tally{}
		}
		if t.models[name] == nil {
			if len(t.models) >= maxModels {
				continue
			}
			t.models[name] = &tally{}
		}
		t.models[name].basis = basis
		t.addSlot(t.models[name], sl, ok)
	}
}

// gatewayTTFT is what gateways measured of TTFT on all requests for the models that
// the engines of a workflow serve; nil where they measured none.
func (f *Fleet) gatewayTTFT(w *workflow) *model.Dist {
	var gateways []*target
	for _, t := range f.targets {
		if t.atEdge && t.fresh() && len(t.models) > 0 {
			gateways = append(gateways, t)
		}
	}
	if len(gateways) == 0 {
		return nil
	}
	sum := &tally{}
	for _, name := range slices.Sorted(maps.Keys(w.modelsServed())) {
		for _, t := range gateways {
			if ty := t.models[name]; ty != nil && ty.basis == model.OverWindow {
				sum.add(ty)
			}
		}
	}
	return sum.distOf(model.TTFT)
}

// findBehind says of each pool without engines which one's engines serve its models:
// a gateway names workflows by who asks. Where it names no model, and only one pool has
// engines, they are taken to be its own: it would be wrong to blame a provider.
func (f *Fleet) findBehind(pools []pool) {
	serves := map[string]string{} // which pool, by model
	only := ""
	for i := range pools {
		p := &pools[i]
		if !p.hasEngines() {
			continue
		}
		only = p.name
		for _, name := range p.models((*target).computes) {
			if serves[name] == "" {
				serves[name] = p.name
			}
		}
	}
	for i := range pools {
		p := &pools[i]
		if p.hasEngines() {
			continue
		}
		asked := p.models(everyone)
		if len(asked) == 0 && f.lonely {
			p.behind = only
		}
		for _, name := range asked {
			p.behind = cmp.Or(p.behind, serves[name])
		}
	}
}

// models are the models that a pool's targets and requests name, in order.
func (p *pool) models(of which) []string {
	named := map[string]bool{}
	for _, t := range p.targets {
		if !of(t) {
			continue
		}
		for _, sl := range t.cols.slots {
			named[sl.key.labels.Get(model.LabelModel)] = true
		}
		if t.about != nil && t.computes() {
			for _, name := range t.about.Models {
				named[name] = true
			}
		}
	}
	for _, w := range p.flows {
		for name := range w.models {
			named[name] = true
		}
	}
	delete(named, "")
	return slices.Sorted(maps.Keys(named))
}

// names notes a model that a request of the workflow asked for.
func (w *workflow) names(model string) {
	if model == "" || len(w.models) >= maxModels || w.models[model] {
		return
	}
	if w.models == nil {
		w.models = map[string]bool{}
	}
	w.models[model] = true
}

// modelsServed are the models that the series of a workflow's engines name.
func (w *workflow) modelsServed() map[string]bool {
	models := map[string]bool{}
	for _, t := range w.targets {
		if t.atEdge {
			continue
		}
		for _, sl := range t.cols.slots {
			if sl.flow == w && sl.key.signal == model.TTFT {
				models[sl.key.labels.Get(model.LabelModel)] = true
			}
		}
	}
	return models
}
