package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/tuitest"
)

// The cases here were reported from the field: each once misled somebody.

// TestForeignTextIsShownNotObeyed (OC-11): names, details and excerpts full of
// escape sequences. On no screen does a byte of them reach the terminal.
func TestForeignTextIsShownNotObeyed(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		h := newHarness(t, tuitest.Hostile(), func(o *Options) { o.ASCII = ascii })
		for _, size := range tuitest.Sizes {
			h.resize(size.W, size.H)
			for _, f := range h.frame.Targets {
				h.press("1")
				check := func(what string) {
					t.Helper()
					tuitest.Fits(t, fmt.Sprintf("%s at %d×%d ascii=%v", what, size.W, size.H, ascii), h.View().Content, size.W, size.H)
				}
				check("overview")
				h.press("5")
				check("fleet")
				h.view.Target = f.ID
				h.press("enter")
				check("target")
				h.press("pgdown")
				check("target, scrolled")
				h.press("esc")
			}
		}
	}
	h := newHarness(t, tuitest.Hostile(), nil)
	h.resize(200, 60)
	h.shows("acme␛]0;owned", `acme\u202egnp.70b␍0 OK`, `aGk=␇\x9b5m`, "#1␤")
	for _, n := range []string{"3", "2", "1"} {
		h.shows("  " + n + "      0   14 %")
	}
}

// TestColumnsStayAlignedUnderWideNames: whatever the name, the columns behind it
// stand at the same cell.
func TestColumnsStayAlignedUnderWideNames(t *testing.T) {
	h := newHarness(t, tuitest.Hostile(), nil)
	h.resize(200, 60)
	at := -1
	for _, l := range strings.Split(h.text(), "\n") {
		before, _, ok := strings.Cut(l, "met ")
		if !ok || !strings.Contains(l, "✓") || strings.Contains(l, "workflows met") {
			continue
		}
		if w := ansi.StringWidth(before); at >= 0 && w != at {
			t.Errorf("the state stands at cell %d, before at %d: %q", w, at, l)
		} else {
			at = w
		}
	}
	if at < 0 {
		t.Error("no row found")
	}
}

var anyColour = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])\b`)

// TestStatesWithoutColour (OC-17): with NO_COLOR there is no colour sequence; the
// states differ by word and mark and stand worst first, with colours or without.
func TestStatesWithoutColour(t *testing.T) {
	for _, o := range []func(*Options){
		nil,
		func(o *Options) { o.NoColour = true },
		func(o *Options) { o.Theme = "light" },
	} {
		h := newHarness(t, tuitest.Mixed(), o)
		h.resize(120, 40)
		h.press("5")
		s := h.View().Content
		if o != nil && h.opt.NoColour && anyColour.MatchString(s) {
			t.Errorf("NO_COLOR shows %q", anyColour.FindString(s))
		}
		if o == nil && !anyColour.MatchString(s) {
			t.Error("the default has no colour: the test above proves nothing")
		}
		rest := ansi.Strip(s)
		for _, row := range []string{"✕ d:8000 ", "■ w:8000 ", "◌ s:8000 ", "… new:8000 ", "● a:8000 ", "○ i:8000 "} {
			_, after, ok := strings.Cut(rest, row)
			if !ok {
				t.Errorf("%q is not below the rows before it:\n%s", row, ansi.Strip(s))
				break
			}
			rest = after
		}
		for _, word := range []string{"down", "STALLED", "stale", "starting", "up", "idle"} {
			if !strings.Contains(s, word) {
				t.Errorf("no word %q", word)
			}
		}
		h.press("t")
		if o != nil && h.opt.NoColour && anyColour.MatchString(h.View().Content) {
			t.Error("a key brought the colours back")
		}
	}
}

// TestOneSwitchDies (OC-09): thirty targets refused at once are one line, and
// the screen still has 24 lines.
func TestOneSwitchDies(t *testing.T) {
	f := tuitest.Fleet(6, 30)
	for i := range f.Targets {
		x := &f.Targets[i]
		x.State, x.Since = model.Down, f.At.Add(-time.Minute)
		x.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nothing listens there"}}
	}
	h := newHarness(t, f, nil)
	h.shows("30 of 30 targets down since 03:13:07", "30 refused")
	if n := strings.Count(h.text(), "targets down"); n != 1 {
		t.Errorf("told %d times", n)
	}
	tuitest.Fits(t, "thirty down", h.View().Content, 80, 24)
}

// TestNoTrafficIsNotZero (OC-14, OC-19): no request reads "n=0", not exported
// reads so, and neither is a percentile of 0.
func TestNoTrafficIsNotZero(t *testing.T) {
	h := newHarness(t, tuitest.Mixed(), nil)
	h.resize(200, 60)
	line := func(name string) string {
		for _, l := range strings.Split(h.text(), "\n") {
			if strings.Contains(l, " "+name+" ") {
				return l
			}
		}
		return ""
	}
	if l := line("still"); !strings.Contains(l, "no traffic") || !strings.Contains(l, "n=0") || strings.Contains(l, "0 ms") && !strings.Contains(l, "50 ms") {
		t.Errorf("an idle workflow reads %q", l)
	}
	if l := line("bare"); !strings.Contains(l, "n/e") || !strings.Contains(l, "cannot") {
		t.Errorf("a workflow without metrics reads %q", l)
	}
	h.press("end", "esc")
	h.shows("not exported")
}

// TestManyWorkflows (OC-27): fifty thousand rows are grouped, and the screen draws
// the rows that fit.
func TestManyWorkflows(t *testing.T) {
	h := newHarness(t, tuitest.Fleet(50_000, 3), nil)
	h.shows("+ 49997 more")
	h.press("down", "down")
	h.shows("▸")
	tuitest.Fits(t, "many", h.View().Content, 80, 24)
}

// TestMouseAndCopy (OC-36): the mouse is off unless asked for, and keys give the screen
// and the selected row as text.
func TestMouseAndCopy(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	if h.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is on by default")
	}
	h.press("M")
	if h.View().MouseMode != tea.MouseModeNone {
		t.Error("a key switches on a mouse that nobody asked for")
	}
	cmd := h.press("ctrl+y")
	if cmd == nil {
		t.Fatal("ctrl+y copies nothing")
	}
	text := fmt.Sprint(cmd())
	for _, want := range []string{"chat BREACHED for 4 min 12 s", "vllm-1:8000"} {
		if !strings.Contains(text, want) {
			t.Errorf("the copy lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") || strings.Contains(text, " \n") || strings.Contains(text, "────────────────────────────────────────────────────────────────────────────────\n") {
		t.Errorf("the copy has styles, blanks or borders:\n%s", text)
	}
	h.shows("copied")
	if again := h.press("y"); again == nil || !strings.Contains(fmt.Sprint(again()), "vllm-1:8000") {
		t.Error("where nothing is selected y does not copy the screen")
	}
	h.press("down")
	if row := fmt.Sprint(h.press("y")()); !strings.Contains(row, "WORKFLOW: summarize\n") || strings.ContainsAny(row, "\x1b─│") {
		t.Errorf("the selected row is copied as %q", row)
	}

	on := newHarness(t, tuitest.Mixed(), func(o *Options) { o.Mouse = true })
	if on.View().MouseMode == tea.MouseModeNone {
		t.Error("the mouse was asked for and is off")
	}
	on.press("5")
	on.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	on.shows("▸■ w:8000")
	on.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	on.shows("▸✕ d:8000")
	on.press("M")
	if on.View().MouseMode != tea.MouseModeNone {
		t.Error("M does not switch the mouse off")
	}
	on.shows("mouse off")
	on.press("M")
	on.shows("mouse on")
}
