package tape

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// TestGolden pins the format: a tape written by an earlier build must read the
// same for ever. The tapes of formats 1 to 3 are the work of slotops that knew no
// later one.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t, "v4", golden(), goldenHeader())
	}
	for _, name := range []string{"v1", "v2", "v3", "v4"} {
		tape, err := os.ReadFile(filepath.Join("testdata", name+".tape"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := play(t, tape)
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if g := strings.Join(dumpAll(got), "\n") + "\n"; g != string(want) {
			t.Errorf("the golden tape %s reads differently:\n%s", name, g)
		}
		if _, err := Scan(bytes.NewReader(tape)); err != nil {
			t.Errorf("scan %s: %v", name, err)
		}
	}
}

// TestGoldenHeaders: all say what they are of, and the later ones what was
// promised.
func TestGoldenHeaders(t *testing.T) {
	for name, want := range map[string]Header{
		"v1": {Version: "golden", Recorded: t0, Every: time.Second, Window: time.Minute},
		"v2": goldenHeader(),
		"v3": goldenHeader(),
		"v4": goldenHeader(),
	} {
		tape, err := os.ReadFile(filepath.Join("testdata", name+".tape"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(tape))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Header(), want) {
			t.Errorf("%s: got %+v\nwant %+v", name, r.Header(), want)
		}
		r.Close()
	}
}

// TestOldFormatsAreTheSameInputs: what the golden tapes share they tell alike.
func TestOldFormatsAreTheSameInputs(t *testing.T) {
	for _, name := range []string{"v1.tape", "v2.tape", "v3.tape"} {
		tape, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		old, _, _ := play(t, tape)
		again, _, err := play(t, record(t, Header{}, old))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		sameInputs(t, again, old)
	}
}

func golden() []model.Input {
	inputs := append(odd()[:len(odd())-1], busy(7, 1, 2*time.Second, time.Second)...)
	inputs = append(inputs, oddReports()...)
	return append(append(inputs, oddDevices()...), oddNotes()...)
}

func goldenHeader() Header {
	return Header{Version: "golden", Recorded: t0, Every: time.Second, Window: time.Minute, Policy: policy()}
}

func writeGolden(t *testing.T, name string, inputs []model.Input, h Header) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if err := os.WriteFile(file+".tape", record(t, h, inputs), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".txt", []byte(strings.Join(dumpAll(inputs), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
