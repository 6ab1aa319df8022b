package panes

import (
	"slotop/model"
	"slotop/themes"
)

// This file says what is missing where a screen has nothing to show, and how to get it.

// noWorkflow is why no workflow is known though something answers.
func noWorkflow(f *model.Frame, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	switch {
	case len(f.Targets) == 0:
		s.text(1, themes.Text, "nothing is watched")
		s.how("name an engine, a gateway or a Prometheus server: slotop localhost:8000", "slotop demo shows a simulated service")
	case OnlyGPUs(f):
		s.text(1, themes.Text, "only GPUs are watched: a workflow is what engines serve")
		s.how("name an engine beside them: slotop localhost:8000 nvml:")
	case !Known(f):
		s.text(1, themes.Text, "no target has answered yet: screen 1 says what is being tried")
	default:
		s.text(1, themes.Text, "the targets answer and serve no model yet")
		s.how("a workflow appears with the first model that a target names, or write workflows: in the configuration")
	}
	return s.out
}

// how is what gets what is missing, a sentence each.
func (s *sheet) how(ways ...string) {
	for _, w := range ways {
		s.text(indent, themes.Muted, w)
	}
}

// noTarget is why the fleet is empty.
func noTarget(f *model.Frame, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	if len(f.Targets) > 0 {
		s.text(indent, themes.Text, "no target matches "+look.foreign(look.View.Filter, 40)+": esc shows all")
		s.how("a filter looks at name, address, kind, engine, version, model, state and fault")
		return s.out
	}
	s.text(indent, themes.Text, "no target is watched")
	s.how("name one: slotop localhost:8000, or a Prometheus server for a fleet: slotop prom+http://HOST:9090", "slotop demo shows a simulated service")
	return s.out
}
