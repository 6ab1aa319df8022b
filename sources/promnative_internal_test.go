package sources

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/model"
	"slotop/sources/dialect"
	"slotop/sources/sourcetest/shared"
)

// nativeTrack follows TTFT where it is a native histogram.
func nativeTrack(t testing.TB) *track {
	t.Helper()
	set, err := dialect.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	name := "vllm:time_to_first_token_seconds"
	views, _ := set.Views([]string{name}, map[string]float64{name: 1}, "")
	on := newSeen(views[0])
	return &track{tag: "0", read: views[0].Reads()[0], on: on}
}

// gain gives the track one answer, of what was gained since the last.
func (t *track) gain(at time.Time, h *prommodel.SampleHistogram) {
	t.start()
	t.note(&prommodel.Sample{Metric: prommodel.Metric{"model_name": "m"}, Histogram: h})
	t.finish()
	t.walk(at, t.got, 1)
	t.showCounts(at)
}

// nativeOf is a native histogram of a schema that holds values.
func nativeOf(schema float64, values []float64) *prommodel.SampleHistogram {
	h := &prommodel.SampleHistogram{}
	per := math.Exp2(schema)
	byUpper := map[float64]*prommodel.HistogramBucket{}
	for _, v := range values {
		k := math.Ceil(math.Log2(v) * per)
		up := math.Exp2(k / per)
		if byUpper[up] == nil {
			byUpper[up] = &prommodel.HistogramBucket{Lower: prommodel.FloatString(math.Exp2((k - 1) / per)), Upper: prommodel.FloatString(up)}
			h.Buckets = append(h.Buckets, byUpper[up])
		}
		byUpper[up].Count++
		h.Count++
		h.Sum += prommodel.FloatString(v)
	}
	slices.SortFunc(h.Buckets, func(a, b *prommodel.HistogramBucket) int { return int(math.Copysign(1, float64(a.Upper-b.Upper))) })
	return h
}

// Buckets of native histograms come together exactly on the bounds of a coarser
// schema, whatever the schemas of the answers, and stay there.
func TestNativeHistogramsComeTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tr := nativeTrack(t)
	at := time.Unix(1_800_000_000, 0)
	tr.begin(at)
	var all []float64
	for i, schema := range []float64{8, 3, 5, 2, 4, 1} {
		var values []float64
		for range 1000 {
			values = append(values, math.Exp(rng.NormFloat64()*1.5-2))
		}
		all = append(all, values...)
		tr.gain(at.Add(time.Duration(i+1)*time.Minute), nativeOf(schema, values))
	}
	if tr.native.schema != 1 {
		t.Fatalf("the bounds are those of schema %v, the coarsest was 1", tr.native.schema)
	}
	samples := tr.on.read(nil)
	if len(samples) != 1 || samples[0].Signal != model.TTFT {
		t.Fatalf("samples %v", samples)
	}
	h := samples[0].Hist
	if h.N() != float64(len(all)) || h.Incomplete {
		t.Errorf("%v observations, want %d; incomplete %v", h.N(), len(all), h.Incomplete)
	}
	for i, bound := range h.Bounds {
		below := 0.0
		for _, v := range all {
			if v <= bound {
				below++
			}
		}
		// What came before the bounds were known to be there is in a bucket above.
		if h.Counts[i] != below {
			t.Errorf("%v at most %v, want %v", h.Counts[i], bound, below)
		}
	}
}

// Histograms that were converted from classic ones keep their bounds, and a bucket
// that fills late has its place.
func TestConvertedHistogramsKeepTheirBounds(t *testing.T) {
	body := shared.File(t, "corpus/captures/prometheus-3.14.0/q-nhcb.json")
	var answer struct {
		Data struct {
			Result prommodel.Vector `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	tr := nativeTrack(t)
	at := time.Unix(1_800_000_000, 0)
	tr.begin(at)
	h := answer.Data.Result[0].Histogram
	tr.gain(at.Add(time.Minute), h)
	h.Buckets = append(h.Buckets, &prommodel.HistogramBucket{Lower: 2.5, Upper: 5, Count: 4}, &prommodel.HistogramBucket{Lower: 5, Upper: prommodel.FloatString(math.Inf(1)), Count: 1})
	h.Count += 5
	tr.gain(at.Add(2*time.Minute), h)
	samples := tr.on.read(nil)
	if len(samples) != 1 {
		t.Fatalf("samples %v", samples)
	}
	got := samples[0].Hist
	if want := []float64{0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 5}; !slices.Equal(got.Bounds, want) {
		t.Errorf("bounds %v, want %v", got.Bounds, want)
	}
	if want := []float64{2, 6, 74, 208, 448, 660, 1130, 1268, 1272, 1273}; !slices.Equal(got.Counts, want) {
		t.Errorf("counts %v, want %v", got.Counts, want)
	}
}

// The captured native histograms are told apart from converted ones.
func TestSchemas(t *testing.T) {
	dir := shared.Dir(t, "corpus/captures/prometheus-3.14.0")
	for name, want := range map[string]float64{"q-native.json": 3, "q-native-rate.json": 3, "q-nhcb.json": math.NaN()} {
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Data struct {
				Result prommodel.Vector `json:"result"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		for _, s := range answer.Data.Result {
			schema, ok := schemaOf(s.Histogram)
			if ok != (want == want) || ok && schema != want {
				t.Errorf("%s: schema %v, %v, want %v", name, schema, ok, want)
			}
		}
	}
}

// FuzzNative: whatever buckets an answer has, what is made of them is a histogram.
func FuzzNative(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 0.5, 1.0, 7.0)
	f.Add(-1.0, 1.0, 3.0, math.Inf(-1), 0.25, 1.0)
	f.Add(0.1, math.Inf(1), 3.0, math.NaN(), 0.0, -1.0)
	f.Fuzz(func(t *testing.T, l1, u1, n1, l2, u2, n2 float64) {
		tr := nativeTrack(t)
		at := time.Unix(1_800_000_000, 0)
		tr.begin(at)
		for i := range 3 {
			h := &prommodel.SampleHistogram{Count: prommodel.FloatString(n1 + n2), Buckets: prommodel.HistogramBuckets{
				{Lower: prommodel.FloatString(l1), Upper: prommodel.FloatString(u1), Count: prommodel.FloatString(n1)},
				{Lower: prommodel.FloatString(l2 * float64(i)), Upper: prommodel.FloatString(u2), Count: prommodel.FloatString(n2)},
			}}
			tr.gain(at.Add(time.Duration(i+1)*time.Minute), h)
		}
		for _, s := range tr.on.read(nil) {
			for i := 1; i < len(s.Hist.Bounds); i++ {
				if !(s.Hist.Bounds[i-1] < s.Hist.Bounds[i]) {
					t.Fatalf("bounds %v", s.Hist.Bounds)
				}
			}
			for i := 1; i < len(s.Hist.Counts); i++ {
				if s.Hist.Counts[i] < s.Hist.Counts[i-1] {
					t.Fatalf("counts %v", s.Hist.Counts)
				}
			}
		}
	})
}
