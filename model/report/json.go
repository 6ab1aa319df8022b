// Package report writes a frame for programs, as one line of JSON, and for
// people, as plain text. It computes nothing: what is not in the frame is not in
// the report, and no number is rounded before it reaches a reader of JSON.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"slotop/model"
)

// JSON writes the frame on one line, in the versioned form that model.Schema
// names. Text that came from a target holds no character that a terminal would
// obey or hide: those are written as \u escapes.
func JSON(w io.Writer, f *model.Frame) error { return writeJSON(w, "frame", f) }

// writeJSON writes a document on one line.
func writeJSON(w io.Writer, what string, document any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		return fmt.Errorf("write %s as JSON: %w", what, err)
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON replaces what encoding/json lets through. Such characters occur
// inside strings only, where an escape means the same.
func escapeJSON(b []byte) []byte {
	first := bytes.IndexFunc(b, hidden)
	if first < 0 {
		return b
	}
	out := append(make([]byte, 0, len(b)+64), b[:first]...)
	for i := first; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case !hidden(r):
			out = append(out, b[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

// hidden reports whether a terminal would act on the rune or show nothing for
// it: control characters, marks of writing direction, line separators, tags. The
// line feed that ends the frame is our own; in a string it is escaped already.
func hidden(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
