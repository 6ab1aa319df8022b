package llmdsim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// request is what a client saw of one request, on its own clock.
type request struct {
	start, end time.Time
	chunks     []time.Time // arrival of each piece of text
	prompt     int         // tokens, as the server's last chunk says
	output     int
	err        error
}

func (r *request) e2e() float64  { return r.end.Sub(r.start).Seconds() }
func (r *request) ttft() float64 { return r.chunks[0].Sub(r.start).Seconds() }

// gaps are the times between two pieces of text.
func (r *request) gaps() []float64 {
	var out []float64
	for i := 1; i < len(r.chunks); i++ {
		out = append(out, r.chunks[i].Sub(r.chunks[i-1]).Seconds())
	}
	return out
}

// phase is a stretch of the run with one arrival rate.
type phase struct {
	name       string
	start, end time.Time // of the arrivals
	drained    time.Time // when its last request had ended
	requests   []*request
}

// load sends requests and keeps the record.
type load struct {
	url    string
	client *http.Client
	rng    *rand.Rand
	mu     sync.Mutex
	phases []*phase
}

func newLoad(url string, seed uint64) *load {
	return &load{
		url: url, rng: rand.New(rand.NewPCG(seed, 0)),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}},
	}
}

// run lets requests arrive at random for a while. It returns when the last one
// was sent; wait waits for the answers.
func (l *load) run(ctx context.Context, name string, perSecond float64, length time.Duration) (p *phase, wait func()) {
	p = &phase{name: name, start: time.Now()}
	l.mu.Lock()
	l.phases = append(l.phases, p)
	l.mu.Unlock()
	var all sync.WaitGroup
	stop := time.After(length)
	for {
		next := time.After(time.Duration(l.rng.ExpFloat64() / perSecond * float64(time.Second)))
		select {
		case <-ctx.Done():
		case <-stop:
		case <-next:
			words, tokens := 5+l.rng.IntN(60), 8+l.rng.IntN(40)
			all.Go(func() { l.send(ctx, p, words, tokens) })
			continue
		}
		p.end = time.Now()
		return p, func() {
			all.Wait()
			p.drained = time.Now()
		}
	}
}

func (l *load) send(ctx context.Context, p *phase, words, tokens int) {
	r := &request{start: time.Now()}
	l.mu.Lock()
	p.requests = append(p.requests, r)
	l.mu.Unlock()
	got := *r
	got.err = l.stream(ctx, &got, words, tokens)
	got.end = time.Now()
	l.mu.Lock()
	*r = got
	l.mu.Unlock()
}

// stream sends one streaming request and stamps each piece of the answer.
func (l *load) stream(ctx context.Context, r *request, words, tokens int) error {
	body, err := json.Marshal(map[string]any{
		"model": modelName, "prompt": strings.Repeat("word ", words), "max_tokens": tokens,
		"stream": true, "stream_options": map[string]bool{"include_usage": true},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return readStream(res.Body, r)
}

func readStream(body io.Reader, r *request) error {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		at := time.Now()
		if string(data) == "[DONE]" {
			return nil
		}
		var event struct {
			Choices []struct{ Text string }
			Usage   *struct {
				Prompt int `json:"prompt_tokens"`
				Output int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if event.Usage != nil {
			r.prompt, r.output = event.Usage.Prompt, event.Usage.Output
		}
		if len(event.Choices) > 0 && event.Choices[0].Text != "" {
			r.chunks = append(r.chunks, at)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF // no [DONE]
}

// inFlight is how many requests were open at an instant, least and most within
// the slack around it.
func (l *load) inFlight(at time.Time, slack time.Duration) (least, most int) {
	for _, p := range l.phases {
		for _, r := range p.requests {
			if r.start.Before(at.Add(-slack)) && r.end.After(at.Add(slack)) {
				least++
			}
			if r.start.Before(at.Add(slack)) && r.end.After(at.Add(-slack)) {
				most++
			}
		}
	}
	return least, most
}
