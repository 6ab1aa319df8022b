package fleet

import (
	"slotop/model"
	"slotop/model/hist"
)

// tally sums the samples of one target, or of one workflow over its targets.
// Levels are of now; counts, rates and histograms are of the window, or since
// the server started where only one poll exists.
type tally struct {
	levels
	count                 [numSignals]model.Reading
	rate                  [numSignals]model.Reading
	hist                  [numHists]hist.Hist // by signal, from firstHist on
	hasHist               [numHists]bool
	looked                float64            // prefix look-ups and hits since the server started,
	hits                  float64            // for a hit counter that never moved
	truncated             model.Reading      // of the finished, cut at their limit
	failedBy, cancelledBy map[string]float64 // where a gateway says why
	basis                 model.Basis
	partial               bool // an incomplete histogram is in it
	repaired              bool
}

// levels are the gauges of one target, of one of its engines or of a workflow.
type levels struct {
	exported [numSignals]bool // whether anything, gauge or not, is there of a signal
	absent   [numSignals]bool // nobody says it, and somebody could
	level    [numSignals]model.Reading
}

// reset empties the tally and keeps its memory.
func (t *tally) reset() {
	h := t.hist
	for i := range h {
		h[i] = hist.Hist{Bounds: h[i].Bounds[:0], Cum: h[i].Cum[:0]}
	}
	*t = tally{hist: h}
}

// of is the histogram of a signal and whether anything is known of it.
func (t *tally) of(sig int) (*hist.Hist, bool) {
	return &t.hist[sig-firstHist], t.hasHist[sig-firstHist]
}

// addLevel joins a level: a ratio keeps the fullest, everything else adds up.
// Fresh levels stand alone; stale ones join only while there is no fresh one.
func (l *levels) addLevel(sig int, v model.Reading) {
	cur := l.level[sig]
	switch {
	case v.State == cur.State && (v.OK() || v.State == model.Stale):
		joined := cur.Value + v.Value
		if largestCounts(model.Signals[sig].Signal) {
			joined = max(cur.Value, v.Value)
		}
		v = model.Of(joined)
		if cur.State == model.Stale {
			v = stale(v)
		}
	case cur.OK() || cur.State == model.Stale && !v.OK():
		return
	}
	l.level[sig] = v
}

// largestCounts marks levels that do not add up over engines and replicas.
func largestCounts(s model.Signal) bool {
	switch s {
	case model.KVUsage, model.ReportedHitRatio, model.ReportedQueueMean, model.SpecAcceptLength, model.ProcessStart:
		return true
	default:
		return false
	}
}

func sum(a, b model.Reading) model.Reading {
	if !a.OK() {
		return b
	}
	if !b.OK() {
		return a
	}
	return model.Of(a.Value + b.Value)
}

// addHist adds an increase. The tally owns its bounds and counts.
func (t *tally) addHist(sig int, h hist.Hist) {
	mine, started := t.of(sig)
	if !started {
		t.hasHist[sig-firstHist] = true
		mine.Bounds = append(mine.Bounds[:0], h.Bounds...)
		mine.Cum = append(mine.Cum[:0], h.Cum...)
		mine.Sum, mine.Incomplete, mine.Repaired, mine.Fidelity = h.Sum, h.Incomplete, h.Repaired, h.Fidelity
		return
	}
	if !mine.Add(h) {
		*mine, _ = hist.Merge(*mine, h)
	}
}

// add joins another tally, such as a target's share of a workflow.
func (t *tally) add(o *tally) {
	first := t.basis == ""
	for i := range t.level {
		t.absent[i] = o.absent[i] && (first || t.absent[i])
		if !o.exported[i] {
			continue
		}
		t.exported[i] = true
		t.addLevel(i, o.level[i])
		t.count[i] = sum(t.count[i], o.count[i])
		t.rate[i] = sum(t.rate[i], o.rate[i])
	}
	for i, known := range o.hasHist {
		if known {
			t.addHist(firstHist+i, o.hist[i])
		}
	}
	t.truncated = sum(t.truncated, o.truncated)
	addCauses(&t.failedBy, o.failedBy)
	addCauses(&t.cancelledBy, o.cancelledBy)
	t.looked += o.looked
	t.hits += o.hits
	t.basis = o.basis
	t.partial = t.partial || o.partial
	t.repaired = t.repaired || o.repaired
}

// The readers of a tally. Each answers "not exported" where the servers are known
// not to say, and "no data" where nothing can be said yet.

func (l *levels) levelOf(s model.Signal) model.Reading { return l.reading(&l.level, s) }
func (t *tally) rateOf(s model.Signal) model.Reading   { return t.reading(&t.rate, s) }
func (t *tally) countOf(s model.Signal) model.Reading  { return t.reading(&t.count, s) }

func (l *levels) reading(of *[numSignals]model.Reading, s model.Signal) model.Reading {
	i := signalIndex[s]
	if l.absent[i] {
		return model.Missing(model.Unsupported)
	}
	return of[i]
}

// has reports whether anything is there of a signal.
func (l *levels) has(s model.Signal) bool { return l.exported[signalIndex[s]] }

// outcome is a count of requests that did not end well. A server that counts how
// requests end and knows no such end does not export it.
func (t *tally) outcome(s model.Signal) model.Reading {
	if !t.has(s) && t.has(model.Finished) {
		return model.Missing(model.Unsupported)
	}
	return t.countOf(s)
}

// distOf is the distribution of a latency, nil where it is not known at all.
func (t *tally) distOf(s model.Signal) *model.Dist {
	h, known := t.of(signalIndex[s])
	if !known {
		return nil
	}
	return h.Dist(t.basis)
}

// coarse reports whether any histogram is known on common bounds only.
func (t *tally) coarse() bool {
	for i := range t.hist {
		if t.hasHist[i] && t.hist[i].Fidelity == model.Coarse {
			return true
		}
	}
	return false
}

// countIn is how many observations a histogram saw.
func (t *tally) countIn(s model.Signal) model.Reading {
	i := signalIndex[s]
	switch {
	case t.absent[i]:
		return model.Missing(model.Unsupported)
	case !t.hasHist[i-firstHist]:
		return model.Reading{}
	default:
		return model.Of(t.hist[i-firstHist].N())
	}
}

// ratio is a/b of two counts over the window: no traffic where b did not move.
func ratio(a, b model.Reading) model.Reading {
	switch {
	case !a.OK():
		return a
	case !b.OK():
		return b
	case b.Value <= 0:
		return model.Missing(model.NoTraffic)
	default:
		return model.Of(a.Value / b.Value)
	}
}

// markAbsent notes what the server does not say and could. Latencies that always
// show count too: where a server counts its answers and gives no TTFT, its
// dialect may not call that missing, because no release of it ever had one.
func (t *tally) markAbsent(a *model.About) {
	if a == nil {
		return
	}
	for _, s := range a.Missing {
		if i := signalIndex[s]; !t.exported[i] {
			t.absent[i] = true
		}
	}
	answers := t.exported[signalIndex[model.OutputTokens]] || t.exported[signalIndex[model.Finished]]
	for _, s := range []model.Signal{model.TTFT, model.ITL, model.TPOT} {
		if i := signalIndex[s]; !t.exported[i] && answers {
			t.absent[i] = true
		}
	}
}

// missing lists what is absent, in the order of the signals. What a gateway does
// not say its engines may.
func (t *tally) missing() []model.Signal { return missing(t, t) }

func missing(front, back *tally) []model.Signal {
	out := []model.Signal{}
	for i, s := range model.Signals {
		if front.absent[i] && back.absent[i] {
			out = append(out, s.Signal)
		}
	}
	return out
}
