package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/sources/sim"
)

// staged is a tape of three minutes with two stages of the same name and one that wants
// to be obeyed.
func staged(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load: 1.tape")
	r := headless(t, "record", "-o", path, "--for", "180s", "--stage", "0s=calm", "--stage", "60s=20 users: more", "--stage", "120s=calm", "demo:S1?seed=7&at=60s&for=60s")
	if r.code != exitOK {
		t.Fatal(r.err)
	}
	return path
}

// TestCompareStages: stages of one tape by name and number, with blanks and colons in
// names of both kinds.
func TestCompareStages(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	t.Parallel()
	path := staged(t)
	r := headless(t, "compare", "--width", "100", path+":#1", path+":20 users: more")
	if r.code != exitOK || r.err != "" {
		t.Fatalf("%d: %s", r.code, r.err)
	}
	for _, want := range []string{
		"A  load: 1.tape:calm, from 2000-01-01 00:00:00 UTC, for 1 min 00 s", "B  load: 1.tape:20 users: more, from 2000-01-01 00:01:00 UTC", "! TTFT p50", "higher, worse",
		"~ cache hits", "noise", "differ by more than noise",
	} {
		says(t, "the comparison", r.out, want)
	}
	last := headless(t, "compare", "--width", "100", path)
	if last.code != exitOK || !strings.HasPrefix(last.out, "A  20 users: more, ") || !strings.Contains(last.out, "\nB  calm, ") {
		t.Errorf("the last two: %d %s%s", last.code, last.out, last.err)
	}
	headless(t, "compare", path+":calm", path+":#2").refuses(t, exitUsage, `has 2 stages called "calm"`, "#1", `#2 "20 users: more"`)
	headless(t, "compare", path+":#4", path+":#2").refuses(t, exitUsage, `has no stage "#4"`, `#3 "calm"`)
	for _, sides := range [][]string{{path + ":#1", path + ":#2"}, {path}} {
		headless(t, append([]string{"compare", "--for", "30s"}, sides...)...).refuses(t, exitUsage, "--for: a stage of", "ends where it was marked to")
	}
	headless(t, "compare", path+":nobody", path).refuses(t, exitUsage, `has no stage "nobody"`)
}

// TestCompareTapes: a whole tape is one stage, whatever was marked in it; without its
// warm-up and up to a time it is less.
func TestCompareTapes(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	t.Parallel()
	path, quiet := staged(t), recorded(t, "S0")
	var got struct {
		Schema string
		A, B   struct {
			Name    string
			LastedS float64 `json:"lasted_s"`
		}
		Compared int
	}
	r := headless(t, "compare", "-o", "json", "--skip-warmup", "30s", "--for", "150s", quiet, path)
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err, r.err)
	}
	if got.Schema != "slotop.compare/1" || got.A.Name != "S0.tape" || got.B.Name != "load: 1.tape" || got.A.LastedS != 120 || got.B.LastedS != 120 || got.Compared < 20 {
		t.Errorf("%+v", got)
	}
	says(t, "a comparison of the simulator", headless(t, "compare", quiet, path).out, "note  SIMULATED\n")
	headless(t, "compare", quiet, os.DevNull+".tape").refuses(t, exitUsage, os.DevNull+".tape: ")
	torn := filepath.Join(t.TempDir(), "torn.tape")
	if err := os.WriteFile(torn, []byte("SLOT"), 0o600); err != nil {
		t.Fatal(err)
	}
	headless(t, "compare", quiet, torn).refuses(t, exitFailed, "torn.tape: ")
	cold := "A and B begin with idle servers"
	if r := headless(t, "compare", quiet, quiet); r.code != exitOK || !strings.Contains(r.out, cold) {
		t.Errorf("%d %s, not told: %s", r.code, r.err, cold)
	}
	if r := headless(t, "compare", "--skip-warmup", "30s", quiet, quiet); r.code != exitOK || strings.Contains(r.out, "idle servers") {
		t.Errorf("%d %s, without the warm-up %s", r.code, r.err, r.out)
	}
	headless(t, "compare", "--skip-warmup", "10m", quiet, quiet).refuses(t, exitUsage, "S0.tape is not longer than the warm-up of 10 min 00 s")
	headless(t, "compare", quiet).refuses(t, exitUsage, "has 0 stages: name a second tape")
}

// TestCompareFailOn: the exit code of a load test in CI.
func TestCompareFailOn(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	t.Parallel()
	path := staged(t)
	calm, more := path+":#1", path+":#2"
	headless(t, "compare", "--fail-on", "goodput", calm, more).concludes(t, exitMissed, "worse: chat goodput -")
	headless(t, "compare", "--fail-on", "worse", calm, more).concludes(t, exitMissed, "worse: ")
	headless(t, "compare", "--fail-on", "prefix_cache_hit,tpot.p99x", calm, more).refuses(t, exitUsage, "--fail-on tpot.p99x: worse, or requests_per_second")
	headless(t, "compare", "--fail-on", "prefix_cache_hit", calm, more).concludes(t, exitOK, "")
	headless(t, "compare", "--fail-on", "output_per_second", more, calm).concludes(t, exitMissed, "chat output tok/s")
	headless(t, "compare", "--fail-on", "worse", calm, calm).concludes(t, exitOK, "")
}

// TestCompareOthers: the simulator, saved pages, and what cannot be compared.
func TestCompareOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	t.Parallel()
	r := headless(t, "compare", "-o", "markdown", "--for", "120s", "demo:S0?seed=1", "demo:S4?seed=2&at=1s")
	if r.code != exitOK {
		t.Fatal(r.err)
	}
	for _, want := range []string{"# demo:S4?seed=2&amp;at=1s against demo:S0?seed=1", "**SIMULATED**", "## chat", "**! higher, worse**"} {
		says(t, "the Markdown", r.out, want)
	}
	html := headless(t, "compare", "-o", "html", "--for", "60s", "demo:S0?seed=1", "demo:S0?seed=2")
	if html.code != exitOK || !strings.HasPrefix(html.out, "<!DOCTYPE html>") || !strings.HasSuffix(html.out, "</html>\n") {
		t.Errorf("%d %s", html.code, html.err)
	}
	page := filepath.Join(t.TempDir(), "page.prom")
	if err := os.WriteFile(page, []byte("vllm:num_requests_running{model_name=\"m\"} 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	few := headless(t, "compare", page, page)
	few.concludes(t, exitUntold, "not a figure could be compared")
	headless(t, "compare", "localhost:1", "localhost:1").refuses(t, exitUsage, "goes on for ever: record it first")
	headless(t, "compare", "-o", "pdf", page, page).refuses(t, exitUsage, "-o pdf: text, markdown, html, json")
	headless(t, "compare").refuses(t, exitUsage)
	headless(t, "compare", "demo:S0").refuses(t, exitUsage, "compare needs two sides")
}

// The past of a server is cut out of its address.
func TestCompareOwnPast(t *testing.T) {
	for _, tt := range []struct{ arg, address, from, to string }{
		{"prom+http://p:9090?from=1700000000&to=1700000600", "prom+http://p:9090", "1700000000", "1700000600"},
		{"prom+http://p:9090?job=vllm&from=1700000000", "prom+http://p:9090?job=vllm", "1700000000", ""},
		{"prom+http://p:9090", "prom+http://p:9090", "", ""},
		{"demo:S0?from=1", "demo:S0?from=1", "", ""},
	} {
		a := &app{}
		address, err := a.ownPast(tt.arg)
		if err != nil || address != tt.address {
			t.Errorf("%s: %q %v", tt.arg, address, err)
		}
		for want, got := range map[string]int64{tt.from: a.flags.from.Unix(), tt.to: a.flags.until.Unix()} {
			if want != "" && want != strconv.FormatInt(got, 10) {
				t.Errorf("%s: %d, want %s", tt.arg, got, want)
			}
		}
	}
	if _, err := (&app{}).ownPast("prom+http://p:9090?from=tomorrow"); err == nil {
		t.Error("tomorrow is no past")
	}
}

// A plan of stages is read in its order.
func TestPlan(t *testing.T) {
	var p plan
	for _, s := range []string{"2m=b", "0s= a = 1 ", "2m=c"} {
		if err := p.Set(s); err != nil {
			t.Error(s, err)
		}
	}
	if len(p.stages) != 3 || p.stages[0].name != "a = 1" || p.stages[1].name != "b" || p.stages[2].name != "c" {
		t.Errorf("%+v", p.stages)
	}
	for _, s := range []string{"", "2m", "2m=", "x=b", "-1s=b"} {
		if p.Set(s) == nil {
			t.Errorf("%q is a stage", s)
		}
	}
}

// TestComparePasts: two stretches of what one server remembers, before an incident and
// within it.
func TestComparePasts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays half an hour of virtual time, with no second goroutine to race with")
	}
	const span, into = 30 * time.Minute, 12 * time.Minute
	start := time.Now().Add(-span).Truncate(time.Second)
	server := "prom+http://" + serverOf(t, scraped(t, sim.Options{Scenario: "S1", At: span - into, Start: start}, 5*time.Second, span))
	at := func(d time.Duration) string { return strconv.FormatInt(start.Add(d).Unix(), 10) }
	r := headless(t, "compare", "-o", "json", "--slo", "chat:ttft=500ms,tpot=50ms,95%",
		server+"?from="+at(4*time.Minute)+"&to="+at(14*time.Minute), server+"?from="+at(19*time.Minute)+"&to="+at(29*time.Minute))
	if r.code != exitOK {
		t.Fatalf("%d: %s%s", r.code, r.err, r.out)
	}
	var got struct {
		Workflows []struct {
			Name    string
			Figures []struct {
				Figure         struct{ Key string }
				Verdict, Sense string
			}
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err)
	}
	worse := map[string]bool{}
	for _, w := range got.Workflows {
		for _, f := range w.Figures {
			if f.Sense == "worse" {
				worse[w.Name+" "+f.Figure.Key] = true
			}
		}
	}
	if !worse["chat ttft.p50"] || !worse["chat goodput"] {
		t.Errorf("worse are %v: %s", worse, r.out)
	}
}

// TestCompareEvents: requests that were reported one by one tell a fifth more of a median.
func TestCompareEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, seed uint64, median float64) string {
		r := rand.New(rand.NewPCG(seed, seed))
		var b strings.Builder
		begin := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
		for i := range 1500 {
			queued := begin.Add(time.Duration(i) * 200 * time.Millisecond)
			first := queued.Add(time.Duration(median * math.Exp(0.6*r.NormFloat64()) * float64(time.Second)))
			fmt.Fprintf(&b, `{"v":1,"id":"%s-%d","at":%q,"phase":"done","workflow":"chat","stream":true,"queued_at":%q,"first_token_at":%q,"completed_at":%q,"output_tokens":50,"outcome":"completed","status":200}`+"\n",
				name, i, stamp(first.Add(time.Second)), stamp(queued), stamp(first), stamp(first.Add(time.Second)))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return "events:" + path
	}
	a, b, c := write("a.jsonl", 1, 0.3), write("b.jsonl", 2, 0.3), write("c.jsonl", 3, 0.37)
	same := headless(t, "compare", "--width", "120", "--slo", "chat:ttft=500ms,95%", a, b)
	says(t, "the same", same.out, "nothing differs by more than noise")
	slower := headless(t, "compare", "--width", "120", "--slo", "chat:ttft=500ms,95%", a, c)
	says(t, "slower ones", slower.out, "! TTFT p50")
	says(t, "slower ones", slower.out, "! goodput")
}

func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }
