// Package sourcetest is the conformance suite that every kind of source runs
// through. It knows the contract of a source and nothing of any kind.
package sourcetest

import (
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"slotop/model"
	"slotop/sources"
)

// Case is one kind's material for the suite.
type Case struct {
	// Open opens a source whose first poll, and second unless it ends, are good.
	// Every call opens the same world anew.
	Open func(tb testing.TB) sources.Source
	// Bad opens a source whose first poll fails, with the given word.
	Bad  func(tb testing.TB) sources.Source
	Word model.FaultKind
	// Silent opens a source whose world never answers; nil where a kind does not wait.
	Silent func(tb testing.TB) sources.Source
}

// patience is how long a poll may take to notice that it is not wanted any more.
const patience = 5 * time.Second

// Run checks that a kind of source keeps its contract. It looks for goroutines
// left behind, so it cannot run beside other tests.
func Run(t *testing.T, c Case) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Run("samples", func(t *testing.T) { checkSamples(t, open(t, c.Open)) })
	t.Run("repeatable", func(t *testing.T) { checkRepeatable(t, open(t, c.Open), open(t, c.Open)) })
	t.Run("stable", func(t *testing.T) { checkStable(t, open(t, c.Open)) })
	t.Run("cancelled", func(t *testing.T) { checkCancelled(t, open(t, c.Open)) })
	t.Run("close twice", func(t *testing.T) { checkClose(t, open(t, c.Open)) })
	t.Run("typed fault", func(t *testing.T) { checkFault(t, open(t, c.Bad), c.Word) })
	if c.Silent != nil {
		t.Run("gives up", func(t *testing.T) { checkGivesUp(t, open(t, c.Silent)) })
	}
	goleak.VerifyNone(t, before)
}

func open(t *testing.T, opener func(testing.TB) sources.Source) sources.Source {
	t.Helper()
	s := opener(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func poll(t *testing.T, s sources.Source, at time.Duration) model.Batch {
	t.Helper()
	if a, ok := s.(sources.Advancer); ok {
		a.Advance(at)
	}
	b, err := s.Poll(t.Context())
	if err != nil {
		t.Fatalf("poll at %v: %v", at, err)
	}
	return b
}

func checkSamples(t *testing.T, s sources.Source) {
	b := poll(t, s, time.Minute)
	if len(b.Samples)+len(b.Requests)+len(b.Devices) == 0 {
		t.Fatal("a good poll returned neither sample nor request nor device")
	}
	checkRequests(t, b.Requests)
	checkDevices(t, b.Devices)
	if b.About == nil {
		t.Error("a good poll says nothing of its target")
	}
	if b.Fault != nil || b.Target != "" || b.Took != 0 {
		t.Error("the batch holds what the scheduler fills in")
	}
	known := map[model.Signal]model.Kind{}
	for _, info := range model.Signals {
		known[info.Signal] = info.Kind
	}
	type series struct {
		signal model.Signal
		labels model.LabelSet
	}
	seen := map[series]bool{}
	for _, sample := range b.Samples {
		kind, ok := known[sample.Signal]
		if !ok {
			t.Errorf("unknown signal %q", sample.Signal)
			continue
		}
		if sample.Kind != kind {
			t.Errorf("%s is a %v, not a %v", sample.Signal, kind, sample.Kind)
		}
		if id := (series{sample.Signal, sample.Labels}); seen[id] {
			t.Errorf("%s%v is there twice", sample.Signal, sample.Labels)
		} else {
			seen[id] = true
		}
		checkSample(t, sample)
	}
}

// checkRequests: a report says at least whose state it is, which, and when.
func checkRequests(t *testing.T, requests []model.Request) {
	for i := range requests {
		if r := &requests[i]; r.ID == "" || r.At == 0 || r.Phase == "" || len(r.ID) > 256 {
			t.Errorf("a report of nothing: %+v", r)
		}
	}
}

// checkDevices: a device says which it is, once, and whether it is there; a reading
// has a value that can be, or says why it has none.
func checkDevices(t *testing.T, devices []model.Device) {
	seen := map[string]bool{}
	for i := range devices {
		d := &devices[i]
		if d.UUID == "" || d.State == "" || seen[d.UUID] {
			t.Errorf("a device without a name, a state, or listed twice: %+v", d)
		}
		seen[d.UUID] = true
		for m := range model.NumDeviceMetrics {
			r := d.Readings[m]
			if r.Status == model.Measured && (math.IsNaN(r.Value) || math.IsInf(r.Value, 0)) {
				t.Errorf("%s: %v is measured as %v", d.UUID, m, r.Value)
			}
		}
	}
}

var labels = []string{model.LabelModel, model.LabelEngine, model.LabelReason, model.LabelWorkflow, model.LabelAdapter}

func checkSample(t *testing.T, sample model.Sample) {
	for name, value := range sample.Labels.All {
		if !slices.Contains(labels, name) {
			t.Errorf("%s carries the foreign label %q", sample.Signal, name)
		}
		if value == "" {
			t.Errorf("%s has the label %s without a value", sample.Signal, name)
		}
	}
	if math.IsInf(sample.Value, 0) {
		t.Errorf("%s%v is infinite", sample.Signal, sample.Labels)
	}
	if (sample.Hist != nil) != (sample.Kind == model.Histogram) {
		t.Errorf("%s%v: buckets do not go with a %v", sample.Signal, sample.Labels, sample.Kind)
		return
	}
	if h := sample.Hist; h != nil {
		checkBuckets(t, sample, h)
	}
}

func checkBuckets(t *testing.T, sample model.Sample, h *model.Buckets) {
	if len(h.Counts) != len(h.Bounds)+1 {
		t.Errorf("%s%v: %d bounds and %d counts", sample.Signal, sample.Labels, len(h.Bounds), len(h.Counts))
	}
	for i := 1; i < len(h.Bounds); i++ {
		if !(h.Bounds[i-1] < h.Bounds[i]) {
			t.Errorf("%s%v: bounds do not ascend at %d", sample.Signal, sample.Labels, i)
		}
	}
	for i := 1; i < len(h.Counts); i++ {
		if !(h.Counts[i-1] <= h.Counts[i]) {
			t.Errorf("%s%v: counts fall at %d", sample.Signal, sample.Labels, i)
		}
	}
}

// checkRepeatable: the same world is read the same way twice.
func checkRepeatable(t *testing.T, a, b sources.Source) {
	for _, at := range []time.Duration{time.Minute, 2 * time.Minute} {
		first, last := pollOrEnd(t, a, at), pollOrEnd(t, b, at)
		if !reflect.DeepEqual(plain(first), plain(last)) {
			t.Errorf("two readings of one world differ at %v", at)
		}
	}
}

// pollOrEnd is an empty batch after the last page.
func pollOrEnd(t *testing.T, s sources.Source, at time.Duration) model.Batch {
	t.Helper()
	if a, ok := s.(sources.Advancer); ok {
		a.Advance(at)
	}
	b, err := s.Poll(t.Context())
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("poll at %v: %v", at, err)
	}
	return b
}

// checkStable: samples stay as they are until the next poll, also past
// the source's time and its end.
func checkStable(t *testing.T, s sources.Source) {
	b := poll(t, s, time.Minute)
	before := plain(b)
	if a, ok := s.(sources.Advancer); ok {
		a.Advance(2 * time.Minute)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !reflect.DeepEqual(before, plain(b)) {
		t.Error("samples changed before the next poll")
	}
}

// plain copies what a batch holds, NaN as a number that equals itself.
func plain(b model.Batch) model.Batch {
	samples := make([]model.Sample, len(b.Samples))
	for i, s := range b.Samples {
		if math.IsNaN(s.Value) {
			s.Value = math.MaxFloat64
		}
		if s.Hist != nil {
			h := *s.Hist
			h.Bounds = append([]float64(nil), h.Bounds...)
			h.Counts = append([]float64(nil), h.Counts...)
			s.Hist = &h
		}
		samples[i] = s
	}
	b.Samples = samples
	b.Requests = slices.Clone(b.Requests)
	b.Devices = slices.Clone(b.Devices)
	for i := range b.Devices {
		d := &b.Devices[i]
		d.Throttle, d.Processes, d.Pods = slices.Clone(d.Throttle), slices.Clone(d.Processes), slices.Clone(d.Pods)
	}
	return b
}

func checkCancelled(t *testing.T, s sources.Source) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b, err := s.Poll(ctx); err == nil || len(b.Samples)+len(b.Requests)+len(b.Devices) > 0 {
		t.Error("a poll went on although its context had ended")
	}
}

func checkClose(t *testing.T, s sources.Source) {
	poll(t, s, time.Minute)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func checkFault(t *testing.T, s sources.Source, word model.FaultKind) {
	b, err := s.Poll(t.Context())
	var fault *sources.FaultError
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want a *FaultError", err)
	}
	if fault.Kind != word {
		t.Errorf("got %q, want %q", fault.Kind, word)
	}
	if fault.Detail == "" {
		t.Error("the fault does not say what was found")
	}
	if len(b.Samples)+len(b.Requests)+len(b.Devices) > 0 {
		t.Error("a failed poll returned samples, requests or devices")
	}
}

func checkGivesUp(t *testing.T, s sources.Source) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := s.Poll(ctx)
		ended <- err
	}()
	select {
	case err := <-ended:
		var fault *sources.FaultError
		if !errors.As(err, &fault) || fault.Kind != model.Timeout {
			t.Errorf("got %v, want a time-out", err)
		}
	case <-time.After(patience):
		t.Fatal("the poll did not end with its context")
	}
}
