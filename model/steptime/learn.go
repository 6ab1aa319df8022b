package steptime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Least is how many samples a fit needs: a minute of five seconds each.
const Least = 12

// longPrompts is the mean prompt from which attention, which grows with its square,
// has a term of its own.
const longPrompts = 8000

// The terms of the model, in the order of a sample's row.
const (
	atFixed = iota
	atSequences
	atKV
	atPrefill
	atAttention
	numTerms
)

type row [numTerms]float64

// Learn fits the model to samples of one engine at one load after another: least
// squares with every sample weighted by 1/t², so that relative errors count, and no
// coefficient below 0 (Lawson and Hanson, Solving Least Squares Problems). A term that
// most samples do not tell is left out, and otherwise samples that lack one. The order
// of the samples does not matter. The error is a sentence that says why there are too
// few.
func Learn(samples []Sample) (Fit, error) {
	usable := stepped(samples)
	if len(usable) == 0 && len(samples) > 0 {
		return Fit{}, fmt.Errorf("none of %d samples tells how long a step takes", len(samples))
	}
	terms, usable := told(usable)
	if len(usable) < Least {
		return Fit{}, fmt.Errorf("the model of step times needs %d samples and has %d", Least, len(usable))
	}
	// Sums of floats depend on their order.
	slices.SortFunc(usable, compare)
	b := solve(usable, terms)
	f := Fit{Fixed: b[atFixed], PerSequence: b[atSequences], PerKVToken: b[atKV], PerPrefill: b[atPrefill], PerAttention: b[atAttention]}
	f.describe(usable)
	return f, nil
}

// A step shorter than a nanosecond or longer than a day is none.
const (
	shortest = 1e-9
	longest  = 86400
)

// stepped are the samples whose step time is one.
func stepped(samples []Sample) []Sample {
	out := make([]Sample, 0, len(samples))
	for _, s := range samples {
		if s.Step >= shortest && s.Step <= longest {
			out = append(out, s)
		}
	}
	return out
}

// told decides which terms the samples tell, and returns those that tell all of them.
// It rearranges the samples.
func told(samples []Sample) (terms [numTerms]bool, whole []Sample) {
	terms = [numTerms]bool{true, true, true, true, meanPrompt(samples) > longPrompts}
	for k := range terms {
		if !terms[k] {
			continue
		}
		lacks := func(s Sample) bool { return !sound(s.row()[k]) }
		n := 0
		for _, s := range samples {
			if !lacks(s) {
				n++
			}
		}
		if terms[k] = n >= max(Least, (len(samples)+1)/2); terms[k] && n < len(samples) {
			samples = slices.DeleteFunc(samples, lacks)
		}
	}
	return terms, samples
}

// sound reports whether a regressor can be used: no load is below 0, and nothing
// that is counted in a few seconds has more digits than its square can hold.
func sound(x float64) bool { return x >= 0 && x <= 1e15 }

func meanPrompt(samples []Sample) float64 {
	n, sum := 0.0, 0.0
	for _, s := range samples {
		if sound(s.Prompt) {
			n, sum = n+1, sum+s.Prompt
		}
	}
	return sum / n // of none it is no number, and above nothing
}

func (s Sample) row() row {
	return row{1, s.Sequences, s.KVTokens, s.Prefill, s.Prefill * s.Prompt}
}

func compare(a, b Sample) int {
	if d := cmp.Compare(a.Step, b.Step); d != 0 {
		return d
	}
	return cmp.Or(
		cmp.Compare(a.Sequences, b.Sequences), cmp.Compare(a.KVTokens, b.KVTokens),
		cmp.Compare(a.Prefill, b.Prefill), cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.At.Mono, b.At.Mono),
	)
}

// normal holds the normal equations of columns scaled to length 1, relative to the
// step times: a·x = c with the smallest |x·columns − 1|².
type normal struct {
	a     [numTerms][numTerms]float64
	c     row
	scale row
	n     float64
}

func equations(samples []Sample, terms [numTerms]bool) normal {
	eq := normal{n: float64(len(samples))}
	for _, s := range samples {
		for k, x := range s.row() {
			if terms[k] {
				eq.scale[k] += (x / s.Step) * (x / s.Step)
			}
		}
	}
	for k := range eq.scale {
		eq.scale[k] = math.Sqrt(eq.scale[k])
	}
	for _, s := range samples {
		r := s.row()
		for k := range r {
			if r[k] = r[k] / s.Step / eq.scale[k]; eq.scale[k] == 0 {
				r[k] = 0
			}
		}
		for i := range r {
			eq.c[i] += r[i]
			for j := range r {
				eq.a[i][j] += r[i] * r[j]
			}
		}
	}
	return eq
}

// solve tries every set of terms: with five of them that is quick, and cannot fail to
// find the best one.
func solve(samples []Sample, terms [numTerms]bool) row {
	eq := equations(samples, terms)
	best, least := row{}, math.Inf(1)
	for set := 1; set < 1<<numTerms; set++ {
		x, ok := eq.with(set)
		if !ok {
			continue
		}
		// Of two sets that explain alike the smaller one is taken.
		if left := eq.left(x) + alike*eq.n*float64(active(x)); left < least {
			best, least = x, left
		}
	}
	for k := range best {
		if best[k] > 0 {
			best[k] /= eq.scale[k]
		}
	}
	return best
}

// alike is the difference of mean squared relative errors that means nothing.
const alike = 1e-9

func active(x row) (n int) {
	for _, v := range x {
		if v > 0 {
			n++
		}
	}
	return n
}

// left is the sum of squared relative errors.
func (eq *normal) left(x row) float64 {
	sum := eq.n
	for i := range x {
		sum -= 2 * x[i] * eq.c[i]
		for j := range x {
			sum += x[i] * eq.a[i][j] * x[j]
		}
	}
	return max(0, sum)
}

// with solves for the terms of a set, the others being 0, by Cholesky's decomposition.
// It fails where columns say the same, where one is empty, and where a term would be
// below 0.
func (eq *normal) with(set int) (x row, ok bool) {
	var l [numTerms][numTerms]float64
	var in []int
	for k := range numTerms {
		if set&(1<<k) != 0 {
			in = append(in, k)
		}
	}
	var y row
	for p, i := range in {
		for q, j := range in[:p+1] {
			v := eq.a[i][j]
			for m := range q {
				v -= l[p][m] * l[q][m]
			}
			if p != q {
				l[p][q] = v / l[q][q]
				continue
			}
			if !(v > collinear) {
				return row{}, false
			}
			l[p][p] = math.Sqrt(v)
		}
		v := eq.c[i]
		for m := range p {
			v -= l[p][m] * y[m]
		}
		y[p] = v / l[p][p]
	}
	for p := len(in) - 1; p >= 0; p-- {
		v := y[p]
		for q := p + 1; q < len(in); q++ {
			v -= l[q][p] * x[in[q]]
		}
		if v /= l[p][p]; !(v >= 0) || math.IsInf(v, 0) {
			return row{}, false
		}
		x[in[p]] = v
	}
	return x, true
}

// collinear is what a column of length 1 must add at least, squared, to those before
// it: less is rounding.
const collinear = 1e-9

// describe fills in what the fit rests on.
func (f *Fit) describe(samples []Sample) {
	f.Samples = len(samples)
	f.From, f.To = samples[0].At, samples[0].At
	squares, lowest, highest := 0.0, math.Inf(1), 0.0
	f.ByGap = true
	for _, s := range samples {
		if s.At.Mono < f.From.Mono {
			f.From = s.At
		}
		if s.At.Mono > f.To.Mono {
			f.To = s.At
		}
		f.ByGap = f.ByGap && s.Steps == 0
		t := f.Explain(s).Total()
		squares += (s.Step - t) / s.Step * ((s.Step - t) / s.Step)
		lowest, highest = min(lowest, t), max(highest, t)
	}
	f.Error = math.Sqrt(squares / float64(len(samples)))
	if f.Span = 1; lowest > 0 {
		f.Span = highest / lowest
	}
}
