package fleet

import (
	"slices"

	"slotop/model/series"
)

const (
	// backWithin is after how many pages at most counters that fell may stand again
	// where they stood: sooner than any server counts its whole life anew.
	backWithin = 3
	// backOften is how often that must happen before it is said: a server that had
	// counted next to nothing may do it once.
	backOften = 2
	// settledAfter is for how many pages nothing may fall before the address is
	// taken for one server again.
	settledAfter = 16
)

// turns recognises that several servers answer at one address in turn where their
// pages do not say when they started: counters fall, and soon stand higher than
// before.
type turns struct {
	before []float64 // what the counters showed before they fell; nil for long ago
	pages  int       // since they fell
	back   int       // how often they stood there again
	doubt  bool      // this page may be another server's than the last
}

// fell decides what it means that counters fell, or that they did not, and reports
// whether the server restarted.
func (t *target) fell(fell bool) bool {
	u := &t.turns
	u.pages++
	switch {
	case u.back >= backOften:
		if fell {
			u.pages = 0
		} else if u.pages > settledAfter {
			*u, t.alternates = turns{}, false
			return false
		}
		t.several()
		return false
	case fell:
		u.before, u.pages = slices.Clone(t.counters.Last()), 0
		return true
	case u.before == nil:
		return false
	case u.pages > backWithin:
		u.before = nil
	case stands(t.row, u.before):
		u.before = nil
		if u.back++; u.back < backOften {
			t.forgetCounts()
			return false
		}
		u.pages = 0
		t.several()
	}
	return false
}

// stands reports whether no counter shows less than before.
func stands(row, before []float64) bool {
	for i, v := range before {
		if i < len(row) && row[i] < v {
			return false
		}
	}
	return true
}

// several notes that different servers answer at one address in turn.
func (t *target) several() {
	t.alternates = true
	t.forgetCounts()
}

// forgetCounts begins anew with this page: what it shows has nothing in common
// with what was counted before, and nothing of it is an increase.
func (t *target) forgetCounts() {
	t.turns.doubt = true
	t.ring = series.NewRing(0, t.reach)
	t.counters = series.Counters{}
	for _, sl := range t.cols.slots {
		sl.anew = true
	}
}
