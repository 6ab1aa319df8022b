package sources

import (
	"cmp"
	"context"
	"errors"

	"slotop/model"
)

// Found is what one look at an address showed.
type Found struct {
	Address string // as it was given, without credentials
	Kind    string // of the kinds of targets; "" where nothing was found that slotop reads
	Engine  string // dialect or engine, "" where none is known
	Version string
	Models  []string
	Note    string // what else is to be said of it; "" for nothing
	Fault   *model.Fault
}

// identifier is a source that can ask its server for what it is besides.
type identifier interface {
	identifyNow(ctx context.Context) (about *model.About, kind string)
}

// Look opens a target, polls it once and closes it: a handful of requests, none of
// which costs the server anything. That nothing answers, or nothing that can be read,
// is a Fault; an error is an address that cannot be meant, or the context's end.
// Whoever looks at many addresses gives Options the dialects, which are else loaded
// for each.
func Look(ctx context.Context, address string, opt Options) (found Found, err error) {
	found.Address = Redact(address)
	opened, err := Resolve(ctx, []string{address}, opt)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, CloseAll(opened)) }()
	first := opened[0]
	batch, err := pollOnce(ctx, first.Source, 0)
	if errors.Is(err, context.Canceled) {
		return found, err
	}
	batch = outcome(batch, err)
	found.Fault = batch.Fault
	about := batch.About
	if i, ok := first.Source.(identifier); ok {
		about, found.Kind = i.identifyNow(ctx)
	}
	if about == nil {
		return found, nil
	}
	found.Engine, found.Version, found.Models = about.Engine, about.Version, about.Models
	if len(about.Notes) > 0 {
		found.Note = about.Notes[0]
	}
	if about.Engine != "" || about.Kind != "" || first.Target.Kind != model.EngineTarget {
		found.Kind = cmp.Or(about.Kind, first.Target.Kind)
	}
	return found, nil
}
