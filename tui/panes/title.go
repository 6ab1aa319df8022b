package panes

import (
	"strings"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Screen is one of the numbered screens: its name and the question that it answers.
type Screen struct{ Name, Asks string }

// Screens lists them in the order of their keys, 1 first. The questions fit into 80 cells beside
// their names.
var Screens = [...]Screen{
	{"overview", "who is hurt, since when, why, and what to try?"},
	{"latency", "how long do users wait, in which phase, and how many of them?"},
	{"queue & cache", "how long will a request wait that comes now, and why?"},
	{"utilization", "which ceiling is near: compute, bandwidth, or neither?"},
	{"fleet", "who carries the load, who answers, is one worse off?"},
	{"alerts & diagnosis", "what is wrong, since when, by which evidence?"},
	{"capacity", "how much more fits, what binds first, what would help?"},
}

// Title is the first line of a screen: the question that it answers. On a screen of the
// usual 24 lines the overview goes without: there its headline is the answer already, and
// a line is a row of the table. So does every screen that is smaller than that.
type Title struct{ Of Screen }

// Titled reports whether a screen of that size, the whole of it, has a title.
func (s Screen) Titled(size layout.Size) bool {
	least := layout.Size{W: 80, H: 24}
	if s == Screens[0] {
		least.H = 30
	}
	return size.W >= least.W && size.H >= least.H
}

// Name names the pane.
func (Title) Name() string { return "title" }

// Want is one line.
func (Title) Want(*model.Frame, int, Look) layout.Want {
	return layout.Want{Min: 1, Ideal: 1, Max: 1, Drop: 9}
}

// Render draws the line.
func (t Title) Render(_ *model.Frame, size layout.Size, look Look) string {
	if size.H <= 0 {
		return ""
	}
	return look.line(size.W).pad(1).put(themes.Strong, strings.ToUpper(t.Of.Name)).pad(len(t.Of.Name)+3).
		put(themes.Muted, t.Of.Asks).String()
}
