package glossary

import "slotop/model"

// asModel is the trap of what a model says.
const asModel = "It is a model's word: it holds for this mix of requests, up to a load of 0.7; above that traffic fluctuates and it is too optimistic."

var capacity = []Topic{
	{
		Key: "load", Name: "load factor", Unit: "0–1, can exceed 1", Group: GroupCapacity,
		Is:       "How much of a pool's time the arriving requests need. From 0.7 on queues grow faster than the load, at 1 they never end.",
		Measured: "From arrivals, lengths, cache hits and the step model of the pool.",
		Formula:  "ρ = arrivals · s / replicas, s = prefill coefficient · computed prompt tokens + (host coefficient + KV coefficient · context) · output tokens (seconds of machine a request)",
		Misleads: asModel + " It is neither MFU nor MBU nor GPU busy.",
		Signals:  []model.Signal{model.Started, model.PromptTokens, model.OutputTokens, model.StepTokens}, AlsoCalled: []string{"queueing theory: utilization ρ, offered load a server"},
	},
	capacityTopic("pool.rate", "rate of the pool", "requests/s", "How many requests a second arrive at the pool: in an overload more than it serves.", "(requests ended + growth of running and waiting) / time, over the last six blocks of 10 s", "Requests that are given up and tried again count again."),
	capacityTopic("machine_s_per_request", "machine time of a request", "s", "Seconds of the machine that one request of the present mix needs.", "s = prefill coefficient · computed prompt tokens + (host coefficient + KV coefficient · context) · output tokens", asModel),
	capacityTopic("max_requests_per_second", "rate at which queues never end", "requests/s", "The rate at which the machine does nothing else any more, were the KV cache endless.", "replicas / s", asModel, "queueing theory: saturation throughput"),
	capacityTopic("kv_requests_per_second", "rate at which the KV cache is full", "requests/s", "The rate at which running requests fill the KV cache.", "replicas · K / (N · context · b0 + K · s); K a replica's capacity in tokens, N output tokens, b0 the fixed part of a step", asModel),
	capacityTopic("at_objective_per_second", "rate at the objective", "requests/s", "The highest rate at which every promised TPOT still holds.", "replicas · (1 − b0 / T) / s with T the TPOT bound divided by how many times the mean the promised percentile was in the last minute", "TTFT is not in it: a queue has no such formula. "+asModel, "DistServe (OSDI '24): goodput, as a maximal rate", "also: SLO capacity"),
	capacityTopic("headroom", "headroom", "share of the present rate", "By how much the present rate may grow until the planning limit, as if nothing bound before it.", "0.7 / ρ − 1", asModel),
	capacityTopic("more_requests_per_second", "more requests of this mix", "requests/s", "How many requests a second may be added until the planning limit, or until something binds before it; below 0 so many are too many.", "min(0.7 · replicas / s, the rate at which the first thing binds) − rate", asModel),
	capacityTopic("binds_first", "what binds first", "", "What is full or broken first as the rate grows: the KV cache, a cap, an objective, the machine.", "the least of the rates above", "What binds is a state and no cause."),
	capacityTopic("expected.tpot", "TPOT that the model expects", "s", "What the formulas give at the present rate, to hold against what is measured.", "b0 / (1 − ρ)", "Where the two part the model is not to be trusted at other rates."),
	capacityTopic("expected.running", "running that the model expects", "requests", "Sequences in the pool by the formulas.", "arrivals · N · TPOT (Little's law)", "Where it parts from what is measured the model is not to be trusted."),
	capacityTopic("expected.kv", "KV cache use that the model expects", "0–1, can exceed 1", "The share of the KV cache by the formulas; above 1 it does not suffice.", "running · context / (replicas · K)", "Where it parts from what is measured the model is not to be trusted."),
	capacityTopic("expected.fit", "sequences that fit", "sequences", "How many sequences of the present mix fit into the pool's KV caches.", "replicas · K / context", "Longer contexts make it fewer."),
	capacityTopic("replicas", "replicas", "servers", "How many servers of the pool answer, of those it should have.", "counted", "One that answers may still be loading."),
	capacityTopic("replicas.needed", "replicas needed", "servers", "How many servers the present rate needs.", "round up(arrivals · s / 0.7), or more where the KV caches need it", "A promised TPOT that breaks before a load of 0.7 is not counted: see what binds first. "+asModel),
	capacityTopic("replicas.then", "replicas needed for the forecast", "servers", "How many servers a configured rate would need.", "round up(forecast · s / 0.7)", asModel+" The forecast is the operator's own."),
	capacityTopic("forecast", "forecast", "requests/s", "The rate that the configuration asks about.", "configured", "Nobody measured it."),
	capacityTopic("knee", "knee", "requests/s", "The highest rate at which a workflow surely kept its promise.", "over blocks of 60 s: the highest rate whose Wilson lower end, with requests that share their fate counted as fewer, is at or above the promised share", "Only of rates that were seen. As long as none failed the knee lies beyond them. Where a minute at no higher a rate missed the promise too, something else than the rate was at work: a fault, or other traffic.", "load tests: knee, saturation point"),
	capacityTopic("observed", "range of rates seen", "requests/s", "The lowest and the highest rate that was seen.", "over blocks of 60 s", "Nothing is known beyond it."),
	capacityTopic("lever.rate", "what a change would buy", "requests/s", "How many more requests a second one change would allow, by the model.", "0.7 · replicas · (1/s with the changed term − 1/s)", asModel),
	capacityTopic("lever.load", "load after a change", "0–1, can exceed 1", "The load factor after one change, by the model.", "ρ with the changed term", asModel),
	capacityTopic("cost.per_hour", "price per hour", "currency/h", "What the pool's GPUs cost an hour.", "GPUs · price of one for an hour", "As configured: reserved and idle machines cost too."),
	capacityTopic("cost.per_million", "cost of a million output tokens", "currency", "What a million generated tokens cost at the present rate.", "price an hour / (output tokens a second · 3600) · 1,000,000", "At low load it is high: the machine costs the same. Some publish it over prompt and output tokens together."),
	capacityTopic("cost.per_million_good", "cost of a million good output tokens", "currency", "The same over tokens of requests that met every bound: what a token costs that somebody wanted.", "cost of a million / goodput; an interval where goodput is one", "Throughput can rise, and the cost fall, while this rises."),
	capacityTopic("energy.power", "power of the pool", "W", "What the boards draw that serve the pool.", "Σ power of the boards", "Boards, not the wall."),
	capacityTopic("energy.tokens_per_joule", "tokens per joule", "tokens/J", "Output tokens for a joule.", "output tokens a second / W", "Boards, not the wall; prompts cost energy too."),
	capacityTopic("energy.wh_per_million", "energy of a million output tokens", "Wh", "Energy of a million generated tokens.", "1,000,000 / (3600 · tokens per joule)", "Boards, not the wall."),
	capacityTopic("energy.good_per_joule", "good tokens per joule", "tokens/J", "Output tokens of good requests for a joule.", "tokens per joule · goodput", "An interval where goodput is one."),
	capacityTopic("waste", "wasted work", "0–1, shown in %", "Tokens that helped nobody: of failed, abandoned, cut or retried requests, or computed again after a preemption.", "tokens of such requests / output tokens; recomputed ones / prompt tokens", "Kinds overlap and are not added up. What no source tells is called so."),
	capacityTopic("waste.tokens", "wasted tokens per second", "tokens/s", "Tokens a second that helped nobody.", "increase over the newest minute of whole blocks / 60 s; recomputed ones: preemptions a second · context", "Kinds overlap."),
	capacityTopic("waste.n", "requests behind the waste", "requests", "How many requests, or preemptions, the waste came from.", "counted over the newest minute of whole blocks", ""),
	capacityTopic("worst_burn", "worst burn of an hour", "times the budget", "The highest burn rate of any hour so far.", "max over hours of (1 − goodput) / (1 − promised share)", "Only of the time that slotop has seen."),
}

func capacityTopic(key, name, unit, is, formula, misleads string, also ...string) Topic {
	return Topic{
		Key: key, Name: name, Unit: unit, Group: GroupCapacity, Is: is,
		Measured: "Of a pool: the targets that serve the same workflows.", Formula: formula, Misleads: misleads, AlsoCalled: also,
	}
}
