package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Status is what the header says beside the frame.
type Status struct {
	Frozen   bool
	Past     bool          // it is frozen where the viewer went back to
	Behind   time.Duration // how much newer the newest frame is than the frozen one
	Silent   time.Duration // how long no new frame has come, whole seconds; 0: it comes
	Recorded bool          // it is of a recording, though none is replayed
	Replay   bool
	Position time.Duration
	Length   time.Duration
	Speed    float64
	Paused   bool
	AtEnd    bool
	Going    bool // on its way to where the viewer wants it
	Damaged  bool // part of the recording is lost
	Bar      Bar  // where the picture stands on what is known
}

// Header is the first line: what is watched, whether it is live, and when.
type Header struct{ Status Status }

// Name names the pane.
func (Header) Name() string { return "header" }

// Want is one line.
func (Header) Want(*model.Frame, int, Look) layout.Want { return layout.Fixed(1) }

// Render draws the line.
func (h Header) Render(f *model.Frame, size layout.Size, look Look) string {
	left := []part{say(4, themes.Strong, "slotop")}
	if f.Simulated {
		left = append(left, say(0, themes.Warn, "SIMULATED"))
	}
	if h.Status.Damaged {
		left = append(left, say(0, themes.Breach, "TAPE DAMAGED"))
	}
	watched := say(6, themes.Muted, h.watched(f))
	right := h.mode(look)
	at := len(right)
	if !f.At.IsZero() {
		right = append(right,
			say(0, themes.Text, f.At.Wall.UTC().Format("15:04:05")+" UTC"),
			say(3, themes.Muted, brief(window(f, look), size.W)).of("window", ""))
	}
	l := look.line(size.W - 1).pad(1)
	if h.Status.Bar.Known {
		room := func(left []part) int { return l.max - l.w - widthOf(left, 2) - widthOf(right, 2) - 4 }
		if all := append(left, watched); room(all) >= barLeast {
			left = all
		}
		bar := h.Status.Bar.part(min(max(room(left), barLeast), barMost), 4, look)
		right = slices.Insert(right, at, bar)
	} else {
		left = append(left, watched)
	}
	return l.ends(2, left, right).String()
}

// The least and the most cells of a position bar. It is worth more than the count of
// what is watched.
const (
	barLeast = 10
	barMost  = 48
)

// watched counts the targets by kind, where each of them is known to be one, and
// instead of those that tell of GPUs the GPUs. What finds targets counts by them.
func (h Header) watched(f *model.Frame) string {
	kinds := map[string]int{}
	known := true
	for _, t := range f.Targets {
		kinds[t.Kind]++
		known = known && (t.Kind != model.EngineTarget || t.Engine != "")
	}
	out := ""
	if !known {
		out, kinds = plural(len(f.Targets)-kinds[model.GPUTarget]-kinds[model.FinderTarget], "target"), map[string]int{model.GPUTarget: kinds[model.GPUTarget]}
	}
	for _, kind := range []string{model.EngineTarget, model.GatewayTarget, model.GPUTarget, model.PrometheusTarget, model.ProbeTarget} {
		n, text := kinds[kind], plural(kinds[kind], kindWord(kind))
		if kind == model.GPUTarget && f.DeviceSum != nil {
			n, text = f.DeviceSum.Total, gpuCount(f)+" "+verb(f.DeviceSum.Total, "GPU", "GPUs")
		}
		if n > 0 {
			if out != "" {
				out += ", "
			}
			out += text
		}
	}
	return out
}

func kindWord(kind string) string {
	switch kind {
	case model.GPUTarget:
		return "GPU target"
	case "prometheus":
		return "Prometheus server"
	default:
		return kind
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// mode says how the picture relates to now. An old frame is never passed off as
// a new one.
func (h Header) mode(look Look) []part {
	s := h.Status
	switch {
	case s.Past:
		return []part{
			say(0, themes.Warn, "PAST"), say(0, themes.Warn, look.span(s.Behind)+" ago"),
			part{segs: []seg{{themes.Key, "g"}, {themes.Muted, " live"}}, drop: 2}.of(MarkKey+"g", ""),
		}
	case s.Frozen && s.Behind >= time.Second:
		return []part{say(0, themes.Warn, "FROZEN"), say(2, themes.Muted, look.span(s.Behind)+" ago")}
	case s.Frozen:
		return []part{say(0, themes.Warn, "FROZEN")}
	case s.Replay:
		return h.replay(look)
	case s.Silent > 0:
		return []part{say(0, themes.Breach, "NO NEW FRAME"), say(2, themes.Breach, "for "+look.span(s.Silent))}
	case s.Recorded:
		return []part{say(0, themes.Muted, "RECORDED")}
	default:
		return []part{say(0, themes.Muted, "LIVE")}
	}
}

func (h Header) replay(look Look) []part {
	s := h.Status
	place := clockSpan(s.Position)
	if s.Length > 0 {
		place += "/" + clockSpan(s.Length)
	}
	how := ""
	switch {
	case s.Going:
		how = "going there"
	case s.AtEnd:
		how = "at the end"
	case s.Paused:
		how = "paused"
	}
	if s.Speed > 0 && s.Speed != 1 && !s.AtEnd {
		how = strings.TrimSpace(how + " " + fmt.Sprintf("%s%g", look.pick("×", "x"), s.Speed))
	}
	return []part{say(0, themes.Strong, "REPLAY"), say(1, themes.Text, place), say(2, themes.Warn, how)}
}

// clockSpan writes a length of time as h:mm:ss or mm:ss: a position is read like
// a clock, not like a latency.
func clockSpan(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// noWindow is that there are no numbers yet.
const noWindow = "no window yet"

// brief is what the numbers cover on a screen of w cells: without a window, the name of
// the program has room beside it.
func brief(window string, w int) string {
	if window == noWindow && w < narrow {
		return "no window"
	}
	return window
}

// window says what the numbers cover; less than asked for is said.
func window(f *model.Frame, look Look) string {
	asked := look.span(time.Duration(f.WindowS * float64(time.Second)))
	switch {
	case f.CoveredS.OK():
	case slices.ContainsFunc(f.Targets, func(t model.TargetView) bool { return t.Polls-t.FailedPolls > 1 }):
		return "last " + asked // there was one, and nobody answers any more
	default:
		return noWindow
	}
	if got := f.CoveredS.Value; got < 0.9*f.WindowS {
		return look.span(time.Duration(got*float64(time.Second)).Round(time.Second)) + " of " + asked
	}
	return "last " + asked
}
