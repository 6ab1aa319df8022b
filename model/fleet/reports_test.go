package fleet

import (
	"fmt"
	"testing"
	"time"

	"slotop/model"
)

// promised is a bench whose chat was promised a TTFT and a TPOT.
func promised(t testing.TB, every time.Duration, policy model.Policy, targets ...string) *bench {
	t.Helper()
	b := newBench(t, every, targets...)
	f, err := New(Config{Targets: specsOf(b.f), Every: every, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	b.f = f
	return b
}

func specsOf(f *Fleet) []model.Target {
	var out []model.Target
	for _, t := range f.targets {
		out = append(out, t.spec)
	}
	return out
}

func chatPolicy(share float64, objectives ...model.Objective) model.Policy {
	return model.Policy{Workflows: []model.WorkflowSpec{{Name: "chat", Share: share, PeriodS: 3600, Objectives: objectives}}}
}

var (
	ttftHalf = model.Objective{Metric: model.MetricTTFT, MaxS: 0.5}
	tpot50   = model.Objective{Metric: model.MetricTPOT, MaxS: 0.05}
)

// done is a finished request that was received so long ago.
func (b *bench) done(id string, ttft, e2e float64, tokens float64) model.Request {
	end := model.StampOf(b.at.Wall)
	begin := end - model.Stamp(e2e*1e9)
	return model.Request{
		ID: id, At: end, Workflow: "chat", Phase: model.PhaseDone, Stream: model.Streamed,
		Queued: begin, FirstToken: begin + model.Stamp(ttft*1e9), Completed: end,
		OutputTokens: model.Of(tokens), Outcome: model.Completed, Status: 200,
	}
}

func (b *bench) report(requests ...model.Request) {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Requests: requests, About: about}})
}

// Twenty-five requests: the goodput counts them, percentiles are exact, and a
// request that missed only one of two bounds is not good.
func TestGoodputOfReportsIsExact(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf, tpot50), "a")
	var all []model.Request
	for i := range 20 {
		all = append(all, b.done(fmt.Sprint("good", i), 0.2, 2.2, 101)) // 20 ms a token
	}
	for i := range 3 {
		all = append(all, b.done(fmt.Sprint("late", i), 0.7, 2.7, 101))
	}
	for i := range 2 {
		all = append(all, b.done(fmt.Sprint("slow", i), 0.2, 8.2, 101)) // 80 ms a token
	}
	b.report()
	b.tick()
	b.pass(10 * time.Second)
	b.report(all...)
	w := workflowNamed(t, b.tick(), "chat")
	g := w.Goodput
	if g.Basis != model.ByRequests || g.N != 25 || g.Of.Finished.Value != 25 {
		t.Errorf("goodput %+v", g)
	}
	near(t, "share", g.Share.Lo, 0.8)
	near(t, "share", g.Share.Hi, 0.8)
	near(t, "rate", g.PerSecond.Lo, 2)
	near(t, "tokens of good requests", g.OutputPerSecond.Lo, 202)
	near(t, "TTFT share", w.Objectives[0].Share.Lo, 0.88)
	near(t, "TPOT share", w.Objectives[1].Share.Lo, 0.92)
	near(t, "p50", w.TTFT.P50.Value, 0.2)
	near(t, "p95", w.TTFT.P95.Value, 0.7)
	if h := w.History.TTFT; h.P95[len(h.P95)-1] != 0.7 || h.HiP95[len(h.HiP95)-1] != 0.7 {
		t.Errorf("the chart's p95 is %v, up to %v", h.P95, h.HiP95)
	}
	if w.TTFT.Basis != model.FromEvents || w.AssumedObjectives {
		t.Errorf("basis %s, assumed %t", w.TTFT.Basis, w.AssumedObjectives)
	}
}

// Where requests stand is counted; one that fell silent is unknown, not failed.
func TestPhases(t *testing.T) {
	b := promised(t, time.Second, model.Policy{SilentAfterS: 30}, "a")
	at := model.StampOf(b.at.Wall)
	in := func(id string, p model.Phase) model.Request {
		return model.Request{ID: id, At: at, Workflow: "chat", Phase: p, Queued: at}
	}
	b.report(in("1", model.PhaseQueued), in("2", model.PhaseQueued), in("3", model.PhasePreparing), in("4", model.PhaseAtModel),
		in("5", model.PhaseStreaming), in("6", "dreaming"), in("7", model.PhaseToolCall))
	f := b.tick()
	v := f.Targets[0]
	near(t, "running there", v.Running, 5)
	near(t, "waiting there", v.Waiting, 2)
	p := workflowNamed(t, f, "chat").Phases
	near(t, "queued", p.Queued, 2)
	near(t, "preparing", p.PreparingContext, 1)
	near(t, "at the model", p.WaitingForModel, 1)
	near(t, "streaming", p.Streaming, 1)
	near(t, "other", p.Other, 1)
	near(t, "unknown", p.Unknown, 0)
	b.pass(40 * time.Second)
	b.report()
	w := workflowNamed(t, b.tick(), "chat")
	near(t, "unknown", w.Phases.Unknown, 7)
	if v := b.tick().Targets[0]; v.Running.Value != 0 || v.Waiting.Value != 0 {
		t.Errorf("target %+v", v)
	}
	near(t, "failed", w.Requests.Failed, 0)
}

// What requests say of their prompts, and of where their answers proper began, is
// summed up where they say it.
func TestPromptsAndAnswersOfReports(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.report()
	b.tick()
	b.pass(10 * time.Second)
	one, two := b.done("1", 0.2, 2, 10), b.done("2", 0.2, 2, 10)
	one.InputTokens, one.CachedTokens, two.InputTokens = model.Of(100), model.Of(40), model.Of(300)
	b.report(one, two)
	w := workflowNamed(t, b.tick(), "chat")
	near(t, "prompt tokens", w.Tokens.PromptPerSecond, 40)
	near(t, "cached", w.Tokens.CachedPromptShare, 0.4)
	if w.FirstAnswer != nil {
		t.Errorf("nobody said when an answer began: %+v", w.FirstAnswer)
	}
	thinks := b.done("3", 0.2, 2, 10)
	thinks.FirstAnswer = thinks.FirstToken + 1e9
	b.report(thinks)
	if w = workflowNamed(t, b.tick(), "chat"); w.FirstAnswer == nil || w.FirstAnswer.N != 3 {
		t.Errorf("first answer %+v", w.FirstAnswer)
	}
}

// While the one who reported is down nothing is known of what was in flight, and
// no number of before is passed off as one of now.
func TestReportsOfOneWhoIsDown(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.report()
	b.tick()
	b.pass(10 * time.Second)
	flying := b.done("flying", 0.2, 2, 10)
	flying.Phase, flying.Completed, flying.Outcome = model.PhaseStreaming, 0, ""
	b.report(b.done("r", 0.2, 2, 10), flying)
	w := workflowNamed(t, b.tick(), "chat")
	near(t, "running", w.Requests.Running, 1)
	for range 3 {
		b.pass(time.Second)
		b.fail("a", model.Refused)
	}
	w = workflowNamed(t, b.tick(), "chat")
	if w.Condition != model.IsDown {
		t.Fatalf("%+v", w)
	}
	for name, r := range map[string]model.Reading{
		"running": w.Requests.Running, "waiting": w.Requests.Waiting, "rate": w.Requests.PerSecond,
		"finished": w.Requests.Finished, "output": w.Tokens.OutputPerSecond, "streaming": w.Phases.Streaming,
	} {
		if r.OK() {
			t.Errorf("%s is %v", name, r.Value)
		}
	}
	near(t, "unknown", w.Phases.Unknown, 1)
	if w.TTFT != nil || w.E2E != nil {
		t.Errorf("TTFT %+v, E2E %+v", w.TTFT, w.E2E)
	}
}

// A workflow that engines and reports both tell of is judged by the reports, and
// by histograms again once the reports' target is silent.
func TestReportsComeFirst(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.9, ttftHalf), "a", "b")
	page := func(n float64) []model.Sample {
		return []model.Sample{
			histogram(model.TTFT, []float64{0.5}, []float64{n, n}, n), counter(model.Finished, n),
			histogram(model.TPOT, []float64{0.05}, []float64{n, n}, n),
		}
	}
	var w model.WorkflowView
	for i := range 6 {
		b.poll("b", page(float64(100*i))...)
		b.report(b.done(fmt.Sprint("a", i), 2, 3, 10))
		w = workflowNamed(t, b.tick(), "chat")
		b.pass(b.every)
	}
	if w.Goodput.Basis != model.ByRequests || w.Goodput.Share.Hi.Value != 0 {
		t.Errorf("both: %+v", w.Goodput)
	}
	for i := 6; i < 12; i++ {
		b.fail("a", model.Refused)
		b.poll("b", page(float64(100*i))...)
		w = workflowNamed(t, b.tick(), "chat")
		b.pass(b.every)
	}
	if w.Goodput.Basis != model.ByHistograms || w.Goodput.Share.Lo.Value != 1 || w.Condition != model.IsPartial {
		t.Errorf("engines only: %s %+v", w.Condition, w.Goodput)
	}
}

// What no workflow matches is shown as other, or under its own name where only a
// flag promised something.
func TestTheUnmatchedAreNotLost(t *testing.T) {
	for _, keep := range []bool{false, true} {
		policy := chatPolicy(0.9, ttftHalf)
		policy.KeepOthers = keep
		b := promised(t, time.Second, policy, "a")
		r := b.done("1", 0.1, 1, 10)
		r.Workflow = "batch"
		b.report(b.done("2", 0.1, 1, 10), r)
		want := model.OtherName
		if keep {
			want = "batch"
		}
		f := b.tick()
		if w := workflowNamed(t, f, want); w.Goodput.N != 1 || !w.AssumedObjectives {
			t.Errorf("%s: %+v", want, w.Goodput)
		}
		if f.Goodput.N != 2 || f.Goodput.Target.OK() { // nobody promised a share of them all
			t.Errorf("all: %+v", f.Goodput)
		}
	}
}

// BenchmarkReports is a second of a busy gateway: a thousand requests that ended,
// ten workflows, and the frame.
func BenchmarkReports(b *testing.B) {
	bench := promised(b, time.Second, chatPolicy(0.9, ttftHalf, tpot50), "a")
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		all := make([]model.Request, 0, 1000)
		for i := range 1000 {
			r := bench.done(fmt.Sprint(n), 0.2, 2.2, 101)
			r.Workflow = fmt.Sprintf("w%d", i%10)
			all = append(all, r)
			n++
		}
		bench.report(all...)
		bench.tick()
		bench.pass(time.Second)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/request")
}

// Whoever left or was refused tells nothing of how long an answer takes.
func TestOnlyAnswersHaveALength(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	answer := b.done("a", 0.2, 3, 101)
	left := b.done("b", 0.3, 1, 20)
	left.Outcome, left.Reason = model.RequestCancelled, "client_disconnect"
	refused := b.done("c", 0, 0.01, 0)
	refused.Outcome, refused.Status, refused.FirstToken = model.RequestFailed, 429, 0
	all := []model.Request{answer, left, refused}
	for i := range all {
		all[i].Scheduled = all[i].Queued - 1e9
	}
	b.report(all...)
	w := workflowNamed(t, b.tick(), "chat")
	for name, d := range map[string]*model.Dist{"e2e": w.E2E, "response": w.Response} {
		if d.N != 1 {
			t.Errorf("%s of %v requests, want that of the answer", name, d.N)
		}
	}
	near(t, "e2e", w.E2E.P50.Value, 3)
	near(t, "response", w.Response.P50.Value, 4)
	if w.TTFT.N != 2 || w.TPOT.N != 2 {
		t.Errorf("TTFT of %v, TPOT of %v: both had tokens", w.TTFT.N, w.TPOT.N)
	}
}

// A window of reports begins with a block: what it covers is said, and what rates
// are divided by.
func TestReportsSayWhatTheyCover(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.report()
	b.tick()
	b.pass(2 * time.Second)
	b.report(b.done("early", 0.1, 1, 9))
	b.pass(62 * time.Second)
	b.report(b.done("late", 0.1, 1, 9))
	f := b.tick()
	near(t, "covered", f.CoveredS, 64)
	near(t, "rate", workflowNamed(t, f, "chat").Requests.PerSecond, 2./64)
}

// Good requests whose tokens nobody told had some: what is known is the least.
func TestGoodTokensAreAtLeastWhatIsKnown(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.report()
	b.tick()
	b.pass(10 * time.Second)
	left := b.done("left", 0.2, 1, 20)
	left.Outcome, left.Reason, left.OutputTokens = model.RequestCancelled, "user", model.Reading{}
	b.report(b.done("known", 0.2, 2.2, 100), left)
	g := workflowNamed(t, b.tick(), "chat").Goodput
	near(t, "at least", g.OutputPerSecond.Lo, 10)
	near(t, "at most: who left counts for none", g.OutputPerSecond.Hi, 10)
	untold := b.done("untold", 0.2, 2.2, 0)
	untold.OutputTokens = model.Reading{}
	b.report(untold)
	g = workflowNamed(t, b.tick(), "chat").Goodput
	near(t, "at least", g.OutputPerSecond.Lo, 10)
	if g.OutputPerSecond.Hi.OK() {
		t.Errorf("at most %v tokens a second, and one answer did not say", g.OutputPerSecond.Hi.Value)
	}
}

// The denominator adds up, with requests of which something was not measured.
func TestDenominatorAddsUp(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf, tpot50), "a")
	untold := b.done("untold", 0.2, 2.2, 101)
	untold.OutputTokens = model.Reading{}
	left := b.done("left", 0.2, 1, 20)
	left.Outcome, left.Reason = model.RequestCancelled, "user"
	b.report(b.done("good", 0.2, 2.2, 101), untold, left, b.leftEarly("early", ""), b.refused("no", ""))
	d := workflowNamed(t, b.tick(), "chat").Goodput.Of
	near(t, "not measured", d.Unmeasured, 1)
	if all := d.Finished.Value + d.Failed + d.Cancelled.Value - d.Excluded.Value; d.Judged+d.Unmeasured.Value != all || all != 4 {
		t.Errorf("%+v", d)
	}
}

// Started is what came within the window, and not what ended in it.
func TestStartedIsWhatCame(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.f.Step(model.Input{At: b.at, Window: 20 * time.Second})
	b.report()
	b.tick()
	b.pass(40 * time.Second)
	runs := func(id string, ago float64) model.Request {
		r := b.done(id, 0, ago, 0)
		return model.Request{ID: id, At: r.Queued, Workflow: "chat", Phase: model.PhaseQueued, Queued: r.Queued}
	}
	b.report(runs("1", 35), runs("2", 5), runs("3", 4), b.done("4", 1, 38, 9), b.done("5", 1, 2, 9))
	r := workflowNamed(t, b.tick(), "chat").Requests
	near(t, "started", r.Started, 3)
	near(t, "finished", r.Finished, 2)
}

// What a file held before anybody looked is history: it burns no budget now, and
// pages nobody.
func TestHistoryIsNoNews(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	b.pass(time.Hour)
	now := model.StampOf(b.at.Wall)
	var all []model.Request
	for i := range 200 {
		late := b.done(fmt.Sprint("old", i), 3, 4, 101)
		ago := model.Stamp(time.Duration(2080-10*i) * time.Second)
		late.At, late.Queued, late.FirstToken, late.Completed = now-ago, late.Queued-ago, late.FirstToken-ago, late.Completed-ago
		all = append(all, late)
	}
	for i := range 30 {
		all = append(all, b.done(fmt.Sprint("new", i), 0.2, 2.2, 101))
	}
	b.report(all...)
	b.tick()
	b.pass(time.Second)
	f := b.tick()
	w := workflowNamed(t, f, "chat")
	near(t, "bad", w.Budget.Bad, 0)
	near(t, "burn", w.Budget.Burn.M5, 0)
	near(t, "goodput", w.Goodput.Share.Lo, 1)
	if len(f.Alerts) != 0 {
		t.Errorf("%+v", f.Alerts)
	}
}

// An access log tells of requests that have ended. How many are in flight is then
// not known, which is not 0.
func TestWhoTellsOfEndsOnlyKnowsNoFlight(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "gw")
	feed := func(r model.Request) *model.Frame {
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "gw", About: about, Requests: []model.Request{r}}})
		f := b.tick()
		b.pass(b.every)
		return f
	}
	var f *model.Frame
	for i := range 5 {
		f = feed(b.done(fmt.Sprint("r", i), 0.1, 0.2, 10))
	}
	w := workflowNamed(t, f, "chat")
	if w.Requests.Finished.Value == 0 {
		t.Fatal("no request was counted")
	}
	for what, r := range map[string]model.Reading{
		"running": w.Requests.Running, "waiting": w.Requests.Waiting, "the target's": f.Targets[0].Running,
	} {
		if r.OK() {
			t.Errorf("%s is %v, which nobody said", what, r.Value)
		}
	}
	if w.Phases != nil {
		t.Errorf("phases %+v of requests that are over", w.Phases)
	}
	queued := b.done("open", 0.1, 0.2, 10)
	queued.Phase, queued.Outcome = model.PhaseQueued, ""
	f = feed(queued)
	near(t, "waiting", workflowNamed(t, f, "chat").Requests.Waiting, 1)
	near(t, "running", workflowNamed(t, f, "chat").Requests.Running, 0)
}
