package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/model/glossary"
	"slotop/tui/layout"
	"slotop/tui/panes"
	"slotop/tui/tuitest"
)

// pictures are the frames that the cursor is tried on, and the keys that lead to every
// screen and to every page of one.
func pictures() []tuitest.Named {
	return slices.Concat(tuitest.All(), tuitest.Findings(), tuitest.Uses())
}

var ways = [][]string{
	{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"1", "enter"}, {"4", "enter"}, {"5", "enter"}, {"6", "enter"}, {"?"}, {"?", "e"}, {"?", "e", "enter"},
}

// everywhere draws frames, one of so many, on every screen in some sizes.
func everywhere(t *testing.T, one int, sizes [][2]int, do func(t *testing.T, h *harness, what string)) {
	for i, named := range pictures() {
		if i%one > 0 {
			continue
		}
		for _, ascii := range []bool{false, true} {
			if ascii && i%5 > 0 { // it says the same with other signs
				continue
			}
			h := newHarness(t, named.Frame, func(o *Options) { o.ASCII, o.Mouse = ascii, true })
			for _, keys := range ways {
				h.press("1", "esc", "esc")
				h.press(keys...)
				for _, size := range sizes {
					h.resize(size[0], size[1])
					do(t, h, fmt.Sprintf("%s %v %v %dx%d", named.Name, keys, ascii, size[0], size[1]))
				}
			}
		}
	}
}

var allSizes = [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}}

// TestMarksChangeNothing: what is drawn with marks is, without them, what is drawn
// without, to the byte; and every number is in the glossary.
func TestMarksChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	everywhere(t, 1, allSizes, func(t *testing.T, h *harness, what string) {
		d := h.scene()
		d.look.Spots = false
		want := h.compose(d)
		d.look.Spots = true
		got, spots := panes.Unmark(h.compose(d))
		if got != want {
			t.Errorf("%s: marks change the drawing:\n%s", what, differ(want, got))
		}
		for _, s := range spots {
			if _, ok := glossary.Find(s.Topic); s.Number() && !ok {
				t.Errorf("%s: %q of %q is not in the glossary", what, s.Topic, s.Of)
			}
		}
	})
}

func differ(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\n got %q\nwant %q", i+1, g[i], w[i])
		}
	}
	return "lines"
}

// TestTabVisitsEveryNumber: tab comes to each number of a screen once, and the number
// under the cursor is the one that is drawn reversed.
func TestTabVisitsEveryNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	everywhere(t, 3, [][2]int{{100, 30}}, func(t *testing.T, h *harness, what string) {
		if h.help || h.over != overNothing {
			return
		}
		all := h.numbers()
		seen := map[panes.Spot]bool{}
		for range all {
			h.press("tab")
			i := h.under(all)
			if i < 0 {
				t.Fatalf("%s: the cursor is on no number", what)
			}
			seen[all[i]] = true
			if got := reversed(h.View().Content); got != all[i].Text && got != "["+all[i].Text && got != "["+all[i].Text+"]" && got != all[i].Text+"]" {
				t.Fatalf("%s: %q is reversed, the cursor is on %q", what, got, all[i].Text)
			}
		}
		if len(seen) != len(all) {
			t.Errorf("%s: %d of %d numbers visited", what, len(seen), len(all))
		}
		h.point = pointer{}
	})
}

// reversed is what is drawn reversed.
func reversed(s string) string {
	_, after, _ := strings.Cut(s, "\x1b[7m")
	text, _, _ := strings.Cut(after, "\x1b[")
	return text
}

// TestEveryNumberIsExplained: of any number of any frame there is something to say, and
// it fits.
func TestEveryNumberIsExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	seen := map[string]bool{} // two rows of a table are explained alike
	everywhere(t, 1, [][2]int{{120, 40}}, func(t *testing.T, h *harness, what string) {
		if h.help || h.over != overNothing {
			return
		}
		frame, _, _ := strings.Cut(what, " ")
		for _, s := range h.numbers() {
			key := fmt.Sprint(frame, s.Topic, s.Text, h.opt.ASCII)
			if seen[key] {
				continue
			}
			seen[key] = true
			e := panes.Explain{About: s.About, Shown: s.Text}
			for _, size := range allSizes {
				tuitest.Fits(t, what+" "+s.Topic, e.Render(h.frame, layout.Size{W: size[0], H: size[1]}, panes.Look{Inks: h.inks, ASCII: h.opt.ASCII}), size[0], size[1])
			}
		}
	})
}

// TestArrowsMoveOverNumbers: down a column and along a row, and esc leaves the numbers.
func TestArrowsMoveOverNumbers(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	at := func(topic, of string) {
		t.Helper()
		if want := (panes.About{Topic: topic, Of: of}); h.point.at != want {
			t.Errorf("the cursor is on %v, not on %v", h.point.at, want)
		}
	}
	h.press("tab")
	for range 40 {
		if h.point.at.Topic == "ttft.p95" {
			break
		}
		h.press("tab")
	}
	first, names := h.point.at, panes.WorkflowOrder(h.frame)
	at("ttft.p95", names[0])
	h.press("down")
	at("ttft.p95", names[1])
	h.press("right")
	at("ttft.max", names[1])
	h.press("left", "up")
	if h.point.at != first {
		t.Errorf("the way back leads to %v", h.point.at)
	}
	h.press("down")
	later := *h.frame
	later.Workflows = slices.Clone(later.Workflows)
	later.Workflows[0], later.Workflows[1] = later.Workflows[1], later.Workflows[0]
	h.Model.newest = &later
	all := h.numbers()
	if i := h.under(all); i < 0 || all[i].Of != names[1] || all[i].Topic != "ttft.p95" {
		t.Errorf("rows moved and the cursor did not stay on its number")
	}
	h.press("esc")
	if h.point.on || strings.Contains(h.View().Content, "\x1b[7m") {
		t.Error("esc does not leave the numbers")
	}
	h.press("down")
	if h.view.Workflow == "" {
		t.Error("without a cursor on numbers down moves no row")
	}
}

// TestExplain goes from a number to its explanation, to the next one, and back.
func TestExplain(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.press("e")
	h.shows("WHAT IT IS", "workflow chat", "since when")
	h.press("esc", "tab", "tab", "e")
	h.shows("── goodput", "shown", "0–3 %", "exactly")
	h.press("tab")
	h.shows("burn rate over 5 min", "19.6×")
	h.press("esc")
	h.hides("WHAT IT IS")
	if !h.point.on {
		t.Error("esc closed more than the explanation")
	}
	h.press("2")
	if !h.point.on || h.under(h.numbers()) < 0 {
		t.Error("on another screen the cursor is on no number")
	}
}

// TestGlossary is reached from the help, filtered, and opened.
func TestGlossary(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	h.press("?")
	h.shows("e the glossary of numbers")
	h.press("e")
	h.shows("GLOSSARY", "TTFT, time to first token", "latency")
	h.press("/", "r", "i", "d", "g", "e", "enter")
	h.shows("matching ridge", "ridge point")
	h.press("enter")
	h.shows("── ridge point", "machine balance")
	h.press("esc")
	h.shows("matching ridge")
	h.press("esc")
	h.shows("GLOSSARY", "TTFT, time to first token")
	h.press("esc")
	h.shows("HELP")
	h.press("esc")
	h.hides("HELP")
}

// TestClicksHitWhatIsDrawn: a click on any spot does what stands there, whatever the
// screen.
func TestClicksHitWhatIsDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	everywhere(t, 3, [][2]int{{120, 40}}, func(t *testing.T, h *harness, what string) {
		if h.help || h.over != overNothing {
			return
		}
		d, view, screen := h.point, h.view, h.screen
		open := h.open
		for _, s := range h.spots() {
			h.click(s.X+s.W/2, s.Y)
			switch {
			case s.Number():
				if h.point.at != s.About || !h.point.on {
					t.Errorf("%s: a click on %v leaves the cursor on %v", what, s.About, h.point.at)
				}
			case strings.HasPrefix(s.Topic, panes.MarkRow):
				if h.clicked != s.About {
					t.Errorf("%s: a click on %v took %v", what, s.About, h.clicked)
				}
			}
			h.point, h.view, h.screen, h.open, h.over, h.help, h.clicked = d, view, screen, open, overNothing, false, panes.About{}
			h.typing = panes.NoPrompt
		}
	})
}

func (h *harness) click(x, y int) {
	h.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// spotOf is the first spot of a topic.
func (h *harness) spotOf(topic, of string) panes.Spot {
	h.t.Helper()
	for _, s := range h.spots() {
		if s.Topic == topic && (of == "" || s.Of == of) {
			return s
		}
	}
	h.t.Fatalf("no %s of %q on the screen:\n%s", topic, of, h.text())
	return panes.Spot{}
}

// TestMouseOpensWhatItPoints: a row by two clicks, a screen by its key in the footer, an
// explanation by two clicks on a number; without a mouse nothing.
func TestMouseOpensWhatItPoints(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), func(o *Options) { o.Mouse = true })
	on := func(topic, of string) {
		s := h.spotOf(topic, of)
		h.click(s.X, s.Y)
	}
	on("row.workflow", "summarize")
	if h.view.Workflow != "summarize" || h.open {
		t.Error("one click selects, and opens nothing")
	}
	on("row.workflow", "summarize")
	if !h.open {
		t.Error("the second click opens the row")
	}
	on("key.5", "")
	h.shows("FLEET")
	on("row.target", string(h.frame.Targets[1].ID))
	on("row.target", string(h.frame.Targets[1].ID))
	h.shows("READ FROM")
	on("key.1", "")
	on("goodput", "chat")
	on("goodput", "chat")
	h.shows("── goodput", "WHAT IT IS")
	h.press("1", "esc", "M")
	on("key.5", "")
	h.hides("FLEET")
}

// TestWheelScrollsWhatIsUnderIt: rows of a table, the other table's rows, a text.
func TestWheelScrollsWhatIsUnderIt(t *testing.T) {
	h := newHarness(t, tuitest.ManyUse(), func(o *Options) { o.Mouse = true })
	h.resize(120, 40)
	h.press("4")
	wheel := func(y int) { h.send(tea.MouseWheelMsg{X: 20, Y: y, Button: tea.MouseWheelDown}) }
	engine := panes.UseUnder(h.frame, h.view)
	wheel(5)
	if got := panes.UseUnder(h.frame, h.view); got == engine || got.Device != "" {
		t.Errorf("the wheel over the engines leads to %v", got)
	}
	wheel(37)
	if got := panes.UseUnder(h.frame, h.view); got.Device == "" {
		t.Errorf("the wheel over the GPUs leads to %v", got)
	}
	h.press("?")
	h.resize(80, 12)
	wheel(6)
	if h.scroll == 0 {
		t.Error("the wheel does not scroll the help")
	}
}

// TestCopy: a number, a row, a page, and the screen where nothing is chosen.
func TestCopy(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), func(o *Options) {
		o.Markdown = func(f *model.Frame) string { return "# " + f.Workflows[0].Name + "\n" }
	})
	copied := func(keys ...string) string {
		t.Helper()
		cmd := h.press(keys...)
		if cmd == nil {
			t.Fatalf("%v copies nothing", keys)
		}
		return fmt.Sprint(cmd())
	}
	if got := copied("tab", "tab", "y"); got != "0–3 % (objective 95 %)" {
		t.Errorf("the number was copied as %q", got)
	}
	h.shows("copied 0–3 %")
	if got := copied("esc", "down", "y"); !strings.Contains(got, "WORKFLOW: summarize\n") || !strings.Contains(got, "TTFT SLO: 3 s\n") || !strings.Contains(got, "E2E p95: ") {
		t.Errorf("the row was copied as %q", got)
	}
	h.shows("copied summarize")
	if got := copied("enter", "y"); !strings.Contains(got, "REQUESTS") || strings.Contains(got, "\x1b") {
		t.Errorf("the page was copied as %q", got)
	}
	if got := copied("esc", "ctrl+y"); !strings.Contains(got, "vllm-1:8000") {
		t.Errorf("the screen was copied as %q", got)
	}
	if got := copied("Y"); got != "# chat\n" {
		t.Errorf("the frame was copied as %q", got)
	}
	h.opt.Markdown = func(*model.Frame) string { return strings.Repeat("one line of many\n", 20000) }
	if got := copied("Y"); len(got) > maxCopy || !strings.HasSuffix(got, "one line of many\n") {
		t.Errorf("%d bytes were copied", len(got))
	}
	h.shows("too long for a clipboard")
}

// TestClickOnAChartGoesThere: a point of a chart leads to its instant, live and in a
// recording.
func TestClickOnAChartGoesThere(t *testing.T) {
	past := &askedPast{}
	h := newHarness(t, tuitest.Breach(), func(o *Options) { o.Mouse, o.Past = true, past })
	s := h.spotOf(panes.MarkChart, "")
	h.click(s.X+40, s.Y)
	h.click(s.X+50, s.Y)
	if len(past.asked) != 2 || past.asked[0] >= past.asked[1] || past.asked[1] >= h.frame.At.Mono {
		t.Errorf("two clicks, the second to the right, ask for %v of %v", past.asked, h.frame.At.Mono)
	}
	h.click(s.X+2, s.Y)
	if len(past.asked) != 2 {
		t.Error("a click on the values at the left is one on an instant")
	}
	tape := &fakeReplay{}
	h = newHarness(t, tuitest.Breach(), func(o *Options) { o.Mouse, o.Replay = true, tape })
	h.click(s.X+40, s.Y)
	if len(tape.asked) != 1 || !strings.HasPrefix(tape.asked[0], "seek") {
		t.Errorf("in a recording a click does %v", tape.asked)
	}
}

// askedPast remembers which instants were asked for.
type askedPast struct{ asked []time.Duration }

func (p *askedPast) Near(at model.Instant) *model.Frame {
	p.asked = append(p.asked, at.Mono)
	return nil
}
func (p *askedPast) Step(*model.Frame, int) *model.Frame { return nil }
func (p *askedPast) Since(model.Instant) *model.Frame    { return nil }
func (p *askedPast) Span() (from, to model.Instant)      { return }

// TestStagesHoldNumbers: the cursor moves over what lies on top of a screen too, and an
// explanation closed leads back to it.
func TestStagesHoldNumbers(t *testing.T) {
	h := newHarness(t, tuitest.LoadTest(), func(o *Options) { o.Mark = func(string) {} })
	h.press("c")
	h.shows("STAGES")
	h.press("tab")
	if !h.point.on || h.under(h.numbers()) < 0 {
		t.Fatal("the cursor finds no number among the stages")
	}
	h.press("e")
	h.shows("WHAT IT IS")
	h.press("esc")
	h.shows("STAGES")
	h.press("esc", "esc")
	h.hides("STAGES")
}
