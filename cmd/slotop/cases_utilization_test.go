package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// playedUnder folds saved pages, ten seconds apart, under a policy, and returns the
// last frame.
func playedUnder(t *testing.T, p model.Policy, args ...string) *model.Frame {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), args, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const every = 10 * time.Second
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: every, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := sources.Play(context.Background(), opened, sources.PlayOptions{Every: every}, c.take); err != nil {
		t.Fatal(err)
	}
	return c.box.latest()
}

// onH100 is what an operator may say of the machine behind every target.
var onH100 = model.Policy{Hardware: []model.HardwareSpec{{Accelerator: "NVIDIA H100 80GB HBM3", GPUs: 1}}}

// TestUtilizationOfRealEngines pins what pages of real engines come to: each figure
// with where it comes from, and no figure where the page has none.
func TestUtilizationOfRealEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	dir := shared.Dir(t, "corpus/engines")
	pages, err := filepath.Glob(filepath.Join(dir, "*.prom"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			f := playedUnder(t, model.Policy{}, page, page)
			pinUtilization(t, filepath.Base(page), f)
			invented(t, f)
		})
	}
}

// TestUtilizationOverTime is of servers at work, on a machine that is configured.
func TestUtilizationOverTime(t *testing.T) {
	dir := shared.Dir(t, "corpus/engines")
	for name, pages := range map[string][]string{
		"vllm-overload":      {"seq/vllm-overload"},
		"sglang-load":        {"seq/sglang-load"},
		"llm-d-load":         {"llm-d-inference-sim-0.10.2-idle.prom", "llm-d-inference-sim-0.10.2-load.prom"},
		"llamacpp-again":     {"llamacpp-b10590-idle-start.prom", "llamacpp-b10590-scrape-again.prom"},
		"vllm-four-ranks":    {"vllm-main-2026-05-dp4-lora-spec-mfu.prom", "vllm-main-2026-05-dp4-lora-spec-mfu.prom"},
		"an-alias-untouched": {"vllm-real-2026-06-qwen3-30b-spec-busy.prom", "vllm-real-2026-06-qwen3-30b-spec-busy.prom"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, p := range pages {
				pages[i] = filepath.Join(dir, p)
			}
			f := playedUnder(t, onH100, pages...)
			pinUtilization(t, name, f)
			v := f.Utilization[0]
			if v.DeviceFrom != "configuration" || v.PeakFLOPs.Value != 989.4e12 || v.Confidence != "A" {
				t.Errorf("%+v", v)
			}
			for _, m := range v.Measures {
				if m.Basis == model.ByShape && v.Shape == "" || v.Bound != model.BoundUnknown && !v.Likely {
					t.Errorf("%+v", m)
				}
			}
		})
	}
}

// invented fails where there is a figure without what it needs: none of these pages
// names its accelerator.
func invented(t *testing.T, f *model.Frame) {
	t.Helper()
	if f.Utilization == nil {
		t.Error("no list")
	}
	for _, v := range f.Utilization {
		for what, r := range map[string]model.Reading{"MFU": v.MFU, "MBU": v.MBU, "a peak": v.PeakFLOPs, "a ridge": v.Ridge, "GPUs": v.GPUs, "busy": v.Busy} {
			if r.OK() {
				t.Errorf("%s: %s is %v, from nothing", v.Target, what, r.Value)
			}
		}
		if v.Bound != model.BoundUnknown || !strings.HasPrefix(v.Sentence, "unknown: ") {
			t.Errorf("%s is %s: %s", v.Target, v.Bound, v.Sentence)
		}
		for _, m := range v.Measures {
			if m.Note == "" || m.Basis == model.ByShape && v.Shape == "" || m.Compute.OK() || m.Bandwidth.OK() {
				t.Errorf("%s: %+v", v.Target, m)
			}
		}
		if !slices.ContainsFunc(v.Missing, func(s string) bool { return strings.HasPrefix(s, "accelerator: ") }) {
			t.Errorf("%s does not say what is missing: %q", v.Target, v.Missing)
		}
	}
}

// pinUtilization compares with a golden file, names of targets without their folder.
func pinUtilization(t *testing.T, name string, f *model.Frame) {
	t.Helper()
	got, err := json.MarshalIndent(f.Utilization, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", "utilization", name+".json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and read the difference:\n%s", file, got)
	}
}

// TestBasesAgree: of a service whose board, engine and shape are known, counters, the
// engine's estimate and the formula say the same as far as they mean the same.
func TestBasesAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	opened, err := sources.Resolve(t.Context(), []string{"demo:S0?seed=3"}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := model.Policy{Workflows: sources.Promised(opened), Models: []model.ModelSpec{{Name: "*", Shape: simulatedShape}}}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: time.Second, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := sources.Play(context.Background(), opened, sources.PlayOptions{Every: time.Second, For: 300 * time.Second}, c.take); err != nil {
		t.Fatal(err)
	}
	f := c.box.latest()
	if len(f.Utilization) == 0 {
		t.Fatal("no view")
	}
	for _, v := range f.Utilization {
		if len(v.Measures) != 3 || v.Measures[0].Basis != model.ByGPM || v.Measures[1].Basis != model.ByEngine || v.Measures[2].Basis != model.ByShape {
			t.Fatalf("%+v", v.Measures)
		}
		chip, engine, shape := v.Measures[0], v.Measures[1], v.Measures[2]
		// The engine does not halve attention; the chip pads and moves more.
		is(t, "MFU by the engine over the formula's", model.Of(engine.Compute.Value/shape.Compute.Value), 1.03, 0.03)
		is(t, "MBU by the engine over the formula's", model.Of(engine.Bandwidth.Value/shape.Bandwidth.Value), 1, 0.02)
		is(t, "tensor active over MFU", model.Of(chip.Compute.Value/shape.Compute.Value), 1.06, 0.1)
		is(t, "DRAM active over MBU", model.Of(chip.Bandwidth.Value/shape.Bandwidth.Value), 1.05, 0.05)
		is(t, "MBU", shape.Bandwidth, 0.51, 0.04) // of a mixed load far from its knee
		if v.Prefill == nil || v.Decode == nil || !(v.Decode.Intensity.Value < v.Point.Intensity.Value && v.Prefill.Intensity.Value > v.Point.Intensity.Value) {
			t.Errorf("prefill %+v, decode %+v around %+v", v.Prefill, v.Decode, v.Point)
		}
		if len(v.Trail) < 25 || len(v.Missing) != 0 {
			t.Errorf("%d points of trail, missing %q", len(v.Trail), v.Missing)
		}
	}
}
