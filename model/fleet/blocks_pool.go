package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slotop/model"
)

// pool is workflows and the engines that serve them, directly or through one
// another: a workflow joins its engines. The gateways of a workflow are in its
// pool too.
type pool struct {
	name    string
	targets []*target   // in the order in which they are watched
	flows   []*workflow // by name
	behind  string      // without engines: the pool whose engines serve its models
}

// namedFlows is how many workflows a pool is named after; more are too long to read.
const namedFlows = 3

// pools are the connected sets of workflows and of the targets that serve them, in
// the order of the first target of each. What serves nobody is in no pool.
func (f *Fleet) pools() []pool {
	flows := f.sortedFlows()
	joined := map[*target]int{} // its pool
	var out []pool
	for _, w := range flows {
		out = joinPool(out, joined, w)
	}
	out = slices.DeleteFunc(out, func(p pool) bool { return len(p.flows) == 0 })
	at := make(map[*target]int, len(f.targets))
	for i, t := range f.targets {
		at[t] = i
	}
	for i := range out {
		p := &out[i]
		slices.SortFunc(p.targets, func(a, b *target) int { return at[a] - at[b] })
		slices.SortFunc(p.flows, byName)
		p.name = p.title()
	}
	slices.SortStableFunc(out, func(a, b pool) int {
		return cmp.Or(at[a.targets[0]]-at[b.targets[0]], strings.Compare(a.flows[0].name, b.flows[0].name))
	})
	return out
}

// joinPool puts a workflow into the pool of its targets. Where they are in several,
// those become one; the emptied ones stay behind without workflows.
func joinPool(out []pool, joined map[*target]int, w *workflow) []pool {
	if len(w.targets) == 0 {
		return out
	}
	into := len(out)
	for _, t := range w.targets {
		if i, known := joined[t]; known {
			into = min(into, i)
		}
	}
	if into == len(out) {
		out = append(out, pool{})
	}
	p := &out[into]
	p.flows = append(p.flows, w)
	for _, t := range w.targets {
		switch i, known := joined[t]; {
		case !known:
			joined[t], p.targets = into, append(p.targets, t)
		case i != into:
			for _, moved := range out[i].targets {
				joined[moved] = into
			}
			p.targets, p.flows = append(p.targets, out[i].targets...), append(p.flows, out[i].flows...)
			out[i] = pool{}
		}
	}
	return out
}

// title is the joined names of the workflows, or what the engines serve where those
// are many.
func (p *pool) title() string {
	if len(p.flows) <= namedFlows {
		names := make([]string, len(p.flows))
		for i, w := range p.flows {
			names[i] = w.name
		}
		return strings.Join(names, ", ")
	}
	engines := 0
	for _, t := range p.targets {
		if t.computes() {
			engines++
		}
	}
	of := p.model()
	if of == "" {
		of = fmt.Sprintf("%d workflows", len(p.flows))
	}
	return fmt.Sprintf("%d engines of %s", engines, of)
}

// model is the only served model of the pool, "" where there are several.
func (p *pool) model() string {
	one := ""
	for _, t := range p.targets {
		if t.about == nil {
			continue
		}
		for _, m := range t.about.Models {
			if one != "" && m != one {
				return ""
			}
			one = m
		}
	}
	return one
}

// computes reports whether the target is an engine, or tells of engines: it neither
// stands in front of them nor only reports requests or GPUs.
func (t *target) computes() bool {
	switch t.kind() {
	case model.GatewayTarget, model.GPUTarget, model.ProbeTarget, model.FinderTarget:
		return false
	default:
		return !t.atEdge && len(t.cols.slots) > 0
	}
}

// sortedFlows are the workflows by name.
func (f *Fleet) sortedFlows() []*workflow {
	out := make([]*workflow, 0, len(f.flows))
	for _, w := range f.flows {
		out = append(out, w)
	}
	slices.SortFunc(out, byName)
	return out
}
