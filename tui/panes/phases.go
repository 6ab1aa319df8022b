package panes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file splits the mean of a request into what it was spent on. Means add up
// where percentiles do not, so the parts are exact; what they mean is left to the
// reader.

// phase is one part of a request. fill is its sign in the bar.
type phase struct {
	name        string
	signal      model.Signal
	fill, ascii string
	role        themes.Role
	of          func(*model.WorkflowView) *model.Dist
}

// meanTopics are the means that the line shows.
var meanTopics = map[model.Signal]string{model.E2E: "e2e.mean", model.Queue: "queue.mean", model.Prefill: "prefill.mean", model.Decode: "decode.mean"}

var phases = [...]phase{
	{"queue", model.Queue, "▓", "#", themes.Low, func(w *model.WorkflowView) *model.Dist { return w.Queue }},
	{"prefill", model.Prefill, "▒", "=", themes.Muted, func(w *model.WorkflowView) *model.Dist { return w.Prefill }},
	{"decode", model.Decode, "░", ":", themes.Rule, func(w *model.WorkflowView) *model.Dist { return w.Decode }},
}

// split is a mean request: its parts, NaN where one is not known, and the whole.
type split struct {
	parts [len(phases)]float64
	whole float64 // NaN: neither E2E nor every part is known
	n     float64 // the fewest requests behind a part
	even  bool    // the parts and the whole speak of the same requests
}

func splitOf(w *model.WorkflowView) split {
	s := split{whole: math.NaN(), n: math.Inf(1)}
	sum, most := 0.0, 0.0
	count := func(d *model.Dist) float64 {
		m, ok := meanOf(d).Get()
		if !ok {
			return math.NaN()
		}
		s.n, most = min(s.n, d.N), max(most, d.N)
		return m
	}
	for i, p := range phases {
		s.parts[i] = count(p.of(w))
		sum += s.parts[i]
	}
	s.whole = count(w.E2E)
	s.even = most > 0 && s.n >= most*(1-apart)
	switch {
	case math.IsNaN(s.whole):
		s.whole = sum
	case sum > s.whole*(1+apart):
		s.even = false
	}
	return s
}

// apart is how much two sums over the same requests may differ: those that end
// while the parts are counted.
const apart = 0.1

// meanOf is a mean over the window, or why there is none.
func meanOf(d *model.Dist) model.Reading {
	switch {
	case d == nil || d.Basis == model.SinceStart:
		return model.Reading{}
	case d.N == 0:
		return model.Missing(model.NoTraffic)
	default:
		return d.Mean
	}
}

// takes names the part that is most of a request, of the wait for its first token
// where only that is missed; "" when none is half of it or the parts do not add up.
func (s split) takes(w *model.WorkflowView) string {
	parts, whole, of := s.parts[:], s.whole, "a request"
	if onlyFirstToken(w) {
		parts, whole, of = s.parts[:2], s.parts[0]+s.parts[1], "queue and prefill"
	}
	if !s.even || math.IsNaN(whole) || whole <= 0 {
		return ""
	}
	for i, v := range parts {
		if share := v / whole; share >= 0.5 {
			return fmt.Sprintf("%s takes %s of %s", phases[i].name, unit.Percent(share), of)
		}
	}
	return ""
}

func onlyFirstToken(w *model.WorkflowView) bool {
	only := false
	for _, o := range w.Objectives {
		if o.Verdict == model.Missed {
			if o.Metric != model.MetricTTFT {
				return false
			}
			only = true
		}
	}
	return only
}

// line is the parts in fields of their own, so that nothing moves, and a bar of
// them, in which what no part explains stays empty.
func (s split) line(w *model.WorkflowView, width int, look Look) string {
	field := func(drop int, label string, sign seg, d *model.Dist, signal model.Signal) part {
		r := meanOf(d)
		if d == nil && slices.Contains(w.Missing, signal) {
			r = model.Missing(model.Unsupported)
		}
		c := look.settled(w, look.reading(r, 6, unit.DurationShort))
		p := part{segs: []seg{sign, {themes.Muted, label + " "}, {c.role, spaces(6-cells(c.text)) + c.text}}, drop: drop}
		return p.of(meanTopics[signal], w.Name)
	}
	ps := []part{field(1, "mean E2E", seg{}, w.E2E, model.E2E)}
	for _, p := range phases {
		ps = append(ps, field(0, p.name, seg{p.role, look.pick(p.fill, p.ascii) + " "}, p.of(w), p.signal))
	}
	l := look.line(width).pad(1).parts(2, ps...)
	n := part{}
	if !math.IsInf(s.n, 1) && s.n > 0 {
		n = say(0, themes.Muted, "n "+samples(s.n))
	}
	bar := min(width-l.w-2, maxBar)
	if room := width - l.w - 4 - samplesW; room >= minBar {
		bar = min(room, maxBar)
	} else {
		n = part{}
	}
	if bar < minBar {
		return l.String()
	}
	l.pad(l.w + 2)
	for _, b := range s.bar(bar, look) {
		l.put(b.role, b.text)
	}
	return l.pad(l.w+2).parts(0, n).String()
}

// What a bar needs, what it uses at most, and the room of "n 9999" behind it.
const (
	minBar   = 8
	maxBar   = 40
	samplesW = 6
)

// bar draws the parts in n cells; without a whole there is nothing to compare.
func (s split) bar(n int, look Look) []seg {
	whole := s.whole
	var sum float64
	for _, v := range s.parts {
		if !math.IsNaN(v) {
			sum += v
		}
	}
	whole = max(whole, sum)
	if math.IsNaN(whole) || whole <= 0 {
		return []seg{{themes.Rule, strings.Repeat(look.pick("─", "-"), n)}}
	}
	var out []seg
	at, upTo := 0, 0.0
	for i, v := range s.parts {
		if math.IsNaN(v) {
			continue
		}
		upTo += v
		to := int(math.Round(upTo / whole * float64(n)))
		out = append(out, seg{phases[i].role, strings.Repeat(look.pick(phases[i].fill, phases[i].ascii), to-at)})
		at = to
	}
	return append(out, seg{themes.Rule, strings.Repeat(look.pick("─", "-"), n-at)})
}

// settled leaves out "no samples" while there was no window that could have any.
func (k Look) settled(w *model.WorkflowView, c cell) cell {
	if of(w) == starting && c.role == themes.Muted {
		c.text = unit.None(k.ASCII)
	}
	return c
}
