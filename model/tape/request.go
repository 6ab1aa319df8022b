package tape

import (
	"math"

	"slotop/model"
)

// reports is what a target's reports of requests are written against: the
// stamp and the number of the one before, within a segment.
type reports struct {
	at  model.Stamp
	seq uint64
}

// fields are those of a request that may be missing, by the way they are
// written. Writer and reader go through them in this order: it is part of the
// format. Each has a bit that says whether it is there.
type fields struct {
	stamps   [7]*model.Stamp
	readings [4]*model.Reading
	texts    [8]*string
	numbers  [3]*int
}

func fieldsOf(r *model.Request) fields {
	return fields{
		stamps:   [...]*model.Stamp{&r.Scheduled, &r.Queued, &r.Admitted, &r.ContextDone, &r.FirstToken, &r.FirstAnswer, &r.Completed},
		readings: [...]*model.Reading{&r.InputTokens, &r.OutputTokens, &r.CachedTokens, &r.OutputChunks},
		texts: [...]*string{
			(*string)(&r.Phase), &r.Workflow, &r.Model, &r.ModelVersion, &r.Instance,
			(*string)(&r.Outcome), &r.Reason, &r.RetryOf,
		},
		numbers: [...]*int{&r.Status, &r.Attempt, &r.Retries},
	}
}

// Bits of a request's flags. Above these are those of its fields.
const (
	unitBits  = 0b11   // the unit of its stamps: an index of units
	hasSeq    = 1 << 2 // numbered
	hasLabels = 1 << 3
	hasStream = 1 << 4
	fieldBits = 5
	allBits   = fieldBits + 7 + 4 + 8 + 3
)

// units are those in which stamps may be written: gateways have clocks of a
// millisecond or a microsecond, and the zeros below would take half the tape.
var units = [...]model.Stamp{1, 1e3, 1e6}

// present gives the flags of the fields that are there.
func (f *fields) present() uint64 {
	flags, bit := uint64(0), uint64(1<<fieldBits)
	mark := func(there bool) {
		if there {
			flags |= bit
		}
		bit <<= 1
	}
	for _, s := range f.stamps {
		mark(*s != 0)
	}
	for _, r := range f.readings {
		mark(r.State != model.Unknown || math.Float64bits(r.Value) != 0)
	}
	for _, t := range f.texts {
		mark(*t != "")
	}
	for _, n := range f.numbers {
		mark(*n != 0)
	}
	return flags
}

// unit is the coarsest in which all stamps are whole. Differences wrap around
// and so are exact for any stamp.
func (f *fields) unit(at, before model.Stamp) uint64 {
	u := uint64(len(units) - 1)
	fits := func(d model.Stamp) {
		for d%units[u] != 0 {
			u--
		}
	}
	fits(at - before)
	for _, s := range f.stamps {
		if *s != 0 {
			fits(*s - at)
		}
	}
	return u
}

// request writes one report of a request.
func (e *encoder) request(r *model.Request, last *reports) {
	f := fieldsOf(r)
	u := f.unit(r.At, last.at)
	flags := f.present() | u
	if r.Seq != 0 {
		flags |= hasSeq
	}
	if r.Labels != (model.LabelSet{}) {
		flags |= hasLabels
	}
	if r.Stream != model.StreamUnknown {
		flags |= hasStream
	}
	e.uint(flags)
	e.string(r.ID)
	e.int(int64((r.At - last.at) / units[u]))
	last.at = r.At
	if r.Seq != 0 {
		e.int(int64(r.Seq - last.seq))
		last.seq = r.Seq
	}
	if flags&hasLabels != 0 {
		e.set(r.Labels)
	}
	if flags&hasStream != 0 {
		e.byte(byte(r.Stream))
	}
	f.encode(e, bits(flags>>fieldBits), r.At, units[u])
}

// bits are the flags of fields, the first one lowest.
type bits uint64

// next takes off the lowest flag.
func (b *bits) next() (there bool) {
	there = *b&1 != 0
	*b >>= 1
	return there
}

func (f *fields) encode(e *encoder, there bits, at, unit model.Stamp) {
	for _, s := range f.stamps {
		if there.next() {
			e.int(int64((*s - at) / unit))
		}
	}
	for _, r := range f.readings {
		if there.next() {
			e.reading(*r)
		}
	}
	for _, t := range f.texts {
		if there.next() {
			e.string(*t)
		}
	}
	for _, n := range f.numbers {
		if there.next() {
			e.int(int64(*n))
		}
	}
}

// request reads what its counterpart wrote.
func (d *decoder) request(r *model.Request, last *reports) {
	*r = model.Request{}
	flags := d.uint()
	u := flags & unitBits
	if flags>>allBits != 0 || u >= uint64(len(units)) {
		d.fail()
		return
	}
	r.ID = d.string()
	last.at += model.Stamp(d.int()) * units[u]
	r.At = last.at
	if flags&hasSeq != 0 {
		last.seq += uint64(d.int())
		r.Seq = last.seq
	}
	if flags&hasLabels != 0 {
		r.Labels = d.set()
	}
	if flags&hasStream != 0 {
		r.Stream = model.Streaming(d.byte())
	}
	f := fieldsOf(r)
	f.decode(d, bits(flags>>fieldBits), r.At, units[u])
}

func (f *fields) decode(d *decoder, there bits, at, unit model.Stamp) {
	for _, s := range f.stamps {
		if there.next() {
			*s = at + model.Stamp(d.int())*unit
		}
	}
	for _, r := range f.readings {
		if there.next() {
			*r = d.reading()
		}
	}
	for _, t := range f.texts {
		if there.next() {
			*t = d.string()
		}
	}
	for _, n := range f.numbers {
		if there.next() {
			*n = int(d.int())
		}
	}
}

// reports writes what a batch holds besides samples.
func (e *encoder) reports(b *model.Batch, last *reports) {
	e.string(b.Epoch)
	e.int(int64(b.Lost))
	if b.Requests == nil {
		e.noList()
	} else {
		e.length(len(b.Requests))
		for i := range b.Requests {
			e.request(&b.Requests[i], last)
		}
	}
	if b.Reported == nil {
		e.noList()
		return
	}
	e.length(len(b.Reported))
	for i := range b.Reported {
		e.reported(&b.Reported[i])
	}
}

func (e *encoder) reported(r *model.Reported) {
	e.string(string(r.Signal))
	e.set(r.Labels)
	e.reading(r.WindowS)
	e.reading(r.Count)
	if r.Quantiles == nil {
		e.noList()
		return
	}
	e.length(len(r.Quantiles))
	for _, q := range r.Quantiles {
		e.bits(q.Q)
		e.bits(q.S)
	}
}

// Bytes that one of these takes at least, which bounds what a forged length can
// ask for.
const (
	leastRequest  = 3 // flags, ID, stamp
	leastReported = 5 // signal, labels, two readings, no quantiles
	leastQuantile = 16
)

// requests reads a list of reports into memory that is used again.
func (d *decoder) requests(into []model.Request, last *reports) []model.Request {
	n, ok := d.list(maxReports, leastRequest)
	if !ok {
		return nil
	}
	if cap(into) < n || into == nil {
		into = make([]model.Request, n)
	}
	into = into[:n]
	for i := range into {
		d.request(&into[i], last)
	}
	return into
}

func (d *decoder) reporteds() []model.Reported {
	n, ok := d.list(maxReports, leastReported)
	if !ok {
		return nil
	}
	list := make([]model.Reported, n)
	for i := range list {
		list[i] = model.Reported{
			Signal: model.Signal(d.string()), Labels: d.set(),
			WindowS: d.reading(), Count: d.reading(), Quantiles: d.quantiles(),
		}
	}
	return list
}

func (d *decoder) quantiles() []model.QuantileAt {
	n, ok := d.list(maxList, leastQuantile)
	if !ok {
		return nil
	}
	list := make([]model.QuantileAt, n)
	for i := range list {
		list[i] = model.QuantileAt{Q: d.bits(), S: d.bits()}
	}
	return list
}
