package sources

import (
	"bytes"
	"io"
)

// thinned is a stream of server-sent events of which the native records are thinned to
// the fields that are read of them, however long they are: prompts and answers run
// past. All else passes as it is.
type thinned struct {
	io.ReadCloser
	buf   []byte
	out   []byte // what is to be read next, from at
	at    int
	line  lineKind
	head  []byte // the start of a line whose kind is not known yet
	log   bool   // the event under way is a record
	sieve sieve
	err   error
}

type lineKind uint8

const (
	lineBegins lineKind = iota
	linePasses
	lineThins
)

// thin looks at what comes of a stream.
func thin(body io.ReadCloser) *thinned { return &thinned{ReadCloser: body, buf: make([]byte, 8<<10)} }

// Read implements io.Reader.
func (t *thinned) Read(p []byte) (int, error) {
	for t.at == len(t.out) && t.err == nil {
		clear(t.out)
		t.out, t.at = t.out[:0], 0
		var n int
		n, t.err = t.ReadCloser.Read(t.buf)
		t.take(t.buf[:n])
		clear(t.buf[:n])
		if t.err != nil {
			t.out = append(t.out, t.head...) // the stream ends in it
		}
	}
	n := copy(p, t.out[t.at:])
	t.at += n
	if t.at == len(t.out) {
		return n, t.err
	}
	return n, nil
}

// take takes what came.
func (t *thinned) take(p []byte) {
	for len(p) > 0 {
		end, ends := bytes.IndexByte(p, '\n'), true
		if end < 0 {
			end, ends = len(p), false
		}
		t.part(p[:end])
		if p = p[end:]; !ends {
			return
		}
		t.end()
		p = p[1:]
	}
}

// part takes a part of a line, the first or another.
func (t *thinned) part(p []byte) {
	switch t.line {
	case lineThins:
		t.sieve.take(p)
	case linePasses:
		t.out = append(t.out, p...)
	case lineBegins:
		if t.head = append(t.head, p...); len(t.head) > len(dataField) {
			t.judge()
		}
	}
}

var (
	dataField  = []byte("data: {")
	eventField = []byte("event:")
)

// judge decides on a line by its start: the JSON of a record is thinned.
func (t *thinned) judge() {
	if t.log && (bytes.HasPrefix(t.head, dataField) || bytes.HasPrefix(t.head, []byte("data:{"))) {
		i := bytes.IndexByte(t.head, '{')
		t.out = append(t.out, t.head[:i]...)
		t.sieve.reset(portkeyWanted, maxLine)
		t.sieve.take(t.head[i:])
		t.line = lineThins
	} else {
		if bytes.HasPrefix(t.head, eventField) {
			return // to be known at its end
		}
		t.out = append(t.out, t.head...)
		t.line = linePasses
	}
	t.drop()
}

func (t *thinned) drop() {
	clear(t.head)
	t.head = t.head[:0]
}

// end ends a line.
func (t *thinned) end() {
	switch t.line {
	case lineThins:
		t.thin()
	case lineBegins:
		head := bytes.TrimSuffix(t.head, []byte("\r"))
		if name, ok := bytes.CutPrefix(head, eventField); ok {
			t.log = sayingOf(bytes.TrimPrefix(name, []byte(" "))) == ofLog
		} else if len(head) == 0 {
			t.log = false
		}
		t.out = append(t.out, t.head...)
		t.drop()
	}
	t.out = append(t.out, '\n')
	t.line = lineBegins
}

// thin writes what is left of a record. What is no JSON, or has too much in its named
// fields, stays something that cannot be read.
func (t *thinned) thin() {
	switch {
	case t.sieve.over:
		t.out = append(t.out, bytes.Repeat([]byte(" "), maxLine+1)...)
	case t.sieve.whole():
		t.out = append(t.out, t.sieve.out...)
	default:
		t.out = append(t.out, '{')
	}
	t.sieve.reset(nil, 0)
}
