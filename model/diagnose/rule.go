package diagnose

import (
	"math"
	"slices"
	"strings"

	"slotop/model"
)

// rule is one thing that can be found. All of it is in its row.
type rule struct {
	id, title string
	layer     model.Layer
	when      string   // what must be seen
	against   string   // what would contradict it: then it is silent, or less sure
	try       []string // next experiments, the first first
	says      func(*probe) []saying
}

// rules is all there are, in the order of the documentation.
var rules = slices.Concat(ttftRules, tpotRules, behaviourRules, settingRules, providerRules)

// saying is what a rule has to say of one subject: only what is particular to it.
type saying struct {
	flow, engine string
	layer        model.Layer // "" is the rule's
	factor       *factor
	weight       float64 // for the order: its part of the logarithm of the work
	symptom      string  // "" is the worst of the pool
	cause        string  // "" is the factor in words
	evidence     []string
	doubt        string // what speaks against it now
	against      []string
	not, try     []string
	n            float64
}

// telling is a finding before it is confirmed.
type telling struct {
	key   string
	view  model.FindingView
	order float64
}

// probe is one rule's look at the scene. Its comparisons remember when something
// is not known: then a rule that says nothing does not say that all is well.
type probe struct {
	*scene
	ease  float64
	blind bool
}

// over compares with a threshold, which is lower for what stands already.
func (p *probe) over(x, limit float64) bool {
	if math.IsNaN(x) {
		p.blind = true
		return false
	}
	return x > limit*p.ease
}

// grewBy compares a ratio with a threshold above 1.
func (p *probe) grewBy(ratio, limit float64) bool {
	if math.IsNaN(ratio) {
		p.blind = true
		return false
	}
	return math.Log(ratio) > p.ease*math.Log(limit)
}

// up reports whether a factor grew the work, and remembers where it is not known.
func (p *probe) up(name model.Factor) (*factor, bool) {
	f := p.factor(name)
	if f == nil || !f.Ratio.OK() && !f.Moved {
		p.blind = true
		return nil, false
	}
	return f, f.up()
}

// ask puts every rule to the scene, and those with standing findings a second
// time, with lower thresholds, for those alone. blind is the rules that could not
// look at something they needed.
func (s *scene) ask(held func(string) bool) (told []telling, blind map[string]bool) {
	blind = map[string]bool{}
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		for _, ease := range []float64{1, leave} {
			p := &probe{scene: s, ease: ease}
			for _, said := range r.says(p) {
				t := s.tell(r, said)
				if seen[t.key] || ease < 1 && !held(t.key) {
					continue
				}
				seen[t.key] = true
				told = append(told, t)
			}
			blind[r.id] = blind[r.id] || p.blind
		}
	}
	return told, blind
}

// tell makes a finding of what a rule says.
func (s *scene) tell(r *rule, said saying) telling {
	v := model.FindingView{
		ID: r.id, Title: r.title, Layer: said.layer,
		Pool: model.Text(s.f.Pool), Workflow: model.Text(said.flow), Target: model.Text(said.engine),
		Symptom: model.Text(said.symptom), Cause: model.Text(said.cause), Binding: model.Text(s.bound.text),
		Binds: s.bound.binds, Evidence: told(said.evidence), Not: told(said.not, s.ruledOut(said.factor)),
		N: model.Of(said.n), WindowS: nowS, BaselineS: s.baselineS(), Since: s.f.At,
	}
	if v.Layer == "" {
		v.Layer = r.layer
	}
	if v.Symptom == "" && len(s.hurts) > 0 {
		v.Symptom = model.Text(s.hurts[0].text)
	}
	if said.n == 0 && len(s.hurts) > 0 {
		v.N = model.Of(s.hurts[0].n)
	}
	if said.factor != nil {
		view := said.factor.FactorView
		v.Factor = &view
		if v.Cause == "" {
			v.Cause = model.Text(said.factor.words())
		}
	}
	v.Against = texts(listed(said.doubt), said.against, []string{r.against})
	v.Try = texts(said.try, r.try)
	v.Confidence = s.confidence(v.Layer, said)
	return telling{key: r.id + "\x00" + said.flow + "\x00" + said.engine, view: v, order: said.weight}
}

// texts is lists of texts in one, which is not nil: an empty list is one in JSON.
func texts(lists ...[]string) []string { return append([]string{}, slices.Concat(lists...)...) }

// told is texts without those of which a figure is not known: that is no evidence.
func told(lists ...[]string) []string {
	return slices.DeleteFunc(texts(lists...), func(t string) bool { return strings.Contains(t, "n/a") })
}

// confidence: high for a cause with what binds and nothing against it, medium for a
// cause alone, low for a pattern of symptoms and wherever nothing can be compared.
func (s *scene) confidence(layer model.Layer, said saying) model.Confidence {
	switch {
	case layer == model.LayerSymptom || !s.compares():
		return model.LowConfidence
	case said.doubt != "":
		return model.LowConfidence
	case layer == model.LayerCause && s.bound.binds != model.BindsNothing:
		return model.HighConfidence
	}
	return model.MediumConfidence
}

// truths are the keys of what is true now besides findings, for hysteresis.
func (s *scene) truths() []string {
	var keys []string
	for i := range s.factors {
		if s.factors[i].Moved {
			keys = append(keys, "factor "+string(s.factors[i].Factor))
		}
	}
	for i := range s.hurts {
		keys = append(keys, "hurt "+s.hurts[i].flow.Name)
	}
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		if s.slow(e) {
			keys = append(keys, "slow "+e.Name)
		}
		if b := s.engineBinds(e); b.binds != model.BindsNothing {
			keys = append(keys, "binds "+e.Name)
		}
	}
	if s.bound.binds == model.BindsUpstream {
		keys = append(keys, "binds upstream")
	}
	return keys
}

// anyMoved reports whether any factor did, either way.
func (s *scene) anyMoved() bool {
	return slices.ContainsFunc(s.factors, func(f factor) bool { return f.Moved })
}
