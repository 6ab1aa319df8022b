package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// Exposition writes frames as a Prometheus page, text format 0.0.4. What is not known has
// no sample: a rule on it does not fire, and absent() finds it. The zero value is ready;
// it remembers which findings it has told, so that those that are over read 0.
type Exposition struct {
	told []telling // findings, in the order in which they were first seen
}

// maxTold bounds the findings that are remembered: the oldest that are over go first.
const maxTold = 200

// telling is a finding by its labels.
type telling struct {
	labels []string
	now    bool
}

// family is one metric of the page.
type family struct {
	name, help, kind string
	labels           []string
	write            func(*exposed)
}

// exposed is a family that is being written.
type exposed struct {
	family *family
	f      *model.Frame
	told   []telling
	about  Exposed
	b      *strings.Builder
	head   bool
}

// Exposed is what the page says of slotop itself.
type Exposed struct {
	Version string
	AgeS    model.Reading // of the frame, in seconds
}

// Page is a frame as a page; nil before the first one.
func (e *Exposition) Page(f *model.Frame, about Exposed) string {
	if f == nil {
		f = &model.Frame{}
	}
	e.tell(f)
	var b strings.Builder
	for i := range families {
		families[i].write(&exposed{family: &families[i], f: f, told: e.told, about: about, b: &b})
	}
	return b.String()
}

// tell keeps which findings there are, and which there were.
func (e *Exposition) tell(f *model.Frame) {
	for i := range e.told {
		e.told[i].now = false
	}
	for i := range f.Findings {
		v := &f.Findings[i]
		labels := []string{v.ID, v.Title, string(v.Layer), string(v.Confidence), string(v.Workflow), string(v.Target), string(v.Pool)}
		at := slices.IndexFunc(e.told, func(t telling) bool { return slices.Equal(t.labels, labels) })
		if at < 0 {
			e.told = append(e.told, telling{labels: labels})
			at = len(e.told) - 1
		}
		e.told[at].now = true
	}
	for len(e.told) > maxTold {
		over := slices.IndexFunc(e.told, func(t telling) bool { return !t.now })
		if over < 0 {
			break
		}
		e.told = slices.Delete(e.told, over, over+1)
	}
}

// add writes a sample, if there is a value. Labels are in the family's order.
func (x *exposed) add(v model.Reading, labels ...string) {
	value, ok := v.Get()
	if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if !x.head {
		x.head = true
		x.b.WriteString("# HELP " + x.family.name + " " + helpEscapes.Replace(x.family.help) + "\n")
		x.b.WriteString("# TYPE " + x.family.name + " " + x.family.kind + "\n")
	}
	x.b.WriteString(x.family.name)
	for i, l := range labels {
		x.b.WriteString([2]string{",", "{"}[b2i(i == 0)])
		x.b.WriteString(x.family.labels[i] + `="` + labelValue(l) + `"`)
	}
	if len(labels) > 0 {
		x.b.WriteByte('}')
	}
	x.b.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// yes is 1 for true and 0 for false.
func yes(b bool) model.Reading { return model.Of(float64(b2i(b))) }

var helpEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

// labelEscapes are the characters that mean something within the quotes of a label.
var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// labelValue is a text from outside as the value of a label: what a terminal would obey
// is a visible mark, as everywhere.
func labelValue(s string) string { return labelEscapes.Replace(unit.Escape(s, false)) }

// states writes a state set: 1 for the one that is so and 0 for the others; nothing
// where none is known.
func states[S ~string](x *exposed, is S, all []S, labels ...string) {
	if is == "" {
		return
	}
	for _, s := range all {
		x.add(yes(s == is), append(labels[:len(labels):len(labels)], string(s))...)
	}
}

// ends writes the ends of a range.
func (x *exposed) ends(r model.Range, labels ...string) {
	x.add(r.Lo, append(labels[:len(labels):len(labels)], "lo")...)
	x.add(r.Hi, append(labels[:len(labels):len(labels)], "hi")...)
}

// share writes a share with its ends and its point.
func (x *exposed) share(s model.Share, labels ...string) {
	x.ends(model.Range{Lo: s.Lo, Hi: s.Hi}, labels...)
	x.add(s.Point, append(labels[:len(labels):len(labels)], "point")...)
}

// quantiles writes the percentiles of a distribution over the window.
func (x *exposed) quantiles(d *model.Dist, labels ...string) {
	if d == nil || d.N == 0 || d.Basis == model.SinceStart {
		return
	}
	for _, q := range []struct {
		name string
		of   model.Estimate
	}{{"p50", d.P50}, {"p90", d.P90}, {"p95", d.P95}, {"p99", d.P99}} {
		at := append(labels[:len(labels):len(labels)], q.name)
		x.ends(model.Range{Lo: q.of.Lo, Hi: q.of.Hi}, at...)
		x.add(q.of.Value, append(at[:len(at):len(at)], "point")...)
	}
}

// byName are the places of n things in the order of their names.
func byName(n int, name func(int) string) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return strings.Compare(name(a), name(b)) })
	return out
}
