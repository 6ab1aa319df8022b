package slo

import "slotop/model"

// Published is a set of objectives that somebody published, to start from.
type Published struct {
	Name       string
	Source     string // who published it
	Objectives []model.Objective
	Share      float64 // of requests within each bound, as published
}

// Presets are the latency constraints of MLPerf Inference for language models
// and the starting points of guidellm, whose ITL is what is called TPOT here.
// MLPerf passes where 99 % meet TTFT and 99 % meet TPOT; here 99 % must meet
// both, which is stricter.
var Presets = []Published{
	mlperf("llama-3.1-8b/server", 2, .1),
	mlperf("llama-3.1-8b/interactive", .5, .03),
	mlperf("llama-2-70b/server", 2, .2),
	mlperf("llama-2-70b/interactive", .45, .04),
	mlperf("mixtral-8x7b/server", 2, .2),
	mlperf("llama-3.1-405b/server", 6, .175),
	mlperf("llama-3.1-405b/interactive", 4.5, .08),
	mlperf("deepseek-r1/server", 2, .08),
	mlperf("deepseek-r1/interactive", 1.5, .015),
	mlperf("gpt-oss-120b/server", 3, .08),
	mlperf("gpt-oss-120b/interactive", 2, .02),
	{"mlperf/qwen3-vl-235b-a22b/server", "MLPerf Inference", []model.Objective{e2e(12)}, .99},
	guidellm("chat", ttft(.2), tpot(.05)),
	guidellm("rag", ttft(.3), tpot(.1), e2e(3)),
	guidellm("content-generation", ttft(.6), tpot(.2)),
	guidellm("code-generation", ttft(.5), tpot(.15)),
	guidellm("code-completion", e2e(2)),
}

func ttft(s float64) model.Objective { return model.Objective{Metric: model.MetricTTFT, MaxS: s} }
func tpot(s float64) model.Objective { return model.Objective{Metric: model.MetricTPOT, MaxS: s} }
func e2e(s float64) model.Objective  { return model.Objective{Metric: model.MetricE2E, MaxS: s} }

func mlperf(name string, first, each float64) Published {
	return Published{"mlperf/" + name, "MLPerf Inference", []model.Objective{ttft(first), tpot(each)}, .99}
}

func guidellm(name string, o ...model.Objective) Published {
	return Published{name, "guidellm", o, .99}
}

// Preset is the preset of that name.
func Preset(name string) (Published, bool) {
	for _, p := range Presets {
		if p.Name == name {
			return p, true
		}
	}
	return Published{}, false
}
