package sources

// wanted is what is read at one place of a JSON text.
type wanted struct {
	text   int                // the longest string that is let through here, in bytes between its quotes; 0: no value but an object
	fields map[string]*wanted // of an object. An array has those of its items
}

// The usual places: a name, a number or a time, and a JSON text inside a string.
var (
	aName  = &wanted{text: 4 * maxName}
	aText  = &wanted{text: maxInner}
	aCount = aName // some gateways write their numbers as strings
)

// maxInner bounds a JSON text inside a string: a row's tags or its metadata.
const maxInner = 16 << 10

const (
	// maxOpen is how deep arrays and objects may lie in each other where something is
	// read: the named fields of no gateway lie deeper than six.
	maxOpen = 16
	// maxKey is longer than any name of a field that is read.
	maxKey = 64
)

// sieve lets through the named fields of a JSON text that comes in pieces, however
// long the rest of it is: prompts and answers run past, and are held nowhere. What
// it lets through is JSON again. Of the rest it knows no more than where it ends.
type sieve struct {
	root *wanted
	most int    // bytes it may let through
	out  []byte // what it let through
	over bool   // there was more than that

	at     spot
	stack  []frame
	node   *wanted // of the value that comes next; nil: it is passed over
	key    []byte
	long   bool // the key has more than maxKey bytes
	mark   int  // where in out the value under way begins, with all that stands before it
	some   bool // the frame had something before it
	text   int  // where in out its text begins
	depth  int  // brackets that are open in what is passed over
	quoted bool // it is in a string
	escape bool // a backslash came last
}

// frame is an object or array of which something is let through.
type frame struct {
	end  byte
	node *wanted
	some bool // something was let through
}

// spot is where in a JSON text the next byte stands.
type spot uint8

const (
	atValue spot = iota
	atFirst      // a value, or the end of an array without any
	atKey
	atOpened // a key, or the end of an object without any
	inKey
	atColon
	afterValue
	inText
	inWord  // a number, or a word such as true
	passing // what is not read
	atEnd
	broken
)

// reset begins with another text. What was let through is wiped.
func (s *sieve) reset(root *wanted, most int) {
	clear(s.out)
	clear(s.key[:cap(s.key)])
	*s = sieve{root: root, most: most, out: s.out[:0], stack: s.stack[:0], key: s.key[:0], node: root}
}

// forget wipes what was let through, and lets go of storage that is too large to keep.
func (s *sieve) forget() {
	s.reset(nil, 0)
	if cap(s.out) > maxPooled {
		s.out = nil
	}
}

// whole reports whether one JSON text came, and nothing after it.
func (s *sieve) whole() bool { return s.at == atEnd || s.at == inWord && len(s.stack) == 0 }

// take takes the next piece.
func (s *sieve) take(p []byte) {
	for i := 0; i < len(p) && s.at != broken; {
		switch s.at {
		case passing:
			i += s.pass(p[i:])
		case inText:
			i += s.textOf(p[i:])
		case inKey:
			i += s.keyOf(p[i:])
		case inWord:
			i += s.wordOf(p[i:])
		default:
			s.sign(p[i])
			i++
		}
		if len(s.out) > s.most {
			s.over, s.at = true, broken
		}
	}
}

// sign takes a byte that is in no value.
func (s *sieve) sign(c byte) {
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return
	}
	switch {
	case (s.at == atFirst || s.at == atOpened || s.at == afterValue) && len(s.stack) > 0 && c == s.top().end:
		s.close()
	case s.at == atValue, s.at == atFirst:
		s.begin(c)
	case (s.at == atKey || s.at == atOpened) && c == '"':
		s.key, s.long, s.at = s.key[:0], false, inKey
	case s.at == atColon && c == ':':
		s.at = atValue
	case s.at == afterValue && len(s.stack) > 0 && c == ',':
		s.next()
	default:
		s.at = broken
	}
}

func (s *sieve) top() *frame { return &s.stack[len(s.stack)-1] }

// next goes on to another item or field.
func (s *sieve) next() {
	if s.top().end == ']' {
		s.node, s.at = s.top().node, atValue
		return
	}
	s.at = atKey
}

// begin begins a value with its first byte.
func (s *sieve) begin(c byte) {
	switch n := s.node; {
	case c == '{' && n != nil && n.fields != nil && len(s.stack) < maxOpen:
		s.open(c, '}', atOpened)
	case c == '[' && n != nil && len(s.stack) < maxOpen:
		s.open(c, ']', atFirst)
	case c == '"' && n != nil && n.text > 0:
		s.before()
		s.out = append(s.out, c)
		s.text, s.at = len(s.out), inText
	case c == '"', c == '{', c == '[':
		s.leaveOut()
		s.passed(c)
	case (c == '-' || c == 't' || c == 'f' || c == 'n' || isDigit(c)) && n != nil && n.text > 0:
		s.before()
		s.out = append(s.out, c)
		s.text, s.at = len(s.out), inWord
	case c == '-', c == 't', c == 'f', c == 'n', isDigit(c):
		s.leaveOut()
	default:
		s.at = broken
	}
}

// leaveOut begins a value that is passed over. Of an item of a list it lets through
// that there is one.
func (s *sieve) leaveOut() {
	s.depth, s.quoted, s.at = 0, false, passing
	if len(s.stack) > 0 && s.top().end == ']' {
		s.before()
		s.out = append(s.out, "null"...)
	}
}

// open begins an object or array.
func (s *sieve) open(c, end byte, then spot) {
	s.before()
	s.out = append(s.out, c)
	s.stack = append(s.stack, frame{end: end, node: s.node})
	s.at = then
}

// before writes what stands before a value: a comma, and the name of a field.
func (s *sieve) before() {
	s.mark = len(s.out)
	if len(s.stack) == 0 {
		return
	}
	f := s.top()
	if s.some = f.some; f.some {
		s.out = append(s.out, ',')
	}
	f.some = true
	if f.end == '}' {
		s.out = append(append(append(s.out, '"'), s.key...), '"', ':')
	}
}

func (s *sieve) close() {
	s.out = append(s.out, s.top().end)
	s.stack = s.stack[:len(s.stack)-1]
	s.after()
}

// after is behind a value.
func (s *sieve) after() {
	if s.at = afterValue; len(s.stack) == 0 {
		s.at = atEnd
	}
}

// keyOf reads the name of a field. One that is written with an escape is compared
// without it, as a reader would.
func (s *sieve) keyOf(p []byte) int {
	n, ends := s.string(p)
	text := p[:n]
	if ends {
		text = p[:n-1]
	}
	if s.long = s.long || len(s.key)+len(text) > maxKey; !s.long {
		s.key = append(s.key, text...)
	}
	if !ends {
		return n
	}
	s.node = nil
	if !s.long {
		s.key = plainKey(s.key)
		s.node = s.top().node.fields[string(s.key)]
	}
	s.at = atColon
	return n
}

// plainKey is a key without its escapes, empty where one is broken.
func plainKey(key []byte) []byte {
	for i := 0; i < len(key); i++ {
		if key[i] != '\\' {
			continue
		}
		n := escapeLen(key[i:])
		if n == 0 {
			return key[:0]
		}
		i += n - 1
	}
	return unescaped(key[:0], key) // never longer than it was
}

// string reads a string to the end of p or to its own, and tells whether that came.
func (s *sieve) string(p []byte) (n int, ends bool) {
	for i, c := range p {
		switch {
		case s.escape:
			s.escape = false
		case c == '\\':
			s.escape = true
		case c == '"':
			return i + 1, true
		}
	}
	return len(p), false
}

// textOf lets a string through, or none of it where it is too long.
func (s *sieve) textOf(p []byte) int {
	n, ends := s.string(p)
	s.out = append(s.out, p[:n]...)
	long := len(s.out)-s.text > s.node.text+1
	if long {
		s.undo()
		s.depth, s.quoted, s.at = 0, true, passing
	}
	if ends {
		s.after()
	}
	return n
}

// undo takes the value under way back.
func (s *sieve) undo() {
	clear(s.out[s.mark:])
	s.out = s.out[:s.mark]
	if len(s.stack) > 0 {
		s.top().some = s.some
	}
}

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || c == '.' || c == '-' || c == '+' || c == 'E'
}

// wordOf lets a number or a word through.
func (s *sieve) wordOf(p []byte) int {
	n := 0
	for n < len(p) && isWord(p[n]) {
		n++
	}
	s.out = append(s.out, p[:n]...)
	switch {
	case len(s.out)-s.text > maxKey: // no number is that long
		s.at = broken
	case n < len(p):
		s.after()
	}
	return n
}

// pass passes over what is not read.
func (s *sieve) pass(p []byte) int {
	for i := 0; i < len(p); {
		if s.quoted {
			n, ends := s.string(p[i:])
			i += n
			if !ends {
				return i
			}
			if s.quoted = false; s.depth == 0 {
				s.after()
				return i
			}
			continue
		}
		if s.depth == 0 && !isWord(p[i]) { // a number or word ended before it
			s.after()
			return i
		}
		if s.passed(p[i]); s.depth == 0 && (p[i] == '}' || p[i] == ']') {
			s.after()
			return i + 1
		}
		i++
	}
	return len(p)
}

// passed takes one byte of what is not read.
func (s *sieve) passed(c byte) {
	switch c {
	case '"':
		s.quoted = true
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth--
	}
}
