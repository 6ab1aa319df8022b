package panes

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/chart"
)

// pointable marks the lines of a chart over time, so that a click on it is one on an
// instant, and the numbers at its right, so that they can be explained. Charts are drawn
// by a package that knows of neither.
func (k Look) pointable(lines []string, f *model.Frame, w, tags int, span time.Duration, end model.Instant, numbers map[string]About) []string {
	if !k.Spots {
		return lines
	}
	x0, n, first, last := chart.Axis(w, tags, span, end.Mono)
	if n == 0 {
		return lines
	}
	behind := f.At.Sub(end)
	mark := markOf(About{MarkChart, fmt.Sprintf("%d,%d,%d,%d", x0, n, (behind + first).Milliseconds(), (behind + last).Milliseconds())})
	out := make([]string, len(lines))
	for i, l := range lines {
		at := cellAt(l, x0+n)
		from, text := l[:at], l[at:]
		about, known := numbers[strings.TrimSpace(ansi.Strip(text))]
		if !known {
			out[i] = mark + l + markBegin + markEnd
			continue
		}
		out[i] = mark + from + markBegin + markEnd + markOf(about) + text + markBegin + markEnd
	}
	return out
}

// cellAt is the byte at which cell n of a styled line begins, its end where it is shorter.
func cellAt(s string, n int) int {
	at, state := 0, byte(0)
	for at < len(s) {
		_, width, size, next := ansi.DecodeSequence(s[at:], state, nil)
		if n -= width; n < 0 {
			return at
		}
		at, state = at+size, next
	}
	return len(s)
}
