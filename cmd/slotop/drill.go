package main

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"

	"slotop/tui"
)

// drillSwitch is a switch for tests alone: with it set to collector, command,
// update or view, the screen panics there shortly after it is up. That the
// terminal survives a panic in any goroutine can be proven in no other way.
const drillSwitch = "SLOTOP_TEST_PANIC"

// drillAfter is how many ticks the screen lives before a drill.
const drillAfter = 3

// drill is the screen's model with a panic in it.
type drill struct {
	tea.Model
	place string
	ticks int
	up    chan struct{} // closed when the screen has lived for drillAfter ticks
}

func panicDrill(place string) { panic("drill in " + place) }

// drilled returns the model and what runs beside it with the drill in them that
// the switch asks for, unchanged where it asks for none.
func drilled(m tea.Model, beside func(context.Context)) (tea.Model, func(context.Context)) {
	place := os.Getenv(drillSwitch)
	switch place {
	case "":
		return m, beside
	case "collector":
		d := &drill{Model: m, place: place, up: make(chan struct{})}
		return d, func(ctx context.Context) {
			go beside(ctx)
			select {
			case <-ctx.Done():
			case <-d.up:
				panicDrill(place)
			}
		}
	}
	return &drill{Model: m, place: place, up: make(chan struct{})}, beside
}

// Update implements tea.Model.
func (d *drill) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := d.Model.Update(msg)
	d.Model = m
	if _, ok := msg.(tui.TickMsg); ok {
		if d.ticks++; d.ticks == drillAfter {
			close(d.up)
		}
	}
	if d.ticks < drillAfter {
		return d, cmd
	}
	switch d.place {
	case "update":
		panicDrill(d.place)
	case "command":
		return d, func() tea.Msg {
			panicDrill(d.place)
			return nil
		}
	}
	return d, cmd
}

// View implements tea.Model.
func (d *drill) View() tea.View {
	if d.place == "view" && d.ticks >= drillAfter {
		panicDrill(d.place)
	}
	return d.Model.View()
}
