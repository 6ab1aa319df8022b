package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/tuitest"
)

// harness is a screen with hands on it.
type harness struct {
	*Model
	t     *testing.T
	frame *model.Frame
	clock time.Time
	ticks []time.Duration
	asked []time.Duration // windows
}

func newHarness(t *testing.T, f *model.Frame, change func(*Options)) *harness {
	t.Helper()
	set, err := themes.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, frame: f, clock: time.Unix(1000, 0)}
	opt := Options{
		Latest: func() *model.Frame { return h.frame },
		Tick: func(d time.Duration) tea.Cmd {
			h.ticks = append(h.ticks, d)
			return nil
		},
		Window: func(d time.Duration) { h.asked = append(h.asked, d) },
		Themes: set, Theme: "dark", Every: time.Second,
	}
	if change != nil {
		change(&opt)
	}
	m, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	h.Model = m
	h.resize(80, 24)
	h.tick(0)
	return h
}

func (h *harness) resize(w, hh int) { h.send(tea.WindowSizeMsg{Width: w, Height: hh}) }

func (h *harness) send(msg tea.Msg) tea.Cmd {
	_, cmd := h.Update(msg)
	return cmd
}

func (h *harness) tick(after time.Duration) tea.Cmd {
	h.clock = h.clock.Add(after)
	return h.send(TickMsg{At: h.clock})
}

// press sends keys by the names that Bubble Tea gives them.
func (h *harness) press(keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		msg := keyNamed(k)
		if msg.String() != k {
			h.t.Fatalf("key %q came out as %q", k, msg.String())
		}
		cmd = h.send(msg)
	}
	return cmd
}

func keyNamed(k string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "tab": tea.KeyTab,
	}
	if k == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if code, ok := special[k]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if k == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	if c, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
	}
	r := []rune(k)[0]
	return tea.KeyPressMsg{Code: r, Text: k}
}

func (h *harness) text() string { return ansi.Strip(h.View().Content) }

func (h *harness) shows(want ...string) {
	h.t.Helper()
	for _, w := range want {
		if !strings.Contains(h.text(), w) {
			h.t.Errorf("the screen does not show %q:\n%s", w, h.text())
		}
	}
}

func (h *harness) hides(words ...string) {
	h.t.Helper()
	for _, w := range words {
		if strings.Contains(h.text(), w) {
			h.t.Errorf("the screen shows %q:\n%s", w, h.text())
		}
	}
}

func TestTooSmallIsOneSentence(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.resize(39, 24)
	h.shows("slotop needs 40 columns and 10 lines", "39 and 24")
	h.resize(40, 10)
	h.shows("chat", "BREACHED", "for 4 min 12 s", ">7.5 s", "SIMULATED", "03:14:07 UTC")
}

// TestEverythingAt80x24 is what a page at 3 a.m. needs without a key press.
func TestEverythingAt80x24(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.shows("chat BREACHED for 4 min 12 s   goodput 0–3 % (objective 95 %)   burn 19.6×",
		"TTFT 500 ms: 1 of 1892 met   TPOT 50 ms: 2–11 % of 1032 met", "goodput of 1032 finished", "queue takes 73 % of a request",
		"BREACHED    >7.5 s 500 ms     69 ms  50 ms     0–3 % 19.6  03:09", "at risk     ~3.2 s    3 s    ~66 ms  75 ms   95–97 %  2.1  03:11",
		"△ summarize: 10 % of requests miss an objective", "+ 1 more", "6 alerts ▲2", "batch-eval",
		"waiting 208", "running 228", "KV ━", "99 %", "preempted  1.0/s", "requests 17.2/s", "cancelled –", "output 3.6k tok/s", "in 60 s unaccounted 412",
		"mean E2E   13 s", "▓ queue  9.4 s", "▒ prefill 210 ms", "░ decode  3.2 s",
		"vllm-0:8000", "vllm-1:8000", "SLO 500 ms", "03:10", "q quit")
}

// TestHelpIsAlwaysTold: the key that tells all others does not go for a screen's long name
// or for blanks.
func TestHelpIsAlwaysTold(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	for _, w := range []int{40, 41, 44, 60, 72, 78, 79, 80, 81, 100} {
		h.resize(w, 24)
		for _, screen := range []string{"1", "2", "3", "4", "5", "6", "7"} {
			h.press(screen)
			rows := strings.Split(h.text(), "\n")
			if screen == "2" && w < 43 {
				continue // the key that turns to another latency stands there
			}
			if foot := rows[len(rows)-1]; !strings.Contains(foot, "? help") || !strings.Contains(foot, "q quit") {
				t.Errorf("%d columns, screen %s: %q", w, screen, foot)
			}
		}
	}
}

// TestAllScreensOrNone: with other keys, or a message, in a narrow footer no number is
// missing of those that lead to screens.
func TestAllScreensOrNone(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	for _, keys := range [][]string{{"?"}, {"enter"}, {"tab"}, {"tab", "e"}, {"6", "enter"}, {"c"}, {"5", "/", "v"}, {"1", "a"}} {
		h.press("esc", "esc", "1")
		h.press(keys...)
		for w := leastW; w <= 100; w++ {
			h.resize(w, 12)
			rows := strings.Split(h.text(), "\n")
			var told []string
			for _, word := range strings.Fields(rows[len(rows)-1]) {
				if len(word) == 1 && word >= "1" && word <= "7" {
					told = append(told, word)
				}
			}
			if got := strings.Join(told, ""); got != "1234567" && got != "" {
				t.Errorf("%v at %d columns: %q", keys, w, rows[len(rows)-1])
			}
		}
	}
}

func TestWallDoesNotStretch(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.resize(300, 100)
	for i, l := range strings.Split(h.text(), "\n") {
		if n := ansi.StringWidth(l); n > widest {
			t.Errorf("line %d is %d cells wide", i, n)
		}
	}
	h.shows("TTFT chat", "TPOT chat", "GOODPUT chat", "TTFT summarize", "TPOT batch-eval", "PHASES of the mean request", "OUTPUT tok/s chat")
}

func TestBeforeTheFirstFrame(t *testing.T) {
	h := newHarness(t, nil, func(o *Options) {
		o.Targets = []model.Target{{ID: "http://a:8000", Name: "a:8000", Kind: "engine"}, {ID: "http://b", Name: "b", Kind: "engine"}}
	})
	h.shows("no good answer yet from any of 2 targets", "tried every", "a:8000", "asked, no answer yet", "2 targets", "q quit")
	h.press("5")
	h.shows("2 targets", "2 starting")
	h.frame = tuitest.Calm()
	h.press("1")
	h.tick(time.Second)
	h.shows("all 3 workflows met")
}

func TestNothingKnownSaysWhatIsTried(t *testing.T) {
	h := newHarness(t, tuitest.Empty(), nil)
	h.shows("localhost:8000  not found", "3 tries", "metrics are not enabled or lie at", "--enable-", "gpu-7:8000", "asked, no answer yet after 3")
}

// TestNothingChangedIsTheSameString: the renderer then writes no byte.
func TestNothingChangedIsTheSameString(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	first := h.View().Content
	allocs := testing.AllocsPerRun(20, func() {
		h.tick(10 * time.Millisecond)
		if got := h.View().Content; got != first {
			t.Fatal("the screen changed")
		}
	})
	if allocs > 8 {
		t.Errorf("a tick without news allocates %v times", allocs)
	}
	h.frame = tuitest.Calm()
	h.tick(time.Second)
	if h.View().Content == first {
		t.Error("a new frame did not show")
	}
}

func TestFreeze(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.press("space")
	h.shows("FROZEN", "BREACHED")
	later := tuitest.Calm()
	later.At = later.At.Add(72 * time.Second)
	h.frame = later
	h.tick(time.Second)
	h.shows("FROZEN", "1 min 12 s ago", "BREACHED", "03:14:07 UTC")
	h.press("w")
	h.shows("frozen: space first")
	if len(h.asked) > 0 {
		t.Error("a frozen picture asks for another window")
	}
	h.press("space")
	h.shows("LIVE", "all 3 workflows met", "03:15:19 UTC")
}

// TestOldFrameIsCalledOld: when frames stop coming the screen says so.
func TestOldFrameIsCalledOld(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	h.tick(2 * time.Second)
	h.shows("LIVE")
	h.tick(10 * time.Second)
	h.shows("NO NEW FRAME", "for 12 s")
	h.frame = tuitest.Calm()
	h.tick(time.Second)
	h.shows("LIVE")
}

func TestWindow(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	h.press("w")
	h.shows("window 5 min")
	h.press("w", "w")
	if fmt.Sprint(h.asked) != "[5m0s 15m0s 30s]" {
		t.Errorf("asked for %v", h.asked)
	}
	h.tick(toastFor)
	h.hides("window 30 s")
	wide := tuitest.Calm()
	wide.WindowS = 30
	h.frame = wide
	h.tick(time.Second)
	h.shows("last 30 s")
	h.press("w")
	if last := h.asked[len(h.asked)-1]; last != time.Minute {
		t.Errorf("after 30 s comes %v", last)
	}
	fixed := newHarness(t, tuitest.Calm(), func(o *Options) { o.Window = nil })
	fixed.press("w", "?")
	fixed.hides("window:")
}

func TestThemes(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	dark := h.View().Content
	h.press("t")
	h.shows("theme light")
	if h.View().Content == dark {
		t.Error("the theme did not change the screen")
	}
	h.press("t")
	h.shows("theme mono")
	if s := h.View().Content; strings.Contains(s, "38;") {
		t.Error("the mono theme has colours")
	}
	auto := newHarness(t, tuitest.Calm(), func(o *Options) { o.Theme = "" })
	auto.send(tea.BackgroundColorMsg{Color: white{}})
	if auto.theme.Name != "light" {
		t.Errorf("a white terminal gets the theme %s", auto.theme.Name)
	}
	auto.press("t")
	auto.send(tea.BackgroundColorMsg{Color: white{}})
	if auto.theme.Name != "mono" {
		t.Errorf("the background overrides the viewer: %s", auto.theme.Name)
	}
	auto.press("t", "t", "t")
	full := auto.View().Content
	plain := newHarness(t, tuitest.Calm(), nil)
	plain.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
	plain.press("t")
	plain.shows("without colours")
	if s := plain.View().Content; plain.theme.Name != "mono" || strings.Contains(s, "38;") {
		t.Errorf("a terminal without colours gets the theme %s", plain.theme.Name)
	}
	auto.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	if s := auto.View().Content; strings.Contains(s, "38;2") || s == full {
		t.Error("16 colours are not the theme's own")
	}
	if _, err := New(Options{Latest: h.opt.Latest, Tick: h.opt.Tick, Themes: h.opt.Themes, Theme: "drak"}); err == nil || !strings.Contains(err.Error(), "dark, light") {
		t.Errorf("an unknown theme says %v", err)
	}
}

type white struct{}

func (white) RGBA() (r, g, b, a uint32) { return 0xffff, 0xffff, 0xffff, 0xffff }

func TestMissingOptions(t *testing.T) {
	for _, o := range []Options{{}, {Latest: func() *model.Frame { return nil }}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%+v) found nothing missing", o)
		}
	}
}

func TestMoving(t *testing.T) {
	h := newHarness(t, tuitest.Mixed(), nil)
	h.shows("TTFT wedged")
	h.press("down")
	h.shows("▸▲ slow", "TTFT slow")
	h.press("j", "j", "k")
	h.shows("TTFT half")
	h.press("end")
	h.shows("TTFT still")
	h.press("esc")
	h.shows("TTFT wedged")

	h.press("5")
	h.shows("▸✕ d:8000")
	h.press("down", "down")
	h.shows("▸◌ s:8000")
	h.press("s")
	h.shows("by name", "▸◌ s:8000")
	h.press("G")
	h.shows("▸■ w:8000")
	h.press("home")
	h.shows("▸● a:8000")
	h.press("esc")
	h.shows("TTFT wedged")
}

func TestPages(t *testing.T) {
	h := newHarness(t, tuitest.Fleet(3, 200), func(o *Options) {})
	h.press("5", "pgdown", "pgdown")
	h.shows("of 200")
	if i := strings.Index(h.text(), "▸"); i < 0 {
		t.Error("the cursor is not on the screen")
	}
	h.press("end")
	h.shows("to 200 of 200")
	h.press("pgup")
	h.shows("▸")
}

func TestOpening(t *testing.T) {
	h := newHarness(t, tuitest.Mixed(), nil)
	h.press("5", "enter")
	h.shows("✕ d:8000 down", "certificate: certificate not trusted", "120 failed", "READ FROM", "vllm:num_requests_running", "esc back")
	h.press("pgdown", "pgdown")
	h.shows("the gap between two streamed events", "moves only when a request ends", "NOT EXPORTED", "swapped")
	h.press("esc")
	h.shows("8 targets")
	h.press("/", "d", "p", "enter", "down", "enter")
	h.shows("dp:8000", "ENGINES", "2 data-parallel engines", "running 10", "2 lines skipped, the first: line 5", "ITL")

	h.frame = tuitest.Calm()
	h.tick(time.Second)
	h.shows("no longer watched")
}

func TestFilter(t *testing.T) {
	h := newHarness(t, tuitest.Mixed(), nil)
	h.press("/")
	h.shows("enter keep", "esc clear")
	h.press("s", "t", "a", "l", "x", "backspace")
	h.shows("▸■ w:8000", "◌ s:8000", "2 match stal", "/stal")
	h.press("enter")
	h.shows("2 match stal", "q quit")
	h.press("q") // a key again, not a letter
	h.press("/", "ctrl+u", "q", "q")
	h.shows("no target matches qq")
	h.press("esc")
	h.hides("match")
	h.press("/")
	for range 200 {
		h.press("x")
	}
	if n := len(h.view.Filter); n != maxTyped {
		t.Errorf("the filter grew to %d", n)
	}
	if cmd := h.press("ctrl+c"); cmd == nil {
		t.Error("ctrl+c does not quit while typing")
	}
}

func TestHelpIsComplete(t *testing.T) {
	live := newHarness(t, tuitest.Calm(), func(o *Options) {
		o.Mouse, o.Ack, o.Mark, o.Signals.Bell = true, func(model.AlertID) {}, func(string) {}, true
		o.Markdown, o.Suspend = func(*model.Frame) string { return "" }, tea.Suspend
		o.Picture = func(Shot) (string, error) { return "", nil }
	})
	live.resize(200, 60)
	live.press("?")
	replay := newHarness(t, tuitest.Calm(), func(o *Options) { o.Replay = &fakeReplay{} })
	replay.resize(200, 60)
	replay.press("?")
	for _, b := range bindings {
		inLive, inReplay := strings.Contains(live.text(), b.help), strings.Contains(replay.text(), b.help)
		if !inLive && !inReplay {
			t.Errorf("%s %q is in no help", b.print, b.help)
		}
		if b.group == groupReplay && (inLive || !inReplay) {
			t.Errorf("%s %q belongs to a replay only", b.print, b.help)
		}
	}
	live.press("esc")
	live.shows("all 3 workflows met")
	small := newHarness(t, tuitest.Calm(), nil)
	small.resize(40, 10)
	small.press("?")
	small.shows("overview: who is hurt", "for more")
	small.press("down", "down", "down")
	small.hides("overview: who is hurt")
}

// TestKeysAreUnique: no key means two things in one session, and each is
// explained.
func TestKeysAreUnique(t *testing.T) {
	for _, o := range []func(*Options){nil, func(o *Options) { o.Replay = &fakeReplay{}; o.Mouse = true }, func(o *Options) {
		o.Ack, o.Mark, o.Signals.Bell = func(model.AlertID) {}, func(string) {}, true
	}} {
		h := newHarness(t, tuitest.Calm(), o)
		seen := map[string]string{}
		for _, b := range h.active() {
			if b.help == "" || b.group == "" || b.print == "" || len(b.keys) == 0 || b.do == nil {
				t.Errorf("%+v is not complete", b)
			}
			for _, k := range b.keys {
				if other, ok := seen[k]; ok {
					t.Errorf("%q means %q and %q", k, other, b.help)
				}
				seen[k] = b.help
			}
			if strings.ContainsFunc(b.ascii, func(r rune) bool { return r > 126 }) || b.ascii == "" && strings.ContainsFunc(b.print, func(r rune) bool { return r > 126 }) {
				t.Errorf("%s has no ASCII name", b.print)
			}
		}
	}
	if len(KeyTable()) != len(bindings) {
		t.Error("the README's table is not the table")
	}
}

// TestUnseenScreenRests: without focus the screen is looked at once a second.
func TestUnseenScreenRests(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	h.tick(time.Second)
	h.send(tea.BlurMsg{})
	h.tick(time.Second)
	h.send(tea.FocusMsg{})
	h.tick(time.Second)
	if got := fmt.Sprint(h.ticks[len(h.ticks)-3:]); got != "[100ms 1s 100ms]" {
		t.Errorf("ticks of %s", got)
	}
}

func TestQuit(t *testing.T) {
	for _, k := range []string{"q", "ctrl+c"} {
		cmd := newHarness(t, tuitest.Calm(), nil).press(k)
		if cmd == nil {
			t.Fatalf("%s does nothing", k)
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%s does not quit", k)
		}
	}
	if cmd := newHarness(t, tuitest.Calm(), nil).press("x"); cmd != nil {
		t.Error("a key of no meaning does something")
	}
}

func TestInitAsksTheTerminal(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), func(o *Options) { o.Theme = "" })
	batch, ok := h.Init()().(tea.BatchMsg)
	if !ok {
		t.Fatal("Init starts nothing")
	}
	raw, background := false, false
	for _, cmd := range batch {
		if cmd == nil {
			continue
		}
		if msg, ok := cmd().(tea.RawMsg); ok && msg.Msg == "\x1b[?2026$p" {
			raw = true
		} else {
			background = true
		}
	}
	if !raw || !background {
		t.Errorf("asked for synchronized output: %v, for the background: %v", raw, background)
	}
}

// TestPaintedAnewAfterResizes: once, when the window has come to rest.
func TestPaintedAnewAfterResizes(t *testing.T) {
	h := newHarness(t, tuitest.Calm(), nil)
	h.tick(time.Second)
	if cmd := h.tick(2 * settled); cmd != nil {
		t.Fatal("painted anew without a resize")
	}
	for w := range 5 {
		h.resize(100+w, 30)
		if cmd := h.tick(settled / 2); cmd != nil {
			t.Fatal("painted anew while the window is dragged")
		}
	}
	if h.tick(settled) == nil {
		t.Error("not painted anew")
	}
	if h.tick(settled) != nil {
		t.Error("painted anew twice")
	}
}
