package discover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"slotop/model"
)

// answers are what the places of a host say when they are asked.
type answers map[string]Answer

func (a answers) look(_ context.Context, address string) (Answer, error) {
	if answer, known := a[address]; known {
		return answer, nil
	}
	return refused(model.NotFound, "no library"), nil
}

func refused(kind model.FaultKind, detail string) Answer {
	return Answer{Fault: &model.Fault{Kind: kind, Detail: detail}}
}

func is(kind, engine string, models ...string) Answer {
	return Answer{Kind: kind, Engine: engine, Models: models}
}

// find writes each finding that was asked on a line: what is watched first has a
// plus.
func find(t *testing.T, tr *tree, a answers) []string {
	t.Helper()
	candidates, err := Candidates(t.Context(), tr.proc())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range Find(t.Context(), candidates, a.look) {
		switch {
		case f.Open && f.Fault == nil:
			lines = append(lines, "+ "+f.Target+" "+f.Kind)
		case f.Open:
			lines = append(lines, "! "+f.Target+" "+f.Why)
		case f.Skip == "" && f.Address != NVML:
			lines = append(lines, "- "+f.Target+" "+f.Why)
		}
	}
	return lines
}

// TestChoose: what is watched counts once.
func TestChoose(t *testing.T) {
	none := refused(model.NotFound, "404 at /metrics")
	for _, c := range []struct {
		name string
		tr   *tree
		says answers
		want []string
	}{
		{
			"engines before the Prometheus server that scrapes them",
			newTree(t).listen("127.0.0.1:8000", 0, 1).listen("127.0.0.1:9090", 0, 2).process(7, "vllm", []string{"vllm"}, 1).process(8, "prometheus", []string{"prometheus"}, 2),
			answers{"localhost:8000": is(model.EngineTarget, "vllm"), "localhost:9090": is(model.PrometheusTarget, "")},
			[]string{"+ localhost:8000 engine", "- localhost:9090 the engines are watched themselves: through it they would count twice"},
		},
		{
			"a Prometheus server alone, beside GPUs",
			newTree(t).listen("127.0.0.1:9090", 0, 2).process(8, "prometheus", []string{"prometheus"}, 2),
			answers{NVML: is(model.GPUTarget, ""), "localhost:9090": is(model.PrometheusTarget, "")},
			[]string{"+ nvml: gpu", "+ localhost:9090 prometheus"},
		},
		{
			"the driver before an exporter of the same GPUs",
			newTree(t).listen("127.0.0.1:9400", 0, 1).listen("127.0.0.1:5000", 0, 2),
			answers{NVML: is(model.GPUTarget, ""), "localhost:9400": is(model.GPUTarget, "dcgm-exporter"), "localhost:5000": is(model.GPUTarget, "amd-device-metrics")},
			[]string{"+ nvml: gpu", "+ localhost:5000 gpu", "- localhost:9400 nvml: tells of the same GPUs"},
		},
		{
			"an exporter without a driver",
			newTree(t).listen("127.0.0.1:9400", 0, 1),
			answers{"localhost:9400": is(model.GPUTarget, "dcgm-exporter")},
			[]string{"+ localhost:9400 gpu"},
		},
		{
			"a driver that is slow",
			newTree(t).listen("127.0.0.1:9400", 0, 1),
			answers{NVML: refused(model.Timeout, "the GPU driver does not answer"), "localhost:9400": is(model.GPUTarget, "dcgm-exporter")},
			[]string{"! nvml: timeout: the GPU driver does not answer", "- localhost:9400 nvml: tells of the same GPUs"},
		},
		{
			"a second page of the same process, and its port for requests",
			newTree(t).listen("127.0.0.1:3000", 0, 1).listen("127.0.0.1:9000", 0, 2).listen("127.0.0.1:8001", 0, 3).
				process(7, "text-embeddings-router", []string{"text-embeddings-router"}, 1, 2, 3),
			answers{"localhost:3000": is(model.EngineTarget, "tei"), "localhost:9000": is(model.EngineTarget, "tei"), "localhost:8001": none},
			[]string{"+ localhost:3000 engine", "- localhost:8001 another port of TEI, which is read at localhost:3000", "- localhost:9000 the same as localhost:3000"},
		},
		{
			"two replicas of one model",
			newTree(t).listen("127.0.0.1:8000", 0, 1).listen("127.0.0.1:8001", 0, 2).process(7, "vllm", []string{"vllm"}, 1).process(8, "vllm", []string{"vllm"}, 2),
			answers{"localhost:8000": is(model.EngineTarget, "vllm", "m"), "localhost:8001": is(model.EngineTarget, "vllm", "m")},
			[]string{"+ localhost:8000 engine", "+ localhost:8001 engine"},
		},
		{
			"those that refuse",
			newTree(t).listen("127.0.0.1:8000", 0, 1).listen("127.0.0.1:30000", 0, 2).listen("127.0.0.1:7070", 0, 3).listen("127.0.0.1:7071", 0, 4).listen("127.0.0.1:8080", 0, 5).
				process(7, "sglang", []string{"sglang"}, 2),
			answers{
				"localhost:8000": refused(model.Denied, "401: needs a key"), "localhost:30000": refused(model.NotFound, "start it with --enable-metrics"),
				"localhost:7070": none, "localhost:7071": refused(model.Malformed, "no HTTP"), "localhost:8080": refused(model.Timeout, "did not answer in time"),
			},
			[]string{
				"! localhost:30000 not found: start it with --enable-metrics", "! localhost:8000 denied: 401: needs a key", "- localhost:8080 timeout: did not answer in time",
				"- localhost:7070 not found: 404 at /metrics", "- localhost:7071 malformed: no HTTP",
			},
		},
		{
			"GPUs whose driver waits for a reboot", newTree(t),
			answers{NVML: refused(model.UnsupportedPage, "library and kernel module differ: reboot")},
			[]string{"! nvml: unsupported: library and kernel module differ: reboot"},
		},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, find(t, c.tr, c.says), c.want...) })
	}
}

// TestFindSpeaksTLS: a server that wants TLS is asked that way once.
func TestFindSpeaksTLS(t *testing.T) {
	tr := newTree(t).listen("127.0.0.1:8000", 0, 1)
	expect(t, find(t, tr, answers{
		"localhost:8000":         refused(model.Malformed, "the server speaks TLS: write https://"),
		"https://localhost:8000": is(model.EngineTarget, "vllm"),
	}), "+ https://localhost:8000 engine")
	expect(t, find(t, tr, answers{
		"localhost:8000":         refused(model.Malformed, "the server speaks TLS: write https://"),
		"https://localhost:8000": refused(model.Certificate, "not trusted"),
	}), "! https://localhost:8000 certificate: not trusted")
}

// TestFindEvents: a server without a page may have a stream of events, which is told
// by its type and not by what it sends.
func TestFindEvents(t *testing.T) {
	for _, c := range []struct{ kind, want string }{
		{"text/event-stream", "+ events+http://ADDRESS/events gateway"},
		{"application/x-ndjson; charset=utf-8", "+ events+http://ADDRESS/events gateway"},
		{"application/json", "- localhost:7070 not found: 404 at /metrics"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/events" || r.Header.Get("Authorization") != "" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		address := strings.TrimPrefix(server.URL, "http://")
		f := Finding{Candidate: Candidate{Address: address}}
		f.ask(t.Context(), answers{address: refused(model.NotFound, "404 at /metrics")}.look)
		all := []Finding{f}
		choose(all)
		got := strings.ReplaceAll(all[0].Target, address, "ADDRESS")
		if found := strings.HasPrefix(c.want, "+"); all[0].Open != found || found && "+ "+got+" "+all[0].Kind != c.want {
			t.Errorf("%s: %+v", c.kind, all[0])
		}
		server.Close()
	}
}

// TestFindInTime: one that hangs holds up nobody, and what was not answered in time
// is said to be so.
func TestFindInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tr := newTree(t).listen("127.0.0.1:8000", 0, 1).listen("127.0.0.1:8001", 0, 2)
	candidates, err := Candidates(t.Context(), tr.proc())
	if err != nil {
		t.Fatal(err)
	}
	all := Find(ctx, candidates, func(ctx context.Context, address string) (Answer, error) {
		if address != "localhost:8000" {
			return is(model.EngineTarget, "vllm"), nil
		}
		cancel() // as the deadline would
		<-ctx.Done()
		return Answer{}, ctx.Err()
	})
	for _, f := range all {
		if late := f.Address == "localhost:8000"; late != (f.Fault != nil) || late && f.Fault.Kind != model.Timeout {
			t.Errorf("%s: %+v", f.Address, f.Fault)
		}
	}
}

// TestFindIsBounded: so many are asked and no more, and each once.
func TestFindIsBounded(t *testing.T) {
	tr := newTree(t)
	for i := range 2 * maxAsked {
		tr.listen(fmt.Sprintf("127.0.0.1:%d", 1100+i), 0, i+1)
	}
	candidates, err := Candidates(t.Context(), tr.proc())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]int{}
	all := Find(t.Context(), candidates, func(_ context.Context, address string) (Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[address]++
		return Answer{}, errors.New("no such target")
	})
	if len(asked) > maxAsked+1 || len(all) != len(candidates)+1 {
		t.Errorf("%d asked, %d findings", len(asked), len(all))
	}
	for address, n := range asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", address, n)
		}
	}
	left := 0
	for _, f := range all {
		if strings.HasPrefix(f.Skip, "not among the first") {
			left++
		}
	}
	if left != len(candidates)-maxAsked {
		t.Errorf("%d are said to be left out", left)
	}
}
