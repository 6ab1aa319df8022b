package glossary

import "slotop/model"

var targets = []Topic{
	target("took", "time of a poll", "s", "How long the last poll took, from asking to the last byte.", "end − begin", "A server that is slow to tell its metrics is often starved on its host; some builds are slow under load only."),
	target("polls", "polls", "polls", "How often the target was asked.", "counted", ""),
	target("failed_polls", "failed polls", "polls", "How many of them gave nothing usable.", "counted", "One time-out or garbled page is noise, two in a row make the target down; a refused, denied or missing page does at once."),
	target("bad_lines", "lines not understood", "lines", "Lines of the last good page that could not be read and were skipped.", "counted", "Each may hide a number."),
	target("dropped_series", "series dropped", "series", "Series beyond the limits, which are not kept.", "counted", "What was dropped is in no sum."),
	target("restarts", "restarts", "restarts", "How often the target's process began anew while it was watched.", "counters that fall, or a start time that moves", "A server with several processes may tell no start time."),
	target("target.state", "state of a target", "", "How the target is: up, idle, STALLED, stale or down with the reason, and since when.", "up: answers and moves; idle: answers and nothing is to do; stalled: work and no movement over 3 polls and 10 s (2 min where counters move only at the end of requests); stale: no good poll for max(3 polls, 15 s)", "It is about the target's word: a server may serve while its metrics hang."),
	target("last_good", "last good poll", "", "When the target last gave a usable answer.", "the time of that poll", "Everything shown of it is as old as this."),
	target("clock_skew", "clock ahead of ours", "s", "How far the target's clock is ahead of ours.", "its Date − ours at the middle of the poll", "To a second only."),
	target("step_s", "time between two points", "s", "How far apart two points are that a server passes on.", "asked of the server", "Nothing shorter than this can be seen."),
	target("replicas.behind", "servers behind a target", "servers", "How many servers a target speaks for, and how many of them are fresh.", "counted", ""),
	target("window", "window", "s", "What rates and percentiles are over.", "chosen; from the poll nearest to its beginning to the newest, never extended", "A longer one is steadier and later."),
	target("covered", "covered span", "s", "How much of the window the data spans.", "newest poll − oldest poll in the window", "Below the window a number is of a shorter time than it says."),
	target("imbalance", "imbalance", "times", "How unequally the targets of a workflow are loaded.", "waiting and running: the greatest / the mean; KV cache: the fullest / the mean of the others; TTFT: the slowest p95 / the middle one; said only beyond chance", "Targets of unequal size may be loaded unequally by right."),
	target("probe.ended", "probe requests", "requests", "Requests that slotop sent itself because it was asked to, and that ended.", "counted over the probe's own window", "They are nobody's traffic and count in no goodput."),
	target("probe.failed", "failed probe requests", "requests", "How many of them failed.", "counted", "Few requests: one failure is a large share."),
	target("engine.id", "engine", "", "A data-parallel engine or rank within a target.", "as the page tells it", "Tensor-parallel ranks repeat one another and are none.", model.Running),
}

func target(key, name, unit, is, formula, misleads string, signals ...model.Signal) Topic {
	return Topic{
		Key: key, Name: name, Unit: unit, Group: GroupTargets, Is: is,
		Measured: "By slotop itself, on its own clock.", Formula: formula, Misleads: misleads, Signals: signals,
	}
}

var findings = []Topic{
	finding("alert.value", "an alert's number", "", "What a rule looks at, now.", "as the rule says", "An alert that cannot be judged any more goes on firing and is marked as old: silence is no recovery.", "Prometheus: value of an alert"),
	finding("alert.peak", "the worst since it began", "", "The worst that the rule's number was since the condition began.", "the greatest over that time, or the least where the rule fires below its limit", ""),
	finding("alert.limit", "an alert's limit", "", "What the rule's number is held against.", "configured, or the default", ""),
	finding("alert.since", "since when", "", "When the condition began, and for how long it has held.", "time of the frame − beginning", "Pending alerts have not fired yet: they must hold for a while."),
	finding("alert.times", "how often it fired", "times", "How often this alert has fired.", "counted", "Many in a row are a limit too near to the normal."),
	finding("alerts", "alerts", "alerts", "How many alerts fire, are pending, or cannot be judged.", "counted", ""),
	finding("rules", "rules", "rules", "How many rules are evaluated.", "counted", "No alert means little if few rules can be evaluated: those that cannot are listed."),
	finding("factor", "factor", "of its own unit", "One of the things whose change changes an engine's work: arrivals, prompt length, cache misses, output length, the machine.", "work = arrivals · work a request · machine; the factors' effects multiply", "Shares of several factors do not add up.", "LMDI decomposition (Ang, Energy Policy 2005): an effect"),
	finding("factor.before", "factor before", "of its own unit", "The factor in the baseline: the minutes before the change.", "mean over the baseline", "A baseline that was hurt itself shows no change."),
	finding("factor.now", "factor now", "of its own unit", "The factor over the last 60 s, whatever the window.", "mean over the last six blocks of 10 s", ""),
	finding("factor.ratio", "factor now against before", "times", "By how much the factor changed.", "now / before", ""),
	finding("factor.work", "work through a factor", "share of the work before", "By how much the work grew through this factor alone.", "change of the work with only this factor changed", "Effects multiply and do not add up."),
	finding("evidence", "evidence", "", "A measured fact that a finding rests on.", "as it says", ""),
	finding("finding.n", "requests behind a finding", "requests", "How many requests a finding rests on.", "counted over the last 60 s", "Below 30, then or in the baseline, no cause is named."),
	finding("finding.since", "a finding since", "", "When the finding was first made.", "time of the evaluation", "The cause may have begun earlier: a change must be beyond chance first."),
	finding("confidence", "confidence", "", "How sure a finding is: high is a cause with what binds and nothing against it, medium a cause alone, low a pattern of symptoms.", "by what was found for and against it", "High is no proof: what would change the mind is listed."),
	finding("stage", "stage of a load test", "", "A stretch from one mark to the next, with figures of its own.", "from the marks", "Requests that began before a mark end behind it."),
	finding("change", "change between two stages", "of its own unit", "How a figure differs between two stages or recordings, and between what the true difference lies.", "the later / the earlier, or their difference for shares; the interval of each side goes into that of the change", "Smaller than chance and buckets allow it is called noise, and is none. Of different loads it says little."),
	finding("delivery.sent", "messages delivered", "messages", "How many alerts were carried out to a receiver.", "counted", ""),
	finding("delivery.failed", "messages not delivered", "messages", "How many could not be carried out.", "counted after the last attempt", ""),
}

func finding(key, name, unit, is, formula, misleads string, also ...string) Topic {
	return Topic{
		Key: key, Name: name, Unit: unit, Group: GroupFindings, Is: is,
		Measured: "Computed by slotop from its targets' numbers.", Formula: formula, Misleads: misleads, AlsoCalled: also,
	}
}
