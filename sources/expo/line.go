package expo

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Why a line is skipped. BadLine.Why is one of these.
const (
	whyCut       = "page ends inside a line"
	whyLong      = "line is longer than the limit"
	whyName      = "no metric name"
	whyNames     = "two metric names"
	whyNameText  = "metric or label name is not UTF-8"
	whyLabelName = "no label name"
	whyReserved  = "label name __name__ is reserved"
	whyTwice     = "label name stands twice"
	whyEquals    = "no = after a label name"
	whyQuote     = "no quoted label value"
	whyOpen      = "label value does not end"
	whyComma     = "no , or } after a label value"
	whyNoValue   = "no value"
	whyValue     = "value is not a number"
	whyTail      = "text after the value"
	whyType      = "unknown type"
)

// span is a stretch of a line. raw means that it is decoded as it stands; else
// it holds escapes, quotes or bytes that are not UTF-8.
type span struct {
	from, to int
	raw      bool
}

func (s span) of(line []byte) []byte { return line[s.from:s.to] }

// sampleLine is a parsed line: spans only, so that reading a line whose series
// is known allocates nothing.
type sampleLine struct {
	line   []byte
	name   span
	labels []labelSpan
	// prefix is how much of the line comes before the value. A later line with
	// the same prefix is the same series, unless prefixOpen: then the value
	// follows a bare name directly, as in "up1", and more name could follow.
	prefix     int
	prefixOpen bool
	value      float64
}

type labelSpan struct{ name, value span }

// parse reads a sample line without its line feed. It is the grammar of expfmt,
// bit for bit where expfmt accepts a line, with these liberties: blanks at the
// end, timestamps with a fraction and exemplars as OpenMetrics has them, signed
// NaN, unknown escapes (kept as they stand), bytes that are not UTF-8 in label
// values. It says why it refuses a line, and "" where it accepts it.
//
// Lines are not handed to expfmt one by one: without the rest of the page it
// cannot tell a bucket from a gauge with an le label, and it refuses half of
// what the liberties are for. One grammar for first and later pages cannot
// disagree with itself, and the tests hold it to expfmt.
func (s *sampleLine) parse(line []byte) (why string) {
	s.line, s.labels, s.name, s.prefixOpen = line, s.labels[:0], span{}, false
	i := skipBlanks(line, 0)
	if i < len(line) && line[i] != '{' {
		end := nameEnd(line, i, true)
		if end == i {
			return whyName
		}
		s.name = nameSpan(line, i, end)
		s.prefixOpen = line[end-1] != '"'
		i = skipBlanks(line, end)
		s.prefixOpen = s.prefixOpen && i == end
	}
	if i < len(line) && line[i] == '{' {
		s.prefixOpen = false
		if i, why = s.parseLabels(i + 1); why != "" {
			return why
		}
	}
	if s.name.to == 0 {
		return whyName
	}
	if !s.validNames() {
		return whyNameText
	}
	s.prefix = i
	return s.parseValue(i)
}

// parseLabels reads from behind the opening brace and returns the place of the
// value. The metric name may stand among the labels, quoted, unless it stood
// before the brace.
func (s *sampleLine) parseLabels(i int) (next int, why string) {
	line := s.line
	inside := s.name.to == 0
	for {
		i = skipBlanks(line, i)
		if i < len(line) && line[i] == '}' {
			return skipBlanks(line, i+1), ""
		}
		end := nameEnd(line, i, false)
		if end == i {
			return 0, whyLabelName
		}
		name := nameSpan(line, i, end)
		i = skipBlanks(line, end)
		switch {
		case i < len(line) && line[i] == '=':
			if i, why = s.parseLabelValue(name, i+1); why != "" {
				return 0, why
			}
		case !inside:
			return 0, whyEquals
		case s.name.to != 0:
			return 0, whyNames
		default:
			s.name = name
		}
		if i < len(line) && line[i] == ',' {
			i++
		} else if i >= len(line) || line[i] != '}' {
			return 0, whyComma
		}
	}
}

// parseLabelValue reads from behind the equals sign to what follows the value.
func (s *sampleLine) parseLabelValue(name span, i int) (next int, why string) {
	line := s.line
	i = skipBlanks(line, i)
	if i >= len(line) || line[i] != '"' {
		return 0, whyQuote
	}
	from, escaped := i+1, false
	for i = from; ; i++ {
		if i >= len(line) {
			return 0, whyOpen
		}
		if line[i] == '\\' {
			escaped = true
			i++
		} else if line[i] == '"' {
			break
		}
	}
	value := span{from, i, !escaped && utf8.Valid(line[from:i])}
	s.labels = append(s.labels, labelSpan{name, value})
	return skipBlanks(line, i+1), ""
}

// parseValue reads the value and what may follow it: a timestamp, which is
// checked and dropped, and an exemplar, which is dropped.
func (s *sampleLine) parseValue(i int) (why string) {
	end := tokenEnd(s.line, i)
	if end == i {
		return whyNoValue
	}
	v, err := number(s.line[i:end])
	if err != nil {
		return whyValue
	}
	s.value = v
	if !validTail(s.line[end:]) {
		return whyTail
	}
	return ""
}

// validTail is whether what follows a value may follow it.
func validTail(tail []byte) bool {
	i := skipBlanks(tail, 0)
	if i == len(tail) {
		return true
	}
	if tail[i] != '#' {
		end := tokenEnd(tail, i)
		if !timestamp(tail[i:end]) {
			return false
		}
		if i = skipBlanks(tail, end); i == len(tail) {
			return true
		}
	}
	if tail[i] != '#' {
		return false
	}
	i = skipBlanks(tail, i+1)
	return i < len(tail) && tail[i] == '{'
}

// timestamp takes whole milliseconds as the text format has them and seconds
// with a fraction as OpenMetrics has them.
func timestamp(token []byte) bool {
	v, err := number(token)
	return err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

func tokenEnd(b []byte, i int) int {
	for i < len(b) && b[i] != ' ' && b[i] != '\t' {
		i++
	}
	return i
}

// nameEnd is where the name that starts at i ends; i itself where none starts
// or its quotes do not close. As in expfmt quotes may also open inside a name.
func nameEnd(b []byte, i int, colons bool) int {
	for j := i; j < len(b); j++ {
		c := b[j]
		switch {
		case c == '"':
			end := quoteEnd(b, j+1)
			if end < 0 {
				return i
			}
			return end
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', colons && c == ':', j > i && c-'0' <= 9:
		default:
			return j
		}
	}
	return len(b)
}

// quoteEnd is the place behind the quote that closes the text from i on, or -1.
func quoteEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		if b[i] == '\\' {
			i++
		} else if b[i] == '"' {
			return i + 1
		}
	}
	return -1
}

func nameSpan(b []byte, from, to int) span {
	return span{from, to, b[to-1] != '"'}
}

// validNames is whether the names are UTF-8 and none of them is empty.
func (s *sampleLine) validNames() bool {
	if !s.name.raw && !validName(s.name.of(s.line)) {
		return false
	}
	for _, l := range s.labels {
		if !l.name.raw && !validName(l.name.of(s.line)) {
			return false
		}
	}
	return true
}

func validName(text []byte) bool {
	return len(text) > 2 && utf8.Valid(text)
}

// decodedName resolves the quotes and escapes of a name.
func decodedName(line string, s span) string {
	text := line[s.from:s.to]
	if s.raw {
		return text
	}
	open := strings.IndexByte(text, '"')
	return text[:open] + unescape(text[open+1:len(text)-1])
}

// decodedValue resolves the escapes of a label value.
func decodedValue(line string, s span) string {
	text := line[s.from:s.to]
	if s.raw {
		return text
	}
	return strings.ToValidUTF8(unescape(text), "\uFFFD")
}

// unescape resolves \\, \" and \n. Anything else behind a backslash stands for
// itself, backslash included: exporters forget to escape Windows paths.
func unescape(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		switch text[i] {
		case '\\', '"':
			out = append(out, text[i])
		case 'n':
			out = append(out, '\n')
		default:
			out = append(out, '\\', text[i])
		}
	}
	return string(out)
}

// fewLabels can be compared all with all for less than a table costs.
const fewLabels = 16

// checkLabels refuses reserved and repeated label names.
func (s *sampleLine) checkLabels() (why string) {
	var names map[string]bool
	if len(s.labels) > fewLabels {
		names = make(map[string]bool, len(s.labels))
	}
	for i, l := range s.labels {
		if s.nameIs(l.name, "__name__") {
			return whyReserved
		}
		if s.stands(l.name, s.labels[:i], names) {
			return whyTwice
		}
	}
	return ""
}

// stands reports whether a name is one of those before it. Where there is a
// table of those it goes into it.
func (s *sampleLine) stands(name span, before []labelSpan, names map[string]bool) bool {
	if names != nil {
		text := s.nameText(name)
		twice := names[text]
		names[text] = true
		return twice
	}
	return slices.ContainsFunc(before, func(l labelSpan) bool { return s.sameName(name, l.name) })
}

func (s *sampleLine) nameIs(n span, text string) bool {
	if n.raw {
		return string(n.of(s.line)) == text
	}
	return s.nameText(n) == text
}

func (s *sampleLine) sameName(a, b span) bool {
	if a.raw && b.raw {
		return bytes.Equal(a.of(s.line), b.of(s.line))
	}
	return s.nameText(a) == s.nameText(b)
}

func (s *sampleLine) nameText(n span) string {
	text := string(n.of(s.line))
	return decodedName(text, span{0, len(text), n.raw})
}

// decode is the name and the labels of a line. They are parts of text, the
// beginning of the line, wherever nothing had to be decoded: one string holds
// a whole series.
func (s *sampleLine) decode(text string) (name string, labels []Label) {
	name = decodedName(text, s.name)
	if len(s.labels) == 0 {
		return name, nil
	}
	labels = make([]Label, len(s.labels))
	for i, l := range s.labels {
		labels[i] = Label{decodedName(text, l.name), decodedValue(text, l.value)}
	}
	return name, labels
}
