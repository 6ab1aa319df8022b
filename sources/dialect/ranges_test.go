package dialect

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"slotop/model"
)

func TestSpans(t *testing.T) {
	inf := math.Inf(1)
	for text, want := range map[string]span{
		"[100-200)": {100, 200}, "100-200ms": {100, 200}, "0-1ms": {0, 1}, "5000ms+": {5000, inf}, "32768+": {32768, inf},
		"[5000+]": {5000, inf}, "[0.5-1.5)": {0.5, 1.5},
	} {
		if got, ok := spanOf(text); !ok || got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "fast", "200", "200-100", "a-b", "-5-7", "NaN-3", "1-NaN", "5-5"} {
		if got, ok := spanOf(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestEdges(t *testing.T) {
	inf := math.Inf(1)
	known := [][]float64{{100, 250, 1000}, {1, 100, 200}}
	for _, c := range []struct {
		name  string
		spans []span
		want  []float64
	}{
		{"the first list", []span{{100, 250}, {1000, inf}}, known[0]},
		{"both fit: the first", []span{{0, 100}}, known[0]},
		{"the second", []span{{1, 100}, {100, 200}}, known[1]},
		{"an edge of the list within a span", []span{{100, 1000}}, []float64{100, 1000}},
		{"no list", []span{{5, 50}, {50, 70}, {300, inf}}, []float64{5, 50, 70, 300}},
		{"spans that overlap", []span{{0, 100}, {50, 200}}, []float64{200}},
	} {
		if got := edgesOf(c.spans, known); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// aibrix is a page of its gateway plugin, a count a bucket.
func aibrix(name string, counts map[string]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# TYPE %s counter\n", name)
	for _, bucket := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%s{bucket=%q,gateway_pod=\"p\",model=\"m\"} %v\n", name, bucket, counts[bucket])
	}
	return b.String()
}

// A bucket that nothing fell into is no change of the histogram's edges.
func TestBucketsAsCounters(t *testing.T) {
	p := newPoller(t)
	const ttft = "gateway_ttft_bucket_total"
	h := p.poll(aibrix(ttft, map[string]float64{"200-500ms": 3, "5000ms+": 1})).only(model.TTFT).Hist
	bounds := slices.Clone(h.Bounds)
	if !slices.Equal(bounds, []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}) {
		t.Errorf("bounds %v", bounds)
	}
	if !slices.Equal(h.Counts, []float64{0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 4}) || h.Sum.OK() {
		t.Errorf("counts %v, sum %v", h.Counts, h.Sum)
	}
	h = p.poll(aibrix(ttft, map[string]float64{"1-2ms": 2, "200-500ms": 5, "5000ms+": 1})).only(model.TTFT).Hist
	if !slices.Equal(h.Bounds, bounds) || !slices.Equal(h.Counts, []float64{0, 2, 2, 2, 2, 2, 2, 2, 7, 7, 7, 7, 8}) {
		t.Errorf("bounds %v, counts %v", h.Bounds, h.Counts)
	}
	// One that is gone stands still, until the server begins anew.
	h = p.poll(aibrix(ttft, map[string]float64{"1-2ms": 2, "200-500ms": 6})).only(model.TTFT).Hist
	if h.N() != 9 {
		t.Errorf("n %v without the last bucket", h.N())
	}
	h = p.poll(aibrix(ttft, map[string]float64{"200-500ms": 1})).only(model.TTFT).Hist
	if h.N() != 1 {
		t.Errorf("n %v after a restart", h.N())
	}
}

func TestBucketsOfTwoReleases(t *testing.T) {
	const e2e = "gateway_total_time_bucket_total"
	for _, c := range []struct {
		counts map[string]float64
		bounds []float64
	}{
		{map[string]float64{"1000-5000ms": 2, "60000ms+": 1}, []float64{0.1, 0.25, 0.5, 1, 5, 20, 60}},
		{map[string]float64{"1000-2000ms": 2, "5000ms+": 1}, []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}},
	} {
		h := readPage(t, aibrix(e2e, c.counts)).only(model.E2E).Hist
		if !slices.Equal(h.Bounds, c.bounds) || h.N() != 3 || h.Counts[len(h.Counts)-2] != 2 {
			t.Errorf("%v: bounds %v, counts %v", c.counts, h.Bounds, h.Counts)
		}
	}
	r := readPage(t, aibrix(e2e, map[string]float64{"some": 2})+"gateway_model_in_flight_requests{model=\"m\"} 1\n")
	r.none(model.E2E)
}

// What a bad line may hide has no value, and pages of two models are two histograms.
func TestBucketsThatAreHidden(t *testing.T) {
	p := newPoller(t)
	const ttft = "gateway_ttft_bucket_total"
	p.poll(aibrix(ttft, map[string]float64{"200-500ms": 3, "5000ms+": 1}))
	body := aibrix(ttft, map[string]float64{"200-500ms": 4}) + ttft + "{bucket=\"5000ms+\",model=\"m\n"
	if all := p.poll(body).of(model.TTFT); len(all) != 0 {
		t.Errorf("TTFT %v", all)
	}
	two := aibrix(ttft, map[string]float64{"200-500ms": 4}) + strings.ReplaceAll(aibrix(ttft, map[string]float64{"1-2ms": 7}), `"m"`, `"n"`)
	readPage(t, two).wants(model.TTFT, map[string]float64{"m": 4, "n": 7})
}

func BenchmarkReadRanges(b *testing.B) {
	p := newPoller(b)
	counts := map[string]float64{}
	for i := range 12 {
		counts[fmt.Sprintf("%d-%dms", 1<<i, 1<<(i+1))] = float64(i)
	}
	body := aibrix("gateway_ttft_bucket_total", counts)
	p.poll(body)
	page, err := p.scanner.Scan([]byte(body))
	if err != nil {
		b.Fatal(err)
	}
	var samples []model.Sample
	b.ReportAllocs()
	for b.Loop() {
		samples = p.plan.Read(page, samples[:0])
	}
}
