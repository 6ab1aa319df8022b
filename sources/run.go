package sources

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"slotop/model"
)

// RunOptions are the settings of a live run.
type RunOptions struct {
	Every   time.Duration // between two good polls of a target; 0 for DefaultEvery
	Timeout time.Duration // of one poll; 0 for min(Every, 5 s), but at least 1 s
	Seed    uint64        // of the jitter

	// After is how much time the inputs before this run took: its stamps follow them.
	After time.Duration
}

// DefaultEvery is the poll interval where none is chosen.
const DefaultEvery = 2 * time.Second

const (
	maxTimeout = 5 * time.Second
	minTimeout = time.Second

	// maxYoung bounds the polls that began within the last youth, so that a fleet's
	// first pages are not all read at once. A poll that takes longer waits for
	// its server and no longer counts: it must not delay the others.
	maxYoung = 64
	youth    = 250 * time.Millisecond

	// slack is how much too early a poll may start to share a wake-up with others.
	slack = 10 * time.Millisecond
	// shortTick and longTick bound the time between ticks while batches come in,
	// and longTick is also the time between ticks when none do.
	shortTick = 100 * time.Millisecond
	longTick  = time.Second
	// tickShare keeps what ticks cost, fold and all, to one part in so many of
	// the time: a large fleet's frames come less often.
	tickShare = 20
)

// Run polls targets until ctx ends, or every source has ended, and closes them.
// It owns every timer: nothing else in the library waits or reads a clock.
//
// Each target has at most one poll under way, and a slow one delays no other.
// emit is called on the caller's goroutine only. A batch is valid until emit returns,
// and its target is polled again only after that. Ticks follow batches after at
// most shortTick, less often where they are costly, and come at least each
// longTick (shortTick later, where a poll that just began may answer). When Run
// returns, no goroutine of it is left and nothing is requested any more. The error
// is nil when ctx ended the run.
func Run(ctx context.Context, targets []Opened, opt RunOptions, emit func(model.Input)) (err error) {
	r := newRun(targets, opt, emit)
	defer func() { err = errors.Join(err, r.close()) }()
	// Deferred calls run from the last up: no poll outlives its source.
	ctx, stop := context.WithCancel(ctx)
	defer r.wait()
	defer stop()
	r.loop(ctx)
	return nil
}

type run struct {
	emit   func(model.Input)
	opt    RunOptions
	roster roster
	wrong  error // what sources said when they were let go
	start  time.Time

	polled  []*polled
	ready   []*polled   // reused by startDue
	answers chan answer // room for one of each target, so that no poll blocks on it
	flying  int         // polls under way
	left    int         // sources that have not ended

	last     time.Duration // stamp of the last input: inputs never go back in time
	lastTick time.Duration
	tickCost time.Duration
	tickGap  time.Duration
	began    time.Duration // when the last poll began
	fresh    bool          // batches came since the last tick
}

// polled is one target on the schedule.
type polled struct {
	Opened
	pace   pace
	due    time.Duration // never while a poll is under way, and after the last one
	flying bool
	began  time.Duration // of the poll under way

	found   bool                        // it was found, and not named by the user
	finders []*polled                   // that list it
	opened  map[string][]model.TargetID // of a finder: what each address that it lists was opened as
	cancel  func()                      // calls the poll under way off
	ended   bool                        // it has no more polls to give
	gone    bool                        // it is not watched any more, and its last poll is under way
}

// answer is one poll's end.
type answer struct {
	from           *polled
	batch          model.Batch
	err            error
	started, ended time.Time
}

func newRun(targets []Opened, opt RunOptions, emit func(model.Input)) *run {
	if opt.Every <= 0 {
		opt.Every = DefaultEvery
	}
	if opt.Timeout <= 0 {
		opt.Timeout = max(minTimeout, min(opt.Every, maxTimeout))
	}
	r := &run{
		emit:    emit,
		opt:     opt,
		start:   time.Now(),
		answers: make(chan answer, len(targets)),
		left:    len(targets),
		last:    opt.After,
		tickGap: shortTick,
	}
	for i, t := range targets {
		r.polled = append(r.polled, r.newPolled(t, firstPoll(i, len(targets))))
	}
	r.roster = newRoster(r.polled)
	return r
}

func (r *run) newPolled(o Opened, due time.Duration) *polled {
	every := r.opt.Every
	if s, ok := o.Source.(Paced); ok {
		every = max(every, s.Pace())
	}
	return &polled{Opened: o, pace: newPace(o.Target.ID, every, r.opt.Seed), due: due}
}

// close closes every source that is still watched.
func (r *run) close() error {
	errs := []error{r.wrong}
	for _, p := range r.polled {
		errs = append(errs, p.Source.Close())
	}
	return errors.Join(errs...)
}

// wallClock reads the clock for a probe, which must say when each byte came.
func wallClock() time.Time { return time.Now() }

// loop starts polls, takes their answers and ticks.
func (r *run) loop(ctx context.Context) {
	r.tick()
	r.lastTick = -shortTick // the first batch is shown at once
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil && r.left > 0 {
		next := r.startDue(ctx)
		if r.now() >= r.tickDue() {
			r.tick()
		}
		timer.Reset(min(next, r.tickDue()) - r.now())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case a := <-r.answers:
			r.flying--
			a.from.flying = false
			r.take(ctx, a)
		}
	}
	if ctx.Err() == nil && r.fresh {
		r.tick()
	}
}

func (r *run) wait() {
	for ; r.flying > 0; r.flying-- {
		if a := <-r.answers; a.from.gone {
			r.wrong = errors.Join(r.wrong, a.from.Source.Close())
		}
	}
}

func (r *run) now() time.Duration { return time.Since(r.start) }

// startDue starts the polls that are due, the longest waiting first, and
// returns when to look again. It scans all targets: at thousands of them that
// is still far cheaper than the polls it starts.
func (r *run) startDue(ctx context.Context) (next time.Duration) {
	now := r.now()
	young, oldest := 0, now
	next = never
	r.ready = r.ready[:0]
	for _, p := range r.polled {
		switch {
		case p.flying && now-p.began < youth:
			young++
			oldest = min(oldest, p.began)
		case p.due <= now+slack:
			r.ready = append(r.ready, p)
		default:
			next = min(next, p.due)
		}
	}
	room := max(0, maxYoung-young)
	if len(r.ready) > room {
		slices.SortStableFunc(r.ready, func(a, b *polled) int { return cmp.Compare(a.due, b.due) })
		r.ready = r.ready[:room]
		next = oldest + youth // if no answer comes before
	}
	for _, p := range r.ready {
		p.due, p.flying, p.began, r.began = never, true, now, now
		r.flying++
		polling, cancel := context.WithTimeout(ctx, r.opt.Timeout)
		p.cancel = cancel
		go r.poll(polling, p)
	}
	return next
}

// poll runs on a goroutine of its own and touches only its own target.
func (r *run) poll(ctx context.Context, p *polled) {
	a := answer{from: p, started: time.Now()}
	defer p.cancel()
	a.batch, a.err = pollOnce(ctx, p.Source, a.started.Sub(r.start))
	a.ended = time.Now()
	r.answers <- a
}

// take passes a poll's outcome on and decides when the next one is.
func (r *run) take(ctx context.Context, a answer) {
	if a.from.gone {
		r.wrong = errors.Join(r.wrong, a.from.Source.Close())
		return
	}
	if ctx.Err() != nil {
		return // its failure may be the end of the run and nothing else
	}
	if errors.Is(a.err, io.EOF) {
		a.from.ended = true
		r.left--
		return
	}
	if f, ok := a.from.Source.(Finder); ok && a.err == nil {
		if err := r.follow(ctx, a.from, f.Found()); err != nil {
			a.err = &FaultError{model.Malformed, excerpt(err.Error())}
		}
	}
	batch := outcome(a.batch, a.err)
	batch.Target = a.from.Target.ID
	batch.Took = a.ended.Sub(a.started)
	r.send(a.ended, &batch)
	r.fresh = true
	ended := a.ended.Sub(r.start)
	switch {
	case errors.As(a.err, new(soon)):
		a.from.due = a.from.pace.point(ended)
	case batch.Fault != nil:
		a.from.due = a.from.pace.afterFault(batch.Fault.Kind, ended)
	default:
		a.from.due = a.from.pace.afterGood(a.started.Sub(r.start), ended)
	}
}

// send stamps an input. A poll is stamped with its end, which is when its
// numbers were nearest to true: a busy server writes its page last.
func (r *run) send(at time.Time, batch *model.Batch) { r.stamped(at, model.Input{Batch: batch}) }

// pass sends an input that is of now.
func (r *run) pass(in model.Input) { r.stamped(time.Now(), in) }

func (r *run) stamped(at time.Time, in model.Input) {
	mono := max(at.Sub(r.start)+r.opt.After, r.last)
	r.last = mono
	in.At = model.Instant{Wall: at.Round(0), Mono: mono}
	r.emit(in)
}

func (r *run) tick() {
	before := time.Now()
	r.send(before, nil)
	cost := time.Since(before)
	r.lastTick = before.Sub(r.start)
	// The cheaper of two: one tick during which the machine did something else
	// says nothing of the next.
	r.tickGap = max(shortTick, min(min(cost, r.tickCost)*tickShare, longTick))
	r.tickCost = cost
	r.fresh = false
}

// tickDue is when the next tick comes. Polled each second, a tick is due just when the
// answer is: it waits a little for a poll under way, or that answer would come a tick late.
func (r *run) tickDue() time.Duration {
	if r.fresh {
		return r.lastTick + r.tickGap
	}
	due := r.lastTick + longTick
	if r.flying > 0 {
		return min(max(due, r.began+shortTick), due+shortTick)
	}
	return due
}
