package sim

import "time"

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)

// request is one call of one client, from its arrival to its end.
type request struct {
	id       int64
	retryOf  int64
	attempt  int
	workflow int

	prompt  int  // tokens
	cached  int  // of them, in the prefix cache
	output  int  // tokens it will emit
	limit   int  // of the output, as its client set it; 0: none
	limited bool // the output ends there

	arrival   time.Duration // at the gateway
	sent      time.Duration // by the gateway
	received  time.Duration // by its replica
	queued    time.Duration // when the front end hands it over
	deadline  time.Duration // past it the client has given up
	scheduled time.Duration // first time; 0 before
	first     time.Duration // first token; 0 before
	last      time.Duration // newest token
	worst     time.Duration // longest gap

	due  time.Duration // at a hosted provider: what happens next
	done time.Duration // and the end

	generated   int
	computed    int // tokens whose KV entries exist
	chunk       int // tokens computed in the step under way
	draft       int // tokens guessed beyond it
	blocks      int
	preemptions int
}

// rest is what must be computed before the next token can be emitted.
func (r *request) rest() int { return r.prompt + r.generated - r.computed }
