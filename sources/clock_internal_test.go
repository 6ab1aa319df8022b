package sources

import (
	"net/http"
	"testing"
	"time"

	"slotop/model"
)

func TestTellClock(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		header http.Header
		want   time.Time
	}{
		{"a date", http.Header{"Date": {"Sun, 01 Mar 2026 12:00:00 GMT"}}, noon.Add(500 * time.Millisecond)},
		{"none", http.Header{}, time.Time{}},
		{"nonsense", http.Header{"Date": {"noon"}}, time.Time{}},
		{"a cache's", http.Header{"Date": {"Sun, 01 Mar 2026 12:00:00 GMT"}, "Age": {"3600"}}, time.Time{}},
	} {
		var b model.Batch
		tellClock(&b, &http.Response{Header: c.header})
		if !b.Clock.Equal(c.want) || b.ClockError != 0 != !c.want.IsZero() {
			t.Errorf("%s: clock %v ± %v, want %v", c.name, b.Clock, b.ClockError, c.want)
		}
	}
}
