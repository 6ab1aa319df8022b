package tape

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"slotop/model"
)

// readAll reads whatever it is given and reports how many inputs came.
func readAll(b []byte) (n int, err error) {
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		if _, err = r.Next(); err != nil {
			return n, err
		}
		n++
	}
}

// FuzzReader feeds files: reading ends, with io.EOF or an error that says what.
func FuzzReader(f *testing.F) {
	f.Add(record(f, Header{Version: "x"}, odd()))
	f.Add(record(f, Header{Policy: model.Policy{Workflows: []model.WorkflowSpec{{Name: "chat"}}}}, oddReports()))
	f.Add([]byte("slotop.tape/1\n{\"schema\":\"slotop.tape/1\"}\nSEG\n"))
	f.Add(record(f, Header{}, oddDevices()))
	f.Add([]byte("slotop.tape/2\n{\"schema\":\"slotop.tape/2\"}\nSEG\n"))
	f.Add([]byte("slotop.tape/3\n{\"schema\":\"slotop.tape/3\"}\nSEG\n"))
	f.Add(record(f, Header{}, oddNotes()))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := readAll(b)
		var damage *DamageError
		if errors.As(err, &damage) && (damage.Bytes < 0 || damage.Bytes > int64(len(b)) || damage.Cause == nil || damage.Inputs < 0 || damage.Requests < 0) {
			t.Errorf("%d inputs, damage %+v of %d bytes", n, damage, len(b))
		}
		if _, serr := Scan(bytes.NewReader(b)); serr != nil && damage == nil && errors.Is(err, io.EOF) {
			t.Errorf("read in full, yet the scan says %v", serr)
		}
	})
}

// forge makes a tape of one segment with the given content and good checksums.
func forge(t testing.TB, v version, raw []byte, inputs, requests uint32) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstd.MinWindowSize)) // small: made for each
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	body := z.EncodeAll(raw, nil)
	if v == version1 {
		fixed := append([]byte(segmentMarker), make([]byte, segment1Len-markerLen-4)...)
		binary.LittleEndian.PutUint32(fixed[4:], uint32(len(body)))
		binary.LittleEndian.PutUint32(fixed[8:], inputs)
		fixed = binary.LittleEndian.AppendUint32(fixed, checksum(append(fixed[:len(fixed):len(fixed)], body...)))
		return append(append([]byte(schema1+"\n{\"schema\":\""+schema1+"\"}\n"), fixed...), body...)
	}
	schema := map[version]string{version2: schema2, version3: schema3, version4: Schema}[v]
	fixed := segment{size: uint32(len(body)), inputs: inputs, requests: requests}.encode(body)
	return append(append([]byte(schema+"\n{\"schema\":\""+schema+"\"}\n"), fixed...), body...)
}

// FuzzSegment gets past the checksums: the content of a segment is forged.
func FuzzSegment(f *testing.F) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		f.Fatal(err)
	}
	add := func(inputs []model.Input) {
		w.startSegment()
		for _, in := range inputs {
			if err := w.add(in); err != nil {
				f.Fatal(err)
			}
		}
		for v := range uint8(4) {
			f.Add(bytes.Clone(w.enc.b), w.head.inputs, w.head.requests, v)
		}
	}
	add(odd())
	add(oddReports())
	add(oddDevices())
	add(oddNotes())
	f.Fuzz(func(t *testing.T, raw []byte, inputs, requests uint32, older uint8) {
		v := version4 - version(older%4)
		n, err := readAll(forge(t, v, raw, inputs, requests))
		if err == nil || n > int(inputs) {
			t.Errorf("%d inputs, %v", n, err)
		}
		var damage *DamageError
		if errors.As(err, &damage) && (damage.Inputs+int64(n) != int64(inputs) || damage.Requests < 0) {
			t.Errorf("%d of %d inputs, %d lost", n, inputs, damage.Inputs)
		}
	})
}

// FuzzRoundTrip writes two batches made of arbitrary numbers.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(0), 1.0, 2.0, math.NaN(), 3.0, "m", true)
	f.Add(uint64(1<<63), math.Copysign(0, -1), 1e300, 4.0, 0.5, "", false)
	f.Fuzz(func(t *testing.T, bits uint64, a, b, c, d float64, s string, flag bool) {
		hist := func(v ...float64) *model.Buckets {
			return &model.Buckets{Bounds: v[:1], Counts: v, Sum: model.Reading{Value: d, State: model.Presence(bits % 7)}, Repaired: flag}
		}
		labels := model.Labels("model", s)
		batch := func(x, y float64) *model.Batch {
			return &model.Batch{Target: model.TargetID(s), Took: time.Duration(bits), FirstBad: s, Samples: []model.Sample{
				{Signal: model.Running, Labels: labels, Value: x},
				{Signal: model.TTFT, Labels: labels, Kind: model.Histogram, Hist: hist(x, y)},
				{Signal: model.TTFT, Labels: labels, Kind: model.Histogram, Value: y, Hist: hist(y)},
			}}
		}
		stamp := model.Instant{Wall: time.Unix(0, int64(bits>>2)).UTC(), Mono: time.Duration(bits >> 1)}
		want := []model.Input{
			{At: stamp, Batch: batch(a, b)}, {At: stamp, Batch: batch(b, c)},
			{At: stamp.Add(1), Window: time.Duration(bits >> 3)}, {At: stamp, Batch: batch(math.Float64frombits(bits), a)},
		}
		got, _, err := play(t, record(t, Header{}, want))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		sameInputs(t, got, want)
	})
}

// FuzzReports writes two reports of a request made of arbitrary numbers.
func FuzzReports(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0), uint64(0), 0.0, uint8(0), "", "")
	f.Add(int64(1785208200e9), int64(-1), int64(1<<62), uint64(1<<63), math.NaN(), uint8(1), "id", "\x1b\xff")
	f.Fuzz(func(t *testing.T, a, b, c int64, bits uint64, v float64, state uint8, id, text string) {
		one := model.Request{
			ID: id, Seq: bits, At: model.Stamp(a), Queued: model.Stamp(b), Scheduled: model.Stamp(c), Completed: model.Stamp(a ^ b),
			Workflow: text, Phase: model.Phase(text), Outcome: model.Outcome(id), Labels: model.Labels("a", id, "b", text),
			InputTokens: model.Reading{Value: v, State: model.Presence(state)}, OutputTokens: model.Of(v), Stream: model.Streaming(state),
			Status: int(c), Retries: int(b), RetryOf: text,
		}
		two := one
		two.At, two.Seq, two.CachedTokens = model.Stamp(c), uint64(a), model.Reading{Value: math.Float64frombits(bits)}
		want := []model.Input{
			{Batch: &model.Batch{Target: "g", Epoch: text, Lost: int(a), Requests: []model.Request{one, two, one}}},
			{Ack: model.AlertID(id), Mark: text, Note: &model.Annotation{At: time.Unix(c, a).UTC(), Text: id}},
			{Batch: &model.Batch{Target: "g", Requests: []model.Request{two}, Reported: []model.Reported{{
				Signal: model.Signal(text), Labels: one.Labels, WindowS: one.InputTokens, Count: two.CachedTokens,
				Quantiles: []model.QuantileAt{{Q: v, S: math.Float64frombits(bits)}},
			}}}},
		}
		got, _, err := play(t, record(t, Header{}, want))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		sameInputs(t, got, want)
	})
}
