package discover

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func candidates(t *testing.T, tr *tree) []string {
	t.Helper()
	all, err := Candidates(t.Context(), tr.proc())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range all {
		line := fmt.Sprintf("%s %s", c.Address, c.Program)
		if c.Skip != "" {
			line += ": " + c.Skip
		} else if c.Likely {
			line += " *"
		}
		lines = append(lines, line)
	}
	return lines
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestCandidates: the likely ones come first, and who speaks another protocol is
// left alone and named.
func TestCandidates(t *testing.T) {
	tr := newTree(t).
		listen("0.0.0.0:8000", 0, 1).process(100, "vllm", []string{"/usr/bin/python3", "/usr/local/bin/vllm", "serve", "--api-key", "sk-secret"}, 1).
		listen("0.0.0.0:22", 0, 2).process(1, "sshd", []string{"sshd: /usr/sbin/sshd -D [listener]"}, 2).
		listen("127.0.0.1:5432", 0, 3).process(50, "postgres", []string{"/usr/lib/postgresql/15/bin/postgres"}, 3).
		listen("127.0.0.1:6379", 7, 4). // nobody tells whose
		listen("0.0.0.0:9090", 0, 5).process(60, "prometheus", []string{"/usr/bin/prometheus", "--config.file=x"}, 5).
		listen("0.0.0.0:7070", 0, 6).process(61, "webthing", []string{"./webthing"}, 6).
		listen("127.0.0.1:8001", 3306, 7).process(62, "mysqld", []string{"/usr/sbin/mysqld", "--port=8001"}, 7).
		listen("127.0.0.1:40123", 0, 8).process(63, "node", []string{"node", "server.js"}, 8).
		listen("127.0.0.1:40124", 0, 9).process(64, "prometheus", []string{"prometheus", "--web.listen-address=127.0.0.1:40124"}, 9).
		listen("127.0.0.1:40125", 0, 10).process(65, "VLLM::EngineCor", []string{"VLLM::EngineCore"}, 10).
		listen("127.0.0.1:7071", 0, 11).process(66, "python", []string{"python", "-m", "sglang.launch_server", "--port", "7071"}, 11)
	expect(t, candidates(t, tr),
		"localhost:7071 SGLang *",
		"localhost:8000 vLLM *",
		"localhost:9090 Prometheus *",
		"localhost:40124 Prometheus *",
		"localhost:7070 webthing",
		"localhost:22 sshd: sshd speaks another protocol",
		"localhost:5432 PostgreSQL: PostgreSQL speaks another protocol",
		"localhost:6379 : the port of Redis",
		"localhost:8001 MySQL: MySQL speaks another protocol",
		"localhost:40123 node: a port that the system chose",
		"localhost:40125 vLLM: a port that the system chose for vLLM",
	)
}

// TestCandidatesOnce: a server that listens on several addresses of a port, or in
// several processes, is one.
func TestCandidatesOnce(t *testing.T) {
	vllm := []string{"vllm", "serve"}
	for _, c := range []struct {
		name string
		tr   *tree
		want []string
	}{
		{"both families", newTree(t).listen("0.0.0.0:8000", 0, 1).listen("[::]:8000", 0, 2).process(9, "vllm", vllm, 1, 2),
			[]string{"localhost:8000 vLLM *"}},
		{"everywhere and here", newTree(t).listen("0.0.0.0:8000", 0, 1).listen("127.0.0.1:8000", 0, 2).process(9, "vllm", vllm, 1, 2),
			[]string{"localhost:8000 vLLM *"}},
		{"nobody tells whose", newTree(t).listen("127.0.0.1:8000", 5, 1).listen("[::1]:8000", 5, 2).listen("10.0.0.5:8000", 5, 3),
			[]string{"localhost:8000  *"}},
		{"an address of the network only", newTree(t).listen("10.0.0.5:8000", 0, 1).process(9, "vllm", vllm, 1),
			[]string{"10.0.0.5:8000 vLLM *"}},
		{"the sixth only", newTree(t).listen("[::1]:8000", 0, 1).process(9, "vllm", vllm, 1),
			[]string{"localhost:8000 vLLM *"}},
		{"workers of one server", newTree(t).listen("0.0.0.0:8000", 0, 1).process(9, "vllm", vllm, 1).process(10, "vllm", vllm, 1),
			[]string{"localhost:8000 vLLM *"}},
		{"two servers", newTree(t).listen("127.0.0.1:8000", 0, 1).listen("10.0.0.5:8000", 0, 2).process(9, "vllm", vllm, 1).process(10, "vllm", vllm, 2),
			[]string{"10.0.0.5:8000 vLLM *", "127.0.0.1:8000 vLLM *"}},
		{"one behind the other", newTree(t).listen("0.0.0.0:8000", 0, 1).listen("127.0.0.1:8000", 0, 2).process(9, "vllm", vllm, 1).process(10, "vllm", vllm, 2),
			[]string{"127.0.0.1:8000 vLLM *"}},
		{"a resolver", newTree(t).listen("127.0.0.53:8000", 0, 1),
			[]string{"127.0.0.53:8000  *"}},
		{"a container's port", newTree(t).listen("0.0.0.0:8000", 0, 1).listen("[::]:8000", 0, 2).
			process(9, "docker-proxy", []string{"docker-proxy"}, 1).process(10, "docker-proxy", []string{"docker-proxy"}, 2),
			[]string{"localhost:8000 docker-proxy *"}},
		{"slotop itself", newTree(t).listen("127.0.0.1:8000", 0, 1).process(os.Getpid(), "slotop", []string{"slotop"}, 1),
			[]string{"localhost:8000 slotop: slotop itself"}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, candidates(t, c.tr), c.want...) })
	}
}

func TestSystemPorts(t *testing.T) {
	tr := newTree(t).listen("127.0.0.1:20000", 0, 1).listen("127.0.0.1:40000", 0, 2)
	tr.write(tr.root+"/sys/net/ipv4/ip_local_port_range", "16384\t32767\n")
	expect(t, candidates(t, tr), "localhost:40000 ", "localhost:20000 : a port that the system chose")
	tr.write(tr.root+"/sys/net/ipv4/ip_local_port_range", "much\n")
	expect(t, candidates(t, tr), "localhost:20000 ", "localhost:40000 : a port that the system chose")
}

// TestOwnersInTime: a table of processes that takes too long to read leaves sockets
// without owners, not without an answer.
func TestOwnersInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr := newTree(t).listen("127.0.0.1:8000", 0, 1).process(9, "vllm", []string{"vllm"}, 1)
	all, err := Candidates(ctx, tr.proc())
	if err != nil || len(all) != 1 || all[0].PID != 0 || all[0].Program != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestNothingOfACommandLineIsKept: but what was meant by it.
func TestNothingOfACommandLineIsKept(t *testing.T) {
	tr := newTree(t).listen("127.0.0.1:8000", 0, 1).
		process(9, "vllm", []string{"vllm", "serve", "--api-key", "sk-marked-secret", "sk-marked-secret.py"}, 1)
	all, err := Candidates(t.Context(), tr.proc())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if text := fmt.Sprintf("%+v", all); strings.Contains(text, "marked") {
		t.Error(text)
	}
}

func TestWhatRuns(t *testing.T) {
	for _, c := range []struct {
		comm string
		args string
		want string
	}{
		{"python3", "/usr/bin/python3 -m vllm.entrypoints.openai.api_server --model m", "vLLM"},
		{"VLLM::APIServer", "VLLM::APIServer", "vLLM"},
		{"sglang::schedul", "sglang::scheduler", "SGLang"},
		{"python3", "python3 -m sglang_router.launch_router", "SGLang gateway"},
		{"python3", "python3 -m dynamo.frontend --http-port 8000", "Dynamo"},
		{"python3", "python3 -m tensorrt_llm.commands.serve m", "TensorRT-LLM"},
		{"trtllm-serve", "/usr/bin/python /usr/local/bin/trtllm-serve m", "TensorRT-LLM"},
		{"llama-server", "./build/bin/llama-server -m model.gguf", "llama.cpp"},
		{"ollama", "/usr/local/bin/ollama serve", "Ollama"},
		{"litellm", "/usr/bin/python3 /usr/bin/litellm --port 4000", "LiteLLM"},
		{"text-generation", "text-generation-router --port 80", "TGI"},
		{"python", "python master.py", "python"},
		{"master", "/usr/lib/postfix/sbin/master -w", "mail"},
		{"nginx", "nginx: master process /usr/sbin/nginx", "nginx"},
		{"python", "python /srv/vllm-tests/server.py", "python"},
		{"dcgm-exporter", "/usr/bin/dcgm-exporter", "dcgm-exporter"},
		{"docker-proxy", "/usr/bin/docker-proxy -proto tcp -host-port 8000", "docker-proxy"},
	} {
		tr := newTree(t).listen("127.0.0.1:7070", 0, 1).process(9, c.comm, strings.Fields(c.args), 1)
		all, err := Candidates(t.Context(), tr.proc())
		if err != nil || len(all) != 1 || all[0].Program != c.want {
			t.Errorf("%s: %+v, %v", c.args, all, err)
		}
	}
}

func TestGuess(t *testing.T) {
	var ports []int
	for _, c := range Guess() {
		ports = append(ports, c.Port)
	}
	for _, port := range []int{8000, 30000, 8080, 11434, 1234, 8002, 23333, 2242, 9997, 9400, 9090, 4000, 1064, 29000, 9835} {
		if !slices.Contains(ports, port) {
			t.Errorf("port %d is not tried", port)
		}
	}
	for _, s := range others {
		for _, port := range s.ports {
			if slices.Contains(ports, port) {
				t.Errorf("port %d of %s is tried", port, s.name)
			}
		}
	}
	if !slices.IsSorted(ports) || len(slices.Compact(ports)) != len(ports) {
		t.Error(ports)
	}
}
