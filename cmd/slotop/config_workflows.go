package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/slo"
)

// fileWorkflow is one row of workflows.
type fileWorkflow struct {
	Name      string      `yaml:"name"`
	Match     fileMatches `yaml:"match"`
	SLO       promise     `yaml:"slo"`
	Preset    presetName  `yaml:"preset"` // for what slo does not say
	Reader    readerWord  `yaml:"reader"`
	Truncated badWord     `yaml:"truncated"` // an answer cut at its output limit
	OneToken  badWord     `yaml:"one_token"` // an answer of one token, which has no TPOT
}

// fileMatch is one way to belong to a workflow: every pattern that is given must
// match.
type fileMatch struct {
	Model    string            `yaml:"model"`
	Adapter  string            `yaml:"adapter"`
	Workflow string            `yaml:"workflow"`
	Target   string            `yaml:"target"`
	Key      string            `yaml:"key"`
	Team     string            `yaml:"team"`
	Route    string            `yaml:"route"`
	Tag      string            `yaml:"tag"`
	Labels   map[string]string `yaml:"labels"` // any other label
}

// labels are the patterns of labels, those with keys of their own included.
func (m *fileMatch) labels() map[string]string {
	all := map[string]string{}
	for name, pattern := range m.Labels {
		all[name] = pattern
	}
	for _, own := range []struct{ name, pattern string }{
		{"key", m.Key}, {"team", m.Team}, {"route", m.Route}, {"tag", m.Tag},
	} {
		if own.pattern != "" {
			all[own.name] = own.pattern
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func (m *fileMatch) spec() model.Match {
	return model.Match{Workflow: m.Workflow, Model: m.Model, Adapter: m.Adapter, Target: m.Target, Labels: m.labels()}
}

// check says what is wrong with a match.
func (m *fileMatch) check() error {
	s := m.spec()
	if s.Workflow == "" && s.Model == "" && s.Adapter == "" && s.Target == "" && len(s.Labels) == 0 {
		return errors.New("a match without a pattern: write model, adapter, workflow, target, key, team, route, tag or labels")
	}
	for name, pattern := range m.Labels {
		if name == "" || pattern == "" {
			return fmt.Errorf("label %q has no pattern: write a glob such as *", name)
		}
		if all := s.Labels[name]; all != pattern {
			return fmt.Errorf("label %q has two patterns, %q and %q: write one", name, all, pattern)
		}
	}
	return nil
}

// fileMatches are the ways to belong to a workflow: one, or a list.
type fileMatches []fileMatch

// UnmarshalYAML implements yaml.Unmarshaler.
func (m *fileMatches) UnmarshalYAML(n *yaml.Node) error {
	type list fileMatches
	if n.Kind == yaml.SequenceNode {
		return n.Load((*list)(m), yaml.WithKnownFields())
	}
	*m = make(fileMatches, 1)
	return n.Load(&(*m)[0], yaml.WithKnownFields())
}

// promise is what a workflow is promised, in the file's slo and in --slo. A key
// that is zero is not given.
type promise struct {
	TTFT        duration `yaml:"ttft"`
	FirstAnswer duration `yaml:"first_answer"`
	TPOT        duration `yaml:"tpot"`
	E2E         duration `yaml:"e2e"`
	Queue       duration `yaml:"queue"`
	Objective   share    `yaml:"objective"` // of requests within all of them
	Period      duration `yaml:"period"`    // of the error budget
	Deadline    duration `yaml:"deadline"`  // of a job
}

func (p *promise) bound(m model.Metric) duration {
	switch m {
	case model.MetricTTFT:
		return p.TTFT
	case model.MetricFirstAnswer:
		return p.FirstAnswer
	case model.MetricTPOT:
		return p.TPOT
	case model.MetricE2E:
		return p.E2E
	case model.MetricQueue:
		return p.Queue
	default:
		return 0
	}
}

// over writes p over a spec: what p does not say stays as it is.
func (p *promise) over(spec *model.WorkflowSpec) {
	var bounds []model.Objective
	for _, m := range model.Metrics {
		at := slices.IndexFunc(spec.Objectives, func(o model.Objective) bool { return o.Metric == m })
		switch d := p.bound(m); {
		case d != 0:
			bounds = append(bounds, model.Objective{Metric: m, MaxS: d.seconds()})
		case at >= 0:
			bounds = append(bounds, spec.Objectives[at])
		}
	}
	spec.Objectives = bounds
	if p.Objective != 0 {
		spec.Share = float64(p.Objective)
	}
	if p.Period != 0 {
		spec.PeriodS = p.Period.seconds()
	}
	if p.Deadline != 0 {
		spec.DeadlineS = p.Deadline.seconds()
	}
}

// presetName is the name of a preset that exists.
type presetName string

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *presetName) UnmarshalYAML(n *yaml.Node) error { return p.set(n.Value) }

func (p *presetName) set(s string) error {
	if _, ok := slo.Preset(s); !ok {
		known := make([]string, len(slo.Presets))
		for i, preset := range slo.Presets {
			known[i] = preset.Name
		}
		return fmt.Errorf("no preset is called %q%s (known: %s)", s, didYouMean(s, known), strings.Join(known, ", "))
	}
	*p = presetName(s)
	return nil
}

// over writes the preset's objectives into a spec that has none.
func (p presetName) over(spec *model.WorkflowSpec) {
	if found, ok := slo.Preset(string(p)); ok {
		spec.Objectives, spec.Share = slices.Clone(found.Objectives), found.Share
	}
}

// spec is the workflow as the fold judges it. Without any promise it has the
// assumed ones, and is marked so.
func (w *fileWorkflow) spec() model.WorkflowSpec {
	s := model.WorkflowSpec{
		Name: w.Name, Share: model.DefaultShare, PeriodS: model.DefaultPeriodS,
		Reader: model.Reader(w.Reader), TruncatedBad: w.Truncated.bad(), OneTokenBad: w.OneToken.bad(),
	}
	for i := range w.Match {
		s.Match = append(s.Match, w.Match[i].spec())
	}
	if w.Preset == "" && w.SLO == (promise{}) {
		assumed := slo.Assumed()
		s.Objectives, s.Share, s.Assumed = slices.Clone(assumed.Objectives), assumed.Share, true
		return s
	}
	w.Preset.over(&s)
	w.SLO.over(&s)
	return s
}

// maxGlobs bounds the names that each later one is held against.
const maxGlobs = 100

// checkWorkflows says what is wrong with the workflows, each with its place.
func (c *fileConfig) checkWorkflows(at *placer, list *yaml.Node) error {
	first := map[string]int{} // line of each name
	var globs []string        // names so far that take those of others
	return at.each(list, func(i int, n *yaml.Node) error {
		w, name := &c.Workflows[i], child(n, "name")
		line, twice := first[w.Name]
		switch {
		case w.Name == "":
			return at.at(n, "workflow %d has no name: write name: chat", i+1)
		case twice:
			return errors.Join(at.at(name, "workflow %q is there twice, first in line %d", w.Name, line), w.check(at, n))
		}
		first[w.Name] = lineOf(name)
		if wrong := w.check(at, n); wrong != nil {
			return wrong
		}
		if len(w.Match) > 0 {
			return w.refused(at, n)
		}
		if k := slices.IndexFunc(globs, func(glob string) bool { return slo.Glob(glob, w.Name) }); k >= 0 {
			return at.at(name, "nothing is left for workflow %q: %q before it takes all that is called so; put it first", w.Name, globs[k])
		}
		if isGlob(w.Name) && len(globs) < maxGlobs {
			globs = append(globs, w.Name)
		}
		return w.refused(at, n)
	})
}

// refused is what the fold itself has against a workflow.
func (w *fileWorkflow) refused(at *placer, n *yaml.Node) error {
	_, err := fleet.New(fleet.Config{Every: time.Second, Policy: model.Policy{Workflows: []model.WorkflowSpec{w.spec()}}})
	if err == nil {
		return nil
	}
	return at.at(cmp.Or(child(n, "slo"), child(n, "name")), "%v", err)
}

func (w *fileWorkflow) check(at *placer, n *yaml.Node) error {
	var errs []error
	switch {
	case w.Name == model.OtherName:
		errs = append(errs, at.at(child(n, "name"), "%q is the row of what no workflow matches: choose another name", w.Name))
	case isGlob(w.Name) && len(w.Match) > 0:
		errs = append(errs, at.at(child(n, "name"), "the name %q has a * or ? in it: write a plain name, or leave match out", w.Name))
	}
	matches := target(child(n, "match"))
	errs = append(errs, at.emptyRows(matches))
	for i := range w.Match {
		place := matches
		if matches != nil && matches.Kind == yaml.SequenceNode {
			place = rows(matches)[i]
		}
		if err := w.Match[i].check(); err != nil {
			errs = append(errs, at.at(place, "%v", err))
		}
	}
	return errors.Join(errs...)
}

func isGlob(name string) bool { return strings.ContainsAny(name, "*?") }
