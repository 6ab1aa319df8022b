package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"time"

	"slotop/model"
)

// Why a request of a probe is called off.
var (
	errTooLong     = errors.New("it took too long")
	errProbeClosed = errors.New("the probe is closed")
)

// sending is one request of a probe under way.
type sending struct {
	id    string
	since time.Duration // by the schedule
	stop  context.CancelCauseFunc
	done  chan struct{} // closed when its goroutine has ended, and result may be read

	result probeResult

	mu    sync.Mutex // of what a poll looks at meanwhile
	began time.Time  // when there was a connection for it
	first time.Time  // of its first token, zero before it
}

// probeResult is what a request came to.
type probeResult struct {
	request model.Request
	gaps    []float64 // seconds between events
	fault   error     // nobody, or no such server, is there; nil where it answered
	note    string    // what is to be said of it; "" for nothing
	tries   int       // requests that were sent
}

// maxTries is how often a request is put otherwise that the server refuses as it
// stands: without stream_options, and with the newer name of max_tokens.
const maxTries = 3

// sender sends the requests of a probe, one after the other.
type sender struct {
	*asked
	set     probeSettings
	now     func() time.Time
	model   string
	noUsage bool // the server refuses stream_options
	renamed bool // it wants max_completion_tokens
}

// run sends one request and waits for its end.
func (p *sender) run(ctx context.Context, s *sending) {
	defer close(s.done)
	defer func() {
		if v := recover(); v != nil {
			s.result.fault = &FaultError{model.Malformed, "collector failed: " + excerpt(fmt.Sprint(v))}
		}
	}()
	s.begin(p.now())
	if p.model == "" {
		name, err := p.findModel(ctx)
		s.found(p, name)
		if err != nil {
			s.result = probeResult{request: p.ended(s, model.RequestFailed, "no_model", p.now()), fault: err}
			return
		}
	}
	for tries := 1; ; tries++ {
		again := p.try(ctx, s)
		s.result.tries = tries
		if !again || tries == maxTries {
			return
		}
	}
}

func (s *sending) begin(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began, s.first = at, time.Time{}
}

// found notes the model that was found. Polls say which one a request is for.
func (s *sending) found(p *sender, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.model = name
}

func (s *sending) firstToken(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = at
}

// findModel finds the only model of the server.
func (p *sender) findModel(ctx context.Context) (name string, err error) {
	var models []string
	list := p.beside("/models")
	err = list.get(ctx, func(body []byte, _ *http.Response) error {
		models = p.sent.namesIn(modelsIn(body))
		return nil
	})
	if fault := (*FaultError)(nil); errors.As(err, &fault) && fault.Kind == model.Denied {
		return "", p.denied(list.request.URL.Path)
	}
	switch {
	case err != nil:
		return "", err
	case len(models) == 1:
		return models[0], nil
	case len(models) == 0:
		return "", &FaultError{model.NotFound, "no model is served there: name one with ?model=NAME"}
	}
	shown := models[:min(len(models), 5)]
	return "", &FaultError{model.NotFound, fmt.Sprintf("%d models are served there, so one must be named: write ?model=NAME (%s)",
		len(models), p.sent.excerpt(strings.Join(shown, ", ")))}
}

// modelsIn are the models of a list as /v1/models has it, as they are called.
func modelsIn(body []byte) (models []string) {
	t := &jsonText{}
	t.reset(body)
	if t.peek() != '{' {
		return nil
	}
	for name := range t.fields {
		if string(name) == "data" && t.peek() == '[' {
			models, _ = readModels(t)
		}
	}
	return models
}

func (p *sender) denied(path string) error {
	return &FaultError{model.Denied, "the probe's key is missing or was not accepted at " + p.sent.excerpt(path) +
		": write key_env=NAME, with the key in that variable, or key_file=PATH"}
}

// try sends the request once, and reports whether it should be put otherwise.
func (p *sender) try(ctx context.Context, s *sending) (again bool) {
	s.begin(p.now())
	request, err := http.NewRequestWithContext(p.timed(ctx, s), http.MethodPost, p.endpoint(), bytes.NewReader(p.body()))
	if err != nil {
		s.result = p.lost(ctx, s, err)
		return false
	}
	request.Host = p.request.Host
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "text/event-stream, application/json",
		"Accept-Encoding": "identity", "Cache-Control": "no-store", // what is compressed or kept comes late
	} {
		request.Header.Set(name, value)
	}
	response, err := p.client.Do(request)
	if err != nil {
		s.result = p.lost(ctx, s, err)
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body := errorBody(response)
		s.result = p.refused(s, response, body)
		return p.adapt(response.StatusCode, body)
	}
	a := answerText{now: p.now, begun: s.firstToken}
	err = a.readFrom(response.Body)
	s.result = p.answered(ctx, s, &a, err)
	return false
}

// timed is the context of a request whose clock starts when there is a connection
// for it: finding a name and shaking hands is not the server's time to a token.
func (p *sender) timed(ctx context.Context, s *sending) context.Context {
	return httptrace.WithClientTrace(p.sent.watch(ctx), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { s.begin(p.now()) },
	})
}

func (p *sender) endpoint() string {
	u := *p.request.URL
	u.Path += "/chat/completions"
	if p.set.text {
		u.Path = p.request.URL.Path + "/completions"
	}
	return u.String()
}

type probeMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type probeUsage struct {
	Include bool `json:"include_usage"`
}

// probeBody is a request as OpenAI's reference has it.
type probeBody struct {
	Model         string         `json:"model"`
	Messages      []probeMessage `json:"messages,omitempty"`
	Prompt        string         `json:"prompt,omitempty"`
	MaxTokens     int            `json:"max_tokens,omitempty"`
	MaxCompletion int            `json:"max_completion_tokens,omitempty"`
	Stream        bool           `json:"stream"`
	Options       *probeUsage    `json:"stream_options,omitempty"`
}

func (p *sender) body() []byte {
	b := probeBody{Model: p.model, MaxTokens: p.set.answer, Stream: true, Options: &probeUsage{true}}
	if p.noUsage {
		b.Options = nil
	}
	if p.renamed {
		b.MaxTokens, b.MaxCompletion = 0, p.set.answer
	}
	prompt := probePrompt(p.set.prompt, p.now())
	if p.set.text {
		b.Prompt = prompt
	} else {
		b.Messages = []probeMessage{{Role: "user", Content: prompt}}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil // the server then says that it is no request
	}
	return text
}

// probePrompt is a text of about so many tokens: words that nearly every tokenizer
// knows. It begins with a number that no other has, so that no prefix cache has
// seen it: what is measured is a prefill.
func probePrompt(tokens int, now time.Time) string {
	const words = "count the red apples in the big box by the old door and say how many there are"
	list := strings.Fields(words)
	var b strings.Builder
	b.WriteString(strconv.FormatInt(now.UnixNano()%1_000_000, 10))
	for i := range max(0, tokens-2) {
		b.WriteByte(' ')
		b.WriteString(list[i%len(list)])
	}
	return b.String()
}

// adapt learns from a refusal how the server wants to be asked, and reports
// whether it did.
func (p *sender) adapt(status int, body []byte) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case !p.renamed && bytes.Contains(body, []byte("max_completion_tokens")):
		p.renamed = true
	case !p.noUsage && (bytes.Contains(body, []byte("stream_options")) || bytes.Contains(body, []byte("include_usage"))):
		p.noUsage = true
	default:
		return false
	}
	return true
}
