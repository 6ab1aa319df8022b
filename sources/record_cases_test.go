package sources_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// OC-22: refusals in a gateway's log are failures with their status, which makes no
// latency look better; a request that fell back to another model is one user's, from
// its first try on.
func TestOC22RefusalsAndFallbacksInALog(t *testing.T) {
	var page []struct {
		Status  int     `json:"status"`
		Latency float64 `json:"latency_s"`
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/throttled.json"), &page); err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, "litellm")
	for i, p := range page {
		r := litellm(fmt.Sprint("r", i), -60+float64(i), p.Latency)
		if p.Status != 200 {
			r.text = fmt.Sprintf(`%s,"status":"failure","metadata":{"error_information":{"error_code":"%d"}}}`, r.text[:len(r.text)-1], p.Status)
		}
		g.write(r)
	}
	b, err := g.log(t).after(0)
	if err != nil || len(b.Requests) != 45 {
		t.Fatal(len(b.Requests), err)
	}
	var refused int
	for _, r := range b.Requests {
		if r.Status == 429 {
			refused++
			if r.Outcome != model.RequestFailed || r.Reason != "rejected" || r.FirstToken != 0 {
				t.Errorf("got %s", told(r))
			}
		}
	}
	if refused != 9 {
		t.Errorf("%d refused", refused)
	}

	g = newGateway(t, "bifrost")
	first, second := bifrost("root", -10, 2), bifrost("fallback", -8, 5)
	first.text = first.text[:len(first.text)-1] + `,"status":"error","error_details":{"status_code":429}}`
	second.text = second.text[:len(second.text)-1] + `,"parent_request_id":"root","fallback_index":1,"number_of_retries":1}`
	g.write(first, second)
	b, err = g.log(t).after(0)
	if err != nil || len(b.Requests) != 2 {
		t.Fatal(len(b.Requests), err)
	}
	if r := b.Requests[1]; r.RetryOf != "root" || r.Retries != 2 || r.Outcome != model.Completed || b.Requests[0].Status != 429 {
		t.Errorf("got %s after %s", told(r), told(b.Requests[0]))
	}
}

// OC-33: tokens that nobody counted are unknown, not 0.
func TestOC33TokensThatWereNotCounted(t *testing.T) {
	at := noon.Add(-5 * time.Second)
	for kind, tc := range map[string]struct {
		row    row
		tokens model.Reading
	}{
		"litellm":    {litellm("a", -5, 1), model.Of(20)},
		"bifrost":    {bifrost("a", -5, 1), model.Reading{}},
		"llama-swap": {row{at, `{"id":1,"timestamp":"` + at.Format(time.RFC3339) + `","resp_status_code":200,"duration_ms":100,"tokens":{"input_tokens":0,"output_tokens":0,"cache_tokens":0}}`}, model.Reading{}},
	} {
		g := newGateway(t, kind)
		rows := []row{tc.row}
		if kind == "litellm" { // it writes 0 for a stream without a usage record
			none := litellm("b", -5, 1)
			none.text = none.text[:len(none.text)-1] + `,"prompt_tokens":0,"completion_tokens":0}`
			cut := litellm("c", -5, 1) // a prompt of which nothing came of
			cut.text = cut.text[:len(cut.text)-1] + `,"completion_tokens":0}`
			rows = append(rows, none, cut)
		}
		g.write(rows...)
		b, err := g.log(t).after(0)
		if err != nil || len(b.Requests) != len(rows) {
			t.Fatal(kind, len(b.Requests), err)
		}
		of := func(id string) model.Reading {
			i := slices.IndexFunc(b.Requests, func(r model.Request) bool { return r.ID == id })
			return b.Requests[max(i, 0)].OutputTokens
		}
		if got := of("a"); got != tc.tokens {
			t.Errorf("%s: got %+v, want %+v", kind, got, tc.tokens)
		}
		if kind == "litellm" && (of("b") != model.Reading{} || of("c") != model.Of(0)) {
			t.Errorf("%s: got %+v, %+v", kind, of("b"), of("c"))
		}
	}
}
