package sources

import (
	"slices"
	"time"

	"slotop/model"
)

// maxSeen bounds the rows of a log that are known again, 5 MB of them: 70 requests
// a second for a quarter of an hour. At more the look back is shorter.
const maxSeen = 1 << 16

// seenRows knows the rows of a log again, as far back as it is asked for.
type seenRows struct {
	rows   map[uint64]seenRow // by a hash of their ID
	newest model.Stamp        // of all there were
	floor  model.Stamp        // older ones are forgotten, for want of room
	excess int                // rows that the log counts and does not give
}

// seenRow is what tells one state of a row from another.
type seenRow struct {
	by     model.Stamp // its place in the log
	said   model.Stamp // when it was so
	end    model.Stamp
	output model.Reading
	done   bool
}

// tells reports whether another state of the row says something new.
func (a seenRow) tells(b seenRow) bool {
	return a.done != b.done || a.end != b.end || a.output != b.output
}

// freshRow is a row that was not seen before, or not in this state.
type freshRow struct {
	key     uint64
	before  seenRow
	known   bool
	message message // without an ID: it cannot be used
}

func (s *seenRows) len() int { return len(s.rows) }

// forget forgets rows from before a time.
func (s *seenRows) forget(from model.Stamp) {
	if s.rows == nil {
		s.rows = map[uint64]seenRow{}
	}
	for key, row := range s.rows {
		if row.by < from {
			delete(s.rows, key)
		}
	}
}

// until are the places in the log that a look goes back to: some time before the newest
// row, and the oldest row that is under way, which may have ended since. The first is
// never behind the second.
func (s *seenRows) until() (until, open model.Stamp) {
	open = farthest
	for _, row := range s.rows {
		if !row.done {
			open = min(open, row.by)
		}
	}
	return max(0, min(open, s.newest-model.Stamp(overlap))), open
}

// undo takes back what a look that failed has seen, the last first.
func (s *seenRows) undo(fresh []freshRow) {
	for _, f := range slices.Backward(fresh) {
		if f.known {
			s.rows[f.key] = f.before
		} else {
			delete(s.rows, f.key)
		}
	}
}

// bound makes room.
func (s *seenRows) bound() {
	if len(s.rows) <= maxSeen {
		return
	}
	places := make([]model.Stamp, 0, len(s.rows))
	for _, row := range s.rows {
		places = append(places, row.by)
	}
	slices.Sort(places)
	second := model.Stamp(time.Second) // as the window is cut
	s.floor = (places[len(places)/2]/second + 1) * second
	s.forget(s.floor)
	s.excess = 0
}

// lateness measures how long after the end of a request its record is written.
type lateness struct {
	rounds [8]model.Stamp // the longest of the last looks that brought something
	now    model.Stamp
	n      int
}

// see takes a record that came with an answer of this date.
func (l *lateness) see(date model.Stamp, m *message) {
	if m.Done() && m.Completed != 0 && date > m.Completed {
		l.now = max(l.now, date-m.Completed)
	}
}

// next ends a look. The first is not one: what it brings was written long ago.
func (l *lateness) next(first bool) {
	if l.now > 0 && !first {
		l.rounds[l.n%len(l.rounds)] = l.now
		l.n++
	}
	l.now = 0
}

// longest is how late records were lately, in seconds and in steps that stand still; 0
// where they come at once or that is not known.
func (l *lateness) longest() int {
	longest := slices.Max(l.rounds[:])
	for _, step := range []int{2, 5, 10, 20, 30, 60, 120, 300, 600, 900} {
		if longest <= model.Stamp(step)*model.Stamp(time.Second) {
			if step == 2 {
				return 0
			}
			return step
		}
	}
	return 3600
}
