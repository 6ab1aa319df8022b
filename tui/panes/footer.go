package panes

import (
	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Footer is the last line: the keys, or what is being typed, or what just
// happened.
type Footer struct {
	Keys    *[]KeyHelp
	Prompt  Prompt
	Input   string // typed so far
	Default string // what stands for nothing typed
	Toast   string
}

// Prompt says what is being typed.
type Prompt uint8

// Nothing, a filter of the fleet, or the name of a stage.
const (
	NoPrompt Prompt = iota
	FilterPrompt
	StagePrompt
)

// Name names the pane.
func (Footer) Name() string { return "footer" }

// Want is one line.
func (Footer) Want(*model.Frame, int, Look) layout.Want { return layout.Fixed(1) }

// Render draws the line.
func (b Footer) Render(f *model.Frame, size layout.Size, look Look) string {
	if b.Prompt != NoPrompt {
		return b.typing(size, look)
	}
	var keys []part
	for _, k := range *b.Keys {
		if k.Short != "" && k.Drop != Leaving {
			keys = append(keys, footerKey(f, k, look))
		}
	}
	for _, k := range *b.Keys {
		if k.Short != "" && k.Drop == Leaving {
			keys = append(keys, footerKey(f, k, look))
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
	return part{segs: []seg{{themes.Key, key}, {themes.Muted, " " + does}}, drop: 1}
}

func footerKey(f *model.Frame, k KeyHelp, look Look) part {
	role := themes.Muted
	if k.Here {
		role = themes.Strong
	}
	segs := []seg{{themes.Key, look.pick(k.Key, k.ASCII)}, {role, " " + k.Short}}
	if n := Firing(f); k.Badge && n > 0 {
		segs = append(segs, seg{themes.Text, " "}, seg{themes.Breach, look.pick("▲", "!") + unit.Count(float64(n))})
	}
	return part{segs: segs, drop: k.Drop}
}

// typing is the line while something is being typed.
func (b Footer) typing(size layout.Size, look Look) string {
	sign, keep, leave := "/", "keep", "clear"
	if b.Prompt == StagePrompt {
		sign, keep, leave = "stage ", "mark", "cancel"
	}
	segs := []seg{{themes.Key, sign}, {themes.Strong, look.foreign(b.Input, max(size.W-30, 8))}, {themes.Key, look.pick("▏", "_")}}
	if b.Input == "" && b.Default != "" {
		segs = append(segs, seg{themes.Muted, b.Default})
	}
	return look.line(size.W).pad(1).parts(3, part{segs: segs}, hint("enter", keep), hint("esc", leave)).String()
}
