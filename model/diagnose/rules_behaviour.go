package diagnose

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/unit"
)

// behaviourRules are what clients, answers and promises do.
var behaviourRules = []rule{
	{
		id: "E1", title: "answers got longer", layer: model.LayerCause,
		when:    "mean output length grew within a workflow, or makes over 60 % of what E2E time grew by",
		against: "tokens got slower and answers did not get longer; or only the mix changed",
		try:     []string{"look for a changed prompt or stop rule", "lower the maximum output", "check how many answers are cut"},
		says:    longerAnswers,
	},
	{
		id: "E2", title: "more calls a piece of work", layer: model.LayerCause,
		when:    "a piece of work takes longer and makes more calls, while a call takes as long as before",
		against: "calls themselves are slower; or as many are made",
		try:     []string{"trace one piece of work", "a budget for tool calls"},
		says:    moreCalls,
	},
	{
		id: "E3", title: "retries amplify", layer: model.LayerCause,
		when:    "retries are over 2 % of arrivals and over twice the baseline's share, and arrivals grew",
		against: "arrivals are flat; or first attempts grew as much",
		try:     []string{"back off with jitter", "limit hedging", "a timeout above p99"},
		says:    retriesAmplify,
	},
	{
		id: "E4", title: "answers are cut at their limit", layer: model.LayerSymptom,
		when:    "over 5 % of answers end at their limit, and more than before",
		against: "the share that is cut is as before",
		try:     []string{"raise the limit, or ask for shorter answers", "offer a continuation"},
		says:    cutAnswers,
	},
	{
		id: "E5", title: "users give up", layer: model.LayerSymptom,
		when:    "over 2 % of requests are cancelled, and over twice the baseline's share",
		against: "the share is as before",
		try:     []string{"before the first token: fix TTFT", "after it: look at pace and quality", "show progress in the user interface"},
		says:    abandoned,
	},
	{
		id: "E6", title: "efficiency regression: the batch got better, users got worse", layer: model.LayerSymptom,
		when:    "tokens a second grew by at least 10 %, mostly by other workflows, while the goodput of an interactive one fell by at least 5 points",
		against: "goodput is flat: then throughput improved; those who lose bring the tokens themselves: then it is their load; or a backlog drains after something else",
		try:     []string{"take back the change of budget or cap", "admit bulk work by priority", "separate replicas"},
		says:    efficiencyRegression,
	},
	{
		id: "E7", title: "offline job served online", layer: model.LayerCause,
		when:    "a workflow that promises no TTFT, or whose deadline is over 10 minutes, makes over 30 % of the work while an interactive one is hurt",
		against: "it promises TTFT; or it makes little of the work; or nobody interactive is hurt",
		try:     []string{"a batch API", "an off-peak window", "lower priority"},
		says:    offlineOnline,
	},
	{
		id: "E8", title: "decode is faster than anyone reads", layer: model.LayerSymptom,
		when:    "human readers, TPOT below 50 ms, and the TTFT objective missed, as it was before",
		against: "a program reads; TTFT is met; or it was met before, at such a pace: then something else changed",
		try:     []string{"spend the speed on TTFT: more sequences at once", "a cheaper GPU once TTFT is met"},
		says:    fasterThanReading,
	},
	{
		id: "E9", title: "only the tail", layer: model.LayerSymptom,
		when:    "goodput is below target while every mean is as before and nothing is full",
		against: "a mean moved, or something is full",
		try:     []string{"break down by replica", "by prompt length", "by client", "look at the gaps between tokens"},
		says:    onlyTheTail,
	},
}

func longerAnswers(p *probe) []saying {
	f, up := p.up(model.FactorOutput)
	if up && !f.Mix && p.matters() && !p.hosted() {
		said := saying{flow: string(f.Who), factor: f, weight: f.log, n: f.n, evidence: append(p.evidence(f), p.ending(string(f.Who))...)}
		if p.cutMore() {
			said.try = []string{"check the limit: more answers are cut than before"}
		}
		return []saying{said}
	}
	if up && f.Mix {
		return nil
	}
	for i := range p.hurts {
		w := p.hurts[i].flow
		if p.hurts[i].metric != model.MetricE2E {
			continue
		}
		now, before := Total(w.Now), Total(w.Before)
		e, ok := SplitE2E(&before, &now)
		length0, length1, n0, n1 := side{w.Now, w.Before}.means(OutputLength)
		se := lengthSpread * math.Sqrt(1/n0+1/n1)
		own := math.Log(length1 / length0)
		if !ok || p.survivors(model.FactorOutput, own) || !p.over(e.Length/e.E2E, mostOf) || !p.over(own, max(leastLog, errorsBeyond*se)) {
			continue
		}
		one := &factor{FactorView: model.FactorView{
			Factor: model.FactorOutput, Before: model.Of(length0), Now: model.Of(length1), Ratio: model.Of(length1 / length0),
			Moved: true, Who: model.Text(w.Name), WhoShare: model.Of(1),
		}}
		return []saying{{flow: w.Name, factor: one, weight: own * mostOf / 2, n: n1, evidence: append([]string{one.figures()}, p.ending(w.Name)...)}}
	}
	return nil
}

// ending is what a workflow's E2E time grew by, by its parts.
func (s *scene) ending(name string) []string {
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		if w.Name != name {
			continue
		}
		now, before := Total(w.Now), Total(w.Before)
		if e, ok := SplitE2E(&before, &now); ok && e.E2E > 0 {
			return []string{fmt.Sprintf("E2E of %s +%s: %s longer answers, %s slower tokens, %s first token",
				name, unit.Duration(e.E2E), unit.Percent(e.Length/e.E2E), unit.Percent(e.Pace/e.E2E), unit.Percent(e.TTFT/e.E2E))}
		}
	}
	return nil
}

func (s *scene) cutMore() bool {
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		now, n := share(w.Now, Limited, Ended)
		before, _ := share(w.Before, Limited, Ended)
		if n >= leastCompared && now > cutShare && now > before*grown {
			return true
		}
	}
	return false
}

func moreCalls(p *probe) []saying {
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		calls := value(w.Turns.Now) / value(w.Turns.Before)
		took := value(w.Took.Now) / value(w.Took.Before)
		call := moved(w.Now, w.Before, E2E)
		if !p.grewBy(calls, longer) || !p.grewBy(took, grown) || call.up || call.ratio > longer {
			continue
		}
		f := &factor{FactorView: model.FactorView{
			Factor: model.FactorOutside, Before: w.Turns.Before, Now: w.Turns.Now, Ratio: model.Of(calls), Moved: true, Who: model.Text(w.Name),
		}}
		return []saying{{
			flow: w.Name, factor: f, weight: math.Log(calls), n: call.n,
			symptom: w.Name + " work: " + unit.Duration(value(w.Took.Before)) + " → " + unit.Duration(value(w.Took.Now)),
			cause:   "calls a piece of work " + unit.Times(calls),
			evidence: []string{"calls " + unit.Number(value(w.Turns.Before)) + " → " + unit.Number(value(w.Turns.Now)),
				"E2E of a call " + unit.Duration(call.before) + " → " + unit.Duration(call.now)},
			not: []string{"the engine: a call takes as long as before"},
		}}
	}
	return nil
}

const (
	someRetries = 0.02
	twice       = 2.0
)

// retries is the share of arrivals that are retries, before and now.
func (s *scene) retries() (before, now, n float64) {
	x := s.flows
	before, _ = share(x.before, Retried, Arrived)
	now, n = share(x.now, Retried, Arrived)
	return before, now, n
}

// retried is what retries add to the logarithm of arrivals, 0 where nobody tells.
func (s *scene) retried() float64 {
	before, now, _ := s.retries()
	more := math.Log((1 - before) / (1 - now))
	if math.IsNaN(more) || math.IsInf(more, 0) || more < 0 {
		return 0
	}
	return more
}

func retriesAmplify(p *probe) []saying {
	before, now, n := p.retries()
	arrivals, up := p.up(model.FactorArrivals)
	if !p.over(now, someRetries) || !(now > p.ease*twice*before) || !(n >= leastCompared) || !up || !p.matters() {
		return nil
	}
	f := &factor{FactorView: model.FactorView{
		Factor: model.FactorRetries, Before: model.Of(before), Now: model.Of(now), Ratio: model.Of(now / before),
		Work: model.Of(math.Exp(p.retried()) - 1), Moved: true,
	}}
	return []saying{{
		factor: f, weight: p.retried(), n: n,
		cause:    "retries are " + unit.Percent(now) + " of arrivals",
		evidence: []string{"retries " + unit.Percent(before) + " → " + unit.Percent(now) + " of arrivals", arrivals.figures()},
	}}
}

const cutShare = 0.05

func cutAnswers(p *probe) []saying {
	var out []saying
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		now, n := share(w.Now, Limited, Ended)
		before, n0 := share(w.Before, Limited, Ended)
		chance := errorsBeyond * math.Sqrt(before*(1-before)*(1/n+1/n0))
		if !(n >= leastCompared) || !p.over(now, cutShare) || !p.over(now, grown*before) || !(now-before > chance) {
			continue
		}
		out = append(out, saying{
			flow: w.Name, n: n, weight: now,
			symptom:  w.Name + ": " + unit.Percent(now) + " of answers are cut at their limit",
			cause:    "answers reach their limit",
			evidence: []string{"cut " + unit.Percent(before) + " → " + unit.Percent(now) + " of " + unit.Integer(n)},
		})
	}
	return out
}

const someGiveUp = 0.02

func abandoned(p *probe) []saying {
	var out []saying
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		now, n := share(w.Now, Cancelled, Ended)
		before, n0 := share(w.Before, Cancelled, Ended)
		chance := errorsBeyond * math.Sqrt(now*(1-now)/n)
		if !(n >= leastCompared && n0 >= leastCompared) || !p.over(now, someGiveUp) || !p.over(now, twice*before) || !(now-before > chance) {
			continue
		}
		said := saying{
			flow: w.Name, n: n, weight: now,
			symptom:  w.Name + ": " + unit.Percent(now) + " of users give up",
			evidence: []string{"cancelled " + unit.Percent(before) + " → " + unit.Percent(now) + " of " + unit.Integer(n)},
		}
		if early, m := share(w.Now, GaveUpEarly, Cancelled); m > 0 {
			said.evidence = append(said.evidence, unit.Percent(early)+" of them before their first token")
			said.cause = map[bool]string{true: "they wait too long for the first token", false: "they leave in mid-answer: pace or quality"}[early > 0.5]
		}
		out = append(out, said)
	}
	return out
}

const (
	moreTokens = 1.10
	lostPoints = 0.05
)

// interactive reports whether somebody waits for the workflow's answers.
func (f *Flow) interactive() bool {
	return f.Spec != nil && f.Spec.Reader != model.ReaderProgram && f.Spec.DeadlineS == 0 && f.bound(model.MetricTTFT) > 0
}

func efficiencyRegression(p *probe) []saying {
	if p.hosted() {
		return nil
	}
	before, now := rate(p.engines.before, OutputTokens), rate(p.engines.now, OutputTokens)
	if !p.grewBy(now/before, moreTokens) || p.drains() && !p.grew() {
		return nil
	}
	var worst *saying
	who, most, others := "", 0.0, 0.0
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		good0, n0 := share(w.Before, Good, Judged)
		good1, n1 := share(w.Now, Good, Judged)
		if !w.interactive() || !(n0 >= leastCompared && n1 >= leastCompared) || !p.over(good0-good1, lostPoints) || !p.hurting(w) {
			if more := w.moreOutput(); more > 0 {
				others += more
				if more > most {
					who, most = w.Name, more
				}
			}
			continue
		}
		lost := "goodput of " + w.Name + " " + unit.Percent(good0) + " → " + unit.Percent(good1)
		if worst != nil && worst.weight >= (good0-good1)*n1 {
			worst.evidence = append(worst.evidence, lost)
			continue
		}
		said := saying{
			flow: w.Name, n: n1, weight: (good0 - good1) * n1,
			cause:    "throughput " + unit.Times(now/before) + " at the cost of " + w.Name,
			evidence: []string{"output " + unit.Count(before) + " → " + unit.Count(now) + " tokens/s", lost},
		}
		if worst != nil {
			said.evidence = append(said.evidence, worst.evidence[1:]...)
		}
		worst = &said
	}
	if worst == nil || !p.over(others/(now-before), mainPart) {
		return nil // the tokens are of those who lose
	}
	worst.evidence = append(worst.evidence, unit.Percent(min(1, most/(now-before)))+" of the new tokens are of "+who)
	return some(worst)
}

// moreOutput is by how many tokens a second more a workflow is answered, NaN unknown.
func (f *Flow) moreOutput() float64 {
	before := rate(f.Before, OutputTokens)
	if f.New && math.IsNaN(before) {
		before = 0
	}
	return rate(f.Now, OutputTokens) - before
}

// some is what was said, if anything.
func some(said *saying) []saying {
	if said == nil {
		return nil
	}
	return []saying{*said}
}

const (
	longDeadline = 600 // s
	muchWork     = 0.3 // of the pool's
)

// offline reports whether nobody waits for single answers of the workflow.
func (f *Flow) offline() bool {
	if f.Spec == nil || f.Spec.Assumed || len(f.Spec.Objectives) == 0 && f.Spec.DeadlineS == 0 {
		return false
	}
	return f.Spec.DeadlineS > longDeadline || f.bound(model.MetricE2E) > longDeadline || f.bound(model.MetricTTFT) == 0
}

func offlineOnline(p *probe) []saying {
	if p.hosted() || !p.interactiveHurt() {
		return nil
	}
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		part := p.workShare(w)
		if !w.offline() || !p.over(part, muchWork) {
			continue
		}
		said := saying{
			flow: w.Name, n: w.requests(),
			cause:    w.Name + " is " + unit.Percent(part) + " of the work, and nobody waits for it",
			evidence: []string{w.Name + " promises no first token", unit.Rate(rate(w.Now, Arrived)) + " req/s of it"},
			try:      listed(p.limitTo(w.Name)),
		}
		if f := p.factor(model.FactorArrivals); f.up() && f.Who == model.Text(w.Name) {
			said.factor, said.weight = f, f.log/2
		}
		if cv := evenness(w.Calls); cv < 0.3 {
			said.evidence = append(said.evidence, "its requests are of nearly the same size")
		}
		return []saying{said}
	}
	return nil
}

func (s *scene) interactiveHurt() bool {
	for i := range s.hurts {
		if s.hurts[i].flow.interactive() && s.hurts[i].degree > slower {
			return true
		}
	}
	return false
}

// workShare is a workflow's part of the pool's work, NaN unknown.
func (s *scene) workShare(w *Flow) float64 {
	own, all := math.NaN(), 0.0
	for i := range s.f.Flows {
		f := &s.f.Flows[i]
		work := rate(f.Now, Arrived) * s.costOf(f)
		if f == w {
			own = work
		}
		if work > 0 {
			all += work
		}
	}
	return own / all
}

// evenness is the spread of prompt lengths over their mean, NaN of too few.
func evenness(calls []Call) float64 {
	var n, total, squares float64
	for i := range calls {
		if v := calls[i].Prompt; v > 0 {
			n, total, squares = n+1, total+v, squares+v*v
		}
	}
	if n < leastCompared {
		return math.NaN()
	}
	m := total / n
	return math.Sqrt(max(0, squares/n-m*m)) / m
}

// readingPace is the TPOT, s, below which tokens come faster than most people read:
// three times 400 words a minute.
const readingPace = 0.050

func fasterThanReading(p *probe) []saying {
	if p.hosted() {
		return nil // nobody here chooses its batches
	}
	for i := range p.hurts {
		h := &p.hurts[i]
		w := h.flow
		tpot := mean(w.Now, TPOT)
		if w.Spec == nil || w.Spec.Reader != model.ReaderHuman || h.degree != breach || h.metric != model.MetricTTFT || !(tpot.Value() < readingPace) || w.kept() {
			continue
		}
		return []saying{{
			flow: w.Name, n: h.n, symptom: h.text, cause: "tokens come faster than anyone reads, the first one late",
			evidence: []string{"TPOT " + unit.Duration(tpot.Value()) + ": " + unit.Number(1/tpot.Value()) + " tokens/s"},
		}}
	}
	return nil
}

// kept reports whether what was promised was kept in the baseline.
func (f *Flow) kept() bool {
	goodput, judged := share(f.Before, Good, Judged)
	return judged >= leastCompared && goodput >= f.target()
}

func onlyTheTail(p *probe) []saying {
	if !p.compares() || p.bound.binds != model.BindsNothing || p.grew() {
		return nil
	}
	var out []saying
	for i := range p.hurts {
		h := &p.hurts[i]
		if h.degree != breach || p.meanMoved(h.flow) {
			continue
		}
		out = append(out, saying{
			flow: h.flow.Name, n: h.n, weight: h.size, symptom: h.text,
			cause:    "the means are as they were",
			evidence: []string{"TTFT, TPOT and E2E of " + h.flow.Name + " have not moved on average"},
		})
	}
	return out
}

func (s *scene) meanMoved(w *Flow) bool {
	known := false
	for _, l := range felt {
		m := moved(w.Now, w.Before, l.measure)
		if m.up || m.ratio > grown || value(w.Outside)-value(w.OutsideBefore) > felt20 {
			return true
		}
		known = known || !math.IsNaN(m.ratio)
	}
	return !known
}
