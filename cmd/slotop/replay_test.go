package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/model/tape"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// TestReplayEqualsLive folds a run while recording it, then folds the tape: every
// frame must be the same to the byte, the charts' history included.
func TestReplayEqualsLive(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	tests := []struct {
		name  string
		args  func(t *testing.T) []string
		every time.Duration
		total time.Duration
	}{
		{"demo", func(*testing.T) []string { return []string{"demo:S4?seed=3&at=60s&for=60s&with=gap"} }, time.Second, 3 * time.Minute},
		{"comers and a gateway", func(*testing.T) []string { return []string{"demo:S12?seed=3&at=60s&events=1&with=retries"} }, time.Second, 2 * time.Minute},
		{"a hosted provider", func(*testing.T) []string { return []string{"demo:S8?seed=3&at=60s"} }, time.Second, 2 * time.Minute},
		{"restart", func(t *testing.T) []string { return []string{shared.Dir(t, "corpus/engines/seq/vllm-overload")} }, 10 * time.Second, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			opened, err := sources.Resolve(t.Context(), tc.args(t), sources.Options{})
			if err != nil {
				t.Fatal(err)
			}
			targets := targetsOf(opened)
			config := fleet.Config{Targets: targets, Every: tc.every}
			live, err := fleet.New(config)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			w, err := tape.NewWriter(&file, tape.Header{Targets: targets, Every: tc.every})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			take := func(in model.Input) {
				if err := w.Write(in); err != nil {
					t.Fatal(err)
				}
				if f := live.Step(in); f != nil {
					want = append(want, inFull(t, f))
				}
			}
			err = sources.Play(t.Context(), opened, sources.PlayOptions{Every: tc.every, For: tc.total}, func(in model.Input) {
				take(in)
				if in.IsTick() && len(want) == 5 {
					take(model.Input{At: in.At, Window: 20 * time.Second})
				}
			})
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			if got := replayed(t, &file, config); len(got) != len(want) {
				t.Fatalf("%d frames, live there were %d", len(got), len(want))
			} else {
				for i := range got {
					if at := firstDifference(got[i], want[i]); at >= 0 {
						from := max(0, at-200)
						t.Fatalf("frame %d differs at %d\nreplayed …%.300s\n    live …%.300s", i, at, got[i][from:], want[i][from:])
					}
				}
			}
		})
	}
}

// firstDifference is where two texts part, -1 when they are equal.
func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

func replayed(t *testing.T, file io.Reader, config fleet.Config) []string {
	t.Helper()
	r, err := tape.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fold, err := fleet.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if f := fold.Step(in); f != nil {
			got = append(got, inFull(t, f))
		}
	}
}

// inFull is all that can be seen of a frame.
func inFull(t *testing.T, f *model.Frame) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	for _, w := range f.Workflows {
		if w.History == nil {
			continue
		}
		h := *w.History
		for _, heat := range []**model.Heat{&h.HeatTTFT, &h.HeatTPOT, &h.HeatE2E} {
			if *heat != nil {
				fmt.Fprintf(&b, "%+v\n", **heat)
			}
			*heat = nil
		}
		fmt.Fprintf(&b, "%+v\n", h)
	}
	return b.String()
}
