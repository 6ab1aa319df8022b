package fleet

import (
	"fmt"
	"testing"
	"time"

	"slotop/model"
)

// each second of d one request ends as shaped.
func (b *bench) requests(name string, d time.Duration, shape func(r *model.Request)) *model.Frame {
	var f *model.Frame
	for i := range int(d / b.every) {
		r := b.done(fmt.Sprint(name, i), 0.2, 2, 10)
		shape(&r)
		b.report(r)
		f = b.tick()
		b.pass(b.every)
	}
	return f
}

// quiet polls a reporter that says nothing.
func (b *bench) quiet(d time.Duration) *model.Frame {
	var f *model.Frame
	for range int(d / b.every) {
		b.report()
		f = b.tick()
		b.pass(b.every)
	}
	return f
}

func fine(*model.Request) {}

func refused(r *model.Request) {
	r.Outcome, r.Status, r.FirstToken = model.RequestFailed, 429, 0
}

// gaveUp is a client that leaves before its TTFT is over: it is excluded.
func gaveUp(r *model.Request) {
	r.Outcome, r.FirstToken, r.Reason, r.Completed = model.RequestCancelled, 0, "client_disconnect", r.Queued+4e8
}

// stillFires fails unless an alert fires and is marked stale.
func stillFires(t *testing.T, f *model.Frame, rule string) {
	t.Helper()
	if a, _ := alertNamed(f, rule); a.State != model.AlertFiring || !a.Stale {
		t.Errorf("%s: %s, stale %t: %q", rule, a.State, a.Stale, a.Text)
	}
}

func resolved(t *testing.T, f *model.Frame, rule string) {
	t.Helper()
	if a, _ := alertNamed(f, rule); a.State != model.AlertResolved {
		t.Errorf("%s: %s, stale %t: %q", rule, a.State, a.Stale, a.Text)
	}
}

// That nobody asks any more does not end refusals.
func TestSilenceEndsNoThrottling(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.5, model.Objective{Metric: model.MetricE2E, MaxS: 5}), "a")
	b.requests("refused", time.Minute, refused)
	stillFires(t, b.quiet(10*time.Minute), "throttled")
	resolved(t, b.requests("fine", 7*time.Minute, fine), "throttled")
}

// Clients that give up before anything can be said of their requests are no sign
// of recovery.
func TestClientsThatLeaveEndNoAlert(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	b.requests("fine", 5*time.Minute, fine)
	if f := b.requests("failed", 150*time.Second, refused); !firing(f, "slo-burn") {
		t.Fatalf("an outage: %+v", f.Alerts)
	}
	stillFires(t, b.requests("left", 10*time.Minute, gaveUp), "slo-burn")
	resolved(t, b.requests("well", 5*time.Minute, fine), "slo-burn")
}

func (s *serving) with(more ...model.Sample) []model.Sample { return append(s.page(), more...) }

// The same from counters, where all that ends is cancelled.
func TestCancelledEndNoAlert(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	s, aborted := &serving{}, 0.0
	for range 60 {
		s.fine += 50
		b.round(s.with(ended("aborted", aborted))...)
	}
	for range 40 {
		s.late += 50
		b.round(s.with(ended("aborted", aborted))...)
	}
	var f *model.Frame
	for range 60 {
		aborted += 50
		f = b.round(s.with(ended("aborted", aborted))...)
	}
	stillFires(t, f, "slo-burn")
}

// A server that counts no ends is judged by what it measures at the end of each
// request, and so is its recovery.
func TestRecoveryWithoutEndCounts(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, model.Objective{Metric: model.MetricE2E, MaxS: 5}), "a")
	var fine, late float64
	serve := func(d time.Duration, good, bad float64) (f *model.Frame) {
		for range int(d / b.every) {
			fine, late = fine+good, late+bad
			n := fine + late
			f = b.round(histogram(model.E2E, []float64{5, 20}, []float64{fine, n, n}, n), gauge(model.Running, 0))
		}
		return f
	}
	serve(5*time.Minute, 50, 0)
	if f := serve(3*time.Minute, 0, 50); !firing(f, "slo-burn") {
		t.Fatalf("an outage: %+v", f.Alerts)
	}
	stillFires(t, serve(2*time.Minute, 0, 0), "slo-burn")
	resolved(t, serve(5*time.Minute, 50, 0), "slo-burn")
}

// A latency that nobody promised has not come down because traffic stopped, and
// its baseline does not become what was slow.
func TestSilenceEndsNoChange(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	s := &serving{}
	b.run(s, 10*time.Minute, 10, 0)
	b.run(s, 2*time.Minute, 0, 10)
	stillFires(t, b.run(s, 5*time.Minute, 0, 0), "latency-changed")
	if f := b.run(s, 5*time.Minute, 0, 10); !firing(f, "latency-changed") {
		t.Errorf("as slow as before: %+v", f.Alerts)
	}
	resolved(t, b.run(s, 5*time.Minute, 0.2, 0), "latency-changed") // few suffice to show the end
}

// A gateway's promise is broken, and the gateway dies: that the engine behind it
// is fine is no recovery.
func TestEngineDoesNotSpeakForTheGateway(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a", "b")
	s := &serving{}
	engine := func() {
		s.fine += 10
		b.poll("b", s.page()...)
	}
	for i := range 300 {
		engine()
		r := b.done(fmt.Sprint(i), 0.2, 2, 10)
		if i > 150 {
			refused(&r)
		}
		b.report(r)
		b.tick()
		b.pass(b.every)
	}
	var f *model.Frame
	for range 300 {
		engine()
		b.fail("a", model.Refused)
		f = b.tick()
		b.pass(b.every)
	}
	stillFires(t, f, "slo-burn")
}

// A job of which nothing is heard has not ended; nor is one late whose requests
// take longer than a window.
func TestSilenceEndsNoJob(t *testing.T) {
	policy := chatPolicy(0.9)
	policy.Workflows[0].DeadlineS, policy.SilentAfterS = 600, 900
	b := promised(t, time.Second, policy, "a")
	at := model.StampOf(b.at.Wall)
	b.report(model.Request{ID: "1", At: at, Workflow: "chat", Phase: model.PhaseStreaming, Queued: at})
	if a, pages := alertNamed(b.quiet(9*time.Minute), "deadline"); pages {
		t.Errorf("before the deadline: %+v", a)
	}
	f := b.quiet(3 * time.Minute)
	if a, _ := alertNamed(f, "deadline"); a.State != model.AlertFiring || a.Text != "1 requests are left, the deadline was 1 min 59 s ago" {
		t.Errorf("after it: %+v", a)
	}
	f = b.quiet(10 * time.Minute)
	if w := workflowNamed(t, f, "chat"); w.Phases.Unknown.Value != 1 || w.Deadline.Began.IsZero() {
		t.Errorf("silent: %+v, %+v", w.Phases, w.Deadline)
	}
	stillFires(t, f, "deadline")
}

// A chosen time without a request ends an alert, however long it is.
func TestLongIdleClear(t *testing.T) {
	policy := chatPolicy(0.95, ttftHalf)
	policy.IdleClearS = 3600
	b := promised(t, 5*time.Second, policy, "a")
	b.requests("failed", 5*time.Minute, refused)
	stillFires(t, b.quiet(50*time.Minute), "slo-burn")
	resolved(t, b.quiet(14*time.Minute), "slo-burn")
}
