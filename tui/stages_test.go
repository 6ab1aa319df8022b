package tui

import (
	"testing"
	"time"

	"slotop/model"
	"slotop/tui/tuitest"
)

// TestStagesKeys: c lists the stages, enter chooses two, c compares with the one before,
// esc leads back one thing a press.
func TestStagesKeys(t *testing.T) {
	h, _ := acting(t, tuitest.LoadTest())
	h.resize(200, 30)
	h.shows("c stages")
	h.resize(100, 30)
	h.press("c")
	h.shows("STAGES of bench", "A warm-up", "▸C stage 3", "enter chooses the first of two", "esc back")
	h.press("up", "up", "enter")
	h.shows("▸A*warm-up", "enter compares with A warm-up")
	h.press("down", "down", "enter")
	h.shows("COMPARE  C stage 3 against A warm-up", "! TTFT p95", "higher, worse", "~ E2E p95", "? TTFT p99: 300 and 900 requests")
	h.press("pgdown")
	h.press("esc")
	h.shows("STAGES of bench", "A*warm-up")
	h.press("up", "c")
	h.shows("COMPARE  B 10 users against A warm-up")
	h.press("c", "up", "c")
	h.shows("there is none before it to compare with")
	h.press("esc")
	h.shows("BREACHED")
	h.press("c", "2")
	h.hides("STAGES")
}

// TestStagesFollowTheFrame: the list is of the instant that is shown, and a stage that is
// not there any more is said to be gone.
func TestStagesFollowTheFrame(t *testing.T) {
	h, _ := acting(t, tuitest.LoadTest())
	h.press("c", "c")
	h.shows("COMPARE  C stage 3 against B 10 users")
	next := tuitest.LoadTest()
	next.Stages = next.Stages[:2]
	h.frame = next
	h.tick(time.Second)
	h.shows("one of the two stages is not there at this time")
	h.press("esc")
	h.shows("STAGES of bench", "▸B 10 users")
	none := tuitest.Calm()
	none.Stages = []model.StageView{}
	h.frame = none
	h.tick(time.Second)
	h.shows("no stage is marked", "m marks one")
	h.press("enter", "up", "down", "right", "tab", "c")
	h.shows("no stage is marked")
}

// TestStagesWorkflows: the arrows lead through all workflows.
func TestStagesWorkflows(t *testing.T) {
	f := tuitest.LoadTest()
	other := f.Stages[1].Workflows[0]
	other.Name = "another"
	f.Stages[1].Workflows = append(f.Stages[1].Workflows, other)
	h, _ := acting(t, f)
	h.press("c")
	h.shows("STAGES of bench", "workflow 2 of 2")
	h.press("right")
	h.shows("STAGES of another", "workflow 1 of 2")
	h.press("right")
	h.shows("STAGES of bench")
	h.press("left")
	h.shows("STAGES of another")
}
