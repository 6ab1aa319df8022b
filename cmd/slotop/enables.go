package main

import (
	"cmp"

	"slotop/model"
	"slotop/sources/dialect"
	"slotop/tui/panes"
)

// enables says what would make a target tell of a signal that it keeps to itself: what
// slotop doctor says of it, for the screen. "" where its dialect knows of no way.
func enables(dialects *dialect.Set) *panes.Enables {
	if dialects == nil {
		return nil
	}
	say := panes.Enables(func(t *model.TargetView, s model.Signal) string {
		about := &model.About{Engine: string(t.Engine), Version: string(t.Version), Missing: t.Missing, Notes: t.Notes}
		a, _ := dialects.Advice(about, string(s))
		return cmp.Or(a.Enable, a.Needs)
	})
	return &say
}
