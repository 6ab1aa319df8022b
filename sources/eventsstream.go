package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"slotop/model"
)

const (
	// quiet is how long a connection may say nothing whose server sends a comment
	// every 15 s to keep it alive: four of them.
	quiet = time.Minute
	// brief is how soon a connection ends that was no stream of events.
	brief = 10 * time.Second
)

// dialer connects a stream to where its events come from.
type dialer interface {
	// dial connects, to go on after the event with the ID last, "" for none. The
	// context is that of the whole connection. The error is the poll's.
	dial(ctx context.Context, last string) (io.ReadCloser, error)
	// again reports whether there may be another connection after one that ended.
	again() bool
	// fault is the word for a failure to connect, or for a connection that ended.
	fault(err error) error
	close() error
}

// stream reads events that come without being asked for. Polls connect it; a
// goroutine then reads, until the connection ends or the source is closed.
type stream struct {
	dialer dialer
	link   *link         // the connection, nil before the first and after one that ended
	doubt  bool          // the last one brought nothing
	cuts   int           // connections that ended
	now    time.Duration // as the schedule has it

	mu     sync.Mutex // of all below, and of links
	space  *sync.Cond // a poll has made room, or the source is closed
	wire   *wire
	got    gathering
	taken  int // bytes since the last poll
	closed bool
}

// link is one connection of a stream.
type link struct {
	stop    context.CancelFunc
	done    chan struct{} // closed when its goroutine has ended
	first   chan struct{} // closed when it has shown what it is, or nothing will come
	made    time.Duration
	heard   time.Duration // when something was last seen to have come
	bytes   int           // that came
	seen    int           // of them, at the last poll
	before  int           // messages that were read before it
	skipped int           // lines that had been skipped before it
	ended   bool
	err     error // why
	silent  bool  // it was ended because it was dead
}

var (
	_ Source   = (*stream)(nil)
	_ Advancer = (*stream)(nil)
)

func newStream(d dialer, keep []string) *stream {
	s := &stream{dialer: d, wire: newWire(keep)}
	s.space = sync.NewCond(&s.mu)
	return s
}

// Advance tells the time, by which a dead connection is known.
func (s *stream) Advance(to time.Duration) { s.now = to }

// Poll takes what has come since the last one, and connects where there is no
// connection.
func (s *stream) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if s.closed {
		return model.Batch{}, os.ErrClosed
	}
	s.listen()
	if batch, ok, err := s.take(); ok {
		return batch, err
	}
	if err := s.lost(); err != nil {
		return model.Batch{}, err
	}
	if err := s.connect(ctx); err != nil {
		return model.Batch{}, err
	}
	if err := s.wait(ctx); err != nil {
		return model.Batch{}, err
	}
	if batch, ok, err := s.take(); ok {
		return batch, err
	}
	if err := s.lost(); err != nil { // as soon as it was made
		return model.Batch{}, err
	}
	return s.got.take()
}

// wait waits for what shows that this is a stream, or is none, where the last
// connection brought nothing:
// better a late answer than one that is taken back.
func (s *stream) wait(ctx context.Context) error {
	if !s.doubt {
		return nil
	}
	select {
	case <-s.link.first:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
	}
	return nil
}

// listen ends a connection that is dead without having ended.
func (s *stream) listen() {
	l := s.link
	if l == nil {
		return
	}
	s.mu.Lock()
	if l.seen != l.bytes {
		l.seen, l.heard = l.bytes, s.now
	}
	dead := !l.ended && s.wire.framer.beat && s.now-l.heard > quiet
	s.mu.Unlock()
	if dead {
		l.hangUp()
		l.silent = true
	}
}

// take is what has come. It reports false where nothing has and nothing will.
func (s *stream) take() (batch model.Batch, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.got.empty() && (s.link == nil || s.link.ended) {
		return model.Batch{}, false, nil
	}
	s.taken = 0
	s.space.Signal()
	batch, err = s.got.take()
	return batch, true, err
}

// lost drops a connection that ended. The error says so where it was the only
// one, or no stream of events; otherwise the stream is taken up again at once.
func (s *stream) lost() error {
	l := s.link
	if l == nil {
		return nil
	}
	l.hangUp()
	if !s.dialer.again() {
		if errors.Is(l.err, io.EOF) {
			return io.EOF
		}
		return s.dialer.fault(l.err)
	}
	s.link = nil
	s.cuts++
	s.got.interrupted()
	s.got.say(timesText("connection lost", s.cuts))
	useful := s.got.read > l.before || s.wire.framer.beat || s.now-l.made > brief
	s.doubt = !useful
	switch {
	case l.silent:
		return &FaultError{model.Timeout, fmt.Sprintf("nothing came for %v, not even a comment that keeps the connection alive: connecting anew", quiet)}
	case useful, s.got.skipped > l.skipped: // lines that cannot be read are told as such
		return nil
	}
	return s.dialer.fault(l.err)
}

func timesText(what string, n int) string {
	if n == 1 {
		return what + " once so far"
	}
	return fmt.Sprintf("%s %d times so far", what, n)
}

// connect makes a connection that outlives the poll.
func (s *stream) connect(ctx context.Context) error {
	whole, stop := context.WithCancel(context.WithoutCancel(ctx))
	undo := context.AfterFunc(ctx, stop)
	body, err := s.dialer.dial(whole, s.resume())
	if !undo() { // the poll is over
		if err == nil {
			_ = body.Close()
		}
		err = ctx.Err()
	}
	if err != nil {
		stop()
		return s.dialer.fault(err)
	}
	s.wire.restart()
	s.link = &link{
		stop: stop, done: make(chan struct{}), first: make(chan struct{}),
		made: s.now, heard: s.now, before: s.got.read, skipped: s.got.skipped,
	}
	go s.read(s.link, body)
	return nil
}

// resume is the ID of the last event that came, "" for none.
func (s *stream) resume() string {
	if id := s.wire.framer.last; len(id) > 0 {
		return string(id)
	}
	if s.got.last > 0 {
		return strconv.FormatUint(s.got.last, 10)
	}
	return ""
}

// read reads until the connection ends. It is the source's goroutine.
func (s *stream) read(l *link, body io.ReadCloser) {
	defer close(l.done)
	tell := sync.OnceFunc(func() { close(l.first) })
	defer tell()
	err := s.readAll(l, body, tell)
	_ = body.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
	l.ended, l.err = true, err
}

// finish takes over a last line without an end. Where more connections follow it
// is taken for cut, unless it is whole: it will come again.
func (s *stream) finish() {
	if !s.dialer.again() || s.got.read == 0 {
		s.got.finish(s.wire)
		return
	}
	if m, why, ok := s.wire.end(); ok && why == "" {
		s.got.add(m)
	}
}

func (s *stream) readAll(l *link, body io.Reader, tell func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &FaultError{model.Malformed, "collector failed: " + excerpt(fmt.Sprint(p))}
		}
	}()
	for {
		n, err := body.Read(s.wire.inbox.room())
		if !s.arrived(l, n) {
			return os.ErrClosed
		}
		if s.judged(l) {
			tell()
		}
		if err != nil {
			return err
		}
	}
}

// judged reports whether the connection has shown what it is: by an event, by a
// line that is none, or by a comment that keeps it alive. A first line may be
// either until the next one comes.
func (s *stream) judged(l *link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.read > l.before || s.got.skipped > l.skipped || s.wire.framer.beat
}

// arrived takes over what was read. It waits for a poll where there is no room:
// the rest waits in the connection. It reports false once the source is closed.
func (s *stream) arrived(l *link, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.bytes += n
	s.taken += n
	s.wire.inbox.came(n)
	for (!s.got.draw(s.wire) || s.taken >= maxBytes) && !s.closed {
		s.space.Wait()
	}
	return !s.closed
}

// hangUp ends the connection and waits for its goroutine.
func (l *link) hangUp() {
	l.stop()
	<-l.done
}

// Close ends the connection, and the goroutine that reads from it.
func (s *stream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.space.Broadcast()
	s.mu.Unlock()
	if s.link != nil {
		s.link.hangUp()
	}
	return s.dialer.close()
}
