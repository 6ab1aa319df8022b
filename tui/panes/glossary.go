package panes

import (
	"strings"

	"slotop/model"
	"slotop/model/glossary"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Glossary lists every number that slotop shows, each with its key in the JSON form, and
// says below what the one under the cursor is.
type Glossary struct {
	wholeScreen

	Filter string
	At     int // of the topics that match
}

// Name names the pane.
func (Glossary) Name() string { return "glossary" }

// topics are those that match the filter: by name, key, text, or what others call them.
func (g Glossary) topics() []glossary.Topic {
	all := glossary.All()
	if g.Filter == "" {
		return all
	}
	want := strings.ToLower(g.Filter)
	var named, others []glossary.Topic
	for _, t := range all {
		switch {
		case strings.Contains(strings.ToLower(t.Name+" "+t.Key), want):
			named = append(named, t)
		case strings.Contains(strings.ToLower(strings.Join(append(t.AlsoCalled, t.Is, t.Group), " ")), want):
			others = append(others, t)
		}
	}
	return append(named, others...)
}

// Moved is the glossary with its cursor moved.
func (g Glossary) Moved(by int) Glossary {
	g.At = min(max(g.At+by, 0), max(len(g.topics())-1, 0))
	return g
}

// On is the glossary with its cursor on a topic.
func (g Glossary) On(key string) Glossary {
	for i, t := range g.topics() {
		if t.Key == key {
			g.At = i
		}
	}
	return g
}

// Under is the key of the topic under the cursor, "" where nothing matches.
func (g Glossary) Under() string {
	if all := g.topics(); g.At < len(all) {
		return all[g.At].Key
	}
	return ""
}

// Render draws the topics around the cursor, by group.
func (g Glossary) Render(_ *model.Frame, size layout.Size, look Look) string {
	all := g.topics()
	title := []seg{{themes.Strong, "GLOSSARY"}, {themes.Text, " " + plural(len(all), "number")}}
	if g.Filter != "" {
		title = append(title, seg{themes.Warn, ", matching " + look.foreign(g.Filter, 20)})
	}
	out := []string{look.rule(size.W, title, say(1, themes.Muted, "enter opens").of("key.enter", ""), say(2, themes.Muted, "/ filters").of("key./", ""), say(3, themes.Muted, "esc closes it").of("key.esc", ""))}
	list := size
	if size.W >= wideScreen {
		list.W = glossaryList
	}
	rows, at := g.rows(all, list.W, look)
	if len(rows) == 0 {
		rows = []string{look.line(size.W).pad(indent).put(themes.Muted, "nothing matches: esc shows all").String()}
	}
	below := g.briefly(all, size, look)
	if list.W < size.W {
		below = nil
	}
	h := max(size.H-1-len(below), 0)
	from := min(max(at-h/2, 0), max(len(rows)-h, 0))
	out = append(out, rows[from:min(from+h, len(rows))]...)
	for len(below) > 0 && len(out) < size.H-len(below) {
		out = append(out, "")
	}
	if list.W < size.W && g.At < len(all) {
		out = append(out[:1], g.beside(out[1:], all[g.At], size, look)...)
	}
	return lines(size.H, append(out, below...)...)
}

// beside puts what a topic is next to the list.
func (Glossary) beside(list []string, t glossary.Topic, size layout.Size, look Look) []string {
	s := &sheet{w: min(size.W-glossaryList-chartGap, maxText), look: look}
	s.out = append(s.out, look.line(s.w).pad(1).put(themes.Strong, look.sentence(t.Name, s.w-1)).String())
	s.defined(t)
	s.called(t)
	if h := size.H - 1; h > 0 && len(s.out) > h {
		s.out = append(s.out[:h-1], look.line(s.w).pad(labelW+1).put(themes.Muted, "enter: all of it").String())
	}
	return sideBySide(list, s.out, size.H-1, glossaryList+chartGap, look)
}

// The height from which what the topic under the cursor is stands below the list, and
// how many lines it takes.
const (
	brieflyH     = 16
	brieflyLines = 4
)

// briefly is what the topic under the cursor is.
func (g Glossary) briefly(all []glossary.Topic, size layout.Size, look Look) []string {
	if size.H < brieflyH || g.At >= len(all) {
		return nil
	}
	t := all[g.At]
	out := []string{look.rule(size.W, []seg{{themes.Muted, look.sentence(t.Name, size.W-8)}})}
	for _, l := range look.folded(look.sentence(t.Is+" "+t.Misleads, maxProse), size.W-2, brieflyLines) {
		out = append(out, look.line(size.W).pad(1).put(themes.Text, l).String())
	}
	for len(out) < brieflyLines+1 { // the list stands still while the cursor moves
		out = append(out, "")
	}
	return out
}

// The column of the names, and the width of the list where what its topic is stands
// beside it.
const (
	glossaryName = 36
	glossaryList = 64
)

// rows is a line a topic below the name of its group, and which of them is under the
// cursor.
func (g Glossary) rows(all []glossary.Topic, w int, look Look) (rows []string, at int) {
	name, group := min(glossaryName, max(w-indent, 8)), ""
	if w < narrow {
		name = w - indent
	}
	for i, t := range all {
		if t.Group != group && g.Filter == "" {
			rows = append(rows, look.line(w).pad(1).put(themes.Muted, t.Group).String())
			group = t.Group
		}
		l := look.line(w - 1)
		if i == g.At {
			at = len(rows)
			l.put(themes.Cursor, look.pick("▸", ">"))
		}
		role := themes.Text
		if i == g.At {
			role = themes.Cursor
		}
		l.pad(indent).parts(0, say(0, role, look.cut(unit.Sentence(t.Name, look.ASCII), name)).of("row.topic", t.Key))
		if w >= narrow {
			l.pad(indent+name+2).put(themes.Muted, look.cut(t.Key, w-1-indent-name-2))
		}
		rows = append(rows, l.String())
	}
	return rows, at
}
