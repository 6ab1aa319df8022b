package tape

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// oddNotes are annotations of all sorts.
func oddNotes() []model.Input {
	at := func(n int) model.Instant {
		return model.Instant{Wall: t0.Add(time.Duration(n)), Mono: time.Duration(n)}
	}
	return []model.Input{
		{At: at(1), Note: &model.Annotation{At: t0, Text: "chat v42"}},
		{At: at(2), Note: &model.Annotation{}},
		{At: at(3), Note: &model.Annotation{At: time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), Text: "\x1b[2J\xff"}},
		{At: at(4), Note: &model.Annotation{At: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), Text: "chat v42"}},
		{Note: &model.Annotation{At: t0, Text: "of no time of ours"}},
		{At: at(5), Mark: "b", Note: &model.Annotation{At: t0, Text: "c"}, Batch: &model.Batch{Target: "a", Samples: []model.Sample{{Signal: model.Running, Value: 1}}}},
		{At: at(6), Note: &model.Annotation{At: t0.Add(time.Hour), Text: "chat v42"}, Leave: "a"},
	}
}

func TestNotes(t *testing.T) {
	want := append(oddNotes(), model.Input{Note: &model.Annotation{At: t0, Text: strings.Repeat("x", maxText)}})
	got, _, err := play(t, record(t, Header{}, want))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, want)
	for i, in := range got {
		if in.IsTick() {
			t.Errorf("input %d is taken for a tick", i)
		}
	}
}

// An annotation that no reader takes is left out, counted, and the recording goes on.
func TestNoteTooLong(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{strings.Repeat("x", maxText+1), "short"} {
		if err := w.Write(model.Input{Note: &model.Annotation{At: t0, Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || w.Dropped() != 1 {
		t.Errorf("%v, %d dropped", err, w.Dropped())
	}
	got, _, _ := play(t, file.Bytes())
	if len(got) != 1 || got[0].Note == nil || got[0].Note.Text != "short" {
		t.Errorf("%+v", got)
	}
}

// Format 3 knows no annotations: there the part is damage, and so is a time that no
// clock shows.
func TestForgedNotes(t *testing.T) {
	note := func(ns uint64, text string) []byte {
		e := newEncoder()
		e.uint(uint64(withNote | neverWall))
		e.int(0)
		e.bool(true)
		e.int(0)
		e.uint(ns)
		e.string(text)
		return e.b
	}
	for name, tc := range map[string]struct {
		raw []byte
		in  version
		n   int
	}{
		"as written":     {note(999999999, "a"), version4, 1},
		"in format 3":    {note(0, "a"), version3, 0},
		"in format 2":    {note(0, "a"), version2, 0},
		"no such time":   {note(1e9, "a"), version4, 0},
		"text too long":  {note(0, strings.Repeat("x", maxText+1)), version4, 0},
		"cut":            {note(0, "abc")[:6], version4, 0},
		"nothing at all": {note(0, "")[:2], version4, 0},
	} {
		n, err := readAll(forge(t, tc.in, tc.raw, 1, 0))
		if n != tc.n || tc.n == 0 && !errors.Is(err, errMalformed) {
			t.Errorf("%s: %d inputs, %v", name, n, err)
		}
	}
}
