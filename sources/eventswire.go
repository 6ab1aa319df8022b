package sources

import (
	"bytes"
	"fmt"
)

// maxLine bounds one message of an events stream, as its schema says.
const maxLine = 64 << 10

const tooLongText = "longer than 65536 bytes"

// inbox cuts what arrives into lines. What has been read is wiped, so that no
// text of a line stays in memory longer than the line.
type inbox struct {
	buf    []byte
	r, w   int  // unread lines lie between them
	looked int  // no line ends before it
	long   bool // the line under way was too long, and is thrown away as it comes
	line   int  // number of the last line
}

// sseField is room for what stands before a message on a line of server-sent events.
const sseField = len("data: ")

// room is where more can be read into. Reading must be followed by came.
func (b *inbox) room() []byte {
	if b.buf == nil {
		b.buf = make([]byte, 2*maxLine)
	}
	if b.r > 0 {
		n := copy(b.buf, b.buf[b.r:b.w])
		clear(b.buf[n:b.w])
		b.looked, b.r, b.w = b.looked-b.r, 0, n
	}
	return b.buf[b.w:]
}

// came says that so many bytes were read.
func (b *inbox) came(n int) { b.w += n }

// next is the next whole line, without its end. It must be wiped before the
// next call. Too long is true instead for a line that has to be thrown away, once
// it is seen to be: it may never end.
func (b *inbox) next() (line []byte, tooLong, ok bool) {
	i := bytes.IndexByte(b.buf[b.looked:b.w], '\n')
	switch {
	case i < 0 && b.long:
		b.wipe(b.w)
		return nil, false, false
	case i < 0 && b.w-b.r > maxLine+sseField:
		b.wipe(b.w)
		b.long = true
		b.line++
		return nil, true, true
	case i < 0:
		b.looked = b.w
		return nil, false, false
	case b.long:
		b.wipe(b.looked + i + 1)
		b.long = false
		return b.next()
	}
	return b.cut(b.looked+i, b.looked+i+1)
}

// rest is the last line where nothing comes after it any more.
func (b *inbox) rest() (line []byte, tooLong, ok bool) {
	if b.r == b.w || b.long {
		return nil, false, false
	}
	return b.cut(b.w, b.w)
}

// cut takes the line that ends before one place, and goes on at another.
func (b *inbox) cut(end, next int) (line []byte, tooLong, ok bool) {
	b.line++
	line, tooLong = b.buf[b.r:end], end-b.r > maxLine+sseField
	b.r, b.looked = next, next
	if tooLong {
		clear(line)
		return nil, true, true
	}
	return bytes.TrimSuffix(line, []byte("\r")), false, true
}

// wipe throws away what was not read up to a place.
func (b *inbox) wipe(to int) {
	clear(b.buf[b.r:to])
	b.r, b.looked = to, to
}

// restart throws everything away and counts lines from the first again.
func (b *inbox) restart() {
	b.wipe(b.w)
	b.long, b.line = false, 0
}

// form is how messages are written.
type form uint8

const (
	unseen form = iota // no line has come yet
	jsonLines
	sse // server-sent events
)

// framer puts lines together to messages.
type framer struct {
	form form
	of   saying // of the server-sent event under way
	data []byte
	some bool // data has come
	over bool // more of it than a message may have: what came is wiped
	id   []byte
	last []byte // the ID to resume after
	beat bool   // the server keeps the connection alive, by comments for the most part
}

// bom may stand before the first line.
var bom = []byte("\xef\xbb\xbf")

// line takes a line and reports whether a message is complete with it. The text
// is valid until the framer is wiped, which it must be before the next line.
func (f *framer) line(line []byte) (text []byte, of saying, complete bool) {
	if f.form == unseen {
		line = bytes.TrimPrefix(line, bom)
		if len(bytes.TrimSpace(line)) == 0 {
			return nil, unsaid, false
		}
		f.form = formOf(line)
	}
	if f.form == jsonLines {
		return line, unsaid, len(bytes.TrimSpace(line)) > 0
	}
	if len(line) == 0 {
		return f.dispatch()
	}
	f.field(line)
	return nil, unsaid, false
}

func formOf(line []byte) form {
	name, _, found := bytes.Cut(line, []byte(":"))
	switch {
	case !found:
	case len(name) == 0, string(name) == "event", string(name) == "data", string(name) == "id", string(name) == "retry":
		return sse
	}
	return jsonLines
}

// field takes one line of a server-sent event.
func (f *framer) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "":
		f.beat = true
	case "event":
		f.of = sayingOf(value)
		f.beat = f.beat || isBeat(value)
	case "data":
		f.add(value)
	case "id":
		f.id = f.id[:0]
		if isToken(value) {
			f.id = append(f.id, value...)
		}
	}
}

// add takes one line of data, in storage that never moves: what it held is wiped.
func (f *framer) add(value []byte) {
	if f.data == nil {
		f.data = make([]byte, 0, maxLine)
	}
	if f.some && len(f.data) < maxLine {
		f.data = append(f.data, '\n')
	}
	f.some = true
	if f.over = f.over || len(f.data)+len(value) > maxLine; !f.over {
		f.data = append(f.data, value...)
	}
}

// sayingOf is what an event's name stands for.
func sayingOf(event []byte) saying {
	switch string(event) {
	case "request", "message", "":
		return unsaid
	case "hello":
		return ofStream
	case "gap":
		return ofGap
	case "log":
		return ofLog
	}
	return ofNoMatter
}

// isBeat reports whether an event keeps the connection alive as a comment does, in
// the way of Portkey's log.
func isBeat(event []byte) bool { return string(event) == "connected" || string(event) == "heartbeat" }

// isToken reports whether an ID may be sent back in a header.
func isToken(id []byte) bool { return isPlain(id) && len(id) > 0 }

// dispatch ends the server-sent event under way.
func (f *framer) dispatch() (text []byte, of saying, complete bool) {
	if len(f.id) > 0 {
		f.last = append(f.last[:0], f.id...)
	}
	return f.data, f.of, f.some && f.of != ofNoMatter
}

// wipe forgets a message that was complete, and one that never will be.
func (f *framer) wipe() {
	clear(f.data)
	f.data, f.some, f.over, f.of = f.data[:0], false, false, unsaid
}

// wire reads messages from what arrives.
type wire struct {
	inbox   inbox
	framer  framer
	decoder *decoder
}

func newWire(keep []string) *wire { return &wire{decoder: newDecoder(keep)} }

// next is the next message. Why is set instead for a line that cannot be used: at
// says where it is. It reports false when more has to arrive first.
func (w *wire) next() (m *message, why string, ok bool) {
	for {
		line, tooLong, ok := w.inbox.next()
		if !ok {
			return nil, "", false
		}
		if m, why, ok := w.take(line, tooLong); ok {
			return m, why, true
		}
	}
}

// end is next when nothing more will arrive. An event that was cut is not one to
// resume after.
func (w *wire) end() (m *message, why string, ok bool) {
	line, tooLong, ok := w.inbox.rest()
	if ok {
		if m, why, ok = w.take(line, tooLong); ok {
			return m, why, true
		}
	}
	if w.framer.form == sse && w.framer.some && w.framer.of != ofNoMatter {
		return w.message(w.framer.data, w.framer.of)
	}
	return nil, "", false
}

// take takes one line and wipes it.
func (w *wire) take(line []byte, tooLong bool) (m *message, why string, ok bool) {
	if tooLong {
		w.framer.wipe()
		return nil, tooLongText, true
	}
	defer clear(line)
	text, of, complete := w.framer.line(line)
	if !complete {
		if len(line) == 0 {
			w.framer.wipe()
		}
		return nil, "", false
	}
	return w.message(text, of)
}

// message decodes a message and wipes it.
func (w *wire) message(text []byte, of saying) (m *message, why string, ok bool) {
	defer w.framer.wipe()
	if w.framer.over || len(text) > maxLine {
		return nil, tooLongText, true
	}
	if of == ofLog {
		m, why = w.decoder.lines.log(text, w.framer.id)
	} else {
		m, why = w.decoder.read(text, of)
	}
	if why != "" {
		return nil, why, true
	}
	return m, "", true
}

// at is what is wrong, with the line that was read last.
func (w *wire) at(why string) string { return fmt.Sprintf("line %d: %s", w.inbox.line, why) }

// restart begins with another file or connection. A message under way is lost.
func (w *wire) restart() {
	w.inbox.restart()
	w.framer.wipe()
	w.framer.form, w.framer.beat = unseen, false
	w.framer.id = w.framer.id[:0]
}
