package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/sources/sim"
)

// part is the path of a program of another package. Where it is missing the test
// is skipped; where every part must be there, that is a failure.
func part(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
		t.Fatalf("needs %s: %v", name, err)
	}
	t.Skipf("needs %s: %v", name, err)
	return ""
}

// scraped writes what a server would have stored that scraped the simulated
// service every step, until a time, in the form that its tool imports. Replica i is
// scraped i/n of a step after the first.
func scraped(t *testing.T, o sim.Options, step, until time.Duration) []byte {
	t.Helper()
	s, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n := len(s.Replicas())
	for at := time.Duration(0); at <= until; at += step {
		for i, r := range s.Replicas() {
			when := at + step*time.Duration(i)/time.Duration(n)
			s.Advance(when)
			labels := fmt.Sprintf(`instance=%q,job="vllm"`, r.Name())
			stamp := strconv.FormatFloat(float64(o.Start.Add(when).UnixMilli())/1000, 'f', 3, 64)
			page, err := r.Page(nil)
			up := 1
			if err != nil {
				up = 0
			}
			fmt.Fprintf(&out, "up{%s} %d %s\n", labels, up, stamp)
			for line := range strings.Lines(string(page)) {
				stored(&out, line, labels, stamp)
			}
		}
	}
	out.WriteString("# EOF\n")
	return out.Bytes()
}

// stored writes a line of a page as a server stores it.
func stored(out *bytes.Buffer, line, labels, stamp string) {
	if strings.HasPrefix(line, "#") {
		return
	}
	name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	if end := strings.LastIndexByte(line, '}'); end >= 0 {
		head, rest, _ := strings.Cut(line[:end], "{")
		fmt.Fprintf(out, "%s{%s,%s} %s %s\n", head, rest, labels, strings.TrimSpace(line[end+1:]), stamp)
		return
	}
	fmt.Fprintf(out, "%s{%s} %s %s\n", name, labels, value, stamp)
}

// serverOf is the address of a Prometheus server that stored this.
func serverOf(t *testing.T, text []byte) string {
	t.Helper()
	server, tool := part(t, "prometheus"), part(t, "promtool")
	dir := t.TempDir()
	file, data, config := filepath.Join(dir, "in.txt"), filepath.Join(dir, "data"), filepath.Join(dir, "prometheus.yml")
	for name, content := range map[string][]byte{file: text, config: []byte("global: {scrape_interval: 5s}\n")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.Command(tool, "tsdb", "create-blocks-from", "openmetrics", file, data).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v: %s", err, said)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	var log bytes.Buffer
	cmd := exec.Command(server, "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+address, "--storage.tsdb.retention.time=10y")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the server said:\n%s", log.String())
		}
	})
	for until := time.Now().Add(soon(time.Minute)); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if r, err := http.Get("http://" + address + "/-/ready"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return address
			}
		}
	}
	t.Fatal("the server is never ready")
	return ""
}

// incident is a stored past of the simulated service, and how it was live.
type incident struct {
	start  time.Time
	server string
	slos   []string
}

const (
	incidentStep = 5 * time.Second
	incidentSpan = 720 * time.Second
)

func storedIncident(t *testing.T, scenario string) incident {
	t.Helper()
	start := time.Now().Add(-90 * time.Minute).Truncate(time.Minute)
	text := scraped(t, sim.Options{Scenario: scenario, Start: start}, incidentStep, incidentSpan)
	return incident{start: start, server: "prom+http://" + serverOf(t, text), slos: []string{
		"--slo", "chat:ttft=500ms,tpot=50ms,95%", "--slo", "summarize:ttft=3s,tpot=75ms,90%", "--slo", "batch-eval:e2e=120s,99%",
	}}
}

// past runs a command over the past that the server remembers.
func (i incident) past(t *testing.T, command string, more ...string) ran {
	t.Helper()
	args := append([]string{command}, i.slos...)
	args = append(args, "--from", i.start.Format(time.RFC3339), "--to", i.start.Add(incidentSpan).Format(time.RFC3339))
	return headless(t, append(append(args, more...), i.server)...)
}

// said is what a frame says of the alerts of an incident.
type said struct {
	At  time.Time `json:"at"`
	Log []struct {
		At       time.Time `json:"at"`
		Rule     string    `json:"rule"`
		Workflow string    `json:"workflow"`
		State    string    `json:"state"`
		Severity string    `json:"severity"`
	} `json:"alert_log"`
	Findings  json.RawMessage `json:"findings"`
	Workflows []struct {
		Name      string `json:"name"`
		Condition string `json:"condition"`
		TTFT      *struct {
			N   float64 `json:"n"`
			P95 struct {
				Lo, Hi *float64
			} `json:"p95"`
		} `json:"ttft"`
	} `json:"workflows"`
}

func toldBy(t *testing.T, r ran) said {
	t.Helper()
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	var f said
	if err := json.Unmarshal([]byte(r.out), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// fired is when each workflow's alerts fired and were resolved, since a beginning.
// What is said of a single target is left out: a server's past names none.
func (f *said) fired(since time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, e := range f.Log {
		if e.Workflow != "" && e.State != "pending" {
			out[e.Workflow+" "+e.Rule+" "+e.Severity+" "+e.State] = e.At.Sub(since)
		}
	}
	return out
}

// A past incident, out of a server that scraped it, raises the alerts that it raised
// live, when it raised them, ends in the same conditions, and is found to have the
// same cause.
func TestPastIncidentAsLive(t *testing.T) {
	if testing.Short() {
		t.Skip("plays minutes of virtual time, with no second goroutine to race with")
	}
	// The users of S5 are near their limit, not beyond it.
	quiet := map[string]bool{"S0": true, "S5": true}
	for _, scenario := range []string{"S1", "S0", "S4", "S5"} {
		t.Run(scenario, func(t *testing.T) {
			i := storedIncident(t, scenario)
			live := toldBy(t, headless(t, append(append([]string{"snapshot", "-o", "json", "--every", "5s", "--for", incidentSpan.String()}, i.slos...), "demo:"+scenario+"?gpus=0")...))
			past := toldBy(t, i.past(t, "snapshot", "-o", "json"))
			want, got := live.fired(live.At.Add(-incidentSpan)), past.fired(i.start)
			t.Logf("live %v", want)
			t.Logf("past %v", got)
			if len(want) == 0 != quiet[scenario] {
				t.Fatalf("live, %d alerts fired", len(want))
			}
			for what, at := range want {
				when, found := got[what]
				// Two points of the past at most: one for the step, one for the scrapes before it.
				if d := (when - at).Abs(); !found || d > 8*incidentStep {
					t.Errorf("%s: live at %v, in the past %v (%v)", what, at, when, found)
				}
			}
			for what := range got {
				if _, found := want[what]; !found {
					t.Errorf("%s: only in the past", what)
				}
			}
			found, claimed := claimsOf(t, live.Findings), claimsOf(t, past.Findings)
			if (len(found) == 0) != (scenario == "S0") {
				t.Errorf("live, %d findings", len(found))
			}
			sameClaims(t, found, claimed)
			for n := range min(len(live.Workflows), len(past.Workflows)) {
				l, p := live.Workflows[n], past.Workflows[n]
				if l.Name != p.Name || l.Condition != p.Condition {
					t.Errorf("workflow %d is %s %s, live %s %s", n, p.Name, p.Condition, l.Name, l.Condition)
				}
			}
		})
	}
}
