package sources

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"
	"time"

	"slotop/model"
)

// answerText reads an answer of the OpenAI form as it comes in, a stream or one
// object. It keeps times, counts and words of its own: what a token says is passed
// over in place and wiped.
type answerText struct {
	inbox inbox
	text  jsonText
	now   func() time.Time
	begun func(time.Time) // told of the first token

	at    time.Time // of the bytes being read
	first time.Time // of the first token of any kind
	reply time.Time // of the first token of the answer proper
	last  time.Time // of the newest event with a token
	gaps  []float64 // seconds between such events

	openAI    bool // a message with choices has come
	chunks    int  // events with a token
	unary     bool // it came in one piece
	done      bool // [DONE] came
	finish    string
	input     model.Reading
	output    model.Reading
	cached    model.Reading
	failed    bool // the server says that it failed
	failCode  int  // its number for that, 0 where it gives none
	failWords string
}

const (
	// maxGaps bounds the gaps of one answer; one has at most as many as tokens.
	maxGaps = 1024
	// maxReply bounds an answer, in bytes: some gateways put a kilobyte around
	// each token.
	maxReply = 4 << 20
)

// errAnswerTooLong: more than a probe's answer can be.
var errAnswerTooLong = errors.New("the answer is longer than 4 MiB")

// readFrom reads until the answer ends: with [DONE], or the connection. The error
// is why it ended otherwise; nil where its end is one.
func (a *answerText) readFrom(body io.Reader) error {
	total := 0
	for {
		n, err := body.Read(a.inbox.room())
		a.at = a.now()
		a.inbox.came(n)
		if total += n; total > maxReply {
			return errAnswerTooLong
		}
		if total == n && a.isObject() {
			return a.readObject(body, err)
		}
		a.readLines()
		switch {
		case a.done:
			return nil
		case err == io.EOF:
			if line, tooLong, ok := a.inbox.rest(); ok && !tooLong {
				a.line(line)
			}
			return nil
		case err != nil:
			return err
		}
	}
}

// isObject reports whether what came first is no stream but one object.
func (a *answerText) isObject() bool {
	came := bytes.TrimLeft(a.inbox.buf[a.inbox.r:a.inbox.w], "\ufeff \t\r\n")
	return len(came) > 0 && came[0] == '{'
}

// readObject reads an answer that is one object, of which the start has come.
func (a *answerText) readObject(rest io.Reader, err error) error {
	body := bytes.Clone(a.inbox.buf[a.inbox.r:a.inbox.w])
	a.inbox.restart()
	defer func() { clear(body[:cap(body)]) }()
	if err == nil {
		body, err = readAll(rest, body, maxReply)
		a.at = a.now()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	a.unary = true
	a.message(body)
	return nil
}

// readLines reads the whole lines that have come.
func (a *answerText) readLines() {
	for !a.done {
		line, tooLong, ok := a.inbox.next()
		if !ok {
			return
		}
		if !tooLong {
			a.line(line)
		}
	}
}

// line reads one line of server-sent events, and wipes it. Comments keep the
// connection alive and say nothing; an event's name is not needed, its data tells.
func (a *answerText) line(line []byte) {
	defer clear(line)
	data, is := bytes.CutPrefix(line, []byte("data:"))
	if !is {
		return
	}
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
	case string(data) == "[DONE]":
		a.done = true
	default:
		a.message(data)
	}
}

// message reads one JSON object: a chunk of a stream, or the whole answer.
func (a *answerText) message(data []byte) {
	t := &a.text
	t.reset(data)
	if t.peek() != '{' {
		return
	}
	var c chunk
	for name := range t.fields {
		c.field(t, string(name))
	}
	if !t.ends() {
		return
	}
	a.take(&c)
}

// take adds a message to what is known of the answer.
func (a *answerText) take(c *chunk) {
	a.openAI = a.openAI || c.known
	if c.reasoned || c.answered {
		a.chunks++
		switch {
		case a.first.IsZero():
			a.first = a.at
			if a.begun != nil && !a.unary {
				a.begun(a.at)
			}
		case len(a.gaps) < maxGaps:
			a.gaps = append(a.gaps, a.at.Sub(a.last).Seconds())
		}
		a.last = a.at
		if c.answered && a.reply.IsZero() {
			a.reply = a.at
		}
	}
	a.finish = cmp.Or(c.finish, a.finish)
	// Some servers send the usage so far with every chunk: the newest counts.
	if c.output.OK() {
		a.input, a.output, a.cached = c.input, c.output, c.cached
	}
	if c.failed {
		a.failed, a.failCode, a.failWords = true, c.failCode, c.failWords
	}
}

// chunk is one message: a part of an answer, all of it, or a failure.
type chunk struct {
	known              bool // it has choices, as OpenAI's do
	reasoned, answered bool // it holds a token of the reasoning, of the answer proper
	finish             string

	input, output, cached model.Reading

	failed    bool
	failCode  int
	failWords string
}

// field reads one field of a message.
func (c *chunk) field(t *jsonText, name string) {
	next := t.peek()
	switch {
	case name == "choices" && next == '[':
		c.known = true
		for range t.items {
			if t.peek() == '{' {
				c.choice(t)
			}
		}
	case name == "usage" && next == '{':
		c.usage(t)
	case name == "error" && next == '{':
		c.failed = true
		for name := range t.fields {
			c.failure(t, string(name))
		}
	case name == "error" && next == '"', name == "detail" && next == '"':
		c.failed, c.failWords = true, t.cleaned()
	case name == "object":
		c.failed = c.failed || t.cleaned() == "error" // as vLLM has it
	default:
		c.failure(t, name)
	}
}

// choice reads one of the choices; a probe asks for one.
func (c *chunk) choice(t *jsonText) {
	for name := range t.fields {
		switch next := t.peek(); string(name) {
		case "delta", "message":
			if next == '{' {
				c.delta(t)
			}
		case "text": // of /completions
			c.answered = t.some() || c.answered
		case "finish_reason":
			c.finish = t.cleaned()
		}
	}
}

// delta reads what a chunk adds. Its role alone is no token.
func (c *chunk) delta(t *jsonText) {
	for name := range t.fields {
		switch string(name) {
		case "content", "tool_calls", "function_call", "refusal":
			c.answered = t.some() || c.answered
		case "reasoning_content", "reasoning", "thinking":
			c.reasoned = t.some() || c.reasoned
		}
	}
}

// some passes over a value and reports whether anything is in it.
func (t *jsonText) some() (is bool) {
	switch t.peek() {
	case '"':
		raw, _ := t.string()
		return len(raw) > 0
	case '[':
		for range t.items {
			is = true
		}
	case '{':
		for range t.fields {
			is = true
		}
	default:
		t.skip()
	}
	return is
}

func (c *chunk) usage(t *jsonText) {
	count := func() model.Reading {
		if v, ok := t.real(); ok && v >= 0 {
			return model.Of(v)
		}
		return model.Reading{}
	}
	for name := range t.fields {
		switch string(name) {
		case "prompt_tokens":
			c.input = count()
		case "completion_tokens":
			c.output = count()
		case "prompt_tokens_details":
			if t.peek() != '{' {
				continue
			}
			for name := range t.fields {
				if string(name) == "cached_tokens" {
					c.cached = count()
				}
			}
		}
	}
}

// failure reads what a server says of its own failure.
func (c *chunk) failure(t *jsonText, name string) {
	switch name {
	case "message":
		c.failWords = cmp.Or(t.cleaned(), c.failWords)
	case "code":
		if v, ok := t.real(); ok {
			c.failCode = int(v)
		} else if n, err := strconv.Atoi(t.cleaned()); err == nil {
			c.failCode = n
		}
	}
}
