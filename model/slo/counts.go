package slo

import "slotop/model"

// Term is how many requests were measured against one objective. Hi is Lo where
// the bound is a bucket edge, or where requests were judged one by one.
type Term struct {
	N  float64 // measured
	Lo float64 // surely within the bound
	Hi float64 // possibly within
	// Sum of the measured values in seconds, for means.
	Sum float64
	// Point is the best single guess of how many were within, where there is one.
	// It is of one window: sums of terms have none.
	Point model.Reading
}

// Add adds o to t.
func (t *Term) Add(o Term) {
	t.N += o.N
	t.Lo += o.Lo
	t.Hi += o.Hi
	t.Sum += o.Sum
	t.Point = model.Reading{}
}

// Counts is what a stretch of time says of a workflow's requests. Counts of
// stretches and of replicas add up.
type Counts struct {
	Started   float64 // requests that began, where that is counted
	Finished  float64 // with an answer, cut at its limit or not
	Truncated float64 // of Finished, cut at the output limit
	Failed    float64
	Cancelled float64
	Terms     [numMetrics]Term // in the order of model.Metrics
	Output    float64          // output tokens
	Preempted float64
	Grown     float64 // running at the end less those at the beginning
	Queued    float64 // the same of those waiting

	// Judged one by one; zero where only histograms exist.
	Good       float64
	Bad        float64
	Excluded   float64 // of Cancelled: not the service's doing
	GoodOutput float64 // output tokens of good requests that finished
	UserGood   float64 // users, each by the best of their attempts
	UserBad    float64
	Throttled  float64 // of Failed: refused for their rate (429)
}

const numMetrics = 5

// Width is the length of a row.
const Width = 5 + 4*numMetrics + 11

// fields lists the addresses of all counts in the order of a row.
func (c *Counts) fields() [Width]*float64 {
	f := [Width]*float64{&c.Started, &c.Finished, &c.Truncated, &c.Failed, &c.Cancelled}
	n := 5
	for i := range c.Terms {
		t := &c.Terms[i]
		f[n], f[n+1], f[n+2], f[n+3] = &t.N, &t.Lo, &t.Hi, &t.Sum
		n += 4
	}
	for _, p := range []*float64{&c.Output, &c.Preempted, &c.Grown, &c.Queued, &c.Good, &c.Bad, &c.Excluded, &c.GoodOutput, &c.UserGood, &c.UserBad, &c.Throttled} {
		f[n] = p
		n++
	}
	return f
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	to, from := c.fields(), o.fields()
	for i := range to {
		*to[i] += *from[i]
	}
}

// Since is what c gained over an earlier total.
func (c *Counts) Since(earlier *Counts) Counts {
	out := *c
	to, from := out.fields(), earlier.fields()
	for i := range to {
		*to[i] -= *from[i]
	}
	out.settle()
	return out
}

// settle takes back what a difference of two totals cannot mean. A page that is read
// in the middle of an update has a bucket ahead of the count, and over the stretch
// that begins there more would be within a bound than were measured.
func (c *Counts) settle() {
	for i := range c.Terms {
		t := &c.Terms[i]
		t.Hi = min(t.Hi, t.N)
		t.Lo = min(t.Lo, t.Hi)
	}
}

// Ended is how many requests ended, whichever way.
func (c *Counts) Ended() float64 { return c.Finished + c.Failed + c.Cancelled }

// Row writes the counts as a row of Width numbers, for a series.Ring.
func (c *Counts) Row(dst []float64) {
	for i, p := range c.fields() {
		dst[i] = *p
	}
}

// FromRow reads a row, or the difference of two.
func FromRow(row []float64) Counts {
	var c Counts
	for i, p := range c.fields() {
		*p = row[i]
	}
	c.settle()
	return c
}

// Term is the counts of one metric.
func (c *Counts) Term(m model.Metric) *Term {
	for i, known := range model.Metrics {
		if known == m {
			return &c.Terms[i]
		}
	}
	return &Term{}
}
