package steptime

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

var nan = math.NaN()

// truth is a machine whose coefficients are known.
var truth = Fit{Fixed: 6.8e-3, PerSequence: 20e-6, PerKVToken: 0.065e-6, PerPrefill: 27.6e-6}

// load is n samples of quiet traffic on a machine, with a relative noise.
func load(f Fit, n int, noise float64, rng *rand.Rand) []Sample {
	out := make([]Sample, n)
	for i := range out {
		s := Sample{
			At: model.Instant{Mono: time.Duration(i+1) * 5 * time.Second}, Seconds: 5, Prompt: 1800,
			Sequences: 10 + 40*rng.Float64(), KVTokens: 2e4 + 8e4*rng.Float64(), Prefill: 50 + 300*rng.Float64(),
		}
		s.Step = f.Explain(s).Total() * (1 + noise*rng.NormFloat64())
		s.Steps = s.Seconds / s.Step
		out[i] = s
	}
	return out
}

func learned(t *testing.T, samples []Sample) Fit {
	t.Helper()
	f, err := Learn(samples)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: got %g, want %g within %.2g", what, got, want, tolerance)
	}
}

func TestLearnsWhatIsTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	for _, tt := range []struct {
		name             string
		n                int
		noise, tolerance float64
	}{{"without noise", 12, 0, 1e-6}, {"2 % noise", 60, 0.02, 0.25}, {"half an hour of 2 % noise", 360, 0.02, 0.1}} {
		t.Run(tt.name, func(t *testing.T) {
			f := learned(t, load(truth, tt.n, tt.noise, rng))
			within(t, "fixed", f.Fixed, truth.Fixed, tt.tolerance)
			within(t, "per KV token", f.PerKVToken, truth.PerKVToken, tt.tolerance)
			within(t, "per prefill token", f.PerPrefill, truth.PerPrefill, tt.tolerance)
			if f.PerAttention != 0 || f.Samples != tt.n || f.Error > 1.5*tt.noise+1e-9 || f.Span < 1.3 || f.ByGap {
				t.Errorf("%+v", f)
			}
			if f.From.Mono != 5*time.Second || f.To.Mono != time.Duration(tt.n)*5*time.Second {
				t.Errorf("from %v to %v", f.From.Mono, f.To.Mono)
			}
		})
	}
}

// A faster machine per token must not come out as a term below 0.
func TestNoTermBelowZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	samples := load(truth, 60, 0.02, rng)
	for i := range samples {
		samples[i].Step -= 150e-6 * samples[i].Sequences // more running, shorter steps: it cannot be their cost
	}
	f := learned(t, samples)
	if f.PerSequence != 0 || f.Fixed < 0 || f.PerKVToken < 0 || f.PerPrefill < 0 {
		t.Errorf("%+v", f)
	}
}

// Columns that say the same share one coefficient, and what they explain stays right.
func TestColumnsThatSayTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	samples := load(truth, 40, 0, rng)
	for i := range samples {
		s := &samples[i]
		s.KVTokens = 1900 * s.Sequences
		s.Step = truth.Explain(*s).Total()
	}
	f := learned(t, samples)
	if f.PerSequence > 0 && f.PerKVToken > 0 {
		t.Errorf("two coefficients for one thing: %+v", f)
	}
	for _, s := range samples {
		within(t, "explained", f.Explain(s).Total(), s.Step, 1e-6)
	}
}

func TestLongPromptsHaveATermOfTheirOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	long := truth
	long.PerAttention = 1.5e-9
	for _, prompt := range []float64{1800, 20000} {
		samples := load(truth, 60, 0, rng)
		for i := range samples {
			samples[i].Prompt = prompt * (0.8 + 0.4*rng.Float64())
			samples[i].Step = long.Explain(samples[i]).Total()
		}
		if f := learned(t, samples); f.PerAttention > 0 != (prompt > longPrompts) {
			t.Errorf("prompts of %.0f tokens: %+v", prompt, f)
		}
	}
}

func TestTooThin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	blind := load(truth, 20, 0, rng)
	for i := range blind {
		blind[i].Step = nan
	}
	for _, tt := range []struct {
		name    string
		samples []Sample
		want    string
	}{
		{"none", nil, "the model of step times needs 12 samples and has 0"},
		{"eleven", load(truth, 11, 0, rng), "the model of step times needs 12 samples and has 11"},
		{"no step", blind, "none of 20 samples tells how long a step takes"},
		{"few steps", append(blind[:10:10], load(truth, 5, 0, rng)...), "the model of step times needs 12 samples and has 5"},
	} {
		if _, err := Learn(tt.samples); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A load that never varied gives a fit, and Span says what it is worth.
func TestNothingVaried(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := load(truth, 20, 0, rng)
	for i := range samples {
		samples[i] = samples[0]
	}
	f := learned(t, samples)
	within(t, "span", f.Span, 1, 1e-9)
	within(t, "explained", f.Explain(samples[0]).Total(), samples[0].Step, 1e-6)
}

// What nobody tells is no term; samples that lack what the others tell are left out.
func TestTermsThatAreNotTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	samples := load(truth, 40, 0, rng)
	for i := range samples {
		samples[i].KVTokens = nan
	}
	samples[7].Prefill = nan
	f := learned(t, samples)
	if f.PerKVToken != 0 || f.Samples != 39 {
		t.Errorf("%+v", f)
	}
	if got := f.Explain(samples[0]); math.IsNaN(got.Total()) || got.KV != 0 {
		t.Errorf("a term that does not matter makes the sum unknown: %+v", got)
	}
	if got := truth.Explain(samples[0]); !math.IsNaN(got.KV) || !math.IsNaN(got.Total()) {
		t.Errorf("a term that matters and is not known is 0: %+v", got)
	}
}

func TestStepsByGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	samples := load(truth, 20, 0, rng)
	for i := range samples {
		samples[i].Steps = 0
	}
	if f := learned(t, samples); !f.ByGap {
		t.Error("gaps are taken for counted steps")
	}
}

func TestSplitAddsUp(t *testing.T) {
	s := Sample{Sequences: 27, KVTokens: 52e3, Prefill: 110, Prompt: 1800}
	got := truth.Explain(s)
	within(t, "fixed", got.Fixed, 6.8e-3, 1e-12)
	within(t, "sequences", got.Sequences, 0.54e-3, 1e-9)
	within(t, "KV", got.KV, 3.38e-3, 1e-9)
	within(t, "prefill", got.Prefill, 3.036e-3, 1e-9)
	within(t, "total", got.Total(), 13.756e-3, 1e-9)
}

// The residual is 1 at any load of the same machine, and the factor by which it is
// slower otherwise.
func TestResidual(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	f := learned(t, load(truth, 60, 0.02, rng))
	heavy := load(truth, 12, 0.02, rng)
	for i := range heavy {
		s := &heavy[i]
		s.Sequences, s.KVTokens, s.Prefill = 4*s.Sequences, 4*s.KVTokens, 4*s.Prefill
		s.Step = truth.Explain(*s).Total()
	}
	slow := load(truth, 12, 0.02, rng)
	for i := range slow {
		slow[i].Step *= 1.96
	}
	for _, tt := range []struct {
		name    string
		samples []Sample
		want    float64
		verdict Verdict
	}{{"more load", heavy, 1, Explained}, {"slower machine", slow, 1.96, Slower}} {
		r, ok := f.Residual(tt.samples)
		if !ok || math.Abs(r-tt.want) > 0.08 || Judge(r) != tt.verdict {
			t.Errorf("%s: %.2f, %v: %v", tt.name, r, ok, Judge(r))
		}
	}
	if _, ok := f.Residual(slow[:2]); ok {
		t.Error("two samples give a residual")
	}
	if _, ok := (Fit{}).Residual(slow); ok {
		t.Error("a fit that explains nothing gives a residual")
	}
	slow[3].Step = nan
	if r, ok := f.Residual(slow); !ok || math.IsNaN(r) {
		t.Error("one unknown sample makes the residual unknown")
	}
}

func TestBands(t *testing.T) {
	for r, want := range map[float64]Verdict{
		0: Unknown, nan: Unknown, -1: Unknown, 0.97: Explained, 1.1499: Explained, 1.15: Between, 1.2999: Between, 1.3: Slower, 2: Slower,
	} {
		if got := Judge(r); got != want {
			t.Errorf("%v is %v, want %v", r, got, want)
		}
	}
}

func TestMean(t *testing.T) {
	a := Sample{At: model.Instant{Mono: 5 * time.Second}, Seconds: 5, Steps: 500, Step: 0.01, Sequences: 10, KVTokens: nan, Prefill: 100, Prompt: 1000}
	b := Sample{At: model.Instant{Mono: 20 * time.Second}, Seconds: 15, Steps: 500, Step: 0.03, Sequences: 30, KVTokens: 6000, Prefill: nan, Prompt: 1000}
	m := Mean([]Sample{a, b})
	within(t, "step", m.Step, 0.025, 1e-12)
	within(t, "sequences", m.Sequences, 25, 1e-12)
	within(t, "KV tokens of those that say", m.KVTokens, 6000, 1e-12)
	within(t, "prefill of those that say", m.Prefill, 100, 1e-12)
	if m.Seconds != 20 || m.Steps != 1000 || m.At != b.At {
		t.Errorf("%+v", m)
	}
	if none := Mean(nil); !math.IsNaN(none.Step) || !math.IsNaN(none.Prompt) {
		t.Errorf("of nothing: %+v", none)
	}
}

// Whatever the samples are, no coefficient is below 0 or no number, and their order
// means nothing.
func FuzzLearn(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), uint64(1))
	f.Add([]byte{255, 254, 0, 0, 0, 0}, uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		samples := fuzzed(data)
		fit, err := Learn(samples)
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		again, errAgain := Learn(samples)
		if (err == nil) != (errAgain == nil) {
			t.Fatalf("%v, in another order %v", err, errAgain)
		}
		if err != nil {
			return
		}
		got := [...]float64{fit.Fixed, fit.PerSequence, fit.PerKVToken, fit.PerPrefill, fit.PerAttention, fit.Error, fit.Span - 1}
		want := [...]float64{again.Fixed, again.PerSequence, again.PerKVToken, again.PerPrefill, again.PerAttention, again.Error, again.Span - 1}
		if got != want {
			t.Fatalf("%+v, in another order %+v", fit, again)
		}
		for _, v := range got {
			if !(v >= 0) || math.IsInf(v, 0) {
				t.Fatalf("%+v", fit)
			}
		}
		if r, ok := fit.Residual(samples); ok && !(r > 0) {
			t.Fatalf("residual %v", r)
		}
	})
}

// fuzzed reads samples out of bytes, among them all that a float can be.
func fuzzed(data []byte) []Sample {
	next := func() float64 {
		if len(data) == 0 {
			return 1
		}
		b := data[0]
		data = data[1:]
		switch b {
		case 255:
			return nan
		case 254:
			return math.Inf(1)
		case 253:
			return -1
		case 252:
			return 1e300
		case 251:
			return 1e-300
		default:
			return math.Exp(float64(b)/16 - 6)
		}
	}
	out := []Sample{}
	for len(data) > 0 && len(out) < 64 {
		out = append(out, Sample{Seconds: 5, Step: next(), Sequences: next(), KVTokens: next(), Prefill: next(), Prompt: next() * 1e4})
	}
	return out
}

func BenchmarkLearn(b *testing.B) {
	samples := load(truth, 360, 0.02, rand.New(rand.NewPCG(1, 1)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Learn(samples); err != nil {
			b.Fatal(err)
		}
	}
}
