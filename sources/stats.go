package sources

import (
	"context"
	"strings"

	"slotop/model"
)

// A gateway's own sums come as the schema llm-gateway-stats/1: one JSON document
// over HTTP, or a file that holds one.
//
//	{"schema":"llm-gateway-stats/1", "generated_at":"2026-08-01T12:00:00Z",
//	 "started_at":…, "epoch":"…", "gateway":{"name":…, "software":…, "version":…},
//	 "groups":[{"workflow":"chat", "model":"llama-70b", "model_version":…,
//	   "labels":{"team":"shop"},
//	   "now":{"queued":1, "preparing_context":0, "waiting_for_model":2, "streaming":5},
//	   "total":{"received":1204, "completed":1150, "output_limit":21, "cancelled":14,
//	     "failed":11, "retries":12, "input_tokens":…, "output_tokens":…,
//	     "cached_input_tokens":…},
//	   "cancelled_by":{"user":14}, "failed_by":{"timeout":11},
//	   "latency":{"ttft":{"le":[…], "cumulative":[…], "count":1171, "sum":397.2},
//	     "tpot":{"quantiles":{"0.5":0.012}, "window_s":60, "count":12}}}]}
//
// Only schema, generated_at and groups are required, and in a group workflow or
// model. What is missing or null is unknown, never 0. Groups that differ only in
// what no workflow matches on are added up; windows are passed on as they are.
//
// Reasons stand in for the sum of their kind, under the label reason, where they
// add up to it when it first is not 0: otherwise only the sum is passed on. Which
// of the two holds for a group changes with a restart only, so that no count
// seems to begin anew.
var statsKind = Kind{
	Name:    statsScheme,
	Doc:     "a gateway's stats document over HTTP(S)",
	Example: "stats+http://gateway:8080/stats",
	Match:   isStats,
	Open:    openStats,
}

const statsScheme = "stats"

func isStats(arg string) bool {
	scheme, _, found := strings.Cut(arg, ":")
	return found && (scheme == statsScheme+"+http" || scheme == statsScheme+"+https")
}

func openStats(_ context.Context, spec Spec) ([]Opened, error) {
	_, address, _ := strings.Cut(spec.Address, "+")
	u, err := parseWhole(address)
	if err != nil {
		return nil, usage(spec.Address, "not a complete address", "write stats+http(s)://HOST:PORT/PATH")
	}
	asked, err := newAsked(spec, u)
	if err != nil {
		return nil, err
	}
	asked.request.Header.Set("Accept", "application/json")
	asked.request.Header.Set("Accept-Encoding", "gzip")
	page := newPage(spec.Options)
	page.sent, page.onlyStats = asked.sent, true
	target := model.Target{ID: statsScheme + "+" + targetID(u), Name: u.Host, Kind: model.GatewayTarget}
	return []Opened{{Target: target, Source: &engine{asked: asked, page: page, limit: min(bodyLimit(spec.Options), maxStats)}}}, nil
}
