package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/panes"
	"slotop/tui/tuitest"
)

// storm is a viewer who presses anything at any time while the world changes.
type storm struct {
	*harness
	random *rand.Rand
	frames []*model.Frame
	did    []string // the last things done, for the report of a failure
}

// stormFrames is every frame there is to draw, as they are and with parts of them gone.
func stormFrames() []*model.Frame {
	var out []*model.Frame
	for _, list := range [][]tuitest.Named{tuitest.All(), tuitest.Findings(), tuitest.Uses(), tuitest.Loads()} {
		for _, nf := range list {
			out = append(out, nf.Frame)
		}
	}
	return append(out, tuitest.Crowd())
}

// hostileNames is what a target may call what it has.
var hostileNames = []string{
	"", " ", "\x1b]52;c;aGk=\a", "\x1b[2J", "\u202egpj.exe", "مدل زبان بزرگ", strings.Repeat("検", 30), strings.Repeat("👩‍👩‍👧‍👦", 15),
	"a\u0301\u0301\u0301\u0301", "\xff\xfe", strings.Repeat("x", 4000), "|", "key.q", "a\nb", "\u200b", "🇩🇪🇩", "\x9b31m",
}

// maimed is a frame some of whose rows have vanished or have other names.
func (s *storm) maimed(f *model.Frame) *model.Frame {
	c := *f
	c.Workflows = some(s.random, f.Workflows)
	c.Targets = some(s.random, f.Targets)
	c.Devices = some(s.random, f.Devices)
	c.Utilization = some(s.random, f.Utilization)
	c.Capacity = some(s.random, f.Capacity)
	c.Findings = some(s.random, f.Findings)
	c.Alerts = some(s.random, f.Alerts)
	c.Stages = some(s.random, f.Stages)
	s.random.Shuffle(len(c.Workflows), func(i, j int) { c.Workflows[i], c.Workflows[j] = c.Workflows[j], c.Workflows[i] })
	for i := range c.Workflows {
		if s.random.IntN(4) == 0 {
			c.Workflows[i].Name = s.name()
		}
		c.Workflows[i].Objectives = some(s.random, c.Workflows[i].Objectives)
		if s.random.IntN(4) == 0 {
			c.Workflows[i].History = nil
		}
	}
	for i := range c.Targets {
		if s.random.IntN(4) == 0 {
			c.Targets[i].Name = s.name()
		}
	}
	for i := range c.Stages {
		c.Stages[i].Workflows = some(s.random, c.Stages[i].Workflows)
		if s.random.IntN(3) == 0 {
			c.Stages[i].Name = s.name()
		}
	}
	for range s.random.IntN(20) {
		c.Events = append(slices.Clone(c.Events), model.Event{At: c.At.Add(-time.Duration(s.random.IntN(600)) * time.Second), Kind: model.EventDeploy, Target: model.Text(s.name())})
	}
	slices.SortFunc(c.Events, func(a, b model.Event) int { return int(a.At.Mono - b.At.Mono) })
	c.At = c.At.Add(time.Duration(s.random.IntN(7200)-3600) * time.Second)
	return &c
}

func (s *storm) name() string { return hostileNames[s.random.IntN(len(hostileNames))] }

// some is a copy without one in four, or without any.
func some[T any](r *rand.Rand, in []T) []T {
	if r.IntN(8) == 0 {
		return nil
	}
	out := make([]T, 0, len(in))
	for _, v := range in {
		if r.IntN(4) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// stormKeys is every key of the table, and what is typed into a prompt.
func stormKeys() []tea.KeyPressMsg {
	var out []tea.KeyPressMsg
	for _, b := range bindings {
		for _, k := range b.keys {
			if k != "q" && k != "ctrl+c" {
				out = append(out, keyNamed(k))
			}
		}
	}
	for _, text := range []string{"z", "é", "検", "👩‍👩‍👧‍👦", "\u202e", " ", strings.Repeat("長い名前", 30), "[", "\x00"} {
		out = append(out, tea.KeyPressMsg{Code: []rune(text)[0], Text: text})
	}
	return append(out, keyNamed("backspace"), keyNamed("ctrl+u"), keyNamed("esc"), keyNamed("enter"), keyNamed("enter"), tea.KeyPressMsg{Code: tea.KeyF12}, tea.KeyPressMsg{})
}

// step does one thing.
func (s *storm) step(keys []tea.KeyPressMsg) {
	r := s.random
	switch r.IntN(12) {
	case 0:
		f := s.frames[r.IntN(len(s.frames))]
		if r.IntN(3) > 0 {
			f = s.maimed(f)
		}
		s.note("frame", s.frame == nil)
		s.frame = f
		s.tick(time.Duration(r.IntN(5000)-500) * time.Millisecond)
		if r.IntN(4) == 0 { // long enough for a wall to turn its pages again
			s.tick(2 * kioskRest)
			s.whole("after a while")
		}
	case 1:
		w, h := 40+r.IntN(200), 10+r.IntN(60)
		if r.IntN(5) == 0 {
			w, h = r.IntN(45), r.IntN(16)
		}
		s.note("resize", w, h)
		s.resize(w, h)
	case 2, 3:
		at := tea.Mouse{X: r.IntN(s.size.W+4) - 2, Y: r.IntN(s.size.H+4) - 2, Button: tea.MouseLeft}
		if r.IntN(4) == 0 {
			at.X, at.Y = s.size.W-1, s.size.H-1
		}
		s.note("click", at.X, at.Y)
		s.send(tea.MouseClickMsg(at))
		if r.IntN(2) == 0 {
			s.send(tea.MouseClickMsg(at))
		}
	case 4:
		b := []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown, tea.MouseWheelLeft, tea.MouseButton10}[r.IntN(4)]
		s.note("wheel", b)
		for range 1 + r.IntN(40) {
			s.send(tea.MouseWheelMsg{X: r.IntN(s.size.W + 1), Y: r.IntN(s.size.H + 1), Button: b})
		}
	case 5:
		text := s.name() + "\nq"
		s.note("paste ", strconv.Quote(text[:min(len(text), 40)]))
		s.send(tea.PasteMsg{Content: text})
	default:
		k := keys[r.IntN(len(keys))]
		s.note("key", k.String())
		s.send(k)
	}
}

func (s *storm) note(what ...any) {
	s.did = append(s.did, fmt.Sprint(what...))
	s.did = s.did[max(len(s.did)-25, 0):]
}

// whole fails the test where the screen is not one: too wide, too high, empty.
func (s *storm) whole(what string) {
	s.t.Helper()
	got := s.View().Content
	tuitest.Fits(s.t, what, got, s.size.W, max(s.size.H, 1))
	lines := strings.Split(ansi.Strip(got), "\n")
	written := 0
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			written++
		}
	}
	if s.size.W >= leastW && s.size.H >= leastH && written < 2 || s.size.W > 0 && s.size.H > 0 && written == 0 {
		s.t.Errorf("%s: a blank screen of %v\n%s", what, s.size, got)
	}
	if s.t.Failed() {
		s.t.Fatalf("%s after %s", what, strings.Join(s.did, ", "))
	}
}

// TestStorm presses every key in every state in any order, with clicks, wheels, resizes
// and a world that changes under the viewer's hands. Whatever happened, the screen is
// whole, and esc leads back to the overview.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	kinds := []struct {
		name   string
		change func(*Options)
	}{
		{"live", nil},
		{"ascii", func(o *Options) { o.ASCII, o.Still = true, true }},
		{"past", func(o *Options) { p, _ := past(); o.Past = p }},
		{"replay", func(o *Options) {
			o.Replay = &fakeReplay{at: Position{At: 5 * time.Minute, Length: 30 * time.Minute, Speed: 1}}
			o.Mark = nil
		}},
		{"replay of nothing", func(o *Options) { o.Replay = &fakeReplay{} }},
		{"kiosk", func(o *Options) {
			p, _ := past()
			o.Past, o.Kiosk = p, &Kiosk{Every: time.Second, NightFrom: 1}
		}},
		{"bare", func(o *Options) { o.Window, o.Ack, o.Mark, o.Markdown, o.Picture = nil, nil, nil, nil, nil }},
	}
	frames := stormFrames()
	keys := stormKeys()
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for seed := range uint64(2) {
				s := &storm{random: rand.New(rand.NewPCG(seed, uint64(i))), frames: frames}
				s.harness = newHarness(t, nil, func(o *Options) {
					o.Mouse, o.Ack, o.Mark, o.Markdown = true, func(model.AlertID) {}, func(string) {}, func(*model.Frame) string { return "m" }
					o.Picture = func(Shot) (string, error) { return "", nil }
					if k.change != nil {
						k.change(o)
					}
				})
				for step := range 300 {
					s.step(keys)
					what := fmt.Sprintf("seed %d, step %d", seed, step)
					s.whole(what)
					if step%50 == 49 {
						s.leave(what)
					}
				}
			}
		})
	}
}

// TestWallOfAnything shows on a wall whatever there is: nobody is there to press a key.
func TestWallOfAnything(t *testing.T) {
	s := &storm{random: rand.New(rand.NewPCG(1, 1)), frames: stormFrames()}
	s.harness = newHarness(t, nil, func(o *Options) { o.Kiosk = &Kiosk{Every: time.Hour} })
	big := 0
	for i, f := range s.frames {
		for range 20 {
			s.frame = s.maimed(f)
			s.resize(40+s.random.IntN(260), 10+s.random.IntN(90))
			s.tick(time.Minute)
			s.whole(fmt.Sprintf("frame %d", i))
			if s.body(s.Model.frame()) == bodyKiosk {
				big++
			}
		}
	}
	if big < len(s.frames) {
		t.Errorf("%d big pages in %d frames: too few to test anything", big, len(s.frames)*20)
	}
}

// TestWallGoesOn: what somebody opened on a wall is closed when its pages turn again.
func TestWallGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	for _, keys := range [][]string{{"e"}, {"tab"}, {"tab", "e"}, {"?"}, {"?", "e"}, {"?", "e", "enter"}, {"c"}, {"enter"}, {"m", "x"}, {"5", "/", "x"}, {"["}, {"space"}} {
		h := wall(t, tuitest.Breach(), Kiosk{}, func(o *Options) {
			p, _ := past()
			o.Past, o.Mark = p, func(string) {}
		})
		h.press(keys...)
		if h.big(h.Model.frame()) {
			t.Fatalf("%v: nothing was opened", keys)
		}
		h.tick(kioskRest)
		h.tick(time.Second)
		if h.body(h.Model.frame()) != bodyKiosk || h.point.on || h.typing != panes.NoPrompt || h.frozen != nil {
			t.Errorf("%v: the page is not back\n%s", keys, h.text())
		}
	}
}

// leave presses esc until the overview is there, which must not take long.
func (s *storm) leave(what string) {
	s.t.Helper()
	for range 8 {
		s.send(keyNamed("esc"))
	}
	s.note("esc ×8")
	s.whole(what)
	if s.screen != overview || s.over != overNothing || s.open || s.help || s.typing != panes.NoPrompt || s.point.on {
		s.t.Fatalf("%s: esc does not lead back: screen %d, over %d, open %v, help %v, typing %v, pointing %v, after %s",
			what, s.screen, s.over, s.open, s.help, s.typing, s.point.on, strings.Join(s.did, ", "))
	}
}
