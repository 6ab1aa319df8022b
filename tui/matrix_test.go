package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/tuitest"
)

// everyScreen is the seven screens by their keys.
var everyScreen = []struct{ key, name string }{
	{"1", "overview"}, {"2", "latency"}, {"3", "queue"}, {"4", "utilization"}, {"5", "fleet"}, {"6", "alerts"}, {"7", "capacity"},
}

// TestEveryScreenInEveryState keeps each screen at each size, in Unicode and in ASCII,
// as it was last looked at.
func TestEveryScreenInEveryState(t *testing.T) {
	for _, state := range tuitest.States() {
		for _, s := range everyScreen {
			var b strings.Builder
			for _, ascii := range []bool{false, true} {
				h := newHarness(t, state.Frame, func(o *Options) { o.ASCII = ascii })
				h.press(s.key)
				for _, size := range tuitest.Sizes {
					h.resize(size.W, size.H)
					got := h.View().Content
					what := fmt.Sprintf("%s %s at %d×%d, ASCII %v", s.name, state.Name, size.W, size.H, ascii)
					tuitest.Fits(t, what, got, size.W, size.H)
					if ascii {
						onlyASCII(t, what, got)
					}
					fmt.Fprintf(&b, "== %d×%d ascii=%v\n%s\n", size.W, size.H, ascii, ansi.Strip(got))
				}
			}
			tuitest.Golden(t, "matrix/"+s.name+"-"+state.Name, b.String())
		}
	}
}

func onlyASCII(t *testing.T, what, drawing string) {
	t.Helper()
	for l := range strings.SplitSeq(ansi.Strip(drawing), "\n") {
		if i := strings.IndexFunc(l, func(r rune) bool { return r >= 0x80 }); i >= 0 {
			t.Errorf("%s: %q", what, l[i:])
			return
		}
	}
}

// TestTinySizes draws every screen in every size that is smaller than any terminal in
// use, and a little more.
func TestTinySizes(t *testing.T) {
	for _, state := range tuitest.States() {
		h := newHarness(t, state.Frame, nil)
		for _, s := range everyScreen {
			h.press(s.key)
			for w := range 46 {
				for hh := range 16 {
					h.resize(w, hh)
					tuitest.Fits(t, fmt.Sprintf("%s %s at %d×%d", s.name, state.Name, w, hh), h.View().Content, w, max(hh, 1))
				}
			}
		}
	}
}

// TestResizesWhileDataArrives is a window dragged about while every kind of frame comes
// and keys are pressed.
func TestResizesWhileDataArrives(t *testing.T) {
	const seed = 6
	random := rand.New(rand.NewPCG(seed, seed))
	states := append(tuitest.States(), tuitest.All()...)
	keys := []string{"1", "2", "3", "4", "5", "6", "7", "up", "down", "enter", "esc", "pgdown", "end", "?", "tab", "e", "w", "t", "space", "[", "]", "{", "}", "g"}
	h := newHarness(t, tuitest.Calm(), func(o *Options) { o.Ack, o.Mark = func(model.AlertID) {}, func(string) {} })
	for i := range 500 {
		if i%3 == 0 {
			h.frame = states[random.IntN(len(states))].Frame
		}
		w, hh := random.IntN(240), random.IntN(80)
		h.send(tea.WindowSizeMsg{Width: w, Height: hh})
		pressed := keys[random.IntN(len(keys))]
		h.press(pressed)
		h.tick(time.Duration(random.IntN(3000)) * time.Millisecond)
		tuitest.Fits(t, fmt.Sprintf("seed %d, step %d, %q at %d×%d", seed, i, pressed, w, hh), h.View().Content, w, max(hh, 1))
	}
}
