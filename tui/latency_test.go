package tui

import (
	"testing"

	"slotop/tui/tuitest"
)

// TestLatencyScreen: a key charts the next latency and the cursor keys lead to the next
// workflow; anywhere else the key says where it does something, as the one that sorts.
func TestLatencyScreen(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.press("o")
	if h.view.Metric != "" {
		t.Error("the overview charts another latency")
	}
	h.shows("2 shows what it charts")
	h.press("s")
	h.shows("5 shows rows to sort")
	h.press("2")
	h.shows("chat BREACHED", "1 of 3 workflows", "▸  TTFT", "HEAT TTFT", "o metric")
	h.press("o")
	h.shows("▸  TPOT", "HEAT TPOT", "charting TPOT")
	h.press("down")
	h.shows("summarize at risk", "2 of 3 workflows", "▸  TPOT")
	h.press("o", "o", "o")
	h.shows("▸  TTFT", "── TTFT summarize")
	h.press("enter")
	h.shows("OBJECTIVES")
	h.press("esc")
	h.shows("2 of 3 workflows")
}
