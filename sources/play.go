package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"slotop/model"
)

// PlayOptions are the settings of a run in virtual time.
type PlayOptions struct {
	Every time.Duration // between two polls; 0 for DefaultEvery
	For   time.Duration // the last poll is at For; 0 plays until every source has ended
	Start time.Time     // wall time of the first poll; zero where the first Dated source begins, else Epoch
}

// Epoch is the wall time at which virtual time starts. Saved pages do not tell
// when they were read, and a file's own time changes when it is copied: a fixed
// date keeps output the same everywhere, and nobody takes it for today.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// The longest that virtual time may take, between two polls and in all. Beyond
// that nobody means it, and dates run out.
const (
	longestEvery = 366 * 24 * time.Hour
	longestPlay  = 100 * longestEvery
)

func (o PlayOptions) check() error {
	switch {
	case o.Every > longestEvery:
		return fmt.Errorf("play: a poll every %v is too rare, at most every %v", o.Every, longestEvery)
	case o.For > longestPlay:
		return fmt.Errorf("play: %v are too long, at most %v", o.For, longestPlay)
	}
	return nil
}

// Play polls targets in virtual time, in the order given, without waiting, and
// closes them. A round of polls has one stamp and is followed by a tick with
// the same. A source that has ended sends nothing more; when all have, or at
// For, Play returns. The error is the context's when that ended it.
func Play(ctx context.Context, targets []Opened, opt PlayOptions, emit func(model.Input)) (err error) {
	defer func() { err = errors.Join(err, CloseAll(targets)) }()
	if err := opt.check(); err != nil {
		return err
	}
	if opt.Every <= 0 {
		opt.Every = DefaultEvery
	}
	if opt.Start.IsZero() {
		opt.Start = begins(targets)
	}
	ended := make([]bool, len(targets))
	at := model.Instant{Wall: opt.Start}
	for ; opt.For <= 0 || at.Mono <= opt.For; at = at.Add(opt.Every) {
		if at.Mono > longestPlay {
			return fmt.Errorf("play: it goes on for more than %v: poll more often, or fewer times", longestPlay)
		}
		polls := 0
		for i, t := range targets {
			if ended[i] {
				continue
			}
			if d, ok := t.Source.(Dated); ok {
				d.Until(at.Wall)
			}
			batch, err := pollOnce(ctx, t.Source, at.Mono)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if ended[i] = errors.Is(err, io.EOF); ended[i] {
				continue
			}
			polls++
			if errors.Is(err, errNoPage) {
				continue
			}
			batch = outcome(batch, err)
			batch.Target = t.Target.ID
			emit(model.Input{At: at, Batch: &batch})
		}
		if polls == 0 {
			return nil
		}
		emit(model.Input{At: at})
	}
	return nil
}

// begins is the earliest date of what is played.
func begins(targets []Opened) time.Time {
	first := Epoch
	found := false
	for _, t := range targets {
		d, ok := t.Source.(Dated)
		if !ok || d.Begins().IsZero() || found && !d.Begins().Before(first) {
			continue
		}
		first, found = d.Begins(), true
	}
	return first
}

// pollOnce polls a source that may have a time of its own. A panic in it is
// that source's failure and nobody else's.
func pollOnce(ctx context.Context, s Source, at time.Duration) (batch model.Batch, err error) {
	defer func() {
		if p := recover(); p != nil {
			batch = model.Batch{}
			err = &FaultError{model.Malformed, "collector failed: " + excerpt(fmt.Sprint(p))}
		}
	}()
	if a, ok := s.(Advancer); ok {
		a.Advance(at)
	}
	return s.Poll(ctx)
}

// outcome is the batch to pass on: what was read, or why nothing was.
func outcome(batch model.Batch, err error) model.Batch {
	if err == nil {
		return batch
	}
	var fault *FaultError
	switch {
	case errors.As(err, &fault):
		return model.Batch{Fault: &model.Fault{Kind: fault.Kind, Detail: fault.Detail}}
	case errors.Is(err, context.DeadlineExceeded):
		return model.Batch{Fault: &model.Fault{Kind: model.Timeout, Detail: "no answer in time"}}
	default:
		return model.Batch{Fault: &model.Fault{Kind: model.Malformed, Detail: excerpt(err.Error())}}
	}
}
