package tuitest

import (
	"fmt"
	"time"

	"slotop/model"
)

// Findings is every frame with a diagnosis in it.
func Findings() []Named {
	return []Named{
		{"arrivals", Arrivals()}, {"throttled", Throttled()}, {"misses", Misses()}, {"bulk", Bulk()},
		{"interference", Interference()}, {"untold", Untold()}, {"unexplained", Unexplained()}, {"provider", Provider()},
		{"seen", Seen()}, {"stood", Stood()}, {"doubted", Doubted()}, {"risky", Risky()}, {"manyfindings", ManyFindings()}, {"longnames", LongNames()}, {"hostilefindings", HostileFindings()},
	}
}

// moved is a factor that changed; work is its share of the work before.
func moved(factor model.Factor, before, now, work float64, who string) model.FactorView {
	v := still(factor, before, now, work)
	v.Moved, v.Who = true, model.Text(who)
	if who != "" {
		v.WhoShare = model.Of(0.98)
	}
	return v
}

// still is a factor that did not move beyond chance.
func still(factor model.Factor, before, now, work float64) model.FactorView {
	return model.FactorView{
		Factor: factor, Before: model.Of(before), Now: model.Of(now), Ratio: model.Of(now / before), Work: model.Of(work),
	}
}

// diagnosed is a diagnosis of the two engines and what they serve, over 60 s
// against 350 s of quiet before.
func diagnosed(f *model.Frame, sentence string, quietTo time.Duration, factors ...model.FactorView) *model.DiagnosisView {
	d := model.DiagnosisView{
		Pool: "chat", State: model.Diagnosed, Sentence: sentence, Factors: factors,
		Residual: model.Of(1.02), At: ago(7 * time.Second), WindowS: 60, BaselineS: model.Of(350), BaselineTo: ago(quietTo),
	}
	for i := range f.Targets {
		d.Targets = append(d.Targets, f.Targets[i].Name)
	}
	for i := range f.Workflows {
		d.Workflows = append(d.Workflows, f.Workflows[i].Name)
	}
	f.Diagnoses = []model.DiagnosisView{d}
	return &f.Diagnoses[0]
}

// finding is a cause with the common windows.
func finding(id, title string, c model.Confidence, n float64, since time.Duration) model.FindingView {
	return model.FindingView{
		ID: id, Title: title, Layer: model.LayerCause, Confidence: c, N: model.Of(n), WindowS: 60, BaselineS: model.Of(350), Since: ago(since),
	}
}

// Arrivals is incident S1: chat gets 3.6 times its traffic and the KV cache fills.
func Arrivals() *model.Frame {
	f := Breach()
	lambda := moved(model.FactorArrivals, 8.1, 29.2, 2.6, "chat")
	d := diagnosed(f, "arrivals ×3.6, all chat: KV cache full", 5*time.Minute,
		lambda, still(model.FactorResidual, 1, 1.07, 0.07), still(model.FactorMiss, 0.457, 0.466, 0.02),
		still(model.FactorPrompt, 1812, 1830, 0.01), still(model.FactorOutput, 221, 219, -0.01))
	d.Binds, d.Binding, d.Residual = model.BindsKV, "KV cache full, 1.0 preemptions/s", model.Of(1.07)
	cause := finding("T1", "more arrivals than service", model.HighConfidence, 1892, 4*time.Minute)
	cause.Workflow, cause.Symptom = "chat", "chat TTFT: 1 of 1892 met 500 ms"
	cause.Cause, cause.Binding, cause.Binds, cause.Factor = "arrivals ×3.6, all chat", "KV cache full, 1.0 preemptions/s", model.BindsKV, &lambda
	cause.Evidence = []string{"arrivals 8.1 → 29.2 /s", "KV 0.14 → 0.99", "waiting 0 → 208", "step residual 1.07"}
	cause.Against = []string{"flat arrivals", "running below its cap with KV free"}
	cause.Not = []string{"the GPU: a step takes 1.07× what the load explains"}
	cause.Try = []string{"add a replica: load factor 1.46 → 0.73", "cap chat at 13 req/s", "check the retry share first"}
	recompute := finding("T6", "requests are prefilled twice", model.MediumConfidence, 62, 3*time.Minute+10*time.Second)
	recompute.Layer, recompute.Binds = model.LayerBinding, model.BindsKV
	recompute.Symptom, recompute.Cause, recompute.Binding = "preemptions 1.0/s", "", "KV cache full, 1.0 preemptions/s"
	recompute.Evidence = []string{"preemptions 0.0 → 1.0 /s", "KV at most 0.99"}
	recompute.Against, recompute.Try = []string{"no preemptions"}, []string{"lower the most sequences at once", "more memory for KV", "FP8 KV"}
	f.Findings = []model.FindingView{cause, recompute}
	return f
}

// Throttled is incident S4: the clock of the GPU is held at less than half.
func Throttled() *model.Frame {
	f := Breach()
	chat := &f.Workflows[0]
	chat.Objectives[0].Share, chat.Objectives[0].N = exactly(0.31), 498
	r := moved(model.FactorResidual, 1, 1.98, 0.98, "")
	d := diagnosed(f, "a step takes ×1.98 of what the load explains: throttled", 5*time.Minute,
		r, still(model.FactorArrivals, 8.1, 8.2, 0.01), still(model.FactorPrompt, 1812, 1795, -0.01), still(model.FactorOutput, 221, 204, -0.04))
	d.Binds, d.Binding, d.Residual = model.BindsKV, "KV cache full as its consequence", model.Of(1.98)
	c := finding("D4", "the GPU is throttled", model.HighConfidence, 498, 4*time.Minute)
	c.Target, c.Symptom = "vllm-0:8000", "chat TPOT: 2–11 % of 498 met 50 ms"
	c.Cause, c.Binding, c.Binds, c.Factor = "a step takes 1.98× what the load explains, clock 1980 → 890 MHz (power brake)", "KV cache full as its consequence", model.BindsKV, &r
	c.Evidence = []string{"step residual 1.00 → 1.98", "SM clock 1980 → 890 MHz", "throttled 0 → 100 % of the time: power brake", "MBU 0.50 → 0.17"}
	c.Against = []string{"normal clocks", "a restart with other flags"}
	c.Not = []string{"traffic: arrivals ×1.01, prompts ×0.99"}
	c.Try = []string{"drain vllm-0:8000", "look at cooling and the power cap of GPU 0", "compare with a sibling GPU"}
	f.Findings = []model.FindingView{c}
	return f
}

// Misses is incident S5: the prompts of chat no longer hit the prefix cache.
func Misses() *model.Frame {
	f := Breach()
	chat := &f.Workflows[0]
	*chat = workflow("chat", 8.1, 0.62, 0.038, "vllm-0:8000", "vllm-1:8000")
	chat.AssumedObjectives, chat.PrefixCacheHit, chat.KVCacheUsage = false, model.Of(0.01), model.Of(0.31)
	chat.Objectives = []model.ObjectiveView{objective("ttft", 0.5, 0.81, 0.84, model.Missed), objective("tpot", 0.05, 0.97, 0.97, model.Met)}
	chat.Condition, chat.Since = model.IsMissed, ago(2*time.Minute+12*time.Second)
	promise(chat, between(0.78, 0.84), model.Missed, 3.9, 0.81)
	f.Alerts = f.Alerts[:1]
	miss := moved(model.FactorMiss, 0.457, 0.988, 0.71, "chat")
	diagnosed(f, "prefix cache misses ×2.16", 3*time.Minute, miss, still(model.FactorPrompt, 1812, 1736, -0.03), still(model.FactorArrivals, 8.1, 8.1, 0))
	c := finding("T4", "prefix cache collapse", model.MediumConfidence, 486, 2*time.Minute)
	c.Workflow, c.Symptom = "chat", "chat TTFT: 81–84 % of 486 met 500 ms"
	c.Cause, c.Factor = "prefix cache misses ×2.16: computed prompt tokens 828 → 1716 a request", &miss
	c.Evidence = []string{"miss share 46 → 99 %", "computed 828 → 1716 tokens a request"}
	c.Against = []string{"hit counters that are known to be inflated", "KV usage near 1: then eviction is the consequence"}
	c.Not = []string{"longer prompts: ×0.96", "arrivals: ×1.00"}
	c.Try = []string{"restore the order of the prompt prefix", "route sticky to a replica", "replay 100 prompts twice"}
	f.Findings = []model.FindingView{c}
	return f
}

// Bulk is incident S7: a batch served online makes the engine efficient and its
// users slow.
func Bulk() *model.Frame {
	f := Breach()
	lambda := moved(model.FactorArrivals, 9.3, 16.6, 0.82, "batch-eval")
	lambda.WhoShare = model.Of(0.96)
	diagnosed(f, "arrivals ×1.8, 96 % batch-eval", 5*time.Minute, lambda, still(model.FactorOutput, 221, 266, 0.15), still(model.FactorResidual, 1, 1.05, 0.05))
	c := finding("T1", "more arrivals than service", model.MediumConfidence, 540, 4*time.Minute)
	c.Workflow, c.Symptom, c.Cause, c.Factor = "batch-eval", "chat TPOT: 2–11 % of 1032 met 50 ms", "arrivals ×1.8, 96 % batch-eval", &lambda
	c.Not = []string{"the GPU: a step takes 1.05× what the load explains"}
	c.Try = []string{"admit batch-eval by priority below chat", "run it as a batch off-peak"}
	c.Evidence, c.Against = []string{"batch-eval 0.8 → 8.0 /s"}, []string{"flat arrivals"}
	e := finding("E6", "more tokens, worse answers", model.MediumConfidence, 1032, 3*time.Minute+40*time.Second)
	e.Layer, e.Workflow, e.Symptom = model.LayerSymptom, "chat", "tokens/s +126 % while goodput of chat fell by 62 points"
	e.Cause, e.Evidence = "the batch got better, the users got worse", []string{"2044 → 4632 tok/s", "chat goodput 99.5 → 37 %", "worst gap 93 → 496 ms"}
	e.Against, e.Try = []string{"goodput that holds"}, []string{"revert the change of budget and cap", "separate replicas for bulk work"}
	f.Findings = []model.FindingView{c, e}
	return f
}

// Interference is incident S9: long prefills stop the decodes beside them.
func Interference() *model.Frame {
	f := Breach()
	u := moved(model.FactorMiss, 0.46, 0.62, 0.31, "summarize")
	u.Mix = true
	diagnosed(f, "prefill work ×1.35, summarize", 5*time.Minute, u, still(model.FactorArrivals, 9.3, 10.5, 0.12))
	c := finding("D3", "prefill interference", model.HighConfidence, 1032, 4*time.Minute)
	c.Workflow, c.Symptom, c.Factor = "summarize", "chat TPOT: 2–11 % of 1032 met 50 ms", &u
	c.Cause = "prefill work ×1.35, from summarize: decodes wait for whole chunks"
	c.Evidence = []string{"prefill tokens a step 210 → 512", "worst gap p95 93 → 580 ms", "ITL p99/p50 11"}
	c.Against, c.Not = []string{"flat gaps"}, []string{"memory bandwidth: KV reads are 31 % of a step"}
	c.Try = []string{"a token budget of 2048", "a threshold for long prefills", "separate prefill from decode"}
	f.Findings = []model.FindingView{c}
	return f
}

// Untold is a breach about which nothing can be told yet.
func Untold() *model.Frame {
	f := Breach()
	d := diagnosed(f, "", 0)
	d.State, d.Why, d.BaselineS, d.Residual = model.CannotTell, "only 20 s of quiet time to compare with, 60 s are needed", model.Of(20), model.Reading{}
	return f
}

// Unexplained is a breach for which no factor is to blame.
func Unexplained() *model.Frame {
	f := Breach()
	d := diagnosed(f, "no factor moved: arrivals ×1.02, prompts ×0.99, output ×1.01, machine ×1.03", 5*time.Minute,
		still(model.FactorResidual, 1, 1.03, 0.03), still(model.FactorArrivals, 8.1, 8.3, 0.02), still(model.FactorOutput, 221, 223, 0.01))
	d.State = model.NoFinding
	return f
}

// Provider is incident S8: a hosted service of which only requests are seen.
func Provider() *model.Frame {
	f := LoadTest()
	d := diagnosed(f, "the provider is slower: TTFT ×2.5 at the same prompts", 4*time.Minute)
	d.Binds, d.Binding, d.Residual, d.BaselineS = model.BindsProvider, "the provider", model.Reading{}, model.Of(240)
	c := finding("P1", "the provider is slower", model.MediumConfidence, 300, 75*time.Second)
	c.Workflow, c.Symptom = "bench", "bench TTFT: 93 % of 300 met 1 s"
	c.Cause, c.Binding, c.Binds = "TTFT 0.4 → 1.0 s before any prompt token, its slope is flat", "the provider: queue, cold start or network", model.BindsProvider
	c.Evidence, c.Against = []string{"intercept 0.4 → 1.0 s", "slope 33 → 34 µs/token", "TPOT ×1.6, R² 0.03 with own concurrency"}, []string{"own load that grew"}
	c.Not, c.Try = []string{"own load: it is flat"}, []string{"compare another region or model", "ask the provider for its status"}
	c.BaselineS = model.Of(240)
	f.Findings = []model.FindingView{c}
	return f
}

// Seen is a cause while everybody is still well.
func Seen() *model.Frame {
	f := Calm()
	lambda := moved(model.FactorArrivals, 8.1, 11.2, 0.38, "chat")
	diagnosed(f, "arrivals ×1.4, all chat", 90*time.Second, lambda)
	c := finding("T1", "more arrivals", model.MediumConfidence, 672, time.Minute)
	c.Workflow, c.Cause, c.Factor = "chat", "arrivals ×1.4, all chat", &lambda
	c.Evidence, c.Try = []string{"arrivals 8.1 → 11.2 /s"}, []string{"nothing yet: load 0.62 of 0.7"}
	f.Findings = []model.FindingView{c}
	return f
}

// ManyFindings is a pool in which every rule speaks, and thirty that are well or
// cannot be told of.
func ManyFindings() *model.Frame {
	f := Arrivals()
	one := f.Findings[0]
	for i := range 60 {
		c := one
		c.ID, c.Target = fmt.Sprintf("T%d", i%10+1), model.Text(fmt.Sprintf("vllm-%d:8000", i))
		c.Layer = []model.Layer{model.LayerCause, model.LayerBinding, model.LayerSymptom}[i/20]
		c.Title = "the same again, said in so many words that no line of eighty cells has the room for it"
		c.Try = append(c.Try, "read the last thousand lines of the log of every engine one by one until something turns up that was not there before")
		f.Findings = append(f.Findings, c)
	}
	for i := range 30 {
		d := model.DiagnosisView{Pool: fmt.Sprintf("pool-%d", i), State: model.NoFinding, WindowS: 60, At: ago(7 * time.Second)}
		if i%3 == 0 {
			d.State, d.Why = model.CannotTell, "its engines do not answer"
		}
		f.Diagnoses = append(f.Diagnoses, d)
	}
	for i := range f.Findings {
		f.Findings[i].Pool = "chat"
	}
	return f
}

// LongNames is incident S1 with names that are long and wide.
func LongNames() *model.Frame {
	f := Arrivals()
	const name = "模型/通义千问-七十二亿-指令微调版本"
	f.Workflows[0].Name = name
	f.Diagnoses[0].Workflows[0], f.Diagnoses[0].Pool = name, name
	c := &f.Findings[0]
	c.Workflow, c.Symptom, c.Cause = name, name+" TTFT: 1 of 1892 met 500 ms", "arrivals ×3.6, all "+name
	c.Try = []string{"add a replica: load factor 1.46 → 0.73", "cap " + name + " at 13 req/s"}
	c.Evidence = append(c.Evidence, "服务器-一-二-三-四-五-六-七-八-九-十-服务器-一-二-三-四-五-六-七-八-九-十-服务器-一-二-三-四-五-六-七-八-九-十")
	w := *f.Findings[0].Factor
	w.Who, c.Factor = name, &w
	f.Diagnoses[0].Factors[0] = w
	return f
}

// HostileFindings puts names that try to take over the terminal wherever a finding
// or a diagnosis has a text.
func HostileFindings() *model.Frame {
	f := Hostile()
	for i := range f.Workflows {
		n := f.Workflows[i].Name
		text := model.Text(n)
		w := moved(model.Factor(n), 1, 1e30, -1e30, n)
		c := finding(n, n, model.Confidence(n), 1e30, time.Minute)
		c.Pool, c.Workflow, c.Target, c.Symptom, c.Cause, c.Binding, c.Factor = text, text, text, text, text, text, &w
		c.Layer, c.Evidence, c.Against, c.Not, c.Try = model.Layer(n), []string{n, n}, []string{n}, []string{n}, []string{n, ""}
		f.Findings = append(f.Findings, c)
		f.Diagnoses = append(f.Diagnoses, model.DiagnosisView{
			Pool: n, Targets: []string{n}, Workflows: []string{n}, State: []model.DiagnosisState{model.Diagnosed, model.NoFinding, model.CannotTell}[i%3],
			Why: text, Sentence: n, Factors: []model.FactorView{w}, Binding: text,
		})
	}
	f.Workflows[0].Condition = model.IsMissed
	return f
}

// Stood is a cause that was found before its engines fell silent.
func Stood() *model.Frame {
	f := Arrivals()
	d := &f.Diagnoses[0]
	d.State, d.Why, d.Sentence = model.CannotTell, "no engine of it answers", "cannot tell: no engine of it answers"
	return f
}

// Doubted is a cause while it is not known for sure whether anybody is hurt.
func Doubted() *model.Frame {
	f := Seen()
	w := &f.Workflows[0]
	promise(w, between(0.91, 0.98), model.Undecided, 1.5, 0.81)
	w.Goodput.Why = "the bounds of the share lie on both sides of what was promised"
	w.Condition, w.Since = model.IsUndecided, ago(time.Minute)
	return f
}

// Risky is a cause while a promise is about to break.
func Risky() *model.Frame {
	f := Seen()
	w := &f.Workflows[0]
	w.Condition, w.Since = model.IsAtRisk, ago(time.Minute)
	f.Alerts = []model.AlertView{alert("predicted/chat", "predicted_breach", "chat", model.Warn, model.AlertPending, 12*time.Second, 0, "a new request waits 1.2 s: TTFT will miss 1 s")}
	return f
}
