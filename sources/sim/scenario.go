package sim

import (
	"strings"
	"time"
)

// Scenario is an incident of the simulated service, as data.
type Scenario struct {
	ID       string
	Name     string
	Sentence string
	At       time.Duration // when the incident starts: what comes before is the baseline
	Standby  int           // replicas that are not ready at the start
	Comers   []Workflow    // who do not come before the incident gives them a rate
	Shifts   []Shift

	Speculation Speculation // of every engine, from the start
	Hosting     Hosting     // of a provider instead of engines; zero: none
}

// Shift is one thing that an incident changes. A zero field changes nothing.
type Shift struct {
	After time.Duration // since the start of the incident

	Workflow  string        // whose requests the next fields are about, from now on
	Rate      float64       // factor of its rate
	Patience  time.Duration // mean of its clients'
	Prompt    float64       // factor of its prompts' lengths
	Output    float64       // factor of its answers' lengths
	MaxOutput int           // tokens; longer answers end there
	Cold      bool          // none of its prompts is in the prefix cache any more

	Retries int           // attempts of every client after one that came to nothing
	Outside time.Duration // mean time of a request in the gateway

	TokenBudget int // of every replica's scheduler
	Sequences   int // its cap
	Blocks      int // of the KV pool

	SMClock          float64 // of every replica, as a share of the usual clock
	MemoryClock      float64
	StepOverhead     time.Duration // of its host, per step
	SequenceOverhead time.Duration // of its host, per scheduled sequence

	Acceptance float64 // of drafted tokens

	Intercept float64 // factors of a hosted provider's times
	TPOT      float64

	Ready int // replicas ready from now on
}

// quiet is how long every incident waits, for a baseline to compare with.
const quiet = 600 * time.Second

// scenario finds an incident by its ID, in upper or lower case.
func scenario(id string) (Scenario, bool) {
	for _, s := range Scenarios {
		if strings.EqualFold(s.ID, id) {
			return s, true
		}
	}
	return Scenario{}, false
}
