package paper

import (
	"math"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// Tone is what a text means, always beside its words.
type Tone string

// The tones.
const (
	Plain  Tone = ""
	Good   Tone = "good"
	Warn   Tone = "warn"
	Breach Tone = "breach"
	Quiet  Tone = "quiet"
)

// Text is words in one line.
type Text []Span

// Span is words of one kind.
type Span struct {
	Text   string
	Tone   Tone
	Strong bool
	Code   bool

	// Key is the path of the figure in the JSON frame that Text says in words, and
	// Value the number there: whoever reads the page with a program need not read
	// words. Empty: it is no figure of the frame's.
	Key   string
	Value model.Reading
}

// T is plain text.
func T(s string) Text {
	if s == "" {
		return nil
	}
	return Text{{Text: s}}
}

// Strong is text that stands out.
func Strong(s string) Text { return Text{{Text: s, Strong: true}} }

// Code is a name as machines write it.
func Code(s string) Text { return Text{{Text: s, Code: true}} }

// Toned is text with a tone.
func Toned(s string, t Tone) Text { return Text{{Text: s, Tone: t}} }

// Say is a number of the JSON frame in words.
func Say(s, key string, v model.Reading) Text { return Text{{Text: s, Key: key, Value: v}} }

// And is t followed by more.
func (t Text) And(more ...Text) Text {
	out := t[:len(t):len(t)]
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

// In gives all of t a tone.
func (t Text) In(tone Tone) Text {
	out := append(Text{}, t...)
	for i := range out {
		out[i].Tone = tone
	}
	return out
}

// String is t without its markup, safe to print.
func (t Text) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(clean(s.Text))
	}
	return b.String()
}

// clean is text that no reader obeys: control characters and changes of writing
// direction are visible marks.
func clean(s string) string { return unit.Escape(s, false) }

// number is a figure as HTML's data element has it.
func number(r model.Reading) string {
	v, ok := r.Get()
	if !ok || math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
