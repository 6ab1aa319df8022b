package slo

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"slotop/model"
)

// Set says to which workflow a series or a request belongs.
type Set struct {
	specs      []model.WorkflowSpec
	named      map[string]naming // of those that are one row
	keepOthers bool
}

// naming is how the one row of a workflow comes by its requests.
type naming uint8

const (
	byNone naming = iota // there is no such row, or a row each of what a glob takes
	byName
	byMatch
)

func namings(specs []model.WorkflowSpec) map[string]naming {
	named := make(map[string]naming, len(specs))
	for i := range specs {
		switch w := &specs[i]; {
		case len(w.Match) > 0:
			named[w.Name] = byMatch
		case !isGlob(w.Name):
			named[w.Name] = byName
		}
	}
	return named
}

// Origin is what is known of where a series or a request comes from. "" is not
// known.
type Origin struct {
	Workflow, Model, Adapter, Target string
	Labels                           model.LabelSet
}

// name is what the origin calls itself.
func (o Origin) name() string { return cmp.Or(o.Workflow, o.Model, o.Target) }

// NewSet checks the workflows of a policy. The error joins one sentence for each
// thing that is wrong with them, each naming its workflow.
func NewSet(p model.Policy) (*Set, error) {
	var wrong []error
	seen := map[string]bool{}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		name := fmt.Sprintf("workflow %q", w.Name)
		if w.Name == "" {
			name = fmt.Sprintf("workflow %d", i+1)
		}
		if seen[w.Name] {
			wrong = append(wrong, fmt.Errorf("%s: two workflows have this name", name))
		}
		seen[w.Name] = true
		for _, err := range check(w) {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	specs := slices.Clone(p.Workflows)
	return &Set{specs: specs, named: namings(specs), keepOthers: p.KeepOthers || len(p.Workflows) == 0}, nil
}

func check(w *model.WorkflowSpec) (wrong []error) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	switch {
	case w.Name == "":
		say("it has no name")
	case w.Name == model.OtherName:
		say("%q is the row of what no workflow matches, take another name", w.Name)
	case !utf8.ValidString(w.Name):
		say("its name is not valid UTF-8")
	}
	if !(w.Share > 0 && w.Share < 1) {
		say("a share of %v is promised, it must lie between 0 and 1", w.Share)
	}
	if !(w.PeriodS >= minPeriodS && w.PeriodS <= maxPeriodS) {
		say("the period of its error budget is %v s, it must be a second at least and %d years at most", w.PeriodS, maxPeriodYears)
	}
	if w.DeadlineS != 0 && !positive(w.DeadlineS) {
		say("the deadline is %v s, it must be above 0", w.DeadlineS)
	}
	if w.Reader != model.ReaderUnknown && w.Reader != model.ReaderHuman && w.Reader != model.ReaderProgram {
		say("unknown reader %q, known are human and program", w.Reader)
	}
	bound := map[model.Metric]bool{}
	for _, o := range w.Objectives {
		if index(o.Metric) < 0 {
			say("unknown metric %q, known are %v", o.Metric, model.Metrics)
		} else if !positive(o.MaxS) {
			say("the bound on %s is %v s, it must be above 0", o.Metric, o.MaxS)
		}
		if bound[o.Metric] {
			say("two bounds on %s", o.Metric)
		}
		bound[o.Metric] = true
	}
	for i, m := range w.Match {
		if err := checkMatch(m); err != nil {
			say("match %d: %w", i+1, err)
		}
	}
	return wrong
}

// A budget is kept in parts of its period, whose length is counted in nanoseconds.
const (
	minPeriodS     = 1
	maxPeriodYears = 100
	maxPeriodS     = maxPeriodYears * 366 * 24 * 3600
)

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

func checkMatch(m model.Match) error {
	given := 0
	for _, p := range []string{m.Workflow, m.Model, m.Adapter, m.Target} {
		if p != "" {
			given++
		}
		if !utf8.ValidString(p) {
			return fmt.Errorf("the pattern %q is not valid UTF-8", p)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(m.Labels)) {
		p := m.Labels[label]
		if label == "" || p == "" || !utf8.ValidString(label+p) {
			return fmt.Errorf("label %q with pattern %q: both must be text", label, p)
		}
		given++
	}
	if given == 0 {
		return errors.New("no pattern is given; * matches anything")
	}
	return nil
}

// index is the place of m in model.Metrics, -1 for none of them.
func index(m model.Metric) int { return slices.Index(model.Metrics, m) }

// Find is the row to which something of the origin belongs, and what was
// promised there. The first workflow that matches takes it. A workflow with ways
// to match is one row of its own name; one without takes what calls itself by
// its name, a glob, and leaves it that name. What no workflow matches keeps its
// own name or is summed as model.OtherName, with assumed objectives either way.
func (s *Set) Find(o Origin) (name string, spec *model.WorkflowSpec) {
	own := o.name()
	for i := range s.specs {
		w := &s.specs[i]
		switch {
		case len(w.Match) == 0 && own != "" && Glob(w.Name, own):
			return own, w
		case slices.ContainsFunc(w.Match, o.matches):
			return w.Name, w
		}
	}
	if s.keepOthers {
		return own, Assumed()
	}
	return model.OtherName, Assumed()
}

// matches reports whether everything that m asks for is there and fits.
func (o Origin) matches(m model.Match) bool {
	fits := func(pattern, s string) bool { return pattern == "" || s != "" && Glob(pattern, s) }
	for label, pattern := range m.Labels {
		if !fits(pattern, o.Labels.Get(label)) {
			return false
		}
	}
	return fits(m.Workflow, o.Workflow) && fits(m.Model, o.Model) && fits(m.Adapter, o.Adapter) && fits(m.Target, o.Target)
}

// Matched lists the labels that the workflows of a policy are told apart by,
// besides workflow, model and adapter, sorted: what sources must keep.
func Matched(p model.Policy) []string {
	names := map[string]bool{}
	for _, w := range p.Workflows {
		for _, m := range w.Match {
			for label := range m.Labels {
				names[label] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Assumed is what is taken for promised where nobody promised anything: bounds
// that are bucket edges of the common engines. It is always the same pointer.
func Assumed() *model.WorkflowSpec { return &assumed }

var assumed = model.WorkflowSpec{
	Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 1}, {Metric: model.MetricTPOT, MaxS: 0.05}},
	Share:      model.DefaultShare,
	PeriodS:    model.DefaultPeriodS,
	Assumed:    true,
}

// Names reports whether a workflow is called that, without a glob and without
// matches of its own.
func (s *Set) Names(name string) bool { return s.named[name] == byName }

// OneRow reports whether a workflow of the policy is the row of that name: it is
// called so, or takes there what it matches.
func (s *Set) OneRow(name string) bool { return s.named[name] != byNone }
