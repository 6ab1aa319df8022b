package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

func TestParseNote(t *testing.T) {
	at := time.Date(2026, 8, 17, 3, 10, 0, 0, time.UTC)
	tests := []struct {
		line   string
		text   string
		column int // of an error
		why    string
	}{
		{line: "2026-08-17T03:10:00Z chat v42", text: "chat v42"},
		{line: "  2026-08-17T05:10:00+02:00\tchat  v42  ", text: "chat  v42"},
		{line: "2026-08-17T03:10:00.000Z --max-num-seqs 256", text: "--max-num-seqs 256"},
		{line: `{"at":"2026-08-17T03:10:00Z","text":"chat v42"}`, text: "chat v42"},
		{line: ` {"text":"x","who":["ci"],"at":"2026-08-17T03:10:00Z"}`, text: "x"},
		{line: "2026-08-17T03:10:00Z \x1b[31mred \xff", text: "\x1b[31mred \ufffd"},
		{line: "2026-08-17T03:10:00Z image https://ci:secret@registry/chat:42", text: "image https://…@registry/chat:42"},
		{line: "2026-08-17T03:10:00Z " + strings.Repeat("é", 300), text: strings.Repeat("é", 126) + "…"},
		{line: "deployed chat", column: 1, why: "write a time of RFC 3339"},
		{line: "  03:10 chat v42", column: 3, why: "write a time"},
		{line: "2026-08-17 03:10:00 chat v42", column: 1, why: "write a time"},
		{line: "0001-01-01T00:00:00Z x", column: 1, why: "write a time"},
		{line: "9999-01-01T00:00:00Z x", column: 1, why: "write a time"},
		{line: "2026-08-17T03:10:00Z", column: 21, why: "does not say what was done"},
		{line: "2026-08-17T03:10:00Z   ", column: 24, why: "does not say what was done"},
		{line: `{"at":"2026-08-17T03:10:00Z","text":}`, column: 37, why: "not JSON of the form"},
		{line: `{"at":1785208200,"text":"x"}`, column: 1, why: "not JSON of the form"},
		{line: `{"text":"x"}`, column: 1, why: `"at" must be a time`},
		{line: `{"at":"2026-08-17T03:10:00Z"}`, column: 1, why: `"text" does not say`},
		{line: "2026-08-17T03:10:00Z " + strings.Repeat("x", maxNoteLine), column: maxNoteLine, why: "a line of more than"},
	}
	for _, tc := range tests {
		a, column, err := parseNote(tc.line)
		switch {
		case tc.why == "" && (err != nil || !a.At.Equal(at) || a.Text != tc.text):
			t.Errorf("%.60q: %v %q, %v", tc.line, a.At, a.Text, err)
		case tc.why != "" && (err == nil || column != tc.column || !strings.Contains(err.Error(), tc.why)):
			t.Errorf("%.60q: column %d, %v", tc.line, column, err)
		}
	}
}

func FuzzParseNote(f *testing.F) {
	f.Add("2026-08-17T03:10:00Z chat v42")
	f.Add(`{"at":"2026-08-17T03:10:00Z","text":"chat v42"}`)
	f.Fuzz(func(t *testing.T, line string) {
		a, column, err := parseNote(line)
		if err != nil && (column < 1 || column > len(line)+1) {
			t.Errorf("column %d of %d", column, len(line))
		}
		if err == nil && (a.Text == "" || len(a.Text) > maxNoteText || a.At.IsZero()) {
			t.Errorf("%+v", a)
		}
	})
}

// texts are what is told of up to a time.
func texts(n *notes, until time.Time) (out []string) {
	for _, a := range n.due(until, true) {
		out = append(out, a.Text)
	}
	return out
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}

// The file is read as it grows, in the order of its times; what lies ahead waits.
func TestNotesFollowAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deploys.log")
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	n := &notes{path: path}
	if err := n.begin(); err != nil {
		t.Fatalf("a file that is still to be written: %v", err)
	}
	expect := func(when string, until time.Time, want ...string) {
		t.Helper()
		if got := texts(n, until); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	expect("nothing there", noon)
	if !strings.Contains(n.said(), "there is no ") {
		t.Errorf("said %q", n.said())
	}
	appendTo(t, path, "# deployments\r\n\r\n2026-03-01T11:00:00Z b\n2026-03-01T10:00:00Z a\n2026-03-01T13:00:00Z later\n")
	expect("sorted", noon, "a", "b")
	expect("once", noon)
	appendTo(t, path, "2026-03-01T11:30:00Z ha")
	expect("half a line", noon)
	appendTo(t, path, "lf\nno annotation\n2026-03-01T11:40:00Z end")
	expect("the other half", noon, "half")
	expect("a line without an end, once nothing comes any more", noon, "end")
	if s := n.said(); !strings.HasPrefix(s, "1 line of "+path+" no annotation, the last is "+path+":7:1: no annotation: write") {
		t.Errorf("said %q", s)
	}
	expect("in time", noon.Add(2*time.Hour), "later")

	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	expect("rotated away", noon)
	appendTo(t, path, "2026-03-01T11:50:00Z anew\n")
	expect("another file", noon, "anew")
	if err := os.WriteFile(path, []byte("2026-03-01T11:55:00Z x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("cut", noon, "x")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	expect("a folder", noon)
	if !strings.Contains(n.said(), "not a regular file") {
		t.Errorf("said %q", n.said())
	}
}

// Of a large file the end is read, of very many annotations the newest are kept, and
// what is left out is counted.
func TestNotesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deploys.log")
	var b strings.Builder
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	lines := 0
	for ; b.Len() < maxNotesRead+1000; lines++ {
		fmt.Fprintf(&b, "%s %d\n", start.Add(time.Duration(lines)*time.Second).Format(time.RFC3339), lines)
	}
	appendTo(t, path, b.String())
	n := &notes{path: path}
	if err := n.begin(); err != nil {
		t.Fatal(err)
	}
	all := n.all()
	if len(all) != maxNotes || all[len(all)-1].Text != fmt.Sprint(lines-1) {
		t.Errorf("%d kept, the last %+v", len(all), all[len(all)-1])
	}
	if s := n.said(); !strings.Contains(s, "left out") || !strings.Contains(s, "is read from") || strings.Contains(s, "no annotation") {
		t.Errorf("said %q", s)
	}
}

func TestNotesAmidATape(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	i := 0
	read := func() (model.Input, error) {
		if i++; i > 3 {
			return model.Input{}, os.ErrClosed
		}
		return model.Input{At: model.Instant{Wall: noon.Add(time.Duration(i) * time.Minute)}, Mark: fmt.Sprint(i)}, nil
	}
	note := func(after time.Duration, text string) model.Annotation {
		return model.Annotation{At: noon.Add(after), Text: text}
	}
	m := amid{left: []model.Annotation{note(-time.Hour, "before"), note(90*time.Second, "a"), note(2*time.Minute, "b"), note(time.Hour, "after")}}
	var got []string
	for {
		in, err := m.next(read)
		if err != nil {
			break
		}
		if in.Note != nil {
			in.Mark = in.Note.Text
		}
		got = append(got, in.Mark+in.At.Wall.Format(" 15:04"))
	}
	want := []string{"before 12:01", "1 12:01", "a 12:02", "b 12:02", "2 12:02", "3 12:03"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// deployed are the deployments of a frame in JSON.
func deployed(t *testing.T, text string) (out []string) {
	t.Helper()
	var f struct {
		Events []struct {
			At     time.Time
			Kind   model.EventKind
			Target string
		}
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	for _, e := range f.Events {
		if e.Kind == model.EventDeploy {
			out = append(out, e.At.Format(time.TimeOnly)+" "+e.Target)
		}
	}
	return out
}

// What is told while a run is recorded is on the tape, and what is told later may be
// given with it: either way the last frame is the same to the byte.
func TestAnnotationsOnTapeEqualLive(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "deploys.log")
	at := func(s int) string { return sources.Epoch.Add(time.Duration(s) * time.Second).Format(time.RFC3339) }
	appendTo(t, file, at(30)+" chat v42\nnonsense\n"+at(-60)+" \x1b[31mv41\n"+at(3600)+" not yet\n")
	target := "demo:S1?seed=7&at=40s"
	want := []string{"23:59:00 \x1b[31mv41", "00:00:30 chat v42"}
	live := headless(t, "snapshot", "-o", "json", "--for", "90s", "--annotations", file, target)
	if got := deployed(t, live.out); live.code != exitOK || !slices.Equal(got, want) {
		t.Fatalf("exit code %d, %q; %s", live.code, got, live.err)
	}
	if !strings.Contains(live.err, "1 line of "+file+" no annotation, the last is "+file+":2:1: ") || strings.Contains(live.out, "\x1b") {
		t.Errorf("said %q", live.err)
	}
	with, without := filepath.Join(dir, "with.tape"), filepath.Join(dir, "without.tape")
	headless(t, "record", "-o", with, "--for", "90s", "--annotations", file, target)
	headless(t, "record", "-o", without, "--for", "90s", target)
	config := filepath.Join(dir, "config.yaml")
	appendTo(t, config, "annotations: deploys.log\n")
	for name, args := range map[string][]string{
		"on the tape":            {with},
		"with the tape":          {"--annotations", file, without},
		"both":                   {"--annotations", file, with},
		"from configuration":     {"--config", config, without},
		"over the configuration": {"--config", config, "--annotations", file, without},
	} {
		if r := headless(t, append([]string{"snapshot", "-o", "json"}, args...)...); r.code != exitOK || r.out != live.out {
			t.Errorf("%s: exit code %d, %q, differs at %d; %s", name, r.code, deployed(t, r.out), firstDifference(r.out, live.out), r.err)
		}
	}
	if got := deployed(t, headless(t, "snapshot", "-o", "json", without).out); len(got) != 0 {
		t.Errorf("without: %q", got)
	}
}

// Mistakes that are there at the start are said at once.
func TestAnnotationMistakes(t *testing.T) {
	dir := t.TempDir()
	wrong := filepath.Join(dir, "wrong.log")
	appendTo(t, wrong, "\nthis is another log\nand another line\n")
	config := filepath.Join(dir, "config.yaml")
	appendTo(t, config, "every: 1s\nannotations: wrong.log\n")
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"not a single annotation": {[]string{"--annotations", wrong}, wrong + ":3:1: no annotation"},
		"a folder":                {[]string{"--annotations", dir}, "not a regular file"},
		"no such folder":          {[]string{"--annotations", filepath.Join(dir, "no", "deploys.log")}, "no such file"},
		"in the configuration":    {[]string{"--config", config}, config + ":2:14: annotations: " + wrong + ":3:1: "},
	} {
		r := headless(t, append([]string{"snapshot", "--for", "5s", "demo"}, tc.args...)...)
		if r.code != exitUsage || !strings.Contains(r.err, tc.want) {
			t.Errorf("%s: exit code %d, %q, want %q", name, r.code, r.err, tc.want)
		}
	}
}

// The configuration shows the file with its place, and a check of it says what is wrong
// with the lines.
func TestAnnotationsInTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	config, log := filepath.Join(dir, "my.yaml"), filepath.Join(dir, "ops.log")
	appendTo(t, log, "2026-08-17T03:10:00Z chat v42\nno annotation\n")
	appendTo(t, config, "annotations: ops.log\n")
	r := headless(t, "config", "show", "--config", config)
	says(t, "the configuration", strings.Join(strings.Fields(r.out), " "), "annotations: "+scalar(log)+" # my.yaml:1")
	r = headless(t, "config", "check", "--offline", config)
	if r.code != exitOK || !strings.Contains(r.err, "1 line of "+log+" no annotation, the last is "+log+":2:1: ") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
}
