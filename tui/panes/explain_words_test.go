package panes

import (
	"strings"
	"testing"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestWordsAreNotMissing: a word or a time that is shown in full is no number that
// nobody knows, and what was never promised is not a gap of the servers either.
func TestWordsAreNotMissing(t *testing.T) {
	const gap, none = "nothing is known of it here", "nothing is promised of it"
	for _, c := range []struct {
		frame     *model.Frame
		e         Explain
		gap, none bool
	}{
		{frame: tuitest.Breach(), e: Explain{About: About{"condition", "chat"}, Shown: "▲ chat BREACHED for 29 s"}},
		{frame: tuitest.Breach(), e: Explain{About: About{"condition", "chat"}, Shown: "10:30"}},
		{frame: tuitest.Breach(), e: Explain{About: About{"requests.retries", "chat"}, Shown: "retried –"}, gap: true},
		{frame: tuitest.Breach(), e: Explain{About: About{"requests.throttled", "chat"}, Shown: "n/e"}, gap: true},
		{frame: tuitest.Breach(), e: Explain{About: About{"itl.max", "chat"}, Shown: "–"}, none: true},
		{frame: tuitest.Breach(), e: Explain{About: About{"ttft.max", "chat"}, Shown: "500 ms"}},
	} {
		got := c.e.Render(c.frame, layout.Size{W: 100, H: 60}, Look{})
		if strings.Contains(got, gap) != c.gap || strings.Contains(got, none) != c.none {
			t.Errorf("%v shown as %q: a gap %v, unpromised %v wanted, got\n%s", c.e.About, c.e.Shown, c.gap, c.none, got)
		}
	}
}
