package main

import (
	"cmp"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/report"
	"slotop/sources/dialect"
)

// figure is something that the screen shows of a target, and the signals that it
// takes: all of one of the sets, the best first. A bare one is not missed where
// nothing tells of it: most servers do not speculate.
type figure struct {
	name string
	bare bool
	sets [][]model.Signal
}

type signals = []model.Signal

// engineFigures are what the screen shows of an engine.
var engineFigures = []figure{
	{name: "running", sets: []signals{{model.Running}}},
	{name: "waiting", sets: []signals{{model.Waiting}}},
	{name: "wait of a request that arrives now", sets: []signals{{model.Waiting, model.TTFT}}},
	{name: "requests finished", sets: []signals{{model.Finished}, {model.E2E}}},
	{name: "requests failed", bare: true, sets: []signals{{model.Failed}}},
	{name: "requests cancelled", bare: true, sets: []signals{{model.Cancelled}}},
	{name: "retries", bare: true, sets: []signals{{model.Retried}}},
	{name: "requests started", bare: true, sets: []signals{{model.Started}}},
	{name: "output tokens/s", sets: []signals{{model.OutputTokens}, {model.ReportedOutput}}},
	{name: "prompt tokens/s", sets: []signals{{model.PromptTokens}}},
	{name: "TTFT", sets: []signals{{model.TTFT}}},
	{name: "TPOT", sets: []signals{{model.TPOT}}},
	{name: "ITL", sets: []signals{{model.ITL}}},
	{name: "E2E latency", sets: []signals{{model.E2E}}},
	{name: "queue time", sets: []signals{{model.Queue}, {model.ReportedQueueMean}}},
	{name: "prefill time", sets: []signals{{model.Prefill}}},
	{name: "decode time", sets: []signals{{model.Decode}}},
	{name: "KV cache usage", sets: []signals{{model.KVUsage}}},
	{name: "KV cache size", bare: true, sets: []signals{{model.KVCapacity}}},
	{name: "KV cache tokens in use", bare: true, sets: []signals{{model.KVUsedTokens}, {model.KVUsage, model.KVCapacity}}},
	{name: "sequence cap", bare: true, sets: []signals{{model.MaxRunning}}},
	{name: "prefix cache hits", sets: []signals{{model.PrefixQueries, model.PrefixHits}, {model.CachedTokens, model.PromptTokens}, {model.ReportedHitRatio}}},
	{name: "cached share of prompts", sets: []signals{{model.CachedTokens, model.PromptTokens}}},
	{name: "preemptions", sets: []signals{{model.Preemptions}}},
	{name: "requests set aside", bare: true, sets: []signals{{model.Swapped}}},
	{name: "prompt and output lengths", sets: []signals{{model.PromptLength, model.OutputLength}}},
	{name: "output limits", bare: true, sets: []signals{{model.OutputLimit}}},
	{name: "tokens per step", bare: true, sets: []signals{{model.StepTokens}}},
	{name: "MFU by the engine", sets: []signals{{model.EstimatedFLOPs}}},
	{name: "MBU by the engine", sets: []signals{{model.EstimatedRead, model.EstimatedWritten}}},
	{name: "speculation", bare: true, sets: []signals{{model.SpecDraftTokens, model.SpecAccepted}, {model.SpecAcceptLength}, {model.SpecDrafts}}},
	{name: "restarts", bare: true, sets: []signals{{model.ProcessStart}}},
}

// gatewayFigures are what the screen shows of a gateway.
var gatewayFigures = []figure{
	{name: "in flight", sets: []signals{{model.Running}, {model.IsStreaming}}},
	{name: "queued", sets: []signals{{model.Waiting}, {model.AtGateway}}},
	{name: "phases of requests", bare: true, sets: []signals{{model.AtGateway, model.Preparing, model.AtModel, model.IsStreaming}, {model.AtGateway}, {model.Preparing}, {model.AtModel}, {model.IsStreaming}}},
	{name: "requests finished", sets: []signals{{model.Finished}, {model.E2E}}},
	{name: "requests failed", sets: []signals{{model.Failed}, {model.Finished}}},
	{name: "requests cancelled", bare: true, sets: []signals{{model.Cancelled}}},
	{name: "retries", bare: true, sets: []signals{{model.Retried}}},
	{name: "requests started", bare: true, sets: []signals{{model.Started}}},
	{name: "output tokens/s", sets: []signals{{model.OutputTokens}}},
	{name: "prompt tokens/s", sets: []signals{{model.PromptTokens}}},
	{name: "cached share of prompts", bare: true, sets: []signals{{model.CachedTokens, model.PromptTokens}}},
	{name: "TTFT and the time outside the engine", sets: []signals{{model.TTFT}}},
	{name: "TPOT", sets: []signals{{model.TPOT}}},
	{name: "ITL", bare: true, sets: []signals{{model.ITL}}},
	{name: "E2E latency", sets: []signals{{model.E2E}}},
	{name: "queue time", sets: []signals{{model.Queue}}},
	{name: "KV cache usage of the pool", bare: true, sets: []signals{{model.KVUsage}}},
	{name: "prompt and output lengths", bare: true, sets: []signals{{model.PromptLength, model.OutputLength}, {model.OutputLength}}},
	{name: "restarts", bare: true, sets: []signals{{model.ProcessStart}}},
}

// figuresOf are what may be shown of a kind of target; none of one that has no
// signals of its own.
func figuresOf(kind string) []figure {
	switch kind {
	case model.GatewayTarget:
		return gatewayFigures
	case model.GPUTarget, model.FinderTarget, model.ProbeTarget:
		return nil
	default:
		return engineFigures
	}
}

// tells says of which signals a target tells: those of its last poll, those that it
// could tell and does not, and what its dialect knows of the others.
type tells struct {
	about    *model.About
	has      map[model.Signal]bool
	dialects *dialect.Set
}

func (t *tells) shows(f figure) bool {
	return slices.ContainsFunc(f.sets, func(set signals) bool {
		return !slices.ContainsFunc(set, func(s model.Signal) bool { return !t.has[s] })
	})
}

// waits reports whether a figure comes with the first event that it tells of.
func (t *tells) waits(f figure) bool {
	return slices.ContainsFunc(f.sets, func(set signals) bool {
		return !slices.ContainsFunc(set, func(s model.Signal) bool { return !t.has[s] && !t.comes(s) })
	})
}

// comes reports whether a signal that is not on the page will be, without anybody's
// doing.
func (t *tells) comes(s model.Signal) bool {
	a, known := t.dialects.Advice(t.about, string(s))
	return known && a.Metric != "" && a.Needs == "" && !slices.Contains(t.about.Missing, s)
}

// lack says why a figure cannot be told, and what would change that: of the best
// set for which something can be done.
func (t *tells) lack(f figure) report.Lack {
	var best report.Lack
	for _, set := range f.sets {
		l := t.lackOf(set)
		if best.Why == "" || best.Do == "" && l.Do != "" {
			best = l
		}
	}
	best.What = f.name
	return best
}

func (t *tells) lackOf(set signals) report.Lack {
	l := report.Lack{Metrics: []string{}}
	var whys, dos []string
	for _, s := range set {
		if t.has[s] {
			continue
		}
		a := t.absence(s)
		whys, dos = append(whys, a.why), append(dos, a.do)
		if a.metric != "" {
			l.Metrics = append(l.Metrics, a.metric)
		}
	}
	l.Why, l.Do = joined(whys, ", "), model.Text(joined(dos, "; "))
	return l
}

// joined puts texts together, each once.
func joined(texts []string, gap string) string {
	var once []string
	for _, s := range texts {
		if s != "" && !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return strings.Join(once, gap)
}

// absence says why a signal is not there, under which name it would be, and what to
// do for it.
type absence struct{ why, metric, do string }

func (t *tells) absence(s model.Signal) absence {
	a, known := t.dialects.Advice(t.about, string(s))
	switch {
	case !known || a.Metric == "":
		return absence{why: cmp.Or(t.about.Engine, "the target") + " exports none", do: a.Enable}
	case a.Enable == "" && a.Needs != "":
		return absence{why: "not exported here; needs: " + a.Needs, metric: a.Metric}
	default:
		return absence{why: "not exported here", metric: a.Metric, do: a.Enable}
	}
}
