package panes

import (
	"strings"
	"testing"

	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestEveryScreenAsks: each screen's title is a question, whole on 80 columns.
func TestEveryScreenAsks(t *testing.T) {
	asked := map[string]bool{}
	for _, s := range Screens {
		got := Title{s}.Render(tuitest.Calm(), layout.Size{W: 80, H: 1}, Look{})
		for _, w := range []string{strings.ToUpper(s.Name), s.Asks} {
			if !strings.Contains(got, w) {
				t.Errorf("no %q in %q", w, got)
			}
		}
		if !strings.HasSuffix(got, "?") || asked[s.Asks] {
			t.Errorf("%q is no question of its own", got)
		}
		asked[s.Asks] = true
	}
}

// TestTitleGivesWay: on small screens the title's line belongs to what it asks about.
func TestTitleGivesWay(t *testing.T) {
	for i, s := range Screens {
		for _, tc := range []struct {
			size layout.Size
			want bool
		}{
			{layout.Size{W: 40, H: 10}, false}, {layout.Size{W: 79, H: 24}, false}, {layout.Size{W: 80, H: 23}, false},
			{layout.Size{W: 80, H: 24}, i > 0}, {layout.Size{W: 120, H: 40}, true}, {layout.Size{W: 200, H: 60}, true},
		} {
			if got := s.Titled(tc.size); got != tc.want {
				t.Errorf("%s at %d×%d: titled %v, want %v", s.Name, tc.size.W, tc.size.H, got, tc.want)
			}
		}
	}
}
