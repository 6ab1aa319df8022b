package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/tui/panes"
	"slotop/tui/tuitest"
)

// fakePast is frames in order.
type fakePast []*model.Frame

func (p fakePast) find(at model.Instant) int {
	for i, f := range p {
		if f.At.Mono >= at.Mono {
			return i
		}
	}
	return len(p)
}

func (p fakePast) at(i int) *model.Frame {
	if i < 0 || i >= len(p) {
		return nil
	}
	return p[i]
}

func (p fakePast) Step(from *model.Frame, by int) *model.Frame { return p.at(p.find(from.At) + by) }
func (p fakePast) Near(at model.Instant) *model.Frame          { return p.at(min(p.find(at), len(p)-1)) }
func (p fakePast) Since(at model.Instant) *model.Frame         { return p.at(p.find(at)) }
func (p fakePast) Span() (from, to model.Instant)              { return p[0].At, p[len(p)-1].At }

// past is ten minutes of frames ten seconds apart: calm, then a breach with a restart
// before it.
func past() (fakePast, *model.Frame) {
	breach := tuitest.Breach()
	events := []model.Event{
		{At: breach.At.Add(-400 * time.Second), Kind: model.EventRestart, Target: "vllm-0:8000"},
		{At: breach.At.Add(-252 * time.Second), Kind: model.EventBreach, Workflow: "chat"},
		{At: breach.At.Add(-252 * time.Second), Kind: model.EventDeploy, Target: "v2"},
	}
	var out fakePast
	for s := -600; s <= 0; s += 10 {
		f := tuitest.Calm()
		if s >= -252 {
			f = tuitest.Breach()
		}
		f.At = breach.At.Add(time.Duration(s) * time.Second)
		f.Events = nil
		for _, e := range events {
			if e.At.Mono <= f.At.Mono {
				f.Events = append(f.Events, e)
			}
		}
		out = append(out, f)
	}
	return out, out[len(out)-1]
}

func newPastHarness(t *testing.T) (*harness, fakePast) {
	t.Helper()
	p, newest := past()
	return newHarness(t, newest, func(o *Options) { o.Past = p }), p
}

func TestSteppingThroughThePast(t *testing.T) {
	h, p := newPastHarness(t)
	h.shows("LIVE", "BREACHED")
	h.press("]")
	h.shows("LIVE", "this is live")
	h.press("[")
	h.shows("PAST", "10 s ago", "g live", "03:13:57 UTC")
	h.hides("LIVE")
	for range 25 {
		h.press("[")
	}
	h.shows("PAST", "4 min 20 s ago", "all 3 workflows met")
	for _, screen := range []string{"2", "3", "5", "6", "7"} { // all of them show that instant
		h.press(screen)
		h.shows("PAST", "4 min 20 s ago", "03:09:47 UTC")
	}
	h.press("1")
	later := tuitest.Calm() // collection goes on
	later.At = p[len(p)-1].At.Add(30 * time.Second)
	h.frame = later
	h.tick(time.Second)
	h.shows("PAST", "4 min 50 s ago")
	h.press("w")
	h.shows("frozen")
	if len(h.asked) > 0 {
		t.Error("the window of a past frame was changed")
	}
	h.press("g")
	h.shows("LIVE", "03:14:37 UTC")
	h.hides("PAST")
}

func TestSteppingForwardGoesLive(t *testing.T) {
	h, p := newPastHarness(t)
	h.press("[", "[", "]")
	h.shows("PAST", "10 s ago")
	h.press("]")
	h.shows("LIVE")
	if h.frozen != nil {
		t.Error("the newest frame stands still")
	}
	h.goTo(p[0].At)
	h.press("[")
	h.shows("PAST", "10 min ago", "nothing older is kept")
	h.press("<")
	h.shows("PAST", "10 min ago")
	h.press(">", ">")
	h.shows("PAST", "8 min ago")
	for range 8 {
		h.press(">")
	}
	h.shows("LIVE")
}

func TestEventToEvent(t *testing.T) {
	h, _ := newPastHarness(t)
	h.press("}")
	h.shows("this is live")
	h.press("{")
	h.shows("PAST", "4 min 10 s ago", "03:09:55 chat breached and 1 more")
	h.press("{")
	h.shows("PAST", "6 min 40 s ago", "restart of vllm-0:8000")
	h.press("{")
	h.shows("PAST", "6 min 40 s ago", "no event before this")
	h.press("}")
	h.shows("PAST", "4 min 10 s ago")
	h.press("}")
	h.shows("PAST", "4 min 10 s ago", "no event after this")
}

// TestEventsOfOthers: what a target calls itself is shown and not obeyed.
func TestEventsOfOthers(t *testing.T) {
	h, p := newPastHarness(t)
	for _, f := range p {
		for i := range f.Events {
			f.Events[i].Target, f.Events[i].Workflow = "\x1b]0;owned\x07", "\x1b[2J"
		}
	}
	h.press("{")
	if strings.Contains(h.View().Content, "owned\x07") || strings.Contains(h.View().Content, "\x1b[2J") {
		t.Error("a name was obeyed")
	}
}

// TestFreezeIsNotPast: a picture that was frozen says so, and stepping leads away from it.
func TestFreezeIsNotPast(t *testing.T) {
	h, _ := newPastHarness(t)
	h.press("space")
	h.shows("FROZEN")
	h.press("[")
	h.shows("PAST", "10 s ago")
	h.hides("FROZEN")
	h.press("space")
	h.shows("LIVE")
}

// TestPastNeverLooksLive: when frames stop coming, the past gets older all the same.
func TestPastNeverLooksLive(t *testing.T) {
	h, _ := newPastHarness(t)
	h.press("[")
	h.tick(50 * time.Second)
	h.shows("PAST", "60 s ago")
	h.hides("LIVE", "NO NEW FRAME")
}

func TestWithoutAPast(t *testing.T) {
	h := newHarness(t, tuitest.Breach(), nil)
	h.press("[", "{", "g", "<")
	h.shows("LIVE")
	h.goTo(tuitest.At)
	h.shows("LIVE")
}

func TestReplayGoesTo(t *testing.T) {
	r := &fakeReplay{at: Position{At: 5 * time.Minute, Length: 30 * time.Minute, Speed: 1}}
	f := tuitest.Calm()
	f.Started = f.At.Add(-5 * time.Minute)
	h := newHarness(t, f, func(o *Options) { o.Replay = r })
	h.goTo(f.At.Add(-time.Minute))
	if got := strings.Join(r.asked, ", "); got != "seek 4m0s" {
		t.Error(got)
	}
	r.at.Word, r.at.Words = "the recording begins here", 1
	h.tick(time.Second)
	h.shows("the recording begins here")
	h.tick(time.Minute)
	h.hides("the recording begins here")
	r.at.Going = true
	h.shows("going there")
}

// TestBarShowsEvents in their places, in Unicode and ASCII, and stays in its cells.
func TestBarShowsEvents(t *testing.T) {
	h, _ := newPastHarness(t)
	h.resize(120, 40)
	h.press("{")
	bar, _, _ := strings.Cut(h.text(), "\n")
	for _, mark := range []string{"╂", "●", "━", "─"} {
		if !strings.Contains(bar, mark) {
			t.Errorf("no %s in %s", mark, bar)
		}
	}
	h.press("[")
	if bar, _, _ = strings.Cut(h.text(), "\n"); !strings.Contains(bar, "▲") {
		t.Errorf("no breach in %s", bar)
	}
	h.opt.ASCII = true
	if bar, _, _ = strings.Cut(h.text(), "\n"); !strings.Contains(bar, "!") || !strings.Contains(bar, "O") {
		t.Errorf("ASCII: %s", bar)
	}
}

// TestFooterKeepsEveryScreen: at 80 columns all seven are there, whatever else is.
func TestFooterKeepsEveryScreen(t *testing.T) {
	footer := func(h *harness) string {
		all := strings.Split(h.text(), "\n")
		return all[len(all)-1]
	}
	h := newHarness(t, tuitest.Calm(), nil)
	if got, want := footer(h), " 1 overview  2 lat  3 queue  4 util  5 fleet  6 alerts  7 cap  ? help  q quit"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	h.resize(100, 24)
	if got, want := footer(h), " 1 overview  2 latency  3 queue  4 util  5 fleet  6 alerts  7 capacity  ? help"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "q quit") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	h.resize(40, 10)
	if got, want := footer(h), " 1  2  3  4  5  6  7  ? help  q quit"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	h, _ = newPastHarness(t)
	h.press("5", "enter", "[")
	for _, want := range []string{"1  2  3  4  5 fleet  6 ▲2  7", "? help", "esc back", "g live", "q quit"} {
		if !strings.Contains(footer(h), want) {
			t.Errorf("%q is not in %q", want, footer(h))
		}
	}
	r := &fakeReplay{at: Position{Length: time.Minute, Speed: 1}}
	h = newHarness(t, tuitest.Breach(), func(o *Options) { o.Replay = r })
	for _, want := range []string{"1 overview  2  3  4  5  6 ▲2  7", "? help", "space pause", "q quit"} {
		if !strings.Contains(footer(h), want) {
			t.Errorf("%q is not in %q", want, footer(h))
		}
	}
}

// wall is a kiosk with a clock of its own.
func wall(t *testing.T, f *model.Frame, k Kiosk, change func(*Options)) *harness {
	t.Helper()
	h := newHarness(t, f, func(o *Options) {
		o.Kiosk = &k
		if change != nil {
			change(o)
		}
	})
	h.resize(120, 40)
	return h
}

func TestKioskTurnsItsPages(t *testing.T) {
	f := tuitest.CalmUse()
	f.Workflows = tuitest.Calm().Workflows
	h := wall(t, f, Kiosk{}, nil)
	var seen []screen
	for range 8 {
		seen = append(seen, h.screen)
		h.hides("q quit", "? help")
		for range 20 {
			h.tick(time.Second)
		}
	}
	want := []screen{overview, latency, inflight, utilization, fleet, capacity, overview, latency}
	if len(f.Capacity) == 0 {
		want = []screen{overview, latency, inflight, utilization, fleet, overview, latency, inflight}
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Fatalf("pages %v, want %v", seen, want)
		}
	}
}

// TestKioskStaysOnABreach and comes back to it at once.
func TestKioskStaysOnABreach(t *testing.T) {
	h := wall(t, tuitest.Calm(), Kiosk{Every: 5 * time.Second}, nil)
	h.tick(6 * time.Second)
	h.hides("promised 95 %")
	if h.screen == overview {
		t.Fatal("the page did not turn")
	}
	h.frame = tuitest.Breach()
	h.tick(time.Second)
	h.shows("GOODPUT", "promised 95 %", "for 4 min 12 s, since 03:09", "queue takes 73 % of a request", "█")
	for range 100 {
		h.tick(time.Second)
	}
	if h.screen != overview || h.body(h.Model.frame()) != bodyKiosk {
		t.Errorf("screen %v while users are hurt", h.screen)
	}
}

// TestKioskRestsAfterAKey: the screen is one's own for a minute, and nothing asks for keys.
func TestKioskRestsAfterAKey(t *testing.T) {
	h := wall(t, tuitest.Breach(), Kiosk{Every: 5 * time.Second}, nil)
	h.press("5")
	for range 58 {
		h.tick(time.Second)
	}
	h.shows("FLEET")
	h.hides("q quit")
	h.tick(3 * time.Second)
	h.shows("GOODPUT")
	if cmd := h.press("q"); cmd == nil {
		t.Error("q does not quit")
	} else if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("q does not quit")
	}
}

func TestKioskNight(t *testing.T) {
	night := Kiosk{NightFrom: 22 * 60, NightTo: 6 * 60}
	for _, c := range []struct {
		hour int
		is   bool
	}{{21, false}, {22, true}, {23, true}, {0, true}, {5, true}, {6, false}, {12, false}} {
		if got := night.night(time.Date(2026, 1, 1, c.hour, 0, 0, 0, time.UTC)); got != c.is {
			t.Errorf("night at %d: %v", c.hour, got)
		}
	}
	if (&Kiosk{}).night(time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)) {
		t.Error("a kiosk without a night is dim")
	}
	h := wall(t, tuitest.Calm(), night, nil)
	h.clock = time.Date(2026, 1, 1, 21, 59, 50, 0, time.UTC)
	h.tick(0)
	bright := h.View().Content
	h.tick(20 * time.Second)
	h.tick(0)
	if !h.dim || h.View().Content == bright || !strings.Contains(h.View().Content, "\x1b[2") {
		t.Error("it is night and the screen is bright")
	}
	h.frame = tuitest.Breach()
	h.tick(time.Second)
	if h.dim {
		t.Error("a breach is dim")
	}
}

func TestReducedMotion(t *testing.T) {
	f := tuitest.Calm()
	f.Every = time.Second
	h := wall(t, f, Kiosk{Every: 5 * time.Second}, func(o *Options) { o.Still = true })
	for range 30 {
		h.tick(time.Second)
	}
	if h.screen != overview {
		t.Error("the pages turn")
	}
	h = newHarness(t, tuitest.Breach(), func(o *Options) { o.Still = true })
	h.shows("BREACHED for 4 min ")
	h.hides("4 min 12 s")
	first := h.newest
	for i := range 9 { // ten frames a second, one picture
		next := tuitest.Breach()
		next.Every, next.At = time.Second, next.At.Add(time.Duration(i+1)*100*time.Millisecond)
		h.frame = next
		h.tick(100 * time.Millisecond)
		if h.newest != first {
			t.Fatalf("another picture after %d00 ms", i+1)
		}
	}
	h.tick(100 * time.Millisecond)
	if h.newest != h.frame {
		t.Error("no new picture after a poll")
	}
	h.tick(2 * time.Second)
	h.hides("NO NEW FRAME")
}

func TestProgress(t *testing.T) {
	bar := func(h *harness) string {
		p := h.View().ProgressBar
		if p == nil {
			return ""
		}
		return p.State.String() + " " + strings.Repeat("#", p.Value/10)
	}
	on := func(o *Options) { o.Signals.Progress = true }
	if got := bar(newHarness(t, tuitest.Breach(), nil)); got != "" {
		t.Errorf("not asked for: %s", got)
	}
	if got := bar(newHarness(t, tuitest.Calm(), on)); got != "" {
		t.Errorf("calm: %s", got)
	}
	if got := bar(newHarness(t, tuitest.Breach(), on)); got != "Error ##########" {
		t.Errorf("breach: %q", got)
	}
	assumed := tuitest.Breach()
	for i := range assumed.Workflows {
		assumed.Workflows[i].AssumedObjectives = true
	}
	if got := bar(newHarness(t, assumed, on)); got != "" {
		t.Errorf("nobody promised it: %q", got)
	}
	r := &fakeReplay{at: Position{At: 15 * time.Minute, Length: 30 * time.Minute, Speed: 1}}
	h := newHarness(t, tuitest.Breach(), func(o *Options) { on(o); o.Replay = r })
	if got := bar(h); got != "Default #####" {
		t.Errorf("replay: %q", got)
	}
	r.at.Paused = true
	if got := bar(h); got != "" {
		t.Errorf("paused: %q", got)
	}
	r.at.Paused, h.opt.Still = false, true
	if got := bar(h); got != "" {
		t.Errorf("reduced motion: %q", got)
	}
	h = newHarness(t, nil, func(o *Options) {
		on(o)
		o.Recalled = func() (float64, bool) { return 0.3, true }
	})
	if got := bar(h); got != "Default ###" {
		t.Errorf("recalling: %q", got)
	}
}

func TestCtrlZ(t *testing.T) {
	type stopped struct{}
	h := newHarness(t, tuitest.Calm(), func(o *Options) { o.Suspend = func() tea.Msg { return stopped{} } })
	h.press("/")
	for _, typing := range []bool{true, false} {
		cmd := h.press("ctrl+z")
		if cmd == nil {
			t.Fatalf("ctrl-z does nothing while typing is %v", typing)
		}
		if _, ok := cmd().(stopped); !ok {
			t.Errorf("ctrl-z does something else while typing is %v", typing)
		}
		h.press("esc")
	}
	h.press("?")
	h.resize(120, 60)
	h.shows("ctrl-z", "to the shell")
	if h = newHarness(t, tuitest.Calm(), nil); h.press("ctrl+z") != nil {
		t.Error("who has no shell is suspended")
	}
}

// TestEventTexts: every kind has words.
func TestEventTexts(t *testing.T) {
	for _, k := range []model.EventKind{
		model.EventRestart, model.EventStage, model.EventIncident, model.EventRecovery, model.EventBreach, model.EventCleared, model.EventDeploy,
	} {
		if got := panes.EventText(model.Event{At: tuitest.At, Kind: k, Target: "x", Workflow: "chat"}); len(got) < len("03:14:07 x y") {
			t.Errorf("%s: %q", k, got)
		}
	}
}

// TestBeforeAllThatIsKept: a chart may reach further back than the frames do.
func TestBeforeAllThatIsKept(t *testing.T) {
	h, p := newPastHarness(t)
	h.goTo(p[0].At.Add(-5 * time.Minute))
	h.tick(0)
	h.shows("PAST", "10 min ago", "nothing older is kept")
	h.goTo(p[1].At)
	h.tick(4 * time.Second)
	h.press("<") // a minute, of which ten seconds are there
	h.shows("PAST", "nothing older is kept")
}

// TestDeliveriesAreOfNow: what was sent by now does not stand beside what was then.
func TestDeliveriesAreOfNow(t *testing.T) {
	p, newest := past()
	sent := 0
	h := newHarness(t, newest, func(o *Options) {
		o.Past = p
		o.Outbox = func() []panes.Delivery {
			sent++
			return []panes.Delivery{{Name: "pager", Delivered: sent}}
		}
	})
	h.resize(100, 60)
	h.press("6")
	h.tick(time.Second)
	h.shows("SENT TO", "pager")
	h.press("[")
	h.hides("SENT TO")
	h.press("g")
	h.tick(time.Second)
	h.shows("SENT TO")
	h.press("space")
	frozen := h.View().Content
	h.tick(0)
	if h.View().Content != frozen {
		t.Error("a frozen picture counts on")
	}
}
