package tui

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/tuitest"
)

// wire is a terminal's end of the line: it counts and keeps what is written.
type wire struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

// take is what was written since the last time.
func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.buf.Reset()
	return w.buf.String()
}

// session runs a real program in virtual time, drawing into a wire.
type session struct {
	*wire
	frame *model.Frame
	mu    sync.Mutex
	prog  *tea.Program
	done  chan error
}

func (s *session) latest() *model.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frame
}

func (s *session) show(f *model.Frame) {
	s.mu.Lock()
	s.frame = f
	s.mu.Unlock()
	time.Sleep(time.Second)
	synctest.Wait()
}

func run(t *testing.T, w, h int, f *model.Frame) *session {
	t.Helper()
	return runWith(t, w, h, f, Attention{})
}

func runWith(t *testing.T, w, h int, f *model.Frame, signals Attention) *session {
	t.Helper()
	set, err := themes.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{wire: &wire{}, frame: f, done: make(chan error, 1)}
	m, err := New(Options{
		Latest: s.latest,
		Tick: func(d time.Duration) tea.Cmd {
			return tea.Tick(d, func(at time.Time) tea.Msg { return TickMsg{At: at} })
		},
		Window: func(time.Duration) {}, Themes: set, Theme: "dark", Signals: signals,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.prog = tea.NewProgram(m, tea.WithOutput(s.wire), tea.WithInput(nil), tea.WithoutSignals(), tea.WithoutSignalHandler(),
		tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.TrueColor), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	go func() {
		_, err := s.prog.Run()
		s.done <- err
	}()
	time.Sleep(time.Second)
	synctest.Wait()
	return s
}

func (s *session) quit(t *testing.T) {
	t.Helper()
	s.prog.Quit()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	time.Sleep(time.Second) // the last tick is still on its way
	synctest.Wait()
}

// nextSecond is a frame of the next second on which every number differs.
func nextSecond(i int) *model.Frame {
	f := tuitest.Breach()
	by := time.Duration(i) * time.Second
	f.At = f.At.Add(by)
	k := 1 + 0.031*float64(i%7)
	for j := range f.Workflows {
		w := &f.Workflows[j]
		for _, r := range []*model.Reading{
			&w.Requests.PerSecond, &w.Requests.Running, &w.Requests.Waiting, &w.Requests.Unaccounted, &w.Tokens.OutputPerSecond,
			&w.Tokens.PromptPerSecond, &w.PreemptionsPerSec, &w.PrefixCacheHit,
		} {
			r.Value *= k
		}
		w.KVCacheUsage.Value *= 1 - 0.01*float64(i%5)
		w.TTFT.N, w.TTFT.P50.Value.Value, w.TPOT.P95.Value.Value = w.TTFT.N+float64(i), w.TTFT.P50.Value.Value*k, w.TPOT.P95.Value.Value*k
		if g := w.Goodput; g != nil {
			moved := *g
			moved.N, moved.Of.Finished = g.N+float64(i), model.Of(g.Of.Finished.Value+float64(i))
			for _, r := range []*model.Reading{&moved.Share.Lo, &moved.Share.Hi, &moved.Share.Point} {
				r.Value *= 1 - 0.013*float64(i%7)
			}
			w.Goodput = &moved
		}
		if b := w.Budget; b != nil {
			moved := *b
			moved.Burn.M5.Value, moved.Remaining.Value = b.Burn.M5.Value*k, b.Remaining.Value*(1-0.011*float64(i%9))
			w.Budget = &moved
		}
		for o := range w.Objectives {
			w.Objectives[o].N += float64(i)
		}
		for _, d := range []*model.Dist{w.Queue, w.Prefill, w.Decode, w.E2E} {
			d.Mean.Value, d.N = d.Mean.Value*k, d.N+float64(i)
		}
		w.History = tuitest.Later(w.History, i)
	}
	for j := range f.Targets {
		x := &f.Targets[j]
		for _, r := range []*model.Reading{&x.Running, &x.Waiting, &x.OutputPerSecond, &x.RequestsPerSecond} {
			r.Value *= k
		}
		x.KVCacheUsage.Value *= 1 - 0.01*float64(i%5)
		x.TPOT.P95.Value.Value *= k
	}
	return f
}

// TestBytesToTheTerminal (OC-31): what a second costs on the wire. At 80×24 the
// bounds are the case's, at 120×40 the budget's.
func TestBytesToTheTerminal(t *testing.T) {
	sizes := []struct {
		w, h, same, few, all int
		screen               string
	}{
		{80, 24, 200, 250, 4000, "1"},
		{120, 40, 100, 250, 5500, "1"},
		{80, 24, 200, 250, 4000, "2"},
		{120, 40, 100, 250, 5500, "2"},
	}
	for _, size := range sizes {
		within := func(t *testing.T) {
			s := run(t, size.w, size.h, nextSecond(0))
			s.prog.Send(keyNamed(size.screen))
			s.show(s.latest())
			s.take()

			s.show(s.latest()) // ten refreshes
			if got := s.take(); len(got) > 1 {
				t.Errorf("%d×%d: no new frame: %q", size.w, size.h, got)
			}

			same := *s.latest()
			same.At = same.At.Add(time.Second)
			s.show(&same)
			if n := len(s.take()); n == 0 || n > size.same {
				t.Errorf("%d×%d: only the clock moved: %d bytes", size.w, size.h, n)
			}

			clock := *s.latest()
			clock.At = clock.At.Add(time.Second)
			clock.Workflows = append([]model.WorkflowView{}, clock.Workflows...)
			clock.Workflows[0].Requests.Waiting = model.Of(209)
			s.show(&clock)
			if n := len(s.take()); n == 0 || n > size.few {
				t.Errorf("%d×%d: a few cells moved: %d bytes", size.w, size.h, n)
			}

			most := 0
			for i := 1; i <= 30; i++ {
				s.show(nextSecond(i))
				got := s.take()
				most = max(most, len(got))
				if strings.Contains(got, ansi.EraseEntireDisplay) {
					t.Errorf("%d×%d: the screen was cleared", size.w, size.h)
				}
			}
			if most == 0 || most > size.all {
				t.Errorf("%d×%d: everything moved: %d bytes", size.w, size.h, most)
			}
			t.Logf("screen %s at %d×%d: everything moved: at most %d bytes a frame", size.screen, size.w, size.h, most)
			s.quit(t)
		}
		t.Run(fmt.Sprintf("screen %s at %d×%d", size.screen, size.w, size.h), func(t *testing.T) { synctest.Test(t, within) })
	}
}

// TestSessionBytes (OC-36, OC-11) reads all bytes of a session: no mouse mode is
// ever switched on, and a terminal that obeys them ends where it began.
func TestSessionBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t, 80, 24, tuitest.Hostile())
		s.show(tuitest.Breach())
		before := s.take()
		s.quit(t)
		all := before + s.take()
		for _, mode := range []string{"?1000h", "?1001h", "?1002h", "?1003h", "?1005h", "?1006h", "?1015h"} {
			if strings.Contains(all, mode) {
				t.Errorf("mouse mode %s was switched on", mode)
			}
		}
		if strings.Contains(all, "owned\a") || strings.Contains(all, "]52;") && strings.Contains(all, "aGk=\a") {
			t.Error("a foreign sequence reached the terminal")
		}
		for _, pair := range [][2]string{{"?1049h", "?1049l"}, {"?25l", "?25h"}, {"?1004h", "?1004l"}, {"?2004h", "?2004l"}} {
			if strings.Contains(all, pair[0]) && strings.LastIndex(all, pair[1]) < strings.LastIndex(all, pair[0]) {
				t.Errorf("%s was not undone", pair[0])
			}
		}
		term := vt.NewEmulator(80, 24)
		// Questions are left out: the emulator would wait for somebody to read its answers.
		// The program has no terminal and counts on a line feed to return, as a tty does.
		seen := strings.NewReplacer("\x1b[?2026$p", "", "\n", "\r\n").Replace(before)
		if _, err := term.WriteString(seen); err != nil {
			t.Fatal(err)
		}
		if got := term.String(); !strings.Contains(got, "chat BREACHED for 4 min 12 s") || !strings.Contains(got, "vllm-1:8000") {
			t.Errorf("the terminal shows:\n%s", got)
		}
	})
}
