package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/report"
	"slotop/sources/sourcetest/shared"
)

// Pages of servers under load, saved in sequence. What slotop must show of them
// was computed from the pages by a program that shares nothing with it: another
// parser, another arithmetic.

// figures are what a sequence's workflow must show after one poll. Rates and
// shares are over the minute before it.
type figures struct {
	poll     int
	restarts int
	requests [6]float64            // started, finished, unaccounted, finished per second, running, waiting
	tokens   [3]float64            // prompt and output per second, cached share of the prompts
	cache    [3]float64            // KV usage, prefix hits, preemptions per second
	latency  map[string][5]float64 // n, mean, p50, p95, p99; a name left out is not known
}

// none stands for a figure that nobody can know from the pages.
var none = math.NaN()

const sequenceModel = "Qwen/Qwen3-8B"

func TestSequences(t *testing.T) {
	for _, s := range sequences {
		t.Run(s.name, func(t *testing.T) {
			frames := play(t, s.every, s.targets(t)...)
			if len(frames) != s.polls {
				t.Fatalf("%d frames of %d polls", len(frames), s.polls)
			}
			for _, want := range s.want {
				want.check(t, frames[want.poll], s.model)
			}
			for i, f := range frames {
				sane(t, i, f)
			}
		})
	}
}

func (want *figures) check(t *testing.T, f *model.Frame, name string) {
	t.Helper()
	w := workflow(t, f, name)
	same := func(what string, got model.Reading, want float64) {
		t.Helper()
		v, ok := got.Get()
		if ok == math.IsNaN(want) || ok && math.Abs(v-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s %s: got %v (%s), by hand %v", f.At.Wall.Format("04:05"), what, got.Value, got.State, want)
		}
	}
	for i, r := range [...]model.Reading{w.Requests.Started, w.Requests.Finished, w.Requests.Unaccounted,
		w.Requests.PerSecond, w.Requests.Running, w.Requests.Waiting} {
		same([...]string{"started", "finished", "unaccounted", "finished/s", "running", "waiting"}[i], r, want.requests[i])
	}
	for i, r := range [...]model.Reading{w.Tokens.PromptPerSecond, w.Tokens.OutputPerSecond, w.Tokens.CachedPromptShare} {
		same([...]string{"prompt/s", "output/s", "cached share"}[i], r, want.tokens[i])
	}
	for i, r := range [...]model.Reading{w.KVCacheUsage, w.PrefixCacheHit, w.PreemptionsPerSec} {
		same([...]string{"KV", "prefix hits", "preemptions/s"}[i], r, want.cache[i])
	}
	for name, d := range map[string]*model.Dist{"ttft": w.TTFT, "itl": w.ITL, "tpot": w.TPOT, "e2e": w.E2E,
		"queue": w.Queue, "prefill": w.Prefill, "decode": w.Decode} {
		by, known := want.latency[name]
		if known != (d != nil) {
			t.Errorf("%s %s: got %+v, by hand %v", f.At.Wall.Format("04:05"), name, d, by)
			continue
		}
		if !known {
			continue
		}
		for i, r := range [...]model.Reading{model.Of(d.N), d.Mean, d.P50.Value, d.P95.Value, d.P99.Value} {
			same(name+" "+[...]string{"n", "mean", "p50", "p95", "p99"}[i], r, by[i])
		}
		inBracket(t, name, d)
	}
	restarts := 0
	for _, v := range f.Targets {
		restarts += v.Restarts
	}
	if restarts != want.restarts {
		t.Errorf("%s: %d restarts, by hand %d", f.At.Wall.Format("04:05"), restarts, want.restarts)
	}
}

func inBracket(t *testing.T, name string, d *model.Dist) {
	t.Helper()
	for _, e := range [...]model.Estimate{d.P50, d.P90, d.P95, d.P99} {
		if e.Value.OK() && (e.Value.Value < e.Lo.Value || e.Value.Value > e.Hi.Value) {
			t.Errorf("%s: %v outside of %v–%v", name, e.Value.Value, e.Lo.Value, e.Hi.Value)
		}
	}
}

// fastest is a rate that none of these servers came near: a counter that
// restarts or appears must not make one.
const fastest = 10_000

// fastestMachine is a rate of FLOPs or bytes that none of their GPUs can do.
const fastestMachine = 1e16

// sane holds every number of a frame to what can be, whatever happens between
// two pages.
func sane(t *testing.T, poll int, f *model.Frame) {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b.Bytes(), &tree); err != nil {
		t.Fatal(err)
	}
	numbers(tree, "", func(path string, v float64) {
		most := math.MaxFloat64
		switch {
		case strings.HasSuffix(path, "flops_per_second"), strings.HasSuffix(path, "bytes_per_second"):
			most = fastestMachine
		case strings.HasSuffix(path, "per_second"):
			most = fastest
		case strings.HasSuffix(path, "usage"), strings.HasSuffix(path, "_hit"), strings.Contains(path, "share"):
			most = 1
		}
		if strings.HasSuffix(path, ".budget.remaining") {
			return // an overspent budget is below zero
		}
		if strings.HasSuffix(path, ".step.unexplained") {
			return // a step may take less than its load explains
		}
		if !(v >= 0 && v <= most) {
			t.Errorf("poll %d: %s is %v", poll, path, v)
		}
	})
}

func numbers(tree any, path string, visit func(string, float64)) {
	switch v := tree.(type) {
	case map[string]any:
		for k, sub := range v {
			numbers(sub, path+"."+k, visit)
		}
	case []any:
		for _, sub := range v {
			numbers(sub, path, visit)
		}
	case float64:
		visit(path, v)
	}
}

// The overload, as people read it: the queue grows, TTFT is missed, prompts are
// thrown out of the cache, and after the restart nothing is negative and the
// twelve requests that ran are not called finished.
func TestOverloadReads(t *testing.T) {
	frames := play(t, 10*time.Second, shared.Dir(t, "corpus/engines/seq/vllm-overload"))
	for i, verdict := range []model.Verdict{model.NoData, model.Undecided, model.Missed, model.Missed, model.Missed, model.Missed, model.Missed, model.Missed} {
		if got := workflow(t, frames[i], sequenceModel).Objectives[0].Verdict; got != verdict {
			t.Errorf("poll %d: TTFT %s, want %s", i, got, verdict)
		}
	}
	at := frames[4]
	is(t, "TTFT within 1 s", workflow(t, at, sequenceModel).Objectives[0].Share.Lo, 11.0/96, 1e-12)
	says(t, "the text", asText(at), "preemptions in the window")
	last := frames[7].Targets[0]
	if last.State != model.Idle || last.Restarts != 1 || last.RestartedAt != frames[7].At {
		t.Errorf("after the restart: %s, %d restarts, at %v", last.State, last.Restarts, last.RestartedAt)
	}
	says(t, "the text", asText(frames[7]), "restarted 1 time")
}

// clientRequest is a request as the one who sent it saw it.
type clientRequest struct {
	Status int     `json:"status"`
	TTFT   float64 `json:"ttft_ms"`
	E2E    float64 `json:"e2e_ms"`
}

// clientMoment is the sender's own count when a page was saved.
type clientMoment struct {
	Client struct{ Sent, Inflight float64 }
}

// A server whose TTFT leaves out waiting, beside the clock of its clients.
func TestServerAgainstItsClients(t *testing.T) {
	const capture = "corpus/captures/llm-d-inference-sim-0.10.2"
	frames := play(t, 5*time.Second, shared.Dir(t, capture))
	for i, m := range readLines[clientMoment](t, capture+"/index.jsonl") {
		r := workflow(t, frames[i], "llama-8b").Requests
		is(t, "in flight", model.Of(r.Running.Value+r.Waiting.Value), m.Client.Inflight, 1)
	}
	requests := readLines[clientRequest](t, capture+"/requests.jsonl")
	f, w := only(t, frames)
	is(t, "started", w.Requests.Started, float64(len(requests)), 0)
	is(t, "finished", w.Requests.Finished, float64(len(requests)), 0)

	var ttft, e2e []float64
	inTime := 0.0
	for _, r := range requests {
		if r.Status == 200 {
			ttft, e2e = append(ttft, r.TTFT/1000), append(e2e, r.E2E/1000)
			if r.TTFT <= 1000 {
				inTime++
			}
		}
	}
	for q, e := range map[float64]model.Estimate{0.50: w.E2E.P50, 0.95: w.E2E.P95, 0.99: w.E2E.P99} {
		if v := nearestRank(e2e, q); v < e.Lo.Value || v > e.Hi.Value {
			t.Errorf("E2E p%v: the clients saw %v s, slotop says %v–%v", 100*q, v, e.Lo.Value, e.Hi.Value)
		}
	}
	is(t, "E2E mean", w.E2E.Mean, mean(e2e), 0.02)
	if nearestRank(ttft, 0.5) < w.TTFT.P99.Hi.Value {
		t.Error("the clients did not wait: this capture shows nothing")
	}
	says(t, "the notes", notesOf(f), "TTFT here leaves out waiting")
	o := w.Objectives[0]
	if share := inTime / float64(len(ttft)); share < o.Share.Lo.Value || share > o.Share.Hi.Value || o.Verdict != model.Undecided {
		t.Errorf("%.3f of the clients had a token within 1 s, slotop says %v–%v, %s", share, o.Share.Lo.Value, o.Share.Hi.Value, o.Verdict)
	}
}

func readLines[T any](t *testing.T, file string) []T {
	t.Helper()
	var out []T
	for s := bufio.NewScanner(bytes.NewReader(shared.File(t, file))); s.Scan(); {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func nearestRank(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[max(0, int(math.Ceil(q*float64(len(v))))-1)]
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// A gateway's workflows have rows of their own, with what their users felt: all that
// it counted from its first page to its last.
func TestGatewaysUnderLoad(t *testing.T) {
	for _, c := range []struct {
		capture, engine string
		want            map[string][3]float64 // finished, first tokens, cancelled
	}{
		{"bifrost-1.4.19", "bifrost", map[string][3]float64{"agent": {86, 87, 1}, "batch": {94, 94, 0}, "chat": {98, 99, 1}, "rag": {88, 91, 3}}},
		{"gomodel-0.1.18", "gomodel", map[string][3]float64{"llama-8b": {363, 371, none}}},
		{"llm-d-router-epp-ebab68792", "llm-d-epp", map[string][3]float64{"agent": {147, 147, none}, "batch": {154, 154, none}, "chat": {147, 147, none}, "rag": {152, 152, none}}},
	} {
		frames := playOver(t, 30*time.Minute, 5*time.Second, pagesOf(t, "corpus/captures/"+c.capture, "[0-9][0-9][0-9].prom"))
		f := frames[len(frames)-1]
		if v := f.Targets[0]; v.Kind != model.GatewayTarget || v.Engine != model.Text(c.engine) {
			t.Errorf("%s: %s %s", c.capture, v.Kind, v.Engine)
		}
		if len(f.Workflows) != len(c.want) {
			t.Errorf("%s: %d workflows", c.capture, len(f.Workflows))
		}
		for name, want := range c.want {
			w := workflow(t, f, name)
			if w.TTFT == nil {
				t.Errorf("%s, %s: no TTFT", c.capture, name)
				continue
			}
			got := [3]float64{w.Requests.Finished.Value, w.TTFT.N, w.Requests.Cancelled.Value}
			if !w.Requests.Cancelled.OK() {
				got[2] = none
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s: %v, want %v", c.capture, name, got, want)
			}
		}
		for i, f := range frames {
			sane(t, i, f)
		}
	}
}

// A router and the engines behind it count the same requests: two sides of one
// workflow, of which the users' is shown, and nothing is added.
func TestGatewayBeforeItsEngines(t *testing.T) {
	const capture = "corpus/captures/llm-d-router-epp-ebab68792"
	policy := model.Policy{Workflows: []model.WorkflowSpec{{
		Name: "all", Match: []model.Match{{Model: "llama-8b"}}, Share: model.DefaultShare, PeriodS: model.DefaultPeriodS,
	}}}
	f := judged(t, policy, 30*time.Minute, 15*time.Second, nil,
		pagesOf(t, capture, "00[0369].prom"), pagesOf(t, capture, "00[0369].sim-a.prom"), pagesOf(t, capture, "00[0369].sim-b.prom"))
	w := workflow(t, f, "all")
	if w.Requests.Finished.Value != 563 || w.TTFT.N != 563 {
		t.Errorf("finished %v, first tokens %v: want those of the router", w.Requests.Finished, w.TTFT.N)
	}
	if w.Outside == nil || w.ITL == nil || !w.KVCacheUsage.OK() {
		t.Errorf("outside the engines %v, their ITL %v and KV usage %v", w.Outside, w.ITL, w.KVCacheUsage)
	}
}

// pagesOf is a directory with only those pages of a capture that match.
func pagesOf(t *testing.T, capture, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared.Dir(t, capture), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, capture, err)
	}
	dir := t.TempDir()
	for _, f := range files {
		if err := os.Symlink(f, filepath.Join(dir, filepath.Base(f))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sequence is a load as one or more targets saw it.
type sequence struct {
	name     string
	every    time.Duration
	polls    int
	dir      string   // where its pages are
	patterns []string // one target each; none: the directory is the target
	model    string
	want     []figures
}

func (s sequence) targets(t *testing.T) []string {
	if len(s.patterns) == 0 {
		return []string{shared.Dir(t, s.dir)}
	}
	var dirs []string
	for _, p := range s.patterns {
		dirs = append(dirs, pagesOf(t, s.dir, p))
	}
	return dirs
}

var sequences = []sequence{
	{"vllm", 10 * time.Second, 8, "corpus/engines/seq/vllm-overload", nil, sequenceModel, overload},
	{"sglang", 10 * time.Second, 6, "corpus/engines/seq/sglang-load", nil, sequenceModel, load},
	{"inference-sim", 5 * time.Second, 15, "corpus/captures/llm-d-inference-sim-0.10.2", nil, "llama-8b", inferenceSim},
	{"lora", 5 * time.Second, 12, "corpus/captures/llm-d-inference-sim-0.10.2-lora", nil, "llama-8b", loraSim},
	{"llama.cpp", 5 * time.Second, 17, "corpus/captures/llama.cpp-b10470", nil, "llama.cpp-b10470", llama},
	{"behind-bifrost", 15 * time.Second, 4, "corpus/captures/bifrost-1.4.19", []string{"*.sim.prom"}, "llama-8b", behindBifrost},
	{"behind-router", 15 * time.Second, 5, "corpus/captures/llm-d-router-epp-ebab68792", []string{"*.sim-a.prom", "*.sim-b.prom"}, "llama-8b", behindRouter},
}

// At 40 s the queue is at its height, after poll 6 the server restarts.
var overload = []figures{
	{poll: 4,
		requests: [6]float64{96, 86, 2, 2.15, 8, 133},
		tokens:   [3]float64{2351.65, 378.3, 0.208874619948}, cache: [3]float64{0.966571428571, 0.208874619948, 0.1},
		latency: map[string][5]float64{
			"ttft": {96, 8.26533655213, 7.84090909091, 18.3448275862, 19.6689655172}, "e2e": {86, 11.5456274142, 11.4814814815, 19.6904761905, 27.1333333333},
			"itl": {15036, 0.0253100408046, 0.0178601798285, 0.0249343416742, 0.165565217391}, "tpot": {86, 0.0253358722972, 0.0285, 0.04785, 0.04957},
			"queue": {86, 7.49960548933, 6.91176470588, 18.5666666667, 19.7133333333}, "prefill": {86, 0.222635210947, 0.211475409836, 0.71375, 0.914},
			"decode": {86, 3.81824870165, 3.51351351351, 9.63888888889, 15.7},
		}},
	{poll: 6,
		requests: [6]float64{160, 144, 4, 2.4, 12, 102},
		tokens:   [3]float64{2365.85, 415.45, 0.214045691823}, cache: [3]float64{0.976857142857, 0.214045691823, 0.116666666667},
		latency: map[string][5]float64{
			"ttft": {160, 14.2860041915, 12.7659574468, 36.5217391304, 39.3043478261}, "e2e": {144, 17.1993036979, 17.1739130435, 29.7735849057, 37.6},
			"itl": {24767, 0.02541498506, 0.0178688680844, 0.0249508493603, 0.176800675676}, "tpot": {144, 0.0257114851136, 0.0291176470588, 0.0481764705882, 0.0498705882353},
			"queue": {144, 13.1308548831, 15, 27.8181818182, 29.5636363636}, "prefill": {144, 0.194988323583, 0.189473684211, 0.605, 0.856},
			"decode": {144, 3.86832835608, 3.52459016393, 9.64516129032, 16.4},
		}},
	{poll: 7, restarts: 1,
		requests: [6]float64{144, 135, 15, 2.25, 0, 0},
		tokens:   [3]float64{2036.51666667, 391.816666667, 0.191699879697}, cache: [3]float64{0, 0.191699879697, 0.116666666667},
		latency: map[string][5]float64{
			"ttft": {144, 15.799742902, 14.4680851064, 36.8695652174, 39.3739130435}, "e2e": {135, 18.1748428202, 18.152173913, 29.858490566, 37.75},
			"itl": {23365, 0.0255044001317, 0.0178737194464, 0.0249600669482, 0.178292253521}, "tpot": {135, 0.0258169419848, 0.02921875, 0.048203125, 0.049890625},
			"queue": {135, 13.98920097, 15.5769230769, 27.9545454545, 29.5909090909}, "prefill": {135, 0.202041143841, 0.192857142857, 0.621875, 0.865},
			"decode": {135, 3.97845629233, 3.61842105263, 9.71774193548, 16.625},
		}},
}

// The last page is of an idle server whose gauges still show its last report.
var load = []figures{
	{poll: 1,
		requests: [6]float64{20, 7, 0, 0.7, 14, 0},
		tokens:   [3]float64{1842.5, 150.9, 0.263989145183}, cache: [3]float64{0.14, 0.263989145183, none},
		latency: map[string][5]float64{
			"ttft": {20, 0.0487547858238, 0.05, 0.095, 0.099}, "e2e": {7, 0.846239570727, 0.833333333333, 1.65, 1.93},
			"itl": {1509, 0.0108596679784, 0.0088644524237, 0.0269375, 0.062275}, "queue": {20, 0.00408366918564, 0.00166666666667, 0.0366666666667, 0.0473333333333},
			"prefill": {20, 0.0396511126512, 0.0344694436259, 0.100671473786, 0.119729890198},
		}},
	{poll: 3,
		requests: [6]float64{173, 154, 4, 5.13333333333, 14, 0},
		tokens:   [3]float64{5112.1, 864.1, 0.155343857384}, cache: [3]float64{0.2, 0.155343857384, none},
		latency: map[string][5]float64{
			"ttft": {173, 0.0557029049846, 0.0569078947368, 0.16175, 0.19635}, "e2e": {154, 1.8369696195, 1.4406779661, 5.1, 8.92},
			"itl": {25923, 0.0115514669513, 0.00911682464455, 0.0239753649635, 0.0799737142857}, "queue": {173, 0.0085225477384, 0.00217391304348, 0.0478709677419, 0.0939166666667},
			"prefill": {173, 0.0421986555386, 0.0322324854973, 0.111292570432, 0.145334872647},
		}},
	{poll: 5,
		requests: [6]float64{239, 231, 4, 4.62, 1, 0},
		tokens:   [3]float64{4125.06, 800.06, 0.152201422525}, cache: [3]float64{0.01, 0.152201422525, none},
		latency: map[string][5]float64{
			"ttft": {239, 0.0571863161717, 0.0574519230769, 0.165689655172, 0.198655172414}, "e2e": {231, 2.02001333319, 1.52659574468, 5.63571428571, 9.12666666667},
			"itl": {40003, 0.0117301839955, 0.00922137431801, 0.0244785714286, 0.0779094936709}, "queue": {239, 0.008669824281, 0.00256923076923, 0.049, 0.0978333333333},
			"prefill": {239, 0.0436148987883, 0.0336464824415, 0.116071354905, 0.183799521569},
		}},
}

// At 45 s it is saturated: 16 run and 126 wait.
var inferenceSim = []figures{
	{poll: 5,
		requests: [6]float64{19, 19, 0, 0.76, 0, 0},
		tokens:   [3]float64{110.36, 13.36, none}, cache: [3]float64{0, 0.16237767307, none},
		latency: map[string][5]float64{
			"ttft": {19, 0.0677368421053, 0.05, 0.214375, 0.242875}, "e2e": {19, 0.320463520632, 0.219230769231, 1.525, 1.905},
			"itl": {315, 0.0137682539683, 0.0169642857143, 0.0241964285714, 0.0248392857143}, "prefill": {19, 0.0690646546316, 0.15, 0.285, 0.297},
			"decode": {19, 0.251105590632, 0.203571428571, 1.525, 1.905},
		}},
	{poll: 9,
		requests: [6]float64{306, 293, 0, 6.51111111111, 16, 126},
		tokens:   [3]float64{872.977777778, 169.8, none}, cache: [3]float64{0.241428571429, 0.311463046757, none},
		latency: map[string][5]float64{
			"ttft": {306, 0.137388888889, 0.0993650793651, 0.408928571429, 0.481785714286}, "e2e": {293, 3.30557504159, 3.37239583333, 9.12797619048, 9.8255952381},
			"itl": {7839, 0.0328332695497, 0.0363622129436, 0.0486362212944, 0.0497272442589}, "queue": {239, 3.1951646577, 3.37365591398, 8.98728813559, 9.79745762712},
			"prefill": {306, 0.138606760095, 0.165107913669, 0.390714285714, 0.478142857143}, "decode": {293, 0.849598835945, 0.4, 3.45535714286, 7.55833333333},
		}},
	{poll: 14,
		requests: [6]float64{553, 553, 0, 9.21666666667, 0, 0},
		tokens:   [3]float64{1309.6, 253.983333333, none}, cache: [3]float64{0, 0.317857870088, none},
		latency: map[string][5]float64{
			"ttft": {553, 0.144956600362, 0.107835820896, 0.419622093023, 0.483924418605}, "e2e": {553, 6.43220534766, 6.70058139535, 14.2034161491, 14.8903726708},
			"itl": {14686, 0.0330503200327, 0.0365008456504, 0.048650084565, 0.049730016913}, "queue": {479, 6.19936256504, 6.42670157068, 13.8373786408, 14.7674757282},
			"prefill": {553, 0.146442893495, 0.169285714286, 0.412222222222, 0.482444444444}, "decode": {553, 0.91548876413, 0.4625, 3.97596153846, 8.37352941176},
		}},
}

// The first two pages have no histogram yet.
var loraSim = []figures{
	{poll: 3,
		requests: [6]float64{54, 47, 0, 3.13333333333, 7, 4},
		tokens:   [3]float64{488, 62.0666666667, none}, cache: [3]float64{0, none, none},
		latency: map[string][5]float64{
			"ttft": {54, 0.120388888889, 0.1, 0.365, 0.473}, "e2e": {47, 0.506902886745, 0.37, 1.6625, 2.265},
			"itl": {977, 0.0194042988741, 0.0186307420495, 0.040458984375, 0.048091796875}, "queue": {6, 0.279450881667, 0.225, 0.94, 0.988},
			"prefill": {54, 0.120901090574, 0.158823529412, 0.32, 0.464}, "decode": {47, 0.363359080426, 0.282, 1.44166666667, 1.8825},
		}},
	{poll: 8,
		requests: [6]float64{231, 225, 0, 5.625, 7, 0},
		tokens:   [3]float64{858.9, 104.6, none}, cache: [3]float64{0, none, none},
		latency: map[string][5]float64{
			"ttft": {231, 0.110735930736, 0.0910714285714, 0.277884615385, 0.455576923077}, "e2e": {225, 0.558445137187, 0.39, 1.82291666667, 3.125},
			"itl": {4022, 0.0196688214819, 0.0181992389236, 0.0353425655977, 0.0470685131195}, "queue": {42, 0.487680151857, 0.2625, 2.45, 4.475},
			"prefill": {231, 0.111302501455, 0.153318584071, 0.291305309735, 0.4076}, "decode": {225, 0.356538351089, 0.257633587786, 1.3875, 1.98214285714},
		}},
	{poll: 11,
		requests: [6]float64{232, 232, 0, 4.21818181818, 0, 0},
		tokens:   [3]float64{653.418181818, 79.8181818182, none}, cache: [3]float64{0, none, none},
		latency: map[string][5]float64{
			"ttft": {232, 0.111448275862, 0.0914285714286, 0.292857142857, 0.458571428571}, "e2e": {232, 0.564126729759, 0.4, 1.80833333333, 3.06666666667},
			"itl": {4158, 0.019683982684, 0.0181936416185, 0.035234375, 0.047046875}, "queue": {42, 0.487680151857, 0.2625, 2.45, 4.475},
			"prefill": {232, 0.112014553129, 0.153303964758, 0.29127753304, 0.4072}, "decode": {232, 0.363649504099, 0.263636363636, 1.39166666667, 1.97714285714},
		}},
}

// No requests are counted and no histogram exists; gaps have a mean only.
var llama = []figures{
	{poll: 5,
		requests: [6]float64{none, none, none, none, 0, 0},
		tokens:   [3]float64{71.12, 16.72, 0.0888638920135}, cache: [3]float64{none, 0.0888638920135, none},
		latency: map[string][5]float64{
			"itl": {418, 0.0187138277512, none, none, none},
		}},
	{poll: 11,
		requests: [6]float64{none, none, none, none, 4, 23},
		tokens:   [3]float64{194.909090909, 61.0909090909, 0.31072761194}, cache: [3]float64{none, 0.31072761194, none},
		latency: map[string][5]float64{
			"itl": {3360, 0.0273501994048, none, none, none},
		}},
	{poll: 16,
		requests: [6]float64{none, none, none, none, 0, 0},
		tokens:   [3]float64{212.95, 83.3166666667, 0.35853486734}, cache: [3]float64{none, 0.35853486734, none},
		latency: map[string][5]float64{
			"itl": {4999, 0.0358280156031, none, none, none},
		}},
}

// Every third page was kept.
var behindBifrost = []figures{
	{poll: 1,
		requests: [6]float64{14, 14, 0, 0.933333333333, 0, 0},
		tokens:   [3]float64{145.866666667, 12.9333333333, none}, cache: [3]float64{0, 0.102376599634, none},
		latency: map[string][5]float64{
			"ttft": {14, 0.0749285714286, 0.06, 0.22375, 0.24475}, "e2e": {14, 0.262725370143, 0.21, 0.695, 0.779},
			"itl": {180, 0.0139944444444, 0.0170118343195, 0.024201183432, 0.0248402366864}, "prefill": {14, 0.0756265319286, 0.15, 0.285, 0.297},
			"decode": {14, 0.186855910429, 0.21, 0.59, 0.758},
		}},
	{poll: 2,
		requests: [6]float64{239, 225, 0, 7.5, 16, 24},
		tokens:   [3]float64{1019.9, 173.266666667, none}, cache: [3]float64{0.137142857143, 0.282506382848, none},
		latency: map[string][5]float64{
			"ttft": {239, 0.133564853556, 0.0997619047619, 0.400416666667, 0.480083333333}, "e2e": {225, 1.0530869438, 0.844, 2.9375, 6.25},
			"itl": {5536, 0.0317001445087, 0.0353606938862, 0.0485360693886, 0.0497072138777}, "queue": {141, 0.404800982184, 0.376744186047, 0.928823529412, 0.995176470588},
			"prefill": {239, 0.134195391628, 0.163698630137, 0.3805, 0.4761}, "decode": {225, 0.707611482978, 0.415384615385, 2.70833333333, 6.25},
		}},
	{poll: 3,
		requests: [6]float64{367, 367, 0, 8.15555555556, 0, 0},
		tokens:   [3]float64{1149.68888889, 231.444444444, none}, cache: [3]float64{0, 0.311736508427, none},
		latency: map[string][5]float64{
			"ttft": {367, 0.138702997275, 0.105, 0.413443396226, 0.482688679245}, "e2e": {367, 1.86934766742, 1.484375, 6.01086956522, 9.20217391304},
			"itl": {10048, 0.0318212579618, 0.0354055310249, 0.0485405531025, 0.0497081106205}, "queue": {262, 1.17831165556, 0.894117647059, 4.06428571429, 4.81285714286},
			"prefill": {367, 0.13934186924, 0.166314199396, 0.398055555556, 0.479611111111}, "decode": {367, 0.888348990891, 0.459649122807, 4.08125, 8.33181818182},
		}},
}

// Two engines make one workflow.
var behindRouter = []figures{
	{poll: 2,
		requests: [6]float64{283, 260, 0, 8.66666666667, 32, 6},
		tokens:   [3]float64{1162.93333333, 190.433333333, none}, cache: [3]float64{0.245714285714, 0.302094061105, none},
		latency: map[string][5]float64{
			"ttft": {283, 0.126074204947, 0.0922641509434, 0.398928571429, 0.479785714286}, "e2e": {260, 0.965438380754, 0.694736842105, 3.33333333333, 5.66666666667},
			"itl": {6170, 0.0367244732577, 0.038100081367, 0.0692011278195, 0.0738402255639}, "queue": {124, 0.270809112952, 0.2325, 0.754285714286, 0.917333333333},
			"prefill": {283, 0.126626594534, 0.162643678161, 0.371363636364, 0.474272727273}, "decode": {260, 0.754457833815, 0.428888888889, 2.72727272727, 5.66666666667},
		}},
	{poll: 3,
		requests: [6]float64{591, 575, 0, 12.7777777778, 17, 8},
		tokens:   [3]float64{1823.91111111, 331.755555556, none}, cache: [3]float64{0.102857142857, 0.312316034082, none},
		latency: map[string][5]float64{
			"ttft": {591, 0.139126903553, 0.101076555024, 0.416051136364, 0.483210227273}, "e2e": {575, 1.56842696632, 1.11363636364, 4.80377906977, 8.86904761905},
			"itl": {15160, 0.0390386543536, 0.0414580394922, 0.0709447892146, 0.0741889578429}, "queue": {376, 0.768014713609, 0.505084745763, 2.47647058824, 4.47777777778},
			"prefill": {591, 0.139679697438, 0.167580340265, 0.404677419355, 0.480935483871}, "decode": {575, 0.967964969163, 0.491860465116, 4.20608108108, 8.515625},
		}},
	{poll: 4,
		requests: [6]float64{613, 613, 0, 10.2166666667, 0, 0},
		tokens:   [3]float64{1453.81666667, 287.716666667, none}, cache: [3]float64{0, 0.312006328171, none},
		latency: map[string][5]float64{
			"ttft": {613, 0.137752039152, 0.0997478991597, 0.413904494382, 0.482780898876}, "e2e": {613, 1.72390338441, 1.14603960396, 6.23026315789, 9.45657894737},
			"itl": {16650, 0.0388684084084, 0.0413342198582, 0.0709952857418, 0.0741990571484}, "queue": {384, 0.820959447247, 0.525423728814, 3.15384615385, 4.63076923077},
			"prefill": {613, 0.138307694933, 0.167181818182, 0.402698412698, 0.48053968254}, "decode": {613, 1.07102696129, 0.517307692308, 4.63055555556, 8.8847826087},
		}},
}
