package main

import (
	"context"
	"errors"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
)

// collector is the fold of what was opened, and those who are told of its alerts. With an
// error all that was opened is closed.
func (a *app) collector(s settings, opened []sources.Opened) (*core, *alerting, error) {
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: s.interval(opened), Window: s.window, Policy: s.policy})
	if err != nil {
		return nil, nil, errors.Join(err, sources.CloseAll(opened))
	}
	al, err := a.alerting(s, opened)
	if err != nil {
		return nil, nil, errors.Join(err, sources.CloseAll(opened))
	}
	al.follow(c)
	return c, al, nil
}

// collect takes in what can be known of the past, and then polls until ctx ends.
func (c *core) collect(ctx context.Context, s settings, opened []sources.Opened, emit func(model.Input)) error {
	after := c.recall(ctx, opened, recalled)
	return sources.Run(ctx, opened, sources.RunOptions{Every: s.interval(opened), Timeout: s.timeout, Seed: seed(), After: after}, emit)
}
