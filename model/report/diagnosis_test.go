package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// explained is a breach with a cause, an engine that tells how it is used, one that
// does not, and a pool about which nothing can be told.
func explained() *model.Frame {
	f := calm()
	f.Workflows[0].Name = "chat"
	lambda := model.FactorView{Factor: model.FactorArrivals, Before: model.Of(8.1), Now: model.Of(29.2), Ratio: model.Of(3.6), Work: model.Of(2.6), Moved: true, Who: "chat"}
	f.Diagnoses = []model.DiagnosisView{
		{
			Pool: "chat", Targets: []string{"vllm-0:8000"}, Workflows: []string{"chat"}, State: model.Diagnosed, Sentence: "arrivals ×3.6, all chat: KV cache full",
			Why: "vllm-1:8000 exports no steps", Factors: []model.FactorView{lambda}, At: at(14 * time.Minute), WindowS: 60, BaselineS: model.Of(350), BaselineTo: at(9 * time.Minute),
		},
		{Pool: "code", Workflows: []string{"code"}, State: model.CannotTell, Why: "only 20 s of quiet time to compare with", WindowS: 60},
		{Pool: "batch", Workflows: []string{"batch"}, State: model.NoFinding, WindowS: 60, BaselineS: model.Of(350)},
	}
	f.Findings = []model.FindingView{
		{
			ID: "T1", Title: "more arrivals than service", Layer: model.LayerCause, Pool: "chat", Workflow: "chat", Symptom: "chat TTFT: 1 of 1892 met 500 ms",
			Cause: "arrivals ×3.6, all chat", Binding: "KV cache full, 1.0 preemptions/s", Confidence: model.HighConfidence,
			Evidence: []string{"arrivals 8.1 → 29.2 /s", "KV 0.14 → 0.99"}, Against: []string{"flat arrivals"}, Not: []string{"the GPU: a step takes 1.07× what the load explains"},
			Try: []string{"add a replica (load 1.46 → 0.73)", "cap chat at 13 req/s"}, Factor: &lambda, Binds: model.BindsKV, N: model.Of(1892), WindowS: 60, BaselineS: model.Of(350), Since: at(10 * time.Minute),
		},
		{ID: "T6", Title: "requests are prefilled twice", Layer: model.LayerBinding, Pool: "chat", Target: "模型\x1b[2J", Confidence: model.MediumConfidence},
	}
	f.Utilization = []model.UtilizationView{
		{
			Target: "vllm-0:8000", MFU: model.Of(.21), MBU: model.Of(.44), Basis: model.ByEngine, Bound: model.BoundBandwidth, Likely: true,
			Measures: []model.MeasureView{
				{Basis: model.ByGPM, Compute: model.Of(.22), Bandwidth: model.Of(.61)}, {Basis: model.ByExporter}, {Basis: model.ByEngine, Compute: model.Of(.21), Bandwidth: model.Of(.44)},
				{Basis: model.ByShape, Compute: model.Of(.2)},
			},
			Step:     &model.StepView{Seconds: model.Of(.0128), Fixed: model.Of(.0068), KV: model.Of(.0031), Prefill: model.Of(.0029), Sequences: model.Of(0), Unexplained: model.Of(0), Residual: model.Of(1)},
			Sentence: "likely bandwidth-bound decode: weights and KV reads are 77 % of a step", Gap: "DRAM is busier than weights and KV reads need",
		},
		{Target: "vllm-1:8000", Busy: model.Of(.98), Sentence: "unknown: NVML gives busy time only; GPM or --enable-mfu-metrics would tell"},
		{Target: "vllm-2:8000"},
		{Target: "vllm-3:8000", MFU: model.Of(.1), Step: &model.StepView{Why: "no step counter"}, Bound: model.BoundUnder},
	}
	f.Capacity = []model.CapacityView{
		{
			Pool: "chat", Load: model.Of(1.46), Rate: model.Of(29.2), PerCall: model.Of(.05), MaxRate: model.Of(19.7), KVRate: model.Of(17.5), SLORate: model.Of(14.4),
			Headroom: model.Of(-.52), More: model.Of(-15.2), First: model.BindsKV, FirstWhy: "the KV cache at 17.5 req/s", Observed: between(7.9, 29.4),
			Replicas: model.ReplicaPlan{Ready: 1, Needed: model.Of(3), Forecast: model.Of(40), Then: model.Of(4)},
			Cost:     &model.CostView{Currency: "$", PerHour: model.Of(3.24), PerMillion: model.Of(.246), PerMillionGood: between(.46, .51), Note: "GPUs as configured"},
			Energy:   &model.EnergyView{PowerW: model.Of(600), Boards: 1, WhPerMillion: model.Of(50.7), Note: "power of the boards, without their hosts"}, Sentence: "overloaded: a second replica makes it 0.73",
		},
		{Pool: "code", Load: model.Of(.47), Rate: model.Of(9.3), Headroom: model.Of(.49), More: model.Of(4.5), First: model.BindsKV},
		{Pool: "batch", Why: "no step-time model yet: 3 of 12 samples"},
		{Pool: "new"},
	}
	return f
}

func TestDiagnosisInText(t *testing.T) {
	text := strings.Join(strings.Fields(Text(explained(), Options{Width: 200})), " ")
	for _, want := range []string{
		"DIAGNOSIS chat: arrivals ×3.6, all chat: KV cache full; 60 s against 350 s before 03:09:00 UTC", "limits vllm-1:8000 exports no steps",
		"T1 more arrivals than service (cause, chat, confidence high, n 1892, since 03:10:00 UTC)", "because arrivals ×3.6, all chat · KV cache full, 1.0 preemptions/s",
		"not the GPU: a step takes 1.07× what the load explains", "try add a replica (load 1.46 → 0.73), or cap chat at 13 req/s", "shows arrivals 8.1 → 29.2 /s; KV 0.14 → 0.99",
		"T6 requests are prefilled twice (binding, 模型␛[2J, confidence medium)",
		"DIAGNOSIS code: cannot tell: only 20 s of quiet time to compare with", "DIAGNOSIS batch: no finding: no factor moved; 60 s against 350 s",
		"UTILIZATION vllm-0:8000, tensor active 22 % and DRAM active 61 % by GPM, MFU 21 % and MBU 44 % by the engine's own estimate, MFU 20 % and MBU no data by the model's shape, likely bandwidth-bound",
		"step 12.8 ms, fixed 6.8 ms, KV reads 3.1 ms, prefill 2.9 ms, unexplained 0.0 ms, 1.00× of what load explains", "DRAM is busier than weights and KV reads need",
		"UTILIZATION vllm-1:8000: unknown: NVML gives busy time only", "UTILIZATION vllm-2:8000: unknown", "UTILIZATION vllm-3:8000, MFU 10 % and MBU no data, underused step no step counter",
		"CAPACITY chat, load 1.46 of 0.7 (model), no room: 15.2 req/s too many, binds first: the KV cache at 17.5 req/s",
		"29.2 req/s now, 14.4 where an objective breaks, 17.5 where the KV cache is full, 19.7 where queues never end, 7.9–29.4 req/s seen",
		"1 ready, needed now 3, needed for 40.0 req/s 4", "$3.24 an hour, $0.246 per million output tokens, $0.460–$0.510 per million good ones, GPUs as configured", "600 W board power of 1 GPU, 50.7 Wh per million output tokens, power of the boards, without their hosts",
		"CAPACITY code, load 0.47 of 0.7 (model), room for 4.5 req/s of this mix (+48 %), binds first: KV cache",
		"CAPACITY batch: load not known: no step-time model yet: 3 of 12 samples", "CAPACITY new: load not known",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	quiet := Text(calm(), Options{})
	for _, word := range []string{"DIAGNOSIS", "UTILIZATION", "CAPACITY"} {
		if strings.Contains(quiet, word) {
			t.Errorf("%s where nobody looked", word)
		}
	}
}

// TestManyPoolsInText: what is not shown is counted, and nothing is told twice.
func TestManyPoolsInText(t *testing.T) {
	f := explained()
	for i := range 40 {
		f.Diagnoses = append(f.Diagnoses, model.DiagnosisView{Pool: fmt.Sprint("p", i), State: model.NoFinding})
		f.Capacity = append(f.Capacity, model.CapacityView{Pool: fmt.Sprint("p", i)})
		f.Utilization = append(f.Utilization, model.UtilizationView{Target: fmt.Sprint("t", i)})
	}
	text := Text(f, Options{})
	for _, want := range []string{"DIAGNOSIS  23 pools more", "CAPACITY  24 pools more", "UTILIZATION  12 engines more"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is there %d times", want, strings.Count(text, want))
		}
	}
	if n := strings.Count(text, "more arrivals than service"); n != 1 {
		t.Errorf("a finding is told %d times", n)
	}
	lone := calm()
	lone.Findings = explained().Findings
	if text := Text(lone, Options{}); strings.Count(text, "more arrivals than service") != 1 {
		t.Error("a finding without a diagnosis is not told")
	}
}

// TestCheckNamesTheCause: of what was missed, in every form for people.
func TestCheckNamesTheCause(t *testing.T) {
	f := gated()
	e := explained()
	f.Diagnoses, f.Findings = e.Diagnoses[:2], e.Findings
	f.Diagnoses[0].Workflows, f.Diagnoses[1].Workflows = []string{"chat", "summarize|<b>"}, []string{"nightly"}
	for name, form := range forms(t, Judge(f, CheckOptions{})) {
		if name == "json" {
			continue
		}
		text := strings.Join(strings.Fields(string(form)), " ")
		for _, want := range []string{
			"arrivals ×3.6, all chat · KV cache full, 1.0 preemptions/s (confidence high, n 1892)", "add a replica (load 1.46 → 0.73), or cap chat at 13 req/s",
			"cannot tell: only 20 s of quiet time to compare with",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", name, want, text)
			}
		}
	}
	for name, form := range forms(t, Judge(f, CheckOptions{Only: only("chat")})) {
		if strings.Contains(string(form), "arrivals") {
			t.Errorf("%s names the cause of what was kept:\n%s", name, form)
		}
	}
}
