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
// same for ever. The tape of format 1 is the work of a slotop that knew no other.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t, "v2", golden(), goldenHeader())
	}
	for _, name := range []string{"v1", "v2"} {
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

// TestGoldenHeaders: both say what they are of, and the later one what was
// promised.
func TestGoldenHeaders(t *testing.T) {
	for name, want := range map[string]Header{
		"v1": {Version: "golden", Recorded: t0, Every: time.Second, Window: time.Minute},
		"v2": goldenHeader(),
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

// TestTheOldFormatIsTheSameInputs: what the golden tapes share they tell alike.
func TestTheOldFormatIsTheSameInputs(t *testing.T) {
	tape, err := os.ReadFile(filepath.Join("testdata", "v1.tape"))
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

func golden() []model.Input {
	inputs := append(odd()[:len(odd())-1], busy(7, 1, 2*time.Second, time.Second)...)
	return append(inputs, oddReports()...)
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
