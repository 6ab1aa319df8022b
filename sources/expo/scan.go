package expo

import (
	"bytes"
	"math"
	"slices"
)

// maxBadLines is how many skipped lines a page shows; the rest is counted.
const maxBadLines = 5

// maxRoom bounds what is set aside before a single line is understood.
const maxRoom = 1 << 13

var byteOrderMark = []byte("\xEF\xBB\xBF")

// none stands for "no entry" and "no series".
const none = -1

// Scanner reads the pages of one target. Most lines of a page start like a line
// of the page before, so it remembers every beginning it has understood, and
// which one followed it: a steady page is compared, not parsed, and only its
// numbers are read. It is not for use by several goroutines at once.
type Scanner struct {
	// Complete says that a body is known to be whole, by its length for instance.
	// Otherwise a last line without a line feed is skipped: its value may be cut.
	Complete bool

	lim  Limits
	page Page

	lines    *Lines // shared with other scanners, or nil
	entries  []entry
	tables   *tables  // nil while no page needs them
	origin   []*line  // of each series: the line that introduced it
	at       []uint32 // of each series: the last page that had it
	families families
	sample   sampleLine
	excerpt  []byte

	gathering *gathering // of pages that are read line by line, else nil

	now      uint32 // number of the page, from 1
	turn     int    // on which page of a generation to ask for the verdict
	age      int    // pages of this generation
	judged   int    // the generation that has its verdict
	head     int32  // the first entry of the last page
	last     int32  // the entry of the line before, or none
	bytes    int    // what the texts of all entries hold
	size     int    // of the body
	seen     int    // series on this page
	declared int    // families declared on this page …
	before   int    // … and on the page before
	changed  bool   // series or declarations are not those of the page before
	metadata bool   // the page has a # HELP or # TYPE line
	full     bool   // a series was refused for want of room
	long     bool   // a line was longer than the limit
	gaps     bool   // some series were not on the page before
	ended    bool   // # EOF was read
	looked   bool   // the page needed the tables
}

// entry is a line that was understood before, and its place here.
type entry struct {
	*line
	next int32 // the entry that followed it the last time
	of   int32 // its series, or the family that it declares
}

// NewScanner returns a scanner for one target.
func NewScanner(lim Limits) *Scanner {
	s := &Scanner{lim: lim.orDefault(), turn: 1}
	s.forget()
	return s
}

// Scan reads one body. The error is a *NotMetricsError or an *OversizedError;
// whatever else may be wrong with a page is counted in it. The page is valid
// until the next Scan.
func (s *Scanner) Scan(body []byte) (*Page, error) {
	if len(body) > s.lim.Body {
		return nil, &OversizedError{Size: len(body), Limit: s.lim.Body}
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	if what := sniff(body); what != "" {
		return nil, notMetrics(what, body)
	}
	defer func() { s.sample.line = nil }() // the body is the caller's again
	if s.gathering != nil {
		s.startAnew()
	}
	s.read(body)
	if what := s.doubt(); what != "" {
		if s.page.New > 0 {
			s.forget()
		}
		return nil, notMetrics(what, body)
	}
	if !s.settle() {
		s.forget()
		s.read(body)
		s.settle()
	}
	if first := s.page.New == len(s.page.Series); first || !s.looked {
		s.dropTables() // after the first page too: the second is nearly always like it
	}
	s.judge(body)
	return &s.page, nil
}

// forget empties every table. The next page starts a new generation.
func (s *Scanner) forget() {
	s.page.Series = nil
	s.page.Families = nil
	s.page.Values = s.page.Values[:0]
	s.page.Seen = s.page.Seen[:0]
	s.page.Generation++
	s.dropTables()
	s.entries = nil
	s.origin, s.at = nil, s.at[:0]
	s.families = families{}
	s.head, s.bytes, s.seen, s.declared, s.gaps, s.age = none, 0, 0, 0, false, 0
}

// makeRoom sizes empty tables for the lines of a body, so that a first page
// neither grows them step by step nor leaves them half empty.
func (s *Scanner) makeRoom(body []byte) {
	samples, comments := 0, 0
	for rest := body; len(rest) > 0; {
		switch {
		case rest[0] != '#':
			samples++
		case !bytes.HasPrefix(rest, help):
			comments++
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		rest = rest[end+1:]
	}
	samples, comments = min(samples, maxRoom), min(comments, maxRoom)
	s.entries = make([]entry, 0, samples+comments)
	s.families.all = make([]family, 0, comments)
	s.origin = make([]*line, 0, samples)
	p := &s.page
	p.Series = make([]*Series, 0, samples)
	p.Families = make([]Family, 0, comments)
	p.Values = slices.Grow(p.Values, samples)
	p.Seen = slices.Grow(p.Seen, samples)
	s.at = slices.Grow(s.at, samples)
}

// read goes through the body once.
func (s *Scanner) read(body []byte) {
	if s.entries == nil {
		s.makeRoom(body)
	}
	s.size = len(body)
	s.begin()
	for pos := 0; pos < len(body) && !s.ended; {
		if pos = s.steady(body, pos); pos >= len(body) {
			return
		}
		s.page.Lines++
		length := bytes.IndexByte(body[pos:], '\n')
		if length >= 0 {
			s.line(body[pos : pos+length])
			pos += length + 1
			continue
		}
		s.lastLine(body[pos:])
		return
	}
}

func (s *Scanner) begin() {
	s.now++
	s.last, s.seen = none, 0
	s.before, s.declared = s.declared, 0
	s.changed, s.metadata, s.full, s.long, s.ended, s.looked = false, false, false, false, false, false
	p := &s.page
	p.BadLines = p.BadLines[:0]
	p.New, p.Lines, p.Bad, p.Dropped, p.Repeated, p.Unlike = 0, 0, 0, 0, 0, 0
}

// lastLine takes a line that no line feed ends.
func (s *Scanner) lastLine(line []byte) {
	switch {
	case s.Complete || string(line) == "# EOF" || len(bytes.TrimSpace(line)) == 0:
		s.line(line)
	default:
		s.bad(line, whyCut)
	}
}

// line reads a line that was not foreseen.
func (s *Scanner) line(line []byte) {
	if len(line) > s.lim.Line {
		s.long = true
		s.bad(line, whyLong)
		return
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	start := skipBlanks(line, 0)
	if start == len(line) {
		return
	}
	if line[start] == '#' {
		s.comment(line)
		return
	}
	if why := s.sample.parse(line); why != "" {
		s.bad(line, why)
		return
	}
	s.take()
}

// comment reads a comment. Only # TYPE lines are remembered: text that changes
// from page to page must not fill the tables.
func (s *Scanner) comment(text []byte) {
	if string(text) == "# EOF" {
		s.ended = true
		return
	}
	if s.gathering != nil {
		s.declareStreamed(text)
		return
	}
	if id, ok := s.lookup().byText[string(text)]; ok {
		s.follow(id)
		s.declare(&s.entries[id])
		return
	}
	ln := s.lines.find(text)
	if ln == nil {
		c, why := parseComment(text)
		if why != "" {
			s.bad(text, why)
			return
		}
		s.metadata = s.metadata || c.keyword != ""
		if c.keyword != "TYPE" {
			return
		}
		ln = s.lines.add(&line{text: string(text), name: c.family, declares: true, typ: c.typ})
	}
	e := entry{ln, none, s.families.index(ln.name)}
	s.declare(&e)
	s.remember(e)
}

func (s *Scanner) declare(e *entry) {
	s.metadata = true
	first, changed := s.families.declare(e.of, e.typ, s.now)
	if first {
		s.declared++
	}
	s.changed = s.changed || changed
}

// take notes the sample that was just parsed.
func (s *Scanner) take() {
	if s.gathering != nil {
		s.gathering.take(s)
		return
	}
	prefix := s.sample.line[:s.sample.prefix]
	if id, ok := s.lookup().byText[string(prefix)]; ok {
		s.follow(id)
		s.see(s.entries[id].of, s.sample.value)
		return
	}
	if len(s.sample.labels) > s.lim.Labels {
		s.page.Dropped++
		return
	}
	ln := s.lines.find(prefix)
	if ln == nil {
		if why := s.sample.checkLabels(); why != "" {
			s.bad(s.sample.line, why)
			return
		}
	}
	if ln == nil {
		ln = s.lines.add(s.sample.understood())
	}
	series := s.identify(ln)
	if series == none {
		s.page.Dropped++
		return
	}
	s.see(series, s.sample.value)
	s.remember(entry{ln, none, series})
}

// follow notes that entry id came after the line before.
func (s *Scanner) follow(id int32) {
	if s.last == none {
		s.head = id
	} else {
		s.entries[s.last].next = id
	}
	s.last = id
}

func (s *Scanner) remember(e entry) {
	id := int32(len(s.entries))
	s.entries = append(s.entries, e)
	s.tables.byText[e.text] = id
	s.bytes += len(e.text)
	s.follow(id)
}

// see gives series i its value on this page.
func (s *Scanner) see(i int32, value float64) {
	before := s.page.Values[i]
	s.page.Values[i] = value
	switch s.at[i] {
	case s.now:
		s.page.Repeated++
		if before != value && !(math.IsNaN(before) && math.IsNaN(value)) {
			s.page.Unlike++
		}
		return
	case s.now - 1:
	default:
		s.changed = true
	}
	s.at[i] = s.now
	s.seen++
}

// identify finds the series of a line, or introduces it. It returns none where a
// limit forbids that. Two spellings of the same name and labels, in whatever
// order, are one series.
func (s *Scanner) identify(ln *line) int32 {
	for key := ln.identity; ; key++ {
		i, ok := s.tables.bySeries[key]
		if !ok {
			break
		}
		if s.origin[i].sameSeries(ln) {
			return i
		}
	}
	if len(s.page.Series) >= s.lim.Series {
		s.full = true
		return none
	}
	i := int32(len(s.page.Series))
	s.tables.place(ln.identity, i)
	s.page.Series = append(s.page.Series, nil) // settle tells its family
	s.page.Values = append(s.page.Values, 0)
	s.page.Seen = append(s.page.Seen, true)
	s.origin = append(s.origin, ln)
	s.at = append(s.at, s.now-1)
	s.page.New++
	return i
}
