package expo

import "sync"

// tables find what a scanner remembers. Only a page that does not go on like the
// one before needs them: they are made for it, and given up after the first page
// that could do without.
type tables struct {
	byText   map[string]int32 // beginning of a line → entry
	bySeries map[uint64]int32 // identity → series
}

// spareTables serve the next target's first page: in a fleet all of those come
// at once.
var spareTables = sync.Pool{New: func() any { return &tables{map[string]int32{}, map[uint64]int32{}} }}

// lookup is the scanner's tables.
func (s *Scanner) lookup() *tables {
	s.looked = true
	if s.tables != nil {
		return s.tables
	}
	s.tables = spareTables.Get().(*tables)
	for i := range s.entries {
		s.tables.byText[s.entries[i].text] = int32(i)
	}
	for i, ln := range s.origin {
		s.tables.place(ln.identity, int32(i))
	}
	return s.tables
}

// place gives series i the first free key from its identity on.
func (t *tables) place(key uint64, i int32) {
	for {
		if _, taken := t.bySeries[key]; !taken {
			t.bySeries[key] = i
			return
		}
		key++
	}
}

func (s *Scanner) dropTables() {
	s.families.byName, s.families.byPlain = nil, nil
	if s.tables == nil {
		return
	}
	if len(s.tables.byText) <= maxRoom { // a single huge page must not stay in memory for good
		clear(s.tables.byText)
		clear(s.tables.bySeries)
		spareTables.Put(s.tables)
	}
	s.tables = nil
}
