package tape

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

var update = flag.Bool("update", false, "rewrite golden files")

var t0 = time.Date(2026, 8, 17, 3, 10, 0, 123456789, time.UTC)

// copyInput keeps an input beyond the call that was handed it.
func copyInput(in model.Input) model.Input {
	if in.Batch == nil {
		return in
	}
	b := *in.Batch
	if b.Samples != nil {
		b.Samples = append([]model.Sample{}, b.Samples...)
	}
	for i, s := range b.Samples {
		if s.Hist == nil {
			continue
		}
		h := *s.Hist
		h.Bounds, h.Counts = keep(nil, h.Bounds), keep(nil, h.Counts)
		b.Samples[i].Hist = &h
	}
	b.Requests = slices.Clone(b.Requests)
	b.Devices = slices.Clone(b.Devices)
	in.Batch = &b
	return in
}

// seen numbers each target's Abouts by address, so that equal texts mean that
// the same ones were shared.
type seen map[model.TargetID][]*model.About

func (s seen) number(id model.TargetID, a *model.About) int {
	n := slices.Index(s[id], a)
	if n < 0 {
		n = len(s[id])
		s[id] = append(s[id], a)
	}
	return n
}

// dump writes every bit of an input that the fold can see.
func dump(in model.Input, abouts seen) string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %v mono %d window %d", in.At.Wall.UTC().Format(time.RFC3339Nano), in.At.Mono, in.Window)
	if in.Ack != "" || in.Mark != "" {
		fmt.Fprintf(&b, " ack %q mark %q", in.Ack, in.Mark)
	}
	if in.Join != nil || in.Leave != "" {
		fmt.Fprintf(&b, " join %+v leave %q", in.Join, in.Leave)
	}
	if in.Note != nil {
		fmt.Fprintf(&b, " note %v %q", in.Note.At.Format(time.RFC3339Nano), in.Note.Text)
	}
	if in.Batch == nil {
		return b.String()
	}
	x := in.Batch
	fmt.Fprintf(&b, " batch %q took %d fault %v bad %d %q dropped %d", x.Target, x.Took, x.Fault, x.BadLines, x.FirstBad, x.Dropped)
	if x.About != nil {
		a := x.About
		fmt.Fprintf(&b, " about #%d model.About{Engine:%#v, Version:%#v, Models:%#v, Meanings:%#v, Missing:%#v, Notes:%#v}",
			abouts.number(x.Target, a), a.Engine, a.Version, a.Models, a.Meanings, a.Missing, a.Notes)
		if a.Kind != "" || a.StepS != 0 || a.Replicas != (model.Replicas{}) { // which earlier tapes do not have
			fmt.Fprintf(&b, " kind %q step %x replicas %v", a.Kind, math.Float64bits(a.StepS), a.Replicas)
		}
	}
	dumpReports(&b, x)
	dumpDevices(&b, x)
	fmt.Fprintf(&b, " samples nil=%v", x.Samples == nil)
	for _, s := range x.Samples {
		fmt.Fprintf(&b, "\n  %s %s %v %x", s.Signal, s.Labels, s.Kind, math.Float64bits(s.Value))
		if h := s.Hist; h != nil {
			fmt.Fprintf(&b, " sum %d %x inc %v rep %v bounds nil=%v", h.Sum.State, math.Float64bits(h.Sum.Value), h.Incomplete, h.Repaired, h.Bounds == nil)
			for _, v := range h.Bounds {
				fmt.Fprintf(&b, " %x", math.Float64bits(v))
			}
			fmt.Fprintf(&b, " counts nil=%v", h.Counts == nil)
			for _, v := range h.Counts {
				fmt.Fprintf(&b, " %x", math.Float64bits(v))
			}
		}
	}
	return b.String()
}

func dumpAll(inputs []model.Input) []string {
	abouts := seen{}
	out := make([]string, len(inputs))
	for i, in := range inputs {
		out[i] = dump(in, abouts)
	}
	return out
}

func record(t testing.TB, h Header, inputs []model.Input) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, h)
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
	if w.Size() != int64(file.Len()) {
		t.Errorf("Size %d, file %d", w.Size(), file.Len())
	}
	return file.Bytes()
}

// play reads a tape to its end and returns what came, and the last error.
func play(t testing.TB, tape []byte) ([]model.Input, *Reader, error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []model.Input
	for {
		in, err := r.Next()
		if err != nil {
			return got, r, err
		}
		got = append(got, copyInput(in))
	}
}

func sameInputs(t *testing.T, got, want []model.Input) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d inputs, want %d", len(got), len(want))
	}
	g, w := dumpAll(got), dumpAll(want)
	for i := range g {
		if g[i] != w[i] {
			at := 0
			for at < min(len(g[i]), len(w[i])) && g[i][at] == w[i][at] {
				at++
			}
			from := max(0, at-200)
			t.Fatalf("input %d differs at %d\n got …%.300s\nwant …%.300s", i, at, g[i][from:], w[i][from:])
		}
	}
}

// odd collects the inputs that a naive format gets wrong.
func odd() []model.Input {
	nan := math.Float64frombits(0x7ff8000000000123) // NaN with a payload
	labels := model.Labels("model", "acme\n\"70b\"\x1b[2J", "engine", "0")
	about := &model.About{Engine: "vllm", Version: "0.12.0", Models: []string{}, Notes: nil}
	later := &model.About{Engine: "vllm", Version: "0.12.0", Models: []string{}} // equal, yet another
	hist := func(bounds, counts []float64, sum model.Reading) *model.Buckets {
		return &model.Buckets{Bounds: bounds, Counts: counts, Sum: sum}
	}
	at := func(s float64) model.Instant {
		d := time.Duration(s * 1e9)
		return model.Instant{Wall: t0.Add(d), Mono: 5*time.Second + d}
	}
	batch := func(b model.Batch) *model.Batch { return &b }
	return []model.Input{
		{At: model.Instant{}},
		{At: at(0)},
		{At: at(0.1), Window: 5 * time.Minute},
		{At: at(0.2), Batch: batch(model.Batch{Target: "a:8000", Took: -1, Samples: nil, About: nil})},
		{At: at(0.3), Batch: batch(model.Batch{Target: "a:8000", Samples: []model.Sample{}, About: about})},
		{At: at(0.4), Batch: batch(model.Batch{
			Target: "a:8000", About: about, BadLines: 2, FirstBad: "5: stray quote", Dropped: 7,
			Samples: []model.Sample{
				{Signal: model.Running, Labels: labels, Value: nan},
				{Signal: model.Running, Labels: labels, Value: 3}, // the same series twice
				{Signal: model.KVUsage, Value: math.Copysign(0, -1)},
				{Signal: model.Waiting, Value: math.Inf(1)},
				{Signal: model.OutputTokens, Kind: model.Counter, Value: 1 << 60},
				{Signal: model.TTFT, Kind: model.Histogram, Hist: hist([]float64{.1, .5}, []float64{10, 12, 12}, model.Of(1.5))},
				{Signal: model.ITL, Kind: model.Histogram, Hist: hist(nil, []float64{4}, model.Reading{})},
				{Signal: model.E2E, Kind: model.Histogram, Hist: hist([]float64{}, nil, model.Missing(model.Unsupported))},
				{Signal: model.Queue, Kind: model.Histogram, Hist: &model.Buckets{Incomplete: true, Bounds: []float64{1}, Counts: []float64{1.5, nan}}},
				{Signal: model.Decode, Kind: model.Histogram, Hist: nil, Value: 1},
			},
		})},
		{At: at(0.5), Batch: batch(model.Batch{
			Target: "a:8000", About: later, Fault: &model.Fault{Kind: model.Timeout, Detail: "no answer"},
			Samples: []model.Sample{
				{Signal: model.Running, Labels: labels, Value: 3}, // swapped with its twin
				{Signal: model.Running, Labels: labels, Value: nan},
				{Signal: model.TTFT, Kind: model.Histogram, Hist: hist([]float64{.1, .5}, []float64{11, 13, 14}, model.Of(2.5))},
				{Signal: model.ITL, Kind: model.Histogram, Hist: hist([]float64{.2}, []float64{4, 4}, model.Reading{Value: nan, State: model.Present})},
				{Signal: model.Queue, Kind: model.Histogram, Hist: &model.Buckets{Repaired: true, Bounds: []float64{1}, Counts: []float64{1.5, nan}}},
				{Signal: model.Decode, Kind: model.Histogram, Hist: hist([]float64{1}, []float64{0, 0}, model.Of(0))},
			},
		})},
		{At: at(0.6), Batch: batch(model.Batch{Target: "b:8000", About: about, Samples: []model.Sample{
			{Signal: model.TTFT, Kind: model.Histogram, Value: 3},
		}})},
		{At: at(0.6), Batch: batch(model.Batch{Target: "a:8000", About: later, Samples: []model.Sample{
			{Signal: model.TTFT, Kind: model.Histogram, Hist: hist([]float64{.1, .5}, []float64{1, 2, 3}, model.Of(.5))}, // restarted
			{Signal: model.Decode, Kind: model.Histogram, Hist: nil},
		}})},
		{At: at(3600), Batch: batch(model.Batch{Target: "a:8000", About: later})},
		{At: at(-7), Window: time.Minute, Batch: batch(model.Batch{Target: "", About: later})}, // the clock fell back
	}
}

func TestRoundTripOdd(t *testing.T) {
	want := odd()
	got, r, err := play(t, record(t, Header{Version: "test"}, want))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, want)
	if r.Ending() != (Ending{Closed: true}) {
		t.Errorf("ending %+v", r.Ending())
	}
}

// TestWritesNothingLate: a batch may be overwritten as soon as Write returned.
func TestWritesNothingLate(t *testing.T) {
	want := odd()
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range odd() {
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
		if in.Batch == nil {
			continue
		}
		for i := range in.Batch.Samples {
			if h := in.Batch.Samples[i].Hist; h != nil {
				clear(h.Bounds)
				clear(h.Counts)
				h.Sum = model.Of(99)
			}
			in.Batch.Samples[i] = model.Sample{}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, _, _ := play(t, file.Bytes())
	sameInputs(t, got, want)
}

// busy is a stream of polls of some targets, with what happens in real life:
// idle stretches, restarts, faults, families that come and go.
func busy(seed uint64, targets int, length, every time.Duration) []model.Input {
	rng := rand.New(rand.NewPCG(seed, 1))
	var sims []*engine
	for i := range targets {
		sims = append(sims, newEngine(rng, model.TargetID(fmt.Sprintf("10.0.0.%d:8000", i))))
	}
	var out []model.Input
	for at := time.Duration(0); at < length; at += every {
		for i, s := range sims {
			stamp := model.Instant{Wall: t0.Add(at), Mono: at + time.Duration(i)*time.Millisecond}
			out = append(out, copyInput(model.Input{At: stamp, Batch: s.poll()}))
		}
		stamp := model.Instant{Wall: t0.Add(at + every), Mono: at + every - time.Millisecond}
		out = append(out, model.Input{At: stamp})
	}
	return out
}

// engine makes batches of the size a vLLM page gives.
type engine struct {
	rng     *rand.Rand
	batch   model.Batch
	about   *model.About
	samples []model.Sample
}

func newEngine(rng *rand.Rand, id model.TargetID) *engine {
	e := &engine{rng: rng, about: &model.About{Engine: "vllm", Version: "0.12.0", Models: []string{"m"}, Missing: []model.Signal{model.Swapped}}}
	e.batch.Target = id
	labels := model.Labels("model", "acme/chat-70b", "engine", "0")
	for _, info := range model.Signals {
		s := model.Sample{Signal: info.Signal, Labels: labels, Kind: info.Kind}
		if info.Kind == model.Histogram {
			s.Hist = &model.Buckets{Sum: model.Of(0), Counts: []float64{0}}
			for b := 0.001; b < 100; b *= 1.7 {
				s.Hist.Bounds = append(s.Hist.Bounds, b)
				s.Hist.Counts = append(s.Hist.Counts, 0)
			}
		}
		e.samples = append(e.samples, s)
	}
	return e
}

func (e *engine) poll() *model.Batch {
	e.batch.Took = time.Duration(e.rng.IntN(5_000_000))
	e.batch.Samples, e.batch.Fault, e.batch.About = e.samples, nil, e.about
	switch e.rng.IntN(200) {
	case 0:
		e.batch.Samples = nil
		e.batch.Fault = &model.Fault{Kind: model.Refused, Detail: "connection refused"}
		return &e.batch
	case 1: // the family is not on this page
		e.batch.Samples = e.samples[:len(e.samples)-1]
	case 2:
		about := *e.about
		about.Notes = append(about.Notes[:len(about.Notes):len(about.Notes)], "something")
		e.about = &about
		e.batch.About = e.about
	case 3: // restarted
		for i := range e.samples {
			e.samples[i].Value = 0
			if h := e.samples[i].Hist; h != nil {
				clear(h.Counts)
				h.Sum = model.Of(0)
			}
		}
	}
	for i := range e.samples {
		e.move(&e.samples[i])
	}
	return &e.batch
}

func (e *engine) move(s *model.Sample) {
	switch s.Kind {
	case model.Gauge:
		s.Value = e.rng.Float64()
	case model.Counter:
		s.Value += float64(e.rng.IntN(2000))
	case model.Histogram:
		for range e.rng.IntN(40) {
			first := 8 + e.rng.IntN(6)
			for i := first; i < len(s.Hist.Counts); i++ {
				s.Hist.Counts[i]++
			}
			s.Hist.Sum.Value += s.Hist.Bounds[first] * e.rng.Float64()
		}
	}
}

func TestRoundTripBusy(t *testing.T) {
	for seed := range uint64(3) {
		want := busy(seed, 2, 2*time.Minute, time.Second)
		tape := record(t, Header{Version: "test", Every: time.Second}, want)
		got, _, err := play(t, tape)
		if !errors.Is(err, io.EOF) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		sameInputs(t, got, want)
	}
}

func TestSegments(t *testing.T) {
	want := busy(1, 2, 4*time.Minute, time.Second)
	x, err := Scan(bytes.NewReader(record(t, Header{}, want)))
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Segments) != 8 {
		t.Errorf("%d segments for 4 minutes, want 8", len(x.Segments))
	}
	inputs := 0
	for i, s := range x.Segments {
		inputs += s.Inputs
		if s.Last-s.First > segmentSpan {
			t.Errorf("segment %d spans %v", i, s.Last-s.First)
		}
	}
	if inputs != len(want) || !x.Ending.Closed {
		t.Errorf("inputs %d of %d, ending %+v", inputs, len(want), x.Ending)
	}
	if got, want := x.Duration(), want[len(want)-1].At.Mono-want[0].At.Mono; got != want {
		t.Errorf("duration %v, want %v", got, want)
	}
}

func TestLimit(t *testing.T) {
	inputs := busy(4, 1, 10*time.Minute, time.Second)
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.Limit = 100 << 10
	refused := 0
	for _, in := range inputs {
		if err := w.Write(in); errors.Is(err, ErrFull) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if int64(file.Len()) > w.Limit || refused == 0 {
		t.Errorf("%d bytes, %d refused", file.Len(), refused)
	}
	got, r, err := play(t, file.Bytes())
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if want := (Ending{Closed: true, Full: true, Dropped: w.Dropped()}); r.Ending() != want {
		t.Errorf("ending %+v, want %+v", r.Ending(), want)
	}
	if len(got)+int(w.Dropped()) != len(inputs) {
		t.Errorf("%d played and %d dropped of %d", len(got), w.Dropped(), len(inputs))
	}
	sameInputs(t, got, inputs[:len(got)])
}

func TestWriteErrors(t *testing.T) {
	full := errors.New("no space left on device")
	if _, err := NewWriter(errWriter{full}, Header{}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.w = errWriter{full}
	for _, in := range busy(5, 1, 2*segmentSpan, time.Second) {
		err = w.Write(in)
	}
	if !errors.Is(err, full) || !errors.Is(w.Close(), full) {
		t.Errorf("got %v", err)
	}
	w, _ = NewWriter(io.Discard, Header{})
	if err := w.Write(model.Input{At: model.Instant{Wall: time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC)}}); err == nil {
		t.Error("a time that cannot be stored was accepted")
	}
	_ = w.Close()
	if err := w.Write(model.Input{}); err == nil {
		t.Error("a closed tape takes inputs")
	}
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }
