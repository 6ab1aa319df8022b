package sources

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"slotop/sources/sourcetest/shared"
)

// FuzzStats: whatever comes is read to its end or refused, and what is handed on
// is such that nobody behind has to check it again.
func FuzzStats(f *testing.F) {
	for _, group := range []string{
		`{"workflow":"w","model":"m","now":{"queued":1},"total":{"received":3,"failed":2},"failed_by":{"x":2},"latency":{"ttft":{"le":[1,2],"cumulative":[2,3],"count":4,"sum":1}}}`,
		`{"workflow":"w","latency":{"ttft":{"le":[2,1],"cumulative":[2,3],"count":2},"e2e":{"quantiles":{"0.5":1}}}},{"workflow":"w","latency":{"ttft":{"le":[1],"cumulative":[2],"count":2}}}`,
	} {
		f.Add([]byte(`{"schema":"llm-gateway-stats/1","generated_at":"2026-08-01T12:00:00Z","groups":[`+group+`]}`), []byte(`{"schema":"llm-gateway-stats/1"}`))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := newStats([]string{"team"})
		for _, body := range [][]byte{first, second, first} {
			valid := json.Valid(body)
			b, err := s.read(bytes.Clone(body))
			if err == nil && !valid {
				t.Fatalf("%q is no JSON", body)
			}
			if err != nil && len(b.Samples) > 0 {
				t.Fatalf("%q: samples beside %v", body, err)
			}
			seen := map[sampleID]bool{}
			for _, sample := range b.Samples {
				if id := (sampleID{sample.Signal, sample.Labels}); seen[id] || sample.Value < 0 {
					t.Fatalf("%q: %+v", body, sample)
				} else {
					seen[id] = true
				}
				h := sample.Hist
				if h != nil && (len(h.Counts) != len(h.Bounds)+1 || !slices.IsSorted(h.Counts) || !slices.IsSorted(h.Bounds)) {
					t.Fatalf("%q: %+v", body, h)
				}
			}
		}
	})
}

// A document that is read, or refused as one, is gone from its buffer.
func TestStatsBodiesAreWiped(t *testing.T) {
	for _, tail := range []string{"", "x"} {
		body := append(shared.File(t, "corpus/gateways/proposed/stats.json"), tail...)
		if _, err := newStats(nil).read(body); (err != nil) != (tail != "") || errors.Is(err, errNoStats) {
			t.Fatal(err)
		}
		if len(bytes.Trim(body, "\x00")) > 0 {
			t.Error("it is still there")
		}
	}
}
