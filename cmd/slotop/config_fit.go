package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/slo"
	"slotop/model/unit"
)

// fit says of each workflow what the targets' figures will tell of its promise,
// one sentence a line.
func fit(p model.Policy, seen []*looked) []string {
	var lines []string
	for _, s := range fitted(p, seen) {
		title := "workflow " + s.name
		if len(p.Workflows) == 0 {
			title = "what is assumed"
		}
		for _, say := range s.says {
			lines = append(lines, title+": "+say)
		}
	}
	return lines
}

// fitSays is what is to be said of one workflow's promise.
type fitSays struct {
	name       string
	assumed    bool
	everything bool // it stands for every workflow, each with what is assumed
	objectives []model.Objective
	carriers   []*looked
	says       []string
}

// covers reports whether a row of the frame is the workflow's.
func (s *fitSays) covers(w *model.WorkflowView) bool {
	return s.everything || slo.Glob(s.name, w.Name)
}

// fitted holds each workflow against the targets; without any, what is assumed of
// all.
func fitted(p model.Policy, seen []*looked) []fitSays {
	everything := len(p.Workflows) == 0
	if everything {
		p.Workflows = []model.WorkflowSpec{*slo.Assumed()}
		p.Workflows[0].Name = "*"
	}
	set, err := slo.NewSet(p)
	if err != nil { // it was checked when the policy was made
		return []fitSays{{name: "*", says: []string{err.Error()}}}
	}
	var all []fitSays
	for i := range p.Workflows {
		f := fitting{spec: &p.Workflows[i], set: set}
		for _, t := range seen {
			f.add(t)
		}
		all = append(all, fitSays{
			name: f.spec.Name, assumed: f.spec.Assumed, everything: everything, objectives: f.spec.Objectives,
			carriers: f.carriers(), says: f.sentences(),
		})
	}
	return all
}

// fitting is one workflow held against the targets.
type fitting struct {
	spec *model.WorkflowSpec
	set  *slo.Set

	exact  []*looked // report single requests
	served []served
	blind  map[string][]*looked // targets whose histograms lack what the match needs, by what that is
}

// served is a target that carries the workflow, with its histograms.
type served struct {
	*looked
	hists []shownHist
}

// carriers are the targets that the workflow is judged by.
func (f *fitting) carriers() []*looked {
	all := slices.Clone(f.exact)
	for _, s := range f.served {
		all = append(all, s.looked)
	}
	return all
}

func (f *fitting) add(t *looked) {
	if t.about == nil || !t.serves() || !f.reaches(t) {
		return
	}
	if t.byRequests() {
		f.exact = append(f.exact, t)
		return
	}
	s := served{looked: t}
	for _, h := range t.hists {
		if f.takes(t, h.labels) {
			s.hists = append(s.hists, h)
		}
	}
	if len(s.hists) > 0 {
		f.served = append(f.served, s)
		return
	}
	if lacks := f.lacks(t); lacks != "" {
		if f.blind == nil {
			f.blind = map[string][]*looked{}
		}
		f.blind[lacks] = append(f.blind[lacks], t)
	}
}

// reaches reports whether the workflow may come from the target at all.
func (f *fitting) reaches(t *looked) bool {
	return len(f.spec.Match) == 0 || slices.ContainsFunc(f.spec.Match, func(m model.Match) bool {
		return m.Target == "" || slo.Glob(m.Target, t.target.Name)
	})
}

// takes reports whether a series of the target counts for the workflow.
func (f *fitting) takes(t *looked, labels model.LabelSet) bool {
	_, spec := f.set.Find(slo.Origin{
		Workflow: labels.Get(model.LabelWorkflow), Model: cmp.Or(labels.Get(model.LabelModel), t.only()),
		Adapter: labels.Get(model.LabelAdapter), Target: t.target.Name, Labels: labels,
	})
	return spec.Name == f.spec.Name
}

// lacks names what the workflow's matches need and no histogram of the target
// carries, "" where one of the matches needs nothing of the kind.
func (f *fitting) lacks(t *looked) string {
	var lacking []string
	for _, m := range f.spec.Match {
		if m.Target != "" && !slo.Glob(m.Target, t.target.Name) {
			continue
		}
		missing := missingLabels(m, t)
		if len(missing) == 0 {
			return ""
		}
		lacking = append(lacking, missing...)
	}
	slices.Sort(lacking)
	return strings.Join(slices.Compact(lacking), " or ")
}

func missingLabels(m model.Match, t *looked) []string {
	var missing []string
	if m.Workflow != "" && !t.carries(model.LabelWorkflow) {
		missing = append(missing, "workflow")
	}
	if m.Adapter != "" && !t.carries(model.LabelAdapter) {
		missing = append(missing, "adapter")
	}
	if m.Model != "" && !t.carries(model.LabelModel) && t.only() == "" {
		missing = append(missing, "model")
	}
	for _, label := range slices.Sorted(maps.Keys(m.Labels)) {
		if !t.carries(label) {
			missing = append(missing, label)
		}
	}
	return missing
}

// sentences are what is to be said of the workflow.
func (f *fitting) sentences() []string {
	var out []string
	if len(f.exact) > 0 {
		out = append(out, f.byReports())
	}
	for _, lacks := range slices.Sorted(maps.Keys(f.blind)) {
		out = append(out, fmt.Sprintf("cannot be told apart on %s: no histogram there has a label %s", nameTargets(f.blind[lacks]), lacks))
	}
	if len(f.served) == 0 && len(out) == 0 {
		return []string{"no target carries it now"}
	}
	off := false
	for _, o := range f.spec.Objectives {
		lines, exact := f.objective(o)
		out, off = append(out, lines...), off || !exact
	}
	if blind := f.withoutEnds(); len(blind) > 0 {
		out = append(out, "its goodput cannot be computed on "+nameTargets(blind)+": no finished requests are counted there")
	}
	if off {
		out = append(out, f.preset()...)
	}
	return out
}

// byReports says what reports of single requests do for the workflow. Of which
// workflows they will be is not known before they come.
func (f *fitting) byReports() string {
	if len(f.spec.Match) == 0 {
		return "judged exactly by the reports of " + nameTargets(f.exact)
	}
	return "judged exactly as far as its requests are among the reports of " + nameTargets(f.exact)
}

// withoutEnds are the targets that do not tell how many requests finished.
func (f *fitting) withoutEnds() []*looked {
	var out []*looked
	for _, s := range f.served {
		if !s.signals[model.Finished] && !s.signals[model.E2E] && !s.signals[model.TPOT] {
			out = append(out, s.looked)
		}
	}
	return out
}

// objective says how one bound lies among the buckets of the targets. It is exact
// where it is an edge wherever the workflow is served.
func (f *fitting) objective(o model.Objective) (lines []string, exact bool) {
	name := o.Metric.Title() + " " + unit.Limit(o.MaxS)
	exact = true
	edge, edges := []*looked(nil), true
	for _, g := range f.groups(o.Metric) {
		switch {
		case g.why != "":
			lines, edges = append(lines, fmt.Sprintf("%s cannot be evaluated on %s: %s", name, nameTargets(g.targets), g.why)), false
		case g.isEdge(o.MaxS):
			edge = append(edge, g.targets...)
		default:
			lines, exact = append(lines, g.between(name, o.MaxS)), false
		}
	}
	if len(edge) > 0 && edges {
		lines = append(lines, name+" is a bucket edge on "+nameTargets(edge)+": exact")
	} else if len(edge) > 0 {
		lines = append(lines, name+" is a bucket edge on "+nameTargets(edge))
	}
	return lines, exact
}

// group are targets whose histograms of a metric look alike.
type group struct {
	targets []*looked
	why     string // the metric cannot be read there
	bounds  []float64
	counts  []float64 // of all together
}

// groups puts the targets that serve the workflow together by their buckets.
func (f *fitting) groups(m model.Metric) []*group {
	byKey := map[string]*group{}
	var order []*group
	at := func(key string, s served) *group {
		g := byKey[key]
		if g == nil {
			g = &group{}
			byKey[key] = g
			order = append(order, g)
		}
		if !slices.Contains(g.targets, s.looked) {
			g.targets = append(g.targets, s.looked)
		}
		return g
	}
	for _, s := range f.served {
		hists := s.of(m.Signal())
		if why := s.unreadable(m, hists); why != "" {
			at(why, s).why = why
			continue
		}
		for _, h := range hists {
			at(fmt.Sprint(h.bounds), s).add(h)
		}
	}
	return order
}

func (s served) of(signal model.Signal) []shownHist {
	var out []shownHist
	for _, h := range s.hists {
		if h.signal == signal {
			out = append(out, h)
		}
	}
	return out
}

// unreadable says why a metric cannot be read from the target, "" where it can.
func (s served) unreadable(m model.Metric, hists []shownHist) string {
	engine := cmp.Or(s.about.Engine, "the server")
	switch {
	case m == model.MetricFirstAnswer:
		return "histograms do not tell the answer's first token from the first of any kind, only reports of single requests do"
	case len(hists) == 0 && slices.Contains(s.about.Missing, m.Signal()):
		return engine + " exports no " + m.Title() + " here, and could"
	case len(hists) == 0:
		return engine + " exports no " + m.Title()
	case slices.ContainsFunc(hists, func(h shownHist) bool { return len(h.bounds) == 0 || len(h.counts) <= len(h.bounds) }):
		return engine + " exports its sum and count only, no buckets"
	default:
		return ""
	}
}

// add takes a histogram of the same bounds in.
func (g *group) add(h shownHist) {
	if g.bounds == nil {
		g.bounds, g.counts = h.bounds, make([]float64, len(h.counts))
	}
	for i, n := range h.counts {
		g.counts[i] += n
	}
}

// sameEdge is how far apart a bound and an edge that are meant to be equal may
// lie, relative to them.
const sameEdge = 1e-9

func (g *group) isEdge(s float64) bool {
	return slices.ContainsFunc(g.bounds, func(b float64) bool { return math.Abs(b-s) <= sameEdge*b })
}

// between says between which edges a bound lies, and what that costs.
func (g *group) between(name string, s float64) string {
	above, _ := slices.BinarySearch(g.bounds, s)
	var where, try string
	switch above {
	case len(g.bounds):
		last := unit.Limit(g.bounds[above-1])
		where, try = "lies above the last bucket edge, "+last, last
	case 0:
		first := unit.Limit(g.bounds[0])
		where, try = "lies below the first bucket edge, "+first, first
	default:
		lo, hi := g.bounds[above-1], g.bounds[above]
		where = "lies between two bucket edges, " + unit.Limit(lo) + " and " + unit.Limit(hi)
		try = unit.Limit(lo)
		if hi/s < s/lo {
			try = unit.Limit(hi)
		}
	}
	return fmt.Sprintf("%s %s, on %s: %s; the nearest edge is %s", name, where, nameTargets(g.targets), g.width(above), try)
}

// width says how wide the interval is, by the requests seen so far; above is the
// index of the edge above.
func (g *group) width(above int) string {
	n := g.counts[len(g.counts)-1]
	if n == 0 {
		return "the answer will be an interval, how wide is not known before the first request"
	}
	lo := 0.0
	if above > 0 {
		lo = g.counts[above-1] / n
	}
	hi := g.counts[above] / n
	if hi == lo {
		return fmt.Sprintf("exact while no request falls into that bucket, as none of the %s since start did: %s were within it",
			unit.Integer(n), unit.Ratio(lo))
	}
	return fmt.Sprintf("the answer will be an interval, %s wide: between %s and %s of the %s requests since start were within it",
		unit.Number(hi-lo), unit.Ratio(lo), unit.Ratio(hi), unit.Integer(n))
}

// maxRatio bounds how far a preset's bounds may be from those that were meant.
const maxRatio = 3

// preset names the published promise nearest to the workflow's own whose bounds
// are bucket edges on every target, where there is one.
func (f *fitting) preset() []string {
	best, least := slo.Published{}, math.Inf(1)
	for _, p := range slo.Presets {
		if d := f.distance(p); d < least {
			best, least = p, d
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	var bounds []string
	for _, o := range best.Objectives {
		bounds = append(bounds, o.Metric.Title()+" "+unit.Limit(o.MaxS))
	}
	return []string{fmt.Sprintf("preset %s has edges that fit: %s for %s", best.Name, strings.Join(bounds, ", "), unit.Promised(best.Share))}
}

// distance is how far a preset is from the workflow, infinite where it bounds
// other metrics, is another promise altogether or has no exact answer either.
func (f *fitting) distance(p slo.Published) float64 {
	if len(p.Objectives) != len(f.spec.Objectives) {
		return math.Inf(1)
	}
	d := 0.0
	for _, o := range p.Objectives {
		i := slices.IndexFunc(f.spec.Objectives, func(own model.Objective) bool { return own.Metric == o.Metric })
		if i < 0 {
			return math.Inf(1)
		}
		far := math.Abs(math.Log(o.MaxS / f.spec.Objectives[i].MaxS))
		if far > math.Log(maxRatio) {
			return math.Inf(1)
		}
		for _, g := range f.groups(o.Metric) {
			if g.why != "" || !g.isEdge(o.MaxS) {
				return math.Inf(1)
			}
		}
		d += far
	}
	return d
}

// maxNamed bounds the targets that are named in a sentence.
const maxNamed = 3

// nameTargets lists targets, those of one software together.
func nameTargets(targets []*looked) string {
	var names []string
	for _, t := range targets[:min(len(targets), maxNamed)] {
		name := t.target.Name
		if t.about != nil && t.about.Engine != "" {
			name += " (" + t.about.Engine + ")"
		}
		names = append(names, name)
	}
	if more := len(targets) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
