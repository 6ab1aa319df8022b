// Package panes draws the parts of the screen: each pane turns one immutable
// frame into lines of a given size. Panes hold no state, see no messages and
// never import one another's world: what the viewer chose comes in with the look.
package panes

import (
	"slotop/model"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Pane is one part of the screen. Render returns at most size.H lines of at
// most size.W cells. Panes are comparable values, so that a drawing can be kept
// for as long as frame, size and look are the same.
type Pane interface {
	Name() string
	Want(f *model.Frame, w int, look Look) layout.Want
	Render(f *model.Frame, size layout.Size, look Look) string
}

// Page is a pane that may be longer than the screen. Scroll is how far its text
// can move up from where View.Scroll is 0.
type Page interface {
	Pane
	Scroll(f *model.Frame, size layout.Size, look Look) int
}

// All lists every pane that a frame alone fills. The header, the footer and the
// help are handed more than a frame and stand in their own files.
var All = []Pane{Headline{}, Workflows{}, Charts{}, Queue{}, Engines{}, Fleet{}, Detail{}, Waiting{},
	Strip{}, Stage{}, Stages{}, Workflow{}, Alerts{}, Alert{}, Finding{}, Devices{}, Device{}, GPUs{}, Utilizations{}, Roofline{}, Utilization{}, Capacity{}, Latency{}, Inflight{}}

// Look is how to draw, and what the viewer chose to see. It is comparable.
type Look struct {
	Inks  *Inks
	ASCII bool
	View  View
	Still bool // ages beyond a minute are told in whole minutes
	Spots bool // mark where numbers stand: what is drawn must go through Unmark
}

// Enables says what would make a target tell of a signal that it keeps to itself: a flag,
// a version; "" where nobody knows of a way.
type Enables func(t *model.TargetView, s model.Signal) string

// View is what the viewer chose.
type View struct {
	Workflow string         // under the cursor of the overview; "": the worst
	Target   model.TargetID // under the cursor of the fleet, or opened; "": the first
	Device   string         // under the cursor of the GPUs, or opened; "": an engine's row, without engines the first
	Engine   string         // under the cursor of the engines' utilization, or opened; "": the first
	Alert    model.AlertID  // under the cursor of the alerts, or opened; "": the first
	Finding  string         // key of the finding under the same cursor, or opened; "": none chosen
	Metric   model.Metric   // charted by the screen of latencies; "": TTFT
	Scroll   int            // lines that a long text has moved up
	Filter   string
	Inside   bool        // the fleet shows the engines inside its targets
	Notes    string      // what of a file of annotations was not understood; "": nothing
	Enables  *Enables    // nil: nobody knows of any way
	Outbox   *[]Delivery // how alerts are carried out; nil: to nobody. Never written again
	Sort     Sort
	UseSort  UseSort // of the engines' utilization
}

// Inks holds the style of every role, reduced to bytes.
type Inks [themes.RoleCount]chart.Ink

// NewInks reduces a theme's styles; basic takes those for 16 colours.
func NewInks(t *themes.Theme, basic bool) *Inks {
	var k Inks
	for _, r := range themes.Roles() {
		s := t.Style(r)
		if basic {
			s = t.Basic(r)
		}
		k[r] = chart.NewInk(s)
	}
	return &k
}

// ink is the style of a role. A look without inks draws plain text.
func (k Look) ink(r themes.Role) chart.Ink {
	if k.Inks == nil {
		return chart.Ink{}
	}
	return k.Inks[r]
}

// pick chooses between the character and its ASCII stand-in.
func (k Look) pick(unicode, ascii string) string {
	if k.ASCII {
		return ascii
	}
	return unicode
}
