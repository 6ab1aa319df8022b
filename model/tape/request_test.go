package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// dumpReports writes every bit of what a batch holds besides samples.
func dumpReports(w io.Writer, b *model.Batch) {
	if b.Requests == nil && b.Reported == nil && b.Epoch == "" && b.Lost == 0 {
		return
	}
	fmt.Fprintf(w, " epoch %q lost %d requests nil=%v reported nil=%v", b.Epoch, b.Lost, b.Requests == nil, b.Reported == nil)
	for i := range b.Requests {
		r := &b.Requests[i]
		fmt.Fprintf(w, "\n  request %q seq %d at %d stream %d labels %s", r.ID, r.Seq, r.At, r.Stream, r.Labels)
		fmt.Fprintf(w, " names %q %q %q %q %q", r.Workflow, r.Model, r.ModelVersion, r.Instance, r.RetryOf)
		fmt.Fprintf(w, " phase %q outcome %q %q %d", r.Phase, r.Outcome, r.Reason, r.Status)
		fmt.Fprintf(w, " stamps %d %d %d %d %d %d %d", r.Scheduled, r.Queued, r.Admitted, r.ContextDone, r.FirstToken, r.FirstAnswer, r.Completed)
		fmt.Fprintf(w, " attempt %d retries %d tokens", r.Attempt, r.Retries)
		for _, v := range []model.Reading{r.InputTokens, r.OutputTokens, r.CachedTokens, r.OutputChunks} {
			fmt.Fprintf(w, " %d:%x", v.State, math.Float64bits(v.Value))
		}
	}
	for _, r := range b.Reported {
		fmt.Fprintf(w, "\n  reported %s %s", r.Signal, r.Labels)
		for _, v := range []model.Reading{r.WindowS, r.Count} {
			fmt.Fprintf(w, " %d:%x", v.State, math.Float64bits(v.Value))
		}
		fmt.Fprintf(w, " quantiles nil=%v", r.Quantiles == nil)
		for _, q := range r.Quantiles {
			fmt.Fprintf(w, " %x=%x", math.Float64bits(q.Q), math.Float64bits(q.S))
		}
	}
}

// oddReports collects what a naive format gets wrong, as odd does for samples.
func oddReports() []model.Input {
	nan := math.Float64frombits(0x7ff8000000000123)
	at := func(n int) model.Instant {
		return model.Instant{Wall: t0.Add(time.Duration(n)), Mono: time.Duration(n)}
	}
	labels := model.Labels("team", "shop", "tag", "\x1b]0;x\x07")
	now := model.StampOf(t0)
	requests := []model.Request{
		{},
		{ID: "a", Seq: 7, At: now, Queued: now - 1, Phase: model.PhaseQueued, Stream: model.Streamed, Labels: labels},
		{ID: "a", Seq: 3, At: now - 5e6, Queued: now + 3e6, Phase: "no such phase", Labels: labels}, // out of order
		{ID: "a\n\x1b[2J", Seq: math.MaxUint64, At: math.MinInt64, Scheduled: math.MaxInt64, Completed: 1},
		{ID: "a", At: math.MaxInt64, Queued: math.MinInt64, FirstToken: -1},
		{
			ID: "b", At: now, FirstAnswer: now, FirstToken: now, Stream: 200, Status: -1, Attempt: math.MaxInt, Retries: math.MinInt,
			InputTokens:  model.Of(0),
			OutputTokens: model.Reading{Value: nan, State: model.Present},
			CachedTokens: model.Reading{Value: math.Copysign(0, -1)},
			OutputChunks: model.Reading{Value: 3, State: model.Stale},
		},
		{
			ID: strings.Repeat("x", 5000), Phase: model.PhaseDone, Outcome: "none we know", Reason: "\xff\xfe not UTF-8",
			RetryOf: "a", InputTokens: model.Missing(model.Unsupported), OutputTokens: model.Missing(model.NoTraffic),
			CachedTokens: model.Of(1 << 60), OutputChunks: model.Of(-2.5),
		},
	}
	reported := []model.Reported{
		{},
		{Signal: model.TTFT, Labels: labels, WindowS: model.Of(60), Count: model.Of(1204), Quantiles: []model.QuantileAt{{Q: .5, S: .3}, {Q: .95, S: nan}}},
		{Signal: model.E2E, Labels: labels, Count: model.Missing(model.NoTraffic), Quantiles: []model.QuantileAt{}},
	}
	batch := func(b model.Batch) *model.Batch { return &b }
	return []model.Input{
		{At: at(1), Batch: batch(model.Batch{Target: "g", Requests: requests, Reported: reported, Epoch: "one", Lost: 3})},
		{At: at(2), Batch: batch(model.Batch{Target: "g", Requests: []model.Request{}, Reported: []model.Reported{}})},
		{At: at(3), Batch: batch(model.Batch{Target: "h", Requests: requests[2:], Samples: []model.Sample{{Signal: model.Running, Value: 1}}})},
		{At: at(4), Ack: "slo burn\x00chat\x00"},
		{At: at(5), Mark: "stage 2: \x1b[31m40 rps"},
		{At: at(6), Batch: batch(model.Batch{Target: "g", Epoch: "two"})},
		{At: at(7), Batch: batch(model.Batch{Target: "g", Lost: -1, Fault: &model.Fault{Kind: model.Refused}})},
		{At: at(8), Window: time.Minute, Ack: "a", Mark: "b", Batch: batch(model.Batch{Target: "g", Requests: requests[1:2]})},
		{At: at(9)},
	}
}

func TestRoundTripOddReports(t *testing.T) {
	want := oddReports()
	got, _, err := play(t, record(t, Header{Version: "test"}, want))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, want)
}

// fill sets everything below v to something, so that a field which the format
// does not know yet is missed.
func fill(rng *rand.Rand, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *model.LabelSet:
		*x = model.Labels("team", fmt.Sprint(rng.Uint64()))
		return
	case *time.Time:
		*x = time.Unix(rng.Int64N(1e9), rng.Int64N(1e9)).UTC()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rng, v.Elem())
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(rng, v.Index(0))
		fill(rng, v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(rng, key)
		fill(rng, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", rng.Uint64()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + rng.Int64N(1e15))
	case reflect.Uint8:
		v.SetUint(1 + rng.Uint64N(2))
	case reflect.Uint64:
		v.SetUint(1 + rng.Uint64())
	case reflect.Float64:
		v.SetFloat(1 + rng.Float64())
	default:
		panic("no value for " + v.Type().String())
	}
}

func TestEveryFieldIsKept(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		want := make([]model.Input, 3)
		for i := range want {
			fill(rng, reflect.ValueOf(&want[i]).Elem())
			want[i].Batch.Samples[1].Signal = "another"
		}
		got, _, err := play(t, record(t, Header{}, want))
		if !errors.Is(err, io.EOF) || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v\n got %+v\nwant %+v", seed, err, got, want)
		}
	}
}

// traffic is what a gateway reports of so many requests a second: each is
// queued, prepared, sent to a model, streams for a while with a report each
// second, and ends. Clocks tick in the given unit. A poll takes a second's.
type traffic struct {
	rng   *rand.Rand
	unit  time.Duration
	seq   uint64
	queue []model.Request // reports to come, by time
}

var workflows = []string{"checkout-assistant", "search", "code-review", "batch-summary"}

// arrive plans the reports of one request that comes at a time.
func (g *traffic) arrive(at model.Stamp) {
	later := func(mean float64) model.Stamp {
		at += model.Stamp(g.rng.ExpFloat64()*mean*1e9) / model.Stamp(g.unit) * model.Stamp(g.unit)
		return at
	}
	w := g.rng.IntN(len(workflows))
	r := model.Request{
		ID:       fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", g.rng.Uint32(), g.rng.IntN(1<<16), g.rng.IntN(1<<12), g.rng.IntN(1<<16), g.rng.Int64N(1<<48)),
		Workflow: workflows[w], Model: "llama-70b", ModelVersion: "2026-07-14", Labels: model.Labels("team", "shop", "route", "/v1/"+workflows[w]),
		Stream: model.Streamed, Attempt: 1, Queued: at, InputTokens: model.Of(float64(200 + g.rng.IntN(4000))),
	}
	step := func(phase model.Phase) {
		r.Phase, r.At = phase, at
		g.queue = append(g.queue, r)
	}
	step(model.PhaseQueued)
	r.Admitted = later(.02)
	step(model.PhasePreparing)
	r.ContextDone = later(.1)
	r.Instance = fmt.Sprintf("10.0.0.%d:8000", g.rng.IntN(8))
	step(model.PhaseAtModel)
	r.FirstToken = later(.3)
	tokens := 1
	for left := g.rng.IntN(6); left >= 0; left-- {
		r.OutputTokens, r.OutputChunks = model.Of(float64(tokens)), model.Of(float64(tokens))
		step(model.PhaseStreaming)
		later(1)
		tokens += 1 + g.rng.IntN(80)
	}
	r.OutputTokens, r.Completed, r.Outcome, r.Status = model.Of(float64(tokens)), at, model.Completed, 200
	step(model.PhaseDone)
}

// reports are those that fall into a second.
func (g *traffic) reports(from model.Stamp, perSecond int) []model.Request {
	for range perSecond {
		g.arrive(from + model.Stamp(g.rng.Int64N(1e9))/model.Stamp(g.unit)*model.Stamp(g.unit))
	}
	var now, rest []model.Request
	for _, r := range g.queue {
		if r.At >= from+1e9 {
			rest = append(rest, r)
			continue
		}
		g.seq++
		r.Seq = g.seq
		now = append(now, r)
	}
	g.queue = rest
	return now
}

// stream is so long a recording of a gateway's reports, and how many they are.
func stream(length time.Duration, perSecond int, unit time.Duration) (inputs []model.Input, events int) {
	g := &traffic{rng: rand.New(rand.NewPCG(11, 3)), unit: unit}
	for at := time.Duration(0); at < length; at += time.Second {
		stamp := model.Instant{Wall: t0.Add(at), Mono: at}
		b := &model.Batch{Target: "events+http://edge:8080/events", Epoch: "edge-0/1754046122", Requests: g.reports(model.StampOf(t0)/1e9*1e9+model.Stamp(at), perSecond)}
		events += len(b.Requests)
		inputs = append(inputs, model.Input{At: stamp, Batch: b}, model.Input{At: stamp.Add(time.Second - 1)})
	}
	return inputs, events
}

func TestManyReports(t *testing.T) {
	for _, unit := range []time.Duration{1, time.Microsecond, time.Millisecond} {
		want, events := stream(2*time.Minute, 150, unit)
		if events < 1e5 {
			t.Fatalf("%d reports are not many", events)
		}
		tape := record(t, Header{}, want)
		got, _, err := play(t, tape)
		if !errors.Is(err, io.EOF) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d inputs differ from %d: %v", len(got), len(want), err)
		}
		if each := len(tape) / events; each > 40 {
			t.Errorf("a report takes %d bytes with a clock of %v", each, unit)
		}
	}
}

// TestLostReports: a damaged segment says what was in it.
func TestLostReports(t *testing.T) {
	want, _ := stream(2*time.Minute, 20, time.Millisecond)
	tape := record(t, Header{}, want)
	bad := bytes.Clone(tape)
	starts := segmentStarts(bad)
	bad[starts[1]+segmentLen+100] ^= 1
	bad = bad[:len(bad)-trailerLen-50] // and the last one is cut
	got, r, _ := play(t, bad)
	lost := r.Lost()
	if lost == nil || lost.Segments != 2 || lost.Rest {
		t.Fatalf("lost %+v", lost)
	}
	count := func(list []model.Input) (n int64) {
		for _, in := range list {
			if in.Batch != nil {
				n += int64(len(in.Batch.Requests))
			}
		}
		return n
	}
	if lost.Inputs != int64(len(want)-len(got)) || lost.Requests != count(want)-count(got) || lost.Requests == 0 {
		t.Errorf("lost %d inputs and %d reports, want %d and %d", lost.Inputs, lost.Requests, len(want)-len(got), count(want)-count(got))
	}
	if text := fmt.Sprintf("%d inputs with %d reports of requests", lost.Inputs, lost.Requests); !strings.Contains(lost.Error(), text) {
		t.Errorf("%q does not say %q", lost.Error(), text)
	}
}

// segmentStarts finds the segments of a tape that is not damaged.
func segmentStarts(tape []byte) (starts []int) {
	at := bytes.Index(tape, []byte("\n"+segmentMarker)) + 1
	for bytes.HasPrefix(tape[at:], []byte(segmentMarker)) {
		starts = append(starts, at)
		head, _ := version2.segment(tape[at : at+segmentLen])
		at += segmentLen + int(head.size)
	}
	return starts
}

func TestReportsBeyondTheBounds(t *testing.T) {
	small := oddReports()[0]
	pairs := make([]string, 0, 2*(maxLabels+1))
	for i := range maxLabels + 1 {
		pairs = append(pairs, fmt.Sprintf("l%d", i), "x")
	}
	batch := func(b model.Batch) model.Input { return model.Input{At: model.Instant{Mono: 5}, Batch: &b} }
	for name, in := range map[string]model.Input{
		"mark":     {Mark: strings.Repeat("x", maxText+1)},
		"ack":      {Ack: model.AlertID(strings.Repeat("x", maxText+1))},
		"requests": batch(model.Batch{Requests: make([]model.Request, maxReports+1)}),
		"reported": batch(model.Batch{Reported: make([]model.Reported, maxReports+1)}),
		"labels":   batch(model.Batch{Requests: []model.Request{{Labels: model.Labels(pairs...)}}}),
		"list":     batch(model.Batch{About: &model.About{Notes: make([]string, maxList)}}),
	} {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, Header{})
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []model.Input{small, in, small} {
				if err := w.Write(in); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || w.Dropped() != 1 {
				t.Fatalf("dropped %d: %v", w.Dropped(), err)
			}
			got, r, err := play(t, buf.Bytes())
			if !errors.Is(err, io.EOF) || r.Ending().Dropped != 1 {
				t.Fatalf("%+v: %v", r.Ending(), err)
			}
			sameInputs(t, got, []model.Input{small, small})
		})
	}
}

// TestReportsUpToTheBounds: the most that is taken can be read again.
func TestReportsUpToTheBounds(t *testing.T) {
	want := []model.Input{
		{Mark: strings.Repeat("x", maxText), Ack: model.AlertID(strings.Repeat("y", maxText))},
		{Batch: &model.Batch{Requests: make([]model.Request, maxReports), Reported: make([]model.Reported, maxReports)}},
	}
	got, _, err := play(t, record(t, Header{}, want))
	if !errors.Is(err, io.EOF) || !reflect.DeepEqual(got, want) {
		t.Errorf("%d inputs: %v", len(got), err)
	}
}

// TestForgedReports: what no writer writes is refused before it takes memory.
func TestForgedReports(t *testing.T) {
	table := func(write func(*encoder)) []byte {
		e := newEncoder()
		write(&e)
		return e.b
	}
	batch := func(reports func(*encoder)) []byte {
		return table(func(e *encoder) {
			e.byte(byte(withBatch | withReports | neverWall))
			e.int(0)
			e.string("g")
			e.int(0)
			e.bool(false)
			e.byte(aboutNone)
			e.int(0)
			e.string("")
			e.int(0)
			e.string("epoch")
			e.int(0)
			reports(e)
		})
	}
	zeros := make([]byte, 8<<20)
	for name, tc := range map[string]struct {
		raw  []byte
		from version
	}{
		"requests beyond the bound": {batch(func(e *encoder) { e.length(maxReports + 1); e.b = append(e.b, zeros...) }), version2},
		"requests beyond the bytes": {batch(func(e *encoder) { e.length(20); e.b = append(e.b, zeros[:3*20-1]...) }), version2},
		"reported beyond the bound": {batch(func(e *encoder) { e.noList(); e.length(maxReports + 1); e.b = append(e.b, zeros...) }), version2},
		"reported beyond the bytes": {batch(func(e *encoder) { e.noList(); e.length(20); e.b = append(e.b, zeros[:5*20-1]...) }), version2},
		"flags nobody knows":        {batch(func(e *encoder) { e.length(1); e.uint(1 << allBits); e.b = append(e.b, zeros[:9]...) }), version2},
		"a unit nobody knows":       {batch(func(e *encoder) { e.length(1); e.uint(3); e.b = append(e.b, zeros[:9]...) }), version2},
		"labels nobody named": {batch(func(e *encoder) {
			e.length(1)
			e.uint(hasLabels)
			e.string("a")
			e.int(0)
			e.uint(9)
			e.b = append(e.b, zeros[:9]...)
		}), version2},
		"more labels than any": {batch(func(e *encoder) {
			e.length(1)
			e.uint(hasLabels)
			e.string("a")
			e.int(0)
			e.uint(0)
			e.uint(maxLabels + 1)
			e.b = append(e.b, zeros...)
		}), version2},
		"a mark beyond the bound": {table(func(e *encoder) {
			e.byte(byte(withMark | neverWall))
			e.int(0)
			e.string(strings.Repeat("x", maxText+1))
		}), version2},
		"a part nobody knows": {table(func(e *encoder) { e.byte(1<<6 | byte(neverWall)); e.int(0) }), version2},
		"a mark in format 1":  {table(func(e *encoder) { e.byte(byte(withMark | neverWall)); e.int(0); e.string("x") }), version1},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := readAll(forge(t, tc.from, tc.raw, 1, 1))
			if n != 0 || !errors.Is(err, errMalformed) {
				t.Errorf("%d inputs: %v", n, err)
			}
		})
	}
}

// TestForgedStrings: a table of names does not grow without end.
func TestForgedStrings(t *testing.T) {
	raw := make([]byte, 0, 16<<20)
	for range 3 * maxStrings {
		raw = append(raw, byte(withMark|neverWall), 0, 0, 0) // a mark of an empty name that is new each time
	}
	n, err := readAll(forge(t, version2, raw, 3*maxStrings, 0))
	if n != maxStrings || !errors.Is(err, errMalformed) {
		t.Errorf("%d inputs: %v", n, err)
	}
}

func TestCountsMustAgree(t *testing.T) {
	e := newEncoder()
	e.byte(byte(withMark | neverWall))
	e.int(0)
	e.string("x")
	if n, err := readAll(forge(t, version2, e.b, 1, 1)); n != 0 || !errors.Is(err, errMalformed) {
		t.Errorf("%d inputs: %v", n, err)
	}
	if n, err := readAll(forge(t, version2, e.b, 1, 0)); n != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("%d inputs: %v", n, err)
	}
}

// BenchmarkReports records and plays a busy gateway, some 8,000 reports of 1,000
// requests a second, and says what one takes on the tape.
func BenchmarkReports(b *testing.B) {
	for _, unit := range []time.Duration{time.Millisecond, time.Microsecond, 1} {
		inputs, events := stream(time.Minute, 1000, unit)
		tape := record(b, Header{}, inputs)
		b.Run("write/"+unit.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				record(b, Header{}, inputs)
			}
			b.ReportMetric(float64(len(tape))/float64(events), "B/event")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
		b.Run("read/"+unit.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := readAll(tape); !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}
