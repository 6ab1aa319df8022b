package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/model/slo"
	"slotop/sources/sourcetest/shared"
)

// shown is a target with histograms of one model, cumulative counts.
func shown(name string, labels model.LabelSet, hists ...shownHist) *looked {
	t := &looked{
		target: model.Target{Name: name, Kind: "engine"}, signals: map[model.Signal]bool{model.Finished: true},
		about: &model.About{Engine: "vllm", Models: []string{labels.Get(model.LabelModel)}, Missing: []model.Signal{model.Queue}},
	}
	for _, h := range hists {
		h.labels = labels
		t.hists = append(t.hists, h)
		t.signals[h.signal] = true
	}
	return t
}

func TestFit(t *testing.T) {
	chat := model.Labels(model.LabelModel, "chat", "team", "shop")
	ttft := shownHist{signal: model.TTFT, bounds: []float64{.1, .25, .5}, counts: []float64{600, 900, 980, 1000}}
	tpot := shownHist{signal: model.TPOT, bounds: []float64{.025, .05, .1}, counts: []float64{700, 950, 1000, 1000}}
	coarse := shownHist{signal: model.TTFT, bounds: []float64{.2, .5}, counts: []float64{0, 0, 0}}
	means := shownHist{signal: model.TPOT, counts: []float64{10}}
	a, b, c := shown("a", chat, ttft, tpot), shown("b", chat, ttft, tpot), shown("c", chat, coarse, means)
	down := &looked{target: model.Target{Name: "down"}, fault: &model.Fault{Kind: model.Refused, Detail: "nothing listens"}}
	events := &looked{target: model.Target{Name: "gw", Kind: model.GatewayTarget}, about: &model.About{}, reports: true}
	spec := func(name string, match *model.Match, objectives ...model.Objective) model.WorkflowSpec {
		w := model.WorkflowSpec{Name: name, Objectives: objectives, Share: .95, PeriodS: 86400}
		if match != nil {
			w.Match = []model.Match{*match}
		}
		return w
	}
	tests := []struct {
		name string
		spec model.WorkflowSpec
		seen []*looked
		want []string
	}{
		{
			"between two edges", spec("chat", nil, objective(model.MetricTTFT, .2), objective(model.MetricTPOT, .05)), []*looked{a, b, down},
			[]string{
				"TTFT 200 ms lies between two bucket edges, 100 ms and 250 ms, on a (vllm), b (vllm): the answer will be an interval, " +
					"0.3 wide: between 60.0 % and 90.0 % of the 2000 requests since start were within it; the nearest edge is 250 ms",
				"TPOT 50 ms is a bucket edge on a (vllm), b (vllm): exact",
			},
		},
		{
			"other edges elsewhere, and no buckets", spec("chat", nil, objective(model.MetricTTFT, .25), objective(model.MetricTPOT, .05)), []*looked{a, c},
			[]string{
				"TTFT 250 ms lies between two bucket edges, 200 ms and 500 ms, on c (vllm): the answer will be an interval, " +
					"how wide is not known before the first request; the nearest edge is 200 ms",
				"TTFT 250 ms is a bucket edge on a (vllm): exact",
				"TPOT 50 ms cannot be evaluated on c (vllm): vllm exports its sum and count only, no buckets",
				"TPOT 50 ms is a bucket edge on a (vllm)",
			},
		},
		{
			"beyond the buckets", spec("chat", nil, objective(model.MetricTTFT, .05), objective(model.MetricTPOT, 1)), []*looked{a},
			[]string{
				"TTFT 50 ms lies below the first bucket edge, 100 ms, on a (vllm): the answer will be an interval, " +
					"0.6 wide: between 0 % and 60.0 % of the 1000 requests since start were within it; the nearest edge is 100 ms",
				"TPOT 1 s lies above the last bucket edge, 100 ms, on a (vllm): exact while no request falls into that bucket, " +
					"as none of the 1000 since start did: 100 % were within it; the nearest edge is 100 ms",
			},
		},
		{
			"not exported", spec("chat", nil, objective(model.MetricQueue, 1), objective(model.MetricE2E, 1), objective(model.MetricFirstAnswer, 1)), []*looked{a},
			[]string{
				"queue 1 s cannot be evaluated on a (vllm): vllm exports no queue here, and could",
				"E2E latency 1 s cannot be evaluated on a (vllm): vllm exports no E2E latency",
				"first answer 1 s cannot be evaluated on a (vllm): histograms do not tell the answer's first token from the first of any kind, only reports of single requests do",
			},
		},
		{
			"not told apart", spec("gold", &model.Match{Labels: map[string]string{"tier": "gold", "team": "*"}, Adapter: "sql"}), []*looked{a, b, c, shown("d", chat, ttft)},
			[]string{"cannot be told apart on a (vllm), b (vllm), c (vllm), 1 more: no histogram there has a label adapter or tier"},
		},
		{"told apart by a label", spec("shop", &model.Match{Labels: map[string]string{"team": "sh*"}}, objective(model.MetricTTFT, .5)), []*looked{a}, []string{"TTFT 500 ms is a bucket edge on a (vllm): exact"}},
		{"another target's", spec("x", &model.Match{Target: "b*", Model: "*"}, objective(model.MetricTTFT, .5)), []*looked{a, b}, []string{"TTFT 500 ms is a bucket edge on b (vllm): exact"}},
		{"nobody's", spec("x", &model.Match{Model: "llama"}, objective(model.MetricTTFT, .5)), []*looked{a, down}, []string{"no target carries it now"}},
		{"single requests", spec("x", &model.Match{Labels: map[string]string{"tier": "gold"}}, objective(model.MetricTTFT, .2)), []*looked{events}, []string{"judged exactly as far as its requests are among the reports of gw"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := fit(model.Policy{Workflows: []model.WorkflowSpec{tc.spec}}, tc.seen)
			want := slices.DeleteFunc(slices.Clone(tc.want), func(s string) bool { return strings.HasPrefix(s, "preset ") })
			for i := range want {
				want[i] = "workflow " + tc.spec.Name + ": " + want[i]
			}
			plain := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return strings.Contains(s, ": preset ") })
			if !slices.Equal(plain, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(plain, "\n"), strings.Join(want, "\n"))
			}
			if hasPreset := len(plain) < len(got); hasPreset != (len(want) < len(tc.want)) {
				t.Errorf("presets: %q", got)
			}
		})
	}
}

// TestFitWithoutWorkflows looks at what is assumed.
func TestFitWithoutWorkflows(t *testing.T) {
	labels := model.Labels(model.LabelModel, "chat")
	target := shown("a", labels, shownHist{signal: model.TTFT, bounds: []float64{1, 2}, counts: []float64{1, 2, 3}})
	delete(target.signals, model.Finished)
	got := fit(model.Policy{}, []*looked{target})
	want := []string{
		"what is assumed: TTFT 1 s is a bucket edge on a (vllm): exact",
		"what is assumed: TPOT 50 ms cannot be evaluated on a (vllm): vllm exports no TPOT",
		"what is assumed: its goodput cannot be computed on a (vllm): no finished requests are counted there",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestPresetsThatFit: a preset is named only where all its bounds are edges.
func TestPresetsThatFit(t *testing.T) {
	labels := model.Labels(model.LabelModel, "chat")
	target := shown("a", labels,
		shownHist{signal: model.TTFT, bounds: []float64{.2, .45, 2}, counts: []float64{1, 2, 3, 4}},
		shownHist{signal: model.TPOT, bounds: []float64{.04, .1}, counts: []float64{1, 2, 3}})
	for bound, preset := range map[float64]string{.46: "mlperf/llama-2-70b/interactive", 1.9: "mlperf/llama-3.1-8b/server", 9: ""} {
		w := model.WorkflowSpec{Name: "chat", Objectives: []model.Objective{objective(model.MetricTTFT, bound), objective(model.MetricTPOT, .06)}, Share: .95, PeriodS: 1}
		got := strings.Join(fit(model.Policy{Workflows: []model.WorkflowSpec{w}}, []*looked{target}), "\n")
		if _, after, found := strings.Cut(got, "preset "); found != (preset != "") || !strings.HasPrefix(after, preset) {
			t.Errorf("%v: want %q in\n%s", bound, preset, got)
		}
	}
	if _, ok := slo.Preset("chat"); !ok {
		t.Error("the preset that other tests name is gone")
	}
}

// TestConfigCheckLooks is the command over servers that answer, refuse and say
// nothing of use.
func TestConfigCheckLooks(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("go_goroutines 7\n"))
	}))
	t.Cleanup(other.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	gpus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-aaaaaaaa-0000-0000-0000-000000000000\"} 98\n"))
	}))
	t.Cleanup(gpus.Close)
	_, env := configHome(t, map[string]string{"config.yaml": `
workflows:
- {name: chat, match: {model: chat}, slo: {ttft: 300ms, tpot: 50ms}}
- {name: shop, match: {team: shop}, slo: {ttft: 1s}}
targets:
- {address: "` + engine.address() + `", name: mine}
- {address: "` + other.URL + `/metrics", name: other}
- {address: "` + gone.URL + `/metrics", name: gone}
- {address: "` + gpus.URL + `/metrics", name: gpus}
`})
	r := headlessIn(t, env, "config", "check")
	if r.code != exitOK || r.err != "" {
		t.Errorf("exit code %d, said %q", r.code, r.err)
	}
	for _, want := range []string{
		"config.yaml: right, 4 targets, 2 workflows", "mine: vllm", "other: no engine that is known", "gone: refused: ", "gpus: dcgm-exporter",
		"workflow chat: TTFT 300 ms lies between two bucket edges, 250 ms and 500 ms, on mine (vllm): the answer will be an interval, ",
		" wide: between ", "the nearest edge is 250 ms",
		"workflow chat: TPOT 50 ms is a bucket edge on mine (vllm): exact",
		"workflow shop: cannot be told apart on mine (vllm), other: no histogram there has a label team",
	} {
		says(t, "the command", r.out, want)
	}
	saysNot(t, "the command", r.out, "gpus (dcgm-exporter)")
	if r.took > soon(lookPatience) {
		t.Errorf("took %v", r.took)
	}
	polls := engine.polls.Load()
	off := headlessIn(t, env, "config", "check", "--offline")
	if off.code != exitOK || strings.Count(off.out, "\n") != 1 || engine.polls.Load() != polls {
		t.Errorf("offline: %+v", off)
	}
	flag := headlessIn(t, env, "config", "check", "--slo", "chat:ttft=250ms")
	says(t, "with a flag", flag.out, "workflow chat: TTFT 250 ms is a bucket edge on mine (vllm): exact")
}

// TestConfigCheckSimulated lets the simulator come to some traffic first.
func TestConfigCheckSimulated(t *testing.T) {
	t.Parallel()
	_, env := configHome(t, map[string]string{"config.yaml": "targets:\n- address: demo\n"})
	r := headlessIn(t, env, "config", "check", "--slo", "chat:ttft=200ms")
	for _, want := range []string{"sim-0: vllm", "workflow chat: TTFT 200 ms lies between", "requests since start were within it"} {
		says(t, "the command", r.out, want)
	}
	plain := headlessIn(t, env, "config", "check")
	says(t, "without workflows", plain.out, "what is assumed: TTFT 1 s is a bucket edge on sim-0 (vllm), sim-1 (vllm): exact")
}

// TestOC08Settings: before any verdict is asked for, the settings say which bound
// this engine can answer exactly.
func TestOC08Settings(t *testing.T) {
	t.Parallel()
	page := shared.Dir(t, "cases/files/goodput.prom")
	_, env := configHome(t, map[string]string{"config.yaml": "targets:\n- address: " + page + "\n"})
	r := headlessIn(t, env, "config", "check", "--slo", "ttft=200ms,tpot=50ms")
	says(t, "the command", r.out, "TTFT 200 ms lies between two bucket edges, 100 ms and 250 ms, on goodput.prom (vllm): the answer will be an interval, "+
		"0.3 wide: between 60.0 % and 90.0 % of the 1000 requests since start were within it; the nearest edge is 250 ms")
	says(t, "the command", r.out, "TPOT 50 ms is a bucket edge on goodput.prom (vllm): exact")
	r = headlessIn(t, env, "config", "check", "--slo", "ttft=250ms")
	says(t, "the command", r.out, "TTFT 250 ms is a bucket edge on goodput.prom (vllm): exact")
}
