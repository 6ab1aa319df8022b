package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"slotop/model"
)

// said is everything that a finding says.
func said(v *model.FindingView) string {
	if v == nil {
		return ""
	}
	return strings.Join(append(append([]string{string(v.Cause)}, v.Evidence...), v.Not...), "; ")
}

// What the shape of the residual suggests is told only where it agrees with the cause
// that better signs decide.
func TestAHostIsNotAsByAClock(t *testing.T) {
	_, findings := confirm(with(onGPU(gpu(1.98e9, 0.45, 380)))())
	if text := said(found(findings, "D5")); !strings.Contains(text, "short steps ×1.98, long ones ×1.97") || strings.Contains(text, "clock,") || strings.Contains(text, "as by") {
		t.Errorf("host: %s", text)
	}
	_, findings = confirm(with(onGPU(gpu(0.89e9, 0.9, 260)))())
	if text := said(found(findings, "D4")); !strings.Contains(text, "suffer alike (×1.98, ×1.97): as by a clock") {
		t.Errorf("clock: %s", text)
	}
}

// That only one engine is slow is told where it is known of the others.
func TestOneSlowEngineAmongUnknownOnes(t *testing.T) {
	f := steady()
	f.Engines = []Engine{engine("a"), engine("b")}
	slow(f)
	_, findings := confirm(f)
	if text := said(found(findings, "D10")); !strings.Contains(text, "as long, on a only") {
		t.Error(text)
	}
	f.Engines[1].Step.Residual = model.Reading{}
	_, findings = confirm(f)
	if text := said(found(findings, "D10")); !strings.Contains(text, "as long, on a at least") {
		t.Error(text)
	}
}

// Where bulk work hurts those who wait, it makes way before anything is bought.
func TestBulkWorkMakesWay(t *testing.T) {
	_, findings := confirm(with(offline)())
	v := found(findings, "T1")
	if v == nil || len(v.Try) < 3 || !strings.HasPrefix(v.Try[0], "serve batch after the others") || !strings.HasPrefix(v.Try[1], "replicas of its own") {
		t.Fatalf("%s: %+v", ids(findings), v)
	}
	_, findings = confirm(surge())
	if v := found(findings, "T1"); !strings.HasPrefix(v.Try[0], "add a replica") {
		t.Errorf("%q", v.Try)
	}
}

// Who gets less than promised, if only by chance, is not said to be unhurt.
func TestNobodyIsSurelyHurt(t *testing.T) {
	f := steady()
	l := chatLoad
	l.rate, l.good = 12, 0.94
	now(f, "chat", l)
	if v, _ := confirm(f); !strings.HasPrefix(v.Sentence, "nobody is surely hurt: arrivals ×1.4") {
		t.Errorf("%q", v.Sentence)
	}
}

// A new client's long prompts that nobody asked before are its prompts, not a cache.
func TestPromptsBeforeTheirMisses(t *testing.T) {
	f := with(docs)()
	_, findings := confirm(f)
	if v := found(findings, "T3"); v == nil || v.Factor.Factor != model.FactorPrompt {
		t.Errorf("%s: %+v", ids(findings), v)
	}
}

// A few long requests more, by chance, are no new client.
func TestAFewMoreAreNoNewMix(t *testing.T) {
	f := with(docs)()
	w := f.flow("docs")
	w.New, w.Before = false, load{rate: 0.03, prompt: 20000, output: 200, ttft: 7, tpot: 0.06, good: 1}.blocks(BaselineBlocks)
	w.Now = load{rate: 0.06, prompt: 20000, output: 200, ttft: 7, tpot: 0.06, good: 1}.blocks(NowBlocks)
	serve(f)
	if _, findings := confirm(f); found(findings, "T3") != nil {
		t.Error(ids(findings))
	}
}

// A full resource is put down to a setting only after a minute's means would show the
// load that filled it.
func TestASettingThatNobodyTouchedTakesLonger(t *testing.T) {
	full := with(func(f *Facts) { now(f, "chat", slowChat(chatLoad)); jam(f) })
	var c Case
	for i := range 4 {
		if _, findings := c.Evaluate(full()); (found(findings, "C1") != nil) != (i > confirmed-1) {
			t.Errorf("evaluation %d: %s", i, ids(findings))
		}
	}
}

// Poor drafts lengthen steps too, as more run at once: that does not end the finding.
func TestPoorDraftsStand(t *testing.T) {
	var c Case
	for i, gap := range []float64{0.045, 0.045, 0.0525, 0.0525, 0.06, 0.06} {
		f := steady()
		drafts(f, 2.36, 1.31, gap)
		if _, findings := c.Evaluate(f); i > 0 && (found(findings, "D6") != nil) != (i < 5) {
			t.Errorf("gap %v: %s", gap, ids(findings))
		}
	}
}

// A mean that fell because others come is told by who they are, and one that fell because
// somebody stays away by who that is.
func TestWhoMovesAMix(t *testing.T) {
	f := steady()
	l := batchLoad
	l.rate *= 40
	now(f, "batch", l)
	if v := factorNamed(t, f, model.FactorPrompt); !v.Moved || !v.Mix || v.Who != "batch" {
		t.Errorf("%+v", v)
	}
	if v, _ := confirm(f); !strings.Contains(v.Sentence, "more batch traffic: prompts ×0.") {
		t.Errorf("%q", v.Sentence)
	}
	f = with(docs)()
	w := f.flow("docs")
	w.New, w.Before, w.Now = false, w.Now, load{rate: 0.05, prompt: 20000, output: 200, ttft: 7, tpot: 0.06, good: 1}.blocks(NowBlocks)
	for len(w.Before) < BaselineBlocks {
		w.Before = append(w.Before, w.Before...)
	}
	w.Before = w.Before[:BaselineBlocks]
	now(f, "chat", chatLoad)
	if v, _ := confirm(f); !strings.Contains(v.Sentence, "less docs traffic: ") {
		t.Errorf("%q", v.Sentence)
	}
}

// Where nobody judges requests it is not said that nobody is hurt.
func TestUnjudgedIsNotUnhurt(t *testing.T) {
	f := steady()
	l := chatLoad
	l.rate = 12
	now(f, "chat", l)
	w := f.flow("chat")
	for i := range w.Now {
		w.Now[i].Counts[Judged], w.Now[i].Counts[Good] = 0, 0
	}
	if v, _ := confirm(f); !strings.HasPrefix(v.Sentence, "who is hurt is not known: arrivals ×1.4") {
		t.Errorf("%q", v.Sentence)
	}
}

// Without a step-time model a slow machine cannot be ruled out.
func TestASettingOrASlowMachine(t *testing.T) {
	f := with(func(f *Facts) {
		now(f, "chat", slowChat(chatLoad))
		jam(f)
		f.Engines[0].Step.Residual = model.Reading{}
	})
	var c Case
	c.Evaluate(f())
	c.Evaluate(f())
	_, findings := c.Evaluate(f())
	if v := found(findings, "C1"); v == nil || !strings.HasSuffix(string(v.Cause), "or a slower machine") || v.Factor != nil || v.Confidence != model.LowConfidence {
		t.Errorf("%s: %+v", ids(findings), v)
	}
}

// A client that left is not to be limited: what it left is worked off.
func TestAClientThatLeft(t *testing.T) {
	f := with(docs)()
	w := f.flow("docs")
	for i := range w.Now {
		w.Now[i].Counts[Arrived] = 0
	}
	_, findings := confirm(f)
	v := found(findings, "T3")
	if text := said(v); !strings.Contains(text, "docs sends nothing any more") || strings.Contains(text, "is new") || strings.Contains(strings.Join(v.Try, "; "), "cap docs") {
		t.Errorf("%s: %s", ids(findings), text)
	}
}

// As many replicas are advised as mend it: one more does not help a pool that it
// leaves overloaded.
func TestAsManyReplicasAsMendIt(t *testing.T) {
	one := &scene{f: surge()}
	if got := one.addReplica(); got != "add a replica: load factor 1.22 → 0.61" {
		t.Errorf("%q", got)
	}
	f := surge()
	l := slowChat(chatLoad)
	l.rate *= 9
	now(f, "chat", l)
	var more int
	var before, after float64
	got := (&scene{f: f}).addReplica()
	if _, err := fmt.Sscanf(got, "add %d replicas: load factor %f → %f", &more, &before, &after); err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	if after > model.PlanningLimit || before/float64(more) <= model.PlanningLimit {
		t.Errorf("%q: one fewer would do, or so many are too few", got)
	}
}

// The new tokens are told of the workflow that most of them are of, not of whoever stands
// last in the list with a few more.
func TestWhoseTokensAreNew(t *testing.T) {
	_, findings := confirm(with(func(f *Facts) {
		offline(f)
		f.Flows = append(f.Flows, flow("tail", batchSpec, batchLoad))
		l := batchLoad
		l.rate *= 1.05
		now(f, "tail", l)
	})())
	if text := said(found(findings, "E6")); !strings.Contains(text, "of the new tokens are of batch") {
		t.Errorf("%s: %s", ids(findings), text)
	}
}
