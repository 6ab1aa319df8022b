package main

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/slo"
)

// policy is what the configuration and the flags promise, and the rules. With
// neither workflows nor --slo it promises nothing.
func (a *app) policy(file fileConfig) (model.Policy, error) {
	return a.promised(file.policy())
}

// tapePolicy is the policy by which a tape is judged: the one it carries, unless
// a configuration is named or the tape promises and watches nothing. --slo goes
// over either. What the file says of machines, models and prices is taken over
// section by section.
func (a *app) tapePolicy(file fileConfig, recorded model.Policy) (model.Policy, error) {
	named, own, p := a.flags.config != "", file.policy(), recorded
	if named && len(file.Workflows) > 0 || len(recorded.Workflows)+len(recorded.Rules) == 0 {
		p = own
		p.Hardware, p.Models, p.Prices, p.Forecast = recorded.Hardware, recorded.Models, recorded.Prices, recorded.Forecast
	}
	return a.promised(equipped(p, own, named))
}

// promised puts --slo over a policy and checks what comes of it.
func (a *app) promised(p model.Policy) (model.Policy, error) {
	p = a.flags.slo.over(p)
	if _, err := slo.NewSet(p); err != nil {
		return model.Policy{}, usageError(err)
	}
	return p, nil
}

// over puts the flags over a policy: each over the workflow of its name or, a
// glob, over all that it matches, the broader before the narrower: what is said of
// one workflow counts more than what is said of many. What a flag says of others
// makes a workflow of its own, before those of the policy, but behind them where
// it goes over some of them. Where the policy has none, what no flag matches
// keeps its own name.
func (s sloFlags) over(p model.Policy) model.Policy {
	if len(s) == 0 {
		return p
	}
	p.KeepOthers = p.KeepOthers || len(p.Workflows) == 0
	plain, globs := s.split()
	known, before := slices.Clone(p.Workflows), []model.WorkflowSpec(nil)
	for _, f := range plain {
		if !has(known, f.name) && !has(before, f.name) {
			before = append(before, f.bare())
		}
	}
	var behind []model.WorkflowSpec
	for _, f := range slices.Backward(globs) {
		switch {
		case has(known, f.name) || has(before, f.name) || has(behind, f.name):
		case f.goesOver(known):
			behind = append(behind, f.bare())
		default:
			before = append(before, f.bare())
		}
	}
	p.Workflows = slices.Concat(before, known, behind)
	for i := range p.Workflows {
		for _, f := range slices.Concat(globs, plain) {
			if w := &p.Workflows[i]; slo.Glob(f.name, w.Name) {
				f.over(w)
			}
		}
	}
	return p
}

// split are the flags for one workflow, and those for many, the broader first.
func (s sloFlags) split() (plain, globs sloFlags) {
	for _, f := range s {
		if isGlob(f.name) {
			globs = append(globs, f)
		} else {
			plain = append(plain, f)
		}
	}
	slices.SortStableFunc(globs, func(a, b sloFlag) int { return literals(a.name) - literals(b.name) })
	return plain, globs
}

// literals is how many bytes of a glob stand for themselves.
func literals(glob string) int {
	return len(glob) - strings.Count(glob, "*") - strings.Count(glob, "?")
}

func has(specs []model.WorkflowSpec, name string) bool {
	return slices.ContainsFunc(specs, func(w model.WorkflowSpec) bool { return w.Name == name })
}

func (f *sloFlag) goesOver(specs []model.WorkflowSpec) bool {
	return slices.ContainsFunc(specs, func(w model.WorkflowSpec) bool { return slo.Glob(f.name, w.Name) })
}

// bare is a workflow of the flag's name to which nothing is promised yet.
func (f *sloFlag) bare() model.WorkflowSpec {
	return model.WorkflowSpec{Name: f.name, Share: model.DefaultShare, PeriodS: model.DefaultPeriodS}
}

// policy is what the file promises, and its rules.
func (c *fileConfig) policy() model.Policy {
	p := model.Policy{GraceS: defaultGrace.Seconds()}
	for i := range c.Workflows {
		p.Workflows = append(p.Workflows, c.Workflows[i].spec())
	}
	c.Alerts.policy(&p)
	c.equipment(&p)
	return p
}
