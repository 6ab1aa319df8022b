package tui

import (
	"cmp"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/model/unit"
	"slotop/tui/panes"
)

// Past is what a live screen still knows of what was. Its methods are called from
// Update and must not block; the frames are shared and never written to.
type Past interface {
	// Step is the frame that lies that many frames after from, or before it when by
	// is negative: nil where there is none.
	Step(from *model.Frame, by int) *model.Frame
	// Near is the frame nearest to an instant; nil where nothing is known yet.
	Near(at model.Instant) *model.Frame
	// Since is the first frame that is not earlier than an instant; nil where there is
	// none.
	Since(at model.Instant) *model.Frame
	// Span is when the oldest and the newest frame are of; two zero instants where
	// nothing is known yet.
	Span() (from, to model.Instant)
}

// inPast reports whether a live screen was led back. A picture that was frozen stands
// still as well, but where the viewer left it.
func (m *Model) inPast() bool { return m.frozen != nil && m.led }

// timed reports whether there is a time to travel in.
func timed(m *Model) bool { return m.opt.Replay != nil || m.opt.Past != nil }

// stop lets the picture stand still at a frame, all screens alike. Collection goes on.
func (m *Model) stop(f *model.Frame) {
	if f.At.Mono >= m.newest.At.Mono {
		m.resume()
		return
	}
	m.frozen, m.led = f, true
}

// resume goes live.
func (m *Model) resume() { m.frozen, m.led = nil, false }

// goTo shows an instant: of a recording by going there, live by stopping at the frame
// that is nearest to it, which may be far from it where charts know more than is kept.
func (m *Model) goTo(at model.Instant) {
	if m.opt.Replay != nil {
		m.opt.Replay.Seek(at.Sub(m.frame().Started))
		return
	}
	if m.opt.Past == nil {
		return
	}
	if f := m.opt.Past.Near(at); f != nil {
		m.stop(f)
	}
	if oldest, _ := m.opt.Past.Span(); at.Mono < oldest.Mono {
		m.say("nothing older is kept")
	}
}

// step goes frames forward, or back. Beyond the newest frame it goes live.
func step(frames int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.opt.Replay != nil {
			m.opt.Replay.Step(frames)
			return nil
		}
		f := m.opt.Past.Step(m.frame(), frames)
		switch {
		case f != nil:
			m.stop(f)
		case frames < 0:
			m.say("nothing older is kept")
		case m.frozen != nil:
			m.resume()
		default:
			m.say("this is live")
		}
		return nil
	}
}

// jump goes minutes forward, or back.
func jump(minutes int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		by := time.Duration(minutes) * time.Minute
		if m.opt.Replay != nil {
			m.opt.Replay.Jump(by)
			return nil
		}
		m.goTo(m.frame().At.Add(by))
		if by > 0 && m.frozen == nil {
			m.say("this is live")
		}
		return nil
	}
}

// toEvent goes to the next event, or the one before.
func toEvent(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.opt.Replay != nil {
			m.opt.Replay.Event(by)
			return nil
		}
		f := m.eventFrame(by)
		switch {
		case f != nil:
			m.stop(f)
			m.say(Happened(m.newest.Events, m.opt.Past.Step(f, -1), f))
		case by < 0:
			m.say("no event before this is kept")
		case m.frozen == nil:
			m.say("this is live")
		default:
			m.say("no event after this")
		}
		return nil
	}
}

// eventFrame is the first frame that knows of the event before the one that is shown,
// or after it; nil where there is none.
func (m *Model) eventFrame(by int) *model.Frame {
	return EventFrame(m.newest.Events, m.frame().At, by, m.opt.Past)
}

// EventFrame is, of the frames that are kept, the first that knows of the last event
// before an instant where by is -1, and of the next one after it where by is 1; nil
// where there is none.
func EventFrame(events []model.Event, at model.Instant, by int, kept interface {
	Since(model.Instant) *model.Frame
	Span() (from, to model.Instant)
},
) *model.Frame {
	oldest, _ := kept.Span()
	for i := range events {
		e := &events[i]
		if by < 0 {
			e = &events[len(events)-1-i]
		}
		if e.At.Mono < oldest.Mono {
			continue
		}
		f := kept.Since(e.At)
		if f != nil && cmp.Compare(f.At.Mono, at.Mono) == by {
			return f
		}
	}
	return nil
}

// Happened says what happened after one frame and up to the next: "03:09:12 restart of
// vllm-0"; "" where nothing did. Without a frame before it is all that happened up to
// then.
func Happened(events []model.Event, before, f *model.Frame) string {
	text, more := "", 0
	for _, e := range events {
		switch {
		case before != nil && e.At.Mono <= before.At.Mono || e.At.Mono > f.At.Mono:
		case text == "":
			text = panes.EventText(e)
		default:
			more++
		}
	}
	if more > 0 {
		text += " and " + unit.Integer(float64(more)) + " more"
	}
	return text
}

// lookAtReplay says what came of an order that the replay could not obey, or found.
func (m *Model) lookAtReplay() {
	if m.opt.Replay == nil {
		return
	}
	if p := m.opt.Replay.Position(); p.Words != m.words {
		m.words = p.Words
		m.say(p.Word)
	}
}

// goLive goes to the newest there is: live, or the end of a recording.
func (m *Model) goLive() tea.Cmd {
	m.toast = "" // of an event that is not on the screen any more
	switch {
	case m.opt.Replay != nil:
		return m.toEnd()
	case m.frozen == nil:
		m.say("this is live")
	default:
		m.resume()
	}
	return nil
}

// toggleFreeze keeps the picture; collection goes on.
func (m *Model) toggleFreeze() tea.Cmd {
	if m.frozen != nil {
		m.resume()
		return nil
	}
	m.frozen = m.frame()
	return nil
}

// status is what the header says beside the frame. Ages are in whole seconds, so
// that a screen on which nothing moves stays the same.
func (m *Model) status(f *model.Frame) panes.Status {
	s := panes.Status{}
	silent := time.Duration(0)
	if d := m.now.Sub(m.cameAt); d >= silentAfter && !m.cameAt.IsZero() {
		silent = d
	}
	switch {
	case m.opt.Replay != nil:
		p := m.opt.Replay.Position()
		s.Replay, s.Paused, s.AtEnd, s.Speed, s.Damaged, s.Going = true, p.Paused, p.Ended, p.Speed, p.Damaged, p.Going
		s.Position, s.Length = p.At.Truncate(time.Second), p.Length.Truncate(time.Second)
		s.Bar = panes.NewBar(m.newest.Started, m.newest.Started.Add(p.Length), m.newest.Started.Add(p.At), m.opt.Replay.Events())
	case m.frozen != nil:
		s.Frozen, s.Past = true, m.led
		s.Behind = m.age(m.newest.At.Sub(f.At) + silent)
		if m.led {
			from, to := m.opt.Past.Span()
			s.Bar = panes.NewBar(from, to, f.At, m.newest.Events)
		}
	default:
		s.Silent, s.Recorded = m.age(silent), m.opt.Recorded
	}
	return s
}

// age is how long something is ago, in the steps in which the screen tells it.
func (m *Model) age(d time.Duration) time.Duration {
	if m.opt.Still && d > time.Minute {
		return d.Truncate(time.Minute)
	}
	return d.Truncate(time.Second)
}

// silentAfter is when an old picture is called old: frames come at least once a
// second.
const silentAfter = 3 * time.Second
