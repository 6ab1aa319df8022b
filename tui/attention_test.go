package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/tuitest"
)

var everySignal = Attention{Bell: true, Title: true, Desktop: true}

// next shows a frame and returns what it writes beside the screen.
func (h *harness) next(f *model.Frame) string {
	h.t.Helper()
	h.frame = f
	cmd := h.tick(time.Second)
	if cmd == nil {
		return ""
	}
	raw, ok := cmd().(tea.RawMsg)
	if !ok {
		h.t.Fatalf("a frame leads to %T", cmd())
	}
	return raw.Msg.(string)
}

func calling(t *testing.T, s Attention) *harness {
	return newHarness(t, tuitest.Calm(), func(o *Options) { o.Signals, o.Ack = s, func(model.AlertID) {} })
}

// TestACallComesOnce: what newly fires rings once, and again only when it fires
// again.
func TestACallComesOnce(t *testing.T) {
	h := calling(t, everySignal)
	got := h.next(tuitest.Breach())
	if got != "\a\x1b]9;slotop, simulated: chat: 98 % of requests miss an objective: 19.6 times the budget over 5 min\x1b\\" {
		t.Errorf("a page calls with %q", got)
	}
	for range 5 {
		if got := h.next(tuitest.Breach()); got != "" {
			t.Errorf("the same page calls again: %q", got)
		}
	}
	over := tuitest.Breach()
	over.Alerts[0].State = model.AlertResolved
	if got := h.next(over); got != "" {
		t.Errorf("a recovery calls: %q", got)
	}
	again := tuitest.Breach()
	again.Alerts[0].Times = 2
	if got := h.next(again); !strings.HasPrefix(got, "\a") {
		t.Error("a page that fires again does not call")
	}
	missed := tuitest.Breach()
	missed.Alerts[0].Times = 3 // it was over and fired again between two frames
	if got := h.next(missed); !strings.HasPrefix(got, "\a") {
		t.Error("a page that fired again unseen does not call")
	}
}

// TestWhatDoesNotCall: warnings, what is pending, unknown, explained by another
// alert or acknowledged.
func TestWhatDoesNotCall(t *testing.T) {
	for name, change := range map[string]func(*model.AlertView){
		"warning":      func(a *model.AlertView) { a.Severity = model.Warn },
		"pending":      func(a *model.AlertView) { a.State = model.AlertPending },
		"unknown":      func(a *model.AlertView) { a.State = model.AlertUnknown },
		"explained":    func(a *model.AlertView) { a.Cause = "down" },
		"acknowledged": func(a *model.AlertView) { a.Acknowledged = true },
	} {
		f := tuitest.Breach()
		change(&f.Alerts[0])
		if got := calling(t, everySignal).next(f); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestOneBellForOneSwitch (OC-09): thirty targets down are one call, whatever the
// group's severity, and what is unknown because of it adds none.
func TestOneBellForOneSwitch(t *testing.T) {
	for _, s := range []model.Severity{model.Page, model.Warn} {
		h := calling(t, everySignal)
		rang := 0
		for range 5 {
			f := tuitest.Switch()
			f.Alerts[0].Severity = s
			rang += strings.Count(h.next(f), "\a")
		}
		if rang != 1 {
			t.Errorf("severity %s: %d bells", s, rang)
		}
		h.shows("30 of 30 targets down since 03:13:07", "6 alerts ▲1")
	}
}

// TestEachSignalHasItsSwitch: bell, notification and title are chosen one by one.
func TestEachSignalHasItsSwitch(t *testing.T) {
	for _, tc := range []struct {
		s           Attention
		bell, osc   bool
		before, now string
	}{
		{Attention{}, false, false, "", ""},
		{Attention{Bell: true}, true, false, "", ""},
		{Attention{Desktop: true}, false, true, "", ""},
		{Attention{Title: true}, false, false, "slotop", "▲ chat BREACHED — slotop (simulated)"},
	} {
		h := calling(t, tc.s)
		if got := h.View().WindowTitle; got != tc.before {
			t.Errorf("%+v: calm, the title is %q", tc.s, got)
		}
		got := h.next(tuitest.Breach())
		if strings.Contains(got, "\a") != tc.bell || strings.Contains(got, "\x1b]9;") != tc.osc {
			t.Errorf("%+v calls with %q", tc.s, got)
		}
		if got := h.View().WindowTitle; got != tc.now {
			t.Errorf("%+v: the title is %q", tc.s, got)
		}
		h.next(tuitest.Calm())
		if got := h.View().WindowTitle; got != tc.before {
			t.Errorf("%+v: after the recovery the title is %q", tc.s, got)
		}
	}
}

// TestMute: a key silences the session; what began meanwhile does not ring later.
func TestMute(t *testing.T) {
	h := calling(t, everySignal)
	h.press("b")
	h.shows("muted")
	if got := h.next(tuitest.Breach()); got != "" {
		t.Errorf("muted, it calls: %q", got)
	}
	h.press("b")
	if got := h.next(tuitest.Breach()); got != "" {
		t.Errorf("an old page calls late: %q", got)
	}
	h.frame = tuitest.Calm()
	h.tick(time.Second)
	if got := h.next(tuitest.Breach()); got == "" {
		t.Error("after the second press nothing calls")
	}
	none := newHarness(t, tuitest.Calm(), nil)
	none.press("b")
	none.hides("muted")
}

// TestTheFrozenPictureCalls: collection goes on behind it, and so do calls and the
// title.
func TestTheFrozenPictureCalls(t *testing.T) {
	h := calling(t, everySignal)
	h.press("space")
	if got := h.next(tuitest.Breach()); got == "" {
		t.Error("behind a frozen picture nothing calls")
	}
	h.shows("FROZEN", "all 3 workflows met")
	if got := h.View().WindowTitle; !strings.Contains(got, "chat BREACHED") {
		t.Errorf("the title is that of the frozen picture: %q", got)
	}
}

// TestAReplayNeverCalls: what it shows is over.
func TestAReplayNeverCalls(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), func(o *Options) { o.Replay, o.Signals = &fakeReplay{}, everySignal })
	if got := h.next(tuitest.Breach()); got != "" {
		t.Errorf("a replay calls: %q", got)
	}
	if got := h.View().WindowTitle; got != "slotop replay" {
		t.Errorf("the title of a replay is %q", got)
	}
}

// TestForeignTextInACall (OC-11): whatever a name or a sentence holds, title and
// notification are plain text, and short.
func TestForeignTextInACall(t *testing.T) {
	f := tuitest.Hostile()
	bad := "\x1b]0;owned\a\x1b[2J\r\n\u202e4;1;100\x9c" + strings.Repeat("x", 500)
	f.Workflows[0].Name, f.Workflows[0].Condition = bad, model.IsMissed
	for i := range f.Alerts {
		a := &f.Alerts[i]
		a.State, a.Workflow, a.Text, a.Cause = model.AlertFiring, model.Text(bad), bad, ""
	}
	h := calling(t, everySignal)
	got := h.next(f)
	text, ok := strings.CutPrefix(got, "\a\x1b]9;slotop: ")
	text, end := strings.CutSuffix(text, "\x1b\\")
	if !ok || !end || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) || len(text) > maxCall {
		t.Errorf("the notification is %q", got)
	}
	title := h.View().WindowTitle
	if s := tuitest.Obeyed(title); s != "" || ansi.StringWidth(title) > maxCall {
		t.Errorf("the title holds %s: %q", s, title)
	}
}

// TestCallsOnTheWire: a real program writes one bell and one notification, and
// nothing while nothing is new.
func TestCallsOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runWith(t, 80, 24, tuitest.Calm(), everySignal)
		s.show(tuitest.Calm())
		if got := s.take(); !strings.Contains(got, "\x1b]2;slotop\a") || strings.Contains(got, "\x1b]9;") {
			t.Errorf("calm, the terminal was sent %q", got)
		}
		s.show(tuitest.Breach())
		got := s.take()
		if n := strings.Count(got, "\x1b]9;"); n != 1 {
			t.Errorf("%d notifications", n)
		}
		if n := strings.Count(strings.ReplaceAll(got, "(simulated)\a", ""), "\a"); n != 1 {
			t.Errorf("%d bells in %q", n, got)
		}
		if !strings.Contains(got, "\x1b]2;▲ chat BREACHED — slotop (simulated)\a") {
			t.Error("the title does not say who is hurt")
		}
		s.show(s.latest())
		if got := s.take(); len(got) > 1 {
			t.Errorf("nothing new: %q", got)
		}
		s.quit(t)
	})
}
