package roofline

import (
	"math"
	"testing"

	"slotop/model"
)

// near compares to the digits that a worked example shows.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func llama8(t *testing.T) *Shape {
	t.Helper()
	s := FindShape("meta-llama/Llama-3.1-8B-Instruct")
	if s == nil {
		t.Fatal("no Llama 3.1 8B")
	}
	return s
}

func roofOf(t *testing.T, name string, p Precision) Roof {
	t.Helper()
	peaks, why := FindPeaks(Card{Name: name})
	if peaks == nil {
		t.Fatal(why)
	}
	flops, _ := peaks.Peak(p)
	return Roof{flops, peaks.Bytes}
}

const h100 = "NVIDIA H100 80GB HBM3"

func TestRidges(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Precision
		ridge float64
	}{
		{"NVIDIA A100-SXM4-80GB", BF16, 153}, {h100, BF16, 295}, {h100, FP8, 591}, {"NVIDIA H200", BF16, 206},
		{"NVIDIA H20", BF16, 37}, {"NVIDIA GeForce RTX 4090", BF16, 164}, {"NVIDIA L4", BF16, 403},
		{"NVIDIA L40S", BF16, 419}, {"NVIDIA B200", BF16, 281}, {"AMD Instinct MI300X", BF16, 247},
	} {
		near(t, c.name, math.Round(roofOf(t, c.name, c.p).Ridge()), c.ridge, 0)
	}
}

// decodeStep is the work of one step that does nothing but decode.
func decodeStep(s *Shape, sequences, context, devices float64) Work {
	return Work{FLOPs: sequences * s.DecodeFLOPs(context), Bytes: s.StepBytes(sequences, 0, context, devices)}
}

// Llama-3.1-8B in BF16 on one H100 SXM: lower bounds of a step.
func TestWorkedSteps(t *testing.T) {
	s, roof := llama8(t), roofOf(t, h100, BF16)
	for _, c := range []struct{ b, context, gb, tflop, intensity, floorMS, mfu float64 }{
		{1, 1024, 15.14, 0.016, 1.0, 4.52, 0.3},
		{8, 1024, 16.08, 0.124, 7.7, 4.80, 2.6},
		{32, 1024, 19.30, 0.497, 25.8, 5.76, 8.7},
		{64, 2048, 32.19, 1.029, 32.0, 9.61, 10.8},
		{128, 2048, 49.37, 2.059, 41.7, 14.74, 14.1},
		{256, 2048, 83.73, 4.117, 49.2, 24.99, 16.7},
	} {
		w := decodeStep(s, c.b, c.context, 1)
		floor := roof.Floor(w)
		near(t, "GB", w.Bytes/1e9, c.gb, 0.005)
		near(t, "TFLOP", w.FLOPs/1e12, c.tflop, 0.0005)
		near(t, "intensity", w.Intensity(), c.intensity, 0.05)
		near(t, "floor", floor*1e3, c.floorMS, 0.005)
		near(t, "MFU at the floor", 100*roof.MFU(w.Per(floor)), c.mfu, 0.05)
		near(t, "MBU at the floor", roof.MBU(w.Per(floor)), 1, 1e-9)
	}
}

func TestFloors(t *testing.T) {
	s, roof := llama8(t), roofOf(t, h100, BF16)
	stream := s.WeightsRead(1) / roof.Bytes
	near(t, "weight stream", stream*1e3, 4.48, 0.005)
	near(t, "weight stream at 0.77", stream/0.77*1e3, 5.82, 0.005)
	near(t, "KV bytes", s.KVPerToken(), 131072, 0)
	near(t, "KV tokens", math.Floor((0.9*79.1-15.0-2.9)*(1<<30)/s.KVPerToken()), 436551, 0)
	near(t, "layers' FLOPs", s.LayerFLOPs()/1e9, 13.96, 0.005)
	near(t, "head's FLOPs", s.HeadFLOPs()/1e9, 1.05, 0.005)
	near(t, "weights", s.WeightsRead(1)/1e9, 15.01, 0.005)
	near(t, "attention", s.DecodeAttention(1), 524288, 0)
	near(t, "ridge", math.Round(roof.Ridge()), 295, 0)
}

// The single-stream form: all that a step reads, over TPOT.
func TestSingleStream(t *testing.T) {
	s, roof := llama8(t), roofOf(t, h100, BF16)
	mbu := func(b, context, tpot float64) float64 { return roof.MBU(decodeStep(s, b, context, 1).Per(tpot)) }
	near(t, "14 GB in 14 ms of 2 TB/s", Roof{1, 2e12}.MBU(Work{Bytes: 14e9}.Per(14e-3)), 0.50, 1e-9)
	near(t, "7 ms at 1000 tokens", mbu(1, 1000, 7e-3), 0.646, 0.0005)
	near(t, "64 × 1500 in 14.9 ms", mbu(64, 1500, 14.9e-3), 0.553, 0.0005)
	near(t, "8 ms at one", mbu(1, 1024, 8e-3), 0.57, 0.005)
	if over := mbu(1, 1000, 3e-3); over < 1.4 {
		t.Errorf("clipped: %v", over)
	}
}

// The published figures project every position to the vocabulary; a server projects
// the last one only, which is 7 % less.
func TestPrefill(t *testing.T) {
	s, roof := llama8(t), roofOf(t, h100, BF16)
	all := func(n float64) float64 { return n*s.TokenFLOPs() + s.PromptAttention(n, 0) }
	near(t, "TFLOP of 2048", all(2048)/1e12, 31.8, 0.05)
	near(t, "ms at peak", roof.Floor(Work{FLOPs: all(2048)})*1e3, 32, 0.5)
	near(t, "attention of 2048", 100*s.PromptAttention(2048, 0)/all(2048), 3.5, 0.05)
	near(t, "attention of 32768", 100*s.PromptAttention(32768, 0)/all(32768), 36, 0.5)
	near(t, "as served", s.PromptFLOPs(2048, 0)/1e12, 29.69, 0.005)
	// Halves behind a cache add up to the whole.
	near(t, "two halves", s.PromptAttention(1000, 0)+s.PromptAttention(1048, 1000), s.PromptAttention(2048, 0), 1)
}

func TestExpectedExperts(t *testing.T) {
	for tokens, want := range map[float64]float64{1: 8, 4: 29, 16: 82, 64: 126, 256: 128} {
		near(t, "experts", math.Round(expectedExperts(128, 8, tokens)), want, 0)
	}
}

// A single stream of a model with experts reads what one token uses, a busy one all.
func TestWeightsOfExperts(t *testing.T) {
	for _, name := range []string{"Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3", "mistralai/Mixtral-8x7B-Instruct-v0.1"} {
		s := FindShape(name)
		near(t, name+" at one", s.WeightsRead(1)/(s.Matmul*s.WeightBytes), 1, 0.005)
		near(t, name+" busy", s.WeightsRead(4096)/((s.Params-s.head())*s.WeightBytes), 1, 0.005)
		if w := s.WeightsRead(16); !(w > s.WeightsRead(4) && w < s.WeightsRead(64)) {
			t.Errorf("%s: %v at 16", name, w)
		}
	}
	dense := FindShape("Qwen/Qwen3-8B")
	near(t, "a dense one", dense.WeightsRead(1), dense.WeightsRead(1000), 0)
	near(t, "without its input table", dense.WeightsRead(1), (dense.Params-dense.head())*2, 1e6)
	tied := FindShape("Qwen/Qwen3-4B")
	near(t, "a tied table is read", tied.WeightsRead(1), tied.Params*2, 1)
}

func TestLatentAttention(t *testing.T) {
	s := FindShape("deepseek-ai/DeepSeek-V3")
	near(t, "KV of a token", s.KVPerToken(), (512+64)*61*2, 0)
	near(t, "against heads", 2*s.KVHeads*128*s.Layers*2/s.KVPerToken(), 57, 0.5)
	near(t, "decode over prefill", s.DecodeAttention(1)/s.PrefillPairs, 3.4, 0.05)
	near(t, "on eight devices", s.Replicated(8), 8, 0)
}

func TestReplicatedHeads(t *testing.T) {
	s := llama8(t) // eight KV heads
	for devices, want := range map[float64]float64{1: 1, 2: 1, 8: 1, 16: 2} {
		near(t, "replicated", s.Replicated(devices), want, 0)
	}
	one, two := decodeStep(s, 8, 1024, 8), decodeStep(s, 8, 1024, 16)
	near(t, "what is read twice", two.Bytes-one.Bytes, 8*s.KVRead(1024), 1)
	near(t, "FLOPs", two.FLOPs, one.FLOPs, 0)
}

func TestWindows(t *testing.T) {
	s := FindShape("google/gemma-3-27b-it") // 10 of 62 layers see everything, the others 1024
	short, long := s.KVRead(1000), s.KVRead(10000)
	near(t, "below the window", short, 1000*s.KVPerToken(), 1)
	near(t, "beyond it", long, s.KVPerToken()/62*(10*10000+52*1024), 1)
	near(t, "attention", s.DecodeAttention(10000)/s.DecodeAttention(1000), (10*10000.+52*1024)/(62*1000), 1e-9)
	// In a prompt the first 1024 positions grow and the rest stand.
	want := s.PrefillPairs / 62 * (10*10000*10000/2. + 52*(1024*1024/2.+1024*(10000-1024)))
	near(t, "prompt", s.PromptAttention(10000, 0)/want, 1, 1e-12)
}

func TestFindShape(t *testing.T) {
	for served, want := range map[string]string{
		"meta-llama/Llama-3.1-8B-Instruct":         "meta-llama/Llama-3.1-8B-Instruct",
		"llama-3.1-8b-instruct":                    "meta-llama/Llama-3.1-8B-Instruct",
		"/models/Llama-3.1-8B-Instruct/":           "meta-llama/Llama-3.1-8B-Instruct",
		"someone/Llama-3.1-8B-Instruct-FP8":        "meta-llama/Llama-3.1-8B-Instruct",
		"x/Llama-3.1-8B-Instruct-quantized.w8a8":   "meta-llama/Llama-3.1-8B-Instruct",
		"Qwen/Qwen3-8B-AWQ":                        "Qwen/Qwen3-8B",
		"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4":       "Qwen/Qwen2.5-7B-Instruct",
		"qwen3-30b-a3b-fp8":                        "Qwen/Qwen3-30B-A3B",
		"deepseek-v3":                              "deepseek-ai/DeepSeek-V3",
		"llama-70b":                                "",
		"Llama-3.1-8B":                             "",
		"Meta-Llama-3.1-8B-Instruct":               "",
		"Llama-3.1-8B-Instruct-abliterated":        "",
		"Qwen3-8B-fp8-lora":                        "",
		"Qwen/Qwen3.6-35B-A3B":                     "",
		"DeepSeek-R1-Distill-Qwen-32B":             "",
		"":                                         "",
		"/":                                        "",
		"Qwen3-30B-A3B-Instruct-2507":              "",
		"unsloth/Llama-3.3-70B-Instruct-bnb-4bit2": "",
	} {
		got := ""
		if s := FindShape(served); s != nil {
			got = s.Model
		}
		if got != want {
			t.Errorf("%q is %q, want %q", served, got, want)
		}
	}
}

func TestQuantisedCopies(t *testing.T) {
	whole := llama8(t)
	for name, c := range map[string]struct {
		in    Precision
		ratio float64 // of what a step reads
	}{
		"Llama-3.1-8B-Instruct-FP8": {FP8, 0.535},
		"Llama-3.1-8B-Instruct-AWQ": {Int4, 0.326},
	} {
		s := FindShape(name)
		if s.Weights != c.in || whole.Weights != BF16 || whole.WeightBytes != 2 {
			t.Errorf("%s: %+v", name, s)
		}
		near(t, name, s.WeightsRead(1)/whole.WeightsRead(1), c.ratio, 0.001)
		near(t, name+" FLOPs", s.TokenFLOPs(), whole.TokenFLOPs(), 0)
	}
	for name, want := range map[string]Precision{"acme/chat-70b-AWQ": Int4, "chat-FP8": FP8, "chat.nvfp4": FP4, "x-w8a8/": INT8, "chat-70b": ""} {
		if got, known := StoredIn(name); got != want || known != (want != "") {
			t.Errorf("%s is stored in %q", name, got)
		}
	}
	oss := FindShape("gpt-oss-20b")
	near(t, "gpt-oss-20b", oss.WeightsStored()/1e9, 13.8, 0.1)
	near(t, "gpt-oss-120b", FindShape("gpt-oss-120b").WeightsStored()/1e9, 65.2, 0.5)
}

func TestConfigured(t *testing.T) {
	s, why := Configured(model.ModelSpec{Shape: "Llama-3.1-8B-Instruct", KVBytes: 1, WeightBytes: 1}, "chat")
	if s == nil || s.Model != "meta-llama/Llama-3.1-8B-Instruct" || s.From != FromConfiguration || s.Weights != FP8 {
		t.Fatalf("%+v %s", s, why)
	}
	near(t, "KV", s.KVPerToken(), 65536, 0)
	near(t, "weights", s.WeightsRead(1)/1e9, 7.505, 0.001)

	own := model.ModelSpec{Params: 8.03e9, Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadSize: 128, Vocabulary: 128256}
	s, why = Configured(own, "ours")
	if s == nil {
		t.Fatal(why)
	}
	w, of := decodeStep(s, 64, 2048, 1), decodeStep(llama8(t), 64, 2048, 1)
	near(t, "GB of its own shape", w.Bytes/1e9, of.Bytes/1e9, 0.01)
	near(t, "TFLOP", w.FLOPs/1e12, of.FLOPs/1e12, 0.001)

	own.ActiveParams = 1e9 // experts, and nobody says how many
	if s, _ = Configured(own, "ours"); !math.IsNaN(s.WeightsRead(1)) || math.IsNaN(s.DecodeFLOPs(1)) {
		t.Errorf("%+v", s)
	}
	own.ActiveParams, own.HeadSize = 0, 0
	if s, why = Configured(own, "ours"); s != nil || why == "" {
		t.Errorf("%+v %q", s, why)
	}
	if s, why = Configured(model.ModelSpec{Shape: "llama-70b"}, "x"); s != nil || why == "" {
		t.Errorf("%+v %q", s, why)
	}
	// A name in the table, with one thing said of it.
	if s, _ = Configured(model.ModelSpec{KVBytes: 1}, "Qwen/Qwen3-8B"); s == nil || s.KVBytes != 1 || s.Layers != 36 {
		t.Errorf("%+v", s)
	}
	if FindShape("Qwen/Qwen3-8B").KVBytes != 2 {
		t.Error("the table was written to")
	}
}

func FuzzFindShape(f *testing.F) {
	f.Add("Qwen/Qwen3-8B-AWQ")
	f.Add("-fp8")
	f.Fuzz(func(t *testing.T, served string) {
		if s := FindShape(served); s != nil && !(s.WeightsRead(1) > 0) {
			t.Errorf("%q: %+v", served, s)
		}
	})
}

func FuzzFindPeaks(f *testing.F) {
	f.Add("NVIDIA A100-SXM4-40GB MIG 2g.10gb", "", "8.0", 1e9)
	f.Add("x", "9g.0gb", "", math.NaN())
	f.Fuzz(func(t *testing.T, name, profile, capability string, memory float64) {
		p, why := FindPeaks(Card{Name: name, Profile: profile, Capability: capability, Memory: memory})
		if (p == nil) == (why == "") {
			t.Errorf("%+v %q", p, why)
		}
	})
}
