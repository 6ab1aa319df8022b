package sim

import "time"

// Machine is one accelerator with one model on it: what a step of the engine
// costs. The efficiencies were fitted to published H100 measurements.
type Machine struct {
	PeakFLOPs float64 // FLOP/s at the model's precision
	Bandwidth float64 // bytes/s of device memory

	WeightBytes    float64 // read once a step: the layers and the LM head
	TokenFLOPs     float64 // linear layers, per computed token
	HeadFLOPs      float64 // LM head, per emitted token
	AttentionFLOPs float64 // per token and token of its context
	KVTokenBytes   float64

	GEMM             float64 // efficiencies, shares of peak
	WeightStream     float64
	KVStream         float64
	PrefillAttention float64

	StepOverhead     time.Duration // host, per step
	SequenceOverhead time.Duration // host, per scheduled sequence
	Frontend         time.Duration // from arrival to the engine's queue
	Jitter           float64       // relative standard deviation of a step

	SMClock     float64 // fault knobs: clocks as a share of their usual value
	MemoryClock float64
}

// H100 is Llama-3.1-8B in BF16 on one H100 SXM.
func H100() Machine {
	return Machine{
		PeakFLOPs: 989e12, Bandwidth: 3.35e12,
		WeightBytes: 15.01e9, TokenFLOPs: 13.96e9, HeadFLOPs: 1.05e9,
		AttentionFLOPs: 4 * 32 * 4096, KVTokenBytes: 2 * 32 * 8 * 128 * 2,
		GEMM: 0.50, WeightStream: 0.77, KVStream: 0.65, PrefillAttention: 0.35,
		StepOverhead: 1200 * time.Microsecond, SequenceOverhead: 4 * time.Microsecond,
		Frontend: 4 * time.Millisecond, Jitter: 0.02,
		SMClock: 1, MemoryClock: 1,
	}
}

// Work is what one step has to do.
type Work struct {
	Tokens           int     // computed
	Emitted          int     // sequences that emit a token
	Sequences        int     // scheduled
	KVTokens         float64 // cached tokens that attention reads
	PrefillAttention float64 // Σ tokens × context over chunks of several tokens
	DecodeAttention  float64 // the same over single tokens: bound by KVTokens, not by FLOPs
}

// chunk adds a sequence that computes n tokens on top of computed ones.
func (w *Work) chunk(computed, n int, emits bool) {
	w.Tokens += n
	w.Sequences++
	if emits {
		w.Emitted++
	}
	if n == 1 {
		w.KVTokens += float64(computed + 1)
		w.DecodeAttention += float64(computed + 1)
		return
	}
	w.KVTokens += float64(computed)
	// Causal: token i of the chunk sees the computed ones and i of the chunk.
	w.PrefillAttention += product(float64(n), float64(computed)+float64(n+1)/2)
}

// StepTime is how long the step takes, without jitter. The weights stream while
// the GEMMs run, so those two overlap; the rest adds up.
func (m *Machine) StepTime(w Work) time.Duration {
	weights := m.WeightBytes / (m.WeightStream * m.Bandwidth * m.MemoryClock)
	linear := m.linearFLOPs(w) / (m.GEMM * m.PeakFLOPs * m.SMClock)
	kv := w.KVTokens * m.KVTokenBytes / (m.KVStream * m.Bandwidth * m.MemoryClock)
	attention := m.AttentionFLOPs * w.PrefillAttention / (m.PrefillAttention * m.PeakFLOPs * m.SMClock)
	device := hypot(weights, linear) + kv + attention
	return seconds(device) + m.StepOverhead + time.Duration(w.Sequences)*m.SequenceOverhead
}

func (m *Machine) linearFLOPs(w Work) float64 {
	return product(m.TokenFLOPs, float64(w.Tokens)) + product(m.HeadFLOPs, float64(w.Emitted))
}

// FLOPs is the arithmetic of a step, what an engine's own estimate counts.
func (m *Machine) FLOPs(w Work) float64 {
	return m.linearFLOPs(w) + product(m.AttentionFLOPs, w.PrefillAttention+w.DecodeAttention)
}

// ReadBytes is what a step reads from device memory.
func (m *Machine) ReadBytes(w Work) float64 {
	return m.WeightBytes + product(w.KVTokens, m.KVTokenBytes)
}

// WriteBytes is what it writes there: the KV entries of the computed tokens.
func (m *Machine) WriteBytes(w Work) float64 {
	return float64(w.Tokens) * m.KVTokenBytes
}

// Ridge is the arithmetic intensity, FLOP per byte, at which the two ceilings meet.
func (m *Machine) Ridge() float64 { return m.PeakFLOPs / m.Bandwidth }

// KVCapacity is the tokens that fit into the share of memory which the engine may
// use, after weights and activations; all in GiB.
func (m *Machine) KVCapacity(memory, share, weights, activations float64) int {
	return int((share*memory - weights - activations) * (1 << 30) / m.KVTokenBytes)
}

// Limits bound what the scheduler may put into a step and into the cache.
type Limits struct {
	TokenBudget int // tokens computed in a step
	Sequences   int // running at once
	Blocks      int // of the KV pool
	BlockSize   int // tokens
	Context     int // longest sequence accepted
}

// DemoLimits are the demo's: the pool of an 80 GB H100, and the token budget that
// favours short gaps (a server on an H100 would start with 8192).
func DemoLimits() Limits {
	return Limits{TokenBudget: 2048, Sequences: 256, Blocks: 27375, BlockSize: 16, Context: 65536}
}
