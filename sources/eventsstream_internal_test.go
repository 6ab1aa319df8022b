package sources

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

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
