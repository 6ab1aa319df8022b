package tui

import (
	tea "charm.land/bubbletea/v2"

	"slotop/tui/panes"
)

// pointer is the cursor over numbers. It remembers which number it is on and not where
// that stands, so that it stays on it when rows move.
type pointer struct {
	on  bool
	at  panes.About
	nth int // of those numbers on the screen, in the order in which it is read
}

// place is where on the screen something stands.
type place struct{ x, y int }

// found is the spot of the number under the cursor, as far as it is on the screen.
func (p pointer) found(spots []panes.Spot) (panes.Spot, bool) {
	var last panes.Spot
	n := -1
	for _, s := range spots {
		if s.About != p.at || !s.Number() {
			continue
		}
		last = s
		if n++; n == p.nth {
			break
		}
	}
	return last, n >= 0
}

// pointedAt is the cursor on spot number i.
func pointedAt(spots []panes.Spot, i int) pointer {
	p := pointer{on: true, at: spots[i].About}
	for _, s := range spots[:i] {
		if s.About == p.at {
			p.nth++
		}
	}
	return p
}

// numbers is where the numbers of the screen stand, of what lies below an explanation.
func (m *Model) numbers() []panes.Spot {
	if m.over == overExplain {
		m.over = m.below
		defer func() { m.over = overExplain }()
	}
	if !m.holdsNumbers() {
		return nil
	}
	var out []panes.Spot
	for _, s := range m.spots() {
		if s.Number() {
			out = append(out, s)
		}
	}
	return out
}

// spots is all that is marked on the screen. It is drawn for this: marks cost nothing
// while nobody looks for them.
func (m *Model) spots() []panes.Spot {
	d := m.scene()
	d.look.Spots = true
	_, spots := panes.Unmark(m.compose(d))
	return spots
}

// pointed is a drawing without its marks and with the number under the cursor reversed.
func (m *Model) pointed(drawing string, d drawing) string {
	plain, spots := panes.Unmark(drawing)
	s, ok := d.point.found(spots)
	if !ok {
		return plain
	}
	m.pointAt = place{s.X, s.Y}
	return panes.Pointed(plain, s, m.width(), d.look)
}

// nextNumber moves the cursor to the next number, or the one before, in the order in
// which the screen is read. From off it begins with what the screen says first.
func nextNumber(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		all := m.numbers()
		if len(all) == 0 {
			m.say("no number here")
			return nil
		}
		i := m.under(all)
		switch {
		case m.point.on && i >= 0:
			i = (i + by + len(all)) % len(all)
		case m.point.on:
			i = nearest(all, m.pointAt)
		default:
			i = first(all)
		}
		m.pointTo(all, i)
		return nil
	}
}

// pointTo sets the cursor on one of the numbers of the screen. What is explained then
// is the explanation of this one.
func (m *Model) pointTo(all []panes.Spot, i int) {
	m.point, m.pointAt = pointedAt(all, i), place{all[i].X, all[i].Y}
	if m.over == overExplain {
		m.explain = panes.Explain{About: all[i].About, Shown: all[i].Text}
	}
}

// under is which of the numbers the cursor is on, -1 where none of them.
func (m *Model) under(all []panes.Spot) int {
	s, ok := m.point.found(all)
	for i := range all {
		if ok && all[i] == s {
			return i
		}
	}
	return -1
}

// first is the first number below the header: what the screen says first is what
// matters most on it.
func first(all []panes.Spot) int {
	for i, s := range all {
		if s.Y > 0 {
			return i
		}
	}
	return 0
}

// nearest is the number that is nearest to a place.
func nearest(all []panes.Spot, to place) int {
	best, least := 0, -1
	for i, s := range all {
		if far := farness(s, to.x, to.y); least < 0 || far < least {
			best, least = i, far
		}
	}
	return best
}

// rowWeight is how many cells a line is worth when distances are compared: lines are
// about twice as high as cells are wide, and columns of a table belong together.
const rowWeight = 3

func farness(s panes.Spot, x, y int) int {
	dx := max(s.X-x, x-(s.X+s.W-1), 0)
	return dx + rowWeight*max(s.Y-y, y-s.Y)
}

// aim moves the cursor to the number that is nearest in a direction.
func (m *Model) aim(dx, dy int) {
	all := m.numbers()
	if len(all) == 0 {
		return
	}
	i := m.under(all)
	if i < 0 {
		m.pointTo(all, nearest(all, m.pointAt))
		return
	}
	if j := towards(all, i, dx, dy); j >= 0 {
		m.pointTo(all, j)
	}
}

// towards is the number nearest to number i in a direction, -1 where there is none. On
// its own row it goes from one to the next, beyond its end to the next that lies there.
func towards(all []panes.Spot, i, dx, dy int) int {
	from := all[i]
	best, least := -1, 0
	for j, s := range all {
		ahead := dy*(s.Y-from.Y) > 0 || dx > 0 && s.X > from.X || dx < 0 && s.X < from.X
		if j == i || !ahead {
			continue
		}
		far := farness(s, from.X+from.W/2, from.Y)
		if dx != 0 {
			far = max(s.X-from.X, from.X-s.X) + 4*rowWeight*max(s.Y-from.Y, from.Y-s.Y)
		}
		if best < 0 || far < least {
			best, least = j, far
		}
	}
	return best
}

// beside moves the cursor over numbers to the left or the right; while it is off, the list of
// stages turns to another workflow.
func beside(dx int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		switch {
		case m.point.on:
			m.aim(dx, 0)
		case m.staging():
			m.turnStages(dx)
		}
		return nil
	}
}

// looking is which picture is looked at.
type looking struct {
	screen     screen
	over       over
	open, help bool
}

func (m *Model) here() looking { return looking{m.shown(), m.over, m.open, m.help} }

// settle keeps the cursor on a number when another screen has come: on the same one where
// that has it, else on its first.
func (m *Model) settle(before looking) {
	if !m.point.on || !m.holdsNumbers() || m.here() == before {
		return
	}
	all := m.numbers()
	if len(all) == 0 {
		m.point = pointer{}
		return
	}
	if m.under(all) < 0 {
		m.pointTo(all, first(all))
	}
}

// explains reports whether there is a number to explain by a key at hand.
func explains(m *Model) bool { return m.point.on && m.holdsNumbers() }
