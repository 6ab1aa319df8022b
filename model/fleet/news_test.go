package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// A reporter that hands out what it remembers tells of the past: the first
// picture holds none of it, and an incident that was over before anybody looked
// pages nobody.
func TestBacklogIsNoNews(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	var past []model.Request
	for i := range 3600 {
		r := b.done(fmt.Sprint("past", i), 0.2, 3, 10)
		if i > 600 && i < 2400 {
			r = b.done(fmt.Sprint("past", i), 2, 3, 10)
		}
		ago := model.Stamp(3600-i) * model.Stamp(time.Second)
		r.At, r.Queued, r.FirstToken, r.Completed = r.At-ago, r.Queued-ago, r.FirstToken-ago, r.Completed-ago
		past = append(past, r)
	}
	b.report(past...)
	w := workflowNamed(t, b.tick(), "chat")
	if w.Goodput.N > 11 || w.Goodput.Share.Lo.Value != 1 { // those of the first ten seconds
		t.Errorf("n %v, %+v", w.Goodput.N, w.Goodput.Share)
	}
	f := b.requests("now", 2*time.Minute, fine)
	if len(f.AlertLog) != 0 {
		t.Errorf("%+v", f.AlertLog)
	}
	near(t, "bad in the budget", workflowNamed(t, f, "chat").Budget.Bad, 0)
}

// What was held up for longer than the windows that page spends the budget and
// pages nobody.
func TestLateReportsAreNoNews(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	b.requests("fine", time.Minute, fine)
	b.pass(30 * time.Minute)
	var held []model.Request
	for i := range 600 {
		r := b.done(fmt.Sprint("held", i), 2, 3, 10)
		ago := model.Stamp(1200-i) * model.Stamp(time.Second)
		r.At, r.Queued, r.FirstToken, r.Completed = r.At-ago, r.Queued-ago, r.FirstToken-ago, r.Completed-ago
		held = append(held, r)
	}
	b.report(append(held, b.done("now", 0.2, 2, 10))...)
	b.tick()
	b.pass(b.every)
	f := b.requests("again", time.Minute, fine)
	if len(f.AlertLog) != 0 {
		t.Errorf("%+v", f.AlertLog)
	}
	near(t, "bad in the budget", workflowNamed(t, f, "chat").Budget.Bad, 600)
}

// After hours in which nobody polled, what was counted meanwhile is no incident of
// this minute.
func TestWhatHappenedUnseenIsNoNews(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	s := &serving{}
	b.run(s, 5*time.Minute, 10, 0)
	b.pass(8 * time.Hour)
	s.late, s.fine = s.late+200000, s.fine+100000
	if f := b.run(s, 2*time.Minute, 10, 0); len(f.AlertLog) != 0 {
		t.Errorf("%+v", f.AlertLog)
	}
	if f := b.run(s, 3*time.Minute, 0, 10); !firing(f, "slo-burn") {
		t.Errorf("an incident after it: %+v", f.Alerts)
	}
}

// Polls that are far apart see everything late, and it is news.
func TestRarePollsArePaged(t *testing.T) {
	b := promised(t, 10*time.Minute, chatPolicy(0.95, ttftHalf), "a")
	s := &serving{}
	b.run(s, 2*time.Hour, 1, 0)
	if f := b.run(s, time.Hour, 0, 1); !firing(f, "slo-burn") {
		t.Errorf("%+v", f.Alerts)
	}
}

// five replicas, of which the first is started anew every so many rounds.
func crashLoop(t *testing.T, grace float64, rounds int) (run func(n int, fine, late float64) *model.Frame) {
	t.Helper()
	policy := chatPolicy(0.95, ttftHalf)
	policy.GraceS = grace
	names := []string{"a", "b", "c", "d", "e"}
	b := promised(t, 5*time.Second, policy, names...)
	servers, round := make([]serving, len(names)), 0
	return func(n int, fine, late float64) (f *model.Frame) {
		for range n {
			if round++; rounds > 0 && round%rounds == 0 {
				servers[0] = serving{}
			}
			for i, name := range names {
				servers[i].fine += 5 * fine
				servers[i].late += 5 * late
				b.poll(name, servers[i].page()...)
			}
			f = b.tick()
			b.pass(b.every)
		}
		return f
	}
}

// One replica that crashes again and again does not keep the others from being
// judged.
func TestCrashLoopHidesNothing(t *testing.T) {
	run := crashLoop(t, 120, 18) // every 90 s
	run(60, 10, 0)
	if f := run(36, 0, 10); !firing(f, "slo-burn") {
		t.Errorf("three minutes of an outage: %+v", f.Alerts)
	}
}

// A replica that is started anew once, and is slow while it warms up, pages nobody
// even where little may be missed.
func TestOneColdReplicaPagesNobody(t *testing.T) {
	b := promised(t, 5*time.Second, model.Policy{GraceS: 120, Workflows: chatPolicy(0.99, ttftHalf).Workflows}, "a", "b")
	var cold, warm serving
	step := func(n int, late float64) (f *model.Frame) {
		for range n {
			cold.fine, cold.late, warm.fine = cold.fine+50-late, cold.late+late, warm.fine+50
			b.poll("a", cold.page()...)
			b.poll("b", warm.page()...)
			f = b.tick()
			b.pass(b.every)
		}
		return f
	}
	step(60, 0)
	cold = serving{}
	f := step(20, 50)
	for _, e := range f.AlertLog {
		if strings.HasPrefix(e.Rule, "slo-burn") {
			t.Errorf("%s %s %q", e.Rule, e.State, e.Text)
		}
	}
	if w := workflowNamed(t, f, "chat"); w.Goodput.Share.Hi.Value > 0.6 {
		t.Errorf("the cold values are not in the goodput: %+v", w.Goodput.Share)
	}
	if f = step(40, 50); !firing(f, "slo-burn") {
		t.Errorf("still slow after the grace: %+v", f.Alerts)
	}
}

// Some requests fail in the very second in which somebody begins to look. Before
// they have for as long as an outage takes that began then, nobody is called.
func TestABadSecondIsNoPage(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	late := func(r *model.Request) { r.FirstToken = r.Completed }
	if f := b.requests("late", 58*time.Second, late); len(f.AlertLog) != 0 {
		t.Errorf("%+v", f.AlertLog)
	}
	if f := b.requests("later", 4*time.Second, late); !firing(f, "slo-burn") {
		t.Errorf("%+v", f.Alerts)
	}
}
