// Package tape writes a stream of inputs to a file and reads it back so that
// the fold sees the same inputs, bit for bit. It stores what sources read and
// nothing else: no page bodies, no credentials, no prompts, and no frames.
//
// # Format
//
// A tape starts with two lines of text, the schema and a JSON header, so that
// head(1) says what it is. Segments follow, each about half a minute of
// recording: a fixed part (marker, length, number of inputs and of request
// reports, time of the first and the last, checksums) and a body compressed with
// zstd. A segment stands for itself: its first batch of every target is complete,
// later ones hold only what changed. A cut or damaged tape therefore loses whole
// segments and nothing else. A closed tape ends with a trailer that says whether
// anything was left out; a tape without one was cut off while recording.
//
// # Versions
//
// Format 2 adds to format 1: the policy in the header; acknowledgements, marks,
// reports of requests and reported latencies among the inputs; and in a segment's
// fixed part the number of those reports and a checksum of its own. A reader of
// format 1 passes over kinds of inputs that it does not know and would take what
// follows for something else, so the schema says 2 and such a reader refuses the
// tape. Format 3 adds to format 2: devices, the other side's clock, and targets that
// come and go among the inputs, for which what an input consists of became a number
// instead of a byte; and, of what a target says of itself, its kind, its step and the
// servers behind it. A reader of format 2 would call such inputs damage, so here too
// the schema makes it refuse the tape. Format 4 adds annotations to format 3, and with
// the same reason. Tapes of the formats before are read as they were; only format 4 is
// written.
package tape

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// Schema is the format that is written. A reader takes it and those before, and
// refuses any other.
const Schema = "slotop.tape/4"

const (
	schemaFamily = "slotop.tape/"
	schema1      = schemaFamily + "1"
	schema2      = schemaFamily + "2"
	schema3      = schemaFamily + "3"
)

// Bounds of one tape.
const (
	// DefaultLimit is the size at which a recording stops: months of one busy
	// engine, a day of a large fleet.
	DefaultLimit = 1 << 30

	segmentSpan = 30 * time.Second // a killed recording loses at most this
	segmentRaw  = 16 << 20         // or this much before compression: complete batches of a large fleet are 4 MiB
	maxRaw      = 32 << 20         // no reader takes more, packed or unpacked
	mostRaw     = maxRaw - 64<<10  // no writer makes more: what cannot be compressed grows a little
	maxHeader   = 4 << 20          // ten thousand targets stay below 2 MiB, a thousand workflows below 1 MiB
	maxSeries   = 1 << 20          // of one segment, all targets together
	maxList     = 1 << 20          // of anything else that is repeated
	maxSamples  = maxList - 1      // of one batch
	maxReports  = 1 << 18          // of requests, or of latencies, in one batch: 90 MB of memory
	maxDevices  = 1 << 16          // of one batch, and of one segment: 60 MB of memory
	maxStrings  = 1 << 21          // different ones in a segment, and different label sets
	maxLabels   = 1 << 10          // of one series or request
	maxText     = 64 << 10         // of a mark, an acknowledgement or an annotation, in bytes
	maxTargets  = 1 << 16
)

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
	return fmt.Sprintf("tape is of format %q, this slotop reads %q to %q: use the slotop that wrote it", e.Schema, schema1, Schema)
}

// DamageError ends the reading of a tape of which a part is lost. Everything
// that could be read was returned before it.
type DamageError struct {
	Segments int   // that could not be read
	Rest     bool  // nothing could be found after the last of them
	Bytes    int64 // of the file, in them
	// Inputs and Requests are what the segments that could not be read held, as
	// far as their fixed parts are there to say so: reports of requests are part
	// of inputs.
	Inputs, Requests int64
	Cause            error // of the first
}

func (e *DamageError) Error() string {
	segments := "1 segment"
	if e.Segments != 1 {
		segments = fmt.Sprintf("%d segments", e.Segments)
	}
	if e.Rest {
		segments += " and all that follows"
	}
	held := ""
	if e.Inputs > 0 {
		held = fmt.Sprintf("; %d inputs with %d reports of requests", e.Inputs, e.Requests)
	}
	return fmt.Sprintf("tape is damaged: %s lost (%d bytes, up to %v of recording a segment%s): %v", segments, e.Bytes, segmentSpan, held, e.Cause)
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
