package expo

import "testing"

// A steady target keeps no tables: only a page that goes on unlike the one
// before needs them.
func TestTablesAreKeptOnlyWhileNeeded(t *testing.T) {
	s := NewScanner(Limits{})
	for i, step := range []struct {
		body string
		kept bool
	}{
		{"# TYPE a counter\na 1\nb 1\n", false},
		{"# TYPE a counter\na 2\nb 2\n", false},
		{"# TYPE a counter\nb 3\na 3\n", true},
		{"# TYPE a counter\nb 4\na 4\n", false},
		{"# TYPE a counter\nb 5\na 5\nc 5\n", true},
		{"# TYPE a counter\nb 6\na 6\nc 6\n", false},
	} {
		p := rescan(t, s, step.body)
		if kept := s.tables != nil; kept != step.kept || p.Bad != 0 || p.Repeated != 0 || s.seen != len(p.Series) {
			t.Errorf("page %d: tables kept: %v; %+v", i+1, kept, p)
		}
	}
}
