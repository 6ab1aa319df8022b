package expo

import "bytes"

var help = []byte("# HELP ")

// steady reads lines from pos on for as long as each is the one that followed
// its predecessor on the last page. It returns the place of the first line that
// is not, or that needs a closer look; it reports nothing and allocates nothing.
func (s *Scanner) steady(body []byte, pos int) int {
	id := s.head
	if s.last != none {
		id = s.entries[s.last].next
	}
	for pos < len(body) {
		after := -1
		if id != none {
			after = s.again(&s.entries[id], body, pos)
		}
		if after >= 0 {
			s.last, id = id, s.entries[id].next
		} else if after = s.help(body, pos); after < 0 {
			return pos
		}
		s.page.Lines++
		pos = after
	}
	return pos
}

// again reads the line at pos if it begins as e does, and returns the place of
// the next line, or -1.
func (s *Scanner) again(e *entry, body []byte, pos int) int {
	end := pos + len(e.text)
	if e.open || end >= len(body) || string(body[pos:end]) != e.text {
		return -1
	}
	if e.declares {
		after := lineEnd(body, end)
		if after >= 0 {
			s.declare(e)
		}
		return after
	}
	value, n := quickFloat(body[end:])
	after := end + n + 1
	if n == 0 || body[end+n] != '\n' {
		if value, after = rest(body, end); after < 0 {
			return -1
		}
	}
	if after-pos > s.lim.Line {
		return -1
	}
	s.see(e.of, value)
	return after
}

// rest reads a value that is not plain, or that something follows.
func rest(body []byte, pos int) (value float64, after int) {
	length := bytes.IndexByte(body[pos:], '\n')
	if length < 0 {
		return 0, -1
	}
	line := bytes.TrimSuffix(body[pos:pos+length], []byte{'\r'})
	end := tokenEnd(line, 0)
	value, err := number(line[:end])
	if err != nil || !validTail(line[end:]) {
		return 0, -1
	}
	return value, pos + length + 1
}

// help skips a # HELP line: it says nothing that is kept.
func (s *Scanner) help(body []byte, pos int) int {
	if !bytes.HasPrefix(body[pos:], help) {
		return -1
	}
	length := bytes.IndexByte(body[pos:], '\n')
	if length < 0 || length > s.lim.Line {
		return -1
	}
	s.metadata = true
	return pos + length + 1
}

// lineEnd is the place behind the line feed at pos, or -1 if there is none.
func lineEnd(body []byte, pos int) int {
	if body[pos] == '\r' && pos+1 < len(body) {
		pos++
	}
	if body[pos] != '\n' {
		return -1
	}
	return pos + 1
}
