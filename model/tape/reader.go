package tape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"slotop/model"
)

// Reader reads a tape from its start. It is used by one goroutine.
type Reader struct {
	header  Header
	version version
	in      *bufio.Reader
	zstd    *zstd.Decoder
	ending  Ending
	damage  DamageError
	done    bool

	packed  bytes.Buffer
	raw     []byte
	dec     decoder
	left    held  // what of the open segment is still to come
	size    int64 // of the open segment in the file
	series  int   // of the open segment
	devices int   // likewise

	targets  map[model.TargetID]*target
	abouts   map[model.TargetID]*model.About
	mono     time.Duration
	wall     time.Duration // Wall minus Mono of the input before
	batch    model.Batch
	requests []model.Request // memory of those of the last batch
}

// NewReader reads the header. What it cannot read is a *NotTapeError or a
// *VersionError; anything else wraps the cause.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	h, v, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxRaw), zstd.WithDecoderMaxWindow(maxRaw))
	if err != nil {
		return nil, fmt.Errorf("start decompression: %w", err)
	}
	return &Reader{
		header: h, version: v, in: in, zstd: z, dec: decoder{version: v},
		targets: map[model.TargetID]*target{},
		abouts:  map[model.TargetID]*model.About{},
	}, nil
}

// Header is what the tape says of itself.
func (r *Reader) Header() Header { return r.header }

// Ending is what the trailer says. It is known once Next returned io.EOF.
func (r *Reader) Ending() Ending { return r.ending }

// Next returns the next input, valid until the next call. After the last one it
// returns io.EOF, or a *DamageError when part of the tape was lost on the way:
// damaged segments are passed over, and all others are played.
func (r *Reader) Next() (model.Input, error) {
	for !r.done {
		if r.left.inputs == 0 {
			r.open()
			continue
		}
		left := r.left
		in := r.input()
		if r.dec.err == nil && (r.left.inputs > 0 || len(r.dec.b) == 0 && r.left.requests == 0) {
			return in, nil
		}
		r.lose(errMalformed, r.size, left)
	}
	if lost := r.Lost(); lost != nil {
		return model.Input{}, lost
	}
	return model.Input{}, io.EOF
}

// Lost is what could not be read so far, nil when nothing is missing.
func (r *Reader) Lost() *DamageError {
	if r.damage.Segments == 0 {
		return nil
	}
	lost := r.damage
	return &lost
}

// Close frees the decompressor. It does not close the file.
func (r *Reader) Close() { r.zstd.Close() }

// lose counts a segment that cannot be read, and what of it was still to come.
// What a target said of itself before it may no longer be true after it.
func (r *Reader) lose(why error, size int64, what held) {
	r.left = held{}
	clear(r.abouts)
	if r.damage.Segments == 0 {
		r.damage.Cause = why
	}
	r.damage.Segments++
	r.damage.Bytes += size
	r.damage.Inputs += what.inputs
	r.damage.Requests += what.requests
}

// stop ends the reading at the end of what can be found.
func (r *Reader) stop(why error, size int64, what held) {
	n, _ := io.Copy(io.Discard, r.in) // what cannot be read even now is not in the count
	r.lose(why, size+n, what)
	r.done = true
}

// stray ends the reading where nobody can say how the tape goes on.
func (r *Reader) stray(why error) {
	r.stop(why, 0, held{})
	r.damage.Rest = true
}

// open reads the next segment, or the trailer.
func (r *Reader) open() {
	fixed, err := r.in.Peek(r.version.fixedLen())
	switch {
	case len(fixed) == 0 && errors.Is(err, io.EOF):
		r.done = true // never closed, and cut between two segments
	case bytes.HasPrefix(fixed, []byte(trailerMarker)):
		r.end(fixed)
	case err != nil && !errors.Is(err, io.EOF):
		r.stray(fmt.Errorf("read tape: %w", err))
	case len(fixed) >= markerLen && !bytes.HasPrefix(fixed, []byte(segmentMarker)):
		r.stray(errMarker)
	case len(fixed) < r.version.fixedLen():
		r.stop(errCut, 0, held{})
	default:
		r.load(fixed)
	}
}

func (r *Reader) end(fixed []byte) {
	if len(fixed) < trailerLen {
		r.stop(errCut, 0, held{})
		return
	}
	ending, err := decodeEnding(fixed)
	if err != nil {
		r.stop(err, 0, held{})
		return
	}
	if len(fixed) > trailerLen {
		r.stop(errTrailing, -trailerLen, held{})
	}
	r.ending, r.done = ending, true
}

// load reads a segment's body and checks it.
func (r *Reader) load(fixed []byte) {
	head, intact := r.version.segment(fixed)
	switch {
	case !intact:
		r.stray(errChecksum)
		return
	case head.size > maxRaw:
		r.stray(errMarker)
		return
	}
	_, _ = r.in.Discard(len(fixed)) // it has been peeked at
	r.packed.Reset()
	n, err := io.CopyN(&r.packed, r.in, int64(head.size))
	r.size = int64(len(fixed)) + n
	switch what := r.version.held(head); {
	case errors.Is(err, io.EOF):
		r.stop(errCut, r.size, what)
	case err != nil:
		r.stop(fmt.Errorf("read tape: %w", err), r.size, what)
		r.damage.Rest = true
	case !head.holds(r.packed.Bytes()):
		r.lose(errChecksum, r.size, what)
	default:
		r.unpack(head)
	}
}

// unpack makes the segment the open one.
func (r *Reader) unpack(head segment) {
	what := held{int64(head.inputs), int64(head.requests)}
	var err error
	r.raw, err = r.zstd.DecodeAll(r.packed.Bytes(), r.raw[:0])
	if err != nil {
		r.lose(errors.New("unpack a segment: "+err.Error()), r.size, what)
		return
	}
	r.dec.reset(r.raw)
	r.left = what
	r.series, r.devices = 0, 0
	r.mono, r.wall = 0, 0
	clear(r.targets)
}

func (r *Reader) input() model.Input {
	d := &r.dec
	k := d.kind()
	r.left.inputs--
	r.mono += time.Duration(d.int())
	in := model.Input{At: model.Instant{Mono: r.mono}}
	if k&neverWall == 0 {
		r.wall += time.Duration(d.int())
		in.At.Wall = time.Unix(0, int64(r.wall+r.mono)).UTC()
	}
	if k&withWindow != 0 {
		in.Window = time.Duration(d.int())
	}
	if k&withAck != 0 {
		in.Ack = model.AlertID(d.text())
	}
	if k&withMark != 0 {
		in.Mark = d.text()
	}
	if k&withJoin != 0 {
		in.Join = d.joins()
	}
	if k&withLeave != 0 {
		in.Leave = model.TargetID(d.string())
	}
	if k&withNote != 0 {
		in.Note = d.note()
	}
	if k&withBatch != 0 {
		r.readBatch(k)
		in.Batch = &r.batch
	}
	return in
}

func (r *Reader) readBatch(k kind) {
	d := &r.dec
	id := model.TargetID(d.string())
	r.batch = model.Batch{Target: id, Took: time.Duration(d.int())}
	if d.bool() {
		r.batch.Fault = &model.Fault{Kind: model.FaultKind(d.string()), Detail: d.string()}
	}
	tg := r.targets[id]
	if tg == nil {
		if len(r.targets) >= maxTargets || len(r.abouts) >= maxTargets {
			d.fail()
			return
		}
		tg = &target{}
		r.targets[id] = tg
	}
	r.batch.About = r.about(id, tg)
	r.batch.BadLines = int(d.int())
	r.batch.FirstBad = d.string()
	r.batch.Dropped = int(d.int())
	if k&withReports != 0 {
		r.readReports(&tg.reports)
	}
	if k&withDevices != 0 {
		r.readDevices(&tg.devices)
	}
	if k&withClock != 0 {
		d.clock(&r.batch)
	}
	r.batch.Samples = r.samples(tg)
}

func (r *Reader) readReports(last *reports) {
	d, b := &r.dec, &r.batch
	b.Epoch, b.Lost = d.string(), int(d.int())
	b.Requests = d.requests(r.requests, last)
	if b.Requests != nil {
		r.requests = b.Requests
	}
	if r.left.requests -= int64(len(b.Requests)); r.left.requests < 0 {
		d.fail()
	}
	b.Reported = d.reporteds()
}

// about keeps handing out the same pointer for as long as the writer was given
// the same one, also over segments.
func (r *Reader) about(id model.TargetID, tg *target) *model.About {
	mode := r.dec.byte()
	switch mode {
	case aboutNone:
		return nil
	case aboutSame:
		return tg.about
	case aboutNew, aboutRepeat:
		a := r.dec.about()
		if old := r.abouts[id]; mode == aboutRepeat && old != nil {
			a = old
		}
		tg.about, r.abouts[id] = a, a
		return a
	}
	r.dec.fail()
	return nil
}

func (r *Reader) samples(tg *target) []model.Sample {
	switch r.dec.byte() {
	case layoutNone:
		return nil
	case layoutSame:
	case layoutNew:
		r.layout(tg)
	default:
		r.dec.fail()
	}
	if tg.samples == nil { // a layout that was never given
		r.dec.fail()
		return nil
	}
	at := 0
	for range r.dec.checked(r.dec.uint()) {
		step := r.dec.uint()
		if r.dec.err != nil || step >= uint64(len(tg.layout)-at) {
			r.dec.fail()
			return nil
		}
		at += int(step)
		s := tg.series[tg.layout[at]]
		s.decode(&r.dec)
		tg.samples[at] = s.sample()
	}
	return tg.samples
}

func (r *Reader) layout(tg *target) {
	d := &r.dec
	n, _ := d.length()
	tg.layout = tg.layout[:0]
	tg.samples = make([]model.Sample, 0, n)
	tg.batches++
	for range n {
		id := d.uint()
		if id == uint64(len(tg.series)) {
			tg.series = append(tg.series, r.newSeries())
		}
		if d.err != nil || id >= uint64(len(tg.series)) || tg.series[id].batch == tg.batches {
			d.fail() // a series stands once in a batch
			return
		}
		s := tg.series[id]
		s.batch = tg.batches
		tg.layout = append(tg.layout, int(id))
		tg.samples = append(tg.samples, s.sample())
	}
}

func (r *Reader) newSeries() *series {
	if r.series++; r.series > maxSeries {
		r.dec.fail()
	}
	return &series{key: seriesKey{
		signal: model.Signal(r.dec.string()), kind: model.Kind(r.dec.byte()), labels: r.dec.labels(),
	}}
}
