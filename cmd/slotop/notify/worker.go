package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"slotop/model"
)

// The pace of deliveries that failed.
const (
	firstRetry  = time.Second
	longestWait = 2 * time.Minute // a page that comes later than that helps nobody sooner
	jitterShare = 0.2             // receivers that failed as one are not asked as one
	// longestAfter bounds what a receiver may ask for in Retry-After.
	longestAfter = 10 * time.Minute
)

// carrier is the way to one receiver. It is used by one goroutine at a time.
type carrier interface {
	// carry delivers notices. Its error is fit to be shown: it holds no secret.
	carry(ctx context.Context, sent []notice) error
	// show is what carry would send, without secrets.
	show(sent []notice) string
	where() string          // the receiver, without secrets
	limit() int             // notices in one delivery
	refresh() time.Duration // how often it must hear that an alert still fires; 0: once is enough
}

// busyError is a receiver that asks to be left alone for a while.
type busyError struct {
	error
	after time.Duration
}

// worker delivers to one sink.
type worker struct {
	sink    Sink
	carrier carrier
	dry     io.Writer     // gets what would be sent; nil to send
	wake    chan struct{} // holds one: there is something new

	mu      sync.Mutex // never held while something is delivered
	latest  *model.Frame
	out     *outbox
	state   SinkStatus // what is counted here; the rest is of out
	fails   int        // since the last delivery
	retryAt time.Time
	nextAt  time.Time // by the sink's own limit
}

func newWorker(life context.Context, s Sink, opt Options) (*worker, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c, err := newCarrier(life, s, opt)
	if err != nil {
		return nil, err
	}
	return &worker{
		sink:    s,
		carrier: c,
		dry:     opt.DryRun,
		wake:    make(chan struct{}, 1),
		out:     newOutbox(s.Resolved),
		state:   SinkStatus{Name: clean(s.Name), Where: c.where()},
	}, nil
}

func newCarrier(life context.Context, s Sink, opt Options) (carrier, error) {
	switch {
	case s.Webhook != nil:
		return newWebhook(life, s, opt)
	case s.Alertmanager != nil:
		return newAlertmanager(life, s, opt)
	default:
		return newProgram(s)
	}
}

// take queues what the sink wants to hear of a frame.
func (w *worker) take(f *model.Frame, changes []change) {
	w.mu.Lock()
	w.latest = f
	w.queue(changes)
	w.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

func (w *worker) queue(changes []change) {
	for _, c := range changes {
		if c.what == ended {
			w.out.end(c)
		}
	}
	if len(w.out.entries)+len(changes) > maxWaiting {
		w.out.prune(episodesIn(w.latest))
	}
	for _, c := range changes {
		if c.what == began && rank(c.alert.Severity) >= rank(w.sink.Severity) {
			w.out.begin(c)
		}
	}
}

// run delivers until life ends, or what waits when closing is closed was tried
// once more.
func (w *worker) run(life context.Context, closing <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for life.Err() == nil {
		d, wait := w.next(time.Now())
		if d != nil {
			w.deliver(life, d)
			continue
		}
		timer.Reset(wait)
		select {
		case <-life.Done():
		case <-w.wake:
		case <-timer.C:
		case <-closing:
			w.flush(life)
			return
		}
	}
}

// flush delivers what waits, whatever the pace, until one delivery fails.
func (w *worker) flush(life context.Context) {
	for life.Err() == nil {
		d := w.first()
		if d == nil || !w.deliver(life, d) {
			return
		}
	}
}

// delivery is what goes out at once.
type delivery struct {
	batch  []*entry
	sent   []notice
	repeat bool // told before: only so that the receiver does not forget
}

// idle is how long a worker sleeps that has nothing to do.
const idle = time.Hour

// next is what is to be delivered now, or how long to wait for it.
func (w *worker) next(now time.Time) (*delivery, time.Duration) {
	if wait := w.retryAfter(now); wait > 0 {
		return nil, wait
	}
	w.mu.Lock()
	paced := w.nextAt.Sub(now)
	w.mu.Unlock()
	if paced <= 0 {
		if d := w.first(); d != nil {
			return d, 0
		}
		paced = idle
	}
	d, wait := w.repeat(now)
	return d, min(wait, paced)
}

func (w *worker) retryAfter(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.retryAt.Sub(now)
}

// first is the next batch of what waits, nil when nothing does. After a failure
// one notice goes alone: it is cheaper to fail with, and the batch may have failed
// over a single one.
func (w *worker) first() *delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	limit := w.carrier.limit()
	if w.fails > 0 {
		limit = 1
	}
	batch := w.out.pick(limit)
	if len(batch) == 0 {
		return nil
	}
	return &delivery{batch: batch, sent: w.out.fly(batch)}
}

// repeat is what the receiver must hear again by now, or when it must.
func (w *worker) repeat(now time.Time) (*delivery, time.Duration) {
	every := w.carrier.refresh()
	if every == 0 || w.dry != nil {
		return nil, idle
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := w.out.untilDue(now)
	if wait > 0 {
		return nil, wait
	}
	shown := episodesIn(w.latest)
	w.out.prune(shown)
	batch, sent := w.out.due(now, shown, w.carrier.limit())
	if len(batch) == 0 {
		return nil, w.out.untilDue(now)
	}
	return &delivery{batch: batch, sent: sent, repeat: true}, 0
}

// deliver carries one batch and reports whether that succeeded.
func (w *worker) deliver(life context.Context, d *delivery) bool {
	var err error
	if w.dry != nil {
		_, err = fmt.Fprintf(w.dry, "%s: %s", clean(w.sink.Name), w.carrier.show(d.sent))
	} else {
		ctx, cancel := context.WithTimeout(life, w.sink.Timeout)
		err = w.carrier.carry(ctx, d.sent)
		cancel()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if !d.repeat {
		w.out.land(d.batch, d.sent, err == nil)
	}
	if err != nil {
		w.failed(now, err)
		return false
	}
	w.succeeded(now, d)
	return true
}

func (w *worker) succeeded(now time.Time, d *delivery) {
	w.fails, w.retryAt = 0, time.Time{}
	w.state.LastError, w.state.FailedAt = "", time.Time{}
	for _, e := range d.batch {
		e.again = now.Add(w.carrier.refresh())
	}
	if d.repeat {
		return
	}
	w.state.Delivered += len(d.sent)
	w.state.DeliveredAt = now
	w.nextAt = now.Add(w.sink.Every)
}

func (w *worker) failed(now time.Time, err error) {
	wait := min(longestWait, firstRetry<<min(w.fails, 10))
	wait = time.Duration(float64(wait) * (1 - jitterShare + 2*jitterShare*rand.Float64()))
	if busy := (*busyError)(nil); errors.As(err, &busy) {
		wait = max(wait, min(busy.after, longestAfter))
	}
	w.fails++
	w.retryAt = now.Add(wait)
	w.state.Failures++
	w.state.LastError, w.state.FailedAt = err.Error(), now
}

func (w *worker) status() SinkStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	s.Waiting, s.Dropped, s.Superseded = w.out.count(), w.out.dropped, w.out.superseded
	s.RetryAt = w.retryAt
	return s
}
