package sources_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"slotop/sources"
)

// canned answers each question as a fake server did the first time it was asked, so
// that a benchmark measures the source and not the fake.
type canned struct {
	mu    sync.Mutex
	fake  *fakeProm
	known map[string][]byte
	now   time.Time // what its clock shows; the fake's stands still
	bytes int
}

// ServeHTTP implements http.Handler.
func (c *canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = r.ParseForm()
	query := cmp.Or(r.Form.Get("query"), r.URL.Path)
	body, ok := c.known[query]
	if !ok {
		rec := &recorded{header: http.Header{}}
		c.fake.ServeHTTP(rec, r)
		body = rec.body
		c.known[query] = body
	}
	c.bytes += len(body)
	stamp := func(t time.Time) []byte { return strconv.AppendInt(nil, t.Unix(), 10) }
	_, _ = w.Write(bytes.ReplaceAll(body, stamp(c.fake.now), stamp(c.now)))
}

type recorded struct {
	header http.Header
	body   []byte
}

func (k *recorded) Header() http.Header         { return k.header }
func (k *recorded) Write(b []byte) (int, error) { k.body = append(k.body, b...); return len(b), nil }
func (k *recorded) WriteHeader(int)             {}

// BenchmarkPrometheusRefresh is a refresh that asks for everything anew: of fleets of
// any size it costs the same, and reads as many bytes.
func BenchmarkPrometheusRefresh(b *testing.B) {
	for _, n := range []int{20, 200} {
		b.Run(fmt.Sprintf("%d replicas", n), func(b *testing.B) {
			c := &canned{fake: aFleet(n), known: map[string][]byte{}}
			c.now = c.fake.now
			web := serve(b, c.ServeHTTP)
			source := resolve(b, "prom+"+web.URL)[0].Source
			at, polls := time.Duration(0), 0
			refresh := func() {
				at += 15 * time.Second
				c.now = c.now.Add(15 * time.Second)
				source.(sources.Advancer).Advance(at)
				if _, err := source.Poll(b.Context()); err != nil {
					b.Fatal(err)
				}
				polls++
			}
			for range 30 {
				refresh()
			}
			c.bytes, polls = 0, 0
			b.ReportAllocs()
			for b.Loop() {
				refresh()
			}
			b.ReportMetric(float64(c.bytes)/float64(polls), "answered-B/op")
		})
	}
}

// BenchmarkPrometheusBetween is a poll between two scrapes, which asks nothing.
func BenchmarkPrometheusBetween(b *testing.B) {
	source := resolve(b, "prom+"+aFleet(20).serve(b).URL)[0].Source
	for at := time.Duration(0); at < 2*time.Second; at += time.Second {
		source.(sources.Advancer).Advance(at)
		if _, err := source.Poll(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := source.Poll(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
