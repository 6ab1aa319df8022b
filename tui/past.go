package tui

import "slotop/model"

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

// goTo shows an instant: of a recording by going there, live by freezing the picture
// that is nearest to it.
func (m *Model) goTo(at model.Instant) {
	if m.opt.Replay != nil {
		m.opt.Replay.Seek(at.Sub(m.frame().Started))
		return
	}
	if m.opt.Past == nil {
		return
	}
	if f := m.opt.Past.Near(at); f != nil {
		m.frozen = f
	}
}
