package sources_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/expo"
)

// padded is a page of about that many bytes: the usual one, and a family with a
// series for each of very many users.
func padded(size int) string {
	var b strings.Builder
	b.WriteString(enginePage + "# TYPE of_users gauge\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "of_users{user=\"%d\"} 1\n", i)
	}
	return b.String()
}

// sampleTexts are what a batch says, in order, and what is said of it.
func sampleTexts(b model.Batch) []string {
	var all []string
	for _, s := range b.Samples {
		text := fmt.Sprint(s.Signal, s.Labels)
		if s.Hist != nil {
			text += fmt.Sprint(*s.Hist)
		} else {
			text += fmt.Sprint(" ", s.Value)
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return append(all, fmt.Sprint(b.About.Engine, b.About.Version, b.About.Models, b.About.Missing, b.About.Notes, b.BadLines, b.Dropped))
}

// However large a page is, it says the same.
func TestLargePagesSayTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	sizes := []int{0, 6 << 20, 3 << 20, 5 << 20, 1 << 20, 1 << 20, 6 << 20}
	var want []string
	same := func(t *testing.T, i int, b model.Batch, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
		got := sampleTexts(b)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("page %d of %d bytes says\n%s\nwant\n%s", i, sizes[i], strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for name, zip := range map[string]bool{"plain": false, "gzip": true} {
		t.Run(name, func(t *testing.T) {
			page := ""
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if !zip {
					_, _ = io.WriteString(w, page)
					return
				}
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(zipped(page))
			})
			source := resolve(t, s.URL)[0].Source
			for i, size := range sizes {
				page = padded(size)
				b, err := source.Poll(t.Context())
				same(t, i, b, err)
			}
		})
	}
	t.Run("saved", func(t *testing.T) {
		var bodies []string
		for _, size := range sizes {
			bodies = append(bodies, padded(size))
		}
		batches := 0
		opened := resolve(t, savedPages(t, bodies...)...)
		for ; ; batches++ {
			b, err := opened[0].Source.Poll(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			same(t, batches, b, err)
		}
		if batches != len(sizes) {
			t.Errorf("%d pages", batches)
		}
	})
}

// A crowd of workflows is in the batch, each with its own numbers, as some go and
// others come.
func TestCrowdOnALargePage(t *testing.T) {
	if testing.Short() {
		t.Skip("many megabytes, which the race detector reads for a minute; smaller ones are read elsewhere")
	}
	const n = 20_000
	page := func(poll int) string {
		var b strings.Builder
		b.WriteString(enginePage)
		for i := poll * n / 100; i < n+poll*n/100; i++ {
			for _, le := range []string{"0.1", "0.25", "+Inf"} {
				fmt.Fprintf(&b, "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=%q,model_name=\"w%d\"} %d\n", le, i, i+poll)
			}
			fmt.Fprintf(&b, "vllm:time_to_first_token_seconds_sum{engine=\"0\",model_name=\"w%d\"} %d\n", i, i)
		}
		return b.String()
	}
	poll := 0
	source := resolve(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page(poll)) }).URL)[0].Source
	for ; poll < 20; poll++ {
		b, err := source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hists, requests := 0, 0.0
		for _, s := range b.Samples {
			if s.Hist != nil && s.Labels.Get(model.LabelModel) != "m" {
				hists, requests = hists+1, requests+s.Hist.N()
			}
		}
		first := float64(poll * n / 100)
		if want := n*(first+float64(poll)) + n*(n-1)/2; hists != n || requests != want || running(t, b) != 4 {
			t.Fatalf("poll %d: %d histograms with %v requests, want %v", poll, hists, requests, want)
		}
		if b.About.Engine != "vllm" || b.Dropped != 0 {
			t.Fatalf("about %+v", b.About)
		}
	}
}

func TestLargeBodiesThatAreNoPages(t *testing.T) {
	comment := strings.Repeat("# a comment that says nothing\n", 200_000)
	for _, tc := range []struct {
		name   string
		answer http.HandlerFunc
		kind   model.FaultKind
		detail string
	}{
		{"longer than the limit", reply(padded(0) + comment), model.Oversized, "larger than 5242880 bytes"},
		{"text", reply(strings.Repeat("some text that is none\n", 200_000)), model.NotMetrics, "not a metrics page but text"},
		{"a document of another kind", reply(`{"a":"` + strings.Repeat("x", 5_000_000) + `"}`), model.NotMetrics, "not a metrics page but json"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5200000")
			_, _ = io.WriteString(w, comment[:5_000_000])
		}, model.Malformed, "cut off after 5000000 bytes"},
		{"a broken compression", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			whole := zipped(comment[:5_000_000])
			_, _ = w.Write(whole[:len(whole)-20])
		}, model.Malformed, "cut off after "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := pollOne(t, serve(t, tc.answer).URL+"/metrics", sources.Options{Limits: expo.Limits{Body: 5 << 20}})
			wantFault(t, err, tc.kind, tc.detail)
		})
	}
	t.Run("a page that looks like a document at first", func(t *testing.T) {
		b, err := pollOne(t, serve(t, reply("{\"vllm:num_requests_running\",model_name=\"m\"} 7\n"+padded(5_000_000))).URL, sources.Options{})
		if err != nil || math.IsNaN(running(t, b)) {
			t.Errorf("got %v", err)
		}
	})
}

// What no dialect claims is named all the same.
func TestCrowdThatNobodyKnows(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "istio_requests_total{user=\"somebody-%d\",team=\"a\"} 1\n", i)
	}
	got, err := pollOne(t, serve(t, reply(b.String())).URL, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if note := strings.Join(got.About.Notes, "\n"); !strings.Contains(note, "it looks like Istio (100000 series, such as istio_requests_total)") {
		t.Errorf("notes %q", note)
	}
}
