package expo

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var (
	benchBounds = []string{
		"0.001", "0.005", "0.01", "0.02", "0.04", "0.06", "0.08", "0.1", "0.25", "0.5", "0.75",
		"1.0", "2.5", "5.0", "7.5", "10.0", "20.0", "40.0", "80.0", "160.0", "640.0", "2560.0", "+Inf",
	}
	benchGauges     = []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc", "engine_sleep_state"}
	benchCounters   = []string{"prompt_tokens", "generation_tokens", "num_preemptions", "prefix_cache_hits", "prefix_cache_queries"}
	benchHistograms = []string{
		"time_to_first_token_seconds", "inter_token_latency_seconds", "e2e_request_latency_seconds",
		"request_queue_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds",
		"request_time_per_output_token_seconds", "request_prompt_tokens", "request_generation_tokens",
	}
)

// benchPage is a page as a busy vLLM with ten data-parallel engines writes it at
// poll n: 2,600 lines, 250 KB. From one poll to the next the even engines work,
// so about half of the lines change.
func benchPage(n int) []byte {
	var b bytes.Buffer
	const model = `model_name="acme/chat-70b-instruct"`
	row := func(name, labels string, engine int, scale float64) {
		steps := n * (1 - engine%2)
		fmt.Fprintf(&b, "vllm:%s{%sengine=\"%d\",%s} %s\n", name, labels, engine, model, pythonFloat(scale*float64(1000*engine+37*steps+11)))
	}
	head := func(name, typ string) {
		fmt.Fprintf(&b, "# HELP vllm:%s What this family counts, in a sentence.\n# TYPE vllm:%s %s\n", name, name, typ)
	}
	for _, name := range benchGauges {
		head(name, "gauge")
		for e := range 10 {
			row(name, "", e, 0.001)
		}
	}
	for _, name := range benchCounters {
		head(name+"_total", "counter")
		for e := range 10 {
			row(name+"_total", "", e, 1)
		}
	}
	for _, name := range benchHistograms {
		head(name, "histogram")
		for e := range 10 {
			for i, le := range benchBounds {
				row(name+"_bucket", `le="`+le+`",`, e, float64(i+1))
			}
			row(name+"_count", "", e, float64(len(benchBounds)))
			row(name+"_sum", "", e, 0.0137)
		}
	}
	return b.Bytes()
}

// pythonFloat writes a number as python's repr does.
func pythonFloat(v float64) string {
	text := bound(v)
	for _, c := range text {
		if c == '.' || c == 'e' || c == 'N' || c == 'I' {
			return text
		}
	}
	return text + ".0"
}

func warm(tb testing.TB, pages ...[]byte) *Scanner {
	tb.Helper()
	s := NewScanner(Limits{})
	for range 2 {
		for _, body := range pages {
			if _, err := s.Scan(body); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return s
}

func BenchmarkSteady(b *testing.B) {
	pages := [2][]byte{benchPage(1), benchPage(2)}
	s := warm(b, pages[:]...)
	b.SetBytes(int64(len(pages[0])))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.Scan(pages[i%2]); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	theirs := best(20, func(int) { parseExpfmt(b, pages[0]) })
	ours := best(200, func(i int) { _, _ = s.Scan(pages[i%2]) })
	b.ReportMetric(float64(theirs)/float64(ours), "x-expfmt")
}

// best is the shortest of n runs: what else the machine does favours neither side.
func best(n int, run func(i int)) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for i := range n {
		start := time.Now()
		run(i)
		shortest = min(shortest, time.Since(start))
	}
	return shortest
}

func parseExpfmt(b *testing.B, body []byte) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(bytes.NewReader(body)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkExpfmt(b *testing.B) {
	body := benchPage(1)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		parseExpfmt(b, body)
	}
}

// BenchmarkFirst is a target's first page: everything is new.
func BenchmarkFirst(b *testing.B) {
	body := benchPage(1)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewScanner(Limits{}).Scan(body); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReordered is a page whose families change places at every poll.
func BenchmarkReordered(b *testing.B) {
	pages := [2][]byte{benchPage(1), reorder(benchPage(2), 7)}
	s := warm(b, pages[:]...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.Scan(pages[i%2]); err != nil {
			b.Fatal(err)
		}
	}
}
