package expo

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// What a body turned out to be instead of a metrics page.
const (
	Empty  = "empty"
	HTML   = "html"
	XML    = "xml"
	JSON   = "json"
	Gzip   = "gzip"
	Binary = "binary"
	Text   = "text"
)

// NotMetricsError says that a body is no metrics page, and what it is.
type NotMetricsError struct {
	What    string // one of the constants above
	Excerpt string // its beginning, control characters as visible marks
}

func (e *NotMetricsError) Error() string {
	if e.Excerpt == "" {
		return "read metrics page: the body is " + e.What
	}
	return fmt.Sprintf("read metrics page: the body is %s: %s", e.What, e.Excerpt)
}

// OversizedError says that a body is longer than the limit. Nothing of it is used.
type OversizedError struct{ Size, Limit int } // Size is 0 where nobody read on to know it

func (e *OversizedError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("read metrics page: it is larger than %d bytes", e.Limit)
	}
	return fmt.Sprintf("read metrics page: %d bytes are more than the limit of %d", e.Size, e.Limit)
}

// maxExcerpt is enough to recognise a line and fits one line of a terminal.
const maxExcerpt = 72

// appendExcerpt appends the beginning of text, with everything that a terminal
// could obey as an escape sequence in plain ASCII.
func appendExcerpt(dst, text []byte) []byte {
	start := len(dst)
	for len(text) > 0 {
		if len(dst)-start >= maxExcerpt {
			return append(dst, "..."...)
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'x', hex[text[0]>>4], hex[text[0]&15])
		case unicode.IsPrint(r):
			dst = append(dst, text[:n]...)
		default:
			quoted := strconv.AppendQuoteRuneToASCII(nil, r)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		text = text[n:]
	}
	return dst
}
