package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/slo"
)

// firstFlow is a row of workflows.
type firstFlow struct {
	name       string
	key, value string // of match
	bounds     []firstBound
	says       []string
}

// firstBound is an objective that is suggested.
type firstBound struct {
	metric model.Metric
	max    time.Duration
}

// maxFlows bounds the workflows that are suggested: more than anybody edits by hand
// are better matched by patterns.
const maxFlows = 20

// wanted are the objectives that are suggested where the servers measure them: what
// is assumed, and the whole answer where they measure neither.
var wanted = []struct {
	metric model.Metric
	max    time.Duration
	last   bool // only where none before it can be judged
}{
	{model.MetricTTFT, time.Second, false},
	{model.MetricTPOT, 50 * time.Millisecond, false},
	{model.MetricE2E, 10 * time.Second, true},
}

// suggest makes a workflow of each that a gateway names, of each model, and of each
// target that names neither. names are those of the targets in the file.
func (b *beginning) suggest(seen []*looked, names map[string]string) {
	taken := map[string]bool{}
	add := func(key, value string, match model.Match) {
		if len(b.flows) == maxFlows {
			b.left++
			return
		}
		f := firstFlow{name: plainName(value), key: key, value: value}
		for n := 2; taken[f.name]; n++ {
			f.name = fmt.Sprintf("%s-%d", plainName(value), n)
		}
		taken[f.name] = true
		f.promise(match, seen)
		b.flows = append(b.flows, f)
	}
	for _, v := range valuesOf(seen, model.LabelWorkflow) {
		add("workflow", v, model.Match{Workflow: v})
	}
	for _, v := range valuesOf(seen, model.LabelModel) {
		add("model", v, model.Match{Model: v})
	}
	for _, t := range seen {
		if t.about != nil && len(t.about.Models) == 0 && len(t.hists) > 0 && !t.carries(model.LabelWorkflow) && !t.carries(model.LabelModel) {
			add("target", cmp.Or(names[t.target.Name], t.target.Name), model.Match{Target: t.target.Name})
		}
	}
}

// valuesOf are the workflows that targets name, or the models that they serve, in
// order. A model is none where its target names workflows.
func valuesOf(seen []*looked, label string) []string {
	var all []string
	for _, t := range seen {
		if t.about == nil || label == model.LabelModel && t.carries(model.LabelWorkflow) {
			continue
		}
		if label == model.LabelModel {
			all = append(all, t.about.Models...)
		}
		for _, h := range t.hists {
			all = append(all, h.labels.Get(label))
		}
	}
	slices.Sort(all)
	// A reference to the environment would be filled in when the file is read.
	return slices.DeleteFunc(slices.Compact(all), func(v string) bool { return v == "" || environment.MatchString(v) })
}

// promise chooses the objectives: of those that its servers measure the bucket edge
// that is nearest to what is wanted.
func (f *firstFlow) promise(match model.Match, seen []*looked) {
	spec := model.WorkflowSpec{Name: f.name, Match: []model.Match{match}, Share: model.DefaultShare, PeriodS: model.DefaultPeriodS}
	set, err := slo.NewSet(model.Policy{Workflows: []model.WorkflowSpec{spec}})
	if err != nil { // it cannot be promised anything
		f.says = []string{err.Error()}
		return
	}
	fit := fitting{spec: &spec, set: set}
	for _, t := range seen {
		fit.add(t)
	}
	var exact, rough []string
	for _, w := range wanted {
		if w.last && len(f.bounds) > 0 {
			continue
		}
		edge, measured := fit.nearest(w.metric, w.max)
		switch {
		case len(fit.exact) > 0 && w.metric != model.MetricE2E:
			f.bounds = append(f.bounds, firstBound{w.metric, w.max})
		case !measured:
		case edge > 0:
			f.bounds, exact = append(f.bounds, firstBound{w.metric, edge}), append(exact, w.metric.Title())
		default:
			f.bounds, rough = append(f.bounds, firstBound{w.metric, w.max}), append(rough, w.metric.Title())
		}
	}
	f.explain(&fit, exact, rough)
}

// explain says how what is promised will be judged.
func (f *firstFlow) explain(fit *fitting, exact, rough []string) {
	on := " on " + nameTargets(fit.carriers())
	switch {
	case len(fit.exact) > 0:
		f.says = append(f.says, fit.byReports())
	case len(f.bounds) == 0:
		f.says = append(f.says, "none of its servers measures a latency that could be promised: slotop doctor says what would change that")
	}
	if len(exact) > 0 {
		f.says = append(f.says, listed(exact)+": a bucket edge"+on+", so that it is judged exactly")
	}
	if len(rough) > 0 {
		f.says = append(f.says, listed(rough)+": no round bucket edge"+on+" is near, the answer will be an interval")
	}
}

// nearest is the bucket edge of all targets that is nearest to a bound and can be
// written as a duration: 0 where there is none within a factor of maxRatio. It
// reports whether all targets measure the metric in buckets.
func (f *fitting) nearest(m model.Metric, want time.Duration) (edge time.Duration, measured bool) {
	groups := f.groups(m)
	if len(groups) == 0 || slices.ContainsFunc(groups, func(g *group) bool { return g.why != "" }) {
		return 0, false
	}
	best := math.Log(maxRatio)
	for _, bound := range groups[0].bounds { // an edge of all is one of the first's
		d := time.Duration(math.Round(bound * float64(time.Second)))
		far := math.Abs(math.Log(bound / want.Seconds()))
		common := !slices.ContainsFunc(groups, func(g *group) bool { return !g.isEdge(bound) })
		if d.Seconds() == bound && common && far < best {
			edge, best = d, far
		}
	}
	return edge, true
}

// slo is the workflow's promise as a row of the file.
func (f *firstFlow) slo() string {
	var parts []string
	for _, b := range f.bounds {
		parts = append(parts, string(b.metric)+": "+spanText(b.max))
	}
	return "{" + strings.Join(append(parts, "objective: 95%"), ", ") + "}"
}

// spanText writes a duration as a configuration has it: 500ms, 1m30s, 2h.
func spanText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
