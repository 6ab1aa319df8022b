package sources

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"slotop/model"
)

// scriptedDial hands out one connection after the other.
type scriptedDial struct {
	bodies []io.ReadCloser
	closed int
}

func (d *scriptedDial) dial(context.Context, string) (io.ReadCloser, error) {
	body := d.bodies[0]
	d.bodies = d.bodies[1:]
	return body, nil
}
func (d *scriptedDial) again() bool { return true }
func (d *scriptedDial) fault(err error) error {
	if fault := (*FaultError)(nil); errors.As(err, &fault) {
		return fault
	}
	return &FaultError{model.Malformed, err.Error()}
}
func (d *scriptedDial) close() error { d.closed++; return nil }

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("oh, \x1b[2J no") }

// A panic while reading is the failure of that source, and not its last word.
func TestAPanicOfTheReaderIsContained(t *testing.T) {
	d := &scriptedDial{bodies: []io.ReadCloser{io.NopCloser(panics{}), io.NopCloser(strings.NewReader(eventLine("a") + "\n"))}}
	s := newStream(d, nil)
	var err error
	for err == nil { // it may be connected for a moment
		_, err = s.Poll(t.Context())
	}
	var fault *FaultError
	if !errors.As(err, &fault) || fault.Kind != model.Malformed || fault.Detail != "collector failed: oh, ␛[2J no" {
		t.Errorf("got %v", err)
	}
	b, err := s.Poll(t.Context())
	if err != nil || len(b.Requests) != 1 || b.Requests[0].ID != "a" {
		t.Errorf("got %+v, %v", b, err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil || d.closed != 2 {
		t.Errorf("closed %d times, %v", d.closed, err)
	}
}

// junk is a connection that never ends and brings nothing of use.
type junk struct{ sent int }

func (j *junk) dial(context.Context, string) (io.ReadCloser, error) { return j, nil }
func (j *junk) again() bool                                         { return true }
func (j *junk) fault(err error) error                               { return err }
func (j *junk) close() error                                        { return nil }

// Close implements io.Closer.
func (j *junk) Close() error { return nil }

// Read implements io.Reader.
func (j *junk) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "junk\n"[i%5]
	}
	j.sent += len(p)
	return len(p), nil
}

// What cannot be read is read no faster than a poll's share at a time: a flood of
// it costs no more than that.
func TestAFloodOfJunkIsHeldBack(t *testing.T) {
	if testing.Short() {
		t.Skip("many megabytes, which the race detector reads for a minute; smaller ones are read elsewhere")
	}
	synctest.Test(t, func(t *testing.T) {
		flood := &junk{}
		s := newStream(flood, nil)
		for n := 1; n <= 3; n++ {
			_, _ = s.Poll(t.Context()) // of the first it cannot be said what it finds
			synctest.Wait()
			// A share for each poll, and the one that waits for the next.
			if want := (n + 1) * maxBytes; flood.sent < maxBytes || flood.sent > want+n*2*maxLine {
				t.Fatalf("after %d polls %d bytes were read", n, flood.sent)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
