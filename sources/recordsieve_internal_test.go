package sources

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// sieved is what comes of a text that arrives in pieces of a size, and whether it was
// whole.
func sieved(root *wanted, text string, size int) (string, bool) {
	var s sieve
	s.reset(root, 1<<20)
	for rest := []byte(text); len(rest) > 0; {
		n := min(size, len(rest))
		s.take(rest[:n])
		rest = rest[n:]
	}
	return string(s.out), s.whole()
}

var someFields = &wanted{fields: map[string]*wanted{
	"id": {text: 8}, "rows": {fields: map[string]*wanted{"id": {text: 8}, "n": {text: 8}}}, "tags": {text: 8},
	"both": {text: 8, fields: map[string]*wanted{"x": {text: 8}}},
}}

func TestSieve(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct{ text, want string }{
		{`{}`, `{}`},
		{` { "id" : "a" , "no" : "` + canary + `" } `, `{"id":"a"}`},
		{`{"no":1,"id":2.5e3,"yes":null}`, `{"id":2.5e3}`},
		{`{"no":{"id":"b","x":[{"}]":"\"}"}]},"id":true}`, `{"id":true}`},
		{`{"rows":[{"id":"a","text":"` + long + `"},{"n":1},{},7,"` + canary + `",[],null]}`, `{"rows":[{"id":"a"},{"n":1},{},null,null,[],null]}`},
		{`{"id":"` + long + `","tags":["a","b"]}`, `{"tags":["a","b"]}`},
		{`{"id":{"id":"a"},"tags":[["a"]]}`, `{"tags":[["a"]]}`},
		{`{"both":"{\"x\":1}","id":1}`, `{"id":1}`}, // longer than eight bytes
		{`{"both":"a","both":{"x":"b","y":"c"}}`, `{"both":"a","both":{"x":"b"}}`},
		{`{"\u0069d":"\u00e9","i\"d":"no","` + long + `":"no"}`, `{"id":"\u00e9"}`},
		{`[{"id":"a"},{"id":"b"}]`, `[{"id":"a"},{"id":"b"}]`},
		{`7`, ``},
	} {
		for _, size := range []int{1, 3, 1 << 20} {
			got, whole := sieved(someFields, tc.text, size)
			if got != tc.want || whole != (tc.text != "7") && tc.text != "7" {
				t.Errorf("%.60s in pieces of %d: got %.80s, whole %v, want %s", tc.text, size, got, whole, tc.want)
			}
		}
	}
	for _, text := range []string{``, `{`, `{"id"`, `{"id":`, `{"id":"a"`, `{"id":"a"}}`, `{"id":"a"}x`, `{id:1}`, `[1,`, `{"id":x}`, `{"id" 1}`, `{"no":"a`, `{"no":[`, `]`, `{"id":1,]`} {
		if got, whole := sieved(someFields, text, 4); whole {
			t.Errorf("%s: taken for whole: %s", text, got)
		}
	}
}

// What is let through is bounded.
func TestSieveIsBounded(t *testing.T) {
	var s sieve
	s.reset(someFields, 100)
	s.take([]byte(`{"tags":[` + strings.Repeat(`"abcdef",`, 1000)))
	if !s.over || cap(s.out) > 8<<10 {
		t.Errorf("over %v, %d bytes", s.over, cap(s.out))
	}
	s.reset(someFields, 1<<20)
	s.take([]byte(strings.Repeat(`[`, 1<<20)))
	if len(s.stack) > maxOpen || len(s.out) > 100 {
		t.Errorf("%d deep, %d bytes", len(s.stack), len(s.out))
	}
	s.reset(nil, 0)
	for _, b := range s.out[:cap(s.out)] {
		if b == '"' {
			t.Fatal("what was let through stays")
		}
	}
}

// FuzzSieve: of JSON, what is let through is what a reader of the named fields sees,
// however it is cut up.
func FuzzSieve(f *testing.F) {
	f.Add([]byte(`{"id":"a","no":{"x":[1,"\""]},"rows":[{"id":"b","n":1.5},null,{"n":-1e5}],"tags":["a"]}`), 3)
	f.Add([]byte(`{"\u0069d":"a\\","both":{"x":true,"y":"\ud83d\ude00"}}`), 1)
	f.Add([]byte(`[{"id":"0123456789"}]`), 5)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		got, whole := sieved(someFields, string(text), 1+max(0, size)%50)
		if all, _ := sieved(someFields, string(text), 1<<20); all != got {
			t.Fatalf("%q: %q in pieces, %q at once", text, got, all)
		}
		doc, ok := decoded(text)
		if !ok || !simple(text) {
			return
		}
		seen, ok := decoded([]byte(got))
		if want := only(someFields, doc); !whole || !ok || !reflect.DeepEqual(want, seen) {
			t.Fatalf("%q: whole %v, let through %q, want %v", text, whole, got, want)
		}
	})
}

// decoded is a JSON object or array.
func decoded(text []byte) (doc any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if !json.Valid(text) || d.Decode(&doc) != nil {
		return nil, false
	}
	switch doc.(type) {
	case []any, map[string]any:
		return doc, true
	}
	return nil, false
}

// simple reports whether a text has nothing in it that the sieve and encoding/json are
// meant to read in different ways: names that come twice, escapes, which count towards a
// string's length, depths and lengths beyond its own.
func simple(text []byte) bool {
	for name := range someFields.fields {
		if bytes.Count(text, []byte(`"`+name+`"`)) > 1 {
			return false
		}
	}
	for _, name := range []string{`"n"`, `"x"`} {
		if bytes.Count(text, []byte(name)) > 1 {
			return false
		}
	}
	strange := func(r rune) bool { return r > '~' || strings.ContainsRune(`\<>&`, r) }
	return len(text) <= maxKey && !bytes.ContainsFunc(text, strange) && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) < maxOpen
}

// only is what of a decoded text the named fields are.
func only(w *wanted, doc any) any {
	switch v := doc.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			n := w.fields[name]
			if n == nil {
				continue
			}
			if kept := only(n, value); kept != gone {
				out[name] = kept
			}
		}
		if w.fields == nil {
			return gone
		}
		return out
	case []any:
		out := []any{}
		for _, value := range v {
			switch kept := only(w, value); {
			case kept != gone:
				out = append(out, kept)
			case w.text == 0 || !isText(value):
				out = append(out, nil)
			}
		}
		return out
	case string:
		if w.text == 0 || len(v) > w.text {
			return gone
		}
		return v
	}
	if w.text == 0 {
		return gone
	}
	return doc
}

func isText(v any) bool { _, is := v.(string); return is }

// gone stands for what is not let through.
var gone any = new(int)
