package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/unit"
)

// A file of annotations is where a deployment tool notes what it did, a line each. It is
// read as it grows: with each tick of what is watched, and by no clock of its own.

const (
	// maxNoteLine bounds a line, maxNoteText what is kept of its text: a line of a
	// chart's list.
	maxNoteLine = 4 << 10
	maxNoteText = 256
	// maxNotesRead is how much of the end of a file is read: a line an hour for years.
	maxNotesRead = 4 << 20
	// maxNotes bounds the annotations that wait for their time.
	maxNotes = 10_000
)

// noteForms is how a line is to be written.
const noteForms = `write a time of RFC 3339 and what was done, as in 2026-08-17T03:10:00Z chat v42, or {"at":"2026-08-17T03:10:00Z","text":"chat v42"}`

func (a *app) noteFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.flags.notes, "annotations", "", "file in which a deployment tool notes what it did: lines of a time (RFC 3339) and a text, or of JSON")
}

// notes follows one file of annotations. Its methods may be called at once.
type notes struct {
	path string

	mu      sync.Mutex
	info    fs.FileInfo // of the file that was read
	offset  int64
	rest    []byte // of a line that has not ended
	line    int    // that was read last
	waiting []model.Annotation
	state   noteState
}

// noteState is what became of the lines.
type noteState struct {
	read    int
	bad     int   // lines that are no annotations
	last    error // with the place of the newest of them
	over    int   // annotations for which there was no room
	skipped int64 // bytes before those that were read
	gone    error // why the file cannot be read now
}

// annotations opens the file that the flag or the configuration names, nil for none.
func (a *app) annotations(file fileConfig) (*notes, error) {
	path, at := a.flags.notes, ""
	if path == "" {
		path, at = file.Annotations, file.notesAt
	}
	if path == "" {
		return nil, nil
	}
	n := &notes{path: path}
	if err := n.begin(); err != nil {
		return nil, usageError(fmt.Errorf("%sannotations: %w", at, err))
	}
	return n, nil
}

// begin reads what is there. A file that is still to be written may be missing, its
// folder may not; and a file without a single annotation is another one.
func (n *notes) begin() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.look()
	n.end()
	s := &n.state
	switch {
	case errors.Is(s.gone, fs.ErrNotExist):
		_, err := os.Stat(filepath.Dir(n.path))
		return err
	case s.gone != nil:
		return s.gone
	case s.bad > 0 && s.read == 0:
		return s.last
	}
	return nil
}

// due are the annotations up to a time, oldest first. With follow they include what was
// written since.
func (n *notes) due(now time.Time, follow bool) []model.Annotation {
	n.mu.Lock()
	defer n.mu.Unlock()
	if follow && !n.look() {
		n.end() // nothing came: what stands there without a line feed is a line
	}
	i := 0
	for i < len(n.waiting) && !n.waiting[i].At.After(now) {
		i++
	}
	out := n.waiting[:i:i]
	n.waiting = n.waiting[i:]
	return out
}

// all are the annotations of a file that is not followed, oldest first.
func (n *notes) all() []model.Annotation {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.waiting)
}

// beside puts annotations before the first tick at or after their time.
func (n *notes) beside(emit func(model.Input), follow bool) func(model.Input) {
	if n == nil {
		return emit
	}
	return func(in model.Input) {
		if in.IsTick() {
			for _, a := range n.due(in.At.Wall, follow) {
				emit(model.Input{At: in.At, Note: &a})
			}
		}
		emit(in)
	}
}

// look reads what the file has grown by, and reports whether that was anything. One
// that was replaced or cut is read from its beginning: what was told is told once.
func (n *notes) look() bool {
	info, err := os.Stat(n.path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", n.path)
	}
	if n.state.gone = err; err != nil {
		return false
	}
	if n.info == nil || !os.SameFile(n.info, info) || info.Size() < n.offset {
		n.offset, n.rest, n.line = 0, nil, 0
	}
	n.info = info
	if info.Size() == n.offset {
		return false
	}
	n.state.gone = n.grow(info.Size())
	return true
}

// grow reads on from the offset.
func (n *notes) grow(size int64) error {
	f, err := os.Open(n.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	skipped := max(0, size-n.offset-maxNotesRead)
	if skipped > 0 {
		n.state.skipped += skipped
		n.offset, n.rest = n.offset+skipped, nil
	}
	if _, err := f.Seek(n.offset, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxNotesRead))
	n.offset += int64(len(text))
	if skipped > 0 { // in the middle of a line
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	n.take(text)
	return err
}

// take reads whole lines, and keeps the one that has not ended.
func (n *notes) take(text []byte) {
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(n.rest), bytes.NewReader(text)))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			n.rest = line[:min(len(line), maxNoteLine+1)]
			break
		}
		n.add(line)
	}
	slices.SortStableFunc(n.waiting, func(a, b model.Annotation) int { return a.At.Compare(b.At) })
	if more := len(n.waiting) - maxNotes; more > 0 {
		n.state.over += more
		n.waiting = slices.Clone(n.waiting[more:])
	}
}

// end takes what stands after the last line feed for a line.
func (n *notes) end() {
	if len(n.rest) > 0 {
		n.take([]byte("\n"))
	}
}

func (n *notes) add(line []byte) {
	n.line++
	text := strings.TrimRight(string(line), "\r\n")
	if t := strings.TrimSpace(text); t == "" || strings.HasPrefix(t, "#") {
		return
	}
	a, column, err := parseNote(text)
	if err != nil {
		n.state.bad++
		n.state.last = fmt.Errorf("%s:%d:%d: %w", n.path, n.line, column, err)
		return
	}
	n.state.read++
	n.waiting = append(n.waiting, a)
}

// parseNote reads a line. An error comes with the column, from 1, at which it is.
func parseNote(line string) (a model.Annotation, column int, err error) {
	if len(line) > maxNoteLine {
		return a, maxNoteLine, fmt.Errorf("a line of more than %d bytes", maxNoteLine)
	}
	begin := len(line) - len(strings.TrimLeft(line, " \t"))
	if strings.HasPrefix(line[begin:], "{") {
		return parseJSONNote(line, begin)
	}
	word, text, _ := strings.Cut(strings.Replace(line[begin:], "\t", " ", 1), " ")
	at, ok := noteTime(word)
	if !ok {
		return a, begin + 1, errors.New("no annotation: " + noteForms)
	}
	if text = noteText(text); text == "" {
		return a, len(line) + 1, errors.New("no annotation: it does not say what was done")
	}
	return model.Annotation{At: at, Text: text}, 0, nil
}

// parseJSONNote takes what it knows of an object; deployment tools write more.
func parseJSONNote(line string, begin int) (a model.Annotation, column int, err error) {
	var o struct {
		At   string `json:"at"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		column = begin + 1
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			column = int(syntax.Offset)
		}
		return a, column, errors.New(`no annotation: not JSON of the form {"at":"2026-08-17T03:10:00Z","text":"chat v42"}`)
	}
	at, ok := noteTime(o.At)
	if !ok {
		return a, begin + 1, errors.New(`no annotation: "at" must be a time of RFC 3339, such as 2026-08-17T03:10:00Z`)
	}
	if o.Text = noteText(o.Text); o.Text == "" {
		return a, begin + 1, errors.New(`no annotation: "text" does not say what was done`)
	}
	return model.Annotation{At: at, Text: o.Text}, 0, nil
}

// noteTime reads a time that clocks may show.
func noteTime(s string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, s)
	return at.UTC(), err == nil && at.After(time.Unix(0, 0)) && at.Before(time.Unix(1<<33, 0))
}

// withPassword is an address with a name and a password in it: no tape holds one.
var withPassword = regexp.MustCompile(`(://)[^/\s@]+@`)

// noteText is what is kept of a text.
func noteText(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "�"))
	s = withPassword.ReplaceAllString(s, "$1…@")
	if len(s) <= maxNoteText {
		return s
	}
	end := maxNoteText - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// said is what of the file is no annotation, or cannot be read; "" where all is well.
func (n *notes) said() string {
	if n == nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.state
	var parts []string
	if s.bad > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s no annotation, the last is %v", count(s.bad, "line"), n.path, s.last))
	}
	if s.over > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s left out, the oldest", count(s.over, "annotation"), n.path))
	}
	if s.skipped > 0 {
		parts = append(parts, fmt.Sprintf("%s is read from %s on", n.path, unit.Bytes(float64(s.skipped))))
	}
	switch {
	case errors.Is(s.gone, fs.ErrNotExist):
		parts = append(parts, fmt.Sprintf("annotations: there is no %s yet", n.path))
	case s.gone != nil:
		parts = append(parts, fmt.Sprintf("annotations: %v", s.gone))
	}
	return strings.Join(parts, "; ")
}

// tellNotes says at the end of a run what of the annotations was not understood.
func (a *app) tellNotes() {
	if s := a.notes.said(); s != "" {
		fmt.Fprintf(a.err, "slotop: %s\n", unit.Escape(a.veil.over(s, shortValue), asciiOnly()))
	}
}

// amid puts annotations among the inputs of a tape, each before the first input that is
// not before it.
type amid struct {
	left []model.Annotation // oldest first
	then *model.Input       // what comes after the one that was put in
}

// next is the input that comes next, given what the tape has.
func (m *amid) next(read func() (model.Input, error)) (model.Input, error) {
	in, err := model.Input{}, error(nil)
	if m.then != nil {
		in, m.then = *m.then, nil
	} else if in, err = read(); err != nil {
		return in, err
	}
	if len(m.left) == 0 || m.left[0].At.After(in.At.Wall) {
		return in, nil
	}
	a := m.left[0]
	m.left, m.then = m.left[1:], &in
	return model.Input{At: in.At, Note: &a}, nil
}
