package fleet

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/alert"
)

// alertNamed is the alert of a rule, and whether there is one.
func alertNamed(f *model.Frame, rule string) (model.AlertView, bool) {
	for _, a := range f.Alerts {
		if a.Rule == rule {
			return a, true
		}
	}
	return model.AlertView{}, false
}

// firing reports whether an alert of a rule fires.
func firing(f *model.Frame, rule string) bool {
	a, ok := alertNamed(f, rule)
	return ok && a.State == model.AlertFiring
}

// serving is an engine with requests of which some are late.
type serving struct{ fine, late float64 }

func (s *serving) page() []model.Sample {
	n := s.fine + s.late
	return []model.Sample{
		histogram(model.TTFT, []float64{0.5, 1, 5}, []float64{s.fine, s.fine, n, n}, s.fine*0.1+s.late*3),
		counter(model.Finished, n), gauge(model.Running, 3), gauge(model.Waiting, 0), counter(model.OutputTokens, n*100),
	}
}

// run serves so many fine and late requests a second for d.
func (b *bench) run(s *serving, d time.Duration, fine, late float64) *model.Frame {
	var f *model.Frame
	for end := b.at.Mono + d; b.at.Mono < end; {
		s.fine += fine * b.every.Seconds()
		s.late += late * b.every.Seconds()
		f = b.round(s.page()...)
	}
	return f
}

// A total failure is paged within two minutes and resolved about a minute after
// it is over, once each; a healthy hour before it pages nobody.
func TestBurnPagesOnce(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	s := &serving{}
	f := b.run(s, time.Hour, 9.8, 0.2)
	if len(f.AlertLog) != 0 {
		t.Fatalf("a healthy hour: %+v", f.AlertLog)
	}
	began := b.at
	f = b.run(s, 3*time.Minute, 0, 10)
	a, _ := alertNamed(f, "slo-burn")
	if a.State != model.AlertFiring || a.Severity != model.Page || a.FiredAt.Sub(began) > 75*time.Second {
		t.Errorf("after three minutes: %+v", a)
	}
	if !strings.Contains(a.Text, "bad in 2 min, 5 % allowed: burn") {
		t.Errorf("text %q", a.Text)
	}
	f = b.run(s, 10*time.Minute, 10, 0)
	a, _ = alertNamed(f, "slo-burn")
	if a.State != model.AlertResolved || a.Times != 1 {
		t.Errorf("after the end: %+v", a)
	}
	n := 0
	for _, e := range f.AlertLog {
		if e.Rule == "slo-burn" && e.State != model.AlertPending {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d steps: %+v", n, f.AlertLog)
	}
}

// Objectives that nobody set never page.
func TestAssumedObjectivesNeverPage(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	s := &serving{}
	b.run(s, 10*time.Minute, 10, 0)
	f := b.run(s, 5*time.Minute, 0, 10)
	a, ok := alertNamed(f, "slo-burn")
	if !ok || a.State != model.AlertFiring || a.Severity != model.Note {
		t.Errorf("%+v", a)
	}
	for _, a := range f.Alerts {
		if a.Severity == model.Page {
			t.Errorf("pages: %+v", a)
		}
	}
	if c, _ := alertNamed(f, "latency-changed"); c.State != model.AlertFiring || c.Severity != model.Warn {
		t.Errorf("nothing says that latency changed: %+v", f.Alerts)
	}
}

// Silence resolves nothing: an alert that fires goes on, marked stale, when the
// traffic stops, and ends with good requests; or, where that was chosen, with
// time.
func TestSilenceIsNotRecovery(t *testing.T) {
	for _, clear := range []time.Duration{0, 10 * time.Minute} {
		policy := chatPolicy(0.95, ttftHalf)
		policy.IdleClearS = clear.Seconds()
		b := promised(t, 5*time.Second, policy, "a")
		s := &serving{}
		b.run(s, 5*time.Minute, 10, 0)
		b.run(s, 3*time.Minute, 0, 10)
		f := b.run(s, 20*time.Minute, 0, 0)
		a, _ := alertNamed(f, "slo-burn")
		if clear > 0 {
			if a.State == model.AlertFiring {
				t.Errorf("after a chosen idle time: %+v", a)
			}
			continue
		}
		if a.State != model.AlertFiring || !a.Stale {
			t.Errorf("no traffic: %+v", a)
		}
		if a, _ = alertNamed(b.run(s, 5*time.Minute, 10, 0), "slo-burn"); a.State != model.AlertResolved {
			t.Errorf("good requests: %+v", a)
		}
	}
}

// OC-16, first part: one slow request of two is no page.
func TestTwoRequestsAreTooFew(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.99, ttftHalf), "a")
	s := &serving{}
	b.run(s, 5*time.Minute, 0, 0)
	s.fine, s.late = 1, 1
	f := b.run(s, 30*time.Second, 0, 0)
	w := workflowNamed(t, f, "chat")
	if firing(f, "slo-burn") || w.Goodput.Verdict != model.Undecided {
		t.Errorf("%s %+v", w.Goodput.Verdict, f.Alerts)
	}
	if string(w.Goodput.Why) != "1 of 2 bad, too few to judge" || w.Budget.Text != "1 of 2 bad in 5 min" || w.TTFT.N != 2 {
		t.Errorf("%q, %q, n %v", w.Goodput.Why, w.Budget.Text, w.TTFT.N)
	}
}

// OC-16, second part: a small service that fails nine of ten requests for hours
// is paged through the long window.
func TestSmallServiceIsPaged(t *testing.T) {
	b := promised(t, 36*time.Second, chatPolicy(0.99, ttftHalf), "a")
	s := &serving{}
	b.run(s, time.Minute, 0, 0)
	var f *model.Frame
	for i := range 100 {
		if i%10 == 0 {
			s.fine++
		} else {
			s.late++
		}
		f = b.run(s, 6*time.Hour/100, 0, 0)
	}
	a, _ := alertNamed(f, "slo-burn")
	near(t, "burn", a.Value, 90)
	if a.State != model.AlertFiring || a.Severity != model.Page || !strings.HasPrefix(a.Text, "about 90 of 100 bad in 6 h") {
		t.Errorf("%+v", a)
	}
}

// OC-09: one switch dies. Thirty targets go down together, six of them with an
// alert: one line, one firing, one recovery; the six stay visible.
func TestOneSwitchRingsOnce(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("vllm-%02d", i))
	}
	over := 0.9
	policy := model.Policy{Rules: []model.RuleSpec{{Name: "cache", Signal: "kv_cache_usage", Over: &over, Severity: model.Page}}}
	b := promised(t, 5*time.Second, policy, names...)
	round := func(up bool) *model.Frame {
		for i, n := range names {
			if !up {
				b.fail(n, model.Refused)
				continue
			}
			usage := 0.5
			if i < 6 {
				usage = 0.95
			}
			b.poll(n, gauge(model.KVUsage, usage), gauge(model.Running, 1), counter(model.OutputTokens, b.at.Mono.Seconds()))
		}
		f := b.tick()
		b.pass(b.every)
		return f
	}
	for range 5 {
		round(true)
	}
	var f *model.Frame
	for range 5 {
		f = round(false)
	}
	var down, cache, other int
	for _, a := range f.Alerts {
		switch {
		case a.Rule == "down" && a.State == model.AlertFiring:
			down++
			if a.Text != "30 of 30 targets down" || len(a.Members) != 30 {
				t.Errorf("%q, %d members", a.Text, len(a.Members))
			}
		case a.Rule == "cache" && a.State == model.AlertFiring && a.Stale:
			cache++
		case a.State == model.AlertFiring || a.State == model.AlertPending:
			other++
			t.Errorf("unexpected %+v", a)
		}
	}
	if down != 1 || cache != 6 || other != 0 {
		t.Errorf("%d outages, %d older alerts, %d others", down, cache, other)
	}
	for range 3 {
		f = round(true)
	}
	var back []string
	for _, e := range f.AlertLog {
		if e.Rule == "down" && e.State == model.AlertResolved {
			back = append(back, e.Text)
		}
	}
	if len(back) != 1 || !strings.HasPrefix(back[0], "30 back after") {
		t.Errorf("recoveries %q", back)
	}
}

// After a restart latency alerts wait, and say so.
func TestGraceAfterRestart(t *testing.T) {
	policy := chatPolicy(0.95, ttftHalf)
	policy.GraceS = 120
	b := promised(t, 5*time.Second, policy, "a")
	s := &serving{}
	b.run(s, 5*time.Minute, 10, 0)
	*s = serving{}
	f := b.run(s, 90*time.Second, 0, 10)
	a, _ := alertNamed(f, "slo-burn")
	if a.State != model.AlertUnknown || !strings.Contains(a.Text, "a has restarted") || f.Targets[0].Restarts != 1 {
		t.Errorf("in the grace: %+v, %d restarts", a, f.Targets[0].Restarts)
	}
	if f = b.run(s, 60*time.Second, 0, 10); !firing(f, "slo-burn") {
		t.Errorf("after it: %+v", f.Alerts)
	}
}

// A queue that grows is a warning while the histogram still looks fine.
func TestPredictedBreach(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	n := 0.0
	page := func(waiting float64) []model.Sample {
		n += 50
		return []model.Sample{
			histogram(model.TTFT, []float64{0.5, 5}, []float64{n, n, n}, n*0.1), counter(model.Finished, n),
			gauge(model.Running, 20), gauge(model.Waiting, waiting), counter(model.OutputTokens, n),
		}
	}
	var f *model.Frame
	for range 24 {
		f = b.round(page(0)...)
	}
	if _, ok := alertNamed(f, "predicted-breach"); ok {
		t.Errorf("without a queue: %+v", f.Alerts)
	}
	for range 5 {
		f = b.round(page(100)...)
	}
	if a, _ := alertNamed(f, "predicted-breach"); a.State != model.AlertPending {
		t.Errorf("before 30 s: %+v", a)
	}
	for range 4 {
		f = b.round(page(100)...)
	}
	a, _ := alertNamed(f, "predicted-breach")
	near(t, "wait", a.Value, 10)
	if a.State != model.AlertFiring || a.Severity != model.Warn || workflowNamed(t, f, "chat").Condition != model.IsAtRisk {
		t.Errorf("%s %+v", workflowNamed(t, f, "chat").Condition, a)
	}
}

// OC-22: refusals are an alert of their own and improve no latency.
func TestThrottled(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.5, model.Objective{Metric: model.MetricE2E, MaxS: 5}), "a")
	var all []model.Request
	for i := range 36 {
		all = append(all, b.done(fmt.Sprint("ok", i), 0.5, 0.9+0.02*float64(i), 10))
	}
	for i := range 9 {
		r := b.done(fmt.Sprint("no", i), 0, 0.01, 0)
		r.Outcome, r.Status, r.FirstToken, r.OutputTokens = model.RequestFailed, 429, 0, model.Reading{}
		all = append(all, r)
	}
	b.report(all...)
	b.tick()
	b.pass(time.Second)
	f := b.tick()
	w := workflowNamed(t, f, "chat")
	near(t, "p50 of the answered", w.E2E.P50.Value, 1.24)
	near(t, "p95 of the answered", w.E2E.P95.Value, 1.58)
	if w.E2E.N != 36 || len(w.Requests.FailedBy) != 1 || w.Requests.FailedBy[0] != (model.Cause{Reason: "429", N: 9}) {
		t.Errorf("n %v, failed by %+v", w.E2E.N, w.Requests.FailedBy)
	}
	a, _ := alertNamed(f, "throttled")
	if a.State != model.AlertFiring || a.Text != "429 or 529: 9 of 45, 20.0 %, in 5 min" {
		t.Errorf("%+v", a)
	}
}

// A refusal is told by its status or the schema's word, not by how a reason begins.
func TestThrottledShare(t *testing.T) {
	policy := chatPolicy(0.5, ttftHalf)
	policy.Rules = []model.RuleSpec{{Name: "refused", Signal: "throttled_share", Over: new(float64)}}
	b := promised(t, time.Second, policy, "a")
	all := []model.Request{b.done("answered", 0.1, 1, 10)}
	for id, q := range map[string]model.Request{
		"status": {Status: 429}, "word": {Reason: "rate_limited"}, "neither": {Reason: "4290 tokens too many"},
	} {
		r := b.done(id, 0, 0.01, 0)
		r.Outcome, r.Status, r.Reason, r.FirstToken = model.RequestFailed, q.Status, q.Reason, 0
		all = append(all, r)
	}
	b.report(all...)
	f := b.tick()
	near(t, "throttled", workflowNamed(t, f, "chat").Requests.Throttled, 2)
	a, _ := alertNamed(f, "refused")
	near(t, "throttled_share", a.Value, 0.5)
}

// Alerts that had no room are not lost without a word.
func TestAlertsWithoutRoom(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 2510 {
		b.f.book.Observe(alert.Observation{Rule: fullRule, Workflow: fmt.Sprint(i), Truth: alert.CannotTell, Text: "?"}, b.at)
	}
	f := b.tick()
	if want := (model.Unjudged{Rule: "alerts", Why: "there was no room for 10 more"}); !slices.Contains(f.Unjudged, want) {
		t.Errorf("%+v", f.Unjudged)
	}
}

func TestBudget(t *testing.T) {
	b := promised(t, 10*time.Second, chatPolicy(0.9, ttftHalf), "a")
	s := &serving{}
	b.run(s, 10*time.Second, 0, 0)
	f := b.run(s, 20*time.Minute, 9.5, 0.5)
	budget := workflowNamed(t, f, "chat").Budget
	near(t, "burn", budget.Burn.M5, 0.5)
	near(t, "remaining", budget.Remaining, 0.5)
	near(t, "bad", budget.Bad, 600)
	near(t, "allowed", budget.Allowed, 1200)
	near(t, "exhausted in", budget.ExhaustedIn, 3600)
	if budget.PeriodS != 3600 || budget.ObservedS < 1190 || budget.ObservedS > 1210 {
		t.Errorf("observed %v of %v", budget.ObservedS, budget.PeriodS)
	}
	// What is older than a period leaves the budget.
	f = b.run(s, 70*time.Minute, 10, 0)
	near(t, "remaining after a good period", workflowNamed(t, f, "chat").Budget.Remaining, 1)
}

// A job with a deadline is judged by whether it will be done.
func TestDeadline(t *testing.T) {
	policy := chatPolicy(0.9)
	policy.Workflows[0].DeadlineS = 600
	b := promised(t, 10*time.Second, policy, "a")
	finished := 0.0
	page := func(left, rate float64) []model.Sample {
		finished += rate * 10
		return []model.Sample{gauge(model.Running, 10), gauge(model.Waiting, left-10), counter(model.Finished, finished), counter(model.OutputTokens, finished)}
	}
	b.round(page(1000, 0)...)
	f := b.round(page(990, 10)...)
	d := workflowNamed(t, f, "chat").Deadline
	near(t, "left", d.LeftS, 590)
	near(t, "needs", d.NeedsS, 99)
	if d.Verdict != model.Met || workflowNamed(t, f, "chat").Budget != nil {
		t.Errorf("%+v", d)
	}
	for range 14 {
		f = b.round(page(980, 0.5)...)
	}
	a, _ := alertNamed(f, "deadline")
	if a.State != model.AlertFiring || a.Severity != model.Page || !strings.HasPrefix(a.Text, "980 requests are left and need") {
		t.Errorf("%+v", a)
	}
}

// OC-19: what a missing family makes impossible is said once, and is neither fine
// nor firing.
func TestCannotEvaluate(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf, tpot50), "a")
	n := 0.0
	var f *model.Frame
	for range 5 {
		n += 100
		f = b.round(gauge(model.Running, 5), gauge(model.Waiting, 2), histogram(model.TTFT, []float64{0.5}, []float64{n * 0.9, n}, n))
	}
	w := workflowNamed(t, f, "chat")
	if w.Goodput.Verdict != model.CannotCompute || w.Goodput.Why != "no finish counts" || w.Goodput.Share.Hi.OK() || w.Budget != nil {
		t.Errorf("%+v", w.Goodput)
	}
	if len(f.Unjudged) != 1 || f.Unjudged[0] != (model.Unjudged{Rule: "slo-burn", Workflow: "chat", Why: "no finish counts"}) {
		t.Errorf("cannot evaluate %+v", f.Unjudged)
	}
	if _, ok := alertNamed(f, "slo-burn"); ok {
		t.Errorf("%+v", f.Alerts)
	}
}

func TestUserRules(t *testing.T) {
	over, clear := 10.0, 5.0
	policy := model.Policy{Rules: []model.RuleSpec{{Name: "queue", Signal: "requests_waiting", Over: &over, Clear: &clear, ForS: 10, HoldS: 10, Workflow: "ch*"}}}
	b := promised(t, 5*time.Second, policy, "a")
	page := func(waiting float64) *model.Frame {
		return b.round(gauge(model.Waiting, waiting), counter(model.OutputTokens, b.at.Mono.Seconds()))
	}
	for i, tt := range []struct {
		waiting float64
		state   model.AlertState
		text    string
	}{
		{3, "", ""},
		{20, model.AlertPending, "requests_waiting 20, above 10"},
		{20, model.AlertPending, "requests_waiting 20, above 10"},
		{20, model.AlertFiring, "requests_waiting 20, above 10"},
		{7, model.AlertFiring, "requests_waiting 7, no longer above 10"},
		{4, model.AlertFiring, "requests_waiting 4, no longer above 10"},
		{4, model.AlertFiring, "requests_waiting 4, no longer above 10"},
		{4, model.AlertResolved, "requests_waiting 4, no longer above 10"},
	} {
		a, _ := alertNamed(page(tt.waiting), "queue")
		if a.State != tt.state || a.Text != tt.text {
			t.Errorf("page %d: %q, want %q: %+v", i, a.State, tt.state, a)
		}
	}
	for _, bad := range []model.RuleSpec{
		{Name: "", Signal: "goodput", Over: &over},
		{Name: "x", Signal: "goodputt", Over: &over},
		{Name: "x", Signal: "goodput"},
		{Name: "x", Signal: "goodput", Over: &over, Under: &over},
		{Name: "slo-burn", Signal: "goodput", Over: &over},
		{Name: "x", Signal: "goodput", Over: &clear, Target: "a"},
		{Name: "x", Signal: "goodput", Under: &over},
		{Name: "x", Signal: "kv_cache_usage", Over: &over, Workflow: "a"},
		{Name: "x", Signal: "e2e_p95", Over: &over, Severity: "\x1b[31mloud"},
		{Name: "x", Signal: "e2e_p95", Over: &over, ForS: -1},
		{Name: "x", Signal: "e2e_p95", Over: &over, HoldS: 1e300},
		{Name: "x", Signal: "e2e_p95", Over: &over, ForS: math.NaN()},
	} {
		if err := checkRules([]model.RuleSpec{bad}); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// An acknowledgement is a mark on an alert that fires.
func TestAcknowledge(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	s := &serving{}
	b.run(s, 5*time.Minute, 10, 0)
	a, _ := alertNamed(b.run(s, 3*time.Minute, 0, 10), "slo-burn")
	b.f.Step(model.Input{At: b.at, Ack: a.ID})
	if a, _ = alertNamed(b.tick(), "slo-burn"); !a.Acknowledged || a.State != model.AlertFiring {
		t.Errorf("%+v", a)
	}
}

// A batch of answers ends that take longer than the windows, and one new request
// is slow to begin: of the twelve that ended none was, and one is no page.
func TestOneSlowFirstTokenIsNoPage(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	var began, fine, ended float64
	serve := func(d time.Duration) (f *model.Frame) {
		for range int(d / b.every) {
			f = b.round(
				histogram(model.TTFT, []float64{0.5, 5}, []float64{fine, began, began}, began), counter(model.Finished, ended),
				gauge(model.Running, began-ended), gauge(model.Waiting, 0), counter(model.OutputTokens, 100*b.at.Mono.Seconds()),
			)
		}
		return f
	}
	serve(time.Minute)
	began, fine = 12, 12
	serve(5 * time.Minute)
	ended = 6
	serve(b.every)
	ended, began = 12, 13
	f := serve(b.every)
	if _, found := alertNamed(f, "slo-burn"); found || workflowNamed(t, f, "chat").Goodput.Share.Hi.Value < 11.0/12 {
		t.Errorf("%+v, %+v", f.Alerts, workflowNamed(t, f, "chat").Goodput.Share)
	}
}

// A short budget costs no time when a clock jumps by a century.
func TestShortPeriodAndLongJump(t *testing.T) {
	policy := chatPolicy(0.95, ttftHalf)
	policy.Workflows[0].PeriodS = 30
	b := promised(t, 5*time.Second, policy, "a")
	s := &serving{}
	b.run(s, time.Minute, 5, 5)
	b.pass(100 * 366 * 24 * time.Hour)
	budget := workflowNamed(t, b.run(s, time.Minute, 10, 0), "chat").Budget
	if budget.ObservedS > 60 || budget.Remaining.Value != 1 {
		t.Errorf("%+v", budget)
	}
}

// A tape may carry any policy.
func TestImpossiblePolicy(t *testing.T) {
	for _, p := range []model.Policy{
		{GraceS: -1}, {GraceS: 1e300}, {IdleClearS: math.Inf(1)}, {SilentAfterS: math.NaN()},
		{Workflows: []model.WorkflowSpec{{Name: "a", Share: 0.9, PeriodS: 60, Reader: "\x1b[31mall"}}},
	} {
		if _, err := New(Config{Every: time.Second, Policy: p}); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// What tells of GPUs, or finds other targets, has no work that could stand still:
// neither before it was asked nor after is an alert about that unknown.
func TestOnlyWhatServesCanStall(t *testing.T) {
	for _, kind := range []string{model.GPUTarget, model.FinderTarget} {
		b := newBench(t, time.Second, "a")
		b.tick()
		b.pass(time.Second)
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", About: &model.About{Kind: kind, StepS: 5}}})
		b.tick()
		b.pass(time.Minute)
		if a, ok := alertNamed(b.tick(), "stalled"); ok {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}
