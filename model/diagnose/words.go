package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/steptime"
	"slotop/model/unit"
)

// nowS is the length of the present in seconds.
const nowS = float64(NowBlocks) * float64(Block) / 1e9

// words is a factor's change for the overview: "arrivals ×3.60, all chat".
func (f *factor) words() string {
	ratio := unit.Times(value(f.Ratio))
	switch f.Factor {
	case model.FactorArrivals:
		return f.by("arrivals " + ratio)
	case model.FactorPrompt:
		return f.by("prompts " + ratio)
	case model.FactorMiss:
		return f.by("cache misses " + ratio)
	case model.FactorOutput:
		return f.by("answers " + ratio)
	default:
		return "steps " + unit.Multiple(value(f.Ratio), false) + " of what the load explains" + f.on()
	}
}

// nearlyAll is the part of a change from which it is all of one workflow.
const nearlyAll = 0.9

// by adds to a change whose it is. A mix is told by who comes more or less often: no
// workflow's own values changed.
func (f *factor) by(change string) string {
	switch {
	case f.Who == "" && f.Mix:
		return change + ", by the mix of workflows"
	case f.Who == "":
		return change
	case f.Mix && f.less:
		return "less " + string(f.Who) + " traffic: " + change
	case f.Mix:
		return "more " + string(f.Who) + " traffic: " + change
	case f.WhoShare.Value >= nearlyAll:
		return change + ", all " + string(f.Who)
	}
	return change + ", mostly " + string(f.Who)
}

func (f *factor) on() string {
	switch {
	case f.Who == "":
		return ""
	case f.WhoShare.OK():
		return ", on " + string(f.Who) + " only"
	}
	return ", on " + string(f.Who) + " at least"
}

// figures is a factor before and now with its unit: "arrivals 8.1 → 29.2 /s".
func (f *factor) figures() string {
	before, now := f.Before.Value, f.Now.Value
	switch f.Factor {
	case model.FactorArrivals:
		return "arrivals " + unit.Rate(before) + " → " + unit.Rate(now) + " /s" + f.work()
	case model.FactorPrompt:
		return "mean prompt " + unit.Count(before) + " → " + unit.Count(now) + " tokens" + f.work()
	case model.FactorMiss:
		return "prompt tokens not in the prefix cache " + unit.Percent(before) + " → " + unit.Percent(now) + f.work()
	case model.FactorOutput:
		return "mean answer " + unit.Count(before) + " → " + unit.Count(now) + " tokens" + f.work()
	default:
		return "steps take " + unit.Multiple(now, false) + " of what their load explains"
	}
}

func (f *factor) work() string {
	if w, known := f.Work.Get(); known && f.Moved {
		return " (" + unit.More(w) + " work)"
	}
	return ""
}

// evidence is the figures of the factors that moved, the cause first, and of the
// state that they led to.
func (s *scene) evidence(cause *factor) []string {
	var out []string
	if cause != nil {
		out = append(out, cause.figures())
	}
	for i := range s.factors {
		if f := &s.factors[i]; f != cause && f.up() {
			out = append(out, f.figures())
		}
	}
	return append(out, s.state()...)
}

// state is how full the engines are, before and now.
func (s *scene) state() []string {
	if len(s.f.Engines) == 0 {
		return nil
	}
	var out []string
	kv0, kv1, waiting0, running0, running1 := math.NaN(), math.NaN(), 0.0, 0.0, 0.0
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		kv0, kv1 = most(kv0, value(e.KVBefore.Mean)), most(kv1, value(e.KV.Most))
		waiting0 += value(e.WaitingBefore.Mean)
		running0 += value(e.RunningBefore.Mean)
		running1 += value(e.Running.Mean)
	}
	if !math.IsNaN(kv1) {
		out = append(out, "KV cache "+from(kv0, unit.Percent)+unit.Percent(kv1))
	}
	out = append(out, "waiting "+from(waiting0, unit.Count)+unit.Count(s.waiting()))
	if !math.IsNaN(running1) {
		out = append(out, "running "+from(running0, unit.Count)+unit.Count(running1))
	}
	if s.queued() && !math.IsNaN(s.wait) {
		out = append(out, "a new request waits ≈ "+unit.Duration(s.wait))
	}
	return out
}

// from is the value before and an arrow, or nothing where it is not known.
func from(before float64, format func(float64) string) string {
	if math.IsNaN(before) {
		return ""
	}
	return format(before) + " → "
}

// flatFor is the change of a factor up to which it is named as ruled out.
const flatFor = 0.1

// ruledOut is what was looked at and is not the cause.
func (s *scene) ruledOut(cause *factor) []string {
	var out []string
	if f := s.factor(model.FactorResidual); f != cause && !f.Moved && f.Now.Value < explains && f.Now.OK() && !s.hosted() {
		out = append(out, "the GPU: a step takes "+unit.Multiple(f.Now.Value, false)+" of what the load explains")
	}
	if f := s.factor(model.FactorArrivals); f != cause && math.Abs(f.own) < flatFor {
		out = append(out, "traffic: "+f.figures())
	}
	if f := s.factor(model.FactorMiss); f != cause && f.Moved && f.Mix {
		out = append(out, "the prefix cache: no workflow's own misses grew")
	}
	return out
}

// baselineS is how much quiet time there is to compare with.
func (s *scene) baselineS() model.Reading {
	if s.quiet() == 0 {
		return model.Reading{}
	}
	seconds := 0.0
	blocks := s.flows.before
	if len(s.engines.before) > len(blocks) {
		blocks = s.engines.before
	}
	for i := range blocks {
		seconds += blocks[i].Seconds
	}
	return model.Of(seconds)
}

// heading is what a diagnosis says of itself.
func heading(f *Facts) model.DiagnosisView {
	v := model.DiagnosisView{Pool: f.Pool, Targets: []string{}, Workflows: []string{}, Factors: []model.FactorView{}, At: f.At, WindowS: nowS, BaselineTo: f.BaselineTo}
	for i := range f.Engines {
		v.Targets = append(v.Targets, f.Engines[i].Name)
	}
	for i := range f.Flows {
		v.Workflows = append(v.Workflows, f.Flows[i].Name)
	}
	return v
}

// view is the diagnosis as a whole.
func (s *scene) view(findings []model.FindingView, holds func(string) bool) model.DiagnosisView {
	v := heading(s.f)
	v.Factors = views(s.factors)
	for i := range v.Factors {
		v.Factors[i].Moved = v.Factors[i].Moved && holds("factor "+string(v.Factors[i].Factor))
	}
	v.Binds, v.Binding = s.bound.binds, model.Text(s.bound.text)
	v.Residual = s.factor(model.FactorResidual).Now
	v.BaselineS = s.baselineS()
	v.Why = s.limits()
	switch {
	case len(findings) > 0:
		v.State, v.Sentence = model.Diagnosed, sentence(&findings[0])
	case s.unexplained(holds) && s.compares():
		v.State = model.CannotTell
		v.Why = also(v.Why, "nothing that is measured moved")
		v.Sentence = "cannot tell why: " + s.hurts[0].text + ", and nothing that is measured moved" + s.elsewhere()
	case !s.compares():
		v.State, v.Sentence = model.CannotTell, "cannot tell: "+string(v.Why)
	case s.few() != "":
		v.State, v.Why = model.CannotTell, also(v.Why, s.few())
		v.Sentence = "cannot tell: " + s.few()
	default:
		v.State, v.Sentence = model.NoFinding, s.nothing()
		if moved := s.movedInWords(); moved != "" {
			v.Sentence = moved
		}
	}
	return v
}

// elsewhere is where to look for what serves the pool, "" where that is in it.
func (s *scene) elsewhere() string {
	if s.f.Behind == "" {
		return ""
	}
	return " here: look at the engines of " + s.f.Behind
}

// unexplained reports whether what is felt most stands, and is more than a latency
// that is still within what was promised.
func (s *scene) unexplained(holds func(string) bool) bool {
	if len(s.hurts) == 0 {
		return false
	}
	h := &s.hurts[0]
	return holds("hurt "+h.flow.Name) && (h.degree > slower || h.flow.Spec == nil || len(h.flow.Spec.Objectives) == 0)
}

// sentence is a finding in one line: its cause and what binds.
func sentence(f *model.FindingView) string {
	parts := make([]string, 0, 2)
	switch {
	case f.Cause != "":
		parts = append(parts, string(f.Cause))
	case f.Binding == "":
		parts = append(parts, f.Title)
	}
	if f.Binding != "" {
		parts = append(parts, string(f.Binding))
	}
	return strings.Join(parts, " · ")
}

// nothing is what was looked at and did not move.
func (s *scene) nothing() string {
	var out []string
	for _, name := range []model.Factor{model.FactorArrivals, model.FactorPrompt, model.FactorMiss, model.FactorOutput} {
		if f := s.factor(name); f.Ratio.OK() {
			out = append(out, f.words())
		}
	}
	if f := s.factor(model.FactorResidual); f.Now.OK() {
		out = append(out, f.words())
	}
	if len(out) == 0 {
		return "nothing moved"
	}
	return "nothing moved: " + strings.Join(out, ", ")
}

// movedInWords is what moved without a finding, "" nothing: it hurts nobody, or was
// seen for the first time.
func (s *scene) movedInWords() string {
	var out []string
	for i := range s.factors {
		if s.factors[i].Moved {
			out = append(out, s.factors[i].words())
		}
	}
	what := strings.Join(listed(strings.Join(out, ", "), s.bound.text), " · ")
	switch {
	case what == "":
		return ""
	case s.matters():
		return "no finding yet: " + what
	case slices.ContainsFunc(s.f.Flows, func(w Flow) bool { return w.unjudged() }):
		return "who is hurt is not known: " + what
	case slices.ContainsFunc(s.f.Flows, func(w Flow) bool { return w.short() }):
		return "nobody is surely hurt: " + what
	}
	return "nobody is hurt: " + what
}

// unjudged reports whether requests ended to which something was promised, and nobody
// knows whether it was kept.
func (f *Flow) unjudged() bool {
	_, judged := share(f.Now, Good, Judged)
	return f.Spec != nil && len(f.Spec.Objectives) > 0 && f.requests() > 0 && !(judged > 0)
}

// short reports whether fewer requests were good than promised, if only by chance.
func (f *Flow) short() bool {
	goodput, _ := share(f.Now, Good, Judged)
	return goodput < f.target()
}

// few is that too few requests came to say anything, "" where there were enough.
func (s *scene) few() string {
	x := s.side(s.tellsRates)
	before, baseline := counted(x.before, Arrived)
	switch now, seconds := counted(x.now, Arrived); {
	case len(x.now) == 0:
		return "nothing was told of the last " + unit.Period(nowS)
	case seconds == 0:
		return "nobody tells how many requests arrive"
	case now < leastCompared:
		return fmt.Sprintf("too few requests: %s in %s", unit.Integer(now), unit.Period(nowS))
	case before < leastCompared:
		return fmt.Sprintf("too few requests to compare with: %s in %s", unit.Integer(before), unit.Period(baseline))
	default:
		return ""
	}
}

// limits is what a diagnosis lacks.
func (s *scene) limits() model.Text {
	var why model.Text
	if !s.compares() {
		why = model.Text(fmt.Sprintf("no baseline yet: %d of %d quiet blocks of %s", s.quiet(), LeastBaseline, unit.Period(Block.Seconds())))
	}
	if s.f.Behind != "" {
		why = also(why, "its requests are served by the engines of "+s.f.Behind)
	}
	if s.f.Silent > 0 {
		why = also(why, fmt.Sprintf("%d of %s not answering", s.f.Silent, plural(s.f.Silent+len(s.f.Engines), "engine is", "engines are")))
	}
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		if e.Step.Fit == nil && e.Step.Why != "" {
			why = also(why, "nothing is known of step times: "+strings.TrimSuffix(e.Step.Why, "."))
			break
		}
	}
	if r := value(s.factor(model.FactorResidual).Now); steptime.Judge(r) == steptime.Between {
		why = also(why, "a step takes "+unit.Multiple(r, false)+" of what its load explains: neither surely the load nor the machine")
	}
	if len(s.f.Engines) > 0 && s.compares() && !s.learned() {
		why = also(why, "prompts and answers are taken to weigh the same")
	}
	return why
}

// learned reports whether any engine's tokens have a price.
func (s *scene) learned() bool {
	for i := range s.f.Engines {
		if s.f.Engines[i].Step.Fit != nil {
			return true
		}
	}
	return false
}

func also(why model.Text, more string) model.Text {
	if why == "" {
		return model.Text(more)
	}
	return why + "; " + model.Text(more)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
