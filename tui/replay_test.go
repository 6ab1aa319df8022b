package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/tui/tuitest"
)

// fakeReplay records what it was asked.
type fakeReplay struct {
	asked  []string
	at     Position
	events []model.Event
}

func (r *fakeReplay) Pause(p bool) {
	r.asked = append(r.asked, fmt.Sprintf("pause %v", p))
	r.at.Paused = p
}
func (r *fakeReplay) Step(n int)            { r.asked = append(r.asked, fmt.Sprintf("step %d", n)) }
func (r *fakeReplay) Seek(to time.Duration) { r.asked = append(r.asked, fmt.Sprintf("seek %v", to)) }
func (r *fakeReplay) Jump(by time.Duration) { r.asked = append(r.asked, fmt.Sprintf("jump %v", by)) }
func (r *fakeReplay) Speed(x float64) {
	r.asked = append(r.asked, fmt.Sprintf("speed %g", x))
	r.at.Speed = x
}
func (r *fakeReplay) Event(by int)          { r.asked = append(r.asked, fmt.Sprintf("event %d", by)) }
func (r *fakeReplay) Position() Position    { return r.at }
func (r *fakeReplay) Events() []model.Event { return r.events }

func TestReplayKeys(t *testing.T) {
	r := &fakeReplay{at: Position{At: 5 * time.Minute, Length: 30 * time.Minute, Speed: 1}}
	h := newHarness(t, tuitest.Calm(), func(o *Options) { o.Replay = r })
	h.shows("REPLAY", "05:00/30:00", "space pause", "●───")
	h.press("space")
	h.shows("paused")
	h.press("space", "]", "[", "{", "}", "<", ">", "home", "end", "g", "+", "+", "-")
	want := "pause true, pause false, step 1, step -1, event -1, event 1, jump -1m0s, jump 1m0s, seek 0s, seek 30m0s, seek 30m0s, speed 2, speed 4, speed 2"
	if got := strings.Join(r.asked, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	h.shows("×2")
	r.asked = nil
	for range 20 {
		h.press("-")
	}
	if got := r.asked[len(r.asked)-1]; got != "speed 0.125" {
		t.Errorf("the slowest is %s", got)
	}
	r.at.Ended, r.asked = true, nil
	h.press("space")
	if got := strings.Join(r.asked, ", "); got != "seek 0s, pause false" {
		t.Errorf("space at the end does %s", got)
	}
}
