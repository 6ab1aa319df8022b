// Package glossary says what every number of slotop is: its definition, where it is
// measured, its formula, when it misleads, and what others call it. It holds texts and
// refuses to hold numbers: whoever shows one explains it with its own figures.
package glossary

import (
	"slices"
	"strings"

	"slotop/model"
)

// Topic is one kind of number. Texts are whole sentences unless said otherwise; an
// empty one has nothing to say.
type Topic struct {
	Key   string // as in the frame's JSON form where the number stands there
	Name  string // as people say it: a few words
	Unit  string // of the exact value; "" for words and instants
	Group string // of the glossary, one of those below

	Is       string // the definition
	Measured string // by whom, and between which two moments
	Formula  string
	Misleads string // when the number says something else than it seems to

	Signals    []model.Signal // that it is computed from, where targets expose it
	AlsoCalled []string       // "tool or engine: its name", or "also: a word"
}

// The groups of the glossary, in its order.
const (
	GroupLatency     = "latency"
	GroupPromise     = "promises"
	GroupTraffic     = "traffic"
	GroupCache       = "KV cache"
	GroupUtilization = "utilization"
	GroupDevices     = "GPUs"
	GroupCapacity    = "capacity"
	GroupTargets     = "targets"
	GroupFindings    = "alerts and findings"
)

// All is every topic, group by group.
func All() []Topic {
	return slices.Concat(latencies, promises, traffic, cache, utilization, devices, capacity, targets, findings)
}

// Find is the topic of a key. A key with a suffix that has no topic of its own, such as
// ttft.p95, is the topic before the dot with what the suffix adds.
func Find(key string) (Topic, bool) {
	if full, ok := aliases[key]; ok {
		key = full
	}
	for _, t := range All() {
		if t.Key == key {
			return t, true
		}
	}
	head, suffix, split := cutLast(key)
	if !split {
		return Topic{}, false
	}
	of, known := suffixes[suffix]
	t, ok := Find(head)
	if !known || !ok {
		return Topic{}, false
	}
	return of.onto(t, key), true
}

// aliases are keys of the frame whose topic bears another.
var aliases = map[string]string{
	"power":                  "power_w",
	"power_limit":            "power_limit_w",
	"energy":                 "energy_j",
	"temperature":            "temperature_c",
	"sm_clock":               "sm_clock_hz",
	"memory_clock":           "memory_clock_hz",
	"memory":                 "memory_used",
	"preemptions_per_second": "preemptions",
	"wait_now_s":             "wait_now",
	"breach_in_s":            "breach_in",
	"objective":              "slo",
	"budget.remaining":       "budget",
	"per_second":             "requests_per_second",
}

func cutLast(key string) (head, suffix string, found bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return key, "", false
	}
	return key[:i], key[i+1:], true
}

// suffix is what the last part of a key adds to the topic before it.
type suffix struct{ name, unit, is, formula, misleads string }

// onto is a topic narrowed by a suffix.
func (s suffix) onto(t Topic, key string) Topic {
	t.Key = key
	short, long, _ := strings.Cut(t.Name, ", ")
	if t.Name = short + " " + s.name; long != "" {
		t.Name += ", " + long
	}
	t.Is = strings.TrimSpace(s.is + " " + t.Is)
	if s.formula != "" {
		t.Formula = s.formula
	}
	if s.unit != "" {
		t.Unit = s.unit
	}
	t.Misleads = strings.TrimSpace(s.misleads + " " + t.Misleads)
	return t
}

// The formula and the trap that all percentiles share.
const (
	quantileFormula = "Rank r = q·n falls into a bucket (l, u] that holds c observations with C before it: l + (u−l)·(r−C)/c, Prometheus' linear rule. The interval reaches from the lower edge of the bucket of the lowest plausible rank to the upper edge of that of the highest (95 %, binomial)."
	quantileTrap    = "From a histogram it is known only to within its bucket; beyond the last one only that it is more. Percentiles of several servers are never averaged: buckets are added first. Of few requests it says little: an upper limit exists from n = 72 for p95 and from 368 for p99."
)

// suffixes are the parts behind the last dot that many topics share.
var suffixes = map[string]suffix{
	"p50":   {name: "p50", is: "Half of the observations in the window were at most this long.", formula: quantileFormula, misleads: quantileTrap},
	"p90":   {name: "p90", is: "Nine of ten observations in the window were at most this long.", formula: quantileFormula, misleads: quantileTrap},
	"p95":   {name: "p95", is: "95 of 100 observations in the window were at most this long.", formula: quantileFormula, misleads: quantileTrap},
	"p99":   {name: "p99", is: "99 of 100 observations in the window were at most this long.", formula: quantileFormula, misleads: quantileTrap},
	"mean":  {name: "mean", is: "The mean over the window: exact, where a percentile is not.", formula: "increase of the sum / increase of the count, over the window", misleads: "A mean hides its tail; that is what percentiles are for."},
	"n":     {name: "(n)", unit: "observations", is: "How many observations the number rests on.", formula: "increase of the count over the window, resets taken care of"},
	"max":   {name: "objective", is: "The bound that was promised: a request within it is good in this term.", formula: "set in the configuration, or assumed (TTFT 1 s, TPOT 50 ms)", misleads: "A bound that is no bucket edge can only be judged as an interval: the two nearest edges are named where this is so."},
	"share": {name: "share within the objective", unit: "0–1, shown in %", is: "The share of requests that met this bound alone.", formula: "requests in buckets up to the bound / all; two bucket edges around the bound give an interval", misleads: "Each term is counted for itself: how many met all of them together is the goodput."},
	"2m":    {name: "over 2 min", is: "Over the last two minutes: quick, and restless."},
	"5m":    {name: "over 5 min", is: "Over the last five minutes."},
	"30m":   {name: "over 30 min", is: "Over the last half hour: slow, and sure."},
	"rate":  {name: "per second", unit: "1/s"},
	"limit": {name: "limit", is: "The bound that it is held against."},
}
