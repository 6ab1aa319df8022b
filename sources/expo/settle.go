package expo

import (
	"bytes"
	"math"
)

// Entries are kept while their lines are away, since lines come and go. What
// is away may take as much as what is there, and this much more.
const (
	spareEntries = 1024
	spareBytes   = 256 << 10
)

// settle finishes a page. It reports false where the tables do not fit it any
// more: a family changed its type, or too much of what they hold is gone from
// the page. They must then be built anew from the page.
func (s *Scanner) settle() bool {
	p := &s.page
	known := len(p.Series) - p.New
	if s.changed || s.declared != s.before {
		for i := range known {
			if s.at[i] == s.now && !s.sameFamily(p.Series[i]) {
				return false
			}
		}
	}
	s.classify(known)
	if s.changed || s.declared != s.before {
		s.listFamilies()
	}
	gaps := s.seen < len(p.Series)
	if gaps || s.gaps {
		s.markSeen()
	}
	s.gaps = gaps
	return !s.crowded(gaps)
}

// classify gives the series from the given one on their families.
func (s *Scanner) classify(from int) {
	name, family, typ := "", "", Untyped
	for i, ln := range s.origin[from:] {
		if ln.name != name { // the buckets of a histogram follow each other
			name = ln.name
			family, typ = s.families.cover(name, s.now)
		}
		s.page.Series[from+i] = ln.as(family, typ)
	}
}

func (s *Scanner) listFamilies() {
	s.page.Families = s.page.Families[:0]
	for _, f := range s.families.all {
		if f.at == s.now {
			s.page.Families = append(s.page.Families, Family{Name: f.name, Type: f.typ})
		}
	}
}

func (s *Scanner) sameFamily(series *Series) bool {
	name, typ := s.families.cover(series.Name, s.now)
	return name == series.Family && typ == series.Type
}

func (s *Scanner) markSeen() {
	for i := range s.at {
		seen := s.at[i] == s.now
		s.page.Seen[i] = seen
		if !seen {
			s.page.Values[i] = math.NaN()
		}
	}
}

// crowded is whether series that are gone take room that is needed, or too much.
func (s *Scanner) crowded(gaps bool) bool {
	if s.full && gaps {
		return true
	}
	here := s.seen + s.declared + s.page.Repeated
	return len(s.entries) > 2*here+spareEntries || s.bytes > 2*s.size+spareBytes ||
		len(s.families.all) > 2*here+spareEntries
}

// bad counts a skipped line and keeps the first few. The excerpt is built in a
// buffer, and the string of the last page used again if it says the same: a
// page with the same bad line at every poll allocates nothing.
func (s *Scanner) bad(line []byte, why string) {
	p := &s.page
	p.Bad++
	n := len(p.BadLines)
	if n == maxBadLines {
		return
	}
	s.excerpt = appendExcerpt(s.excerpt[:0], bytes.TrimSuffix(line, []byte{'\r'}))
	if n < cap(p.BadLines) {
		p.BadLines = p.BadLines[:n+1]
	} else {
		p.BadLines = append(p.BadLines, BadLine{})
	}
	b := &p.BadLines[n]
	b.Line, b.Why = p.Lines, why
	if b.Excerpt != string(s.excerpt) {
		b.Excerpt = string(s.excerpt)
	}
}
