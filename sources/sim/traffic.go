package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Lengths is a log-normal distribution of token counts. With Sigma 0 every
// request has exp(Mu) tokens.
type Lengths struct{ Mu, Sigma float64 }

// draw is a length, made so many times longer.
func (l Lengths) draw(r *rand.Rand, factor float64) int {
	return max(1, int(math.Round(factor*math.Exp(l.Mu+product(l.Sigma, r.NormFloat64())))))
}

// Workflow is a class of requests and how they arrive: at a rate of its own, or
// from clients who each send the next request when the last one ended.
type Workflow struct {
	Name string

	Rate    float64 // requests/s, for each replica that is ready at the start
	CV      float64 // coefficient of variation of the gaps; 0 and 1 are Poisson
	Clients int     // closed loop instead of a rate: requests in flight for ever
	Total   int     // > 0: no more requests than this, for each of those replicas

	Prompt    Lengths
	Output    Lengths
	MaxOutput int     // tokens; longer answers end there
	Hit       float64 // share of the prompt found in the prefix cache
	HitSpread float64 // its standard deviation

	Patience   time.Duration // mean of it; 0 waits for ever
	Retries    int           // attempts after one that came to nothing
	RetryAfter time.Duration // 0: half a second
}

// retryPause is how soon clients try again who do not say.
const retryPause = 500 * time.Millisecond

// DemoWorkflows is the traffic of the demo's service.
func DemoWorkflows() []Workflow {
	return []Workflow{
		{Name: "chat", Rate: 8, Prompt: Lengths{7.2, 0.6}, Output: Lengths{5.0, 0.8},
			MaxOutput: 1024, Hit: 0.7, HitSpread: 0.15},
		{Name: "summarize", Rate: 0.6, Prompt: Lengths{8.6, 0.4}, Output: Lengths{5.4, 0.5},
			MaxOutput: 1024},
		{Name: "batch-eval", Rate: 0.8, Prompt: Lengths{6.6, 0.4}, Output: Lengths{5.9, 0.4},
			MaxOutput: 2048, Hit: 0.3},
	}
}

// arrivals is a workflow at work. Each has a random stream of its own, of which
// every request uses the same number of draws in the same order: an incident in
// one workflow leaves the others' requests as they are.
type arrivals struct {
	Workflow
	random   *rand.Rand
	transit  *rand.Rand
	replicas int  // Rate and Total are for one
	late     bool // comes with an incident only
	mood          // in force now
	next     time.Duration
	left     float64 // mean gaps left to wait when the rate is 0
	sent     int
}

// mood is what an incident changes in a workflow. The lengths of a request change
// after they are drawn, so that the same requests come.
type mood struct {
	factor         float64 // of the rate
	patience       time.Duration
	prompt, answer float64 // factors of their lengths
	maxOutput      int
	cold           bool
	retries        int
}

// usual is the mood of a workflow that no incident touches.
func (a *arrivals) usual() mood {
	m := mood{factor: 1, patience: a.Patience, prompt: 1, answer: 1, maxOutput: a.MaxOutput, retries: a.Retries}
	if a.late {
		m.factor = 0
	}
	return m
}

func newArrivals(w Workflow, random *rand.Rand, replicas int, late bool) *arrivals {
	a := &arrivals{Workflow: w, random: random, replicas: replicas, late: late, next: never}
	a.mood = a.usual()
	if w.Clients == 0 {
		a.left = a.gap()
		a.pace(0, a.factor)
	}
	return a
}

func (a *arrivals) rate() float64 { return a.Rate * float64(a.replicas) * a.factor }

func (a *arrivals) over() bool { return a.Total > 0 && a.sent >= a.Total*a.replicas }

// pace changes the rate from now on. What is left of the gap under way is
// stretched with it, as for any process whose rate changes.
func (a *arrivals) pace(now time.Duration, factor float64) {
	if a.next != never {
		a.left = (a.next - now).Seconds() * a.rate()
	}
	a.factor = factor
	a.next = never
	if rate := a.rate(); rate > 0 && a.Clients == 0 && !a.over() {
		a.next = now + seconds(a.left/rate)
	}
}

// schedule sets the next arrival after one has happened.
func (a *arrivals) schedule(now time.Duration) {
	a.next = never
	if a.Clients == 0 && !a.over() {
		a.next = now + seconds(a.gap()/a.rate())
	}
}

// gap is a time between arrivals with mean 1.
func (a *arrivals) gap() float64 {
	if a.CV == 0 || a.CV == 1 {
		return a.random.ExpFloat64()
	}
	shape := 1 / (a.CV * a.CV)
	return gamma(a.random, shape) / shape
}

// draw makes the next request.
func (a *arrivals) draw(now time.Duration, context int, r *request) {
	a.sent++
	r.arrival = now
	r.prompt = a.Prompt.draw(a.random, a.prompt)
	r.output = a.Output.draw(a.random, a.answer)
	hit := a.Hit + product(a.HitSpread, a.random.NormFloat64())
	if a.cold {
		hit = 0
	}
	r.deadline = a.giveUp(now)
	r.limit = a.maxOutput
	if r.limit > 0 && r.output > r.limit {
		r.output, r.limited = r.limit, true
	}
	r.output = min(r.output, context-1)
	r.prompt = min(r.prompt, context-r.output)
	// At least one token of a prompt is always computed.
	r.cached = min(int(max(0, hit)*float64(r.prompt)), r.prompt-1)
}

// giveUp is when a client that arrives now stops waiting.
func (a *arrivals) giveUp(now time.Duration) time.Duration {
	patience := a.random.ExpFloat64()
	if a.patience == 0 {
		return never
	}
	return now + seconds(patience*a.patience.Seconds())
}

// gamma draws from the gamma distribution of the given shape and scale 1
// (Marsaglia and Tsang, 2000).
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + product(c, x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < product(0.5*x, x)+product(d, 1-v+math.Log(v)) {
			return d * v
		}
	}
}
