package sim

import "time"

// Scenarios lists the incidents there are. Rates are for each replica, so that a
// larger service has the same incident.
var Scenarios = []Scenario{
	{ID: "S0", Name: "steady",
		Sentence: "Three workflows at a load the service carries; nothing goes wrong."},
	{ID: "S1", Name: "traffic surge", At: quiet,
		Sentence: "Four times the chat traffic arrives; clients give up after 10 s on average.",
		Shifts:   []Shift{{Workflow: "chat", Rate: 4, Patience: 10 * time.Second}}},
	{ID: "S2", Name: "long prompts", At: quiet,
		Sentence: "A new client, doc-agent, sends 0.9 requests/s to each engine, with 20,000 prompt tokens and nothing in the cache.",
		Comers:   []Workflow{docAgent},
		Shifts:   []Shift{{Workflow: docAgent.Name, Rate: 1}}},
	{ID: "S3", Name: "long answers", At: quiet,
		Sentence: "Answers get seven times longer in chat and four times in batch-eval, up to 4096 tokens.",
		Shifts: []Shift{
			{Workflow: "chat", Output: 7, MaxOutput: 4096},
			{Workflow: "batch-eval", Output: 4, MaxOutput: 4096},
		}},
	{ID: "S3b", Name: "small KV pool", At: quiet,
		Sentence: "The KV pool of every engine shrinks from 438k to 45k tokens; traffic is unchanged.",
		Shifts:   []Shift{{Blocks: 2812}}},
	{ID: "S4", Name: "throttled GPU", At: quiet,
		Sentence: "Every GPU drops to 45 % of its SM clock and 70 % of its memory clock; traffic is unchanged.",
		Shifts:   []Shift{{SMClock: 0.45, MemoryClock: 0.7}}},
	{ID: "S5", Name: "cache collapse", At: quiet,
		Sentence: "Chat prompts are not found in the prefix cache any more, where 70 % of them were.",
		Shifts:   []Shift{{Workflow: "chat", Cold: true}}},
	{ID: "S6", Name: "cold start", At: quiet, Standby: 1,
		Sentence: "Chat traffic grows 2.6 times; a second replica is started and is ready three minutes later.",
		Shifts:   []Shift{{Workflow: "chat", Rate: 2.6}, {After: 180 * time.Second, Ready: 2}}},
	{ID: "S7", Name: "bulk over chat", At: quiet,
		Sentence: "Ten times the batch-eval traffic arrives, and every engine is tuned for throughput: token budget 16384, 1024 sequences.",
		Shifts: []Shift{
			{Workflow: "batch-eval", Rate: 10},
			{TokenBudget: 16384, Sequences: 1024},
		}},
	{ID: "S8", Name: "slow provider", At: quiet,
		Sentence: "A hosted provider answers: its first tokens take 2.5 times as long before any prompt is read, its tokens 1.6 times; traffic is unchanged.",
		Hosting:  Hosting{Intercept: 0.25, Slope: 40e-6, TPOT: 0.020},
		Shifts:   []Shift{{Intercept: 2.5, TPOT: 1.6}}},
	{ID: "S9", Name: "long prefills", At: quiet,
		Sentence: "Three times the summarize traffic arrives, and the token budget of every engine grows to 16384.",
		Shifts:   []Shift{{Workflow: "summarize", Rate: 3}, {TokenBudget: 16384}}},
	{ID: "S10", Name: "slow host", At: quiet,
		Sentence: "Every engine's host takes 15 ms a step and 150 µs a sequence; GPUs and traffic are unchanged.",
		Shifts:   []Shift{{StepOverhead: 15 * time.Millisecond, SequenceOverhead: 150 * time.Microsecond}}},
	{ID: "S11", Name: "poor drafts", At: quiet,
		Sentence:    "Engines decode speculatively, four tokens at a time; of the drafted tokens 60 % are right, where 80 % were.",
		Speculation: Speculation{Draft: 4, Acceptance: 0.8},
		Shifts:      []Shift{{Acceptance: 0.6}}},
	{ID: "S12", Name: "offline job", At: quiet,
		Sentence: "A job of 1500 requests for each engine, evaljob, arrives within two minutes; it has an hour.",
		Comers:   []Workflow{evalJob},
		Shifts:   []Shift{{Workflow: evalJob.Name, Rate: 1}}},
	{ID: "S13", Name: "longer answers", At: quiet,
		Sentence: "Chat answers get 2.2 times longer.",
		Shifts:   []Shift{{Workflow: "chat", Output: 2.2}}},
	{ID: "S14", Name: "sequence cap", At: quiet,
		Sentence: "Every engine runs at most 24 sequences at once, where it was 256; traffic is unchanged.",
		Shifts:   []Shift{{Sequences: 24}}},
}

// docAgent hands whole documents to the model, of which nothing was seen before, and
// asks short questions about them.
var docAgent = Workflow{
	Name: "doc-agent", Rate: 0.9, Prompt: Lengths{Mu: 9.9, Sigma: 0.1}, Output: Lengths{Mu: 5.0, Sigma: 0.4},
	MaxOutput: 1024,
}

// evalJob is an offline job: 1500 requests of 740 tokens in and 490 out, sent in two
// minutes as fast as somebody's script can.
var evalJob = Workflow{
	Name: "evaljob", Rate: 12.5, Total: 1500, Prompt: Lengths{Mu: 6.586, Sigma: 0.2}, Output: Lengths{Mu: 6.174, Sigma: 0.2},
	MaxOutput: 2048,
}
