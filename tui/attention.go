package tui

import (
	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/model/unit"
	"slotop/tui/panes"
)

// Attention is how the screen calls people who do not look at it. A replay and a
// saved page never call: what they show is over.
type Attention struct {
	Bell    bool // the terminal bell
	Title   bool // the window's title says what is so now
	Desktop bool // a notification of the terminal's desktop, by OSC 9
	// Progress shows beside the window's title, by OSC 9;4, how far a recording or the
	// past has come, and that a promise is broken.
	Progress bool
}

// maxCall bounds the text of a notification and of the title: a bubble and a tab
// show less.
const maxCall = 120

// call rings once for what newly fires in the newest frame, frozen or not, and
// asks for attention by one notification. An alert rings again when it fires
// again, and not when it is merely still there or was acknowledged.
func (m *Model) call(f *model.Frame) tea.Cmd {
	if m.opt.Replay != nil {
		return nil
	}
	before := m.rang
	m.rang = make(map[model.AlertID]int, len(before))
	var fresh []*model.AlertView
	for i := range f.Alerts {
		a := &f.Alerts[i]
		if a.State != model.AlertFiring || !panes.Rings(a) || a.Cause != "" {
			continue
		}
		m.rang[a.ID] = a.Times
		if times, ok := before[a.ID]; (!ok || times != a.Times) && !a.Acknowledged {
			fresh = append(fresh, a)
		}
	}
	if len(fresh) == 0 || m.mute {
		return nil
	}
	out := ""
	if m.opt.Signals.Bell {
		out += "\a"
	}
	if m.opt.Signals.Desktop {
		out += "\x1b]9;" + notice(f, fresh) + "\x1b\\"
	}
	if out == "" {
		return nil
	}
	return tea.Raw(out)
}

// notice is the text of a notification. It begins with a word: a number and a
// semicolon at its beginning mean something else to some terminals.
func notice(f *model.Frame, fresh []*model.AlertView) string {
	text := "slotop: " + panes.AlertText(fresh[0])
	if f.Simulated {
		text = "slotop, simulated: " + panes.AlertText(fresh[0])
	}
	if n := len(fresh) - 1; n > 0 {
		text += " (and " + unit.Integer(float64(n)) + " more)"
	}
	return unit.TruncateRight(unit.Escape(text, true), maxCall, true)
}

// titleOf is the window's title: who is hurt now, whatever picture is frozen.
func titleOf(f *model.Frame, opt Options) string {
	switch {
	case !opt.Signals.Title:
		return ""
	case opt.Replay != nil:
		return "slotop replay"
	}
	text := "slotop"
	if s := panes.StateText(f, opt.ASCII); s != "" {
		dash := " — "
		if opt.ASCII {
			dash = " - "
		}
		text = s + dash + text
	}
	if f.Simulated {
		text += " (simulated)"
	}
	return unit.TruncateRight(text, maxCall, opt.ASCII)
}

// toggleMute silences bell and notifications for the session, or lets them call
// again.
func (m *Model) toggleMute() tea.Cmd {
	m.mute = !m.mute
	if m.mute {
		m.say("muted: alerts show and do not call")
	} else {
		m.say("alerts call again")
	}
	return nil
}

func callable(m *Model) bool {
	return m.opt.Replay == nil && (m.opt.Signals.Bell || m.opt.Signals.Desktop)
}
