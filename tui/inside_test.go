package tui

import (
	"strings"
	"testing"

	"slotop/tui/tuitest"
)

func TestEnginesInsideByKey(t *testing.T) {
	h := newHarness(t, tuitest.Mixed(), nil)
	h.resize(120, 40)
	shown := func() bool { return strings.Contains(h.View().Content, "├ 0") }
	h.press("x")
	if !shown() {
		t.Errorf("the key does not lead to the engines:\n%s", h.View().Content)
	}
	h.press("x")
	if shown() {
		t.Error("the engines stay")
	}
	h.press("1", "x")
	if !shown() {
		t.Error("from another screen the key hides what it should show")
	}
	calm := newHarness(t, tuitest.Calm(), nil)
	calm.resize(120, 40)
	calm.press("x")
	if got := calm.View().Content; !strings.Contains(got, "no target tells its engines apart") {
		t.Errorf("the key does nothing and says nothing:\n%s", got)
	}
}
