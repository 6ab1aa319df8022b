package expo

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sniff names a body whose first bytes show that it is no metrics page. HTML
// and JSON must be known before any line is read: a line of an error page such
// as "Error 404" is a perfect sample.
func sniff(body []byte) (what string) {
	text := bytes.TrimSpace(body)
	switch {
	case len(text) == 0:
		return Empty
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		return Gzip
	case text[0] == '<':
		return markup(text)
	case text[0] == '[', text[0] == '{' && !quotedName(text):
		return JSON
	}
	return ""
}

func markup(text []byte) string {
	head := bytes.ToLower(text[:min(len(text), 1024)])
	if bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.Contains(head, []byte("<html")) ||
		bytes.Contains(head, []byte("<body")) || bytes.Contains(head, []byte("<head")) {
		return HTML
	}
	return XML
}

// quotedName is whether an opening brace starts a sample with its name inside,
// as in {"a.b",c="d"} 1, rather than a JSON object.
func quotedName(text []byte) bool {
	i := skipBlanks(text, 1)
	end := nameEnd(text, i, false)
	if end == i {
		return false
	}
	end = skipBlanks(text, end)
	return end < len(text) && (text[end] == ',' || text[end] == '}' || text[end] == '=')
}

// Few skipped lines are noise. From minDoubt on, on a page without any # HELP
// or # TYPE, one in eight says that it is some other text.
const minDoubt = 3

// doubt names a body that was read as a page and turned out to be none.
func (s *Scanner) doubt() (what string) {
	p := &s.page
	samples := s.seen + p.Repeated + p.Dropped
	if s.metadata || p.Bad == 0 || samples > 0 && (p.Bad < minDoubt || p.Bad*8 <= samples) {
		return ""
	}
	return Text
}

// quoted is how much of a body is looked at to quote from it.
const quoted = 512

func notMetrics(what string, body []byte) error {
	head := body[:min(len(body), quoted)]
	if what == Text && (bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(bytes.TrimRight(head, "\x80-\xff"))) {
		what = Binary
	}
	excerpt := ""
	if what != Gzip && what != Binary {
		head = bytes.TrimSpace(head)
		if what != HTML && what != XML {
			head = unsaid(head)
		}
		excerpt = string(appendExcerpt(nil, head))
	}
	return &NotMetricsError{What: what, Excerpt: excerpt}
}

// unsaid is a text with "…" for each string of the JSON in it, if there is any, that is
// no field's name: a log of requests holds what people asked and were answered.
func unsaid(text []byte) []byte {
	start := bytes.IndexAny(text, "{[")
	if start < 0 {
		return text
	}
	said := bytes.Clone(text[:start])
	for rest := text[start:]; len(rest) > 0; {
		n := stringEnd(rest)
		after := bytes.TrimLeft(rest[n:], " \t\r\n")
		switch {
		case rest[0] != '"':
			said = append(said, rest[0])
		case len(after) > 0 && after[0] == ':':
			said = append(said, rest[:n]...)
		default:
			said = append(said, `"…"`...)
		}
		rest = rest[n:]
	}
	return said
}

// stringEnd is where the JSON string that a text begins with ends, its quotes
// included; 1 where it begins with none.
func stringEnd(text []byte) int {
	if text[0] != '"' {
		return 1
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// maxVerdict bounds the page that the reference parser is asked about. It takes
// some fifteen times the memory of the page, and its time grows with the square
// of a line's labels: so it sees no page with lines beyond the limits either.
const maxVerdict = 256 << 10

// judge asks for the verdict when it is this scanner's turn.
func (s *Scanner) judge(body []byte) {
	s.age++
	if s.judged != s.page.Generation && s.age >= s.turn {
		s.judged, s.page.Verdict = s.page.Generation, s.verdict(body)
	}
}

// verdict asks the reference parser about an early page of a generation. Its answer
// never decides what is read: it gives up on a page at the first line it does
// not like, and knows neither positions nor OpenMetrics. But it is what stricter
// readers do with this target, which explains why they show nothing.
func (s *Scanner) verdict(body []byte) (text string) {
	if s.ended || s.long || s.page.Dropped > 0 || len(body) > maxVerdict {
		return ""
	}
	// It panics on some quoted names.
	defer func() {
		if r := recover(); r != nil {
			text = string(appendExcerpt(nil, fmt.Append(nil, r)))
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	_, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err == nil {
		return ""
	}
	var at expfmt.ParseError
	if errors.As(err, &at) {
		return fmt.Sprintf("line %d: %s", at.Line, appendExcerpt(nil, []byte(at.Msg)))
	}
	return string(appendExcerpt(nil, []byte(err.Error())))
}
