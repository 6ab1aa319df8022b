package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// contract is the public form of a frame: each key must be there, with a value of
// this kind or null. Keys may be added; what is here is what others build on.
const contract = `{"schema":"slotop.frame/1","at":"","window_s":1,"covered_s":1,"simulated":true,
 "targets":[{"name":"","kind":"","engine":"","version":"","state":"",
   "fault":{"kind":"","detail":"","last_good_at":""},
   "polls":1,"failed_polls":1,"bad_lines":1,"restarts":1,"models":[""],"missing":[""],
   "running":1,"waiting":1,"kv_cache_usage":1,"engines":[{"id":"","running":1,"waiting":1,"kv_cache_usage":1}]}],
 "workflows":[{"name":"","assumed_objectives":true,
   "requests":{"started":1,"finished":1,"per_second":1,"running":1,"waiting":1,"failed":1,"cancelled":1,"unaccounted":1},
   "tokens":{"prompt_per_second":1,"output_per_second":1,"cached_prompt_share":1},
   "ttft":"DIST","tpot":"DIST","itl":"DIST","e2e":"DIST","queue":"DIST","prefill":"DIST","decode":"DIST",
   "kv_cache_usage":1,"prefix_cache_hit":1,"preemptions_per_second":1,
   "objectives":[{"metric":"","max_s":1,"share":"SHARE"}],
   "goodput":{"share":"SHARE","per_second":{"lo":1,"hi":1},"basis":"","n":1,"target":1,"verdict":""},
   "budget":{"burn":{"2m":1,"5m":1,"30m":1},"remaining":1}}],
 "devices":null,"utilization":null,
 "alerts":[{"id":"","rule":"","workflow":"","target":"","state":"","since":"","text":""}],
 "findings":null}`

// abbreviations of the contract.
var abbreviations = map[string]string{
	"DIST":  `{"n":1,"mean":1,"p50":"Q","p90":"Q","p95":"Q","p99":"Q","basis":""}`,
	"Q":     `{"value":1,"lo":1,"hi":1,"open":true,"enough":true}`,
	"SHARE": `{"lo":1,"hi":1,"point":1}`,
}

// breaches lists where a value is not of the contract.
func breaches(want, got any, at string) []string {
	if short, ok := want.(string); ok && abbreviations[short] != "" {
		want = parsed(abbreviations[short])
	}
	if got == nil || want == nil {
		return nil
	}
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		return []string{fmt.Sprintf("%s is %v", at, got)}
	}
	var out []string
	switch want := want.(type) {
	case map[string]any:
		for key, w := range want {
			g, there := got.(map[string]any)[key]
			if !there {
				out = append(out, at+"."+key+" is missing")
			}
			out = append(out, breaches(w, g, at+"."+key)...)
		}
	case []any:
		for _, g := range got.([]any) {
			out = append(out, breaches(want[0], g, at+"[]")...)
		}
	}
	return out
}

// empties lists the texts that are empty: what is not known is null.
func empties(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case string:
		if v == "" {
			out = append(out, at+" is empty")
		}
	case map[string]any:
		for key, x := range v {
			out = append(out, empties(x, at+"."+key)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, empties(x, at+"[]")...)
		}
	}
	return out
}

func parsed(text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

// The frames of an incident, of a start and of a target that is not there hold to
// the contract, key by key.
func TestFramesHoldToTheContract(t *testing.T) {
	want := parsed(contract)
	for _, args := range [][]string{
		{"--frames", "--for", "30s", "demo:S4?at=10"},
		{"--frames", "--for", "30s", "demo:S6?at=10"},
		{"--for", "100ms", "127.0.0.1:1"},
	} {
		out := headless(t, append([]string{"snapshot", "-o", "json"}, args...)...).out
		seen := map[string]bool{}
		for line := range strings.Lines(out) {
			f := parsed(line)
			for _, b := range append(breaches(want, f, "frame"), empties(f, "frame")...) {
				if !seen[b] {
					t.Errorf("%v: %s", args, b)
				}
				seen[b] = true
			}
		}
		if out == "" {
			t.Errorf("%v: no frame", args)
		}
	}
}
