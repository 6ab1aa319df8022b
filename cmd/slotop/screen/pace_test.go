package screen

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// told is a screen that shows what it was told last.
type told struct{ text string }

func (t told) Init() tea.Cmd { return nil }

func (t told) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if text, ok := msg.(string); ok {
		t.text = text
	}
	return t, nil
}

func (t told) View() tea.View { return tea.NewView(t.text) }

// paper is what a program wrote, and when.
type paper struct {
	mu   sync.Mutex
	text strings.Builder
	at   time.Time
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = time.Now()
	return p.text.Write(b)
}

// after is how long it takes until a program writes, once do was done.
func (p *paper) after(t *testing.T, do func()) time.Duration {
	t.Helper()
	begin := time.Now()
	do()
	time.Sleep(2200 * time.Millisecond) // no multiple of a look's distance
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.Before(begin) {
		t.Fatal("nothing was written")
	}
	return p.at.Sub(begin)
}

// running is a program under guard whose screen has come to rest, and what ends it.
func running(t *testing.T, guard Guard, out *paper) (p *tea.Program, end func()) {
	t.Helper()
	p = guard.Program(told{"first"}, tea.WithInput(nil), tea.WithOutput(out),
		tea.WithWindowSize(40, 5), tea.WithEnvironment([]string{"TERM=xterm"}))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := p.Run(); err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(3 * time.Second)
	return p, func() {
		p.Quit()
		<-ended
	}
}

// TestPace: what changes is written at once, however long nothing did, and in between the
// renderer rests. What no view tells of comes with its next look.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &paper{}
		guard := Guard{Up: func() {}, Clear: func() bool { return true }, Recovered: func() {}}
		p, end := running(t, guard, out)
		const soon = time.Second / framesPerSecond
		for _, text := range []string{"second", "third"} {
			if took := out.after(t, func() { p.Send(text) }); took > soon {
				t.Errorf("%q was written after %v, not within %v", text, took, soon)
			}
		}
		if took := out.after(t, func() {
			p.Send("fourth")
			time.Sleep(3 * soon) // in a program that is awake
			p.Send("fifth")
		}); took > 4*soon {
			t.Errorf("what changed twice was written after %v", took)
		}
		if took := out.after(t, func() { p.Send(tea.ClearScreen()) }); took <= alert || took > drowsy {
			t.Errorf("a renderer at rest looked after %v, not after %v to %v", took, alert, drowsy)
		}
		if took := out.after(t, func() {
			p.Send(tea.KeyPressMsg{Code: 'l', Mod: tea.ModCtrl})
			p.Send(tea.ClearScreen())
		}); took > soon {
			t.Errorf("the answer to a key was written after %v", took)
		}
		end()
		for _, want := range []string{"first", "second", "third", "fifth"} {
			if !strings.Contains(out.text.String(), want) {
				t.Errorf("%q was never written", want)
			}
		}
	})
}

// TestOwedDrawing: what could not be drawn is drawn as soon as the terminal has taken the
// last drawing, though no message comes then.
func TestOwedDrawing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, full := &paper{}, make(chan struct{})
		var stuck atomic.Bool
		guard := Guard{
			Up: func() {}, Recovered: func() {},
			Clear: func() bool { return !stuck.Load() },
			Drain: func(within time.Duration) bool {
				select {
				case <-full:
				case <-time.After(within):
				}
				return !stuck.Load()
			},
		}
		p, end := running(t, guard, out)
		stuck.Store(true)
		p.Send("second")
		p.Send("third")
		time.Sleep(3 * drowsy)
		if strings.Contains(out.text.String(), "third") {
			t.Error("it was drawn for a terminal that takes nothing")
		}
		if took := out.after(t, func() { stuck.Store(false); close(full) }); took > time.Second/framesPerSecond {
			t.Errorf("what was owed was written after %v", took)
		}
		if strings.Contains(out.text.String(), "second") || !strings.Contains(out.text.String(), "third") {
			t.Errorf("wrote %q", out.text.String())
		}
		end()
	})
}
