package tape

import (
	"encoding/binary"
	"errors"
	"math"

	"slotop/model"
)

// errMalformed means that a segment with a good checksum makes no sense: only a
// faulty writer produces it.
var errMalformed = errors.New("a segment's content makes no sense")

// encoder appends values to a segment that is being filled.
type encoder struct {
	b       []byte
	strings map[string]uint64
	sets    map[model.LabelSet]uint64
	beyond  bool // something in it is more than a reader takes
}

func newEncoder() encoder {
	return encoder{strings: map[string]uint64{}, sets: map[model.LabelSet]uint64{}}
}

func (e *encoder) reset() {
	e.b = e.b[:0]
	clear(e.strings)
	clear(e.sets)
	e.beyond = false
}

// overfull reports whether no reader would take what was written.
func (e *encoder) overfull() bool {
	return e.beyond || len(e.b) > mostRaw || len(e.strings) > maxStrings || len(e.sets) > maxStrings
}

func (e *encoder) byte(v byte)    { e.b = append(e.b, v) }
func (e *encoder) uint(v uint64)  { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)    { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) bits(v float64) { e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v)) }
func (e *encoder) noList()        { e.uint(0) }
func (e *encoder) bool(v bool)    { e.byte(map[bool]byte{true: 1}[v]) }

func (e *encoder) length(n int) {
	e.beyond = e.beyond || n >= maxList
	e.uint(uint64(n) + 1)
}

// string writes a string once in a segment and its number from then on.
func (e *encoder) string(s string) {
	if n, ok := e.strings[s]; ok {
		e.uint(n)
		return
	}
	e.strings[s] = uint64(len(e.strings)) + 1
	e.uint(0)
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func encodeStrings[S ~string](e *encoder, list []S) {
	if list == nil {
		e.noList()
		return
	}
	e.length(len(list))
	for _, s := range list {
		e.string(string(s))
	}
}

// float writes v against its previous value: counters and most gauges are whole
// numbers that move a little, and cost one byte.
func (e *encoder) float(v, prev float64) {
	if !whole(v) || !whole(prev) {
		e.uint(1)
		e.bits(v)
		return
	}
	e.uint(zigzag(int64(v)-int64(prev)) << 1)
}

// reading writes a number that may not exist: a count of tokens takes a byte or
// two.
func (e *encoder) reading(r model.Reading) {
	if r.State != model.Present || !whole(r.Value) {
		e.uint(1)
		e.byte(byte(r.State))
		e.bits(r.Value)
		return
	}
	e.uint(zigzag(int64(r.Value)) << 1)
}

// whole reports whether v survives as an integer. Minus zero does not.
func whole(v float64) bool {
	return v == math.Trunc(v) && math.Abs(v) <= 1<<53 && !(v == 0 && math.Signbit(v))
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// How a list of counts is written.
const (
	countsRaw   = 0 // eight bytes each
	countsDelta = 1 // change of each bucket since the last time, not cumulative
)

// counts writes cumulative bucket counts against their previous values. The
// buckets' own increases are nearly all zero, and so one byte each, compressible.
func (e *encoder) counts(v, prev []float64) {
	if v == nil {
		e.noList()
		return
	}
	e.length(len(v))
	if len(prev) != len(v) {
		prev = nil
	}
	if !allWhole(v) || !allWhole(prev) {
		e.byte(countsRaw)
		for _, c := range v {
			e.bits(c)
		}
		return
	}
	e.byte(countsDelta)
	below := int64(0)
	for i, c := range v {
		moved := int64(c)
		if prev != nil {
			moved -= int64(prev[i])
		}
		e.int(moved - below)
		below = moved
	}
}

func allWhole(list []float64) bool {
	for _, v := range list {
		if !whole(v) {
			return false
		}
	}
	return true
}

func (e *encoder) floats(list []float64) {
	if list == nil {
		e.noList()
		return
	}
	e.length(len(list))
	for _, v := range list {
		e.bits(v)
	}
}

func (e *encoder) labels(l model.LabelSet) {
	n := uint64(0)
	for range l.All {
		n++
	}
	e.beyond = e.beyond || n > maxLabels
	e.uint(n)
	for name, value := range l.All {
		e.string(name)
		e.string(value)
	}
}

// set writes labels once in a segment and their number from then on.
func (e *encoder) set(l model.LabelSet) {
	if n, ok := e.sets[l]; ok {
		e.uint(n)
		return
	}
	e.sets[l] = uint64(len(e.sets)) + 1
	e.uint(0)
	e.labels(l)
}

func (e *encoder) about(a *model.About) {
	e.string(a.Engine)
	e.string(a.Version)
	encodeStrings(e, a.Models)
	if a.Meanings == nil {
		e.noList()
	} else {
		e.length(len(a.Meanings))
		for _, m := range a.Meanings {
			e.string(string(m.Signal))
			e.string(m.Metric)
			e.string(m.Measures)
			e.bool(m.AtFinish)
		}
	}
	encodeStrings(e, a.Missing)
	encodeStrings(e, a.Notes)
	e.string(a.Kind)
	e.bits(a.StepS)
	e.int(int64(a.Replicas.Fresh))
	e.int(int64(a.Replicas.Total))
}

// decoder takes values from a segment. The first thing that makes no sense sets
// err, and from then on everything reads as zero.
type decoder struct {
	b       []byte
	strings []string
	sets    []model.LabelSet
	version version
	err     error
}

func (d *decoder) reset(b []byte) {
	clear(d.strings) // what an earlier segment named is not kept alive
	clear(d.sets)
	*d = decoder{b: b, strings: d.strings[:0], sets: d.sets[:0], version: d.version}
}

func (d *decoder) fail() {
	d.err = errMalformed
	d.b = nil
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool { return d.byte() == 1 }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bits() float64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

// length reads the length of a list and whether there is one at all. Each entry
// takes at least a byte, which bounds what a forged length can ask for.
func (d *decoder) length() (n int, ok bool) {
	v := d.uint()
	if v == 0 {
		return 0, false
	}
	if v > maxList {
		d.fail()
		return 0, true
	}
	return d.checked(v - 1), true
}

func (d *decoder) checked(n uint64) int {
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	ref := d.uint()
	if ref > 0 {
		if ref > uint64(len(d.strings)) {
			d.fail()
			return ""
		}
		return d.strings[ref-1]
	}
	n := d.checked(d.uint())
	if len(d.strings) >= maxStrings {
		d.fail()
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	d.strings = append(d.strings, s)
	return s
}

// text is a string of foreign origin with a bound of its own.
func (d *decoder) text() string {
	s := d.string()
	if len(s) > maxText {
		d.fail()
		return ""
	}
	return s
}

func decodeStrings[S ~string](d *decoder) []S {
	n, ok := d.length()
	if !ok {
		return nil
	}
	list := make([]S, n)
	for i := range list {
		list[i] = S(d.string())
	}
	return list
}

func (d *decoder) float(prev float64) float64 {
	v := d.uint()
	if v == 1 {
		return d.bits()
	}
	if v&1 != 0 {
		d.fail()
		return 0
	}
	return float64(int64(prev) + unzigzag(v>>1))
}

// counts reads bucket counts into prev's memory where they fit.
func (d *decoder) counts(prev []float64) []float64 {
	n, ok := d.length()
	if !ok {
		return nil
	}
	fresh := len(prev) != n || prev == nil
	if fresh {
		prev = make([]float64, n)
	}
	switch d.byte() {
	case countsRaw:
		for i := range prev {
			prev[i] = d.bits()
		}
	case countsDelta:
		below := int64(0)
		for i := range prev {
			below += d.int()
			prev[i] = float64(int64(prev[i]) + below)
		}
	default:
		d.fail()
	}
	return prev
}

func (d *decoder) floats() []float64 {
	n, ok := d.list(maxList, 8)
	if !ok {
		return nil
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = d.bits()
	}
	return list
}

// list reads the length of a list that is bounded more tightly: by most entries,
// of at least so many bytes each.
func (d *decoder) list(most, least int) (n int, ok bool) {
	n, ok = d.length()
	if n > most || n > len(d.b)/least {
		d.fail()
		return 0, ok
	}
	return n, ok
}

// reading reads what its counterpart wrote.
func (d *decoder) reading() model.Reading {
	v := d.uint()
	if v == 1 {
		return model.Reading{State: model.Presence(d.byte()), Value: d.bits()}
	}
	if v&1 != 0 {
		d.fail()
		return model.Reading{}
	}
	return model.Reading{State: model.Present, Value: float64(unzigzag(v >> 1))}
}

func (d *decoder) set() model.LabelSet {
	ref := d.uint()
	if ref > uint64(len(d.sets)) || len(d.sets) >= maxStrings {
		d.fail()
		return model.LabelSet{}
	}
	if ref > 0 {
		return d.sets[ref-1]
	}
	l := d.labels()
	d.sets = append(d.sets, l)
	return l
}

func (d *decoder) labels() model.LabelSet {
	n := d.checked(d.uint())
	if n > maxLabels {
		d.fail()
		return model.LabelSet{}
	}
	pairs := make([]string, 0, 2*n)
	for range n {
		pairs = append(pairs, d.string(), d.string())
	}
	return model.Labels(pairs...)
}

func (d *decoder) about() *model.About {
	a := &model.About{Engine: d.string(), Version: d.string(), Models: decodeStrings[string](d)}
	if n, ok := d.length(); ok {
		a.Meanings = make([]model.Meaning, n)
		for i := range a.Meanings {
			a.Meanings[i] = model.Meaning{
				Signal: model.Signal(d.string()), Metric: d.string(), Measures: d.string(), AtFinish: d.bool(),
			}
		}
	}
	a.Missing = decodeStrings[model.Signal](d)
	a.Notes = decodeStrings[string](d)
	if d.version >= version3 {
		a.Kind, a.StepS = d.string(), d.bits()
		a.Replicas = model.Replicas{Fresh: int(d.int()), Total: int(d.int())}
	}
	return a
}

// kind is what the next input consists of.
func (d *decoder) kind() kind {
	v := uint64(0)
	if d.version < version3 {
		v = uint64(d.byte())
	} else {
		v = d.uint()
	}
	if v&^uint64(d.version.kinds()) != 0 {
		d.fail()
	}
	return kind(v)
}
