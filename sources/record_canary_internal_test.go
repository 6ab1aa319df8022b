package sources

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model"
)

// hostile is a file of records with a prompt in every field that may hold one.
func hostile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "canary", name))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(canary)) {
		t.Fatalf("there is no prompt in %s", name)
	}
	return text
}

// clean reports whether buffers are without a prompt, to their very ends.
func clean(t *testing.T, what string, buffers map[string][]byte) {
	t.Helper()
	for where, b := range buffers {
		if bytes.Contains(b[:cap(b)], []byte("CANARY")) {
			t.Errorf("%s: a prompt is left in the %s", what, where)
		}
	}
}

func (r *recordReader) buffers() map[string][]byte {
	return map[string][]byte{"outer text": r.outer.scratch, "inner text": r.inner.scratch, "name": r.buf}
}

// What has been read of records is gone from every buffer, whether it was of use or not.
func TestNothingOfARecordStays(t *testing.T) {
	for name, opt := range map[string][]string{"lines.jsonl": nil, "portkey.sse": {"prompt"}} {
		for _, size := range []int{3, 700, 1 << 20} {
			w := newWire(opt)
			got := feed(w, hostile(t, name), size)
			if len(got) < 5 || strings.Contains(strings.Join(got, " "), "CANARY") {
				t.Errorf("%s: got %q", name, got)
			}
			clean(t, name, map[string][]byte{"inbox": w.inbox.buf, "data": w.framer.data, "own text": w.decoder.text.scratch})
			clean(t, name, w.decoder.lines.buffers())
		}
	}
}

func TestNothingOfAStreamStays(t *testing.T) {
	thinned := thin(io.NopCloser(bytes.NewReader(hostile(t, "portkey.sse"))))
	w, read := newWire(nil), 0
	for {
		n, err := thinned.Read(w.inbox.room())
		w.inbox.came(n)
		if bytes.Contains(w.inbox.buf, []byte("apiKey")) {
			t.Fatal("a record reached the wire as it was")
		}
		for m, why, ok := w.next(); ok; m, why, ok = w.next() {
			if why == "" && m.of == ofRequest {
				read++
			}
		}
		if err != nil {
			break
		}
	}
	if read != 4 {
		t.Errorf("%d requests", read)
	}
	clean(t, "thinned", map[string][]byte{"buffer": thinned.buf, "rest": thinned.out, "head": thinned.head, "sieve": thinned.sieve.out, "key": thinned.sieve.key})
}

func TestNothingOfALogStays(t *testing.T) {
	for name, how := range map[string]*logFormat{"litellm.json": &litellmLog, "bifrost.json": &bifrostLog, "llama-swap.json": &llamaswapLog} {
		s := newRecordLog(&asked{request: request(t, "http://gateway"+how.paths[0])}, how, "", how.paths, Options{Keep: []string{"team"}})
		var given []model.Request
		p, err := s.read(bytes.NewReader(hostile(t, name)), func(m *message, why string, _ uint64) {
			if given = append(given, m.Request); why != "" || strings.Contains(why, "CANARY") {
				t.Errorf("%s: %s", name, why)
			}
		})
		if err != nil || p.rows != len(given) || p.rows == 0 {
			t.Fatal(name, p, err)
		}
		for _, text := range []string{`{"data":["` + canary, `"` + canary + `"`, canary, `{"logs":[{"id":"` + canary} {
			if p, err := s.read(strings.NewReader(text), nil); err == nil && p.found || err != nil && strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%s: %v", name, err)
			}
		}
		clean(t, name, map[string][]byte{"buffer": s.buf, "sieve": s.sieve.out, "key": s.sieve.key})
		clean(t, name, s.reader.buffers())
	}
}

func request(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
