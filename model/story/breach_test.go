package story

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"slotop/model"
)

// A scenario is a line a stretch: how many seconds a condition lasts.
func TestBreaches(t *testing.T) {
	for _, tt := range []struct{ name, scenario, want string }{
		{"none", "met 100", ""},
		{"one", "met 10, missed 20, met 10", "10–30 missed 20s over"},
		{"to the end", "met 10, missed 20", "10–29 missed 19s open"},
		{"undecided ends nothing", "missed 10, undecided 5, missed 5, met 1", "0–20 missed 20s over"},
		{"undecided begins nothing", "met 5, undecided 50, met 5", ""},
		{"at risk ends it", "missed 10, at_risk 100", "0–10 missed 10s over"},
		{"again within a window is the same", "missed 10, met 30, missed 10, met 100", "0–50 missed 20s over 2 times"},
		{"again after a window is another", "missed 10, met 90, missed 10, met 1", "0–10 missed 10s over; 100–110 missed 10s over"},
		{"down on the way", "missed 30, down 10, missed 20, met 1", "0–60 missed 50s down 10s over"},
		{"stale is one", "met 5, stale 20, met 1", "5–25 stale 20s over"},
		{"traffic stopped", "missed 10, no_traffic 5", "0–10 missed 10s over"},
	} {
		n := 0
		var c Collector
		for part := range strings.SplitSeq(tt.scenario, ", ") {
			var condition string
			var seconds int
			if _, err := fmt.Sscan(part, &condition, &seconds); err != nil {
				t.Fatal(err)
			}
			for range seconds {
				w := flow(model.Condition(condition), 0.5, 100)
				c.Take(frameAt(n, w))
				n++
			}
		}
		var got []string
		for _, b := range c.Story().Breaches {
			s := fmt.Sprintf("%.0f–%.0f", b.From.Mono.Seconds(), b.To.Mono.Seconds())
			for _, spell := range b.Spells {
				s += fmt.Sprintf(" %s %s", spell.Condition, spell.Lasted)
			}
			s += map[bool]string{true: " open", false: " over"}[b.Open]
			if b.Times > 1 {
				s += fmt.Sprintf(" %d times", b.Times)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, s, tt.want)
		}
	}
}

// Who was hurt is what the budget counted from a window before the breach to its end.
func TestHurt(t *testing.T) {
	counted := func(n int, c model.Condition, bad, allowed float64) *model.Frame {
		w := flow(c, 0.5, 100)
		w.Promised.Share = 0.9
		w.Budget = &model.BudgetView{Bad: model.Of(bad), Allowed: model.Of(allowed), ObservedS: float64(n)}
		return frameAt(n, w)
	}
	var frames []*model.Frame
	for n := range 200 {
		c, bad := model.IsMet, 0.0
		if n >= 70 { // ten seconds before it is noticed
			bad = 2 * float64(min(n, 149)-69)
		}
		if n >= 80 && n < 150 {
			c = model.IsMissed
		}
		frames = append(frames, counted(n, c, bad, float64(n)))
	}
	s := told(frames...)
	if len(s.Breaches) != 1 {
		t.Fatalf("%+v", s.Breaches)
	}
	b := s.Breaches[0]
	if b.Bad.Value != 160 || b.Judged.Value < 1289 || b.Judged.Value > 1310 {
		t.Errorf("%v bad of %v", b.Bad.Value, b.Judged.Value)
	}
	// A budget that began anew says nothing of the breach.
	frames[149] = counted(149, model.IsMissed, 3, 2)
	if b := told(frames[:150]...).Breaches[0]; b.Judged.OK() {
		t.Errorf("judged %v after the budget began anew", b.Judged)
	}
}

// A budget forgets what is older than its period, a part at a time; a breach goes on.
func TestHurtLongerThanABudget(t *testing.T) {
	const part, parts = 20, 6
	var c Collector
	for n := range 400 {
		w := flow(model.IsMissed, 0.5, 100)
		w.Promised.Share = 0.9
		kept := float64(n) // seconds, of 10 requests and a bad one each
		if n > part*parts {
			kept = part*parts + float64(n%part)
		}
		w.Budget = &model.BudgetView{Bad: model.Of(kept), Allowed: model.Of(kept), ObservedS: kept}
		c.Take(frameAt(n, w))
	}
	b := c.Story().Breaches[0]
	if math.Abs(b.Bad.Value-399) > 1e-6 || math.Abs(b.Judged.Value-3990) > 1e-6 {
		t.Errorf("%v bad of %v, want 399 of 3990", b.Bad, b.Judged)
	}
}

func alerted(n int, alerts ...model.AlertView) *model.Frame {
	f := frameAt(n)
	f.Alerts = alerts
	return f
}

// Episodes are pending, fire, resolve; what goes on is one, what begins anew another.
func TestEpisodes(t *testing.T) {
	a := func(state model.AlertState, since int, peak float64, text string) model.AlertView {
		v := model.AlertView{ID: "r|chat|", Rule: "r", State: state, Since: second(since), Peak: model.Of(peak), Text: text}
		if state == model.AlertResolved {
			v.ResolvedAt = second(since + 5)
		}
		return v
	}
	s := told(
		alerted(0, a(model.AlertPending, 0, 1, "one")), alerted(1), // came to nothing
		alerted(2, a(model.AlertPending, 2, 1, "two")), alerted(3, a(model.AlertFiring, 2, 9, "worst")), alerted(4, a(model.AlertFiring, 2, 9, "less")),
		alerted(7, a(model.AlertResolved, 2, 9, "over")), alerted(8, a(model.AlertResolved, 2, 9, "over")),
		alerted(9, a(model.AlertFiring, 9, 3, "again")),
	)
	var got []string
	for _, e := range s.Alerts {
		got = append(got, fmt.Sprintf("%.0f fired %v until %.0f %s", e.Alert.Since.Mono.Seconds(), e.Fired, e.Until(second(99)).Mono.Seconds(), e.Alert.Text))
	}
	want := "0 fired false until 1 one; 2 fired true until 7 worst; 9 fired true until 99 again"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// What is told of an alert that fired is what it said then, not what it said since.
func TestSaid(t *testing.T) {
	a := func(peak model.Reading, text string) model.AlertView {
		return model.AlertView{ID: "r", Rule: "r", State: model.AlertFiring, Since: second(0), Peak: peak, Text: text}
	}
	for _, tt := range []struct {
		peaks       [2]model.Reading
		said, worst string
	}{
		{[2]model.Reading{model.Missing(model.Unsupported), model.Missing(model.Unsupported)}, "0 s ago", "0 s ago"}, // a rule without values has no worse moment
		{[2]model.Reading{model.Of(6), model.Of(9)}, "0 s ago", "1 s ago"},
	} {
		s := told(alerted(0, a(tt.peaks[0], "0 s ago")), alerted(1, a(tt.peaks[1], "1 s ago")))
		if e := s.Alerts[0]; e.Said != tt.said || e.Alert.Text != tt.worst {
			t.Errorf("said %q, at its worst %q", e.Said, e.Alert.Text)
		}
	}
}

// Events that there was no room for are counted once each, also those that were in no
// frame any more.
func TestEventsLeft(t *testing.T) {
	const all, held = maxEvents + 300, 256
	var c Collector
	var past []model.Event
	for n := range all {
		past = append(past, model.Event{At: second(n), Kind: model.EventDeploy})
		f := frameAt(n)
		f.Events = past[max(0, len(past)-held):]
		f.EventsDropped = len(past) - len(f.Events)
		c.Take(f)
	}
	if s := c.Story(); len(s.Events) != maxEvents || s.Left.Events != all-maxEvents {
		t.Errorf("%d events, %d left out", len(s.Events), s.Left.Events)
	}
}

// A finding is kept at its strongest, with when it held.
func TestHeld(t *testing.T) {
	found := func(n int, c model.Confidence, work float64) *model.Frame {
		f := frameAt(n)
		if c != "" {
			f.Findings = []model.FindingView{{ID: "T1", Confidence: c, Factor: &model.FactorView{Work: model.Of(work)}}}
			f.Diagnoses = []model.DiagnosisView{{Pool: "p"}}
		}
		return f
	}
	s := told(found(0, "", 0), found(1, model.MediumConfidence, 9), found(2, model.HighConfidence, 2), found(3, model.HighConfidence, 3), found(4, model.HighConfidence, 1),
		found(5, "", 0), found(6, model.LowConfidence, 50))
	if len(s.Findings) != 1 {
		t.Fatalf("%+v", s.Findings)
	}
	h := s.Findings[0]
	if h.At != second(3) || h.Finding.Factor.Work.Value != 3 || h.Diagnosis == nil || len(h.Spans) != 2 || h.Spans[0].To != second(5) || h.Spans[0].Open || !h.Open() {
		t.Errorf("%+v", h)
	}
}

func TestGaps(t *testing.T) {
	silent := func(n int, s model.State) *model.Frame {
		f := frameAt(n)
		f.Targets[0].State = s
		if s == model.Down {
			f.Targets[0].LastGoodAt = second(2)
			f.Targets[0].Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nobody listens"}}
		}
		return f
	}
	set := silent(6, model.Up)
	set.At.Wall = set.At.Wall.Add(-3600e9)
	s := told(silent(0, model.Up), silent(1, model.Up), silent(2, model.Up), silent(3, model.Down), silent(4, model.Down), silent(5, model.Up), set)
	if len(s.Gaps) != 2 {
		t.Fatalf("%+v", s.Gaps)
	}
	g := s.Gaps[0]
	if g.Kind != GapSilent || g.From != second(2) || g.To != second(5) || g.Open || g.Fault != model.Refused || g.Why != "nobody listens" {
		t.Errorf("%+v", g)
	}
	if g := s.Gaps[1]; g.Kind != GapClock || g.Lasted().Hours() != -1 {
		t.Errorf("%+v, by %v", g, g.Lasted())
	}
}

// Events are told once, however many frames list them, and in their order: some are
// told late.
func TestEvents(t *testing.T) {
	e := func(n int, k model.EventKind) model.Event { return model.Event{At: second(n), Kind: k, Target: "x"} }
	f := func(n int, all ...model.Event) *model.Frame {
		f := frameAt(n)
		f.Events = all
		return f
	}
	s := told(f(5, e(4, model.EventRestart)), f(6, e(4, model.EventRestart)), f(7, e(2, model.EventDeploy), e(4, model.EventRestart)), f(8, e(4, model.EventRestart), e(8, model.EventRestart)))
	if len(s.Events) != 3 || s.Events[0].Kind != model.EventDeploy || s.Events[2].At != second(8) {
		t.Errorf("%+v", s.Events)
	}
}

// What there is no room for is counted once, however many frames it is in.
func TestLeftOutOnce(t *testing.T) {
	var c Collector
	for n := range 10 {
		f := frameAt(n)
		for i := range maxEpisodes + 3 {
			id := fmt.Sprint("a", i)
			f.Alerts = append(f.Alerts, model.AlertView{ID: model.AlertID(id), State: model.AlertFiring, Since: second(0), FiredAt: second(0)})
			f.Findings = append(f.Findings, model.FindingView{ID: "T1", Pool: model.Text(id)})
			f.Targets = append(f.Targets, model.TargetView{Name: id, State: model.Down})
		}
		c.Take(f)
	}
	left := c.Story().Left
	if left.Alerts != 3 || left.Findings != maxEpisodes+3-maxHeld || left.Gaps != 3+maxEpisodes-maxGaps {
		t.Errorf("%+v", left)
	}
}
