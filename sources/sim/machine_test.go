package sim

import (
	"math"
	"testing"
	"time"
)

func TestFloors(t *testing.T) {
	h := H100()
	at := func(efficiency float64) float64 { return h.WeightBytes / (efficiency * h.Bandwidth) * 1e3 }
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"weight stream at peak, ms", at(1), 4.48},
		{"weight stream at 0.77, ms", at(h.WeightStream), 5.82},
		{"BF16 ridge, FLOP/byte", math.Round(h.Ridge()), 295},
	} {
		if math.Abs(c.got-c.want) > 0.005 {
			t.Errorf("%s: got %.4f, want %.2f", c.what, c.got, c.want)
		}
	}
	fp8 := h100FP8()
	if got := math.Round(fp8.Ridge()); got != 591 {
		t.Errorf("FP8 ridge: got %v, want 591", got)
	}
	if got := h.KVCapacity(79.1, 0.9, 15.0, 2.9); got != 436551 {
		t.Errorf("KV capacity: got %d tokens, want 436551", got)
	}
	if l := DemoLimits(); l.Blocks*l.BlockSize != 438000 {
		t.Errorf("the demo's pool holds %d tokens, want 438000", l.Blocks*l.BlockSize)
	}
}

// alone is the time to the first token of a lone prompt, and of a token after it.
func alone(m Machine, prompt int) (ttft, tpot time.Duration) {
	var prefill, decode Work
	prefill.chunk(0, prompt, true)
	decode.chunk(prompt, 1, true)
	return m.Frontend + m.StepTime(prefill), m.StepTime(decode)
}

func TestBatchOfOne(t *testing.T) {
	m := H100()
	for _, c := range []struct {
		prompt int
		ttft   float64 // ms, published
	}{{200, 13}, {1000, 35}, {2048, 67}} {
		ttft, tpot := alone(m, c.prompt)
		near(t, "TTFT ms", ttft.Seconds()*1e3, c.ttft, 0.04)
		near(t, "TPOT ms", tpot.Seconds()*1e3, 7.0, 0.03)
		near(t, "tok/s", 1/tpot.Seconds(), 142, 0.03)
	}
}

func TestClocksSlowTheirOwnTerms(t *testing.T) {
	var w Work
	w.chunk(0, 2048, true)
	w.chunk(4000, 1, true)
	healthy := H100()
	base := healthy.StepTime(w)
	for _, c := range []struct {
		name       string
		sm, memory float64
		more       bool
	}{{"SM clock", 0.45, 1, true}, {"memory clock", 1, 0.7, true}, {"none", 1, 1, false}} {
		m := H100()
		m.SMClock, m.MemoryClock = c.sm, c.memory
		if got := m.StepTime(w); (got > base) != c.more {
			t.Errorf("%s: step %v against %v", c.name, got, base)
		}
	}
	host := H100()
	host.StepOverhead += 15 * time.Millisecond
	host.SequenceOverhead += 150 * time.Microsecond
	if got, want := host.StepTime(w)-base, 15300*time.Microsecond; got != want {
		t.Errorf("host overhead: %v, want %v", got, want)
	}
}

// A chunk of n tokens on c computed ones attends to Σ (c+i) positions.
func TestAttentionIsCausal(t *testing.T) {
	for _, c := range []struct{ computed, n int }{{0, 2}, {0, 2048}, {160, 7}, {30000, 512}} {
		var got Work
		got.chunk(c.computed, c.n, false)
		var want float64
		for i := 1; i <= c.n; i++ {
			want += float64(c.computed + i)
		}
		if got.PrefillAttention != want {
			t.Errorf("%d tokens on %d: %v, want %v", c.n, c.computed, got.PrefillAttention, want)
		}
	}
}

// Prefilling in chunks computes the same attention as in one go.
func TestChunksAddUp(t *testing.T) {
	var whole, parts Work
	whole.chunk(0, 5000, true)
	for from := 0; from < 5000; from += 1000 {
		parts.chunk(from, 1000, from == 4000)
	}
	if whole.PrefillAttention != parts.PrefillAttention || whole.Tokens != parts.Tokens ||
		whole.Emitted != parts.Emitted {
		t.Errorf("whole %+v, in parts %+v", whole, parts)
	}
}
