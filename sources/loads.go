package sources

import (
	"slices"
	"strconv"
	"time"

	"slotop/model"
)

// loads reads SGLang's /v1/loads, which works without --enable-metrics: what each
// data-parallel rank does at the moment of the call. It has levels only.
type loads struct {
	text jsonText
	said said
}

var _ reader = (*loads)(nil)

// loadLevels are the numbers of a rank and what they mean. Those in objects of
// their own are named by both names.
var loadLevels = []struct {
	name     string
	signal   model.Signal
	measures string
}{
	{"num_running_reqs", model.Running, ""},
	{"num_waiting_reqs", model.Waiting, ""},
	{"token_usage", model.KVUsage, "evictable tokens not counted"},
	{"num_used_tokens", model.KVUsedTokens, ""},
	{"max_total_num_tokens", model.KVCapacity, ""},
	{"max_running_requests", model.MaxRunning, ""},
	{"gen_throughput", model.ReportedOutput, "since the previous report, stays when idle"},
	{"cache_hit_rate", model.ReportedHitRatio, "the last prefill batch, 0 after each decode report"},
	{"queues paused + retracted", model.Swapped, "retracted and paused"},
	{"speculative accept_length", model.SpecAcceptLength, ""},
}

func (l *loads) read(body []byte, _ time.Time) (model.Batch, error) {
	t := &l.text
	t.reset(body)
	if t.peek() != '{' {
		return model.Batch{}, errForeign
	}
	about := model.About{
		Engine: "sglang",
		Notes:  []string{"read from /v1/loads, the page is off: latencies, tokens and finished requests need --enable-metrics"},
	}
	var samples []model.Sample
	ranks := -1
	for name := range t.fields {
		switch {
		case string(name) == "version":
			about.Version = t.cleaned()
		case string(name) == "loads" && t.peek() == '[':
			ranks = 0
			for range t.items {
				if t.peek() == '{' {
					samples = readLoad(t, samples)
					ranks++
				}
			}
		}
	}
	if ranks <= 0 || len(samples) == 0 || !t.ends() {
		return model.Batch{}, errForeign
	}
	about.Meanings, about.Missing = loadMeanings(samples)
	return model.Batch{Samples: samples, About: l.said.of(about)}, nil
}

// readLoad appends the levels of one rank. A rank without a number says nothing.
func readLoad(t *jsonText, samples []model.Sample) []model.Sample {
	first := len(samples)
	rank := ""
	for name := range t.fields {
		switch string(name) {
		case "dp_rank":
			if v, ok := t.real(); ok {
				rank = strconv.FormatFloat(v, 'f', -1, 64)
			}
		case "queues":
			if t.peek() == '{' {
				samples = readQueues(t, samples)
			}
		case "speculative":
			if t.peek() == '{' {
				samples = readSpeculation(t, samples)
			}
		default:
			samples = readLevel(t, string(name), samples)
		}
	}
	labels := model.LabelSet{}
	if rank != "" {
		labels = model.Labels(model.LabelEngine, rank)
	}
	for i := range samples[first:] {
		samples[first+i].Labels = labels
	}
	return samples
}

func readLevel(t *jsonText, name string, samples []model.Sample) []model.Sample {
	for _, l := range loadLevels {
		if l.name != name {
			continue
		}
		if v, ok := t.real(); ok && v >= 0 {
			samples = append(samples, gauge(l.signal, v, model.LabelSet{}))
		}
	}
	return samples
}

// readQueues adds the requests that were preempted or paused.
func readQueues(t *jsonText, samples []model.Sample) []model.Sample {
	aside, told := 0.0, false
	for name := range t.fields {
		switch string(name) {
		case "paused", "retracted":
			if v, ok := t.real(); ok {
				aside, told = aside+v, true
			}
		}
	}
	if told {
		samples = append(samples, gauge(model.Swapped, aside, model.LabelSet{}))
	}
	return samples
}

// readSpeculation adds the tokens accepted at a step: 0 stands for none yet.
func readSpeculation(t *jsonText, samples []model.Sample) []model.Sample {
	for name := range t.fields {
		if string(name) != "accept_length" {
			continue
		}
		if v, ok := t.real(); ok && v > 0 {
			samples = append(samples, gauge(model.SpecAcceptLength, v, model.LabelSet{}))
		}
	}
	return samples
}

// loadMeanings says where each level came from, and what the page would tell.
func loadMeanings(samples []model.Sample) (meanings []model.Meaning, missing []model.Signal) {
	for _, l := range loadLevels {
		if slices.ContainsFunc(samples, func(s model.Sample) bool { return s.Signal == l.signal }) {
			meanings = append(meanings, model.Meaning{Signal: l.signal, Metric: "/v1/loads " + l.name, Measures: l.measures})
		}
	}
	return meanings, []model.Signal{
		model.Finished, model.PromptTokens, model.OutputTokens, model.CachedTokens,
		model.TTFT, model.ITL, model.E2E, model.Queue,
	}
}
