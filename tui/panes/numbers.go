package panes

import (
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file asks unit for every number on screen and says what stands in a cell
// when there is none: not known yet, no samples and not exported are three
// different things, and none of them is 0.

// absent is the word for a missing value in w cells.
func (k Look) absent(why model.Presence, w int) cell {
	text := unit.None(k.ASCII)
	switch {
	case why == model.NoTraffic && w >= 12:
		text = "no samples"
	case why == model.NoTraffic:
		text = "n=0"
	case why == model.Unsupported && w >= 12:
		text = "not exported"
	case why == model.Unsupported:
		text = "n/e"
	case why == model.Stale && w >= 5:
		text = why.String()
	}
	return cell{themes.Muted, text}
}

func (k Look) reading(r model.Reading, w int, format func(float64) string) cell {
	if v, ok := r.Get(); ok {
		return cell{themes.Text, format(v)}
	}
	return k.absent(r.State, w)
}

// count is a number of things.
func (k Look) count(r model.Reading, w int) cell { return k.reading(r, w, unit.Count) }

// rate is a number per second.
func (k Look) rate(r model.Reading, w int) cell { return k.reading(r, w, unit.Rate) }

// ratio is a whole percentage.
func (k Look) ratio(r model.Reading, w int) cell { return k.reading(r, w, unit.Percent) }

// took is how long a poll took.
func (k Look) took(r model.Reading, w int) cell { return k.reading(r, w, unit.DurationShort) }

// quantile is the p95 of a distribution, or the word for why there is none. What
// was counted since the server started carries a star, what rests on too few
// samples a question mark.
func (k Look) quantile(d *model.Dist, missing bool, w int) cell {
	switch {
	case d == nil && missing:
		return k.absent(model.Unsupported, w)
	case d == nil:
		return cell{themes.Muted, unit.None(k.ASCII)}
	case d.N == 0:
		return k.absent(model.NoTraffic, w)
	case !d.P95.Exists():
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	c := cell{themes.Text, k.estimate(d.P95)}
	switch {
	case d.Basis == model.SinceStart && w > 8:
		return cell{themes.Muted, c.text + sinceStart}
	case d.Basis == model.SinceStart: // no room for the label, without which it would lie
		return cell{themes.Muted, unit.None(k.ASCII)}
	case !d.P95.Enough && cells(c.text) < w:
		return cell{themes.Muted, c.text + tooFew}
	case !d.P95.Enough:
		c.role = themes.Muted
	}
	return c
}

// The signs behind a percentile that is less than it seems.
const (
	sinceStart = "*"
	tooFew     = "?"
)

// estimate is an estimate in at most 8 cells.
func (k Look) estimate(e model.Estimate) string { return unit.EstimateShort(e, k.ASCII) }

// estimateLong is an estimate with its bracket.
func (k Look) estimateLong(e model.Estimate) string { return unit.Estimate(e, k.ASCII) }

// share is a share of requests.
func (k Look) share(s model.Share) string { return unit.Share(s, k.ASCII) }

// span is a length of time in words: below a minute as it is chosen and counted,
// 3 s and not 3.0 s.
func (k Look) span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return unit.Limit(d.Truncate(100 * time.Millisecond).Seconds())
	case d == time.Minute:
		return "60 s"
	case d < time.Hour && d%time.Minute == 0:
		return unit.Integer(d.Minutes()) + " min" // not 5 min 00 s
	}
	return unit.Duration(d.Seconds())
}

// age is how long ago something was, in few cells.
func (k Look) age(d time.Duration) string {
	d = d.Truncate(time.Second)
	if d < time.Minute {
		return unit.Limit(d.Seconds())
	}
	return unit.DurationShort(d.Seconds())
}

// samples is how many observations there were: in full while that can be read.
func samples(n float64) string {
	if n < 10000 {
		return unit.Integer(n)
	}
	return unit.Count(n)
}
