package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/tui/tuitest"
)

// TestFindingsOnScreen: one cursor over findings and alerts, enter opens either, and
// an alert is acknowledged as ever.
func TestFindingsOnScreen(t *testing.T) {
	h, done := acting(t, tuitest.Arrivals())
	h.shows("because  arrivals ×3.6, all chat", "try      add a replica: load factor 1.46 → 0.73")
	h.press("6", "a")
	h.shows("acknowledged: it no longer calls")
	h.press("home")
	h.shows("▸● cause    T1   more arrivals than service", "▸ arrival rate", "ALERTS")
	h.press("a")
	h.shows("a finding is not acknowledged")
	h.hides("a acknowledge")
	h.press("enter")
	h.shows("T1  more arrivals than service", "confidence high", "would change my mind: flat arrivals", "3 check the retry share first")
	h.press("down", "esc")
	h.shows("▸● cause    T1")
	h.press("down", "enter")
	h.shows("T6  requests are prefilled twice", "preemptions 0.0 → 1.0 /s")
	h.press("esc", "down", "enter")
	h.shows("▲ firing burn of chat")
	h.press("esc", "a")
	h.shows("acknowledged: it no longer calls")
	h.press("up", "enter")
	h.frame = tuitest.Breach()
	h.tick(time.Second)
	h.shows("this finding is over")
	h.press("esc")
	h.shows("▸▲ firing  page chat burn")
	if got := fmt.Sprint(*done); got != "[ack burn/chat ack burn/chat]" {
		t.Errorf("asked for %s", got)
	}
}

// TestEveryFindingIsReached: down from the first to the last alert, and up again.
func TestEveryFindingIsReached(t *testing.T) {
	for _, size := range tuitest.Sizes {
		h := newHarness(t, tuitest.ManyFindings(), nil)
		h.resize(size.W, size.H)
		h.press("6")
		seen := h.text()
		for range 60 {
			h.press("down")
			seen += h.text()
		}
		for _, id := range []string{"T1 ", "T10", "T9"} {
			if !strings.Contains(seen, id) {
				t.Errorf("%d lines: %s is never shown", size.H, id)
			}
		}
		for range 120 {
			h.press("up")
		}
		h.shows("▸● ")
	}
}
