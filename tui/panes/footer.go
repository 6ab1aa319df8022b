package panes

import (
	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Footer is the last line: the keys, or what is being typed, or what just
// happened.
type Footer struct {
	Keys   *[]KeyHelp
	Typing bool // the filter is being typed
	Toast  string
}

// Name names the pane.
func (Footer) Name() string { return "footer" }

// Want is one line.
func (Footer) Want(*model.Frame, int, Look) layout.Want { return layout.Fixed(1) }

// Render draws the line.
func (b Footer) Render(_ *model.Frame, size layout.Size, look Look) string {
	if b.Typing {
		return look.line(size.W).pad(1).parts(3,
			part{segs: []seg{
				{themes.Key, "/"}, {themes.Strong, look.foreign(look.View.Filter, max(size.W-30, 8))},
				{themes.Key, look.pick("▏", "_")},
			}},
			hint("enter", "keep"), hint("esc", "clear")).String()
	}
	var keys []part
	for _, k := range *b.Keys {
		if k.Short != "" && k.Drop != Leaving {
			keys = append(keys, footerKey(k, look))
		}
	}
	for _, k := range *b.Keys {
		if k.Short != "" && k.Drop == Leaving {
			keys = append(keys, footerKey(k, look))
		}
	}
	var right []part
	w := size.W
	if b.Toast != "" {
		w--
		right = append(right, say(0, themes.Strong, look.foreign(b.Toast, size.W-3)))
	}
	return look.line(w).pad(1).ends(2, keys, right).String()
}

func hint(key, does string) part {
	return part{[]seg{{themes.Key, key}, {themes.Muted, " " + does}}, 1}
}

func footerKey(k KeyHelp, look Look) part {
	role := themes.Muted
	if k.Here {
		role = themes.Strong
	}
	return part{[]seg{{themes.Key, look.pick(k.Key, k.ASCII)}, {role, " " + k.Short}}, k.Drop}
}
