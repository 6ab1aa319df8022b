package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// crowdServer is a gateway that labels a latency with a workflow for each of very
// many ids. At each poll the i-th id has i requests more, and one id in a hundred,
// the twenty busiest apart, has left for a new one with the same traffic: what a
// poll brings stays the same.
type crowdServer struct {
	*httptest.Server
	polls atomic.Int64
	mu    sync.Mutex
	next  int       // number of the next new id
	ids   []crowdID // by traffic, the least first
}

type crowdID struct {
	name int
	n    int // requests so far
}

const crowdTop = 20

var crowdBounds = []string{"0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "+Inf"}

func newCrowdServer(tb testing.TB, ids int) *crowdServer {
	s := &crowdServer{ids: make([]crowdID, ids), next: ids + 1}
	for i := range s.ids {
		s.ids[i].name = i + 1
	}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler. It has a page and nothing else: a server that is
// asked for its version has had no poll.
func (s *crowdServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	poll := int(s.polls.Add(1))
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString("# HELP vllm:num_requests_running Requests in the engine.\n# TYPE vllm:num_requests_running gauge\n" +
		"vllm:num_requests_running{engine=\"0\"} 3.0\n# TYPE vllm:time_to_first_token_seconds histogram\n")
	var line []byte
	for i := range s.ids {
		id := &s.ids[i]
		if poll > 1 && i < len(s.ids)-crowdTop && (i+7*poll)%100 == 0 {
			*id = crowdID{name: s.next}
			s.next++
		}
		id.n += i + 1
		for k, le := range crowdBounds {
			line = append(line[:0], `vllm:time_to_first_token_seconds_bucket{le="`...)
			line = append(append(line, le...), `",`...)
			line = id.end(line, id.n*(k+1)/len(crowdBounds))
			_, _ = out.Write(line)
		}
		_, _ = out.Write(id.end(append(line[:0], `vllm:time_to_first_token_seconds_count{`...), id.n))
		_, _ = out.Write(id.end(append(line[:0], `vllm:time_to_first_token_seconds_sum{`...), id.n/4))
	}
	_ = out.Flush()
}

// end appends the labels that all lines of an id have, and a value.
func (id crowdID) end(line []byte, v int) []byte {
	line = append(line, `engine="0",model_name="wf-`...)
	line = strconv.AppendInt(line, int64(id.name), 10)
	line = append(line, `"} `...)
	line = strconv.AppendInt(line, int64(v), 10)
	return append(line, ".0\n"...)
}

// crowdFrame is what the case is about, out of a frame's JSON.
type crowdFrame struct {
	Targets []struct {
		State      string
		Polls      int
		FailedPoll int `json:"failed_polls"`
		Notes      []string
	}
	Workflows []struct {
		Name string
		TTFT *struct{ N float64 }
	}
}

// OC-27: 50,000 workflows on one page of 700,000 lines, 66 MB, and one id in a
// hundred another one at each poll. Totals are exact, the busiest have a row each,
// and the program stays small.
func TestOC27CrowdOfWorkflows(t *testing.T) {
	ids, polls := 50_000, 18
	if testing.Short() || raceDetector {
		ids, polls = 10_000, 4
	}
	server := newCrowdServer(t, ids)
	cmd := exec.Command(program(t), "snapshot", "-o", "json", "--frames", "--every", "500ms", "--timeout", "1m",
		"--for", "1h", "--window", "10m", strings.TrimPrefix(server.URL, "http://"))
	cmd.Env = sandbox(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var last crowdFrame
	for frames := json.NewDecoder(out); len(last.Targets) == 0 || last.Targets[0].Polls < polls; {
		last = crowdFrame{}
		if err := frames.Decode(&last); err != nil {
			t.Fatalf("after frame %+v: %v", last, err)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	last.check(t, ids)
	most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss // in KB on Linux
	t.Logf("%d polls, at most %d MB, %v of the processor", last.Targets[0].Polls, most>>10, cmd.ProcessState.UserTime())
	if runtime.GOOS == "linux" && !raceDetector && most > 300_000 {
		t.Errorf("%d KB of memory, more than 300 MB", most)
	}
}

// check holds a frame to the case: each poll but the first brings the same.
func (f crowdFrame) check(t *testing.T, ids int) {
	t.Helper()
	target := f.Targets[0]
	if target.FailedPoll != 0 || target.State != "up" {
		t.Errorf("target %+v", target)
	}
	says(t, "the target", strings.Join(target.Notes, "\n"), fmt.Sprintf("%d workflows: grouped", ids))
	sum, top, rows := 0.0, 0.0, 0
	for _, w := range f.Workflows {
		if w.TTFT == nil {
			continue
		}
		sum += w.TTFT.N
		if strings.HasPrefix(w.Name, "wf-") {
			rows, top = rows+1, top+w.TTFT.N
		}
	}
	brought := float64(target.Polls - 1)
	all, largest := float64(ids)*float64(ids+1)/2, float64(crowdTop*ids-crowdTop*(crowdTop-1)/2)
	if sum != brought*all || top != brought*largest || rows != crowdTop {
		t.Errorf("after %d polls %.0f requests, %.0f in the top %d; want %.0f and %.0f for each poll but the first",
			target.Polls, sum, top, rows, all, largest)
	}
}

// OC-27: while such pages are read and folded, with one processor for all of it, a
// key is answered within 100 ms. What counts is what the program computes until
// then: what else the machine does is not its own.
func TestOC27KeysAreAnsweredMeanwhile(t *testing.T) {
	if testing.Short() || raceDetector || runtime.GOOS != "linux" {
		t.Skip("needs a whole page of 66 MB, the usual speed and /proc")
	}
	server := newCrowdServer(t, 50_000)
	s := startWith(t, setup{env: []string{"GOMAXPROCS=1"}}, "--timeout", "1m", strings.TrimPrefix(server.URL, "http://"))
	s.shows("wf-50000")
	var took []time.Duration
	for server.polls.Load() < 5 || len(took) < 20 {
		for _, helps := range []bool{true, false} {
			before := s.computed()
			s.press("?")
			s.until("the answer to ?", func() bool { return strings.Contains(s.text(), "overview: who is hurt") == helps })
			took = append(took, s.computed()-before)
		}
	}
	s.quits()
	slices.Sort(took)
	most := took[len(took)*9/10]
	t.Logf("%d keys: half within %v of computing, nine in ten within %v, all within %v", len(took), took[len(took)/2], most, took[len(took)-1])
	if most > reaction {
		t.Errorf("a key waits for %v of computing", most)
	}
}

// computed is how long the program's threads have run in all.
func (s *session) computed() (all time.Duration) {
	s.tb.Helper()
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		s.tb.Fatal("no threads in /proc: ", err)
	}
	for _, name := range threads {
		var ns int64
		if text, err := os.ReadFile(name); err == nil { // a thread may end meanwhile
			_, _ = fmt.Sscan(string(text), &ns)
		}
		all += time.Duration(ns)
	}
	return all
}
