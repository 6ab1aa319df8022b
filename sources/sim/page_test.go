package sim

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"slotop/sources/sourcetest/shared"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// parse reads a page strictly.
func parse(t *testing.T, page []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// pageAt is a replica's page at a time of the demo.
func pageAt(t *testing.T, o Options, at time.Duration, replica int) []byte {
	t.Helper()
	s := service(t, o)
	s.Advance(at)
	page, err := s.Replicas()[replica].Page(nil)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// shape says what a family is: its type, its help, the label names of its rows and
// the bounds of its buckets.
func shape(f *dto.MetricFamily) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", strings.ToLower(f.GetType().String()), f.GetHelp())
	names := map[string]bool{}
	for _, m := range f.Metric {
		var row []string
		for _, l := range m.Label {
			row = append(row, l.GetName())
		}
		names[strings.Join(row, ",")] = true
	}
	for _, row := range slices.Sorted(mapKeys(names)) {
		fmt.Fprintf(&b, "  {%s}\n", row)
	}
	if h := f.Metric[0].GetHistogram(); h != nil {
		b.WriteString("  le")
		for _, bucket := range h.Bucket {
			fmt.Fprintf(&b, " %g", bucket.GetUpperBound())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestPageHasTheFamiliesOfARealOne compares with a page of a real vLLM of May 2026:
// every family of it is on ours with the same type, help, labels and bounds.
func TestPageHasTheFamiliesOfARealOne(t *testing.T) {
	want := parse(t, shared.File(t, "corpus/engines/vllm-real-2026-05-qwen36-35b.prom"))
	got := parse(t, pageAt(t, Options{Seed: 1}, 60*time.Second, 0))
	for _, name := range slices.Sorted(mapKeys(want)) {
		if got[name] == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if g, w := shape(got[name]), shape(want[name]); g != w {
			t.Errorf("%s:\ngot  %swant %s", name, g, w)
		}
	}
	for _, name := range slices.Sorted(mapKeys(got)) {
		if want[name] == nil {
			t.Errorf("%s is on no such page", name)
		}
	}
}

// The order of the families, and how a line is written, are those of the real page.
func TestPageIsWrittenAsARealOne(t *testing.T) {
	heads := func(page []byte) []string {
		var out []string
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "# TYPE ") {
				out = append(out, strings.TrimSpace(line))
			}
		}
		return out
	}
	want := heads(shared.File(t, "corpus/engines/vllm-real-2026-05-qwen36-35b.prom"))
	got := heads(pageAt(t, Options{Seed: 1}, 60*time.Second, 0))
	if !slices.Equal(got, want) {
		t.Errorf("order of families:\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// TestShapeOfThePage holds the families where the real page is not at hand.
func TestShapeOfThePage(t *testing.T) {
	var b strings.Builder
	families := parse(t, pageAt(t, Options{Seed: 1}, 60*time.Second, 0))
	for _, name := range slices.Sorted(mapKeys(families)) {
		fmt.Fprintf(&b, "%s %s", name, shape(families[name]))
	}
	golden(t, "families.txt", []byte(b.String()))
}

// TestPageOfChat holds the numbers of one served name, after half a minute.
func TestPageOfChat(t *testing.T) {
	var b bytes.Buffer
	for line := range bytes.Lines(pageAt(t, Options{Seed: 1}, 30*time.Second, 0)) {
		if bytes.Contains(line, []byte(`model_name="chat"`)) && !bytes.Contains(line, []byte("_created{")) {
			b.Write(line)
		}
	}
	golden(t, "chat-30s.prom", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is kept; look at the difference and run with -update", path)
	}
}

// numbers adds up a family over its rows; of a histogram, count and sum.
func numbers(f *dto.MetricFamily, label, is string) (count, sum float64) {
	for _, m := range f.GetMetric() {
		if label != "" && !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool {
			return l.GetName() == label && l.GetValue() == is
		}) {
			continue
		}
		switch {
		case m.Histogram != nil:
			count += float64(m.Histogram.GetSampleCount())
			sum += m.Histogram.GetSampleSum()
		case m.Gauge != nil:
			sum += m.Gauge.GetValue()
		case m.Counter != nil:
			sum += m.Counter.GetValue()
		}
	}
	return count, sum
}

// TestPageTellsTheTruth adds up what the page says and compares it, to the last
// token, with the events of the requests, in an overload with preemptions and aborts.
func TestPageTellsTheTruth(t *testing.T) {
	s := service(t, Options{Seed: 3, Replicas: 1, Scenario: "S1", At: 30 * time.Second})
	m := &meter{sim: s}
	m.watch(0, 240*time.Second)
	page, err := s.Replicas()[0].Page(nil)
	if err != nil {
		t.Fatal(err)
	}
	families := parse(t, page)
	for _, w := range DemoWorkflows() {
		t.Run(w.Name, func(t *testing.T) {
			var finished, aborted, limited, prompt, output, e2e, decode, tpot, queue float64
			for _, e := range m.events {
				if e.Workflow != w.Name {
					continue
				}
				if e.Outcome == Aborted {
					aborted++
					continue
				}
				finished++
				if e.Outcome == LengthReached {
					limited++
				}
				prompt += float64(e.PromptTokens)
				output += float64(e.OutputTokens)
				e2e += (e.Finish - e.Received).Seconds()
				decode += (e.Finish - e.FirstToken).Seconds()
				queue += (e.Scheduled - e.Received).Seconds() - 0.004
				if per, ok := e.TPOT(); ok {
					tpot += per.Seconds()
				}
			}
			read := func(name string) (float64, float64) {
				return numbers(families["vllm:"+name], "model_name", w.Name)
			}
			for _, c := range []struct {
				name       string
				count, sum float64
			}{
				{"e2e_request_latency_seconds", finished, e2e},
				{"request_decode_time_seconds", finished, decode},
				{"request_queue_time_seconds", finished, queue},
				{"request_time_per_output_token_seconds", finished, tpot},
				{"request_prompt_tokens", finished, prompt},
				{"request_generation_tokens", finished, output},
			} {
				count, sum := read(c.name)
				if count != c.count || sum < c.sum*(1-1e-6) || sum > c.sum*(1+1e-6) {
					t.Errorf("%s: %v and %v, in truth %v and %v", c.name, count, sum, c.count, c.sum)
				}
			}
			_, all := read("request_success_total")
			if all != finished+aborted {
				t.Errorf("request_success_total %v, in truth %v finished and %v aborted", all, finished, aborted)
			}
			if w.Name == "chat" && (aborted == 0 || limited == 0) {
				t.Errorf("%v aborted, %v cut: the run does not test them", aborted, limited)
			}
		})
	}
}

// TestIdentitiesOfThePage are the cross-checks that hold in real captures.
func TestIdentitiesOfThePage(t *testing.T) {
	for _, id := range []string{"S0", "S1"} {
		s := service(t, Options{Seed: 5, Scenario: id, At: 20 * time.Second})
		for at := 15 * time.Second; at <= 120*time.Second; at += 15 * time.Second {
			s.Advance(at)
			for _, r := range s.Replicas() {
				page, err := r.Page(nil)
				if err != nil {
					t.Fatal(err)
				}
				checkIdentities(t, parse(t, page), r)
			}
		}
	}
}

func checkIdentities(t *testing.T, families map[string]*dto.MetricFamily, r *Replica) {
	t.Helper()
	sum := func(name string) float64 { _, v := numbers(families[name], "", ""); return v }
	count := func(name string) float64 { n, _ := numbers(families[name], "", ""); return n }
	arrived := float64(r.totals.arrived)
	var unseen float64 // in the front end still
	for i := range r.front.len() {
		if r.front.at(i).queued > r.sim.now {
			unseen++
		}
	}
	for _, c := range []struct {
		what string
		a, b float64
	}{
		{"gaps = tokens − first tokens", count("vllm:inter_token_latency_seconds"),
			sum("vllm:generation_tokens_total") - count("vllm:time_to_first_token_seconds")},
		{"running + waiting = arrived − ended", sum("vllm:num_requests_running") + sum("vllm:num_requests_waiting"),
			arrived - unseen - sum("vllm:request_success_total")},
		{"waiting by reason", sum("vllm:num_requests_waiting_by_reason"), sum("vllm:num_requests_waiting")},
		{"prompt tokens by source", sum("vllm:prompt_tokens_by_source_total"), sum("vllm:prompt_tokens_total")},
		{"step tokens", sum("vllm:iteration_tokens_total"),
			sum("vllm:prompt_tokens_total") + sum("vllm:generation_tokens_total")},
		{"HTTP answers", sum("http_requests_total"), sum("vllm:request_success_total") + 1},
	} {
		if c.a != c.b {
			t.Errorf("at %v: %s: %v and %v", r.sim.now, c.what, c.a, c.b)
		}
	}
}

func TestPageAllocatesNothing(t *testing.T) {
	s := service(t, Options{Seed: 1})
	s.Advance(60 * time.Second)
	r := s.Replicas()[0]
	page, err := r.Page(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() { page, _ = r.Page(page[:0]) }); n != 0 {
		t.Errorf("%v allocations a page", n)
	}
}

func TestPageAppends(t *testing.T) {
	s := service(t, Options{Seed: 1})
	page, err := s.Replicas()[0].Page([]byte("before\n"))
	if err != nil || !bytes.HasPrefix(page, []byte("before\n# HELP python_gc")) {
		t.Errorf("%v, %.40s", err, page)
	}
}
