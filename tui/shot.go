package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/tui/layout"
	"slotop/tui/panes"
)

// Shot is the screen as it stands, to make a picture of.
type Shot struct {
	Screen string      // styled as the terminal is given it, in full colours
	Size   layout.Size // in cells
	Back   string      // #rrggbb: the background that its theme is made for
	At     time.Time   // of the frame; zero before the first
}

// Shot is the screen that is shown now.
func (m *Model) Shot() Shot {
	inks := m.inks
	m.inks = panes.NewInks(m.theme, false)
	defer func() { m.inks = inks }()
	return Shot{
		Screen: m.View().Content, Size: layout.Size{W: m.width(), H: m.size.H}, Back: m.theme.Canvas(), At: m.frame().At.Wall,
	}
}

// keptMsg says where a picture is, or why it is nowhere.
type keptMsg struct {
	where string
	err   error
}

// picture keeps a picture of the screen. Making it takes longer than a key may, and one
// is made at a time.
func (m *Model) picture() tea.Cmd {
	if m.keeping {
		m.say("still making the last picture")
		return nil
	}
	m.toast = "" // what was said is not part of it
	shot, keep := m.Shot(), m.opt.Picture
	m.keeping = true
	m.say("making a picture")
	return func() tea.Msg {
		where, err := keep(shot)
		return keptMsg{where, err}
	}
}

func (m *Model) onKept(msg keptMsg) {
	m.keeping = false
	if msg.err != nil {
		m.say(msg.err.Error())
		return
	}
	m.say("wrote " + msg.where)
}

func canPicture(m *Model) bool { return m.opt.Picture != nil }

// Screens are the names of the numbered screens, in the order of their keys.
func Screens() []string {
	var out []string
	for _, b := range bindings {
		if b.group == groupScreens && b.here != nil {
			out = append(out, b.short)
		}
	}
	return out
}
