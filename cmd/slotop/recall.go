package main

import (
	"context"
	"time"

	"slotop/model"
	"slotop/sources"
)

// recalled is how much of the past fills the charts at the start: an incident that
// somebody is called for began within it.
const recalled = time.Hour

// recallWithin bounds what the past may take before the present is shown: the
// first numbers are waited for.
const recallWithin = 10 * time.Second

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
	ctx, done := context.WithTimeout(ctx, recallWithin)
	defer done()
	var pasts []sources.Opened
	for _, o := range opened {
		r, ok := o.Source.(recaller)
		if !ok {
			continue
		}
		if past, err := r.Recall(ctx, span); err == nil {
			pasts = append(pasts, past)
		}
	}
	if len(pasts) == 0 {
		return 0
	}
	c.hush(true)
	defer c.hush(false)
	var last model.Instant
	_ = sources.Play(ctx, pasts, sources.PlayOptions{Every: paceOf(pasts), For: span}, func(in model.Input) {
		last = in.At
		c.take(in)
	})
	if last.IsZero() {
		return 0
	}
	return last.Mono + max(0, time.Since(last.Wall))
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
