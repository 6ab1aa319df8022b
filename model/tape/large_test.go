package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// large is an input that takes about so many bytes on a tape.
func large(at time.Duration, target string, size int) model.Input {
	const one = 64 << 10
	b := &model.Batch{Target: model.TargetID(target)}
	for i := range size / one {
		b.Samples = append(b.Samples, model.Sample{
			Signal: model.Running, Value: float64(i),
			Labels: model.Labels(model.LabelModel, fmt.Sprintf("%s-%d-%s", target, i, strings.Repeat("x", one))),
		})
	}
	return model.Input{At: model.Instant{Wall: time.Unix(1, 0).UTC(), Mono: at}, Batch: b}
}

// What a writer takes a reader must read: a segment was once larger than any
// reader unpacks.
func TestLargeInputsAreSplit(t *testing.T) {
	inputs := []model.Input{
		large(1, "a", 15<<20),
		large(2, "b", 30<<20),
		{At: model.Instant{Wall: time.Unix(2, 0).UTC(), Mono: 3}},
		large(4, "a", 1<<20),
	}
	got, r, err := play(t, record(t, Header{}, inputs))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, inputs)
	if r.Ending().Dropped != 0 {
		t.Errorf("%+v", r.Ending())
	}
}

func TestInputsThatAreTooLarge(t *testing.T) {
	small := large(3, "a", 128<<10)
	inputs := []model.Input{large(1, "a", 1<<20), large(2, "b", 40<<20), small}
	for name, list := range map[string][]model.Input{
		"after others": inputs, "first": inputs[1:], "with samples beyond the limit": {
			{Batch: &model.Batch{Samples: make([]model.Sample, maxSamples+1)}}, small,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, Header{})
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range list {
				if err := w.Write(in); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || w.Dropped() != 1 {
				t.Fatalf("dropped %d: %v", w.Dropped(), err)
			}
			got, r, err := play(t, buf.Bytes())
			if !errors.Is(err, io.EOF) || r.Ending().Full || r.Ending().Dropped != 1 || len(got) != len(list)-1 {
				t.Errorf("%d inputs, %+v: %v", len(got), r.Ending(), err)
			}
		})
	}
}

// The series of a segment are bounded over all targets.
func TestManySeriesAreSplit(t *testing.T) {
	if testing.Short() {
		t.Skip("a million series take seconds")
	}
	many := func(at time.Duration, target string) model.Input {
		samples := make([]model.Sample, maxSeries/2+1)
		for i := range samples {
			samples[i] = model.Sample{Signal: model.Running, Labels: model.Labels(model.LabelEngine, strconv.Itoa(i))}
		}
		return model.Input{At: model.Instant{Mono: at}, Batch: &model.Batch{Target: model.TargetID(target), Samples: samples}}
	}
	inputs := []model.Input{many(1, "a"), many(2, "b")}
	got, _, err := play(t, record(t, Header{}, inputs))
	if !errors.Is(err, io.EOF) || len(got) != 2 || len(got[1].Batch.Samples) != maxSeries/2+1 {
		t.Errorf("%d inputs: %v", len(got), err)
	}
}
