package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// lost is the rule of a target that is down; its For is one poll interval.
var lost = Rule{Name: "down", Severity: model.Warn, For: 10 * time.Second, Hold: 10 * time.Second}

// tell is the sentence of a group of targets that are down.
func tell(c Crowd) string {
	if c.Back {
		return fmt.Sprintf("%d back after %s", c.Most, c.Lasted)
	}
	return fmt.Sprintf("%d of %d targets down", c.Now, c.Of)
}

// fleet is what the rule sees of targets a, b, c … in one tick: a letter each,
// + up, - down, ? silent, a blank for one that is not observed.
func fleet(r Rule, states string) []Observation {
	var out []Observation
	for i, c := range states {
		if c == ' ' {
			continue
		}
		o := ask(r, "@"+string(rune('a'+i)), map[rune]string{'+': "no", '-': "yes", '?': "?"}[c])
		out = append(out, o)
	}
	return out
}

// lineOfGroup is an alert with its text and members.
func lineOfGroup(a model.AlertView) string {
	s := line(a) + ": " + a.Text
	if len(a.Members) > 0 {
		s += " [" + strings.Join(a.Members, "") + "]"
	}
	return s
}

func TestGroup(t *testing.T) {
	type tick struct {
		fleet string
		want  []string
	}
	same := func(n int, tk tick) []tick { return slices.Repeat([]tick{tk}, n) }
	tests := []struct {
		name  string
		ticks []tick
	}{
		{"one target down is its own alert", []tick{
			{"-++", []string{"down @a pending: down yes"}},
			{"-++", []string{"down @a firing: down yes"}},
			{"+++", []string{"down @a firing: down no"}},
			{"+++", []string{"down @a resolved: down no"}},
			{"+++", []string{"down @a resolved: down no"}},
		}},
		{"two in one go are a group, and one recovery", []tick{
			{"-+-", []string{"down @ pending: 2 of 3 targets down [ac]"}},
			{"-+-", []string{"down @ firing: 2 of 3 targets down [ac]"}},
			{"+++", []string{"down @ firing: 2 back after 20s [ac]"}},
			{"+++", []string{"down @ resolved: 2 back after 20s [ac]"}},
			{"+++", []string{"down @ resolved: 2 back after 20s [ac]"}},
		}},
		{"a group that shrinks to one neither resolves nor fires again", []tick{
			{"---", []string{"down @ pending: 3 of 3 targets down [abc]"}},
			{"---", []string{"down @ firing: 3 of 3 targets down [abc]"}},
			{"+--", []string{"down @ firing: 2 of 3 targets down [bc]"}},
			{"++-", []string{"down @ firing: 1 of 3 targets down [c]"}},
			{"++-", []string{"down @ firing: 1 of 3 targets down [c]"}},
			{"+++", []string{"down @ firing: 3 back after 50s [abc]"}},
			{"+++", []string{"down @ resolved: 3 back after 50s [abc]"}},
		}},
		{"targets polled at different moments meet before one fires alone", []tick{
			{"-+++", []string{"down @a pending: down yes"}},
			{"--++", []string{"down @ firing: 2 of 4 targets down [ab]"}},
			{"----", []string{"down @ firing: 4 of 4 targets down [abcd]"}},
			{"++++", []string{"down @ firing: 4 back after 30s [abcd]"}},
		}},
		{"an alert of its own that fires is kept", []tick{
			{"-+++", []string{"down @a pending: down yes"}},
			{"-+++", []string{"down @a firing: down yes"}},
			{"---+", []string{"down @a firing: down yes", "down @ pending: 2 of 4 targets down [bc]"}},
			{"?--+", []string{"down @a firing stale: down ?", "down @ firing: 2 of 4 targets down [bc]"}},
			{"+--+", []string{"down @a firing: down no", "down @ firing: 2 of 4 targets down [bc]"}},
			{"+--+", []string{"down @ firing: 2 of 4 targets down [bc]", "down @a resolved: down no"}},
			{"---+", []string{"down @ firing: 3 of 4 targets down [abc]", "down @a resolved: down no"}},
		}},
		{"who follows joins, and a pending alert of its own gives way", []tick{
			{"-+++", []string{"down @a pending: down yes"}},
			{"+--+", []string{"down @ pending: 2 of 4 targets down [bc]"}},
			{"+--+", []string{"down @ firing: 2 of 4 targets down [bc]"}},
			{"+---", []string{"down @ firing: 3 of 4 targets down [bcd]"}},
			{"+-+-", []string{"down @ firing: 2 of 4 targets down [bd]"}},
			{"++++", []string{"down @ firing: 3 back after 40s [bcd]"}},
			{"++-+", []string{"down @ firing: 1 of 4 targets down [c]"}},
			{"++++", []string{"down @ firing: 3 back after 1m0s [bcd]"}},
			{"++++", []string{"down @ resolved: 3 back after 1m0s [bcd]"}},
			{"--++", nil},
			{"--++", []string{"down @ firing x2: 2 of 4 targets down [ab]"}},
			{"++++", []string{"down @ firing x2: 2 back after 20s [ab]"}},
		}},
		{"a group begins when the first of its targets did", []tick{
			{"++", []string{}},
			{"--", nil},
			{"--", []string{"down @ firing: 2 of 2 targets down [ab]"}},
			{"++", nil},
			{"++", []string{"down @ resolved: 2 back after 20s [ab]"}},
			{"-+", []string{"down @a pending: down yes", "down @ resolved: 2 back after 20s [ab]"}},
			{"--", []string{"down @ firing x2: 2 of 2 targets down [ab]"}},
			{"++", []string{"down @ firing x2: 2 back after 20s [ab]"}},
		}},
		{"of two that begin after each other the first counts", []tick{
			{"-??", []string{"down @a pending: down yes", "down @b unknown: down ?", "down @c unknown: down ?"}},
			{"--?", []string{"down @ firing: 2 of 3 targets down [ab]", "down @c unknown: down ?"}},
			{"--+", []string{"down @ firing: 2 of 3 targets down [ab]"}},
		}},
		{"a silent member stays in, and so does one that vanished", []tick{
			{"---+", []string{"down @ pending: 3 of 4 targets down [abc]"}},
			{"---+", []string{"down @ firing: 3 of 4 targets down [abc]"}},
			{" -?+", []string{"down @ firing: 3 of 3 targets down [bca]"}},
			{" +?+", []string{"down @ firing stale: 2 of 3 targets down [ca]"}},
			{"++?+", []string{"down @ firing stale: 1 of 4 targets down [c]"}},
			{"++++", []string{"down @ firing: 3 back after 50s [abc]"}},
			{"++++", []string{"down @ resolved: 3 back after 50s [abc]"}},
		}},
		{"a group that is only pending ends without a word", []tick{
			{"--+", []string{"down @ pending: 2 of 3 targets down [ab]"}},
			{"+++", nil},
			{"--+", []string{"down @ pending: 2 of 3 targets down [ab]"}},
			{"??+", []string{"down @ unknown: 2 of 3 targets down [ab]"}},
			{"+++", []string{"down @ unknown: 2 of 3 targets down [ab]"}},
		}},
		{"nobody observed", append(same(2, tick{"--", nil}),
			tick{"", []string{"down @ firing stale: 2 of 2 targets down [ab]"}})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBook()
			for i, tk := range tt.ticks {
				at := after(time.Duration(i) * 10 * time.Second)
				for _, o := range b.Group(fleet(lost, tk.fleet), tell, at) {
					b.Observe(o, at)
				}
				b.Settle(at)
				var got []string
				for _, a := range b.Alerts(at) {
					got = append(got, lineOfGroup(a))
				}
				if tk.want != nil && !slices.Equal(got, tk.want) {
					t.Fatalf("tick %d %q:\n got %q\nwant %q", i, tk.fleet, got, tk.want)
				}
			}
		})
	}
}

// A number between its bounds keeps a target in a group that fires, and out of
// one that is only pending.
func TestGroupHasTheDeadBand(t *testing.T) {
	r := Rule{Name: "kv_cache", Limit: 0.9, Clear: 0.8, For: 10 * time.Second, Hold: 10 * time.Second}
	b := NewBook()
	for i, tk := range []struct {
		a, b float64
		want string
	}{
		{0.95, 0.95, "kv_cache @ pending: 2 of 2 targets down [ab]"},
		{0.95, 0.85, "kv_cache @ firing: 1 of 2 targets down [a]"},
		{0.85, 0.95, "kv_cache @ firing: 2 of 2 targets down [ab]"},
		{0.85, 0.80, "kv_cache @ firing: 1 of 2 targets down [a]"},
		{0.80, 0.80, "kv_cache @ firing: 2 back after 40s [ab]"},
		{0.80, 0.85, "kv_cache @ resolved: 2 back after 40s [ab]"},
	} {
		at := after(time.Duration(i) * 10 * time.Second)
		for _, o := range b.Group([]Observation{value(r, "@a", tk.a), value(r, "@b", tk.b)}, tell, at) {
			b.Observe(o, at)
		}
		b.Settle(at)
		if got := lineOfGroup(b.Alerts(at)[0]); got != tk.want {
			t.Fatalf("tick %d:\n got %q\nwant %q", i, got, tk.want)
		}
	}
}

// A group that comes to nothing leaves what had resolved before it in the list.
func TestGroupThatCameToNothing(t *testing.T) {
	r := lost
	r.For = 15 * time.Second
	b := NewBook()
	var got []string
	for i, states := range []string{"--+", "--+", "--+", "+++", "+++", "-++", "---", "+++"} {
		at := after(time.Duration(i) * 10 * time.Second)
		for _, o := range b.Group(fleet(r, states), tell, at) {
			b.Observe(o, at)
		}
		b.Settle(at)
		got = append(got, lineOfGroup(b.Alerts(at)[0]))
	}
	want := []string{"down @ resolved: 2 back after 30s [ab]", "down @a pending: down yes", "down @ pending: 3 of 3 targets down [abc]", "down @ resolved: 2 back after 30s [ab]"}
	if !slices.Equal(got[4:], want) {
		t.Errorf("got %q, want %q", got[4:], want)
	}
	for _, e := range b.Log() {
		if e.State == model.AlertFiring && e.Text != "2 of 3 targets down" {
			t.Errorf("what fired was rewritten by what did not: %+v", e)
		}
	}
}

// A member that another alert explains neither hides the group nor ends it.
func TestGroupWithAnExplainedMember(t *testing.T) {
	stalled := Rule{Name: "stalled", Hold: 10 * time.Second}
	b := NewBook()
	for i, tk := range []struct{ down, stalled, want string }{
		{"+++", "---", "stalled @ firing: 3 of 3 targets down [abc]"},
		{"++-", "---", "stalled @ firing: 3 of 3 targets down [abc]"},
		{"++-", "+++", "stalled @ firing stale because down||c: 1 of 3 targets down [c]"},
		{"+++", "+++", "stalled @ firing stale because down||c: 1 of 3 targets down [c]"}, // down is held
		{"+++", "+++", "stalled @ firing: 3 back after 40s [abc]"},
		{"+++", "+++", "stalled @ resolved: 3 back after 40s [abc]"},
	} {
		at := after(time.Duration(i) * 10 * time.Second)
		for _, o := range fleet(down, tk.down) {
			b.Observe(o, at)
		}
		each := fleet(stalled, tk.stalled)
		for i := range each {
			each[i].Cause = ID("down", "", each[i].Target)
		}
		for _, o := range b.Group(each, tell, at) {
			b.Observe(o, at)
		}
		b.Settle(at)
		got := ""
		for _, a := range b.Alerts(at) {
			if a.Rule == "stalled" {
				got = lineOfGroup(a)
			}
		}
		if got != tk.want {
			t.Fatalf("tick %d:\n got %q\nwant %q", i, got, tk.want)
		}
	}
}

// The number of a group is how many targets it has, whatever the rule compares.
func TestGroupCountsTargets(t *testing.T) {
	r := Rule{Name: "tokens", Below: true, Limit: 10, Clear: 20, For: 10 * time.Second}
	b := NewBook()
	var crowds []Crowd
	for i, v := range [][3]float64{{5, 30, 30}, {5, 5, 30}, {5, 5, 5}, {30, 5, 30}} {
		at := after(time.Duration(i) * 10 * time.Second)
		var each []Observation
		for n, x := range v {
			each = append(each, value(r, "@"+string(rune('a'+n)), x))
		}
		text := func(c Crowd) string { crowds = append(crowds, c); return tell(c) }
		for _, o := range b.Group(each, text, at) {
			b.Observe(o, at)
		}
		b.Settle(at)
	}
	alerts := b.Alerts(after(30 * time.Second))
	if len(alerts) != 1 || alerts[0].Value != model.Of(1) || alerts[0].Peak != model.Of(3) || alerts[0].Limit.OK() || alerts[0].Since != after(0) {
		t.Errorf("alerts %+v", alerts)
	}
	s := time.Second
	if want := []Crowd{{2, 2, 3, 10 * s, false}, {3, 3, 3, 20 * s, false}, {1, 3, 3, 30 * s, false}}; !slices.Equal(crowds, want) {
		t.Errorf("told %+v, want %+v", crowds, want)
	}
}

// A group of which nobody hears any more is forgotten with all that it covered.
func TestGroupIsForgotten(t *testing.T) {
	b := NewBook()
	for _, o := range b.Group(fleet(lost, "--"), tell, after(0)) {
		b.Observe(o, after(0))
	}
	b.Settle(after(0))
	if len(b.covered) != 2 {
		t.Errorf("%d covered, want 2", len(b.covered))
	}
	b.Settle(after(time.Second))
	b.Settle(after(Shown))
	if len(b.rows)+len(b.ids)+len(b.order)+len(b.covered) != 0 {
		t.Errorf("%d rows, %d covered", len(b.rows), len(b.covered))
	}
}

// A group that grows is more than what was acknowledged. That is told in the
// line of the log that is there, not in another.
func TestGroupThatGrows(t *testing.T) {
	b := NewBook()
	news := []int{3, 6, 10} // it grows, grows, and fires again
	for i, states := range []string{"--++", "--++", "--++", "---+", "--++", "---+", "----", "++++", "++++", "--++", "---+"} {
		at := after(time.Duration(i) * 10 * time.Second)
		for _, o := range b.Group(fleet(lost, states), tell, at) {
			b.Observe(o, at)
		}
		b.Settle(at)
		if log := b.Log(); i > 0 && i < 7 && (log[0].Times != 1 || log[0].Text != tell(Crowd{Now: []int{0, 2, 2, 3, 3, 3, 4}[i], Of: 4})) {
			t.Errorf("tick %d %s: newest in the log: %+v", i, states, log[0])
		}
		acked := b.Alerts(at)[0].Acknowledged
		if i > 2 && acked == slices.Contains(news, i) {
			t.Errorf("tick %d %s: acknowledged: %t", i, states, acked)
		}
		if !acked {
			b.Ack("down||")
		}
	}
	var got []string
	for _, e := range b.Log() {
		got = append(got, fmt.Sprintf("%s %s x%d %s", e.At.Mono, e.State, e.Times, e.Text))
	}
	want := []string{
		"1m40s firing x2 3 of 4 targets down", "1m30s pending x2 2 of 4 targets down",
		"1m20s resolved x1 4 back after 1m10s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
}

// OC-09: 30 targets are refused in the same poll, six of them had a latency
// alert before; five polls later all return.
func TestOneSwitchDies(t *testing.T) {
	const targets = 30
	name := func(i int) string { return fmt.Sprintf("gpu-%02d", i) }
	b := NewBook()
	rings := map[string]int{} // firings by rule
	var screen []model.AlertView
	poll := func(n int, refused bool) {
		at := after(time.Duration(n) * 10 * time.Second)
		var each, rest []Observation
		for i := range targets {
			d := ask(lost, "@"+name(i), map[bool]string{true: "yes", false: "no"}[refused])
			each = append(each, d)
			latency := value(slow, "@"+name(i), map[bool]float64{true: 2, false: 0.5}[i < 6])
			stalled := ask(tardy, "@"+name(i), "yes") // as nothing moves any more
			if !refused {
				stalled = ask(tardy, "@"+name(i), "no")
			}
			rest = append(rest, because(latency, ID("down", "", name(i))), because(stalled, ID("down", "", name(i))))
		}
		for _, o := range append(b.Group(each, tell, at), rest...) {
			b.Observe(o, at)
		}
		b.Settle(at)
		screen = b.Alerts(at)
	}
	count := func(state model.AlertState, cause string) (n int) {
		for _, a := range screen {
			if a.State == state && string(a.Cause) == cause {
				n++
			}
		}
		return n
	}
	poll(0, false)
	if count(model.AlertFiring, "") != 6 {
		t.Fatalf("before: %d firing, want the six latency alerts", count(model.AlertFiring, ""))
	}
	at := 1
	for ; at <= 5; at++ {
		poll(at, true)
	}
	if got := lineOfGroup(screen[0]); !strings.HasPrefix(got, "down @ firing: 30 of 30 targets down [gpu-00gpu-01") || len(screen[0].Members) != targets {
		t.Errorf("first line: %q", got)
	}
	if screen[0].Since != after(10*time.Second) {
		t.Errorf("since %v", screen[0].Since)
	}
	for i, a := range screen[1:7] {
		if got, want := line(a), fmt.Sprintf("ttft @%s firing stale because down||", name(i)); got != want || a.Value.OK() {
			t.Errorf("line %d: %q, value %+v, want %q without a value", i+1, got, a.Value, want)
		}
	}
	// 24 latencies and 30 stalls, none of which is news.
	if got := count(model.AlertUnknown, "down||"); got != 54 || len(screen) != 1+6+54 {
		t.Errorf("%d unknown because of the switch, %d alerts in all", got, len(screen))
	}
	for ; at <= 7; at++ {
		poll(at, false)
	}
	if last := screen[len(screen)-1]; lineOfGroup(last)[:len("down @ resolved: 30 back after 50s")] != "down @ resolved: 30 back after 50s" {
		t.Errorf("after: %q", lineOfGroup(last))
	}
	if count(model.AlertFiring, "") != 6 || len(screen) != 7 {
		t.Errorf("after: %d firing, %d alerts in all", count(model.AlertFiring, ""), len(screen))
	}
	for _, e := range b.Log() {
		if e.State == model.AlertFiring {
			rings[e.Rule] += e.Times
		}
	}
	if rings["down"] != 1 || rings["ttft"] != 6 || rings["tardy"] != 0 {
		t.Errorf("rings: %v, want one for the switch and none of its doing", rings)
	}
	var pending int
	for _, e := range b.Log() {
		if e.Rule == "down" && e.State == model.AlertResolved && (e.Text != "30 back after 50s" || e.Times != 1) {
			t.Errorf("recovery: %+v", e)
		}
		if e.State == model.AlertPending && e.Rule == "down" {
			pending += e.Times
		}
	}
	if pending != 1 {
		t.Errorf("%d pending steps of the rule, want 1", pending)
	}
}
