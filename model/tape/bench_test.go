package tape

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"slotop/model"
)

// BenchmarkWrite records a busy engine polled each second, ticks included.
func BenchmarkWrite(b *testing.B) {
	inputs := busy(1, 1, 10*time.Minute, time.Second)
	var size int64
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewWriter(io.Discard, Header{})
		if err != nil {
			b.Fatal(err)
		}
		for _, in := range inputs {
			if err := w.Write(in); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		size = w.Size()
		n += len(inputs)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "inputs/s")
	b.ReportMetric(float64(size)/600, "B/s-of-tape")
}

// BenchmarkWriteSteady is one batch between two segments: nothing is allocated.
func BenchmarkWriteSteady(b *testing.B) {
	inputs := busy(1, 1, 25*time.Second, time.Second)
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		in := inputs[i%len(inputs)]
		in.At = model.Instant{}
		if i++; len(w.enc.b) > segmentRaw/2 {
			w.enc.b = w.enc.b[:0]
		}
		if err := w.Write(in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead plays the same tape. The ratio says how many times faster than
// the recording the reading alone is.
func BenchmarkRead(b *testing.B) {
	tape := record(b, Header{}, busy(1, 1, 10*time.Minute, time.Second))
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		got, err := readAll(tape)
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		n += got
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "inputs/s")
	b.ReportMetric(600*float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
}

// BenchmarkScan is what opening a tape costs before anything is played.
func BenchmarkScan(b *testing.B) {
	tape := record(b, Header{}, busy(1, 1, time.Hour, 5*time.Second))
	for b.Loop() {
		if _, err := Scan(bytes.NewReader(tape)); err != nil {
			b.Fatal(err)
		}
	}
}
