package sources

import (
	"context"
	"errors"
	"math"
	"testing"

	"slotop/model"
	"slotop/sources/dialect"
)

// A poll that nobody waits for any more ends before the page is compiled, and
// the next one makes up for that.
func TestReadNoticesThatNobodyWaits(t *testing.T) {
	set, err := dialect.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(Options{Dialects: set})
	const first = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} 4\n"
	const more = first + "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 5\n"
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, body := range []string{first, more} {
		if _, err := p.read(over, []byte(body), math.NaN()); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		b, err := p.read(t.Context(), []byte(body), math.NaN())
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, s := range b.Samples {
			if s.Signal == model.Running {
				rows++
			}
		}
		if want := map[string]int{first: 1, more: 2}[body]; rows != want {
			t.Errorf("%d rows, want %d", rows, want)
		}
	}
}
