package sources

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// walked is any JSON value as jsonText reads it, in the types of encoding/json.
func walked(t *jsonText) any {
	switch t.peek() {
	case '{':
		all := map[string]any{}
		for name := range t.fields {
			key := valid(name)
			all[key] = walked(t)
		}
		return all
	case '[':
		all := []any{}
		for n := range t.items {
			if n != len(all) {
				panic("items are numbered wrongly")
			}
			all = append(all, walked(t))
		}
		return all
	case '"':
		return valid(t.text())
	case 't', 'f':
		return t.truth()
	case 'n':
		t.null()
		return nil
	default:
		return t.number()
	}
}

// valid is text as encoding/json keeps it: each byte that is no UTF-8 becomes U+FFFD.
func valid(b []byte) string {
	var s strings.Builder
	for _, r := range string(b) {
		s.WriteRune(r)
	}
	return s.String()
}

// asEncodingJSON reads a text with encoding/json, numbers that are too large as infinite.
func asEncodingJSON(text []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return floats(v), true
}

func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	}
	return v
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if other, ok := b[k]; !ok || !equal(a[k], other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	default:
		return a == b
	}
}

var texts = []string{
	`{"a":1,"b":[true,false,null,"x"],"c":{"d":{}}}`, ` [ ] `, `"\u00e9\ud83d\ude00\ud83d\n\"\\\/"`, "\"\xff\xfe\"",
	`-0.5e+3`, `01`, `1.`, `.5`, `-`, `1e`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,]`, `{`, `[`, `"`, `"\x"`, `"\u12"`,
	"\"\t\"", `tru`, `nul`, `null null`, ``, ` `, `{"a":1 "b":2}`, `{"a":1}}`, `{"\u0061":1,"a":2}`, "\ufeff{}", `1e999`,
	`"\udc00\ud800"`, `{"a":[{"b":[[[]]]}]}`, `[1 2]`, `{1:2}`, `truefalse`, `nullx`,
}

func FuzzJSONText(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want, ok := asEncodingJSON(text)
		var r jsonText
		r.reset(text)
		got := walked(&r)
		if r.ends() != ok {
			t.Fatalf("%q: read as JSON: %v, by encoding/json: %v", text, r.ends(), ok)
		}
		if ok && !equal(got, want) {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
		r.reset(text)
		r.skip()
		if r.ends() != ok {
			t.Fatalf("%q: passed over as JSON: %v, want %v", text, r.ends(), ok)
		}
	})
}

func TestJSONDepth(t *testing.T) {
	for depth, want := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		text := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		var r jsonText
		r.reset(text)
		if r.skip(); r.ends() != want || json.Valid(text) != want {
			t.Errorf("%d deep: %v", depth, r.ends())
		}
	}
}

// A value that the body of a loop leaves alone is passed over, whatever it looked at.
func TestJSONPassesOverWhatIsNotRead(t *testing.T) {
	var r jsonText
	r.reset([]byte(`{"a": {"x":[1,{"y":"}"}]}, "b": "]", "n": 4, "c" : [1, 2]}`))
	var n float64
	for name := range r.fields {
		if r.peek() == '{' && string(name) != "a" {
			t.Errorf("%s is no object", name)
		}
		if string(name) == "n" {
			n = r.number()
		}
	}
	if !r.ends() || n != 4 {
		t.Errorf("got %v", n)
	}
}

func TestJSONWhole(t *testing.T) {
	for _, tc := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"0", 0, true}, {"18446744073709551615", math.MaxUint64, true}, {"12.0", 12, true}, {"1e3", 1000, true},
		{"-1", 0, false}, {"1.5", 0, false}, {"1e300", 0, false}, {"1e999", 0, false}, {"9007199254740993.0", 1 << 53, true},
	} {
		var r jsonText
		r.reset([]byte(tc.text))
		if n, ok := r.whole(); ok != tc.ok || ok && n != tc.want || !r.ends() {
			t.Errorf("%s: got %d, %v", tc.text, n, ok)
		}
	}
}
