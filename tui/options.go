// Package tui is the live screen: the only Bubble Tea model, its keys, and which
// panes stand where. It pulls immutable frames and draws them; it never polls,
// reads a clock or keeps a history.
package tui

import (
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/panes"
)

// Options is what the screen is given. Functions are called from Update and must
// not block.
type Options struct {
	// Latest is the newest frame, nil before the first. It is pulled, because
	// sending to a program blocks while its terminal is slow.
	Latest func() *model.Frame
	// Tick returns a command that delivers one TickMsg after d.
	Tick func(d time.Duration) tea.Cmd

	Targets []model.Target // what is being tried, for before the first frame
	Every   time.Duration  // the poll interval, for the same

	Window func(time.Duration) // the viewer chose another window; nil: it cannot change
	Replay Replay              // nil when live
	Past   Past                // what the live screen can go back to; nil: nothing

	Ack     func(model.AlertID) // takes an alert, or gives it back; nil: nobody can
	Mark    func(name string)   // begins a stage of a load test; nil: nobody can
	Signals Attention
	// Recalled says how much of the past has come in, 0–1, while that goes on; nil:
	// nothing is recalled.
	Recalled func() (share float64, going bool)
	// Suspend stops the program until the shell continues it; nil: it cannot be.
	Suspend tea.Cmd
	// Outbox says how alerts are carried out; nil: to nobody. The slice is the
	// screen's from then on.
	Outbox func() []panes.Delivery
	// Notes says what of a file of annotations was not understood, "" where all was;
	// nil: there is no such file.
	Notes func() string
	// Recorded says that the frame is of something recorded, though nothing is replayed:
	// a picture of it is never called live.
	Recorded bool
	// Picture keeps a picture of the screen and says where; it runs beside Update and
	// may take its time. nil: there are no pictures.
	Picture func(Shot) (where string, err error)

	// Enables says what would make a target tell what it does not; nil: nobody knows.
	Enables *panes.Enables

	// Markdown writes a whole frame, for pasting; nil: nothing can.
	Markdown func(*model.Frame) string

	Themes   *themes.Set
	Theme    string // "" chooses by the terminal's background
	NoColour bool   // NO_COLOR: the mono theme, whatever is asked for
	ASCII    bool
	Still    bool   // reduced motion: a picture a poll at most, ages in whole minutes, nothing turns or progresses
	Kiosk    *Kiosk // a screen for the wall; nil: one for somebody at a desk
	Mouse    bool   // wheel and a key to switch it off; off by default, it blocks copying
}

// TickMsg is the refresh: the time it carries is compared with earlier ones only.
type TickMsg struct{ At time.Time }

// Replay is a recording being shown. Its methods ask; what came of it is in the
// next Position.
type Replay interface {
	Pause(paused bool)
	Step(frames int)       // forward, or back when negative; it pauses
	Seek(to time.Duration) // from the beginning; beyond the ends it is the ends
	Jump(by time.Duration) // from where it is when it gets there: keys may be faster
	Speed(factor float64)
	Event(by int) // to the next event, or with -1 the one before; it pauses
	Position() Position
	Events() []model.Event // those that are known so far, oldest first
}

// Position is where a replay stands.
type Position struct {
	At, Length time.Duration
	Speed      float64
	Paused     bool
	Ended      bool
	Going      bool   // on its way to where it was asked to be
	Damaged    bool   // part of the recording up to here could not be read
	Word       string // what came of the last order that had something to say
	Words      int    // how many words there were
}

// How often the newest frame is looked for. Ten a second is as often as frames
// come; an unwatched screen is looked at when somebody comes back.
const (
	refresh       = 100 * time.Millisecond
	refreshUnseen = time.Second
)

func (o Options) check() error {
	switch {
	case o.Latest == nil:
		return errors.New("make screen: Options.Latest is missing")
	case o.Tick == nil:
		return errors.New("make screen: Options.Tick is missing")
	case o.Themes == nil || len(o.Themes.Names()) == 0:
		return errors.New("make screen: Options.Themes is missing")
	}
	return nil
}
