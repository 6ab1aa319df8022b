package alert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// The rules of the tests: three that fire at once, and one that waits.
var (
	slow  = Rule{Name: "ttft", Severity: model.Page, Limit: 1, Clear: 0.8, Hold: 10 * time.Second}
	down  = Rule{Name: "down", Severity: model.Warn, Hold: 10 * time.Second}
	full  = Rule{Name: "kv_cache", Severity: model.Note, Limit: 0.9, Clear: 0.8}
	tardy = Rule{Name: "tardy", Severity: model.Page, For: 10 * time.Second, Hold: 10 * time.Second}
)

// tick is one tick of a book, ten seconds after the one before.
type tick struct {
	saw  []Observation
	ack  string
	want []string // the list
}

// ask answers a rule's condition for one subject: yes, no or ?.
func ask(r Rule, subject, answer string) Observation {
	o := Observation{Rule: r, Text: r.Name + " " + answer}
	o.Workflow, o.Target, _ = strings.Cut(subject, "@")
	o.Truth = map[string]Truth{"yes": Yes, "no": No, "?": CannotTell}[answer]
	return o
}

// value is a number for a rule to compare.
func value(r Rule, subject string, v float64) Observation {
	o := ask(r, subject, "?")
	o.Compare, o.Value, o.Text = true, model.Of(v), ""
	return o
}

func because(o Observation, cause model.AlertID) Observation {
	o.Cause = cause
	return o
}

// line is an alert as these tests write it.
func line(a model.AlertView) string {
	s := fmt.Sprintf("%s %s@%s %s", a.Rule, a.Workflow, a.Target, a.State)
	if a.Stale {
		s += " stale"
	}
	if a.Times > 1 {
		s += fmt.Sprintf(" x%d", a.Times)
	}
	if a.Acknowledged {
		s += " ack"
	}
	if a.Cause != "" {
		s += " because " + string(a.Cause)
	}
	return s
}

func lines(b *Book, at model.Instant) []string {
	var out []string
	for _, a := range b.Alerts(at) {
		out = append(out, line(a))
	}
	return out
}

func TestBook(t *testing.T) {
	isDown := ID("down", "", "a")
	tests := []struct {
		name  string
		ticks []tick
	}{
		{"identity: by rule, workflow and target", []tick{
			{saw: []Observation{ask(slow, "chat", "yes"), ask(slow, "rag", "yes"), ask(slow, "chat@a", "yes"), ask(down, "@a", "yes")},
				want: []string{"ttft chat@ firing", "ttft chat@a firing", "ttft rag@ firing", "down @a firing"}},
			{saw: []Observation{ask(slow, "chat", "yes"), ask(slow, "rag", "yes"), ask(slow, "chat@a", "yes"), ask(down, "@a", "yes")},
				want: []string{"ttft chat@ firing", "ttft chat@a firing", "ttft rag@ firing", "down @a firing"}},
		}},
		{"refire reuses the row", []tick{
			{saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing"}},
			{saw: []Observation{ask(slow, "chat", "no")}, want: []string{"ttft chat@ firing"}},
			{saw: []Observation{ask(slow, "chat", "no")}, want: []string{"ttft chat@ resolved"}},
			{saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing x2"}},
		}},
		{"a new firing clears the mark, nothing else does", []tick{
			{saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing"}},
			{ack: "ttft|chat|", saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing ack"}},
			{saw: []Observation{ask(slow, "chat", "?")}, want: []string{"ttft chat@ firing stale ack"}},
			{saw: []Observation{ask(slow, "chat", "no")}, want: []string{"ttft chat@ firing ack"}},
			{saw: []Observation{ask(slow, "chat", "no")}, want: []string{"ttft chat@ resolved ack"}},
			{saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing x2"}},
		}},
		{"a mark is taken back, and one on nothing is no mark", []tick{
			{ack: "ttft|chat|", saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing"}},
			{ack: "ttft|chat|", saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing ack"}},
			{ack: "ttft|chat|", saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing"}},
			{ack: "ttft|other|", saw: []Observation{ask(slow, "chat", "yes")}, want: []string{"ttft chat@ firing"}},
		}},
		{"what nobody observes is unknown, and what fires goes stale", []tick{
			{saw: []Observation{ask(tardy, "chat", "yes"), ask(down, "@a", "yes")}, want: []string{"down @a firing", "tardy chat@ pending"}},
			{want: []string{"down @a firing stale", "tardy chat@ unknown"}},
			{want: []string{"down @a firing stale", "tardy chat@ unknown"}},
			{saw: []Observation{ask(tardy, "chat", "no"), ask(down, "@a", "no")}, want: []string{"down @a firing"}},
			{want: []string{"down @a firing stale"}},
			{saw: []Observation{ask(down, "@a", "no")}, want: []string{"down @a firing"}},
			{saw: []Observation{ask(down, "@a", "no")}, want: []string{"down @a resolved"}},
			{want: []string{"down @a resolved"}},
		}},
		{"a firing cause: no new alert, an old one stays", []tick{
			{saw: []Observation{ask(slow, "@a", "yes"), ask(tardy, "@a", "yes")}, want: []string{"ttft @a firing", "tardy @a pending"}},
			{saw: []Observation{ask(down, "@a", "yes"), because(ask(slow, "@a", "no"), isDown), because(ask(tardy, "@a", "yes"), isDown), because(value(full, "@a", 0.95), isDown)},
				want: []string{"down @a firing", "ttft @a firing stale because down||a", "tardy @a unknown because down||a", "kv_cache @a unknown because down||a"}},
			{saw: []Observation{ask(down, "@a", "yes"), because(ask(slow, "@a", "no"), isDown), because(ask(tardy, "@a", "no"), isDown)},
				want: []string{"down @a firing", "ttft @a firing stale because down||a", "kv_cache @a unknown", "tardy @a unknown because down||a"}},
			{saw: []Observation{ask(down, "@a", "no"), because(ask(slow, "@a", "no"), isDown)},
				want: []string{"down @a firing", "ttft @a firing stale because down||a", "tardy @a unknown", "kv_cache @a unknown"}},
			{saw: []Observation{ask(down, "@a", "no"), because(ask(slow, "@a", "no"), isDown), because(ask(tardy, "@a", "yes"), isDown), because(value(full, "@a", 0.95), isDown)},
				want: []string{"ttft @a firing", "kv_cache @a firing", "tardy @a pending", "down @a resolved"}},
		}},
		{"what is over needs no explanation", []tick{
			{saw: []Observation{ask(full, "@a", "yes")}, want: []string{"kv_cache @a firing"}},
			{saw: []Observation{ask(full, "@a", "no")}, want: []string{"kv_cache @a resolved"}},
			{saw: []Observation{ask(down, "@a", "yes"), because(ask(full, "@a", "yes"), isDown)},
				want: []string{"down @a firing", "kv_cache @a resolved"}},
		}},
		{"a cause that does not fire explains nothing", []tick{
			{saw: []Observation{ask(tardy, "@a", "yes"), because(ask(slow, "@a", "yes"), ID("tardy", "", "a"))},
				want: []string{"ttft @a firing", "tardy @a pending"}},
			{saw: []Observation{because(ask(slow, "@a", "yes"), ID("ttft", "", "a"))},
				want: []string{"ttft @a firing", "tardy @a unknown"}},
		}},
		{"order: state, then explained last, then severity, then age", []tick{
			{saw: []Observation{ask(full, "x", "yes")}, want: []string{"kv_cache x@ firing"}},
			{saw: []Observation{ask(full, "x", "yes"), ask(down, "@b", "yes"), ask(slow, "z", "yes"), ask(slow, "y", "?")},
				want: []string{"ttft z@ firing", "down @b firing", "kv_cache x@ firing", "ttft y@ unknown"}},
			{saw: []Observation{ask(down, "@b", "yes"), because(ask(slow, "z", "yes"), ID("down", "", "b")), ask(full, "w", "yes"), ask(full, "x", "yes"), ask(tardy, "v", "yes")},
				want: []string{"down @b firing", "kv_cache x@ firing", "kv_cache w@ firing", "ttft z@ firing stale because down||b", "tardy v@ pending", "ttft y@ unknown"}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBook()
			for i, step := range tt.ticks {
				at := after(time.Duration(i) * 10 * time.Second)
				b.Ack(model.AlertID(step.ack))
				for _, o := range step.saw {
					b.Observe(o, at)
				}
				b.Settle(at)
				if got := lines(b, at); !slices.Equal(got, step.want) {
					t.Fatalf("tick %d:\n got %q\nwant %q", i, got, step.want)
				}
			}
		})
	}
}

// What fires in the very tick in which its past would be forgotten is news.
func TestFiringAgainWhenThePastIsOver(t *testing.T) {
	b := NewBook()
	b.Observe(ask(full, "chat", "yes"), after(0))
	b.Ack("kv_cache|chat|")
	b.Observe(ask(full, "chat", "no"), after(0))
	b.Settle(after(0))
	b.Observe(ask(full, "chat", "yes"), after(Shown))
	if got := lines(b, after(Shown)); !slices.Equal(got, []string{"kv_cache chat@ firing"}) {
		t.Errorf("got %q", got)
	}
	if log := b.Log(); len(log) != 3 || log[0].At != after(Shown) || log[0].State != model.AlertFiring {
		t.Errorf("log %+v", log)
	}
}

// A list that is asked for later does not show what would be forgotten by then.
func TestResolvedIsShownForAWhile(t *testing.T) {
	b := NewBook()
	b.Observe(ask(full, "chat", "yes"), after(0))
	b.Observe(ask(full, "chat", "no"), after(0))
	b.Settle(after(0))
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{0, 1}, {Shown - 1, 1}, {Shown, 0}} {
		if got := b.Alerts(after(tt.at)); len(got) != tt.want {
			t.Errorf("after %s: %d alerts, want %d", tt.at, len(got), tt.want)
		}
	}
}

// The newest of what has resolved comes first.
func TestResolvedNewestFirst(t *testing.T) {
	b := NewBook()
	for i, name := range []string{"a", "b", "c"} {
		b.Observe(ask(full, name, "yes"), after(time.Duration(i)*time.Second))
		b.Observe(ask(full, name, "no"), after(time.Duration(i+10)*time.Second))
	}
	want := []string{"kv_cache c@ resolved", "kv_cache b@ resolved", "kv_cache a@ resolved"}
	if got := lines(b, after(13*time.Second)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestViewOfOneLife(t *testing.T) {
	r := Rule{Name: "ttft", Severity: model.Page, Limit: 1, Clear: 0.8, For: 10 * time.Second, Hold: 10 * time.Second}
	b := NewBook()
	see := func(s int, v model.Reading, text string) model.AlertView {
		t.Helper()
		at := after(time.Duration(s) * time.Second)
		b.Observe(Observation{Rule: r, Workflow: "chat", Target: "a", Compare: true, Value: v, Text: text}, at)
		b.Settle(at)
		alerts := b.Alerts(at)
		if len(alerts) != 1 {
			t.Fatalf("at %d s: %d alerts", s, len(alerts))
		}
		return alerts[0]
	}
	want := model.AlertView{
		ID: "ttft|chat|a", Rule: "ttft", Severity: model.Page, Workflow: "chat", Target: "a", Limit: model.Of(1), Members: []string{},
		State: model.AlertPending, Text: "slow", Since: after(0), LastAt: after(0), Value: model.Of(2), Peak: model.Of(2),
	}
	check := func(step string, got model.AlertView) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", step, got, want)
		}
	}
	check("pending", see(0, model.Of(2), "slow"))

	want.State, want.Times, want.FiredAt, want.LastAt = model.AlertFiring, 1, after(10*time.Second), after(10*time.Second)
	want.Value, want.Peak, want.Text = model.Of(3), model.Of(3), "slower"
	check("firing", see(10, model.Of(3), "slower"))

	want.Stale, want.Value = true, model.Missing(model.NoTraffic)
	check("no traffic, and why can be seen", see(20, model.Missing(model.NoTraffic), ""))

	want.Stale, want.Value, want.Text = false, model.Of(0.9), "better"
	check("in the dead band", see(30, model.Of(0.9), "better"))

	want.Value, want.Text = model.Of(0.5), "good"
	check("recovered", see(40, model.Of(0.5), "good"))

	want.State, want.ResolvedAt, want.Value, want.Text = model.AlertResolved, after(50*time.Second), model.Of(0.4), "over after 50 s"
	check("resolved", see(50, model.Of(0.4), "over after 50 s"))

	want.Value = model.Of(0.3)
	check("the text of what is over stays", see(60, model.Of(0.3), "nothing to say"))

	want.State, want.Text, want.Since, want.LastAt = model.AlertPending, "slow again", after(70*time.Second), after(70*time.Second)
	want.FiredAt, want.ResolvedAt, want.Value, want.Peak = model.Instant{}, model.Instant{}, model.Of(1.5), model.Of(1.5)
	check("pending again", see(70, model.Of(1.5), "slow again"))

	want.State, want.Text, want.Since, want.LastAt = model.AlertResolved, "over after 50 s", after(0), after(10*time.Second)
	want.FiredAt, want.ResolvedAt, want.Value, want.Peak = after(10*time.Second), after(50*time.Second), model.Of(0.2), model.Of(3)
	check("which came to nothing", see(80, model.Of(0.2), "fine"))
}

func TestLimitOfCompoundConditions(t *testing.T) {
	b := NewBook()
	b.Observe(ask(Rule{Name: "burn", Limit: 6}, "chat", "yes"), after(0))
	b.Observe(ask(Rule{Name: "stalled"}, "chat", "yes"), after(0))
	b.Observe(value(Rule{Name: "zero"}, "chat", 1), after(0))
	want := map[string]model.Reading{"burn": model.Of(6), "stalled": {}, "zero": model.Of(0)}
	for _, a := range b.Alerts(after(0)) {
		if a.Limit != want[a.Rule] {
			t.Errorf("%s: limit %+v, want %+v", a.Rule, a.Limit, want[a.Rule])
		}
	}
}

func TestPeakIsTheWorst(t *testing.T) {
	for _, tt := range []struct {
		rule Rule
		want float64
	}{
		{Rule{Name: "above", Limit: 1, Clear: 1, Hold: time.Hour}, 9},
		{Rule{Name: "below", Below: true, Limit: 10, Clear: 10, Hold: time.Hour}, 0.5},
	} {
		b := NewBook()
		for i, v := range []model.Reading{model.Of(5), model.Of(9), {}, model.Of(0.5), model.Of(3), {}} {
			b.Observe(Observation{Rule: tt.rule, Compare: true, Value: v}, after(time.Duration(i)*time.Second))
		}
		if got := b.Alerts(after(time.Minute))[0].Peak; got != model.Of(tt.want) {
			t.Errorf("%s: peak %+v, want %g", tt.rule.Name, got, tt.want)
		}
	}
}

// Nothing that was handed out is written again.
func TestViewsAreNotWrittenAgain(t *testing.T) {
	b := NewBook()
	members := []string{"a", "b"}
	o := ask(down, "", "yes")
	o.Members = members
	b.Observe(o, after(0))
	alerts, log := b.Alerts(after(0)), b.Log()
	before := fmt.Sprint(alerts, log)
	members[0] = "z"
	o.Text = "another"
	b.Observe(o, after(time.Second))
	o.Members, o.Truth = nil, No
	b.Observe(o, after(2*time.Second))
	b.Observe(o, after(20*time.Second))
	if got := fmt.Sprint(alerts, log); got != before {
		t.Errorf("was %s\nis now %s", before, got)
	}
}

func TestIDKeepsNamesApart(t *testing.T) {
	parts := []string{"", "a", "|", `\`, `a|`, `|a`, `\|`, `\\`, "a|b"}
	seen := map[model.AlertID]string{}
	for _, rule := range parts {
		for _, workflow := range parts {
			for _, target := range parts {
				id, of := ID(rule, workflow, target), fmt.Sprintf("%q %q %q", rule, workflow, target)
				if other, ok := seen[id]; ok {
					t.Fatalf("%q identifies %s and %s", id, other, of)
				}
				seen[id] = of
			}
		}
	}
	if got := ID("ttft", "chat", "host:8000"); got != "ttft|chat|host:8000" {
		t.Errorf("got %q", got)
	}
}

// The log tells pending, firing and resolved, newest first, and folds what one
// alert repeats within the time for which it is shown.
func TestLog(t *testing.T) {
	b := NewBook()
	at := 0
	see := func(seconds int, obs ...Observation) {
		at += seconds
		for _, o := range obs {
			b.Observe(o, after(time.Duration(at)*time.Second))
		}
		b.Settle(after(time.Duration(at) * time.Second))
	}
	want := func(step string, events ...string) {
		t.Helper()
		var got []string
		for _, e := range b.Log() {
			got = append(got, fmt.Sprintf("%s %s %s x%d %q", e.At.Mono, e.Workflow, e.State, e.Times, e.Text))
		}
		if !slices.Equal(got, events) {
			t.Fatalf("%s:\n got %q\nwant %q", step, got, events)
		}
	}
	see(0, ask(tardy, "chat", "?"), ask(tardy, "rag", "no"))
	want("neither fine nor unknown is a step")
	see(0, ask(tardy, "chat", "yes"))
	see(5, ask(tardy, "chat", "no"))
	see(5, ask(tardy, "chat", "yes"), ask(full, "rag", "yes"))
	want("pending twice, folded; another alert fires",
		`10s rag firing x1 "kv_cache yes"`, `10s chat pending x2 "tardy yes"`)
	see(10, ask(tardy, "chat", "yes"), ask(full, "rag", "yes"))
	see(10, ask(tardy, "chat", "no"), ask(full, "rag", "?"))
	see(10, ask(tardy, "chat", "no"), ask(full, "rag", "yes"))
	want("silence is no step",
		`40s chat resolved x1 "tardy no"`, `20s chat firing x1 "tardy yes"`,
		`10s rag firing x1 "kv_cache yes"`, `10s chat pending x2 "tardy yes"`)
	see(860, ask(tardy, "chat", "yes"))
	see(20, ask(tardy, "chat", "yes"))
	want("within 15 minutes of the last like it, but not of the last pending",
		`15m20s chat firing x1 "tardy yes"`, `15m0s chat pending x3 "tardy yes"`,
		`40s chat resolved x1 "tardy no"`, `20s chat firing x1 "tardy yes"`, `10s rag firing x1 "kv_cache yes"`)
}

func TestLogIsBounded(t *testing.T) {
	b := NewBook()
	const n = maxSteps + 100
	b.Observe(ask(full, "w0", "yes"), after(0))
	b.Observe(ask(full, "w0", "no"), after(0)) // and yes again, below
	for i := range n {
		b.Observe(ask(full, fmt.Sprint("w", i), "yes"), after(time.Duration(i)*time.Second))
	}
	log := b.Log()
	if len(log) != maxSteps || log[0].Workflow != "w599" || log[len(log)-1].Workflow != "w100" {
		t.Errorf("%d events, %s to %s", len(log), log[0].Workflow, log[len(log)-1].Workflow)
	}
	if b.Forgotten() != 102 {
		t.Errorf("%d forgotten, want 102 in 101 events", b.Forgotten())
	}
	if len(b.log.last) != maxSteps || len(b.log.each) != maxSteps {
		t.Errorf("%d and %d entries kept beside the log", len(b.log.last), len(b.log.each))
	}
}

// One alert's part of the log is bounded too, and its newest steps are folded as
// ever.
func TestOnesOwnPastIsForgotten(t *testing.T) {
	b := NewBook()
	see := func(minutes int, answer string) {
		b.Observe(ask(full, "chat", answer), after(time.Duration(minutes)*time.Minute))
		b.Settle(after(time.Duration(minutes) * time.Minute))
	}
	for i := range 30 {
		see(20*i, "yes")
		see(20*i, "no")
	}
	see(20*29+1, "yes")
	log := b.Log()
	if len(log) != maxStepsEach || b.Forgotten() != 60-maxStepsEach {
		t.Errorf("%d events, %d steps forgotten", len(log), b.Forgotten())
	}
	if log[0].State != model.AlertFiring || log[0].Times != 2 {
		t.Errorf("newest: %+v", log[0])
	}
}

// An old step that others push out takes nothing from the newest one like it.
func TestStepsArePushedOutOneByOne(t *testing.T) {
	b := NewBook()
	see := func(workflow, answer string, minutes int) {
		b.Observe(ask(full, workflow, answer), after(time.Duration(minutes)*time.Minute))
	}
	see("chat", "yes", 0)
	see("chat", "no", 0)
	see("chat", "yes", 20)
	for i := range maxSteps - 2 {
		see(fmt.Sprint("w", i), "yes", 20)
	}
	if b.Forgotten() != 1 {
		t.Fatalf("%d forgotten, want the first of all", b.Forgotten())
	}
	see("chat", "no", 21)
	see("chat", "yes", 21)
	if log := b.Log(); log[0].Workflow != "chat" || log[0].State != model.AlertFiring || log[0].Times != 2 {
		t.Errorf("newest: %+v", log[0])
	}
}

func TestBookIsBounded(t *testing.T) {
	b := NewBook()
	name := func(i int) string { return fmt.Sprintf("w%05d", i) }
	saw := func(r Rule, from, to int, answer string, at model.Instant) {
		for i := from; i < to; i++ {
			b.Observe(ask(r, name(i), answer), at)
		}
		b.Settle(at)
	}
	count := func(state model.AlertState, rule string) int {
		n := 0
		for _, a := range b.Alerts(after(time.Minute)) {
			if a.State == state && a.Rule == rule {
				n++
			}
		}
		return n
	}
	// Ten resolve, then the book is full of what is unknown, and more.
	saw(full, 0, 10, "yes", after(0))
	saw(full, 0, 10, "no", after(time.Second))
	saw(tardy, 0, maxAlerts+20, "?", after(2*time.Second))
	if got := b.Dropped(); got != 30 {
		t.Errorf("%d dropped, want 30", got)
	}
	saw(tardy, 0, maxAlerts+20, "?", after(3*time.Second))
	if got := b.Dropped(); got != 30 {
		t.Errorf("%d dropped, want the 30 of before: they are the same", got)
	}
	// What fires takes the place of what is unknown, then of what has resolved.
	saw(slow, 0, maxAlerts-10, "yes", after(4*time.Second))
	if f, u, r := count("firing", "ttft"), count("unknown", "tardy"), count("resolved", "kv_cache"); f != maxAlerts-10 || u != 0 || r != 10 {
		t.Errorf("%d firing, %d unknown, %d resolved", f, u, r)
	}
	saw(slow, 0, maxAlerts+5, "yes", after(5*time.Second))
	if f, r := count("firing", "ttft"), count("resolved", "kv_cache"); f != maxAlerts || r != 0 {
		t.Errorf("%d firing, %d resolved", f, r)
	}
	if len(b.rows) != maxAlerts || len(b.ids) != maxAlerts || len(b.order) != maxAlerts {
		t.Errorf("%d rows, %d ids, %d in order, want %d", len(b.rows), len(b.ids), len(b.order), maxAlerts)
	}
}

// Subjects that come and go leave nothing behind.
func TestChurnLeavesNothing(t *testing.T) {
	b := NewBook()
	for i := range 20_000 {
		at := after(time.Duration(i) * 10 * time.Second)
		w := fmt.Sprint("w", i)
		b.Observe(ask(full, w, "?"), at)
		o := ask(slow, "", "yes")
		o.Members = []string{w}
		if i%2 == 1 {
			o.Truth, o.Members = No, nil
		}
		b.Observe(o, at)
		b.Settle(at)
	}
	if most := int(Shown/(10*time.Second)) + 2; len(b.rows) > most || b.Dropped() != 0 {
		t.Errorf("%d rows, want at most %d; %d dropped", len(b.rows), most, b.Dropped())
	}
	if len(b.ids) != len(b.rows) || len(b.order) != len(b.rows) || len(b.covered) > 1 {
		t.Errorf("%d rows, %d ids, %d in order, %d covered", len(b.rows), len(b.ids), len(b.order), len(b.covered))
	}
}
