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
	if d == nil && missing {
		return k.absent(model.Unsupported, w)
	}
	return k.quantileOf(d, w, func(d *model.Dist) model.Estimate { return d.P95 })
}

// quantileOf is the same for any of its percentiles.
func (k Look) quantileOf(d *model.Dist, w int, which func(*model.Dist) model.Estimate) cell {
	switch {
	case d == nil:
		return cell{themes.Muted, unit.None(k.ASCII)}
	case d.N == 0:
		return k.absent(model.NoTraffic, w)
	}
	e := which(d)
	if !e.Exists() {
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	signs := 0 // behind it
	if d.Basis == model.SinceStart || !e.Enough {
		signs = 1
	}
	c := cell{themes.Text, unit.EstimateIn(e, min(w, roomyQuantile)-signs, k.ASCII)}
	switch {
	case d.Basis == model.SinceStart && cells(c.text) < w:
		return cell{themes.Muted, c.text + sinceStart}
	case d.Basis == model.SinceStart: // no room for the label, without which it would lie
		return cell{themes.Muted, unit.None(k.ASCII)}
	case !e.Enough && cells(c.text) < w:
		return cell{themes.Muted, c.text + tooFew}
	case !e.Enough:
		c.role = themes.Muted
	}
	return c
}

// roomyQuantile is in how many cells a bracket is written without squeezing it.
const roomyQuantile = 10

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

// goodput is the share of a workflow's requests that met every objective, or the
// word for why there is none.
func (k Look) goodput(w *model.WorkflowView) cell {
	c := of(w)
	return k.goodputOf(w.Goodput, c != starting && c != down && c != stale)
}

// goodputOf is the same over any stretch; begun says that somebody watched.
func (k Look) goodputOf(g *model.GoodputView, begun bool) cell {
	switch {
	case g == nil:
		return cell{themes.Muted, unit.None(k.ASCII)}
	case g.Share.Lo.OK():
		return cell{verdictRole(g.Verdict), k.share(g.Share)}
	case g.Verdict == model.NoData && g.N == 0 && begun:
		return k.absent(model.NoTraffic, 8)
	case g.Verdict == model.CannotCompute:
		return k.absent(model.Unsupported, 8)
	default:
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
}

// verdictRole is the role of a number that led to the verdict.
func verdictRole(v model.Verdict) themes.Role {
	switch v {
	case model.Missed:
		return themes.Breach
	case model.Undecided:
		return themes.Warn
	default:
		return themes.Text
	}
}

// verdictWord is a verdict on screen.
func verdictWord(v model.Verdict) string {
	if v == model.Missed {
		return "MISSED"
	}
	return v.Word()
}

// burn is how fast the budget went over five minutes: from 1 on it does not last.
func (k Look) burn(b *model.BudgetView) cell {
	if b == nil {
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	return k.burnCell(b.Burn.M5)
}

func (k Look) burnCell(r model.Reading) cell {
	c := k.reading(r, 4, unit.Rate)
	if v, ok := r.Get(); ok && v > 1 {
		c.role = themes.Warn
	}
	return c
}

// times is a burn rate as it is spoken.
func (k Look) times(r model.Reading) cell {
	c := k.burnCell(r)
	if r.OK() {
		c.text += k.pick("×", "x")
	}
	return c
}

// left is what remains of an error budget. By how much it is overspent says how
// many were bad, and no share of nothing.
func (k Look) left(b *model.BudgetView) cell {
	if b == nil {
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	if spent(b) {
		return cell{themes.Breach, "spent"}
	}
	return k.ratio(b.Remaining, 6)
}

// span is a length of time in words: below a minute as it is chosen and counted,
// 3 s and not 3.0 s.
func (k Look) span(d time.Duration) string {
	if k.Still && d > time.Minute {
		d = d.Truncate(time.Minute)
	}
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
	if k.Still && d > time.Minute {
		d = d.Truncate(time.Minute)
	}
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
