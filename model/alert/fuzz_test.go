package alert

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// seen is one evaluation as the naive reference remembers it.
type seen struct {
	at    model.Instant
	clock time.Duration // never backwards
	is    verdict
}

// trueFor is how long the condition has been true without a break.
func trueFor(past []seen) time.Duration {
	first := len(past)
	for first > 0 && past[first-1].is == beyond {
		first--
	}
	if first == len(past) {
		return -1
	}
	return past[len(past)-1].clock - past[first].clock
}

// fineFor is how long it has been seen to be recovered since it last was not:
// the sum of the stretches between two recovered readings.
func fineFor(past []seen) time.Duration {
	if past[len(past)-1].is != recovered {
		return -1
	}
	var sum time.Duration
	for i := len(past) - 1; i > 0; i-- {
		switch {
		case past[i].is == recovered && past[i-1].is == recovered:
			sum = plus(sum, past[i].clock-past[i-1].clock)
		case past[i].is == beyond || past[i].is == between:
			return sum
		}
	}
	return sum
}

// FuzzStep plays any readings at any times and compares with the reference:
// nothing panics, every way is one the machine has, what fires is never left in
// silence, it is resolved exactly when it was seen to be fine for Hold, and
// fires exactly when the condition was true for For.
func FuzzStep(f *testing.F) {
	f.Add(uint8(10), uint8(20), false, false, []byte{3, 10, 3, 10, 1, 10, 1, 10, 1, 10, 1, 10})
	f.Add(uint8(0), uint8(0), true, false, []byte{3, 1, 0, 1, 1, 1, 2, 1, 3, 127, 1, 128})
	f.Add(uint8(5), uint8(5), false, true, []byte{3, 5, 3, 5, 0, 250, 1, 5, 1, 200, 1, 5, 1, 5})
	f.Add(uint8(1), uint8(1), true, true, []byte{3, 129, 3, 1, 1, 127, 3, 127, 3, 126, 1, 1})
	f.Add(uint8(1), uint8(0), false, false, []byte{3, 1, 3, 1, 1, 1, 3, 1, 3, 1, 1, 1})
	all := allEdges()
	f.Fuzz(func(t *testing.T, forS, holdS uint8, below, truth bool, script []byte) {
		r := Rule{
			Below: below, Limit: 1, Clear: map[bool]float64{false: 0.5, true: 1.5}[below],
			For: time.Duration(forS) * time.Second, Hold: time.Duration(holdS) * time.Second,
		}
		var s Status
		var past []seen
		var clock, mono time.Duration
		for i := 0; i+1 < len(script) && i < 400; i += 2 {
			mono += jump(script[i+1])
			clock = max(clock, mono)
			is, v := reading(r, script[i], truth)
			was := s
			at := model.Instant{Wall: epoch, Mono: mono}
			past = append(past, seen{at, clock, is})
			if truth {
				s = r.StepTruth(s, scenarioStep{is: is}.truth(), v, at)
			} else {
				s = r.Step(s, v, at)
			}
			check(t, r, was, s, past, all)
			if was.State != model.AlertFiring && s.State == model.AlertFiring {
				past = past[len(past)-1:] // what was before firing is no recovery from it
			}
		}
	})
}

// jump is the time between two steps: mostly seconds, also backwards, and now
// and then as far as a stamp can go.
func jump(b byte) time.Duration {
	switch b {
	case 127:
		return math.MaxInt64 / 2
	case 128:
		return math.MinInt64 / 2
	case 126:
		return Shown
	default:
		return time.Duration(int8(b)) * time.Second
	}
}

func reading(r Rule, b byte, truth bool) (verdict, model.Reading) {
	is := verdict(b % 4)
	if truth && is == between {
		is = cannotTell
	}
	if is == cannotTell {
		return is, model.Missing(model.Presence(b / 4 % 5 &^ 1)) // never Present
	}
	x := map[verdict]float64{recovered: 0.4, between: 0.7, beyond: 2}[is]
	if r.Below {
		x = 2 - x
	}
	return is, model.Of(x)
}

func check(t *testing.T, r Rule, was, s Status, past []seen, all map[edge]bool) {
	t.Helper()
	from, to := word(was), word(s)
	if was.State == "" {
		from = "inactive"
	}
	is := past[len(past)-1].is
	describe := func(what string) {
		t.Helper()
		t.Fatalf("%s: %s\nrule for %s hold %s\npast %v\n was %+v\n now %+v", what, edge{from, is, to}, r.For, r.Hold, past, was, s)
	}
	if !all[edge{from, is, to}] {
		describe("the machine has no such way")
	}
	fired := was.State != model.AlertFiring && s.State == model.AlertFiring
	if live := was.live() || s.live(); live && was.State != model.AlertFiring && fired != (is == beyond && trueFor(past) >= r.For) {
		describe(fmt.Sprintf("true for %s", trueFor(past)))
	}
	if was.State == model.AlertFiring {
		resolved := s.State == model.AlertResolved
		if resolved != (is == recovered && fineFor(past) >= r.Hold) {
			describe(fmt.Sprintf("seen to be fine for %s", fineFor(past)))
		}
		if s.Stale != (is == cannotTell) {
			describe("stale is not silence")
		}
	}
	if s.Stale && s.State != model.AlertFiring {
		describe("stale without firing")
	}
	if s.State != model.AlertPending && s.ended != nil {
		describe("the past of the past is kept")
	}
	times := 0
	if s.live() && was.State != model.AlertInactive && !was.over(past[len(past)-1].at) {
		times = was.Times
	}
	if fired {
		times++
	}
	if s.live() && s.Times != times {
		describe(fmt.Sprintf("fired %d times", times))
	}
	if s.live() && s.Peak.OK() && r.Below == (s.Peak.Value > s.Value.Value) && s.Value.OK() && s.Peak != s.Value {
		describe("the peak is not the worst")
	}
}

// FuzzBook plays any observations: each alert is in the list once and in order,
// and nothing that fires leaves it in silence.
func FuzzBook(f *testing.F) {
	f.Add([]byte{0x31, 0x31, 0x71, 0, 0x11, 0x11, 0, 0x53, 0, 0, 0x31})
	f.Add([]byte{0x3f, 0x2e, 0xbd, 0, 0xff, 0x01, 0x80, 0, 0x7c, 0, 0x44})
	f.Fuzz(func(t *testing.T, script []byte) {
		b := NewBook()
		rules := []Rule{slow, down, full, tardy}
		var firing map[model.AlertID]bool
		told := map[model.AlertID]bool{} // that a condition is over
		var each []Observation
		now := time.Duration(0)
		for _, c := range script {
			if c != 0 {
				o := Observation{Rule: rules[c&3], Target: string(rune('a' + c>>2&3)), Truth: Truth(c >> 4 % 3)}
				if c&0x80 != 0 {
					o.Cause = ID(rules[c>>6&1].Name, "", o.Target)
				}
				each = append(each, o)
				continue
			}
			at := after(now)
			for _, o := range tickOf(b, each, at) {
				b.Observe(o, at)
				if o.Truth == No {
					told[ID(o.Rule.Name, o.Workflow, o.Target)] = true
				}
			}
			b.Settle(at)
			alerts := b.Alerts(at)
			checkBook(t, b, alerts)
			still := map[model.AlertID]bool{}
			for _, a := range alerts {
				still[a.ID] = a.State == model.AlertFiring
			}
			for id := range firing {
				if !still[id] && !told[id] {
					t.Fatalf("%s fired, nobody said that it is over, and it is gone: %v", id, script)
				}
			}
			maps.DeleteFunc(still, func(_ model.AlertID, fires bool) bool { return !fires })
			firing, each = still, nil
			clear(told)
			now += 5 * time.Second
		}
	})
}

// tickOf is what the book observes of a tick: each subject once, the targets of
// each rule grouped.
func tickOf(b *Book, each []Observation, at model.Instant) []Observation {
	slices.SortStableFunc(each, func(x, y Observation) int {
		a, b := x.subject(), y.subject()
		return slices.Compare([]string{a.rule, a.target}, []string{b.rule, b.target})
	})
	each = slices.CompactFunc(each, func(x, y Observation) bool { return x.subject() == y.subject() })
	var out []Observation
	for len(each) > 0 {
		n := 1
		for n < len(each) && each[n].Rule == each[0].Rule {
			n++
		}
		out = append(out, b.Group(each[:n:n], tell, at)...)
		each = each[n:]
	}
	return out
}

func checkBook(t *testing.T, b *Book, alerts []model.AlertView) {
	t.Helper()
	if !slices.IsSortedFunc(b.order, byUrgency) || len(b.order) != len(b.rows) || len(b.ids) != len(b.rows) {
		t.Fatalf("%d in order, %d rows, %d ids", len(b.order), len(b.rows), len(b.ids))
	}
	once := map[model.AlertID]bool{}
	for _, a := range alerts {
		if once[a.ID] || a.State == model.AlertInactive {
			t.Fatalf("%s is in the list twice, or inactive: %+v", a.ID, a)
		}
		once[a.ID] = true
		if a.Stale && a.State != model.AlertFiring || a.Cause != "" && !a.Stale && a.State != model.AlertUnknown {
			t.Fatalf("believed in spite of its cause: %+v", a)
		}
	}
	for id, g := range b.covered {
		if !slices.ContainsFunc(g.members, func(m string) bool { return ID(g.rule, g.workflow, m) == id }) {
			t.Fatalf("%s explains %s and does not list it: %v", g.id, id, g.members)
		}
	}
}
