package expo

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A page that is read line by line is never held: what is kept of it are tables.
// Families of few series are listed as Series all the same, so that whoever
// reads pages need not care; only the others are the page's Crowds.

// lineRoom is the least room for what is read at a time. A page begins in it, so
// that what is no page is known for what it is.
const lineRoom = 64 << 10

// ScanFrom is Scan for a page that is too large to be held. It takes longer than
// Scan does for a page like the one before, since each line is parsed anew. What
// is remembered of pages that were read the other way is forgotten. An error of
// the reader is returned as it is.
func (s *Scanner) ScanFrom(r io.Reader) (*Page, error) {
	in := bufio.NewReaderSize(r, max(s.lim.Line+2, lineRoom))
	if mark, _ := in.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		_, _ = in.Discard(len(mark))
	}
	head, err := in.Peek(lineRoom)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if what := sniff(head); what != "" {
		return nil, notMetrics(what, head)
	}
	head = bytes.Clone(head[:min(len(head), quoted)])
	if s.gathering == nil || s.gathering.spent {
		s.startAnew()
		s.gathering = newGathering()
	}
	defer func() { s.sample.line = nil }()
	if err := s.readFrom(in); err != nil {
		return nil, err
	}
	if what := s.doubt(); what != "" {
		s.startAnew()
		return nil, notMetrics(what, head)
	}
	s.settleGathered()
	return &s.page, nil
}

// startAnew forgets the tables of pages that were read line by line.
func (s *Scanner) startAnew() {
	s.gathering = nil
	s.page.Crowds = nil
	s.forget()
}

// readFrom goes through a page once.
func (s *Scanner) readFrom(in *bufio.Reader) error {
	s.begin()
	s.gathering.begin(s.now)
	for size, done := 0, false; !done; {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		done = err == io.EOF
		if err != nil && !done && !long {
			return err
		}
		if size += len(line); size > s.lim.Body {
			return &OversizedError{Limit: s.lim.Body}
		}
		if !s.ended { // what follows # EOF is read all the same: the connection is kept
			s.streamed(line, long)
		}
	}
	return nil
}

// streamed takes what was read up to a line feed, the end of the page or, where
// it is long, the end of the buffer.
func (s *Scanner) streamed(line []byte, long bool) {
	goesOn := s.gathering.goesOn
	s.gathering.goesOn = long
	if goesOn || len(line) == 0 {
		return // of a line that is counted
	}
	s.page.Lines++
	last := len(line) - 1
	switch {
	case long:
		s.long = true
		s.bad(line, whyLong)
	case line[last] == '\n':
		s.line(line[:last])
	default:
		s.lastLine(line)
	}
}

// declareStreamed reads a comment of such a page.
func (s *Scanner) declareStreamed(text []byte) {
	c, why := parseComment(text)
	if why != "" {
		s.bad(text, why)
		return
	}
	s.metadata = s.metadata || c.keyword != ""
	if c.keyword != "TYPE" {
		return
	}
	if !s.families.knows(c.family) && !s.gathering.takes(familyCost+len(text)) {
		s.gathering.refuse(s)
		return
	}
	first, changed := s.families.declare(s.families.index(c.family), c.typ, s.now)
	if first {
		s.declared++
	}
	s.changed = s.changed || changed
}

// settleGathered finishes a page that was read line by line.
func (s *Scanner) settleGathered() {
	g, p := s.gathering, &s.page
	declared := s.changed || s.declared != s.before
	fresh, renew := g.cover(&s.families, s.now, declared)
	p.New += fresh
	renew = g.setApart(s.lim.Crowd) || renew
	renew = g.giveUp() || renew
	g.spent = g.worn() || len(s.families.all) > 2*s.declared+spareEntries
	if declared {
		s.listFamilies()
	}
	if renew {
		g.unlist()
		p.Series, p.Values, p.Seen = nil, p.Values[:0], p.Seen[:0]
		p.Generation++
	}
	g.list(p, s.lim.Series)
	p.Crowds, p.Verdict = p.Crowds[:0], ""
	for _, c := range g.crowds {
		if c.apart {
			p.Crowds = append(p.Crowds, c)
		}
	}
}
