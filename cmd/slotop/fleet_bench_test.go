package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
)

// BenchmarkFleet watches fleets for some seconds each, the screen aside, and
// says what that costs. The pages come from a process of their own, so that the
// watcher alone is counted. The budgets, for a thousand engines of 34 KB: cpu-%
// 15 at 5 s and 80 at 1 s, rss-MB 250, late-ms-max 250, first-frame-ms 500.
func BenchmarkFleet(b *testing.B) {
	for _, w := range []fleetWatch{
		{name: "1000x5s", targets: 1000, every: 5 * time.Second, polls: 2},
		{name: "1000x1s", targets: 1000, every: time.Second, polls: 7},
		{name: "1000x5s-apart", targets: 1000, every: 5 * time.Second, polls: 2, apart: true},
		{name: "100x2s", targets: 100, every: 2 * time.Second, polls: 3},
	} {
		b.Run(w.name, func(b *testing.B) {
			for b.Loop() {
				w.run(b)
			}
		})
	}
}

// fleetWatch is a fleet and how it is watched.
type fleetWatch struct {
	name    string
	targets int
	every   time.Duration
	polls   int  // of each target that count, after those of the start
	apart   bool // no series of one target has the labels of another's
}

// startUp is how long the start of a fleet may disturb what is measured after it.
const startUp = 4 * time.Second

// run watches the fleet through the start and for the polls that count.
func (w fleetWatch) run(b *testing.B) {
	opened := openFleet(b, w)
	starts := make([]*pollStarts, len(opened))
	for i := range opened {
		starts[i] = &pollStarts{Source: opened[i].Source}
		opened[i].Source = starts[i]
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: w.every})
	if err != nil {
		b.Fatal(err)
	}
	steady := time.Duration(w.polls) * w.every
	ctx, cancel := context.WithTimeout(b.Context(), startUp+steady)
	defer cancel()
	var before time.Duration
	time.AfterFunc(startUp, func() { before = cpuTime() })
	begun := time.Now()
	var firstFrame, firstRows time.Duration
	failed, rss := 0, 0.0
	if err := sources.Run(ctx, opened, sources.RunOptions{Every: w.every}, func(in model.Input) {
		c.take(in)
		if in.Batch != nil && in.Batch.Fault != nil {
			failed++
		}
		if !in.IsTick() {
			return
		}
		rss = max(rss, residentMB(b))
		f := c.box.latest()
		if firstFrame == 0 && anyGood(f) {
			firstFrame = time.Since(begun)
		}
		if firstRows == 0 && settled(f, 1) {
			firstRows = time.Since(begun)
		}
	}); err != nil {
		b.Fatal(err)
	}
	cpu := cpuTime() - before
	if failed > 0 || firstRows == 0 {
		b.Errorf("%d polls failed, first rows after %v", failed, firstRows)
	}
	late, lost := lateness(starts, begun.Add(startUp), w)
	b.ReportMetric(100*cpu.Seconds()/steady.Seconds(), "cpu-%")
	b.ReportMetric(rss, "rss-MB") // at its most
	b.ReportMetric(heapMB(c, opened), "heap-MB")
	b.ReportMetric(milliseconds(late[len(late)*99/100]), "late-ms-p99")
	b.ReportMetric(milliseconds(late[len(late)-1]), "late-ms-max")
	b.ReportMetric(milliseconds(firstFrame), "first-frame-ms")
	b.ReportMetric(milliseconds(firstRows), "first-rows-ms")
	b.ReportMetric(float64(lost), "lost-polls")
	b.ReportMetric(0, "ns/op") // the time is chosen, not measured
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// pollStarts notes when the polls of a source start.
type pollStarts struct {
	sources.Source
	at []time.Time
}

// Poll implements sources.Source.
func (s *pollStarts) Poll(ctx context.Context) (model.Batch, error) {
	s.at = append(s.at, time.Now())
	return s.Source.Poll(ctx)
}

// lateness is how late each poll after an instant was, sorted, and how many of
// those that were due never came. A target is polled on a grid of its own; its
// most punctual poll shows where that lies.
func lateness(starts []*pollStarts, after time.Time, w fleetWatch) (late []time.Duration, lost int) {
	for _, s := range starts {
		var offsets []time.Duration
		for _, at := range s.at {
			if d := at.Sub(after); d > 0 {
				offsets = append(offsets, d%w.every)
			}
		}
		lost += max(0, w.polls-1-len(offsets))
		late = append(late, behind(offsets, w.every)...)
	}
	slices.Sort(late)
	return late, lost
}

// behind is how far each offset lies after the point from which all of them
// are nearest: offsets just before and just after the turn are close together.
func behind(offsets []time.Duration, every time.Duration) []time.Duration {
	best := make([]time.Duration, 0, len(offsets))
	least := time.Duration(-1)
	for _, from := range offsets {
		var all []time.Duration
		sum := time.Duration(0)
		for _, o := range offsets {
			d := (o - from + every) % every
			all, sum = append(all, d), sum+d
		}
		if least < 0 || sum < least {
			best, least = all, sum
		}
	}
	return best
}

// cpuTime is what this process has computed so far; its children do not count.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func residentMB(tb testing.TB) float64 {
	tb.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		tb.Fatalf("needs /proc: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		tb.Fatal(err)
	}
	return float64(pages) * float64(os.Getpagesize()) / 1e6
}

// heapMB is what is in use for good while keep is.
func heapMB(keep ...any) float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(keep)
	return float64(m.HeapAlloc) / 1e6
}

// openFleet starts the server and opens its engines.
func openFleet(b *testing.B, w fleetWatch) []sources.Opened {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServeFleet$")
	cmd.Env = append(os.Environ(), fleetServer+"="+strconv.FormatBool(w.apart))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	args := make([]string, w.targets)
	for i := range args {
		args[i] = fmt.Sprintf("http://%s/engine/%d/metrics", strings.TrimSpace(address), i)
	}
	opened, err := sources.Resolve(b.Context(), args, sources.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return opened
}

// fleetServer, in the environment, makes TestServeFleet serve: "true" where the
// pages are to have nothing in common.
const fleetServer = "SLOTOP_TEST_FLEET"

// TestServeFleet is the other process of BenchmarkFleet.
func TestServeFleet(t *testing.T) {
	mode := os.Getenv(fleetServer)
	if mode == "" {
		t.Skip("serves the pages of BenchmarkFleet in a process of its own")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: newFleetPages(mode == "true")}
	fmt.Println(l.Addr())
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); _ = server.Close() }()
	if err := server.Serve(l); err != http.ErrServerClosed {
		t.Fatal(err)
	}
}

// fleetPages serves the pages of a fleet: every engine moves with each poll.
type fleetPages struct {
	apart bool
	pages [fleetModels][fleetSteps][]byte
	polls [4096]atomic.Int32 // of each engine
}

const (
	fleetModels = 4
	fleetSteps  = 32 // after which an engine stands still
	nobody      = "replica-00000"
)

func newFleetPages(apart bool) *fleetPages {
	f := &fleetPages{apart: apart}
	for m := range f.pages {
		for n := range f.pages[m] {
			f.pages[m][n] = fleetPage(m, n, apart)
		}
	}
	return f
}

// ServeHTTP implements http.Handler.
func (f *fleetPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.Split(r.URL.Path, "/")[2])
	if err != nil || i >= len(f.polls) {
		http.NotFound(w, r)
		return
	}
	n := min(int(f.polls[i].Add(1)), fleetSteps-1)
	page := f.pages[i%fleetModels][n]
	if f.apart {
		page = bytes.ReplaceAll(page, []byte(nobody), fmt.Appendf(nil, "replica-%05d", i))
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	_, _ = w.Write(page)
}

var (
	fleetBounds = []string{
		"0.001", "0.005", "0.01", "0.02", "0.04", "0.06", "0.08", "0.1", "0.25", "0.5", "0.75",
		"1.0", "2.5", "5.0", "7.5", "10.0", "20.0", "40.0", "80.0", "160.0", "640.0", "2560.0",
	}
	fleetGauges = []string{
		"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc", "vllm:engine_sleep_state",
	}
	fleetCounters = []string{
		"vllm:prompt_tokens", "vllm:generation_tokens", "vllm:num_preemptions",
		"vllm:prefix_cache_hits", "vllm:prefix_cache_queries",
		"vllm:request_success{finished_reason=stop}", "vllm:request_success{finished_reason=length}",
	}
	fleetHistograms = []string{
		"vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds", "vllm:e2e_request_latency_seconds",
		"vllm:request_queue_time_seconds", "vllm:request_prefill_time_seconds", "vllm:request_decode_time_seconds",
		"vllm:request_time_per_output_token_seconds", "vllm:request_inference_time_seconds",
		"vllm:request_prompt_tokens", "vllm:request_generation_tokens", "vllm:request_params_n",
		"vllm:request_max_num_generation_tokens", "vllm:iteration_tokens_total",
	}
)

// fleetPage is a page of some 34 KB as vLLM writes it, at an engine's n-th poll:
// most requests fall into the buckets in the middle.
func fleetPage(m, n int, apart bool) []byte {
	var b bytes.Buffer
	labels := fmt.Sprintf(`engine="0",model_name="acme/chat-%d"`, m)
	if apart {
		labels += `,replica="` + nobody + `"`
	}
	head := func(name, typ string) {
		fmt.Fprintf(&b, "# HELP %s What this family counts, in a sentence.\n# TYPE %s %s\n", name, name, typ)
	}
	head("process_start_time_seconds", "gauge")
	fmt.Fprintln(&b, "process_start_time_seconds 1.75959995863e+09")
	for i, name := range fleetGauges {
		head(name, "gauge")
		fmt.Fprintf(&b, "%s{%s} %v\n", name, labels, float64((n*7+i)%11)/10)
	}
	for i, name := range fleetCounters {
		name, reason, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		if reason != "" {
			reason = "," + strings.Replace(reason, "=", `="`, 1) + `"`
		}
		if i == 0 || !strings.HasPrefix(fleetCounters[i-1], name) {
			head(name+"_total", "counter")
		}
		fmt.Fprintf(&b, "%s_total{%s%s} %d.0\n", name, labels, reason, 1000+n*(i+3))
	}
	for _, name := range fleetHistograms {
		head(name, "histogram")
		for i, le := range fleetBounds {
			fmt.Fprintf(&b, "%s_bucket{le=\"%s\",%s} %d.0\n", name, le, labels, (40+n)*min(max(i-4, 0), 10))
		}
		fmt.Fprintf(&b, "%s_bucket{le=\"+Inf\",%s} %d.0\n", name, labels, (40+n)*10)
		fmt.Fprintf(&b, "%s_count{%s} %d.0\n%s_sum{%s} %v\n", name, labels, (40+n)*10, name, labels, float64(n)*1.37+0.123)
	}
	return b.Bytes()
}

// The pages are what they are meant to be.
func TestFleetPages(t *testing.T) {
	if n := len(fleetPage(0, 1, false)); n < 30_000 || n > 38_000 {
		t.Errorf("a page has %d bytes", n)
	}
}
