package sources

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// stream of n events of m requests each with the fields of a real one.
func manyEvents(n int, sse bool) []byte {
	var b bytes.Buffer
	for i := range n {
		if sse {
			fmt.Fprintf(&b, "id: %d\nevent: request\ndata: ", i+1)
		}
		fmt.Fprintf(&b, `{"v":1,"seq":%d,"at":"2026-08-01T12:%02d:%02d.%03dZ","id":"r-%07d","phase":"done","workflow":"checkout-assistant","model":"llama-70b","model_version":"2026-07-14","stream":true,"queued_at":"2026-08-01T12:00:00.010Z","admitted_at":"2026-08-01T12:00:00.031Z","context_ready_at":"2026-08-01T12:00:00.094Z","instance":"vllm-2","input_tokens":1834,"cached_input_tokens":1024,"first_token_at":"2026-08-01T12:00:00.301Z","completed_at":"2026-08-01T12:00:02.511Z","output_tokens":107,"outcome":"completed","status":200,"retries":0,"labels":{"team":"shop"}}`+"\n",
			i+1, i/60000%60, i/1000%60, i%1000, i/4)
		if sse {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// BenchmarkEvents reads a stream as a target does, and reports events per second
// and allocations for each: its ID is the one there must be.
func BenchmarkEvents(b *testing.B) {
	for _, form := range []string{"lines", "sse"} {
		b.Run(form, func(b *testing.B) {
			const n = 20_000
			text := manyEvents(n, form == "sse")
			w, g := newWire([]string{"team"}), &gathering{}
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				for rest := text; len(rest) > 0; {
					k := copy(w.inbox.room(), rest)
					w.inbox.came(k)
					rest = rest[k:]
					g.draw(w)
				}
				batch, err := g.take()
				if events += len(batch.Requests); err != nil || len(batch.Requests) != n || batch.BadLines > 0 {
					b.Fatal(len(batch.Requests), batch.FirstBad, err)
				}
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkPlayedFile is a file in order, played.
func BenchmarkPlayedFile(b *testing.B) {
	const n = 20_000
	path := filepath.Join(b.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, manyEvents(n, false), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		p, err := newPlayed(b.Context(), path, nil)
		if err != nil {
			b.Fatal(err)
		}
		batch, err := p.Poll(b.Context())
		if events += len(batch.Requests); err != nil || len(batch.Requests) != n {
			b.Fatal(len(batch.Requests), err)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
