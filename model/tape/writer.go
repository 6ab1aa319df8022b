package tape

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"slotop/model"
)

// ErrFull says that the tape has reached its limit and takes no more inputs.
var ErrFull = errors.New("the tape has reached its size limit")

// Writer writes a tape. It is used by one goroutine and reads no clock: what is
// written when follows from the inputs alone.
type Writer struct {
	// Limit is the size of the file at which recording stops. Zero means
	// DefaultLimit. Set it before the first Write.
	Limit int64

	w       io.Writer
	zstd    *zstd.Encoder
	size    int64 // written so far
	err     error // of the underlying writer, for good
	full    bool
	dropped int64

	enc     encoder
	targets map[model.TargetID]*target
	abouts  map[model.TargetID]*model.About // the last of each target, over segments
	head    segment
	series  int           // of the segment, all targets together
	devices int           // likewise
	wall    time.Duration // Wall minus Mono of the input before
	packed  []byte
	changed []change
}

// change is one sample of a batch that moved.
type change struct {
	at    int
	flags byte
}

// NewWriter writes the header to w and returns a writer for the inputs.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	line, err := h.encode()
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("start compression: %w", err)
	}
	t := &Writer{
		w: w, zstd: z,
		enc:     newEncoder(),
		targets: map[model.TargetID]*target{},
		abouts:  map[model.TargetID]*model.About{},
	}
	return t, t.put(line)
}

// Write adds one input. It keeps nothing of a batch after it returned, but for
// the About, which nobody changes, and names and IDs until the segment ends. It returns ErrFull from the moment on at which
// the limit is reached; each input after that is counted. So is one that is too
// large for a reader, but the recording goes on after it.
func (t *Writer) Write(in model.Input) error {
	if t.err != nil {
		return t.err
	}
	if !t.full && t.head.inputs > 0 && (in.At.Mono-t.head.first >= segmentSpan || len(t.enc.b) >= segmentRaw) {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if t.full {
		t.dropped++
		return ErrFull
	}
	if !fits(in) {
		t.dropped++
		return nil
	}
	head, length := t.head, len(t.enc.b)
	if err := t.add(in); err != nil {
		return err
	}
	if !t.overfull() {
		return nil
	}
	return t.retry(in, head, length)
}

// fits reports whether a reader may take the input, as far as its parts can be
// counted before they are written.
func fits(in model.Input) bool {
	if len(in.Ack) > maxText || len(in.Mark) > maxText || in.Note != nil && len(in.Note.Text) > maxText {
		return false
	}
	b := in.Batch
	return b == nil || len(b.Samples) <= maxSamples && len(b.Requests) <= maxReports && len(b.Reported) <= maxReports && len(b.Devices) <= maxDevices
}

// overfull reports whether no reader would take the segment.
func (t *Writer) overfull() bool {
	return t.enc.overfull() || t.series > maxSeries || t.devices > maxDevices
}

// retry takes back the input that was too much for a segment and puts it into
// the next one, or drops it where it is too much for any.
func (t *Writer) retry(in model.Input, head segment, length int) error {
	t.head, t.enc.b = head, t.enc.b[:length]
	if t.head.inputs > 0 {
		if err := t.flush(); err != nil {
			return err
		}
		if t.full {
			t.dropped++
			return ErrFull
		}
		if err := t.add(in); err != nil || !t.overfull() {
			return err
		}
	}
	t.startSegment()
	t.dropped++
	return nil
}

// Close writes what is pending and the trailer. It does not close the file.
func (t *Writer) Close() error {
	if t.err != nil {
		return t.err
	}
	if err := t.flush(); err != nil {
		return err
	}
	end := Ending{Full: t.full, Dropped: t.dropped}
	if err := t.put(end.encode()); err != nil {
		return err
	}
	t.err = errors.New("write tape: it is closed")
	if err := t.zstd.Close(); err != nil {
		return fmt.Errorf("end compression: %w", err)
	}
	return nil
}

// Size is the number of bytes written so far.
func (t *Writer) Size() int64 { return t.size }

// Dropped is the number of inputs refused: all since the limit was reached, and
// any that was too large.
func (t *Writer) Dropped() int64 { return t.dropped }

func (t *Writer) put(b []byte) error {
	n, err := t.w.Write(b)
	t.size += int64(n)
	if err != nil {
		t.err = fmt.Errorf("write tape: %w", err)
	}
	return t.err
}

// flush ends the segment that is being filled. One that no longer fits below
// the limit is dropped whole: half a segment cannot be read.
func (t *Writer) flush() error {
	if t.head.inputs == 0 {
		return nil
	}
	t.packed = t.zstd.EncodeAll(t.enc.b, t.packed[:0])
	t.head.size = uint32(len(t.packed))
	head := t.head
	t.startSegment()
	limit := t.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if t.size+int64(segmentLen+len(t.packed)+trailerLen) > limit {
		t.full = true
		t.dropped += int64(head.inputs)
		return nil
	}
	if err := t.put(head.encode(t.packed)); err != nil {
		return err
	}
	return t.put(t.packed)
}

func (t *Writer) startSegment() {
	t.head = segment{}
	t.enc.reset()
	clear(t.targets)
	t.series, t.devices, t.wall = 0, 0, 0
}

// kind says what an input consists of. Up to format 2 it is one byte.
type kind uint16

const (
	withBatch kind = 1 << iota
	withWindow
	neverWall // no wall time
	withAck
	withMark
	withReports // the batch holds reports of requests
	withDevices // and of GPUs
	withClock   // it says what time it was on the other side
	withJoin
	withLeave
	withNote

	kinds1 = withBatch | withWindow | neverWall // all that format 1 knows
	kinds2 = kinds1 | withAck | withMark | withReports
	kinds3 = kinds2 | withDevices | withClock | withJoin | withLeave
	kinds4 = kinds3 | withNote
)

// kindOf says what an input consists of.
func kindOf(in model.Input) (k kind) {
	mark := func(part kind, there bool) {
		if there {
			k |= part
		}
	}
	mark(neverWall, in.At.Wall.IsZero())
	mark(withWindow, in.Window != 0)
	mark(withAck, in.Ack != "")
	mark(withMark, in.Mark != "")
	mark(withJoin, in.Join != nil)
	mark(withLeave, in.Leave != "")
	mark(withNote, in.Note != nil)
	if b := in.Batch; b != nil {
		mark(withBatch, true)
		mark(withReports, b.Requests != nil || b.Reported != nil || b.Epoch != "" || b.Lost != 0)
		mark(withDevices, b.Devices != nil || b.Round != 0)
		mark(withClock, !b.Clock.IsZero() || b.ClockError != 0)
	}
	return k
}

func (t *Writer) add(in model.Input) error {
	wall, ok := wallNanos(in.At.Wall)
	if !ok {
		return fmt.Errorf("write tape: the clock says %v", in.At.Wall)
	}
	if j := in.Join; j != nil && (hasPassword(string(j.ID)) || hasPassword(j.Name)) {
		return errors.New("write tape: the name of a target that joins holds a password")
	}
	k := kindOf(in)
	if t.head.inputs == 0 {
		t.head.first, t.head.last = in.At.Mono, 0
	}
	t.enc.uint(uint64(k))
	t.enc.int(int64(in.At.Mono - t.head.last))
	if k&neverWall == 0 {
		t.enc.int(int64(wall - in.At.Mono - t.wall))
		t.wall = wall - in.At.Mono
	}
	t.head.last = in.At.Mono
	t.head.inputs++
	if k&withWindow != 0 {
		t.enc.int(int64(in.Window))
	}
	if k&withAck != 0 {
		t.enc.string(string(in.Ack))
	}
	if k&withMark != 0 {
		t.enc.string(in.Mark)
	}
	if k&withJoin != 0 {
		t.enc.joins(in.Join)
	}
	if k&withLeave != 0 {
		t.enc.string(string(in.Leave))
	}
	if k&withNote != 0 {
		t.enc.note(in.Note)
	}
	if k&withBatch != 0 {
		t.batch(in.Batch, k)
	}
	return nil
}

// wallNanos is the time since 1970 in UTC; it fails outside 1678–2262.
func wallNanos(w time.Time) (time.Duration, bool) {
	if w.IsZero() {
		return 0, true
	}
	n := w.UnixNano()
	return time.Duration(n), time.Unix(0, n).Equal(w)
}

func (t *Writer) batch(b *model.Batch, k kind) {
	e := &t.enc
	tg := t.targets[b.Target]
	if tg == nil {
		tg = &target{byKey: map[seriesKey]int{}}
		t.targets[b.Target] = tg
	}
	e.string(string(b.Target))
	e.int(int64(b.Took))
	e.bool(b.Fault != nil)
	if b.Fault != nil {
		e.string(string(b.Fault.Kind))
		e.string(b.Fault.Detail)
	}
	t.about(b.Target, tg, b.About)
	e.int(int64(b.BadLines))
	e.string(b.FirstBad)
	e.int(int64(b.Dropped))
	if k&withReports != 0 {
		e.reports(b, &tg.reports)
		t.head.requests += uint32(len(b.Requests))
	}
	if k&withDevices != 0 {
		t.devices += e.devices(b, &tg.devices)
	}
	if k&withClock != 0 {
		e.clock(b)
	}
	if b.Samples == nil {
		e.byte(layoutNone)
		return
	}
	tg.batches++
	t.layout(tg, b.Samples)
	t.values(tg, b.Samples)
}

func (t *Writer) about(id model.TargetID, tg *target, a *model.About) {
	switch {
	case a == nil:
		t.enc.byte(aboutNone)
		return
	case a == tg.about:
		t.enc.byte(aboutSame)
		return
	case a == t.abouts[id]:
		t.enc.byte(aboutRepeat)
	default:
		t.enc.byte(aboutNew)
	}
	t.enc.about(a)
	tg.about, t.abouts[id] = a, a
}

// layout finds the series of each sample and writes their order if it changed.
func (t *Writer) layout(tg *target, samples []model.Sample) {
	if tg.sameLayout(samples) {
		t.enc.byte(layoutSame)
		return
	}
	known := len(tg.series)
	tg.layout = tg.layout[:0]
	for i := range samples {
		tg.layout = append(tg.layout, tg.find(&samples[i]))
	}
	t.enc.byte(layoutNew)
	t.enc.length(len(samples))
	for _, n := range tg.layout {
		t.enc.uint(uint64(n))
		if n == known { // met for the first time: numbers are handed out in order
			known++
			t.series++
			key := tg.series[n].key
			t.enc.string(string(key.signal))
			t.enc.byte(byte(key.kind))
			t.enc.labels(key.labels)
		}
	}
}

// sameLayout is the steady case: every sample is where it was in the last batch.
func (tg *target) sameLayout(samples []model.Sample) bool {
	if tg.batches == 1 || len(samples) != len(tg.layout) {
		return false
	}
	for i := range samples {
		key := &tg.series[tg.layout[i]].key
		s := &samples[i]
		if key.signal != s.Signal || key.kind != s.Kind || key.labels != s.Labels {
			return false
		}
	}
	return true
}

func (tg *target) find(s *model.Sample) int {
	key := seriesKey{signal: s.Signal, labels: s.Labels, kind: s.Kind}
	for {
		n, ok := tg.byKey[key]
		if !ok {
			n = len(tg.series)
			tg.byKey[key] = n
			tg.series = append(tg.series, &series{key: key, batch: tg.batches})
			return n
		}
		if tg.series[n].batch != tg.batches {
			tg.series[n].batch = tg.batches
			return n
		}
		key.nth++
	}
}

// values writes the samples that moved, each with the distance to the one before.
func (t *Writer) values(tg *target, samples []model.Sample) {
	t.changed = t.changed[:0]
	for i := range samples {
		if flags := tg.series[tg.layout[i]].change(samples[i]); flags != 0 {
			t.changed = append(t.changed, change{i, flags})
		}
	}
	t.enc.uint(uint64(len(t.changed)))
	last := 0
	for _, c := range t.changed {
		t.enc.uint(uint64(c.at - last))
		last = c.at
		tg.series[tg.layout[c.at]].encode(&t.enc, samples[c.at], c.flags)
	}
}
