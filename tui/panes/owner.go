package panes

import (
	"strings"

	"slotop/model"
	"slotop/model/glossary"
)

// This file finds what a number on the screen is about: a topic says what it is, a name
// whose it is.

// Within names a part of something: an engine within a target, a workflow within a
// stage.
func Within(whole, part string) string { return whole + "\n" + part }

// owner is whose a number is; what does not apply is nil.
type owner struct {
	f     *model.Frame
	w     *model.WorkflowView
	t     *model.TargetView
	e     *model.EngineView // within t
	d     *model.DeviceView
	u     *model.UtilizationView
	c     *model.CapacityView
	a     *model.AlertView
	g     *model.DiagnosisView
	found *model.FindingView
	stage *model.StageView
	sw    *model.StageWorkflow // of stage
	part  string               // behind the name, where it names no engine and no stage
}

// ownerOf finds whose a number is. Where a name means several things the topic decides.
func ownerOf(f *model.Frame, of string, t glossary.Topic) owner {
	o := owner{f: f}
	name, part, split := strings.Cut(of, "\n")
	switch t.Group {
	case glossary.GroupDevices:
		if o.d = deviceNamed(f, name); o.d == nil {
			o.u, o.t = utilizationOf(f, name), targetNamed(f, name)
		}
	case glossary.GroupUtilization:
		o.u = utilizationOf(f, name)
		o.t = targetNamed(f, name)
	case glossary.GroupCapacity:
		o.c = poolNamed(f, name)
	case glossary.GroupFindings:
		if o.a = alertNamed(f, model.AlertID(name)); o.a == nil {
			o.serving(name)
			o.g, o.found = diagnosisNamed(f, name), findingNamed(f, name)
		}
	case glossary.GroupTargets:
		o.t = targetNamed(f, name)
	default:
		o.serving(name)
	}
	if split {
		o.within(part)
	}
	return o
}

// serving finds a workflow, and where there is none a target.
func (o *owner) serving(name string) {
	for i := range o.f.Workflows {
		if o.f.Workflows[i].Name == name {
			o.w = &o.f.Workflows[i]
			return
		}
	}
	if o.t = targetNamed(o.f, name); o.t == nil {
		o.c = poolNamed(o.f, name)
	}
}

// within finds an engine of the target, or the workflow's figures of a stage.
func (o *owner) within(part string) {
	o.part = part
	if o.t != nil {
		for i := range o.t.Engines {
			if o.t.Engines[i].ID == part {
				o.e = &o.t.Engines[i]
			}
		}
	}
	if o.w == nil {
		return
	}
	for i := range o.f.Stages {
		if s := &o.f.Stages[i]; KeyOf(s).String() == part {
			o.stage, o.sw = s, staged(s, o.w.Name)
		}
	}
}

func targetNamed(f *model.Frame, name string) *model.TargetView {
	for i := range f.Targets {
		if t := &f.Targets[i]; string(t.ID) == name || t.Name == name {
			return t
		}
	}
	return nil
}

func poolNamed(f *model.Frame, name string) *model.CapacityView {
	for i := range f.Capacity {
		if f.Capacity[i].Pool == name {
			return &f.Capacity[i]
		}
	}
	return nil
}

// findingNamed is the finding of a key.
func findingNamed(f *model.Frame, key string) *model.FindingView {
	for i := range f.Findings {
		if FindingKey(&f.Findings[i]) == key {
			return &f.Findings[i]
		}
	}
	return nil
}

// diagnosisNamed is the diagnosis of a pool.
func diagnosisNamed(f *model.Frame, pool string) *model.DiagnosisView {
	for i := range f.Diagnoses {
		if f.Diagnoses[i].Pool == pool {
			return &f.Diagnoses[i]
		}
	}
	return nil
}

func alertNamed(f *model.Frame, id model.AlertID) *model.AlertView {
	for i := range f.Alerts {
		if f.Alerts[i].ID == id {
			return &f.Alerts[i]
		}
	}
	return nil
}

// words says whose a number is.
func (o owner) words(k Look) string {
	switch {
	case o.sw != nil:
		return "workflow " + o.w.Name + " in stage " + o.stage.Name
	case o.w != nil:
		return "workflow " + o.w.Name
	case o.e != nil:
		return "engine " + o.e.ID + " of target " + o.t.Name
	case o.d != nil:
		return deviceLabel(o.d, k) + ", " + o.d.UUID
	case o.c != nil:
		return "pool " + o.c.Pool
	case o.t != nil:
		return "target " + o.t.Name
	case o.a != nil:
		return "alert " + o.a.Rule
	case o.found != nil:
		return "finding " + o.found.ID + ", " + o.found.Title
	case o.g != nil:
		return "pool " + o.g.Pool
	default:
		return ""
	}
}

// carriers are the targets that its numbers are read from.
func (o owner) carriers() []*model.TargetView {
	names := map[string]bool{}
	switch {
	case o.w != nil:
		for _, n := range o.w.Targets {
			names[n] = true
		}
	case o.c != nil:
		for _, n := range o.c.Targets {
			names[n] = true
		}
	case o.t != nil:
		return []*model.TargetView{o.t}
	case o.d != nil:
		names[o.d.Target] = true
	}
	var out []*model.TargetView
	for i := range o.f.Targets {
		if names[o.f.Targets[i].Name] {
			out = append(out, &o.f.Targets[i])
		}
	}
	return out
}
