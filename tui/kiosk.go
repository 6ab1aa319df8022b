package tui

import (
	"cmp"
	"time"

	"slotop/model"
	"slotop/tui/panes"
)

// Kiosk makes the screen one for the wall, which nobody touches: it turns its pages by
// itself, stays where users are hurt, and is dim at night.
type Kiosk struct {
	Every time.Duration // that a page is shown; 0: DefaultPage
	// The night, as minutes after midnight where the clock of the ticks stands. There is
	// none where both are the same.
	NightFrom, NightTo int
}

// DefaultPage is how long a page is shown: long enough to be read from afar.
const DefaultPage = 20 * time.Second

// kioskRest is how long the pages stand still after a key.
const kioskRest = time.Minute

// turning is where a screen on a wall stands.
type turning struct {
	since time.Time // when the page came up
	until time.Time // when the pages turn again, after a key
}

// resting reports whether somebody has taken the screen in hand.
func (m *Model) resting() bool { return m.now.Before(m.turn.until) }

// lookAtWall turns the page when its time has come, and dims the screen.
func (m *Model) lookAtWall() {
	if m.opt.Kiosk == nil {
		return
	}
	f := m.frame()
	hurt := panes.Hurt(f)
	if dim := m.opt.Kiosk.night(m.now) && !hurt; dim != m.dim {
		m.dim = dim
		m.wear(m.theme)
	}
	if m.resting() {
		return
	}
	next := m.screen
	switch {
	case hurt || m.opt.Still:
		next = overview
	case !m.turn.since.IsZero() && m.now.Sub(m.turn.since) >= cmp.Or(m.opt.Kiosk.Every, DefaultPage):
		next = m.pageAfter(f)
	}
	if next == m.screen && m.untouched() && !m.turn.since.IsZero() {
		return
	}
	show(next)(m)
	m.point, m.typing, m.turn.since = pointer{}, panes.NoPrompt, m.now
	m.resume()
}

// untouched reports whether the page is as it came, with nothing over it.
func (m *Model) untouched() bool {
	return !m.open && !m.help && m.over == overNothing && !m.point.on && m.frozen == nil && m.typing == panes.NoPrompt
}

// noKeys is the footer of a screen that nobody touches.
var noKeys []panes.KeyHelp

// big reports whether the page of big letters is up.
func (m *Model) big(f *model.Frame) bool {
	return m.opt.Kiosk != nil && !m.resting() && m.screen == overview && panes.Kiosked(f, m.size)
}

// pageAfter is the next page that has something to show.
func (m *Model) pageAfter(f *model.Frame) screen {
	pages := []screen{overview, latency, inflight, utilization, fleet, capacity}
	at := 0
	for i, s := range pages {
		if s == m.screen {
			at = i
		}
	}
	for range pages {
		at = (at + 1) % len(pages)
		switch s := pages[at]; {
		case s == utilization && len(f.Utilization)+len(f.Devices) == 0:
		case s == capacity && len(f.Capacity) == 0:
		case (s == latency || s == inflight) && len(f.Workflows) == 0:
		default:
			return s
		}
	}
	return overview
}

// touched notes that a key was pressed: the pages stand still for a while.
func (m *Model) touched() {
	if m.opt.Kiosk != nil {
		m.turn.until, m.turn.since = m.now.Add(kioskRest), m.now
	}
}

// night reports whether a time of day lies in the night.
func (k *Kiosk) night(at time.Time) bool {
	now := at.Hour()*60 + at.Minute()
	switch {
	case k.NightFrom <= k.NightTo:
		return now >= k.NightFrom && now < k.NightTo
	default:
		return now >= k.NightFrom || now < k.NightTo
	}
}
