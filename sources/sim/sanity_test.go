package sim

import (
	"math"
	"strconv"
	"testing"
	"time"
)

// ShareGPT-like lengths of the published burst: 1000 prompts with 197k tokens in
// and 215k out. Only the sums are published; the spread is a guess.
// The published rate times its mean gap needs some 380 running at once, so the run
// was not held to the demo's cap of 256 sequences but to the server's 1024.
func TestBurst(t *testing.T) {
	limits := DemoLimits()
	limits.TokenBudget, limits.Sequences = serverBudget, 1024
	s := service(t, Options{Seed: 1, Replicas: 1, Limits: limits, Workflows: []Workflow{{
		Name: "burst", Clients: 1000, Total: 1000, MaxOutput: 1024,
		Prompt: Lengths{4.44, 1.3}, Output: Lengths{5.0, 0.95}}}})
	got := (&meter{sim: s}).watch(0, 60*time.Second)
	if len(got.ended) != 1000 {
		t.Fatalf("%d of 1000 ended", len(got.ended))
	}
	var in, out int
	for _, e := range got.ended {
		in, out = in+e.PromptTokens, out+e.OutputTokens
	}
	near(t, "tokens in", float64(in), 197e3, 0.10)
	near(t, "tokens out", float64(out), 215e3, 0.10)
	near(t, "duration s", got.ended[999].Finish.Seconds(), 23, 0.20)
	near(t, "TPOT p50 ms", quantile(got.answered("", tpotOf), 0.5)*1e3, 53, 0.20)
	near(t, "ITL mean ms", got.gap*1e3, 41, 0.20)
	gaps := &s.replicas[0].names[0].gap
	for q, published := range map[float64]float64{0.5: 0.030, 0.99: 0.255} {
		if lo, hi := bucketOf(gaps, q); published <= lo || published > hi {
			t.Errorf("ITL p%v in (%v, %v] s, published %v s", q*100, lo, hi, published)
		}
	}
}

// bucketOf is the edges of the bucket in which a quantile lies.
func bucketOf(h *histogram, q float64) (lo, hi float64) {
	rank, sum := q*h.count(), 0.0
	for i, c := range h.counts[:len(h.bounds)] {
		sum += c
		hi = h.bounds[i]
		if sum >= rank {
			return lo, hi
		}
		lo = hi
	}
	return lo, math.Inf(1)
}

// closed runs a closed loop of equal requests on one replica.
func closed(t *testing.T, m Machine, clients, prompt, output, budget int, warm, measured time.Duration) span {
	t.Helper()
	limits := DemoLimits()
	limits.TokenBudget = budget
	s := service(t, Options{Seed: 1, Replicas: 1, Machine: m, Limits: limits, Workflows: []Workflow{
		{Name: "loop", Clients: clients, Prompt: fixed(prompt), Output: fixed(output)}}})
	return (&meter{sim: s}).watch(warm, warm+measured)
}

// serverBudget is the token budget that a server on an H100 starts with.
const serverBudget = 8192

func TestClosedLoopFP8(t *testing.T) {
	published(t)
	for _, c := range []struct {
		clients     int
		gap, output float64 // ms and tokens/s
	}{
		{1, 4.13, 242}, {25, 4.70, 4877}, {50, 5.63, 8037}, {100, 7.96, 11608},
		{150, 10.5, 13403}, {200, 13.1, 14407}, {250, 15.9, 15019},
	} {
		t.Run(strconv.Itoa(c.clients), func(t *testing.T) {
			got := closed(t, h100FP8(), c.clients, 200, 200, serverBudget, 20*time.Second, 60*time.Second)
			near(t, "ITL ms", got.gap*1e3, c.gap, 0.05)
			near(t, "output tok/s", got.output, c.output, 0.05)
		})
	}
}

func TestClosedLoopBF16(t *testing.T) {
	published(t)
	for _, c := range []struct {
		prompt, answer, clients int
		tpot, output            float64
	}{
		{1000, 1000, 8, 7.8, 1000}, {1000, 1000, 32, 10.8, 2903},
		{1000, 1000, 64, 14.9, 4215}, {1000, 1000, 128, 23.6, 5352},
		{2048, 256, 32, 17.9, 1697}, {2048, 256, 128, 53.8, 2304},
	} {
		t.Run(strconv.Itoa(c.prompt)+"/"+strconv.Itoa(c.clients), func(t *testing.T) {
			got := closed(t, H100(), c.clients, c.prompt, c.answer, serverBudget, 60*time.Second, 150*time.Second)
			near(t, "TPOT ms", mean(got.answered("", tpotOf))*1e3, c.tpot, 0.05)
			near(t, "output tok/s", got.output, c.output, 0.05)
		})
	}
}

// The knee is where the elasticity falls below one half.
func TestElasticityOfThroughput(t *testing.T) {
	published(t)
	var last float64
	for _, c := range []struct {
		clients int
		want    float64
	}{{8, 0}, {32, 0.77}, {64, 0.54}, {128, 0.34}, {256, 0.11}} {
		got := closed(t, H100(), c.clients, 1000, 1000, serverBudget, 100*time.Second, 200*time.Second).output
		if last > 0 {
			steps := math.Log2(4)
			if c.clients > 32 {
				steps = 1
			}
			elasticity := math.Log2(got/last) / steps
			t.Logf("up to %d clients: %.2f, published %.2f", c.clients, elasticity, c.want)
			if math.Abs(elasticity-c.want) > 0.04 {
				t.Errorf("elasticity up to %d clients: %.2f, published %.2f", c.clients, elasticity, c.want)
			}
		}
		last = got
	}
}

// TestOpenLoop sweeps the chat rate on one replica. The published table is one run;
// here it is the mean over four seeds, because near saturation a run of a few
// minutes says more about its luck than about the service (at 15 chat/s goodput
// lies between 0.82 and 0.95 over these seeds). So latencies and occupancy are held
// to 15 %, at 15 chat/s to 20 %, rates and utilization to 5 %; the TTFT of an
// unstable queue grows with the length of the run and is not compared.
//
// The published TTFT medians are lower than ours by the 4 ms of the front end,
// which the published single-request TTFTs (13, 35, 67 ms) include: the sweep seems
// to have left it out, so its medians are compared without it.
func TestOpenLoop(t *testing.T) {
	published(t)
	for _, c := range []struct {
		chat, done, goodput, goodputWithin float64
		ttft50, ttft95                     float64 // s; 0: not compared
		tpot50, tpot95                     float64 // ms
		running, usage, output, mfu, mbu   float64
	}{
		{4, 5.4, 0.994, 0.005, .025, .22, 10.4, 15.6, 15, .07, 1294, .11, .53},
		{8, 9.5, 0.991, 0.007, .030, .25, 13.5, 21, 30, .14, 2098, .16, .49},
		{12, 13.5, 0.979, 0.015, .041, .31, 19.4, 33, 60, .27, 2888, .20, .45},
		{14, 15.4, 0.936, 0.04, .053, .39, 25.7, 49, 93, .41, 3288, .22, .42},
		{15, 16.5, 0.804, 0.12, .072, 0, 35, 64, 133, .59, 3503, .24, .39},
		{16, 17.4, 0.533, 0.25, 0, 0, 47, 66, 177, .77, 3665, .25, .37},
		{17, 17.2, 0, 0.05, 0, 0, 63, 69, 228, .99, 3625, .26, .34},
	} {
		t.Run(strconv.Itoa(int(c.chat)), func(t *testing.T) {
			got := sweep(t, c.chat)
			luck := 0.15
			if c.chat == 15 {
				luck = 0.20
			}
			near(t, "done/s", got.done, c.done, 0.05)
			if math.Abs(got.goodput-c.goodput) > c.goodputWithin {
				t.Errorf("goodput %.3f, published %.3f", got.goodput, c.goodput)
			}
			t.Logf("goodput %.3f (published %.3f)", got.goodput, c.goodput)
			if c.ttft50 > 0 {
				near(t, "TTFT p50 ms, without the front end", got.ttft50*1e3-4, c.ttft50*1e3, luck)
			}
			if c.ttft95 > 0 {
				near(t, "TTFT p95 s", got.ttft95, c.ttft95, luck)
			}
			near(t, "TPOT p50 ms", got.tpot50*1e3, c.tpot50, luck)
			near(t, "TPOT p95 ms", got.tpot95*1e3, c.tpot95, luck)
			near(t, "running", got.running, c.running, luck)
			near(t, "KV usage", got.usage, c.usage, luck)
			near(t, "output tok/s", got.output, c.output, 0.05)
			near(t, "MFU", got.mfu, c.mfu, 0.05)
			near(t, "MBU", got.mbu, c.mbu, 0.05)
		})
	}
}

type swept struct {
	done, goodput, ttft50, ttft95, tpot50, tpot95 float64
	running, usage, output, mfu, mbu              float64
}

const seeds = 4

func sweep(t *testing.T, chat float64) swept {
	var out swept
	for seed := uint64(1); seed <= seeds; seed++ {
		w := DemoWorkflows()
		w[0].Rate = chat
		s := service(t, Options{Seed: seed, Replicas: 1, Workflows: w})
		got := (&meter{sim: s}).watch(120*time.Second, 900*time.Second)
		ttft, tpot := got.answered("chat", ttftOf), got.answered("chat", tpotOf)
		add := func(to *float64, v float64) { *to += v / seeds }
		add(&out.done, float64(len(got.ended))/got.seconds)
		add(&out.goodput, got.goodput("chat", 500*time.Millisecond, 50*time.Millisecond))
		add(&out.ttft50, quantile(ttft, 0.5))
		add(&out.ttft95, quantile(ttft, 0.95))
		add(&out.tpot50, quantile(tpot, 0.5))
		add(&out.tpot95, quantile(tpot, 0.95))
		add(&out.running, got.running)
		add(&out.usage, got.usage)
		add(&out.output, got.output)
		add(&out.mfu, got.mfu)
		add(&out.mbu, got.mbu)
	}
	return out
}

// The same model on other machines, by their bandwidth and peak alone: published are
// 166 tok/s for one client and 7590 for a hundred on a GH200, 75 for one on an A100
// with 40 GB.
func TestOtherMachines(t *testing.T) {
	published(t)
	gh200, a100 := H100(), H100()
	gh200.Bandwidth = 4.0e12
	a100.PeakFLOPs, a100.Bandwidth = 312e12, 1.555e12
	for _, c := range []struct {
		name           string
		machine        Machine
		clients        int
		output, within float64
	}{{"GH200", gh200, 1, 166, 0.05}, {"GH200", gh200, 100, 7590, 0.30}, {"A100", a100, 1, 75, 0.10}} {
		got := closed(t, c.machine, c.clients, 1000, 1000, serverBudget, 60*time.Second, 150*time.Second)
		near(t, c.name+" output tok/s, "+strconv.Itoa(c.clients), got.output, c.output, c.within)
	}
}
