package expo

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sampleSet is what a page says, whichever parser read it: the value of each
// series, bounds written one way.
type sampleSet map[string]float64

// key writes a name and labels in one order. le counts as a number.
func key(name string, labels []Label) string {
	all := make([]string, 0, len(labels))
	for _, l := range labels {
		value := l.Value
		if v, err := strconv.ParseFloat(value, 64); l.Name == "le" && err == nil {
			value = bound(v)
		}
		all = append(all, strconv.Quote(l.Name)+"="+strconv.Quote(value))
	}
	slices.Sort(all)
	return strconv.Quote(name) + "{" + strings.Join(all, ",") + "}"
}

func bound(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// set is what our page says.
func (p *Page) set() sampleSet {
	out := sampleSet{}
	for i, s := range p.Series {
		if !p.Seen[i] {
			continue
		}
		out[key(s.Name, s.allLabels())] = p.Values[i]
	}
	return out
}

func (s *Series) allLabels() []Label {
	if math.IsNaN(s.Le) {
		return s.Labels
	}
	return append(slices.Clone(s.Labels), Label{"le", bound(s.Le)})
}

// reference is what expfmt makes of a page; ok is false where it refuses it.
func reference(body []byte) (out sampleSet, ok bool) {
	defer func() {
		if recover() != nil { // it panics on some quoted names
			out, ok = nil, false
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	out = sampleSet{}
	for name, mf := range families {
		for _, m := range mf.Metric {
			out.add(name, m)
		}
	}
	return out, true
}

func (out sampleSet) add(name string, m *dto.Metric) {
	labels := make([]Label, len(m.Label))
	for i, l := range m.Label {
		labels[i] = Label{l.GetName(), l.GetValue()}
	}
	put := func(suffix string, v float64, extra ...Label) {
		out[key(name+suffix, append(slices.Clone(labels), extra...))] = v
	}
	switch {
	case m.Gauge != nil:
		put("", m.Gauge.GetValue())
	case m.Counter != nil:
		put("", m.Counter.GetValue())
	case m.Untyped != nil:
		put("", m.Untyped.GetValue())
	case m.Summary != nil:
		out.addSummary(m.Summary, put)
	case m.Histogram != nil:
		out.addHistogram(m.Histogram, put)
	}
}

func (sampleSet) addSummary(s *dto.Summary, put func(string, float64, ...Label)) {
	if s.SampleCount != nil {
		put("_count", float64(s.GetSampleCount()))
	}
	if s.SampleSum != nil {
		put("_sum", s.GetSampleSum())
	}
	for _, q := range s.Quantile {
		put("", q.GetValue(), Label{"quantile", bound(q.GetQuantile())})
	}
}

func (sampleSet) addHistogram(h *dto.Histogram, put func(string, float64, ...Label)) {
	switch {
	case h.SampleCountFloat != nil:
		put("_count", h.GetSampleCountFloat())
	case h.SampleCount != nil:
		put("_count", float64(h.GetSampleCount()))
	}
	if h.SampleSum != nil {
		put("_sum", h.GetSampleSum())
	}
	for _, b := range h.Bucket {
		n := float64(b.GetCumulativeCount())
		if b.CumulativeCountFloat != nil {
			n = b.GetCumulativeCountFloat()
		}
		put("_bucket", n, Label{"le", bound(b.GetUpperBound())})
	}
}

func equal(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// difference names one series that the two sets do not agree on.
func difference(got, want sampleSet) string {
	for k, w := range want {
		if g, ok := got[k]; !ok {
			return "lacks " + k
		} else if !equal(g, w) {
			return k + " = " + bound(g) + ", not " + bound(w)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			return "has " + k + " too many"
		}
	}
	return ""
}
