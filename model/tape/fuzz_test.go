package tape

import (
	"bytes"
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
	f.Add([]byte("slotop.tape/1\n{\"schema\":\"slotop.tape/1\"}\nSEG\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := readAll(b)
		var damage *DamageError
		if errors.As(err, &damage) && (damage.Bytes < 0 || damage.Bytes > int64(len(b)) || damage.Cause == nil) {
			t.Errorf("%d inputs, damage %+v of %d bytes", n, damage, len(b))
		}
		if _, serr := Scan(bytes.NewReader(b)); serr != nil && damage == nil && errors.Is(err, io.EOF) {
			t.Errorf("read in full, yet the scan says %v", serr)
		}
	})
}

// FuzzSegment gets past the checksum: the content of a segment is forged.
func FuzzSegment(f *testing.F) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		f.Fatal(err)
	}
	for _, in := range odd() {
		if err := w.add(in); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(bytes.Clone(w.enc.b), uint32(len(odd())))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	head, err := Header{}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte, inputs uint32) {
		body := z.EncodeAll(raw, nil)
		file := append(bytes.Clone(head), segment{size: uint32(len(body)), inputs: inputs}.encode(body)...)
		if n, err := readAll(append(file, body...)); err == nil || n > int(inputs) {
			t.Errorf("%d inputs, %v", n, err)
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
