package slo

import (
	"fmt"
	"time"

	"slotop/model"
)

// Burn is the rate at which a share of bad requests spends the error budget: 1
// spends what is allowed, 1/(1 − target) is the most there is.
func Burn(bad, target float64) float64 { return bad / (1 - target) }

// Bad is how many requests of a window were bad.
type Bad struct{ N, Bad float64 }

// Plus adds the requests of two windows.
func (b Bad) Plus(o Bad) Bad { return Bad{b.N + o.N, b.Bad + o.Bad} }

// Less takes away those of an earlier one.
func (b Bad) Less(o Bad) Bad { return Bad{b.N - o.N, max(0, b.Bad-o.Bad)} }

// Share is the bad share, 0 where there was no request.
func (b Bad) Share() float64 {
	if b.N == 0 {
		return 0
	}
	return b.Bad / b.N
}

// In says it in counts, for where traffic is too low for rates: "3 of 7 bad in
// 5 min".
func (b Bad) In(window time.Duration) string {
	return fmt.Sprintf("%s in %s", badOf(b.Bad, b.Bad, b.N), inWords(window))
}

func inWords(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d > time.Minute:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%g s", d.Seconds())
	}
}

// BadOf is how many requests of a span were surely bad, and how many likely.
// They differ where only histograms exist. Nothing is known where goodput cannot
// be computed.
func BadOf(spec *model.WorkflowSpec, s Span) (surely, likely Bad) {
	if s.Exact {
		b := Bad{s.Good + s.Bad, s.Bad}
		return b, b
	}
	finished, ok := s.finished()
	if !ok {
		return Bad{}, Bad{}
	}
	b := boundsOf(spec, &s, finished)
	n := finished + s.Failed
	surely = Bad{n + b.left, n - b.good.hi}
	if len(b.missing) > 0 {
		return surely, surely
	}
	return surely, Bad{n, n - b.good.guess}
}

// Tier is one way to notice that a budget burns too fast: both the long and the
// short window must be over Theta times the budget, or over Cap where that is
// less. The short window makes an alert end soon after its cause.
type Tier struct {
	Name        string
	Long, Short time.Duration
	Theta, Cap  float64
	Severity    model.Severity
	// Sparse is only for traffic of which the short window holds fewer than Few
	// requests. Where that holds none, the long one alone decides.
	Sparse bool
}

// Tiers are the console's. The last is for services that see a few requests an
// hour, whose outages no short window would ever show.
var Tiers = []Tier{
	{Name: "fast", Long: 2 * time.Minute, Short: 15 * time.Second, Theta: 10, Cap: 0.5, Severity: model.Page},
	{Name: "main", Long: 5 * time.Minute, Short: 30 * time.Second, Theta: 6, Cap: 0.4, Severity: model.Page},
	{Name: "slow", Long: 30 * time.Minute, Short: 150 * time.Second, Theta: 2, Cap: 0.25, Severity: model.Warn},
	{Name: "sparse", Long: 6 * time.Hour, Short: 30 * time.Minute, Theta: 6, Cap: 0.4, Severity: model.Page, Sparse: true},
}

// minBad is how many bad requests the long window must hold: fewer are chance.
const minBad = 5

// Limit is the bad share over which the tier fires.
func (t Tier) Limit(target float64) float64 { return min(t.Theta*(1-target), t.Cap) }

// Applies reports whether the tier is meant for traffic of which its short
// window is expected to hold so many requests.
func (t Tier) Applies(expected float64) bool { return !t.Sparse || expected < Few }

// Fires reports whether the tier fires, and why or why not; nothing is said of a
// long window that is not over the limit. Besides both windows being over it,
// the long one must hold five bad requests, and the share of which it is a
// sample must be over the limit with 95 % confidence.
func (t Tier) Fires(target float64, long, short Bad) (fires bool, why string) {
	limit := t.Limit(target)
	if long.Share() <= limit {
		return false, ""
	}
	said := long.In(t.Long)
	lower, _ := Wilson(long.Bad, long.N, oneSided)
	switch {
	case long.Bad < minBad || lower <= limit:
		return false, said + ", too few to judge"
	case t.Sparse && short.N == 0:
		return true, said // silence is not recovery
	case short.Share() <= limit:
		return false, said + ", but not of late"
	}
	return true, said
}
