// Package tape writes a stream of inputs to a file and reads it back so that
// the fold sees the same inputs, bit for bit. It stores what sources read and
// nothing else: no page bodies, no credentials, no prompts, and no frames.
//
// # Format
//
// A tape starts with two lines of text, the schema and a JSON header, so that
// head(1) says what it is. Segments follow, each about half a minute of
// recording: a fixed header (marker, length, number of inputs, time of the first
// and the last, checksum) and a body compressed with zstd. A segment stands for
// itself: its first batch of every target is complete, later ones hold only what
// changed. A cut or damaged tape therefore loses whole segments and nothing
// else. A closed tape ends with a trailer that says whether anything was left
// out; a tape without one was cut off while recording.
package tape

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net/url"
	"strings"
	"time"

	"slotop/model"
)

// Schema is the version of the format. A reader refuses any other.
const Schema = "slotop.tape/1"

const schemaFamily = "slotop.tape/"

// Bounds of one tape.
const (
	// DefaultLimit is the size at which a recording stops: months of one busy
	// engine, a day of a large fleet.
	DefaultLimit = 1 << 30

	segmentSpan = 30 * time.Second // a killed recording loses at most this
	segmentRaw  = 16 << 20         // or this much before compression: complete batches of a large fleet are 4 MiB
	maxRaw      = 32 << 20         // no reader takes more, packed or unpacked
	mostRaw     = maxRaw - 64<<10  // no writer makes more: what cannot be compressed grows a little
	maxHeader   = 4 << 20          // ten thousand targets stay below 2 MiB
	maxSeries   = 1 << 20          // of one segment, all targets together
	maxList     = 1 << 20          // of anything else that is repeated
	maxSamples  = maxList - 1      // of one batch
	maxTargets  = 1 << 16
)

// Header says what a tape is a recording of.
type Header struct {
	Version   string         // of the slotop that wrote it
	Recorded  time.Time      // when it was begun
	Targets   []model.Target // the targets, without credentials
	Every     time.Duration  // poll interval
	Window    time.Duration  // of the frames at the start
	Simulated bool
}

// wireHeader is the header's JSON form. Units are in the names.
type wireHeader struct {
	Schema    string         `json:"schema"`
	Version   string         `json:"version"`
	Recorded  time.Time      `json:"recorded_at"`
	Targets   []model.Target `json:"targets"`
	EveryS    float64        `json:"every_s"`
	WindowS   float64        `json:"window_s"`
	Simulated bool           `json:"simulated"`
}

// Ending is how a tape stopped, as its trailer says. The zero Ending belongs to
// a tape that was never closed.
type Ending struct {
	Closed  bool
	Full    bool  // the size limit was reached
	Dropped int64 // inputs that came after that, or were too large for any segment
}

// NotTapeError means that the bytes are something else.
type NotTapeError struct{ Found string }

func (e *NotTapeError) Error() string {
	return "not a slotop tape: the file starts with " + e.Found
}

// VersionError means that another version of slotop wrote the tape.
type VersionError struct{ Schema string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("tape is of format %q, this slotop reads %q: use the slotop that wrote it", e.Schema, Schema)
}

// DamageError ends the reading of a tape of which a part is lost. Everything
// that could be read was returned before it.
type DamageError struct {
	Segments int   // that could not be read
	Bytes    int64 // of the file, in them
	Cause    error // of the first
}

func (e *DamageError) Error() string {
	segments := "1 segment"
	if e.Segments != 1 {
		segments = fmt.Sprintf("%d segments", e.Segments)
	}
	return fmt.Sprintf("tape is damaged: %s lost (%d bytes, up to %v of recording each): %v", segments, e.Bytes, segmentSpan, e.Cause)
}

// Unwrap is the cause of the first loss.
func (e *DamageError) Unwrap() error { return e.Cause }

// The reasons for a loss.
var (
	errCut      = errors.New("the file ends in the middle of a segment: the recording was killed or the copy is incomplete")
	errMarker   = errors.New("no segment where one should start")
	errChecksum = errors.New("checksum does not match")
	errTrailing = errors.New("there are bytes after the end of the tape")
)

// Is reports whether the first bytes of a file are those of a tape of any
// version. Twelve bytes are enough.
func Is(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(schemaFamily)) }

func (h Header) encode() ([]byte, error) {
	for _, t := range h.Targets {
		if hasPassword(string(t.ID)) || hasPassword(t.Name) {
			return nil, errors.New("write tape header: a target's name holds a password")
		}
	}
	line, err := json.Marshal(wireHeader{
		Schema: Schema, Version: h.Version, Recorded: h.Recorded.UTC(), Targets: h.Targets,
		EveryS: h.Every.Seconds(), WindowS: h.Window.Seconds(), Simulated: h.Simulated,
	})
	if err != nil {
		return nil, fmt.Errorf("write tape header: %w", err)
	}
	return append(append([]byte(Schema+"\n"), line...), '\n'), nil
}

// hasPassword guards the promise that no tape holds a credential: names are
// built without them, and a mistake there must not reach a file people share.
func hasPassword(target string) bool {
	_, after, ok := strings.Cut(target, "://")
	if !ok {
		return false
	}
	u, err := url.Parse("x://" + after)
	return err == nil && u.User != nil
}

func decodeHeader(line []byte) (Header, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var w wireHeader
	if err := d.Decode(&w); err != nil {
		return Header{}, errors.New("read tape header: " + err.Error()) // not wrapped: it may be io.EOF
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Header{}, errors.New("read tape header: more than one JSON value")
	}
	if w.Schema != Schema {
		return Header{}, &VersionError{w.Schema}
	}
	return Header{
		Version: w.Version, Recorded: w.Recorded, Targets: w.Targets,
		Every: seconds(w.EveryS), Window: seconds(w.WindowS), Simulated: w.Simulated,
	}, nil
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// Markers of what follows a header: a segment or the trailer.
const (
	segmentMarker = "SEG\n"
	trailerMarker = "END\n"
	markerLen     = 4
	segmentLen    = markerLen + 4 + 4 + 8 + 8 + 4 // all fields before the body
	trailerLen    = markerLen + 1 + 8 + 4
)

// segment is the fixed part in front of a compressed body.
type segment struct {
	size        uint32 // of the body
	inputs      uint32
	first, last time.Duration // Instant.Mono of the first and the last input
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s segment) encode(body []byte) []byte {
	b := append(make([]byte, 0, segmentLen), segmentMarker...)
	b = binary.LittleEndian.AppendUint32(b, s.size)
	b = binary.LittleEndian.AppendUint32(b, s.inputs)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.first))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.last))
	return binary.LittleEndian.AppendUint32(b, checksum(b, body))
}

func checksum(fixed, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(fixed, castagnoli), castagnoli, body)
}

// decodeSegment reads the fixed part, of segmentLen bytes.
func decodeSegment(b []byte) (s segment, sum uint32) {
	return segment{
		size:   binary.LittleEndian.Uint32(b[4:]),
		inputs: binary.LittleEndian.Uint32(b[8:]),
		first:  time.Duration(binary.LittleEndian.Uint64(b[12:])),
		last:   time.Duration(binary.LittleEndian.Uint64(b[20:])),
	}, binary.LittleEndian.Uint32(b[28:])
}

func (e Ending) encode() []byte {
	b := append(make([]byte, 0, trailerLen), trailerMarker...)
	full := byte(0)
	if e.Full {
		full = 1
	}
	b = append(b, full)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Dropped))
	return binary.LittleEndian.AppendUint32(b, checksum(b, nil))
}

// decodeEnding reads a trailer, of trailerLen bytes.
func decodeEnding(b []byte) (Ending, error) {
	if checksum(b[:trailerLen-4], nil) != binary.LittleEndian.Uint32(b[trailerLen-4:]) {
		return Ending{}, errChecksum
	}
	return Ending{Closed: true, Full: b[4] == 1, Dropped: int64(binary.LittleEndian.Uint64(b[5:]))}, nil
}
