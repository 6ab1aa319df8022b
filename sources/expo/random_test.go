package expo

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The pieces that random pages are made of. They are few, so that lines meet
// again, and odd, so that every branch of the grammar is taken.
var (
	pieceNames  = []string{"a", "b:c", "h", "h_bucket", "h_sum", "h_count", "s", "s_sum", "c_total", "a1", `"q.r"`, `a"x"`, "_"}
	pieceLabels = []string{"x", "le", "quantile", `"y z"`, "engine", "x"}
	pieceValues = []string{"", "1", "0.5", "+Inf", "1.0", `\\`, `\"`, `\n`, "}", "{", ",", " # ", "é", "=", `\d`}
	pieceTokens = []string{"0", "1", "-1", "3", "1e3", "0.1", "NaN", "+Inf", "-nan", "1e999", "2.4804184064e+010", "0.30000000000000004", "x", "", "1_0", "12345678901234567890"}
	pieceBlanks = []string{"", "", "", " ", "\t", "  "}
	pieceTails  = []string{"", "", "", "", " 5", " -7", " 1.5", " # {t=\"1\"} 2", " #", " x", "\r"}
	pieceTypes  = []string{"gauge", "counter", "histogram", "summary", "untyped", "Gauge", "banana", ""}
)

type pageMaker struct{ *rand.Rand }

func (r pageMaker) of(pieces []string) string { return pieces[r.IntN(len(pieces))] }

func (r pageMaker) blank() string { return r.of(pieceBlanks) }

func (r pageMaker) line() string {
	switch r.IntN(12) {
	case 0:
		return "# TYPE " + r.of(pieceNames) + " " + r.of(pieceTypes) + "\n"
	case 1:
		return "# HELP " + r.of(pieceNames) + " text\n"
	case 2:
		return r.of([]string{"\n", "# note\n", "#\n", "{" + r.of(pieceNames) + "} 1\n", "x{\n"})
	}
	return r.blank() + r.of(pieceNames) + r.labels() + r.of([]string{" ", " ", " ", "\t", ""}) + r.of(pieceTokens) + r.of(pieceTails) + "\n"
}

func (r pageMaker) labels() string {
	n := r.IntN(4)
	if n == 3 {
		return r.blank()
	}
	var b strings.Builder
	b.WriteString(r.blank() + "{")
	for i := range n {
		if i > 0 {
			b.WriteString("," + r.blank())
		}
		b.WriteString(r.of(pieceLabels) + r.blank() + "=" + r.blank() + `"` + r.of(pieceValues) + `"`)
	}
	return b.String() + r.of([]string{"", "", ",", " "}) + "}"
}

func (r pageMaker) page() []byte {
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(r.line())
	}
	return []byte(b.String())
}

// Random pages, some of which expfmt takes, are read as it reads them, and the
// same whatever the scanner read before.
func TestRandomPages(t *testing.T) {
	const seed = 20261129
	r := pageMaker{rand.New(rand.NewPCG(seed, 1))}
	taken := 0
	for i := range 6_000 {
		a, b := r.page(), r.page()
		if _, ok := reference(a); ok {
			taken++
		}
		checkPages(t, a, b)
		if t.Failed() {
			t.Fatalf("seed %d, page %d:\n%s\nbefore it:\n%s", seed, i, a, b)
		}
	}
	if taken < 300 {
		t.Errorf("expfmt takes only %d of the pages", taken)
	}
}
