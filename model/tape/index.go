package tape

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// Index is what a tape holds, as far as its segments' fixed parts tell.
type Index struct {
	Header   Header
	Segments []Segment
	Ending   Ending // the zero Ending when the tape was never closed or is cut
}

// Segment is one segment: its inputs and the times of the first and the last.
type Segment struct {
	Inputs      int
	First, Last time.Duration // Instant.Mono
}

// Duration is the time from the first input to the last.
func (x Index) Duration() time.Duration {
	if len(x.Segments) == 0 {
		return 0
	}
	return x.Segments[len(x.Segments)-1].Last - x.Segments[0].First
}

// Last is when the last input was, 0 where there is none.
func (x Index) Last() time.Duration {
	if len(x.Segments) == 0 {
		return 0
	}
	return x.Segments[len(x.Segments)-1].Last
}

// Scan reads a tape's index without unpacking it. Of a cut or damaged tape it
// gives what comes before the cut: what is lost is the Reader's to say.
func Scan(r io.Reader) (Index, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	h, v, err := readHeader(in)
	if err != nil {
		return Index{}, err
	}
	x := Index{Header: h}
	for {
		fixed, err := in.Peek(v.fixedLen())
		if bytes.HasPrefix(fixed, []byte(trailerMarker)) && len(fixed) >= trailerLen {
			x.Ending, _ = decodeEnding(fixed) // a damaged trailer counts as none
			return x, nil
		}
		if len(fixed) < v.fixedLen() || !bytes.HasPrefix(fixed, []byte(segmentMarker)) {
			return x, notEnd(err)
		}
		head, intact := v.segment(fixed)
		if !intact {
			return x, nil
		}
		if _, err := in.Discard(len(fixed) + int(head.size)); err != nil {
			return x, notEnd(err)
		}
		x.Segments = append(x.Segments, Segment{int(head.inputs), head.first, head.last})
	}
}

func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
