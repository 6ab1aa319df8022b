package discover

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"slotop/model"
)

// Answer is what one look at an address showed.
type Answer struct {
	Target  string // the address as a target
	Kind    string // of the kinds of targets; "" where nothing was found that slotop reads
	Engine  string // dialect or engine, "" where none is known
	Version string
	Models  []string
	Note    string // what else is to be said of it
	Fault   *model.Fault
}

// Finding is what one place turned out to be.
type Finding struct {
	Candidate
	Answer

	Open bool   // it is watched
	Why  string // why it is not
}

// Look asks an address what it is, with a time-out. It sends no key: whoever listens
// on this host need not be whom the key is for.
type Look func(ctx context.Context, address string) (Answer, error)

// maxAsked bounds the places that are asked, all at once: no host has as many
// engines, and each costs a connection.
const maxAsked = 64

// NVML is the address of this host's own GPUs.
const NVML = "nvml:"

// Find asks the candidates, and the driver of this host's GPUs, what they are: all
// at the same time, each until ctx ends. It decides what is watched.
func Find(ctx context.Context, candidates []Candidate, look Look) []Finding {
	all := make([]Finding, 0, len(candidates)+1)
	all = append(all, Finding{Candidate: Candidate{Address: NVML, Likely: true}})
	asked := 0
	for _, c := range candidates {
		if c.Skip == "" {
			if asked++; asked > maxAsked {
				c.Skip = fmt.Sprintf("not among the first %d", maxAsked)
			}
		}
		all = append(all, Finding{Candidate: c})
	}
	var wait sync.WaitGroup
	for i := range all {
		if f := &all[i]; f.Skip == "" {
			wait.Go(func() { f.ask(ctx, look) })
		}
	}
	wait.Wait()
	choose(all)
	return all
}

// ask finds out what listens: by its page or what else it answers, under TLS where
// it wants that, and as a stream of events where it is nothing else.
func (f *Finding) ask(ctx context.Context, look Look) {
	f.Answer = f.lookAt(ctx, look, f.Address)
	if f.Fault != nil && strings.Contains(f.Fault.Detail, speaksTLS) {
		f.Answer = f.lookAt(ctx, look, "https://"+f.Address)
	}
	answers := f.Fault != nil && (f.Fault.Kind == model.NotFound || f.Fault.Kind == model.NotMetrics)
	if f.Kind == "" && f.Address != NVML && answers && streams(ctx, f.Address) {
		f.Answer = Answer{Target: "events+http://" + f.Address + eventsPath, Kind: model.GatewayTarget, Note: "reports of single requests"}
	}
}

// speaksTLS is in the fault of a server that was spoken to without.
const speaksTLS = "speaks TLS"

func (f *Finding) lookAt(ctx context.Context, look Look, address string) Answer {
	found, err := look(ctx, address)
	if err != nil && found.Fault == nil {
		found.Fault = &model.Fault{Kind: model.UnsupportedPage, Detail: err.Error()}
		if ctx.Err() != nil {
			found.Fault = &model.Fault{Kind: model.Timeout, Detail: "it did not answer in time"}
		}
		found.Kind = ""
	}
	found.Target = address
	return found
}
