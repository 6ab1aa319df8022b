package sources

import (
	"context"

	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"net/http"

	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// written is what a server writes after a time.
type written struct {
	at   time.Duration
	text string
}

// scripted is a server that writes an answer at the times at which a real one did,
// without a network: with virtual time, times are exact.
type scripted struct {
	head  time.Duration // until its status
	code  int
	kind  string // content type
	parts []written
	fail  error // at the end, in place of an end
	asked []string
	hangs bool // at the end
}

func (p *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.asked = append(p.asked, r.URL.Path+" "+string(body))
	if err := sleep(r.Context(), p.head); err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	go func() {
		began := time.Now()
		for _, part := range p.parts {
			if err := sleep(r.Context(), part.at-time.Since(began)); err != nil {
				_ = to.CloseWithError(err)
				return
			}
			if _, err := io.WriteString(to, part.text); err != nil {
				return
			}
		}
		if p.hangs {
			<-r.Context().Done()
			_ = to.CloseWithError(r.Context().Err())
			return
		}
		_ = to.CloseWithError(p.fail)
	}()
	code := p.code
	if code == 0 {
		code = http.StatusOK
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {p.kind}}, Body: from, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// probeOf is a probe of a scripted server.
func probeOf(t *testing.T, server http.RoundTripper, options string) *probe {
	t.Helper()
	opened, err := openProbe(t.Context(), Spec{Address: "openai+http://played:8000?model=m" + options})
	if err != nil {
		t.Fatal(err)
	}
	p := opened[0].Source.(*probe)
	p.sender.client = &http.Client{Transport: server}
	return p
}

// pollAt polls a probe when the schedule has come so far, for a time at most.
func pollAt(t *testing.T, p *probe, at, most time.Duration) (model.Batch, error) {
	t.Helper()
	p.Advance(at)
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	return p.Poll(ctx)
}

// timedLines is a capture: lines with the time at which each came.
func timedLines(t *testing.T, file string) (parts []written) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		ms, text, found := strings.Cut(strings.TrimLeft(line, " "), " ")
		at, err := strconv.ParseFloat(strings.TrimSpace(ms), 64)
		if err != nil {
			t.Fatalf("%s: %q", file, line)
		}
		if !found {
			text = "\n"
		}
		parts = append(parts, written{time.Duration(at * float64(time.Millisecond)), text})
	}
	return parts
}

// streamsSeen is what each captured stream comes to, in ms after the request; those
// of another form than OpenAI's chat completions are a fault.
var streamsSeen = map[string]string{
	"bifrost-1.4.19-chat.txt":        "completed : ttft 15.0, answer 15.0, e2e 216.3, 15 chunks, 15 of 15 tokens; 14 gaps 14.3 17.1 20.0",
	"epp-chat.txt":                   "completed : ttft 24.9, answer 24.9, e2e 86.8, 4 chunks, 4 of 15 tokens; 3 gaps 19.2 23.1 23.1",
	"gomodel-0.1.18-chat.txt":        "completed : ttft 18.7, answer 18.7, e2e 33.8, 2 chunks, 2 of 15 tokens; 1 gaps 15.0 15.0 15.0",
	"infgw-0.48.2-chat.txt":          "completed : ttft 22.9, answer 22.9, e2e 128.4, 9 chunks, 9 of 15 tokens; 8 gaps 13.1 18.2 18.2",
	"llamacpp-b10470-chat.txt":       "output_limit : ttft 37.9, answer 37.9, e2e 101.0, 16 chunks, 16 of 13 tokens; 15 gaps 3.5 5.3 15.8",
	"llamaswap-v250-chat.txt":        "output_limit : ttft 22.7, answer 22.7, e2e 75.5, 16 chunks, 16 of 13 tokens; 15 gaps 3.3 4.8 5.4",
	"ollama-0.33-openai.txt":         "output_limit : ttft 24.8, answer 24.8, e2e 79.6, 16 chunks, 16 of 13 tokens; 15 gaps 3.2 4.9 7.6",
	"sim-0.10.2-chat.txt":            "completed : ttft 20.1, answer 20.1, e2e 200.2, 14 chunks, 14 of 15 tokens; 13 gaps 13.5 16.8 18.4",
	"llamacpp-b10470-anthropic.txt":  "failed not_openai: ttft -, answer -, e2e 91.6, 0 chunks, ? of ? tokens fault not_metrics",
	"llamacpp-b10470-completion.txt": "failed not_openai: ttft -, answer -, e2e 46.8, 0 chunks, ? of ? tokens fault not_metrics",
	"llamacpp-b10470-responses.txt":  "failed not_openai: ttft -, answer -, e2e 127.6, 0 chunks, ? of ? tokens fault not_metrics",
	"ollama-0.33-generate.txt":       "failed not_openai: ttft -, answer -, e2e 330.3, ? chunks, ? of ? tokens fault not_metrics",
	"sim-0.10.2-responses.txt":       "failed not_openai: ttft -, answer -, e2e 115.2, 0 chunks, ? of ? tokens fault not_metrics",
}

// toldOf is what a request came to, in words.
func toldOf(r model.Request, reported []model.Reported) string {
	ms := func(from, to model.Stamp) string {
		v, ok := model.Between(from, to).Get()
		if !ok {
			return "-"
		}
		return strconv.FormatFloat(v*1000, 'f', 1, 64)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ttft %s, answer %s, e2e %s, %s chunks, %s of %s tokens", r.Outcome, r.Reason,
		ms(r.Queued, r.FirstToken), ms(r.Queued, r.FirstAnswer), ms(r.Queued, r.Completed), number(r.OutputChunks), number(r.OutputTokens), number(r.InputTokens))
	for _, g := range reported {
		fmt.Fprintf(&b, "; %s gaps", number(g.Count))
		for _, q := range g.Quantiles {
			fmt.Fprintf(&b, " %.1f", q.S*1000)
		}
	}
	return b.String()
}

func number(r model.Reading) string {
	if !r.OK() {
		return "?"
	}
	return strconv.FormatFloat(r.Value, 'f', -1, 64)
}

// once is what the first request of a probe comes to, in words.
func once(t *testing.T, p *probe) string {
	t.Helper()
	b, err := pollAt(t, p, 0, time.Minute)
	end := ""
	if fault := (*FaultError)(nil); errors.As(err, &fault) {
		b.Requests, end = p.ended, " fault "+string(fault.Kind)
	}
	if len(b.Requests) != 1 {
		t.Fatalf("%d requests, %v", len(b.Requests), err)
	}
	return toldOf(b.Requests[0], b.Reported) + end
}

// Every stream that was captured of a real server is read with the times at which
// its lines came.
func TestProbeReadsRealStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Dir(t, "corpus/captures/streams"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "-headers.txt") {
			continue // the head of an answer only
		}
		t.Run(name, func(t *testing.T) {
			parts := timedLines(t, file)
			synctest.Test(t, func(t *testing.T) {
				p := probeOf(t, &scripted{parts: parts, kind: "text/event-stream"}, "")
				if got := once(t, p); got != streamsSeen[name] {
					t.Errorf("got\n%s\nwant\n%s", got, streamsSeen[name])
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// In whatever pieces a stream arrives, the same is read from it.
func TestProbeReadsStreamsCutAnywhere(t *testing.T) {
	text := ""
	for _, part := range timedLines(t, shared.Dir(t, "corpus/captures/streams/llamacpp-b10470-chat.txt")) {
		text += part.text
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		a := answerText{now: time.Now}
		if err := a.readFrom(&pieces{strings.ReplaceAll(text, "\n", []string{"\n", "\r\n"}[rng.IntN(2)]), rng}); err != nil {
			t.Fatal(err)
		}
		if a.chunks != 16 || a.output != model.Of(16) || a.finish != "length" || !a.done || len(a.gaps) != 15 {
			t.Fatalf("%d chunks, %v tokens, %q, done %v", a.chunks, a.output, a.finish, a.done)
		}
	}
}

// pieces gives a text in pieces of any size.
type pieces struct {
	text string
	rng  *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b, p.text[:min(len(p.text), 1+p.rng.IntN(200))])
	p.text = p.text[n:]
	return n, nil
}

const (
	role    = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":null}\n\n"
	stop    = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	end     = "data: [DONE]\n\n"
	metered = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n\n"
)

// delta is an event with one field of a delta.
func delta(field, value string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{%q:%s},\"finish_reason\":null}]}\n\n", field, value)
}

func TestProbeReadsAnswers(t *testing.T) {
	at := func(ms int, texts ...string) written {
		return written{time.Duration(ms) * time.Millisecond, strings.Join(texts, "")}
	}
	say := delta("content", `"x"`)
	for _, tc := range []struct {
		name   string
		server scripted
		want   string
		note   string // "" for none beside what a probe is
	}{
		{"reasoning first", scripted{parts: []written{at(5, role), at(10, delta("reasoning_content", `"hm"`)), at(30, delta("reasoning", `"hm"`)), at(70, say), at(90, stop, metered, end)}},
			"completed : ttft 10.0, answer 70.0, e2e 90.0, 3 chunks, 3 of 5 tokens; 2 gaps 40.0 40.0 40.0", ""},
		{"reasoning only", scripted{parts: []written{at(10, delta("reasoning_content", `"hm"`)), at(90, strings.Replace(stop, "stop", "length", 1), metered, end)}},
			"output_limit : ttft 10.0, answer -, e2e 90.0, 1 chunks, 3 of 5 tokens", ""},
		{"a tool is called", scripted{parts: []written{at(10, delta("tool_calls", `[{"index":0,"function":{"name":"f","arguments":""}}]`)), at(20, delta("tool_calls", `[]`), stop, metered, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 20.0, 1 chunks, 3 of 5 tokens", ""},
		{"parts of content", scripted{parts: []written{at(10, delta("content", `[{"type":"text","text":"x"}]`)), at(20, stop, metered, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 20.0, 1 chunks, 3 of 5 tokens", ""},
		{"several at once", scripted{parts: []written{at(10, role, say, say, say), at(20, say, stop, metered, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 20.0, 4 chunks, 3 of 5 tokens; 3 gaps 0.0 10.0 10.0", ""},
		{"kept alive", scripted{parts: []written{at(5, ": ping\n\n"), at(10, "event: x\nid: 7\nretry: 3\n", say), at(15, ":\n\n"), at(20, say, stop, metered, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 20.0, 2 chunks, 3 of 5 tokens; 1 gaps 10.0 10.0 10.0", ""},
		{"usage so far with each", scripted{parts: []written{
			at(10, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\n"),
			at(20, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":15}}\n\n"), at(30, stop, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 30.0, 2 chunks, 15 of 5 tokens; 1 gaps 10.0 10.0 10.0", ""},
		{"no usage", scripted{parts: []written{at(10, say), at(20, say, stop, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 20.0, 2 chunks, ? of ? tokens; 1 gaps 10.0 10.0 10.0", "it sends no usage"},
		{"no end mark", scripted{parts: []written{at(10, say), at(20, stop, strings.TrimRight(metered, "\n"))}},
			"completed : ttft 10.0, answer 10.0, e2e 20.0, 1 chunks, 3 of 5 tokens", "without [DONE]"},
		{"cut short", scripted{parts: []written{at(10, say), at(20, say)}},
			"failed stream_cut: ttft 10.0, answer 10.0, e2e 20.0, 2 chunks, ? of ? tokens", "ended without finish_reason"},
		{"connection lost", scripted{parts: []written{at(10, say)}, fail: io.ErrUnexpectedEOF},
			"failed stream_cut: ttft 10.0, answer 10.0, e2e 10.0, 1 chunks, ? of ? tokens", "lost in the middle"},
		{"fails on the way", scripted{parts: []written{at(10, say), at(20, "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n", end)}},
			"failed upstream_5xx: ttft 10.0, answer 10.0, e2e 20.0, 1 chunks, ? of ? tokens", "out of memory"},
		{"limited on the way", scripted{parts: []written{at(10, "data: {\"error\":{\"message\":\"slow down\",\"code\":\"429\"}}\n\n")}},
			"failed rate_limited: ttft -, answer -, e2e 10.0, 0 chunks, ? of ? tokens", "slow down"},
		{"fails as vLLM does", scripted{parts: []written{at(10, "data: {\"object\":\"error\",\"message\":\"too long\",\"type\":\"BadRequestError\",\"code\":400}\n\n", end)}},
			"failed upstream_4xx: ttft -, answer -, e2e 10.0, 0 chunks, ? of ? tokens", "too long"},
		{"fails in a word", scripted{parts: []written{at(10, "data: {\"error\":\"what?\"}\n\n")}},
			"failed internal: ttft -, answer -, e2e 10.0, 0 chunks, ? of ? tokens", "what?"},
		{"filtered", scripted{parts: []written{at(10, say, strings.Replace(stop, "stop", "content_filter", 1), end)}},
			"failed content_filter: ttft 10.0, answer 10.0, e2e 10.0, 1 chunks, ? of ? tokens", ""},
		{"in one piece", scripted{kind: "application/json", parts: []written{at(10, " {\"choices\":[{\"message\":{\"content\":\"x\"},"), at(30, "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}")}},
			"completed : ttft -, answer -, e2e 30.0, ? chunks, 3 of 5 tokens", "without a stream"},
		{"nothing said", scripted{parts: []written{at(10, role, stop, metered, end)}},
			"completed : ttft -, answer -, e2e 10.0, 0 chunks, 3 of 5 tokens", ""},
		{"a broken event", scripted{parts: []written{at(10, "data: {\"choices\":[\n\n", "data: 7\n\n", say, stop, metered, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 10.0, 1 chunks, 3 of 5 tokens", ""},
		{"an event that is too long", scripted{parts: []written{at(10, "data: ", strings.Repeat("x", 3*maxLine), "\n\n", say, stop, metered, end)}},
			"completed : ttft 10.0, answer 10.0, e2e 10.0, 1 chunks, 3 of 5 tokens", ""},
		{"an answer without end", scripted{parts: []written{at(10, strings.Repeat(strings.Repeat("x", 1000)+"\n", maxReply/1000))}},
			"failed internal: ttft -, answer -, e2e 10.0, 0 chunks, ? of ? tokens", "longer than 4 MiB"},
		{"a web page", scripted{kind: "text/html", parts: []written{at(10, "<html>")}}, "failed not_openai: ttft -, answer -, e2e 10.0, 0 chunks, ? of ? tokens fault not_metrics", ""},
		{"another object", scripted{parts: []written{at(10, `{"a":1}`)}}, "failed not_openai: ttft -, answer -, e2e 10.0, ? chunks, ? of ? tokens fault not_metrics", ""},
		{"429", scripted{head: 7 * time.Millisecond, code: 429, parts: []written{{0, `{"error":{"message":"slow down"}}`}}},
			"failed rate_limited: ttft -, answer -, e2e 7.0, ? chunks, ? of ? tokens", "answered 429: slow down"},
		{"400", scripted{code: 400, parts: []written{{0, `{"detail":"no"}`}}}, "failed upstream_4xx: ttft -, answer -, e2e 0.0, ? chunks, ? of ? tokens", "answered 400: no"},
		{"500", scripted{code: 500}, "failed upstream_5xx: ttft -, answer -, e2e 0.0, ? chunks, ? of ? tokens", "answered 500"},
		{"503", scripted{code: 503}, "failed upstream_5xx: ttft -, answer -, e2e 0.0, ? chunks, ? of ? tokens", "answered 503"},
		{"401", scripted{code: 401}, "failed upstream_4xx: ttft -, answer -, e2e 0.0, ? chunks, ? of ? tokens fault denied", ""},
		{"404", scripted{code: 404}, "failed upstream_4xx: ttft -, answer -, e2e 0.0, ? chunks, ? of ? tokens fault not_found", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := probeOf(t, &tc.server, "")
				if got := once(t, p); got != tc.want {
					t.Errorf("got\n%s\nwant\n%s", got, tc.want)
				}
				notes := strings.Join(p.describe().Notes[1:], "; ")
				if !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" && !strings.HasPrefix(notes, "the last request failed") {
					t.Errorf("notes %q, want %q", notes, tc.note)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An answer may take longer than a poll may: polls say how far it is, and no other
// request is sent meanwhile. One that takes too long is called off.
func TestProbeHasOneRequestUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{parts: []written{{25 * time.Second, delta("content", `"x"`)}}, hangs: true}
		p := probeOf(t, s, "&every=50s&timeout=40s")
		var phases []string
		const every = 4 * time.Second
		for start := time.Now(); ; time.Sleep(every - time.Since(start)%every) {
			b, err := pollAt(t, p, time.Since(start), 2*time.Second)
			if err != nil || len(b.Requests) != 1 {
				t.Fatalf("%v, %v", b.Requests, err)
			}
			r := b.Requests[0]
			if phases = append(phases, string(r.Phase)); !r.Done() {
				continue
			}
			if got := toldOf(r, nil); got != "failed timeout: ttft 25000.0, answer 25000.0, e2e 40000.0, 1 chunks, ? of ? tokens" {
				t.Errorf("got %s", got)
			}
			break
		}
		if len(s.asked) != 1 {
			t.Errorf("%d requests were sent", len(s.asked))
		}
		want := strings.Repeat("waiting_for_model ", 7) + strings.Repeat("streaming ", 3) + "done"
		if got := strings.Join(phases, " "); got != want {
			t.Errorf("phases %s, want %s", got, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Closing calls the request under way off.
func TestProbeEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probeOf(t, &scripted{hangs: true}, "")
		if _, err := pollAt(t, p, 0, time.Second); err != nil {
			t.Fatal(err)
		}
		s := p.under
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if r := s.result.request; r.Outcome != model.RequestCancelled || r.Reason != "shutdown" {
			t.Errorf("%+v", r)
		}
		if _, err := pollAt(t, p, time.Minute, time.Second); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
}

// A probe stops where its budget of an hour is spent, says so, and goes on as the
// hour passes.
func TestProbeKeepsItsBudget(t *testing.T) {
	say := []written{{0, delta("content", `"x"`) + stop + metered + end}}
	for _, tc := range []struct {
		name, options string
		parts         []written
		most          int // requests within the first hour
	}{
		{"requests", "&every=30s&requests=5", say, 5},
		{"tokens that are known", "&every=30s&budget=1000", say, 113}, // of 8 each, as long as the most that one may take is left
		{"tokens that are not", "&every=30s&budget=1000", []written{{0, delta("content", `"x"`) + stop + end}}, 9},
		{"tokens that cannot be", "&every=30s&budget=1000", []written{{0, delta("content", `"x"`) + stop +
			strings.ReplaceAll(metered, "_tokens\":5", "_tokens\":1e300") + end}}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{parts: tc.parts}
				p := probeOf(t, s, tc.options)
				stopped := false
				sent := map[time.Duration]int{}
				for at := time.Duration(0); at < 2*time.Hour; at += 2 * time.Second {
					b, err := pollAt(t, p, at, time.Second)
					if err != nil {
						t.Fatal(err)
					}
					stopped = stopped || strings.Contains(strings.Join(b.About.Notes, " "), "stopped: its budget of")
					sent[at.Truncate(time.Hour)] += len(b.Requests)
				}
				if sent[0] != tc.most || sent[time.Hour] == 0 || sent[time.Hour] > tc.most+1 || !stopped {
					t.Errorf("sent %v, stopped %v, want %d an hour", sent, stopped, tc.most)
				}
			})
		})
	}
}

// A server that wants to be asked otherwise is asked so, at once and from then on.
func TestProbeAsksAsTheServerWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		server := roundTrip(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, string(body))
			s := &scripted{parts: []written{{0, delta("content", `"x"`) + stop + end}}}
			switch {
			case strings.Contains(string(body), `"max_tokens"`):
				s = &scripted{code: 400, parts: []written{{0, `{"error":{"message":"use 'max_completion_tokens' instead"}}`}}}
			case strings.Contains(string(body), "stream_options"):
				s = &scripted{code: 422, parts: []written{{0, `{"detail":"stream_options: extra fields not permitted"}`}}}
			}
			r.Body = http.NoBody
			return s.RoundTrip(r)
		})
		p := probeOf(t, server, "")
		for i, want := range []int{3, 4} {
			b, err := pollAt(t, p, time.Duration(i)*time.Minute, time.Second)
			if err != nil || len(b.Requests) != 1 || b.Requests[0].Outcome != model.Completed || len(asked) != want {
				t.Fatalf("%d asked, %+v, %v", len(asked), b.Requests, err)
			}
		}
		if !strings.Contains(asked[0], `"stream_options":{"include_usage":true}`) || !strings.Contains(asked[3], `"max_completion_tokens":8`) {
			t.Errorf("asked %q", asked)
		}
		if len(p.budget.list) != 4 {
			t.Errorf("%d requests were counted", len(p.budget.list))
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// While nobody answers, what failed is kept, and passed on when somebody does.
func TestProbeOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := false
		server := roundTrip(func(r *http.Request) (*http.Response, error) {
			if !there {
				return nil, io.EOF
			}
			return (&scripted{parts: []written{{0, delta("content", `"x"`) + stop + metered + end}}}).RoundTrip(r)
		})
		p := probeOf(t, server, "&every=1s")
		for i := range 2 * maxWaiting {
			_, err := pollAt(t, p, time.Duration(i)*time.Second, time.Second)
			if fault := (*FaultError)(nil); !errors.As(err, &fault) || fault.Kind != model.Refused {
				t.Fatal(err)
			}
		}
		there = true
		b, err := pollAt(t, p, time.Hour, time.Second)
		if err != nil || len(b.Requests) != maxWaiting || b.Lost != maxWaiting+1 {
			t.Fatalf("%d requests, %d lost, %v", len(b.Requests), b.Lost, err)
		}
		if first, last := b.Requests[0], b.Requests[maxWaiting-1]; first.Reason != unreachable || last.Outcome != model.Completed {
			t.Errorf("%+v, %+v", first, last)
		}
	})
}

// A prompt begins as none before it did, and is about as long as it should be.
func TestProbePrompt(t *testing.T) {
	now := time.Unix(1_800_000_000, 123_456_789)
	a, b := probePrompt(40, now), probePrompt(40, now.Add(time.Second+time.Microsecond))
	if a[:6] == b[:6] || len(strings.Fields(a)) != 39 {
		t.Errorf("%q, %q", a, b)
	}
	if got := probePrompt(1, now); len(strings.Fields(got)) != 1 {
		t.Errorf("%q", got)
	}
}

// FuzzProbeAnswer: whatever a server answers, it is read to an end.
func FuzzProbeAnswer(f *testing.F) {
	f.Add([]byte(role+delta("content", `"x"`)+stop+metered+end), uint64(1))
	f.Add([]byte(`{"choices":[{"message":{"content":"x"}}]}`), uint64(2))
	f.Add([]byte("data: {\"error\":{\"code\":\"429\"}}\r\n\r\n: x"), uint64(3))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		a := answerText{now: time.Now}
		err := a.readFrom(&pieces{string(text), rand.New(rand.NewPCG(seed, 1))})
		outcome, reason, _ := outcomeOf(&a, err)
		if outcome == model.RequestFailed && reason == "" {
			t.Error("it failed for no reason")
		}
		if !a.first.IsZero() && a.chunks == 0 || a.chunks < len(a.gaps) || !a.reply.IsZero() && a.reply.Before(a.first) {
			t.Errorf("%d chunks, %d gaps, first %v, reply %v", a.chunks, len(a.gaps), a.first, a.reply)
		}
		if a.output.OK() && !(a.output.Value >= 0) {
			t.Errorf("%v tokens", a.output)
		}
	})
}
