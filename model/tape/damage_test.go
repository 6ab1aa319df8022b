package tape

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"slotop/model"
)

// TestCut plays what comes before every possible end of the file.
func TestCut(t *testing.T) {
	reports, _ := stream(95*time.Second, 2, time.Millisecond)
	for name, want := range map[string][]model.Input{"polls": busy(2, 1, 95*time.Second, time.Second), "reports": reports} {
		t.Run(name, func(t *testing.T) { testCut(t, want) })
	}
}

func testCut(t *testing.T, want []model.Input) {
	tape := record(t, Header{Version: "test"}, want)
	x, err := Scan(bytes.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	played := map[int]bool{}
	for cut := bytes.Index(tape, []byte(segmentMarker)); cut < len(tape); cut++ {
		n, err := readAll(tape[:cut])
		if !played[n] {
			played[n] = true
			got, _, _ := play(t, tape[:cut])
			sameInputs(t, got, want[:n])
		}
		var damage *DamageError
		if errors.As(err, &damage) && (damage.Segments != 1 || !errors.Is(err, errCut) || damage.Bytes <= 0) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if damage == nil && !errors.Is(err, io.EOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if cut%512 > segmentLen && cut < len(tape)-100 {
			cut += 61 // a sieve: stretches of every byte, and leaps between them
		}
	}
	if len(played) != len(x.Segments)+1 {
		t.Errorf("%d different lengths were played of %d segments", len(played), len(x.Segments))
	}
	_, r, _ := play(t, tape[:len(tape)-trailerLen])
	if r.Ending() != (Ending{}) {
		t.Errorf("ending %+v of a tape that was never closed", r.Ending())
	}
}

// TestDamage flips a byte in the middle: one segment is lost and counted, what
// comes before and after is played.
func TestDamage(t *testing.T) {
	want := busy(3, 2, 3*time.Minute, time.Second)
	tape := record(t, Header{}, want)
	x, err := Scan(bytes.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.Index(tape, []byte(segmentMarker)) + 1
	second += bytes.Index(tape[second:], []byte(segmentMarker))
	bad := bytes.Clone(tape)
	bad[second+segmentLen+100] ^= 1
	got, r, err := play(t, bad)
	var damage *DamageError
	if !errors.As(err, &damage) || damage.Segments != 1 || !errors.Is(err, errChecksum) {
		t.Fatalf("error %v", err)
	}
	lost := x.Segments[1].Inputs
	first := x.Segments[0].Inputs
	if len(got) != len(want)-lost {
		t.Fatalf("played %d of %d, lost %d", len(got), len(want), lost)
	}
	sameInputs(t, got[:first], want[:first])
	if !r.Ending().Closed {
		t.Error("the trailer is there")
	}

	long := append(bytes.Clone(tape), "more"...)
	if got, _, err := play(t, long); len(got) != len(want) || !errors.Is(err, errTrailing) {
		t.Errorf("trailing bytes: %d inputs, %v", len(got), err)
	}
	noise := bytes.Clone(tape)
	copy(noise[second:], "NOT A SEGMENT")
	if got, _, err := play(t, noise); len(got) != first || !errors.Is(err, errMarker) {
		t.Errorf("lost marker: %d inputs, %v", len(got), err)
	}
	fixed := bytes.Clone(tape)
	fixed[second+5] ^= 1 // the length
	got, r, err = play(t, fixed)
	if len(got) != first || !errors.Is(err, errChecksum) || !r.Lost().Rest || r.Lost().Bytes != int64(len(tape)-second) || r.Lost().Inputs != 0 {
		t.Errorf("damaged fixed part: %d inputs, %v", len(got), err)
	}
	if x, err := Scan(bytes.NewReader(fixed)); err != nil || len(x.Segments) != 1 || x.Ending.Closed {
		t.Errorf("damaged fixed part: %+v: %v", x, err)
	}
	end := bytes.Clone(tape)
	end[len(end)-1] ^= 1
	if got, r, err := play(t, end); len(got) != len(want) || !errors.Is(err, errChecksum) || r.Ending().Closed {
		t.Errorf("damaged trailer: %d inputs, %v", len(got), err)
	}
}

func TestReadError(t *testing.T) {
	tape := record(t, Header{}, busy(3, 1, 2*time.Minute, time.Second))
	broken := errors.New("disk is gone")
	r, err := NewReader(io.MultiReader(bytes.NewReader(tape[:len(tape)/2]), errReader{broken}))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
