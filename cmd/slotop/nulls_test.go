package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// empties lists the texts of a JSON value that are empty.
func empties(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case string:
		if v == "" {
			out = append(out, at)
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

// What is not known is null in a frame, and never an empty text: in an incident,
// in a start, and where nothing answers.
func TestNoTextIsEmpty(t *testing.T) {
	for _, args := range [][]string{
		{"--frames", "--for", "30s", "demo:S4?at=10"},
		{"--frames", "--for", "30s", "demo:S6?at=10"},
		{"--for", "100ms", "127.0.0.1:1"},
	} {
		out := headless(t, append([]string{"snapshot", "-o", "json"}, args...)...).out
		if out == "" {
			t.Errorf("%v: no frame", args)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(out) {
			var f any
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatal(err)
			}
			for _, at := range empties(f, "frame") {
				if !seen[at] {
					t.Errorf("%v: %s is empty", args, at)
				}
				seen[at] = true
			}
		}
	}
}
