package compare

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"slotop/model"
	"slotop/model/unit"
)

// This file says figures as people read them, for whatever shows a comparison: each has
// one way to be written.

// Text is the figure's value in a stage, "" where it is not known. A latency is the
// stage's own, with its bracket.
func (f *Figure) Text(v Value, ascii bool) string {
	switch {
	case !v.known():
		return ""
	case f.Unit == Seconds:
		return unit.EstimateIn(v.Seen, valueCells, ascii)
	case f.Unit == Share:
		return unit.Share(v.Share, ascii)
	case v.Point.OK():
		return unit.Rate(v.Point.Value)
	default:
		return f.Interval(v, ascii)
	}
}

// The room of a latency, and of its interval.
const (
	valueCells    = 10
	intervalCells = 13
)

// Interval is between what the service's own figure lies: the bracket and the sampling
// error of 95 % together. "" where neither end is known.
func (f *Figure) Interval(v Value, ascii bool) string {
	if !v.Lo.OK() && !v.Hi.OK() {
		return ""
	}
	switch f.Unit {
	case Seconds:
		return unit.EstimateIn(model.Estimate{Lo: v.Lo, Hi: v.Hi, Open: !v.Hi.OK()}, intervalCells, ascii)
	case Share:
		return between(v.Lo, v.Hi, ascii, unit.Ratio)
	default:
		return between(v.Lo, v.Hi, ascii, unit.Rate)
	}
}

// between is 3.1–4.2, ≤ 4.2 or ≥ 3.1.
func between(lo, hi model.Reading, ascii bool, format func(float64) string) string {
	dash, most, least := "–", "≤", "≥"
	if ascii {
		dash, most, least = "-", "<=", ">="
	}
	switch {
	case !lo.OK():
		return most + format(hi.Value)
	case !hi.OK():
		return least + format(lo.Value)
	default: // the unit is said once
		return strings.TrimSuffix(format(lo.Value), " %") + dash + format(hi.Value)
	}
}

// ChangeText is by what the figure changed: ×1.07, +5.2 pt. Where a quantile lies beyond
// the buckets it is what is sure at least: ≥×13.
func (r *Row) ChangeText(ascii bool) string {
	f, c := &r.Figure, r.Change
	switch {
	case c.Point.OK():
		return f.changed(c.Point.Value, ascii)
	case r.Verdict == Higher && c.Lo.OK():
		return between(c.Lo, model.Reading{}, ascii, func(v float64) string { return f.changed(v, ascii) })
	case r.Verdict == Lower && c.Hi.OK():
		return between(model.Reading{}, c.Hi, ascii, func(v float64) string { return f.changed(v, ascii) })
	default:
		return ""
	}
}

// ChangeInterval is the interval by which the verdict was given, "" without one.
func (r *Row) ChangeInterval(ascii bool) string {
	c, whole := r.Change, func(v float64) string { return r.Figure.changed(v, ascii) }
	switch {
	case !c.Lo.OK() && !c.Hi.OK():
		return ""
	case !c.Lo.OK() || !c.Hi.OK():
		return between(c.Lo, c.Hi, ascii, whole)
	case r.Figure.Unit == Share:
		return strings.TrimSuffix(whole(c.Lo.Value), " pt") + " to " + whole(c.Hi.Value)
	default:
		_, n := utf8.DecodeRuneInString(whole(c.Hi.Value)) // one sign says it of both
		return whole(c.Lo.Value) + map[bool]string{true: "-", false: "–"}[ascii] + whole(c.Hi.Value)[n:]
	}
}

func (f *Figure) changed(v float64, ascii bool) string {
	if f.Unit == Share {
		return Points(v)
	}
	return unit.Factor(v, ascii)
}

// Points is a difference of shares in points of a hundred: +5.2 pt, -0.3 pt.
func Points(v float64) string {
	v = math.Round(1000*v) / 10
	if v > 0 {
		return "+" + unit.Number(v) + " pt"
	}
	return unit.Number(v+0) + " pt" // and never -0
}

// Counted is what a workflow's figures rest on: 2400 and 2391 requests, 15 and 15
// stretches of 20 s.
func (w *Workflow) Counted() string {
	if w.Only != "" {
		return ""
	}
	n := func(v model.Reading) string { return unit.Reading(v, unit.Integer) }
	long := func(b Basis) string { return unit.Limit(math.Round(b.BatchS)) }
	out := fmt.Sprintf("%s and %s requests, ", n(w.A.Requests), n(w.B.Requests))
	if a, b := long(w.A), long(w.B); a != b && w.A.Batches > 0 && w.B.Batches > 0 {
		return out + fmt.Sprintf("%d stretches of %s and %d of %s", w.A.Batches, a, w.B.Batches, b)
	}
	return out + fmt.Sprintf("%d and %d stretches of %s", w.A.Batches, w.B.Batches, unit.Limit(math.Round(max(w.A.BatchS, w.B.BatchS))))
}

// Mark is one character for the verdict, so that no colour is needed: + better, ! worse,
// * different and neither, ~ noise, ? cannot tell.
func (r *Row) Mark() string {
	switch {
	case r.Sense == Better:
		return "+"
	case r.Sense == Worse:
		return "!"
	case r.Verdict == Noise:
		return "~"
	case r.Verdict == CannotTell:
		return "?"
	default:
		return "*"
	}
}

// Word is the verdict with its sense: higher, worse; noise.
func (r *Row) Word() string {
	if r.Sense == Neither {
		return r.Verdict.Word()
	}
	return r.Verdict.Word() + ", " + string(r.Sense)
}

// Reasons are why figures could not be compared, each with the figures it is true of.
func (w *Workflow) Reasons() []string {
	var order []string
	of := map[string][]string{}
	for i := range w.Rows {
		r := &w.Rows[i]
		if r.Verdict != CannotTell || r.Why == "" {
			continue
		}
		if of[r.Why] == nil {
			order = append(order, r.Why)
		}
		of[r.Why] = append(of[r.Why], r.Figure.Title)
	}
	out := make([]string, len(order))
	for i, why := range order {
		out[i] = strings.Join(of[why], ", ") + ": " + why
	}
	return out
}
