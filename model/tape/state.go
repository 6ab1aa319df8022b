package tape

import (
	"math"
	"slices"

	"slotop/model"
)

// series is one series of one target and its last value in this segment. Writer
// and reader keep the same state and so agree on what "unchanged" means.
type series struct {
	key   seriesKey
	value float64
	has   bool // a histogram
	hist  model.Buckets
	batch int // the batch it was last part of
}

// seriesKey tells series apart. A batch may repeat a signal with the same
// labels: nth counts the repetitions.
type seriesKey struct {
	signal model.Signal
	labels model.LabelSet
	kind   model.Kind
	nth    int
}

// target is the state of one target within a segment.
type target struct {
	about   *model.About
	series  []*series
	byKey   map[seriesKey]int // writer only
	layout  []int             // the series of the last batch, in its order
	samples []model.Sample    // reader only: what the last batch looked like
	batches int
	reports reports
	devices devices
}

// How a batch's samples are laid out.
const (
	layoutNone = 0 // nil
	layoutSame = 1 // the same series in the same order as before
	layoutNew  = 2
)

// What a batch says of its target.
const (
	aboutNone   = 0 // nil
	aboutSame   = 1 // the one last seen in this segment
	aboutNew    = 2
	aboutRepeat = 3 // the one of an earlier segment, written again
)

// Which parts of a sample follow.
const (
	hasValue  = 1 << iota
	hasHist   // counts and flags
	hasBounds // with hasHist
	hasSum    // with hasHist
	noHist    // the histogram is gone
	isIncomplete
	isRepaired
)

// change says what of a sample differs from the last value of its series.
func (s *series) change(v model.Sample) byte {
	var flags byte
	if !sameFloat(s.value, v.Value) {
		flags |= hasValue
	}
	if v.Hist == nil {
		if s.has {
			flags |= noHist
		}
		return flags
	}
	h := v.Hist
	sameBounds := s.has && sameFloats(s.hist.Bounds, h.Bounds)
	sameSum := s.has && s.hist.Sum.State == h.Sum.State && sameFloat(s.hist.Sum.Value, h.Sum.Value)
	if sameBounds && sameSum && sameFloats(s.hist.Counts, h.Counts) &&
		s.hist.Incomplete == h.Incomplete && s.hist.Repaired == h.Repaired {
		return flags
	}
	flags |= hasHist
	if !sameBounds {
		flags |= hasBounds
	}
	if !sameSum {
		flags |= hasSum
	}
	if h.Incomplete {
		flags |= isIncomplete
	}
	if h.Repaired {
		flags |= isRepaired
	}
	return flags
}

// encode writes the parts of v named in flags and makes v the last value.
func (s *series) encode(e *encoder, v model.Sample, flags byte) {
	e.byte(flags)
	if flags&hasValue != 0 {
		e.float(v.Value, s.value)
		s.value = v.Value
	}
	if flags&noHist != 0 {
		s.has, s.hist = false, model.Buckets{}
	}
	if flags&hasHist == 0 {
		return
	}
	h := v.Hist
	e.counts(h.Counts, s.hist.Counts)
	s.hist.Counts = keep(s.hist.Counts, h.Counts)
	if flags&hasBounds != 0 {
		e.floats(h.Bounds)
		s.hist.Bounds = keep(s.hist.Bounds, h.Bounds)
	}
	if flags&hasSum != 0 {
		e.byte(byte(h.Sum.State))
		e.bits(h.Sum.Value)
		s.hist.Sum = h.Sum
	}
	s.has, s.hist.Incomplete, s.hist.Repaired = true, h.Incomplete, h.Repaired
}

// decode reads what encode wrote.
func (s *series) decode(d *decoder) {
	flags := d.byte()
	if flags&hasValue != 0 {
		s.value = d.float(s.value)
	}
	if flags&noHist != 0 {
		s.has, s.hist = false, model.Buckets{}
	}
	if flags&hasHist == 0 {
		return
	}
	s.hist.Counts = d.counts(s.hist.Counts)
	if flags&hasBounds != 0 {
		s.hist.Bounds = d.floats() // fresh memory: bounds may be kept by whoever reads them
	}
	if flags&hasSum != 0 {
		s.hist.Sum = model.Reading{State: model.Presence(d.byte()), Value: d.bits()}
	}
	s.has, s.hist.Incomplete, s.hist.Repaired = true, flags&isIncomplete != 0, flags&isRepaired != 0
}

func (s *series) sample() model.Sample {
	v := model.Sample{Signal: s.key.signal, Labels: s.key.labels, Kind: s.key.kind, Value: s.value}
	if s.has {
		v.Hist = &s.hist
	}
	return v
}

// keep copies from into memory of its own, nil staying nil.
func keep(into, from []float64) []float64 {
	if from == nil {
		return nil
	}
	if into == nil {
		into = []float64{}
	}
	return append(into[:0], from...)
}

// sameFloat compares bits: NaN equals itself and 0 is not -0.
func sameFloat(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func sameFloats(a, b []float64) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, sameFloat)
}
