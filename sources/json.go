package sources

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText walks one JSON text by hand, as encoding/json reads it. Only what is
// asked for by name is copied out of it: everything else is passed over in
// place, so that the text of a prompt is never held anywhere.
type jsonText struct {
	b       []byte
	i       int
	depth   int
	broken  bool   // it is not JSON, from i on
	scratch []byte // of a string with escapes, reused
}

// maxDepth is how deep arrays and objects may lie in each other, as in encoding/json.
const maxDepth = 10_000

func (t *jsonText) reset(b []byte) { t.b, t.i, t.depth, t.broken = b, 0, 0, false }

// peek is the first byte of the next value, 0 at the end.
func (t *jsonText) peek() byte {
	for ; t.i < len(t.b); t.i++ {
		switch c := t.b[t.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// ends reports whether the text was JSON and nothing comes after it.
func (t *jsonText) ends() bool { return t.peek() == 0 && t.i == len(t.b) && !t.broken }

func (t *jsonText) breaks() { t.broken = true }

// take passes over a byte that must come next.
func (t *jsonText) take(c byte) bool {
	if t.broken || t.peek() != c {
		t.breaks()
		return false
	}
	t.i++
	return true
}

// fields yields the names of an object's fields, each before its value, which
// the loop's body may read; a value that it leaves alone is passed over. A name
// is valid until the next string is read. The loop must not be left early.
func (t *jsonText) fields(yield func(name []byte) bool) {
	t.open('{', '}', func() bool {
		if t.peek() != '"' {
			t.breaks()
			return false
		}
		name := t.text()
		if !t.take(':') {
			return false
		}
		t.peek()
		at := t.i
		if !yield(name) {
			return false
		}
		if t.i == at && !t.broken {
			t.skip()
		}
		return true
	})
}

// items yields the numbers of an array's items from 0, each before its value,
// as fields does.
func (t *jsonText) items(yield func(n int) bool) {
	n := 0
	t.open('[', ']', func() bool {
		t.peek()
		at := t.i
		if !yield(n) {
			return false
		}
		if t.i == at && !t.broken {
			t.skip()
		}
		n++
		return true
	})
}

// open walks what lies between two brackets, parted by commas.
func (t *jsonText) open(first, last byte, part func() bool) {
	if !t.take(first) {
		return
	}
	if t.depth++; t.depth > maxDepth {
		t.breaks()
		return
	}
	if t.peek() == last {
		t.i++
		t.depth--
		return
	}
	for part() && !t.broken {
		if t.peek() == last {
			t.i++
			t.depth--
			return
		}
		t.take(',')
	}
}

// skip passes over any value.
func (t *jsonText) skip() {
	switch t.peek() {
	case '{':
		for range t.fields {
		}
	case '[':
		for range t.items {
		}
	case '"':
		t.string()
	case 't':
		t.word("true")
	case 'f':
		t.word("false")
	case 'n':
		t.word("null")
	default:
		t.digits()
	}
}

func (t *jsonText) word(w string) {
	if !bytes.HasPrefix(t.b[t.i:], []byte(w)) {
		t.breaks()
		return
	}
	t.i += len(w)
}

// null passes over a null, where one comes next.
func (t *jsonText) null() bool {
	if t.peek() != 'n' {
		return false
	}
	t.word("null")
	return true
}

// truth is a true or false that comes next.
func (t *jsonText) truth() bool {
	v := t.peek() == 't'
	t.skip()
	return v
}

// text is the string that comes next, without its quotes and escapes. It is
// valid until the next one is read.
func (t *jsonText) text() []byte {
	raw, plain := t.string()
	if plain || t.broken {
		return raw
	}
	t.scratch = unescaped(t.scratch[:0], raw)
	return t.scratch
}

// string passes over a string, and gives what lies between its quotes and
// whether that is free of escapes.
func (t *jsonText) string() (raw []byte, plain bool) {
	if !t.take('"') {
		return nil, false
	}
	plain = true
	for from := t.i; t.i < len(t.b); t.i++ {
		switch c := t.b[t.i]; {
		case c == '"':
			t.i++
			return t.b[from : t.i-1], plain
		case c < ' ':
			t.breaks()
			return nil, false
		case c == '\\':
			plain = false
			n := escapeLen(t.b[t.i:])
			if n == 0 {
				t.breaks()
				return nil, false
			}
			t.i += n - 1
		}
	}
	t.breaks()
	return nil, false
}

// escapeLen is the length of the escape at the start of b, 0 where it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 || hex4(b[2:6]) < 0 {
			return 0
		}
		return 6
	}
	return 0
}

// hex4 is the number in four hexadecimal digits, -1 where they are none.
func hex4(b []byte) rune {
	var v rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		v = v<<4 | rune(c)
	}
	return v
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescaped appends the text of a string whose escapes are known to be valid.
func unescaped(dst, raw []byte) []byte {
	for len(raw) > 0 {
		if raw[0] != '\\' {
			dst = append(dst, raw[0])
			raw = raw[1:]
			continue
		}
		if raw[1] != 'u' {
			dst = append(dst, escapes[raw[1]])
			raw = raw[2:]
			continue
		}
		r := hex4(raw[2:6])
		raw = raw[6:]
		if utf16.IsSurrogate(r) {
			r, raw = surrogate(r, raw)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// surrogate joins the half of a pair with the one behind it. A half that is
// alone is no character, and takes nothing with it.
func surrogate(half rune, rest []byte) (rune, []byte) {
	if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if r := utf16.DecodeRune(half, hex4(rest[2:6])); r != utf8.RuneError {
			return r, rest[6:]
		}
	}
	return utf8.RuneError, rest
}

// digits passes over a number and gives its text.
func (t *jsonText) digits() []byte {
	t.peek()
	from := t.i
	t.accept('-')
	if !t.accept('0') && t.run() == 0 {
		t.breaks()
	}
	if t.accept('.') && t.run() == 0 {
		t.breaks()
	}
	if t.accept('e') || t.accept('E') {
		if !t.accept('+') {
			t.accept('-')
		}
		if t.run() == 0 {
			t.breaks()
		}
	}
	return t.b[from:t.i]
}

func (t *jsonText) accept(c byte) bool {
	if t.i < len(t.b) && t.b[t.i] == c {
		t.i++
		return true
	}
	return false
}

// run passes over decimal digits and counts them.
func (t *jsonText) run() int {
	from := t.i
	for t.i < len(t.b) && '0' <= t.b[t.i] && t.b[t.i] <= '9' {
		t.i++
	}
	return t.i - from
}

// isNumber reports whether the next value is a number.
func (t *jsonText) isNumber() bool {
	c := t.peek()
	return c == '-' || '0' <= c && c <= '9'
}

// number is the number that comes next; infinite where it is too large.
func (t *jsonText) number() float64 {
	v, _ := strconv.ParseFloat(string(t.digits()), 64) // the error is that of an infinity
	return v
}

// maxWhole is the largest number up to which a float64 counts every whole one.
const maxWhole = 1 << 53

// whole is the number that comes next, where it is a whole one and not below 0.
func (t *jsonText) whole() (n uint64, ok bool) {
	d := t.digits()
	if n, err := strconv.ParseUint(string(d), 10, 64); err == nil {
		return n, true
	}
	v, err := strconv.ParseFloat(string(d), 64)
	if err != nil || v < 0 || v > maxWhole || v != math.Trunc(v) {
		return 0, false
	}
	return uint64(v), true
}
