package panes

import (
	"slotop/themes"
	"slotop/tui/chart"
)

// NewDimInks is NewInks for a dark room: everything faint and nothing bold. A terminal
// that knows no faint text shows it as it is by day.
func NewDimInks(t *themes.Theme, basic bool) *Inks {
	var k Inks
	for _, r := range themes.Roles() {
		s := t.Style(r)
		if basic {
			s = t.Basic(r)
		}
		k[r] = chart.NewInk(s.Bold(false).Faint(true))
	}
	return &k
}
