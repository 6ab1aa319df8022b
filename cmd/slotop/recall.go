package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"slotop/model"
	"slotop/sources"
)

// recalled is how much of the past fills the charts at the start: an incident that
// somebody is called for began within it.
const recalled = time.Hour

// recallWithin bounds what the past may take before the present is shown, and
// recallBeside where somebody else is watched who has no past: the first numbers are
// waited for. greetWithin is how long a server may take to say that it has a past:
// one that does not answer holds nobody back.
const (
	recallWithin = 10 * time.Second
	recallBeside = 3 * time.Second
	greetWithin  = 2 * time.Second
)

// recaller is a source that can also tell what was.
type recaller interface {
	// Recall opens the span that ends now at the server. Once it is played, the
	// source goes on with the same counters.
	Recall(ctx context.Context, span time.Duration) (sources.Opened, error)
}

// recall folds the past of those targets that can tell it, as far as it comes in
// time, and returns how much time it took on the inputs' clock. What goes wrong here
// goes wrong for the next poll too, which says so.
func (c *core) recall(ctx context.Context, opened []sources.Opened, span time.Duration) time.Duration {
	pasts := remembered(ctx, opened, span)
	within := recallWithin
	if len(pasts) < len(opened) {
		within = recallBeside
	}
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	if len(pasts) == 0 {
		return 0
	}
	c.hush(true)
	defer c.hush(false)
	defer c.told.Store(0)
	var last model.Instant
	_ = sources.Play(ctx, pasts, sources.PlayOptions{Every: paceOf(pasts), For: span}, func(in model.Input) {
		last = in.At
		c.told.Store(1 + int64(1000*in.At.Mono/span))
		c.take(in)
	})
	if last.IsZero() {
		return 0
	}
	return last.Mono + max(0, time.Since(last.Wall))
}

// recallShare implements tui.Options.Recalled.
func (c *core) recallShare() (share float64, going bool) {
	told := c.told.Load()
	return float64(told) / 1000, told > 0
}

// remembered opens the past of those targets that can tell it, all at once.
func remembered(ctx context.Context, opened []sources.Opened, span time.Duration) []sources.Opened {
	ctx, done := context.WithTimeout(ctx, greetWithin)
	defer done()
	pasts := make([]sources.Opened, len(opened))
	var asked sync.WaitGroup
	for i, o := range opened {
		if r, ok := o.Source.(recaller); ok {
			asked.Go(func() { pasts[i] = past(ctx, r, span) })
		}
	}
	asked.Wait()
	return slices.DeleteFunc(pasts, func(o sources.Opened) bool { return o.Source == nil })
}

// past is a source's past, the zero value where it has none, or fails to tell it.
func past(ctx context.Context, r recaller, span time.Duration) (o sources.Opened) {
	defer func() {
		if recover() != nil { // the next poll says what is wrong
			o = sources.Opened{}
		}
	}()
	o, _ = r.Recall(ctx, span)
	return o
}

// paceOf is how far apart the points of the past are: those of the slowest.
func paceOf(opened []sources.Opened) time.Duration {
	pace := time.Duration(0)
	for _, o := range opened {
		if p, ok := o.Source.(sources.Paced); ok {
			pace = max(pace, p.Pace())
		}
	}
	return pace
}
