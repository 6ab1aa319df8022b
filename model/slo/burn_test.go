package slo

import (
	"testing"
	"time"

	"slotop/model"
)

func TestBurn(t *testing.T) {
	for _, tt := range []struct{ bad, target, want float64 }{
		{.30, .95, 6},
		{1, .95, 20}, // the most there is
		{1, .90, 10},
		{1, .99, 100},
		{.05, .95, 1},
		{0, .95, 0},
		{.9, .99, 90},
	} {
		near(t, "burn", Burn(tt.bad, tt.target), tt.want, 1e-9)
	}
}

// fireTime is how many seconds after the bad share stepped from before to after
// the tier fires, with so many requests that none of it is chance; below 0: never.
func fireTime(tier Tier, target, before, after float64) float64 {
	const many = 1e12
	fires := func(s float64) bool {
		part := min(1, s/tier.Long.Seconds())
		share := before + part*(after-before)
		yes, _ := tier.Fires(target, Bad{many, many * share}, Bad{many, many * after})
		return yes
	}
	lo, hi := 0.0, tier.Long.Seconds()
	switch {
	case !fires(hi):
		return -1
	case fires(lo):
		return 0
	}
	for hi-lo > 1e-3 {
		if mid := (lo + hi) / 2; fires(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// The time to fire is w·(θ·B − p0)/(p1 − p0).
func TestFireTime(t *testing.T) {
	tier := func(long time.Duration, theta float64) Tier { return Tier{Long: long, Theta: theta, Cap: 1} }
	for _, tt := range []struct {
		tier          Tier
		before, after float64
		want          float64
	}{
		{tier(300*time.Second, 6), 0, 1, 90},
		{tier(300*time.Second, 6), .025, .5, 173.7},
		{tier(1800*time.Second, 2), .025, .25, 600},
		{tier(120*time.Second, 10), 0, 1, 60},
		{Tiers[0], 0, 1, 60},
		{Tiers[1], .025, .5, 173.7},
		{Tiers[2], .025, .25, 600},
		{Tiers[1], .4, 1, 0},  // over it already
		{Tiers[1], 0, .3, -1}, // at its limit
	} {
		near(t, tt.tier.Name, fireTime(tt.tier, .95, tt.before, tt.after), tt.want, .1)
	}
}

func TestTierTable(t *testing.T) {
	const day, month = 24 * 3600, 30 * 24 * 3600
	hours := func(h time.Duration, theta float64) Tier { return Tier{Long: h * time.Hour, Theta: theta, Cap: 1} }
	for _, tt := range []struct {
		tier                Tier
		target, limit, uses float64
		period              float64
	}{
		{Tiers[0], .95, .50, .014, day},
		{Tiers[1], .95, .30, .021, day},
		{Tiers[2], .95, .10, .042, day},
		{Tiers[0], .90, .50, .007, day}, // of the caps, so that these can fire at all
		{Tiers[1], .90, .40, .014, day},
		{Tiers[2], .90, .20, .042, day},
		{Tiers[2], .80, .25, .026, day},
		{Tiers[3], .99, .06, 1.5, day},
		// The starting points of Google's SRE workbook.
		{hours(1, 14.4), .999, .0144, .02, month},
		{hours(6, 6), .999, .006, .05, month},
		{hours(72, 1), .999, .001, .10, month},
		{hours(24, 3), .999, .003, .10, month},
	} {
		near(t, tt.tier.Name+" limit", tt.tier.Limit(tt.target), tt.limit, 1e-9)
		// Of the period's budget, at its limit: burn × long window / period.
		uses := Burn(tt.tier.Limit(tt.target), tt.target) * tt.tier.Long.Seconds() / tt.period
		near(t, tt.tier.Name+" uses", uses, tt.uses, 6e-4)
	}
	for _, tier := range Tiers[:2] {
		if tier.Severity != model.Page || Tiers[2].Severity != model.Warn {
			t.Errorf("%s is a %s, slow a %s", tier.Name, tier.Severity, Tiers[2].Severity)
		}
	}
}

func TestTierGates(t *testing.T) {
	fast, sparse := Tiers[0], Tiers[3]
	for _, tt := range []struct {
		name        string
		tier        Tier
		target      float64
		long, short Bad
		fires       bool
		why         string
	}{
		{"a failure", fast, .95, Bad{120, 90}, Bad{15, 15}, true, "90 of 120 bad in 2 min"},
		{"over by now", fast, .95, Bad{120, 90}, Bad{15, 7}, false, "90 of 120 bad in 2 min, but not of late"},
		{"nobody came of late", fast, .95, Bad{120, 90}, Bad{}, false, "90 of 120 bad in 2 min, but not of late"},
		{"not over", fast, .95, Bad{120, 60}, Bad{15, 15}, false, ""},
		{"four bad", fast, .95, Bad{4, 4}, Bad{1, 1}, false, "4 of 4 bad in 2 min, too few to judge"},
		{"five bad", fast, .95, Bad{5, 5}, Bad{1, 1}, true, "5 of 5 bad in 2 min"},
		{"not surely over", fast, .95, Bad{9, 6}, Bad{2, 2}, false, "6 of 9 bad in 2 min, too few to judge"},
		{"nothing", fast, .95, Bad{}, Bad{}, false, ""},
		{"half", fast, .90, Bad{120, 70}, Bad{15, 15}, true, "70 of 120 bad in 2 min"},
		{"one of two", Tiers[1], .99, Bad{2, 1}, Bad{2, 1}, false, "1 of 2 bad in 5 min, too few to judge"},
		{"an outage of a small service", sparse, .99, Bad{100, 90}, Bad{8, 7}, true, "90 of 100 bad in 6 h"},
		{"silence is not recovery", sparse, .99, Bad{100, 90}, Bad{}, true, "90 of 100 bad in 6 h"},
		{"recovered", sparse, .99, Bad{100, 90}, Bad{3, 0}, false, "90 of 100 bad in 6 h, but not of late"},
	} {
		fires, why := tt.tier.Fires(tt.target, tt.long, tt.short)
		if fires != tt.fires || why != tt.why {
			t.Errorf("%s: %v, %q", tt.name, fires, why)
		}
	}
	if !sparse.Applies(19) || sparse.Applies(20) || !fast.Applies(1000) || !fast.Applies(0) {
		t.Error("the sparse tier is for traffic that the others cannot see, and only it")
	}
}

func TestBadInWindow(t *testing.T) {
	for window, want := range map[time.Duration]string{
		5 * time.Minute:   "3 of 7 bad in 5 min",
		15 * time.Second:  "3 of 7 bad in 15 s",
		6 * time.Hour:     "3 of 7 bad in 6 h",
		150 * time.Second: "3 of 7 bad in 2 min 30 s",
		128 * time.Second: "3 of 7 bad in 2 min 08 s",
	} {
		if got := (Bad{7, 3}).In(window); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBadOf(t *testing.T) {
	spec := &model.WorkflowSpec{Share: .95, Objectives: []model.Objective{ttft(.5), tpot(.05)}}
	exact := Span{Counts: Counts{Good: 90, Bad: 10}, Exact: true}
	s := Span{Counts: Counts{Finished: 90, Failed: 10}, Ends: true}
	*s.Term(model.MetricTTFT) = Term{N: 90, Lo: 81, Hi: 81}
	*s.Term(model.MetricTPOT) = Term{N: 90, Lo: 45, Hi: 45}
	all := s
	all.Exported = [numMetrics]bool{true, true, true, true, true}
	blind := s
	blind.Exported[index(model.MetricTPOT)] = true
	endless := all
	endless.Ends = false
	endless.Exported[index(model.MetricE2E)], endless.Exported[index(model.MetricTPOT)] = false, false
	for _, tt := range []struct {
		name           string
		s              Span
		surely, likely Bad
	}{
		{"one by one", exact, Bad{100, 10}, Bad{100, 10}},
		{"histograms", all, Bad{100, 55}, Bad{100, 100 - 90*.9*.5}},
		// Ten of the 45 that were too slow may be the ten that failed.
		{"a metric is not exported", blind, Bad{100, 45}, Bad{100, 45}},
		{"no finish counts", endless, Bad{}, Bad{}},
	} {
		surely, likely := BadOf(spec, tt.s)
		if surely != tt.surely || likely != tt.likely {
			t.Errorf("%s: %v and %v, want %v and %v", tt.name, surely, likely, tt.surely, tt.likely)
		}
	}
}
