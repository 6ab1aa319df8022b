package sources

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"slotop/model"
)

// Reports of single requests come as the schema llm-gateway-events/1: JSON lines
// in a file that grows, on standard input or over HTTP, or server-sent events.
// Each message is the whole known state of one request at one moment:
//
//	{"v":1, "seq":18201, "at":"2026-08-01T12:00:02.511Z", "id":"r-1", "phase":"done",
//	 "workflow":"chat", "model":"llama-70b", "model_version":"r3", "instance":"vllm-2",
//	 "stream":true, "queued_at":…, "admitted_at":…, "context_ready_at":…,
//	 "first_token_at":…, "first_answer_at":…, "completed_at":…, "input_tokens":1834,
//	 "cached_input_tokens":1024, "output_tokens":107, "output_chunks":96,
//	 "outcome":"completed", "reason":"", "status":200, "attempt":1, "retries":0,
//	 "labels":{"team":"shop"}}
//
// Only v, id, at and phase are required; what is missing or null is unknown. A
// load generator adds scheduled_at, when it meant to send the request; where
// every attempt is a request of its own, retry_of is the id of the one before.
// Beside requests a stream may say {"v":1, "gateway":{"name":…}, "epoch":…}
// (hello: another epoch is another numbering) and {"v":1, "dropped":4,
// "from_seq":…, "to_seq":…} (gap: the reporter lost events), as events of these
// names where they are server-sent.
//
// Fields are read by name, all others passed over: no text of a prompt or an
// answer is kept. Labels are kept where a workflow matches on them. The built-in
// simulator writes such a file (sim.WriteEvents).
var eventsKind = Kind{
	Name:    eventsScheme,
	Doc:     "reports of single requests: JSON lines, server-sent events or a gateway's own records, from a file that grows, standard input (-) or HTTP(S)",
	Example: "events:requests.jsonl",
	Match:   isEvents,
	Open:    openEvents,
}

const (
	eventsScheme = "events"
	eventsForm   = "write events:FILE, events:- for standard input, or events+http(s)://HOST:PORT/PATH"
)

func isEvents(arg string) bool {
	scheme, _, found := strings.Cut(arg, ":")
	return found && (scheme == eventsScheme || scheme == eventsScheme+"+http" || scheme == eventsScheme+"+https")
}

func openEvents(ctx context.Context, spec Spec) ([]Opened, error) {
	scheme, rest, _ := strings.Cut(spec.Address, ":")
	switch {
	case scheme != eventsScheme:
		return openEventStream(spec)
	case rest == "-":
		return openEventInput(spec)
	case rest == "":
		return nil, usage(spec.Address, "no file", eventsForm)
	}
	if irregular := (*IrregularError)(nil); errors.As(regular(rest), &irregular) {
		return nil, usage(spec.Address, irregular.What+", not a regular file", "what another program writes is read by PROGRAM | slotop events:-")
	}
	target := model.Target{
		ID: model.TargetID(eventsScheme + ":" + filepath.ToSlash(filepath.Clean(rest))), Name: filepath.Base(rest), Kind: model.GatewayTarget,
	}
	if spec.Options.Follow {
		f := newFollowed(rest, spec.Options.Keep)
		f.wire.decoder.lines.nameBy(spec.Options.WorkflowLabel)
		return []Opened{{Target: target, Source: f}}, nil
	}
	source, err := newPlayed(ctx, rest, spec.Options.Keep)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, usage(spec.Address, excerpt(err.Error()), "check the path")
	}
	source.wire.decoder.lines.nameBy(spec.Options.WorkflowLabel)
	return []Opened{{Target: target, Source: source, Saved: true}}, nil
}
