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
		s.out = append(s.out, howToWatch(w, look)...)
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

// howToWatch is the ways to name something to watch.
func howToWatch(w int, look Look) []string {
	s := &sheet{w: w, look: look}
	s.how("an engine, a gateway or a GPU exporter: slotop localhost:8000", "a fleet, through its Prometheus server: slotop prom+http://HOST:9090",
		"saved pages or a recording: slotop FILE", "what it looks like: slotop demo")
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
	return append(s.out, howToWatch(w, look)...)
}

// noCapacity is why no pool is known.
func (s *sheet) noCapacity(f *model.Frame) {
	s.out = append(s.out, s.look.rule(s.w, nil))
	engines, servers, good := 0, 0, false
	for i := range f.Targets {
		t := &f.Targets[i]
		switch t.Kind {
		case model.EngineTarget:
			engines++
			good = good || !t.LastGoodAt.IsZero()
		case model.PrometheusTarget:
			servers++
		}
	}
	switch {
	case engines+servers == 0:
		s.text(indent, themes.Text, "no engine is watched: capacity needs its step counter, which a hosted provider does not tell")
		s.how("name an engine beside what is watched: slotop localhost:8000")
	case engines == 0:
		s.text(indent, themes.Text, "no pool yet: the server tells no steps of an engine, or no minute of them")
		s.how("capacity needs vllm:iteration_tokens_total, or the gaps between tokens, of engines that the server scrapes")
	case !good:
		s.text(indent, themes.Text, "no pool yet: no engine has answered, and screen 1 says what is being tried")
	default:
		s.text(indent, themes.Text, "no pool yet: capacity needs engines that answer and traffic of a minute")
		s.how("its load factor needs steps: vLLM counts them, of others the gaps between tokens stand for them")
	}
}

// howToAlert says what keeps an alert from coming: nothing to watch, or objectives that
// nobody set and that wake nobody.
func (s *sheet) howToAlert(f *model.Frame) {
	assumed := 0
	for i := range f.Workflows {
		if f.Workflows[i].AssumedObjectives {
			assumed++
		}
	}
	switch {
	case f.Rules == 0:
		s.how("rules watch workflows and targets that answer; slotop config init writes a file with objectives, rules and whom to tell")
	case assumed > 0 && assumed == len(f.Workflows) && s.w >= narrow:
		s.how("assumed objectives page nobody; to set your own: slotop config init")
	}
}
