package main

import (
	"strings"
	"testing"

	"slotop/model"
)

// TestEnables: the screen knows what the doctor knows of an engine's dialect, and claims
// nothing of one that is not known.
func TestEnables(t *testing.T) {
	dialects, err := loadDialects()
	if err != nil {
		t.Fatal(err)
	}
	say := *enables(dialects)
	for _, tc := range []struct {
		engine string
		signal model.Signal
		want   string // part of it; "": nothing is said
	}{
		{"vllm", model.TTFT, "--disable-log-stats"},
		{"vllm", model.TPOT, "vLLM 0.11"},
		{"sglang", model.TTFT, "decode node"},
		{"litellm", model.TTFT, "stream"},
		{"", model.TTFT, ""},
		{"no such engine", model.TTFT, ""},
	} {
		got := say(&model.TargetView{Engine: model.Text(tc.engine)}, tc.signal)
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s, %s: %q, want %q", tc.engine, tc.signal, got, tc.want)
		}
	}
	if enables(nil) != nil {
		t.Error("without dialects something is known")
	}
}
