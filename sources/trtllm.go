package sources

import (
	"slices"
	"time"

	"slotop/model"
)

// iterations reads TensorRT-LLM's iteration statistics, the JSON at /metrics. They
// are a queue that reading empties, whoever reads: only where the address says
// ?drain=yes.
type iterations struct {
	text     jsonText
	said     said
	finished model.Reading // requests, in all records that were read; unknown where none says
}

var _ reader = (*iterations)(nil)

// iteration is one record of the queue.
type iteration struct {
	levels   []model.Sample
	finished model.Reading
	known    bool
}

const drainNote = "reading empties the queue of statistics: two readers share it, and what another read is missing here"

func (it *iterations) read(body []byte, _ time.Time) (model.Batch, error) {
	t := &it.text
	t.reset(body)
	if t.peek() != '[' {
		return model.Batch{}, errForeign
	}
	var last iteration
	records, alien := 0, false
	finished := it.finished
	for range t.items {
		if t.peek() != '{' {
			alien = true
			continue
		}
		last = readIteration(t)
		records++
		if n, ok := last.finished.Get(); ok {
			finished = model.Of(finished.Value + n)
		}
		alien = alien || !last.known
	}
	if alien || !t.ends() {
		return model.Batch{}, errForeign
	}
	it.finished = finished
	about := model.About{
		Engine: "trtllm", Notes: []string{drainNote},
		Missing: []model.Signal{model.PromptTokens, model.OutputTokens, model.TTFT, model.TPOT, model.E2E, model.Queue},
	}
	if records == 0 {
		about.Notes = append(about.Notes, "no iteration since the last poll: nothing ran, enable_iter_perf_stats is off, or another reader took them")
	}
	samples := last.levels
	if n, ok := finished.Get(); ok {
		samples = append(samples, model.Sample{Signal: model.Finished, Kind: model.Counter, Value: n})
	}
	for _, s := range samples {
		about.Meanings = append(about.Meanings, meaningOfIteration(s.Signal))
	}
	return model.Batch{Samples: samples, About: it.said.of(about)}, nil
}

func meaningOfIteration(s model.Signal) model.Meaning {
	measures := "the last iteration"
	if s == model.Finished {
		measures = "in the records that were read since slotop looks on"
	}
	return model.Meaning{Signal: s, Metric: "/metrics (JSON)", Measures: measures}
}

// readIteration reads one record.
func readIteration(t *jsonText) (r iteration) {
	add := func(s model.Signal, scale float64) {
		if v, ok := t.real(); ok && v >= 0 {
			r.levels = append(r.levels, gauge(s, v*scale, model.LabelSet{}))
		}
	}
	for name := range t.fields {
		switch string(name) {
		case "iterLatencyMS":
			r.known = true
		case "numActiveRequests": // admitted: some may wait for the batch
			add(model.Running, 1)
		case "numQueuedRequests":
			add(model.Waiting, 1)
		case "maxNumActiveRequests":
			add(model.MaxRunning, 1)
		case "numCompletedRequests":
			if v, ok := t.real(); ok {
				r.finished = model.Of(v)
			}
		case "kvCacheStats":
			if t.peek() == '{' {
				r.levels = append(r.levels, readBlocks(t)...)
			}
		}
	}
	return r
}

// readBlocks are the levels of the KV cache, from its blocks.
func readBlocks(t *jsonText) []model.Sample {
	var used, most, tokens, hits model.Reading
	for name := range t.fields {
		to := map[string]*model.Reading{"usedNumBlocks": &used, "maxNumBlocks": &most, "tokensPerBlock": &tokens, "cacheHitRate": &hits}[string(name)]
		if to == nil {
			continue
		}
		if v, ok := t.real(); ok && v >= 0 {
			*to = model.Of(v)
		}
	}
	var out []model.Sample
	add := func(s model.Signal, v float64, needs ...model.Reading) {
		if !slices.ContainsFunc(needs, func(r model.Reading) bool { return !r.OK() }) {
			out = append(out, gauge(s, v, model.LabelSet{}))
		}
	}
	if most.Value > 0 {
		add(model.KVUsage, used.Value/most.Value, used, most)
	}
	add(model.KVUsedTokens, used.Value*tokens.Value, used, tokens)
	add(model.KVCapacity, most.Value*tokens.Value, most, tokens)
	add(model.ReportedHitRatio, hits.Value, hits)
	return out
}
