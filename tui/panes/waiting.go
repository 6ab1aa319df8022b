package panes

import (
	"fmt"
	"math"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Waiting fills the screen while no target has answered well: what is being
// tried, what came back, and what to do about it.
type Waiting struct{}

// Name names the pane.
func (Waiting) Name() string { return "waiting" }

// Want takes all the room there is.
func (Waiting) Want(*model.Frame, int, Look) layout.Want {
	return layout.Want{Min: 3, Ideal: 10, Max: math.MaxInt16}
}

// Render draws a paragraph for each target, those that failed first.
func (Waiting) Render(f *model.Frame, size layout.Size, look Look) string {
	out := []string{look.line(size.W).pad(1).parts(3,
		part{segs: []seg{{themes.Strong, waitingTitle(f)}}},
		say(1, themes.Muted, pace(f, look))).String(), ""}
	if len(f.Targets) == 0 {
		return lines(size.H, append(out, howToWatch(size.W, look)...)...)
	}
	order := targetOrder(f, "", ByState)
	shown := 0
	for _, t := range order {
		para := tried(f, t, size.W, look)
		room := size.H - len(out)
		if shown < len(order)-1 {
			room-- // for the line that counts the others
		}
		if len(para) > room {
			if shown > 0 || room < 1 {
				break
			}
			para = para[:room]
		}
		out = append(out, para...)
		shown++
	}
	if rest := len(order) - shown; rest > 0 {
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, fmt.Sprintf("+ %d more", rest)).String())
	}
	return lines(size.H, out...)
}

func waitingTitle(f *model.Frame) string {
	switch n := len(f.Targets); n {
	case 0:
		return "nothing to watch yet"
	case 1:
		return "no good answer yet from the target"
	default:
		return fmt.Sprintf("no good answer yet from any of %d targets", n)
	}
}

func pace(f *model.Frame, look Look) string {
	if f.Every <= 0 {
		return ""
	}
	for i := range f.Targets {
		if f.Targets[i].Fault != nil {
			return "retried with growing pauses"
		}
	}
	return "tried every " + look.span(f.Every)
}

// tried is what is known of one target: address, fault and what to do.
func tried(f *model.Frame, t *model.TargetView, w int, look Look) []string {
	c := conditionOf(t)
	name := look.foreign(t.Name, max(w/2, 12))
	if t.Fault == nil {
		text := "asked, no answer yet"
		if d := f.At.Sub(f.Started); !f.Started.IsZero() && d >= time.Second {
			text += " after " + look.span(d.Truncate(time.Second))
		}
		return []string{look.line(w).pad(1).put(conditionTable[c].role, look.mark(c)).pad(indent).
			put(themes.Strong, name).pad(indent+cells(name)+2).put(themes.Muted, text).String()}
	}
	head := look.line(w).pad(1).put(conditionTable[c].role, look.mark(c)).pad(indent).
		put(themes.Strong, name).pad(indent+cells(name)+2).put(themes.Breach, t.Fault.Kind.Word()).
		parts(0, say(1, themes.Muted, tries(t)))
	out := []string{head.String()}
	for _, l := range wrap(look.sentence(t.Fault.Detail, maxProse), w-indent-2) {
		out = append(out, look.line(w).pad(indent+2).put(themes.Text, l).String())
	}
	return out
}

func tries(t *model.TargetView) string {
	if t.FailedPolls <= 1 {
		return ""
	}
	return fmt.Sprintf("  %s tries", unit.Count(float64(t.FailedPolls)))
}
