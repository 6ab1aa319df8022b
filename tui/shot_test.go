package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"

	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

func TestPicture(t *testing.T) {
	var shots []Shot
	fail := error(nil)
	h := newHarness(t, tuitest.Breach(), func(o *Options) {
		o.Picture = func(s Shot) (string, error) {
			shots = append(shots, s)
			return "somewhere.svg", fail
		}
	})
	h.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	poor := h.View().Content
	cmd := h.press("p")
	if len(shots) != 0 {
		t.Fatal("the picture is made while the key waits")
	}
	h.send(cmd())
	if len(shots) != 1 {
		t.Fatalf("%d pictures", len(shots))
	}
	s := shots[0]
	if s.Size != (layout.Size{W: 80, H: 24}) || !s.At.Equal(h.frame.At.Wall) || s.Back != "#1e1e1e" {
		t.Errorf("got %+v", Shot{Size: s.Size, At: s.At, Back: s.Back})
	}
	if ansi.Strip(s.Screen) != ansi.Strip(poor) {
		t.Error("the picture shows another screen")
	}
	if !strings.Contains(s.Screen, "38;2;") || strings.Contains(poor, "38;2;") {
		t.Error("the colours of a picture are those of the theme, whatever the terminal has")
	}
	if got := h.View().Content; !strings.Contains(ansi.Strip(got), "wrote somewhere.svg") || strings.Contains(got, "38;2;") {
		t.Errorf("afterwards the screen is\n%s", ansi.Strip(got))
	}
	fail = errors.New("picture: no space left")
	h.send(h.press("p")())
	if got := ansi.Strip(h.View().Content); !strings.Contains(got, "picture: no space left") {
		t.Errorf("the error is not said:\n%s", got)
	}
}

func TestNoPicture(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	if cmd := h.press("p"); cmd != nil {
		t.Error("a picture where there are none")
	}
	h.resize(120, 70)
	h.press("?")
	if got := ansi.Strip(h.View().Content); strings.Contains(got, "picture: SVG") {
		t.Error("the help names a key that does nothing")
	}
}

func TestScreensAreNamed(t *testing.T) {
	got := strings.Join(Screens(), " ")
	if got != "overview latency queue util fleet alerts capacity" {
		t.Errorf("got %s", got)
	}
}

// TestOnePictureAtATime: a held key makes no queue of them, and what the footer says of
// one is not on the next.
func TestOnePictureAtATime(t *testing.T) {
	made := 0
	h := newHarness(t, tuitest.Calm(), func(o *Options) {
		o.Picture = func(s Shot) (string, error) {
			if made++; strings.Contains(s.Screen, "picture") || strings.Contains(s.Screen, "wrote") {
				t.Errorf("picture %d shows what was said", made)
			}
			return "a.svg", nil
		}
	})
	cmd := h.press("p")
	h.shows("making a picture")
	if h.press("p") != nil {
		t.Error("two at a time")
	}
	h.shows("still making the last picture")
	h.send(cmd())
	h.shows("wrote a.svg")
	h.send(h.press("p")())
	if made != 2 {
		t.Errorf("%d pictures", made)
	}
}
