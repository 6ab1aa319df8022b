package spell

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"ttft", "tpot", "queue", "first_answer", "x"}
	for word, want := range map[string]string{
		"tftt":        "ttft", // two letters that changed places are two changes
		"TPOT":        "tpot",
		"tpt":         "tpot",
		"queues":      "queue",
		"first_anser": "first_answer",
		"first":       "",
		"tp":          "", // as far from a word as it is long
		"y":           "", // likewise
		"":            "", // nothing was meant
		"t?ot":        "tpot",
		"ttot":        "ttft", // the first of two that are as near
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// The distance is one of the metrics: symmetric, and 0 for equal words only.
func FuzzChanges(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := changes(a, b)
		if d != changes(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
			t.Errorf("%q and %q: %d, %d", a, b, d, changes(b, a))
		}
	})
}
