package sources_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// document is a stats document with the given groups.
func document(groups ...string) string {
	return `{"schema":"llm-gateway-stats/1","generated_at":"2026-08-01T12:00:00Z","epoch":"e","groups":[` + strings.Join(groups, ",") + `]}`
}

// pollStats polls a server that gives out the documents in turn.
func pollStats(t *testing.T, opt sources.Options, documents ...string) []model.Batch {
	t.Helper()
	n := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(documents[min(n, len(documents)-1)]))
		n++
	})
	opened, err := sources.Resolve(t.Context(), []string{"stats+" + s.URL + "/stats"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sources.CloseAll(opened) }()
	var all []model.Batch
	for range documents {
		b, err := opened[0].Source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.Samples = slices.Clone(b.Samples)
		all = append(all, b)
	}
	return all
}

// samplesOf lists samples, and reported windows, one a line in order.
func samplesOf(b model.Batch, but ...model.Signal) string {
	var lines []string
	for _, s := range b.Samples {
		if slices.Contains(but, s.Signal) {
			continue
		}
		value := strconv.FormatFloat(s.Value, 'f', -1, 64)
		if h := s.Hist; h != nil {
			value = fmt.Sprintf("n %v, sum %v, %v %v", h.N(), sum(h.Sum), h.Bounds, h.Counts)
		}
		lines = append(lines, fmt.Sprintf("%s%s %s", s.Signal, s.Labels, value))
	}
	for _, r := range b.Reported {
		lines = append(lines, fmt.Sprintf("reported %s%s %v over %v s, n %v", r.Signal, r.Labels, r.Quantiles, sum(r.WindowS), sum(r.Count)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func sum(r model.Reading) string {
	if !r.OK() {
		return "unknown"
	}
	return strconv.FormatFloat(r.Value, 'g', -1, 64)
}

func wantSamples(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimSpace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func notes(b model.Batch) string { return strings.Join(b.About.Notes, "; ") }

func TestStatsDocument(t *testing.T) {
	files := func(name string) string { return string(shared.File(t, "corpus/gateways/proposed/"+name)) }
	all := pollStats(t, sources.Options{Keep: []string{"team"}}, files("stats.json"), files("stats-after-restart.json"), files("stats-minimal.json"))
	wantSamples(t, samplesOf(all[0], model.Queue, model.TTFT, model.TPOT, model.E2E), `
cached_prompt_tokens{model=llama-70b,team=shop,workflow=checkout-assistant} 1502208
output_tokens{model=llama-70b,team=data,workflow=nightly-summaries} 129402
output_tokens{model=llama-70b,team=shop,workflow=checkout-assistant} 262140
output_tokens{model=qwen3-32b,workflow=support-rag} 21902
process_start_seconds{} 1785582122.9
prompt_tokens{model=llama-70b,team=data,workflow=nightly-summaries} 4012873
prompt_tokens{model=llama-70b,team=shop,workflow=checkout-assistant} 3188211
prompt_tokens{model=qwen3-32b,workflow=support-rag} 402118
reported tpot_seconds{model=qwen3-32b,workflow=support-rag} [{0.5 0.0121} {0.95 0.0163} {0.99 0.021}] over 60 s, n 12
reported ttft_seconds{model=qwen3-32b,workflow=support-rag} [{0.5 0.141} {0.95 0.402} {0.99 0.611}] over 60 s, n 12
requests_cancelled{model=llama-70b,reason=client_disconnect,team=shop,workflow=checkout-assistant} 9
requests_cancelled{model=llama-70b,reason=deadline,team=shop,workflow=checkout-assistant} 2
requests_cancelled{model=llama-70b,reason=user,team=shop,workflow=checkout-assistant} 3
requests_cancelled{model=llama-70b,team=data,workflow=nightly-summaries} 1
requests_cancelled{model=qwen3-32b,workflow=support-rag} 2
requests_failed{model=llama-70b,reason=rejected,team=data,workflow=nightly-summaries} 6
requests_failed{model=llama-70b,reason=rejected,team=shop,workflow=checkout-assistant} 3
requests_failed{model=llama-70b,reason=timeout,team=shop,workflow=checkout-assistant} 3
requests_failed{model=llama-70b,reason=upstream_5xx,team=data,workflow=nightly-summaries} 3
requests_failed{model=llama-70b,reason=upstream_5xx,team=shop,workflow=checkout-assistant} 5
requests_failed{model=qwen3-32b,workflow=support-rag} 0
requests_finished{model=llama-70b,reason=length,team=data,workflow=nightly-summaries} 9
requests_finished{model=llama-70b,reason=length,team=shop,workflow=checkout-assistant} 21
requests_finished{model=llama-70b,reason=stop,team=data,workflow=nightly-summaries} 280
requests_finished{model=llama-70b,reason=stop,team=shop,workflow=checkout-assistant} 1150
requests_finished{model=qwen3-32b,reason=stop,workflow=support-rag} 84
requests_preparing_context{model=llama-70b,team=shop,workflow=checkout-assistant} 1
requests_queued_at_gateway{model=llama-70b,team=data,workflow=nightly-summaries} 7
requests_queued_at_gateway{model=llama-70b,team=shop,workflow=checkout-assistant} 1
requests_queued_at_gateway{model=qwen3-32b,workflow=support-rag} 0
requests_retried{model=llama-70b,team=data,workflow=nightly-summaries} 31
requests_retried{model=llama-70b,team=shop,workflow=checkout-assistant} 12
requests_started{model=llama-70b,team=data,workflow=nightly-summaries} 310
requests_started{model=llama-70b,team=shop,workflow=checkout-assistant} 1204
requests_started{model=qwen3-32b,workflow=support-rag} 88
requests_streaming{model=llama-70b,team=shop,workflow=checkout-assistant} 5
requests_streaming{model=qwen3-32b,workflow=support-rag} 2
requests_waiting_for_model{model=llama-70b,team=data,workflow=nightly-summaries} 4
requests_waiting_for_model{model=llama-70b,team=shop,workflow=checkout-assistant} 1
`)
	for _, s := range all[0].Samples {
		if s.Signal == model.TTFT && (s.Hist.N() != 1171 || len(s.Hist.Bounds) != 13 || s.Hist.Counts[3] != 702 || sum(s.Hist.Sum) != "397.206") {
			t.Errorf("got %+v", s.Hist)
		}
	}
	a := all[0].About
	if a.Engine != "examplegw" || a.Version != "1.4.0" || strings.Join(a.Models, " ") != "llama-70b qwen3-32b" || len(a.Missing) != 0 ||
		notes(all[0]) != "reported by the gateway edge, instance edge-0" || all[0].Epoch != "edge-0/2026-08-01T11:02:02.900Z" {
		t.Errorf("got %+v, epoch %s", a, all[0].Epoch)
	}
	if len(a.Meanings) != 16 || a.Meanings[5] != (model.Meaning{Signal: model.Finished, Metric: "total.completed + total.output_limit"}) {
		t.Errorf("got %+v", a.Meanings)
	}
	if got := all[1].Epoch; got != "edge-0/2026-08-01T12:01:01.000Z" {
		t.Errorf("got epoch %s", got)
	}
	// The reasons of before the restart are still there: the totals hold.
	if got := samplesOf(all[1]); !strings.Contains(got, "requests_cancelled{model=llama-70b,team=shop,workflow=checkout-assistant} 0\n") || strings.Contains(got, "reason=user") {
		t.Errorf("after the restart:\n%s", got)
	}
	want := "reported by the gateway edge, instance edge-0; what ended or is in flight does not add up to what was received in 2 groups, such as checkout-assistant" +
		"; cancelled_by does not add up to cancelled in checkout-assistant; failed_by does not add up to failed in 2 groups, such as checkout-assistant"
	if got := notes(all[1]); got != want {
		t.Errorf("got %s", got)
	}
	if len(all[2].Samples) > 0 || notes(all[2]) != "the gateway has no group of requests yet" || all[2].Epoch != "" {
		t.Errorf("got %+v", all[2])
	}
}

// Rule 1: what is missing or null is unknown, never 0. So is what cannot be.
func TestStatsUnknownIsNotZero(t *testing.T) {
	for _, group := range []string{
		`{"workflow":"w"}`,
		`{"workflow":"w","model":null,"now":null,"total":null,"latency":null,"labels":null,"cancelled_by":null}`,
		`{"workflow":"w","now":{"queued":null},"total":{"received":null,"completed":null},"latency":{"ttft":null,"tpot":{}},"failed_by":{"user":null}}`,
		`{"workflow":"w","now":[],"total":"x","latency":7,"labels":[],"cancelled_by":3}`,
		`{"workflow":"w","now":{"queued":-1,"streaming":1.5},"total":{"received":"5","completed":-3,"failed":1e400,"input_tokens":0.5}}`,
		`{"workflow":"w","latency":{"ttft":{"le":[1],"cumulative":[5]},"tpot":{"quantiles":{"0.5":null,"x":1,"2":1,"0.9":-1}},"e2e":{"sum":3}}}`,
	} {
		b := pollStats(t, sources.Options{}, document(group))[0]
		if len(b.Samples)+len(b.Reported)+b.BadLines > 0 || len(b.About.Missing) != 16 {
			t.Errorf("%s:\n%s\n%v", group, samplesOf(b), b.About.Missing)
		}
	}
	b := pollStats(t, sources.Options{}, document(`{"model":"m","now":{"queued":0},"total":{"failed":0,"received":12.0},"latency":{"e2e":{"count":3}}}`))[0]
	wantSamples(t, samplesOf(b), `
e2e_seconds{model=m} n 3, sum unknown, [] [3]
requests_failed{model=m} 0
requests_queued_at_gateway{model=m} 0
requests_started{model=m} 12
`)
}

// Rule 3: what restarted begins anew; what is only gone stands still, so that no
// sum seems to fall.
func TestStatsRestarts(t *testing.T) {
	group := func(route string, received int) string {
		return fmt.Sprintf(`{"workflow":"w","labels":{"route":%q},"now":{"queued":1},"total":{"received":%d},"latency":{"ttft":{"le":[1],"cumulative":[%d],"count":%d}}}`, route, received, received, received)
	}
	at := func(epoch, started string, groups ...string) string {
		return strings.Replace(document(groups...), `"epoch":"e"`, fmt.Sprintf(`"epoch":%q,"started_at":%q`, epoch, started), 1)
	}
	const early, late = "2026-08-01T11:00:00Z", "2026-08-01T12:00:00Z"
	all := pollStats(t, sources.Options{},
		at("e", early, group("a", 100), group("b", 50)),
		at("e", early, group("b", 55)),
		at("e", early, group("c", 5), group("b", 60)),
		at("e", early, group("b", 3), group("c", 1)),
		at("f", early, group("a", 2)),
		at("f", late, group("b", 4)),
	)
	for i, want := range []string{"150 2", "155 1", "165 2", "4 2", "2 1", "4 1"} {
		var started, ttft, queued float64
		for _, s := range all[i].Samples {
			switch s.Signal {
			case model.Started:
				started = s.Value
			case model.TTFT:
				ttft = s.Hist.N()
			case model.AtGateway:
				queued = s.Value
			}
		}
		if got := fmt.Sprint(started, queued); got != want || ttft != started {
			t.Errorf("document %d: got %s and %v first tokens, want %s", i, got, ttft, want)
		}
	}
}

// Rule 4: what does not add up is said, and nothing is put right.
func TestStatsInvariant(t *testing.T) {
	group := func(received string) string {
		return `{"workflow":"w","now":{"queued":1,"tool_call":2},"total":{"received":` + received + `,"completed":3,"output_limit":1,"cancelled":1,"failed":1}}`
	}
	for received, want := range map[string]string{
		"9": "", "8": "what ended or is in flight does not add up to what was received in w", "null": "",
	} {
		b := pollStats(t, sources.Options{}, document(group(received)))[0]
		if notes(b) != want {
			t.Errorf("received %s: got %s", received, notes(b))
		}
		if received == "8" && !strings.Contains(samplesOf(b), "requests_started{workflow=w} 8") {
			t.Errorf("got\n%s", samplesOf(b))
		}
	}
	b := pollStats(t, sources.Options{}, document(`{"workflow":"w","total":{"received":9,"completed":1}}`))[0]
	if notes(b) != "" {
		t.Errorf("a part that is unknown: %s", notes(b))
	}
}

// Reasons stand in for their total where they add up to it, until a restart.
func TestStatsReasons(t *testing.T) {
	failed := func(total, by string) string {
		return document(`{"workflow":"w","total":{"failed":` + total + `},"failed_by":` + by + `}`)
	}
	all := pollStats(t, sources.Options{},
		failed("0", "null"), failed("2", `{"timeout":2}`), failed("4", `{"timeout":2,"internal":1}`), failed("5", "null"),
		strings.Replace(failed("3", `{"timeout":1}`), `"e"`, `"f"`, 1), strings.Replace(failed("4", `{"timeout":4}`), `"e"`, `"f"`, 1),
		strings.Replace(failed("null", `{"timeout":4}`), `"e"`, `"g"`, 1))
	for i, want := range []string{
		"requests_failed{workflow=w} 0",
		"requests_failed{reason=timeout,workflow=w} 2",
		"requests_failed{reason=internal,workflow=w} 1\nrequests_failed{reason=timeout,workflow=w} 2",
		"",
		"requests_failed{workflow=w} 3",
		"requests_failed{workflow=w} 4",
		"requests_failed{reason=timeout,workflow=w} 4",
	} {
		if got := samplesOf(all[i]); got != want {
			t.Errorf("document %d: got\n%s\nwant\n%s", i, got, want)
		}
	}
	if got := notes(all[2]); got != "failed_by does not add up to failed in w" {
		t.Errorf("got %s", got)
	}
}

// Rule 5: a latency is a histogram or a window; one that contradicts itself
// leaves its mean.
func TestStatsLatencies(t *testing.T) {
	for _, tc := range []struct{ latency, want, note string }{
		{`{"le":[0.1,1],"cumulative":[2,5],"count":7,"sum":3.5}`, "ttft_seconds{workflow=w} n 7, sum 3.5, [0.1 1] [2 5 7]", ""},
		{`{"le":[],"cumulative":[],"count":0,"sum":0}`, "ttft_seconds{workflow=w} n 0, sum 0, [] [0]", ""},
		{`{"le":[0.1,1],"cumulative":[2],"count":7,"sum":3.5}`, "ttft_seconds{workflow=w} n 7, sum 3.5, [] [7]", "w"},
		{`{"le":[1,0.1],"cumulative":[2,5],"count":7}`, "ttft_seconds{workflow=w} n 7, sum unknown, [] [7]", "w"},
		{`{"le":[0.1,1],"cumulative":[5,2],"count":7}`, "ttft_seconds{workflow=w} n 7, sum unknown, [] [7]", "w"},
		{`{"le":[0.1,1],"cumulative":[2,9],"count":7}`, "ttft_seconds{workflow=w} n 7, sum unknown, [] [7]", "w"},
		{`{"le":[0.1,"1"],"cumulative":[2,5],"count":7}`, "ttft_seconds{workflow=w} n 7, sum unknown, [] [7]", "w"},
		{`{"le":[-1,1],"cumulative":[2,5],"count":7}`, "ttft_seconds{workflow=w} n 7, sum unknown, [] [7]", "w"},
		{`{"le":[0.1,1],"cumulative":[2,5]}`, "", "w"},
		{`{"quantiles":{"0.95":0.4,"0.5":0.1},"window_s":60,"count":12}`, "reported ttft_seconds{workflow=w} [{0.5 0.1} {0.95 0.4}] over 60 s, n 12", ""},
		{`{"quantiles":{"0.5":0.1}}`, "reported ttft_seconds{workflow=w} [{0.5 0.1}] over unknown s, n unknown", ""},
	} {
		b := pollStats(t, sources.Options{}, document(`{"workflow":"w","latency":{"ttft":`+tc.latency+`}}`))[0]
		wantSamples(t, samplesOf(b), tc.want)
		want := tc.note
		if want != "" {
			want = "a latency's buckets contradict themselves and are left out in " + want
		}
		if notes(b) != want {
			t.Errorf("%s: got %q", tc.latency, notes(b))
		}
	}
}

// Groups that differ only in what no workflow matches on are added up; windows
// never are.
func TestStatsGroupsAreAddedUp(t *testing.T) {
	group := func(version, team string, n int, bounds string) string {
		return fmt.Sprintf(`{"workflow":"w","model":"m","model_version":%q,"labels":{"team":%q},"now":{"queued":%d},"total":{"received":%d,"completed":%d},`+
			`"latency":{"e2e":{"le":%s,"cumulative":[%d,%d],"count":%d,"sum":%d},"ttft":{"quantiles":{"0.5":%d}}}}`,
			version, team, n, 10*n, 5*n, bounds, n, 2*n, 5*n, n, n)
	}
	doc := document(group("1", "a", 1, "[1,2]"), group("2", "a", 2, "[1,2]"), group("2", "b", 3, "[1,4]"), group("2", "b", 4, "[1,2]"))
	wantSamples(t, samplesOf(pollStats(t, sources.Options{}, doc, doc)[1]), `
e2e_seconds{model=m,workflow=w} n 50, sum 10, [1] [10 50]
reported ttft_seconds{model=m,workflow=w} [{0.5 1}] over unknown s, n unknown
reported ttft_seconds{model=m,workflow=w} [{0.5 2}] over unknown s, n unknown
reported ttft_seconds{model=m,workflow=w} [{0.5 3}] over unknown s, n unknown
reported ttft_seconds{model=m,workflow=w} [{0.5 4}] over unknown s, n unknown
requests_finished{model=m,reason=stop,workflow=w} 50
requests_queued_at_gateway{model=m,workflow=w} 10
requests_started{model=m,workflow=w} 100
`)
	got := samplesOf(pollStats(t, sources.Options{Keep: []string{"team", "workflow"}}, doc)[0], model.E2E)
	for _, want := range []string{"requests_started{model=m,team=a,workflow=w} 30", "requests_started{model=m,team=b,workflow=w} 70"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// Rule 6: unknown keys are ignored, names replaced, all bounded. Rule 7: no text
// of a prompt enters.
func TestStatsBounds(t *testing.T) {
	const canary = "SECRET-PROMPT-CANARY"
	hostile := `{"workflow":"\u001b[2Jchat","model":"` + strings.Repeat("m", 5000) + `","prompt":"` + canary + `","labels":{"prompt":"` + canary + `","team":"a\u202eb"},` +
		`"total":{"received":1,"` + canary + `":2},"latency":{"x":{"sum":1}},"messages":[{"content":"` + canary + `"}]}`
	text := strings.Replace(document(hostile, `{"labels":{}}`, `7`), `"epoch"`, `"last_prompt":"`+canary+`","gateway":{"name":"`+canary[:6]+`\n","key":"`+canary+`"},"epoch"`, 1)
	b := pollStats(t, sources.Options{Keep: []string{"team"}}, text)[0]
	if all := fmt.Sprintf("%+v %+v", b, *b.About); strings.Contains(all, "CANARY") {
		t.Errorf("the prompt is in %s", all)
	}
	if len(b.Samples) != 1 || b.Samples[0].Labels.Get("workflow") != "␛[2Jchat" || b.Samples[0].Labels.Get("team") != "a<U+202E>b" || len(b.Samples[0].Labels.Get("model")) > 256 {
		t.Errorf("got %s", samplesOf(b))
	}
	if b.BadLines != 2 || b.FirstBad != "2 of the groups are skipped: neither workflow nor model" {
		t.Errorf("got %d, %s", b.BadLines, b.FirstBad)
	}
	for _, n := range b.About.Notes {
		checkForeignText(t, n)
	}
	var groups []string
	for i := range 2100 {
		groups = append(groups, fmt.Sprintf(`{"workflow":"w%d","total":{"received":1}}`, i))
	}
	b = pollStats(t, sources.Options{}, document(groups...))[0]
	if len(b.Samples) != 2000 || b.Dropped != 100 || notes(b) != "100 groups or reasons more than can be read" {
		t.Errorf("%d samples, %d dropped, %s", len(b.Samples), b.Dropped, notes(b))
	}
}

func TestWordsForStats(t *testing.T) {
	good := document(`{"workflow":"w","total":{"received":1}}`)
	for _, tc := range []struct {
		name, body string
		kind       model.FaultKind
		says       string
	}{
		{"HTML", "<html>", model.NotMetrics, "not a stats document: no JSON object with the schema llm-gateway-stats/1: check the path"},
		{"another JSON", `{"error":"SECRET"}`, model.NotMetrics, "not a stats document"},
		{"a list", `[` + good + `]`, model.NotMetrics, "not a stats document"},
		{"another schema", `{"schema":7}`, model.NotMetrics, "not a stats document"},
		{"a metrics page", enginePage, model.NotMetrics, "not a stats document"},
		{"another version", strings.Replace(good, "stats/1", "stats/2", 1), model.UnsupportedPage, "of another version: llm-gateway-stats/1 can be read"},
		{"cut", good[:len(good)-9], model.Malformed, "not JSON to its end: it may have been cut off"},
		{"more after it", good + "x", model.Malformed, "not JSON to its end"},
		{"without its time", strings.Replace(good, "generated_at", "made_at", 1), model.Malformed, "no generated_at"},
		{"at no time", strings.Replace(good, "2026-08-01T", "yesterday ", 1), model.Malformed, "no generated_at"},
		{"without groups", strings.Replace(good, `"groups":[`, `"parts":[`, 1), model.Malformed, "no groups"},
		{"groups that are none", `{"schema":"llm-gateway-stats/1","generated_at":"2026-08-01T12:00:00Z","groups":{}}`, model.Malformed, "no groups"},
		{"too large", strings.Replace(good, `"epoch"`, `"x":"`+strings.Repeat("x", 8<<20)+`","epoch"`, 1), model.Oversized, "larger than 8388608 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := pollOne(t, "stats+"+serve(t, reply(tc.body)).URL, sources.Options{})
			wantFault(t, err, tc.kind, tc.says)
			checkForeignText(t, err.Error())
		})
	}
	t.Run("no such path", func(t *testing.T) {
		_, err := pollOne(t, "stats+"+serve(t, status(http.StatusNotFound, "")).URL+"/x", sources.Options{})
		wantFault(t, err, model.NotFound, "404 at /x: no such path: give the whole address")
	})
	t.Run("a key", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+longSecret {
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = w.Write([]byte(good))
		})
		_, err := pollOne(t, "stats+"+s.URL, sources.Options{})
		wantFault(t, err, model.Denied, "401: needs a key")
		opt := sources.Options{HTTP: &config.HTTPClientConfig{Authorization: &config.Authorization{Credentials: longSecret}}}
		if b, err := pollOne(t, "stats+"+s.URL, opt); err != nil || len(b.Samples) != 1 {
			t.Errorf("got %+v, %v", b, err)
		}
	})
}

// A stats document is known for one wherever it turns up.
func TestStatsDocumentsElsewhere(t *testing.T) {
	good := document(`{"workflow":"w","total":{"received":5}}`)
	t.Run("behind an address", func(t *testing.T) {
		opened := resolve(t, serve(t, reply("\n "+good)).URL+"/stats")
		b, err := opened[0].Source.Poll(t.Context())
		if err != nil || samplesOf(b) != "requests_started{workflow=w} 5" || b.Epoch != "e" {
			t.Errorf("got %s, %v", samplesOf(b), err)
		}
	})
	t.Run("another JSON behind an address", func(t *testing.T) {
		_, err := pollOne(t, serve(t, reply(`{"status":"ok"}`)).URL+"/stats", sources.Options{})
		wantFault(t, err, model.NotMetrics, "not a metrics page but")
	})
	t.Run("saved", func(t *testing.T) {
		dir := t.TempDir()
		var args []string
		for name, text := range map[string]string{"1.json": good, "2.json": strings.Replace(good, "5", "7", 1), "3.prom": enginePage} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, filepath.Join(dir, name))
		}
		slices.Sort(args)
		opened := resolve(t, args...)
		if len(opened) != 2 || opened[0].Target.Kind != "gateway" || opened[1].Target.Kind != "engine" || !opened[0].Saved {
			t.Fatalf("got %+v", opened)
		}
		for _, want := range []string{"5", "7"} {
			b, err := opened[0].Source.Poll(t.Context())
			if err != nil || samplesOf(b) != "requests_started{workflow=w} "+want {
				t.Errorf("got %s, %v", samplesOf(b), err)
			}
		}
	})
}

// What is said of a gateway is said anew only where it changed.
func TestWhatIsSaidOfAGateway(t *testing.T) {
	one := document(`{"workflow":"w","total":{"received":5}}`)
	all := pollStats(t, sources.Options{}, one, strings.Replace(one, "5", "6", 1), document(`{"workflow":"w","total":{"received":7,"failed":1}}`))
	if all[0].About != all[1].About || all[1].About == all[2].About || len(all[2].About.Missing) != 14 {
		t.Errorf("got %+v", all[2].About)
	}
}
