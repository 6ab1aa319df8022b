package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"slotop/model"
)

// discoverAt discovers a host with one socket, which a program of the given name
// holds.
func discoverAt(t *testing.T, address, program string) discovered {
	t.Helper()
	h := newHost(t)
	_, port, _ := strings.Cut(address, ":")
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	h.ports = []string{fmt.Sprintf("%04X", n)}
	h.claim(h.table(), program, "--port", port)
	t.Setenv("HOST_PROC", h.proc)
	d, _ := (&app{}).discover(t.Context(), testOptions(t), waits{all: soon(8 * time.Second), place: soon(6 * time.Second)})
	return d
}

// TestDiscoverHarmsNobody: whatever a server answers, it is asked for nothing that
// makes it generate, empties a queue or changes it.
func TestDiscoverHarmsNobody(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, c := range []struct {
		name, program string
		answer        http.HandlerFunc
	}{
		{"nothing", "sglang", answer(http.StatusNotFound, "text/plain", "404")},
		{"everything", "trtllm-serve", answer(http.StatusOK, "application/json", "[]")},
		{"statistics that are gone once read", "trtllm-serve", answer(http.StatusOK, "application/json", `[{"iterLatencyMS":12}]`)},
		{"a page of hypertext", "webthing", answer(http.StatusOK, "text/html", "<!doctype html><html></html>")},
		{"no metrics", "llama-server", answer(http.StatusNotImplemented, "application/json", `{"error":{"code":501,"message":"This server does not support metrics endpoint.","type":"not_supported_error"}}`)},
		{"no key", "litellm", answer(http.StatusUnauthorized, "application/json", "{}")},
		{"trouble", "vllm", answer(http.StatusInternalServerError, "text/plain", "trouble")},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := newRecorder(t, c.answer)
			discoverAt(t, server.address(), c.program)
			server.harmless(t)
		})
	}
}

// TestDiscoverAsksOnce: who does not speak HTTP is sent one request, and is left
// alone after that.
func TestDiscoverAsksOnce(t *testing.T) {
	for _, greeting := range []string{"", "-ERR unknown command\r\n", "\x00\x00\x00\x08\x04\xd2\x16\x2f"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var lines []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				line, _ := bufio.NewReader(conn).ReadString('\n')
				mu.Lock()
				lines = append(lines, line)
				mu.Unlock()
				_, _ = conn.Write([]byte(greeting))
				_ = conn.Close()
			}
		}()
		d := discoverAt(t, listener.Addr().String(), "mystery")
		_ = listener.Close()
		<-done
		if len(lines) != 1 || lines[0] != "GET /metrics HTTP/1.1\r\n" {
			t.Errorf("after %q: %q", greeting, lines)
		}
		for i := range d.all {
			if f := &d.all[i]; f.Kind == model.EngineTarget || f.Open {
				t.Errorf("%q: %+v", greeting, f)
			}
		}
	}
}
