// Package screen keeps a screen and what it runs beside from harming one another: a panic
// in it ends that screen alone, and nothing is drawn that its terminal cannot take yet. It
// does not decide how a screen ends.
package screen

import (
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// withoutColour are terminals that the colour library takes for coloured ones.
var withoutColour = []string{"vt52", "vt100", "vt102", "vt220", "vt320"}

// Colourless reports whether a terminal of that name (TERM) is known to have no colours.
func Colourless(term string) bool { return slices.Contains(withoutColour, term) }

// Guard is what a screen is guarded with.
type Guard struct {
	Up        func()                          // called once the screen runs
	Clear     func() bool                     // whether the terminal took everything so far
	Drain     func(within time.Duration) bool // waits until it did, no longer than that
	Recovered func()                          // deferred around whatever the screen does: recovers, and ends it
}

// Program runs a screen under guard: with every panic turned into an orderly end, and with
// no drawing while the terminal has not taken the last one. The newest picture is drawn
// when it can be shown, those between are skipped.
func (g Guard) Program(m tea.Model, opts ...tea.ProgramOption) *tea.Program {
	guarded := g.around(m)
	opts = append(opts, tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	guarded.program = tea.NewProgram(guarded, opts...)
	return guarded.program
}

func (g Guard) around(m tea.Model) guarded { return guarded{m, &watch{Guard: g}} }

type guarded struct {
	tea.Model
	*watch
}

var _ tea.Model = guarded{}

// watch is what does not change with each message.
type watch struct {
	Guard
	program *tea.Program
	owes    atomic.Bool // a drawing, once the terminal took the last one

	// Of the program's own goroutine.
	pace  *pace
	drawn tea.View // the last one
}

// Init implements tea.Model.
func (g guarded) Init() tea.Cmd {
	defer g.Recovered()
	defer g.Up()
	return g.safe(g.Model.Init())
}

// Update implements tea.Model.
func (g guarded) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	defer g.Recovered()
	if _, clear := msg.(taken); clear {
		return g, nil // and draws what it owes
	}
	if _, pressed := msg.(tea.KeyMsg); pressed { // it may be for more than the view: to copy, to clear
		g.wake()
	}
	m, cmd := g.Model.Update(msg)
	return guarded{m, g.watch}, g.safe(cmd)
}

// View implements tea.Model. After a panic it is the last view.
func (g guarded) View() (v tea.View) {
	v = g.drawn
	defer g.Recovered()
	if !g.Clear() {
		g.later()
		return v
	}
	v = g.Model.View()
	g.show(v)
	return v
}

// taken tells a screen that owes a drawing that it may be shown.
type taken struct{}

// later draws once the terminal took the last drawing: the next message may be a second
// away, and what a key did would be seen only then.
func (w *watch) later() {
	if w.program == nil || w.owes.Swap(true) {
		return
	}
	go func() {
		w.Drain(drowsy)
		w.owes.Store(false)
		w.program.Send(taken{})
	}()
}

// show makes the renderer look for v, if it is not the last one.
func (w *watch) show(v tea.View) {
	if !reflect.DeepEqual(v, w.drawn) {
		w.drawn = v
		w.wake()
	}
}

// wake makes the renderer look soon.
func (w *watch) wake() {
	if w.pace == nil && w.program != nil {
		w.pace = newPace(w.program)
	}
	if w.pace != nil {
		w.pace.wake()
	}
}

// safe is cmd, and the commands it hands out, with panics recovered.
func (w *watch) safe(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer w.Recovered()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = w.safe(c)
			}
		}
		return msg
	}
}
