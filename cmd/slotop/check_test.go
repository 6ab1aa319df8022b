package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checkJSON is what these tests read of a check's public form.
type checkJSON struct {
	Schema    string   `json:"schema"`
	WindowS   float64  `json:"window_s"`
	CoveredS  *float64 `json:"covered_s"`
	Outcome   string   `json:"outcome"`
	Why       string   `json:"why"`
	Workflows []struct {
		Name    string `json:"name"`
		Outcome string `json:"outcome"`
		Assumed bool   `json:"assumed_objectives"`
		Goodput *struct {
			N       float64 `json:"n"`
			Basis   string  `json:"basis"`
			Verdict string  `json:"verdict"`
		} `json:"goodput"`
		Objectives []struct {
			Metric string  `json:"metric"`
			MaxS   float64 `json:"max_s"`
		} `json:"objectives"`
	} `json:"workflows"`
}

func (r ran) checked(tb testing.TB) checkJSON {
	tb.Helper()
	var c checkJSON
	if err := json.Unmarshal([]byte(r.out), &c); err != nil {
		tb.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	if c.Schema != "slotop.check/1" {
		tb.Errorf("schema %q", c.Schema)
	}
	return c
}

// concludes wants an exit code, and where it is not 0 one line on the standard
// error that says why.
func (r ran) concludes(tb testing.TB, code int, sentence string) {
	tb.Helper()
	if r.code != code {
		tb.Errorf("exit code %d, want %d: %s", r.code, code, r.err)
	}
	if code == exitOK {
		if r.err != "" {
			tb.Errorf("said %q", r.err)
		}
		return
	}
	if strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, sentence) {
		tb.Errorf("want one line with %q, got %q", sentence, r.err)
	}
}

// recorded is a tape of three minutes of the simulator, with an incident from the
// second on.
func recorded(tb testing.TB, scenario string, more ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), scenario+".tape")
	args := append([]string{"record", "-o", path, "--for", "180s"}, more...)
	if r := headless(tb, append(args, "demo:"+scenario+"?seed=7&at=60s")...); r.code != exitOK {
		tb.Fatal(r.err)
	}
	return path
}

// TestCheckTapes is the gate after a load test: a quiet service, and one that
// was overrun.
func TestCheckTapes(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	t.Parallel()
	quiet, surge := recorded(t, "S0"), recorded(t, "S1")

	r := headless(t, "check", "-o", "json", quiet)
	r.concludes(t, exitOK, "")
	c := r.checked(t)
	if c.Outcome != "met" || c.Why != "met: all 3 workflows" || c.WindowS != 180 || *c.CoveredS != 180 {
		t.Errorf("a quiet service: %+v", c)
	}
	for _, w := range c.Workflows {
		if w.Assumed || w.Goodput.Verdict != "met" || len(w.Objectives) == 0 {
			t.Errorf("%+v", w)
		}
	}

	r = headless(t, "check", "-o", "json", surge)
	r.concludes(t, exitMissed, "missed: chat: goodput ")
	says(t, "the reason", r.err, "TTFT 500 ms was kept by ")
	if c := r.checked(t); c.Outcome != "missed" || "slotop: "+c.Why+"\n" != r.err {
		t.Errorf("a surge: %q, said %q", c.Why, r.err)
	}

	// The minute before it was as it should be, the last one was not, and what is
	// not asked for does not count.
	headless(t, "check", "--for", "59s", surge).concludes(t, exitOK, "")
	headless(t, "check", "--window", "1m", surge).concludes(t, exitMissed, "missed: ")
	headless(t, "check", "--workflow", "batch*", "--slo", "batch-eval:ttft=10m,tpot=10s", "--min-requests", "100", surge).
		concludes(t, exitOK, "")
	headless(t, "check", "--workflow", "chat", "--min-requests", "1000000", quiet).
		concludes(t, exitUntold, "requests judged, fewer than the 1000000 asked for")
	headless(t, "check", "--workflow", "caht", quiet).
		concludes(t, exitUntold, "no workflow of that name was seen; there are ")
	headless(t, "check", "--slo", "serach:ttft=1s", quiet).
		concludes(t, exitUntold, "could not tell: serach: no request of it was seen")
}

// TestCheckTapePromises: a tape is judged by what was promised when it was
// recorded, and by what is promised now where somebody says so.
func TestCheckTapePromises(t *testing.T) {
	t.Parallel()
	tape := recorded(t, "S0", "--slo", "chat:ttft=1ms", "--for", "120s")
	r := headless(t, "check", "-o", "json", "--workflow", "chat", tape)
	r.concludes(t, exitMissed, "missed: chat: ")
	if w := r.checked(t).Workflows; len(w) != 1 || w[0].Assumed || len(w[0].Objectives) != 2 || w[0].Objectives[0].MaxS != .001 {
		t.Errorf("as recorded: %+v", w)
	}
	headless(t, "check", "--workflow", "chat", "--slo", "chat:ttft=1s", tape).concludes(t, exitOK, "")
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte("workflows:\n- {name: mine, match: {model: chat}, slo: {ttft: 1s}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r = headless(t, "check", "-o", "json", "--config", path, "--workflow", "mine", tape)
	r.concludes(t, exitOK, "")
	if w := r.checked(t).Workflows; len(w) != 1 || w[0].Name != "mine" {
		t.Errorf("by another configuration: %+v", w)
	}
}

// withoutEnds is a page of an engine that does not say what became of requests.
func withoutEnds(page []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(page)) {
		ends := strings.Contains(line, "request_success") || strings.Contains(line, "time_per_output_token") || strings.Contains(line, "e2e_request_latency") ||
			strings.Contains(line, "request_decode_time") || strings.Contains(line, "request_inference_time")
		if !ends {
			out.WriteString(line)
		}
	}
	return out.String()
}

// TestCheckLive is the gate while a test runs.
func TestCheckLive(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	server.racing()
	r := headless(t, "check", "-o", "json", "--for", soon(3*time.Second).String(), "--every", "500ms", "--workflow", "chat", "--slo", "chat:ttft=1s", server.address())
	r.concludes(t, exitOK, "")
	if c := r.checked(t); c.Workflows[0].Goodput.N < 100 || c.WindowS != max(5, soon(3*time.Second).Seconds()) {
		t.Errorf("%+v", c)
	}

	blind := newEngine(t)
	blind.racing()
	blind.set(func(e *engineServer) { e.replace = func() string { return withoutEnds(e.next()) } })
	headless(t, "check", "--for", "2s", "--every", "500ms", "--workflow", "chat", blind.address()).
		concludes(t, exitUntold, "could not tell: chat: goodput cannot be computed: no finish counts")

	gone := newEngine(t)
	gone.Close()
	r = headless(t, "check", "--for", "1s", "-o", "junit", gone.address())
	r.concludes(t, exitUntold, "could not tell: no target answered: ")
	says(t, "the file", r.out, "<error message=\"could not tell: no target answered: ")

	idle := newEngine(t)
	idle.still(t)
	headless(t, "check", "--for", "2s", "--every", "500ms", idle.address()).concludes(t, exitUntold, "could not tell: ")
}

// events are reports of a load test: 36 requests that were answered, four of them
// late, and nine that were refused for their rate.
func events(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	stamp := func(d time.Duration) string { return at.Add(d).Format(time.RFC3339Nano) }
	for i := range 45 {
		begin := time.Duration(i) * time.Second
		line := fmt.Sprintf(`{"v":1,"seq":%d,"id":"r-%d","workflow":"chat","phase":"done","queued_at":%q`, i+1, i, stamp(begin))
		switch {
		case i%5 == 4:
			line += fmt.Sprintf(`,"at":%q,"completed_at":%q,"outcome":"failed","reason":"rate_limited","status":429}`, stamp(begin+10*time.Millisecond), stamp(begin+10*time.Millisecond))
		default:
			first := 300 * time.Millisecond
			if i%10 == 0 && i > 0 {
				first = 2 * time.Second
			}
			line += fmt.Sprintf(`,"at":%q,"first_token_at":%q,"completed_at":%q,"outcome":"completed","output_tokens":100,"stream":true}`,
				stamp(begin+first+time.Second), stamp(begin+first), stamp(begin+first+time.Second))
		}
		b.WriteString(line + "\n")
	}
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return "events:" + path
}

// TestCheckEvents judges single requests, exactly.
func TestCheckEvents(t *testing.T) {
	t.Parallel()
	file := events(t)
	r := headless(t, "check", "-o", "json", "--slo", "chat:ttft=1s,tpot=50ms,95%", file)
	r.concludes(t, exitMissed, "missed: chat: goodput 71.1 % of 45 requests, promised 95 %; 9 failed")
	w := r.checked(t).Workflows[0]
	if w.Goodput.N != 45 || w.Goodput.Basis != "requests" {
		t.Errorf("%+v", w.Goodput)
	}
	headless(t, "check", "--slo", "chat:ttft=1s,50%", file).concludes(t, exitOK, "")
	text := headless(t, "snapshot", "--window", "60s", file)
	says(t, "the text", text.out, "429 rate_limited: 9 of 45, 20.0 %")
}

// TestCheckForms: all four are what they say they are.
func TestCheckForms(t *testing.T) {
	t.Parallel()
	tape := recorded(t, "S0", "--for", "60s")
	text := headless(t, "check", "--width", "72", "--ascii", tape)
	for line := range strings.Lines(text.out) {
		if len(line) > 73 || strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) {
			t.Errorf("a line of text: %q", line)
		}
	}
	says(t, "the text", text.out, "met: all 3 workflows")
	saysNot(t, "the text", text.out, "assumed")
	var suites struct {
		Tests, Failures, Errors int
		Suites                  []struct {
			Name string `xml:"name,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(headless(t, "check", "-o", "junit", tape).out), &suites); err != nil || len(suites.Suites) != 3 {
		t.Errorf("JUnit: %v, %+v", err, suites)
	}
	says(t, "the Markdown", headless(t, "check", "-o", "markdown", tape).out, "| chat | met | ")
	again := headless(t, "check", "-o", "json", tape)
	if again.out != headless(t, "check", "-o", "json", tape).out {
		t.Error("the same tape gave another verdict")
	}
}

func TestCheckUsage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"-o", "xml", "demo"}, "-o xml: text, json, junit or markdown"},
		{[]string{"--min-requests", "0", "demo"}, "from 1 to"},
		{[]string{"--slo", "chat", "demo"}, `part "chat": neither key=value nor a share`},
		{[]string{"missing.tape"}, "missing.tape"},
		{nil, "no target"},
	} {
		headless(t, append([]string{"check"}, tc.args...)...).refuses(t, exitUsage, tc.says)
	}
}

// TestCheckInterrupted prints what is known when it is told to end.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	cmd := exec.Command(program(t), "check", "--for", "10m", server.address())
	cmd.Env = sandbox(t)
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server.polled(t, 3)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	says(t, "the table", out.String(), "WORKFLOW")
}
