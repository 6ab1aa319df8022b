package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/tui/tuitest"
)

// acting is a screen whose acknowledgements and marks are written down.
func acting(t *testing.T, f *model.Frame) (h *harness, done *[]string) {
	var log []string
	h = newHarness(t, f, func(o *Options) {
		o.Ack = func(id model.AlertID) { log = append(log, "ack "+string(id)) }
		o.Mark = func(name string) { log = append(log, "mark "+name) }
	})
	return h, &log
}

// TestWorkflowOpens: enter on the overview opens the workflow under the cursor,
// and it stays that one when another becomes the worst.
func TestWorkflowOpens(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.press("enter")
	h.shows("▲ chat BREACHED for 4 min 12 s", "since 03:09:55 UTC", "95 % of requests within all of   TTFT 500 ms   TPOT 50 ms", "esc back")
	h.press("esc", "down", "enter")
	h.shows("△ summarize at risk for 2 min 40 s")
	other := tuitest.Breach()
	slices.Reverse(other.Workflows)
	h.frame = other
	h.tick(time.Second)
	h.shows("△ summarize at risk")
	h.press("end")
	h.shows("TARGETS", "vllm-1:8000")
	h.press("up", "home")
	h.shows("95 % of requests within all of")
	h.frame = tuitest.Mixed()
	h.tick(time.Second)
	h.shows("this workflow is no longer served")
	h.press("esc", "esc")
	h.shows("wedged STALLED")
}

// TestAlertScreen: a row an alert with its times, below them what cannot be
// evaluated, the budgets and the log, all reached by the same keys.
func TestAlertScreen(t *testing.T) {
	h := newHarness(t, tuitest.Mixed(), nil)
	h.press("6")
	h.shows("ALERTS", "▲3 firing  △1 warning  ◇1 pending  ?1 unknown  ✓1 resolved ─── UTC ──", "▸▲ firing  page w:8000 stalled", "since 03:13:42  fired 03:13:47",
		"firing  page slow burn  acknowledged", "nothing new known since 03:12:07", "fired 3 times")
	for range 6 {
		h.press("down")
	}
	h.shows("▸✓ resolved  page calm burn", "since 02:52:07  fired 02:53:07  resolved 03:00:07", "last 0.1   worst 6.4   limit 6")
	h.press("end")
	h.shows("LOG", "03:00:07", "ERROR BUDGETS", "3 times")
	h.press("pgup")
	h.shows("CANNOT EVALUATE", "gaps l:8000 tpot", "put the objective on ITL")
	h.press("home")
	h.shows("▸▲ firing  page w:8000 stalled")
	h.press("6", "end", "esc")
	h.shows("wedged STALLED")
}

// TestEveryLineOfTheAlertsIsReached: one press a line at most, down and up again.
func TestEveryLineOfTheAlertsIsReached(t *testing.T) {
	for _, size := range tuitest.Sizes {
		h := newHarness(t, tuitest.Mixed(), nil)
		h.resize(200, 100)
		h.press("6")
		want := strings.Split(h.text(), "\n")
		h.resize(200, size.H)
		seen := h.text()
		for range 60 {
			h.press("down")
			seen += h.text()
		}
		for _, l := range want {
			l = strings.TrimLeft(strings.TrimSpace(l), "▸ ")
			question := strings.HasPrefix(l, "ALERTS & DIAGNOSIS") // for which a small screen has no room
			if l != "" && !question && !strings.Contains(seen, l) {
				t.Errorf("%d lines: never shown: %s", size.H, l)
			}
		}
		for range 60 {
			h.press("up")
		}
		h.shows("▸▲ firing  page w:8000 stalled")
	}
}

// TestNoAlertSaysWhatIsWatched: an empty list is a statement.
func TestNoAlertSaysWhatIsWatched(t *testing.T) {
	f := tuitest.Calm()
	f.Unjudged = []model.Unjudged{{Rule: "burn", Why: "no finish counters"}, {Rule: "kv_full", Target: "b:8000", Why: "not exported"}}
	h := newHarness(t, f, nil)
	h.press("6")
	h.shows("no alert; 12 rules watch 3 workflows; 2 cannot be evaluated", "no finish counters", "b:8000 kv_full", "ERROR BUDGETS")
	h.press("enter")
	h.hides("esc back")
}

// TestOneSwitchOnTheAlertScreen (OC-09): one row for thirty targets that opens to
// their list, and the alerts from before stay below it, unknown because of it.
func TestOneSwitchOnTheAlertScreen(t *testing.T) {
	h := newHarness(t, tuitest.Switch(), nil)
	h.press("6")
	h.shows("▲1 firing  ?6 unknown", "30 of 30 targets down: refused", "30 targets: enter lists them", "? unknown  page user-00000 burn",
		"because: 30 of 30 targets down: refused")
	h.press("enter")
	h.shows("▲ firing target_down", "TARGETS", "✕ vllm-0.pool.example:8000", "down since 03:13:07  refused")
	h.press("end")
	h.shows("vllm-29.pool.example:8000", "LOG")
	h.press("esc")
	h.shows("▸▲ firing")
	back := tuitest.Switch()
	back.Alerts = back.Alerts[:1]
	back.Alerts[0].State, back.Alerts[0].ResolvedAt = model.AlertResolved, back.At.Add(-3*time.Second)
	for i := range back.Targets {
		back.Targets[i].State = model.Up
	}
	for i := range back.Workflows {
		back.Workflows[i].Condition = model.IsMet
	}
	h.frame = back
	h.press("1")
	h.tick(time.Second)
	h.shows("✓ 30 back after 52 s: 30 of 30 targets down")
	back.At = back.At.Add(2 * time.Minute)
	later := *back
	h.frame = &later
	h.tick(time.Second)
	h.hides("30 back")
}

// TestAcknowledge: the alert under the cursor, and only what still stands.
func TestAcknowledge(t *testing.T) {
	h, done := acting(t, tuitest.Mixed())
	h.press("a")
	h.shows("6 shows the alerts")
	h.press("6", "a")
	h.shows("acknowledged: it no longer calls")
	h.press("down", "down", "a")
	h.shows("no longer acknowledged")
	h.press("enter", "a", "esc", "down", "down", "down", "down", "a")
	h.shows("resolved: nothing to acknowledge")
	if got := fmt.Sprint(*done); got != "[ack stalled/w ack burn/slow ack burn/slow]" {
		t.Errorf("asked for %s", got)
	}
	h.frame = tuitest.Calm()
	h.tick(time.Second)
	h.press("a")
	h.shows("no alert to acknowledge")
	h.press("1")
	none := newHarness(t, tuitest.Mixed(), nil)
	none.press("6", "a")
	none.hides("acknowledge  ", "6 shows")
}

// TestAcknowledgedIsQuiet: on the overview an acknowledged alert is a word, no line
// of its own and no number.
func TestAcknowledgedIsQuiet(t *testing.T) {
	f := tuitest.Breach()
	h := newHarness(t, f, nil)
	h.shows("△ summarize: 10 %", "6 alerts ▲2")
	taken := tuitest.Breach()
	for i := range taken.Alerts {
		taken.Alerts[i].Acknowledged = true
	}
	h.frame = taken
	h.tick(time.Second)
	h.shows("chat BREACHED for 4 min 12 s, acknowledged")
	h.hides("△ summarize: 10 %", "alerts ▲")
}

// TestMark: m asks for a name; nothing typed means the next number.
func TestMark(t *testing.T) {
	h, done := acting(t, tuitest.LoadTest())
	h.press("m")
	h.shows("stage ▏stage 4", "enter mark", "esc cancel")
	h.press("enter")
	h.shows("marked stage 4")
	h.press("m", "2", "0", "x", "backspace", "space", "q", "enter")
	h.press("m", "x", "esc", "m", "space", "enter")
	if got := fmt.Sprintf("%q", *done); got != `["mark stage 4" "mark 20 q" "mark stage 4"]` {
		t.Errorf("marked %s", got)
	}
	h.shows("BREACHED")
	h.press("q")
	still, _ := acting(t, tuitest.Calm())
	still.press("space", "m", "x")
	still.shows("stage x▏", "enter mark now, not then")
	still.press("enter")
	still.shows("marked x now, not then")
	first, _ := acting(t, tuitest.Calm())
	first.press("m")
	first.shows("stage 1")
	none := newHarness(t, tuitest.Calm(), nil)
	none.press("m")
	none.hides("enter mark")
}

// TestStageNamesDiffer: a name that somebody chose is not given again.
func TestStageNamesDiffer(t *testing.T) {
	f := &model.Frame{Stages: []model.StageView{{Name: "stage 2"}}}
	if got := stageName(f); got != "stage 3" {
		t.Errorf("after stage 2 comes %q", got)
	}
}

// TestTyping: backspace takes what people see as one sign, and a paste is typed, not
// pressed.
func TestTyping(t *testing.T) {
	h, done := acting(t, tuitest.Calm())
	h.press("m")
	for _, text := range []string{"a", "🇩🇪", "é", "👩‍🔬", "\xff"} {
		h.send(tea.KeyPressMsg{Code: 'x', Text: text})
	}
	for _, left := range []string{"a🇩🇪é👩‍🔬", "a🇩🇪é", "a🇩🇪", "a", "", ""} {
		h.press("backspace")
		if h.input != left {
			t.Fatalf("left %q, want %q", h.input, left)
		}
	}
	h.send(tea.PasteMsg{Content: "\nload\x1b 20\nq"})
	h.press("enter")
	h.send(tea.PasteMsg{Content: "5q"})
	if got := fmt.Sprintf("%q", *done); got != `["mark load 20"]` || h.screen != overview {
		t.Errorf("marked %s, screen %d", got, h.screen)
	}
	h.press("/")
	h.send(tea.PasteMsg{Content: strings.Repeat("検", 100)})
	if want := strings.Repeat("検", maxTyped/3); h.view.Filter != want {
		t.Errorf("filters by %d bytes, want %d", len(h.view.Filter), len(want))
	}
}
