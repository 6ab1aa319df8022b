package sim

import "time"

// Scenario is an incident of the simulated service, as data.
type Scenario struct {
	ID       string
	Name     string
	Sentence string
	At       time.Duration // when the incident starts: what comes before is the baseline
	Standby  int           // replicas that are not ready at the start
	Shifts   []Shift
}

// Shift is one thing that an incident changes. A zero field changes nothing.
type Shift struct {
	After time.Duration // since the start of the incident

	Workflow string        // whose Rate and Patience
	Rate     float64       // factor of the workflow's rate
	Patience time.Duration // mean, of clients who arrive from now on

	SMClock     float64 // of every replica, as a share of the usual clock
	MemoryClock float64

	Ready int // replicas ready from now on
}

// quiet is how long every incident waits, for a baseline to compare with.
const quiet = 600 * time.Second

// Scenarios lists the incidents there are.
var Scenarios = []Scenario{
	{ID: "S0", Name: "steady",
		Sentence: "Three workflows at a load the service carries; nothing goes wrong."},
	{ID: "S1", Name: "traffic surge", At: quiet,
		Sentence: "Four times the chat traffic arrives; clients give up after 10 s on average.",
		Shifts:   []Shift{{Workflow: "chat", Rate: 4, Patience: 10 * time.Second}}},
	{ID: "S4", Name: "throttled GPU", At: quiet,
		Sentence: "Every GPU drops to 45 % of its SM clock and 70 % of its memory clock; traffic is unchanged.",
		Shifts:   []Shift{{SMClock: 0.45, MemoryClock: 0.7}}},
	{ID: "S6", Name: "cold start", At: quiet, Standby: 1,
		Sentence: "Chat traffic grows 2.6 times; a second replica is started and is ready three minutes later.",
		Shifts:   []Shift{{Workflow: "chat", Rate: 2.6}, {After: 180 * time.Second, Ready: 2}}},
}

func scenario(id string) (Scenario, bool) {
	for _, s := range Scenarios {
		if s.ID == id {
			return s, true
		}
	}
	return Scenario{}, false
}
