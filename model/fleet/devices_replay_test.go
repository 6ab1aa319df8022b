package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/report"
	"slotop/model/tape"
)

// gpuLife is some minutes of GPUs that come, go, are lost, divided and told of by several
// targets, of which some leave.
func gpuLife(seed uint64) (targets []model.Target, inputs []model.Input) {
	rng := rand.New(rand.NewPCG(seed, 8))
	engine := engineAt("e", "http://localhost:8000/metrics")
	engine.GPUs = []string{"", "GPU-00000001-1 b"}[rng.IntN(2)]
	targets = []model.Target{gpuTarget("nvml:"), gpuTarget("http://b:9400/metrics"), engine}
	tokens := 0.0
	for i := range 120 {
		at := model.Instant{Wall: noon, Mono: time.Second}.Add(time.Duration(i) * time.Second)
		for _, t := range targets[:2] {
			b := &model.Batch{Target: t.ID, About: gpuAbout, Took: time.Duration(rng.IntN(1e7)), Devices: someDevices(rng)}
			switch rng.IntN(12) {
			case 0:
				b = &model.Batch{Target: t.ID, Fault: &model.Fault{Kind: model.Timeout, Detail: "slow"}}
			case 1:
				b.BadLines = 1
			}
			inputs = append(inputs, model.Input{At: at, Batch: b})
		}
		tokens += float64(rng.IntN(2) * 100)
		inputs = append(inputs, model.Input{At: at, Batch: &model.Batch{Target: engine.ID, About: about, Samples: []model.Sample{counter(model.OutputTokens, tokens), gauge(model.Running, 1)}}})
		if i == 70 {
			inputs = append(inputs, model.Input{At: at, Leave: targets[1].ID})
		}
		if i == 90 {
			again := targets[1]
			inputs = append(inputs, model.Input{At: at, Join: &again})
		}
		inputs = append(inputs, model.Input{At: at})
	}
	return targets, inputs
}

// someDevices is a list as a driver in trouble gives it.
func someDevices(rng *rand.Rand) []model.Device {
	var list []model.Device
	for _, n := range rng.Perm(6) {
		uuid := fmt.Sprintf("GPU-%08d-1", n)
		switch rng.IntN(10) {
		case 0: // not listed
			continue
		case 1:
			list = append(list, lost(uuid, n))
			continue
		}
		d := gpu(uuid, len(list), float64(rng.IntN(101))/100)
		if rng.IntN(4) == 0 {
			d = without(d, model.Busy, model.Status(rng.IntN(7)))
		}
		if rng.IntN(3) == 0 {
			d = counters(d, model.DRAMActive, rng.Float64())
		}
		if n == 5 {
			d = listening(d, 8000)
			slice := with(model.Device{UUID: fmt.Sprintf("MIG-0000%d", rng.IntN(2)), Parent: uuid}, model.MemUsed, 1)
			list = append(list, slice)
		}
		list = append(list, d)
	}
	return list
}

func frameLine(t *testing.T, f *model.Frame) string {
	t.Helper()
	var b strings.Builder
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever happens to GPUs, their rows never change places, nothing is counted twice,
// and a tape of it gives the same frames to the byte.
func TestLifeOfGPUs(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		targets, inputs := gpuLife(seed)
		f, err := New(Config{Targets: targets, Every: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var live, order []string
		for _, in := range inputs {
			fr := f.Step(in)
			if fr == nil {
				continue
			}
			live = append(live, frameLine(t, fr))
			order = keepsPlaces(t, order, fr)
			if s := fr.DeviceSum; s != nil && (s.Measured > s.Present || s.Present > s.Total || s.Total > 6 || s.Busy.Value > 1) {
				t.Fatalf("seed %d: sum %+v", seed, s)
			}
		}
		if replayed := replay(t, targets, inputs); !slices.Equal(replayed, live) {
			t.Errorf("seed %d: a replay differs", seed)
		}
	}
}

// keepsPlaces checks that rows that were there are in the order in which they were.
func keepsPlaces(t *testing.T, before []string, f *model.Frame) []string {
	t.Helper()
	now := strings.Fields(uuids(f))
	stay := slices.DeleteFunc(slices.Clone(before), func(u string) bool { return !slices.Contains(now, u) })
	if len(now) < len(stay) || !slices.Equal(now[:len(stay)], stay) {
		t.Fatalf("rows %v after %v", now, before)
	}
	return now
}

func replay(t *testing.T, targets []model.Target, inputs []model.Input) (frames []string) {
	t.Helper()
	var file bytes.Buffer
	w, err := tape.NewWriter(&file, tape.Header{Targets: targets, Every: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := tape.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := New(Config{Targets: r.Header().Targets, Every: r.Header().Every})
	if err != nil {
		t.Fatal(err)
	}
	for {
		in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		if fr := f.Step(in); fr != nil {
			frames = append(frames, frameLine(t, fr))
		}
	}
}
