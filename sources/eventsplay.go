package sources

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"slotop/model"
)

const (
	// lookAhead is how many messages are put in order by their time: a file is
	// written in another order by a few seconds, or by the time of a request.
	lookAhead = 1 << 14
	// longestSpan bounds the time between a file's first and last event: beyond it
	// a clock was wrong.
	longestSpan = 31 * 24 * time.Hour
)

// played plays the events of a file by their own time, in virtual time.
type played struct {
	file   *os.File
	left   io.Reader // what of the file is not read yet
	span   span
	until  model.Stamp // events up to it are due; 0 is all
	wire   *wire
	got    gathering
	ahead  ahead
	last   model.Stamp // of the message read last
	lines  int
	ended  bool // the file is read
	closes bool // the poll after the last event was given
}

var (
	_ Source = (*played)(nil)
	_ Dated  = (*played)(nil)
)

// newPlayed opens a file and reads it once for the time it covers.
func newPlayed(ctx context.Context, path string, keep []string) (*played, error) {
	file, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	p := &played{file: file, wire: newWire(keep)}
	size, err := p.measure(ctx)
	if err == nil {
		err = p.span.check()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p.left = io.NewSectionReader(file, 0, size)
	return p, nil
}

// measure reads the file as it is now for the first and the last time in it.
func (p *played) measure(ctx context.Context) (size int64, err error) {
	w := newWire(nil)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := p.file.Read(w.inbox.room())
		w.inbox.came(n)
		size += int64(n)
		for m, why, ok := w.next(); ok; m, why, ok = w.next() {
			if why == "" {
				p.span.see(m.At, w.inbox.line)
			}
		}
		if errors.Is(err, io.EOF) {
			if m, why, ok := w.end(); ok && why == "" {
				p.span.see(m.At, w.inbox.line)
			}
			return size, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// span is the time that a file covers, and the lines that say so.
type span struct {
	first, last         model.Stamp
	firstLine, lastLine int
}

func (s *span) see(at model.Stamp, line int) {
	if at == 0 {
		return
	}
	if s.first == 0 || at < s.first {
		s.first, s.firstLine = at, line
	}
	if at > s.last {
		s.last, s.lastLine = at, line
	}
}

func (s *span) check() error {
	if s.last.Time().Sub(s.first.Time()) <= longestSpan {
		return nil
	}
	day := func(at model.Stamp) string { return at.Time().Format(time.RFC3339) }
	return fmt.Errorf("its events lie more than %d days apart, from %s in line %d to %s in line %d",
		longestSpan/(24*time.Hour), day(s.first), s.firstLine, day(s.last), s.lastLine)
}

// Begins is the time of the first event.
func (p *played) Begins() time.Time { return p.span.first.Time() }

// Until says which events are due at the next poll.
func (p *played) Until(date time.Time) { p.until = model.StampOf(date) }

// Poll gives out the events that became due. After the last ones comes one poll
// with none, then the end.
func (p *played) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if p.ended && len(p.ahead.due) == 0 && p.got.empty() {
		if p.closes || p.got.read == 0 {
			return model.Batch{}, io.EOF
		}
		p.closes = true
	}
	for !p.got.full() {
		if err := p.read(ctx); err != nil {
			return model.Batch{}, err
		}
		m := p.ahead.first()
		if m == nil || p.until != 0 && m.due > p.until {
			break
		}
		p.got.add(&m.message)
		p.ahead.drop()
	}
	if p.ended && p.got.read+p.got.skipped+len(p.ahead.due) == 0 {
		return model.Batch{}, &FaultError{model.NotMetrics, "no events: the file is empty"}
	}
	return p.got.take()
}

// read reads on until enough messages wait to be put in order.
func (p *played) read(ctx context.Context) error {
	for !p.ended && len(p.ahead.due) < lookAhead {
		if m, why, ok := p.wire.next(); ok {
			p.take(m, why)
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := p.left.Read(p.wire.inbox.room())
		p.wire.inbox.came(n)
		switch {
		case errors.Is(err, io.EOF):
			p.ended = true
			if m, why, ok := p.wire.end(); ok {
				p.take(m, why)
			}
		case err != nil:
			return fileFault(err)
		}
	}
	return nil
}

// take keeps a message until it is due. One without a time is due with the one before.
func (p *played) take(m *message, why string) {
	if why != "" {
		p.got.skip(p.wire.at(why))
		return
	}
	if m.At != 0 {
		p.last = m.At
	}
	p.lines++
	p.ahead.add(m, p.last, p.lines)
}

// Close lets go of the file.
func (p *played) Close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// ahead holds messages in the order of their time, and of the file where that is
// the same.
type ahead struct {
	due  byTime
	free []*waiting
}

type waiting struct {
	message
	due  model.Stamp
	line int
}

func (a *ahead) add(m *message, due model.Stamp, line int) {
	var w *waiting
	if n := len(a.free); n > 0 {
		w, a.free = a.free[n-1], a.free[:n-1]
	} else {
		w = new(waiting)
	}
	*w = waiting{*m, due, line}
	heap.Push(&a.due, w)
}

// first is the message that is due first, nil without any.
func (a *ahead) first() *waiting {
	if len(a.due) == 0 {
		return nil
	}
	return a.due[0]
}

func (a *ahead) drop() { a.free = append(a.free, heap.Pop(&a.due).(*waiting)) }

type byTime []*waiting

func (b byTime) Len() int { return len(b) }
func (b byTime) Less(i, j int) bool {
	if b[i].due != b[j].due {
		return b[i].due < b[j].due
	}
	return b[i].line < b[j].line
}
func (b byTime) Swap(i, j int) { b[i], b[j] = b[j], b[i] }

// Push and Pop are for package heap.
func (b *byTime) Push(w any) { *b = append(*b, w.(*waiting)) }

// Pop takes the last one.
func (b *byTime) Pop() any {
	last := (*b)[len(*b)-1]
	*b = (*b)[:len(*b)-1]
	return last
}
