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
	Still   bool   // the picture stands still, and a stage begins now all the same
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
	var right []part
	w := size.W
	if b.Toast != "" {
		w--
		right = append(right, say(0, themes.Strong, look.foreign(b.Toast, size.W-3)))
	}
	keys, gap := b.keys(f, w-1-widthOf(right, 2)-2*len(right), look)
	return look.line(w).pad(1).ends(gap, keys, right).String()
}

// form is how much of a screen's name the footer has room for.
type form uint8

const (
	inFull  form = iota // 2 latency
	inBrief             // 2 lat, but in full where one is
	inShort             // 2 lat
	inDigit             // 2, but in full where one is
	inBare              // 2
	inTight             // 2, close to 3
)

// Leading is the Drop of the keys of the screens and of the help, Needed the most that it
// may be of a key without which nobody gets to a screen, or out of where they are.
const (
	Leading = 2
	Needed  = 3
)

// gap is the blank between two keys. Where it is one cell, only the screens' numbers stand
// so close.
func (f form) gap() int {
	if f == inTight {
		return 1
	}
	return 2
}

// keys is what fits into w cells, and the gap between them. The numbers of all screens
// stay, with the longest of their names for which there is room; so do the keys without
// which nobody gets out of where they are. Then come the others, as far as they fit. In
// very little room help goes, and then all the numbers: some of them would say that there
// are no other screens.
func (b Footer) keys(f *model.Frame, w int, look Look) (keys []part, gap int) {
	fits := func(form form, want func(KeyHelp) bool) bool {
		needed := b.choose(form, f, look, func(k KeyHelp) bool { return k.Drop <= Needed && want(k) })
		return widthOf(needed, form.gap()) <= w
	}
	all := func(KeyHelp) bool { return true }
	for form := inFull; form <= inTight; form++ {
		if fits(form, all) {
			return b.choose(form, f, look, all), form.gap()
		}
	}
	leave := func(k KeyHelp) bool { return k.Drop != Leading || k.Brief != "" }
	if !fits(inTight, leave) {
		leave = func(k KeyHelp) bool { return k.Brief == "" }
	}
	return b.choose(inTight, f, look, leave), inTight.gap()
}

// choose is the keys of the footer in order, those that leave last.
func (b Footer) choose(form form, f *model.Frame, look Look, want func(KeyHelp) bool) []part {
	var keys, last []part
	for _, k := range *b.Keys {
		switch {
		case k.Short == "" || !want(k):
		case k.Drop == Leaving:
			last = append(last, footerKey(f, k, form, look))
		default:
			keys = append(keys, footerKey(f, k, form, look))
		}
	}
	return append(keys, last...)
}

func hint(key, does string) part {
	return part{segs: []seg{{themes.Key, key}, {themes.Muted, " " + does}}, drop: 1}
}

func footerKey(f *model.Frame, k KeyHelp, form form, look Look) part {
	role, name := themes.Muted, " "+k.Short
	if k.Here {
		role = themes.Strong
	}
	switch {
	case k.Brief == "":
	case form >= inBare, form == inDigit && !k.Here:
		name = ""
	case form == inShort, form == inBrief && !k.Here:
		name = " " + k.Brief
	}
	key := themes.Key
	if name == "" && k.Here {
		key = role
	}
	segs := []seg{{key, look.pick(k.Key, k.ASCII)}, {role, name}}
	if n := Firing(f); k.Badge && n > 0 {
		segs = append(segs, seg{themes.Text, " "}, seg{themes.Breach, look.pick("▲", "!") + unit.Count(float64(n))})
	}
	if form == inTight && k.Brief == "" {
		segs = append([]seg{{themes.Text, " "}}, segs...)
	}
	return part{segs: segs, drop: k.Drop}.of(MarkKey+k.Key, "")
}

// typing is the line while something is being typed.
func (b Footer) typing(size layout.Size, look Look) string {
	sign, keep, leave := "/", "keep", "clear"
	if b.Prompt == StagePrompt {
		sign, keep, leave = "stage ", "mark", "cancel"
		if b.Still {
			keep = "mark now, not then"
		}
	}
	segs := []seg{{themes.Key, sign}, {themes.Strong, look.foreign(b.Input, max(size.W-30, 8))}, {themes.Key, look.pick("▏", "_")}}
	if b.Input == "" && b.Default != "" {
		segs = append(segs, seg{themes.Muted, b.Default})
	}
	return look.line(size.W).pad(1).parts(3, part{segs: segs}, hint("enter", keep), hint("esc", leave)).String()
}
