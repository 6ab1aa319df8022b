package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	promapi "github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	prommodel "github.com/prometheus/common/model"

	"slotop/model"
)

const (
	// maxAnswer bounds one answer of a Prometheus server. What a poll asks for has
	// some 100 KB; a chunk of the past a few MB.
	maxAnswer = 32 << 20
	// evalTimeout is what the server may take for a query: as long as others let it,
	// for fewer servers are asked anything else.
	evalTimeout = 30 * time.Second
	// flightTimeout is how long an answer is waited for, from poll to poll.
	flightTimeout = time.Minute
)

// promServer speaks the HTTP API that Prometheus, Thanos, Mimir and VictoriaMetrics
// have in common.
type promServer struct {
	*asked
	api    promv1.API
	extra  url.Values // parameters of the address that go with every request
	wholes bool       // VictoriaMetrics: increase() counts from the sample before its range

	progress time.Duration // of the schedule
	flight   *flight       // the question under way
	kept     map[string]answerOf
	life     context.Context
	end      context.CancelFunc
	spent    time.Duration // that the server says it worked on the question under way
}

var _ promapi.Client = (*promServer)(nil)

func newPromServer(spec Spec, u *url.URL) (*promServer, error) {
	extra := u.Query()
	// VictoriaMetrics answers with what it knew half a minute ago unless told not to
	// (-search.latencyOffset). The others ignore it.
	extra.Set("nocache", "1")
	extra.Set("stats", "1") // how long the question took the server
	asked, err := newAsked(spec, u)
	if err != nil {
		return nil, err
	}
	asked.client.Timeout = flightTimeout // also where no poll waits: the past has no schedule
	s := &promServer{asked: asked, extra: extra}
	s.api = promv1.NewAPI(s)
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// URL is the address of an endpoint such as /api/v1/label/:name/values.
func (s *promServer) URL(endpoint string, args map[string]string) *url.URL {
	for name, value := range args {
		endpoint = strings.ReplaceAll(endpoint, ":"+name, url.PathEscape(value))
	}
	u := *s.request.URL
	u.Path, u.RawPath = path.Join("/", u.Path, endpoint), ""
	u.RawQuery = s.extra.Encode()
	if strings.HasSuffix(endpoint, "/rules") { // whom an alert concerns is much, and nothing to us
		u.RawQuery += "&type=record"
	}
	return &u
}

// Do asks for one answer. The error is a *FaultError, or a *queryError where the
// server understood the question and would not answer it.
func (s *promServer) Do(ctx context.Context, request *http.Request) (*http.Response, []byte, error) {
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := s.client.Do(request.WithContext(s.sent.watch(ctx)))
	if err != nil {
		return nil, nil, requestFault(err, request, s.sent)
	}
	defer response.Body.Close()
	body, err := readBody(response, nil, maxAnswer)
	switch {
	case err != nil && !errors.As(err, new(*FaultError)):
		return response, nil, bodyFault(err, len(body), s.sent)
	case err != nil:
		return response, nil, &FaultError{model.Oversized, fmt.Sprintf(
			"the answer is larger than %d bytes: narrow the question with ?match=LABEL=\"VALUE\" in its address", maxAnswer)}
	case response.StatusCode/100 == 2 && startsObject(body):
		s.spent += spentOn(body)
		return response, body, nil
	}
	return response, nil, s.refusal(response, body)
}

// spentOn is how long the server says that an answer took it, 0 where it does not say.
func spentOn(body []byte) time.Duration {
	for _, field := range []struct {
		name string
		unit time.Duration
	}{{`"execTotalTime":`, time.Second}, {`"executionTimeMsec":`, time.Millisecond}} {
		at := bytes.LastIndex(body, []byte(field.name))
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(body[at+len(field.name):], " ")
		end := bytes.IndexAny(rest, ",} \n")
		if end < 0 {
			continue
		}
		if v, err := strconv.ParseFloat(string(rest[:end]), 64); err == nil && v >= 0 && v < longestPlay.Seconds() {
			return time.Duration(v * float64(field.unit))
		}
	}
	return 0
}

// promPath says what to do where there is no API.
const promPath = "no Prometheus API there: give the address as in a browser, up to and without /graph or /api/v1, such as prom+http://host:9090/prometheus"

// refusal is what an answer means that is none.
func (s *promServer) refusal(response *http.Response, body []byte) error {
	var said struct{ Status, ErrorType, Error string }
	if json.Unmarshal(body, &said) == nil && said.Status == "error" && said.Error != "" {
		return &queryError{code: response.StatusCode, kind: s.sent.excerpt(said.ErrorType), text: s.sent.excerpt(said.Error)}
	}
	if response.StatusCode/100 == 2 {
		text := "not a Prometheus API but " + shapeOf(body) + ": check the path"
		if quote := s.sent.excerpt(string(body)); quote != "" {
			text += " (" + quote + ")"
		}
		return &FaultError{model.NotMetrics, text}
	}
	plain := *response
	plain.Header = http.Header{}
	plain.Body = io.NopCloser(bytes.NewReader(body))
	return answerFault(&plain, s.sent, promPath)
}

// shapeOf names what a body is instead of JSON.
func shapeOf(body []byte) string {
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return "an empty answer"
	case trimmed[0] == '<':
		return "an HTML page, perhaps one to sign in"
	}
	return "something else"
}

// queryError is a question that the server understood and did not answer.
type queryError struct {
	code       int
	kind, text string // the server's word for it, and its sentence
}

func (e *queryError) Error() string {
	if e.kind == strconv.Itoa(e.code) || e.kind == "" { // VictoriaMetrics repeats the status
		return fmt.Sprintf("%d: %s", e.code, e.text)
	}
	return fmt.Sprintf("%d %s: %s", e.code, e.kind, e.text)
}

// costly reports whether the question was too much for the server: it took too long,
// or would have read or returned more than it allows.
func (e *queryError) costly() bool {
	if e.kind == string(promv1.ErrTimeout) || e.code == http.StatusServiceUnavailable || e.code == http.StatusTooManyRequests {
		return true
	}
	text := strings.ToLower(e.text)
	for _, word := range []string{"too many", "timed out", "timeout", "exceed", "limit", "memory"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// tooCostly reports whether asking for less may help.
func tooCostly(err error) bool {
	var refused *queryError
	if errors.As(err, &refused) {
		return refused.costly()
	}
	var fault *FaultError
	if errors.As(err, &fault) {
		return fault.Kind == model.Timeout || fault.Kind == model.Oversized
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// asFault is an error of a question as the poll's fault.
func asFault(err error) error {
	var fault *FaultError
	var refused *queryError
	switch {
	case err == nil, errors.As(err, &fault), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refused) && refused.costly():
		return &FaultError{model.Timeout, "the query was too much for the server: " + refused.Error()}
	case errors.As(err, &refused):
		return &FaultError{model.Malformed, "the server refused the query: " + refused.Error()}
	case isTimeout(err):
		return &FaultError{model.Timeout, "no answer in time"}
	}
	return err
}

// answerOf is what a question came to, and what the server remarked on it.
type answerOf struct {
	vector  prommodel.Vector
	matrix  prommodel.Matrix
	names   []string
	text    string
	scalar  bool
	remarks []string
	spent   time.Duration // that the server worked on it, as far as it says
	at      time.Duration // the schedule's progress when it was asked
}

// flight is a question under way. One that takes the server longer than a poll lasts
// is not given up: the next poll takes its answer.
type flight struct {
	what   string
	at     time.Duration
	done   chan struct{}
	cancel context.CancelFunc
	answer answerOf
	err    error
}

// inSteps puts several questions, one after the other. Where they take longer than a
// poll, the next one goes on with the first that has no answer yet: it has to put the
// same.
func (s *promServer) inSteps(ctx context.Context, ask func() error) error {
	if s.kept == nil {
		s.kept = map[string]answerOf{}
	}
	err := ask()
	if ctx.Err() == nil {
		s.kept = nil
	}
	return err
}

// put puts a question, or goes on waiting for its answer. At most one is under way.
func (s *promServer) put(ctx context.Context, what string, do func(context.Context) (answerOf, error)) (answerOf, error) {
	if err := ctx.Err(); err != nil {
		return answerOf{}, err
	}
	if answer, ok := s.kept[what]; ok {
		return answer, nil
	}
	if f := s.flight; f != nil && (f.what != what || s.progress-f.at > flightTimeout) {
		f.cancel() // nobody wants its answer any more
		select {
		case <-f.done:
			s.flight = nil
		case <-ctx.Done():
			return answerOf{}, ctx.Err()
		}
	}
	if s.flight == nil {
		s.depart(what, do)
	}
	select {
	case <-s.flight.done:
		f := s.flight
		s.flight = nil
		f.cancel()
		f.answer.at, f.answer.spent = f.at, s.spent
		if s.kept != nil && f.err == nil {
			s.kept[what] = f.answer
		}
		return f.answer, f.err
	case <-ctx.Done():
		return answerOf{}, ctx.Err()
	}
}

// depart sends a question off.
func (s *promServer) depart(what string, do func(context.Context) (answerOf, error)) {
	ctx, cancel := context.WithCancel(s.life)
	f := &flight{what: what, at: s.progress, done: make(chan struct{}), cancel: cancel}
	s.flight, s.spent = f, 0
	go func() {
		defer close(f.done)
		defer func() {
			if p := recover(); p != nil {
				f.err = &FaultError{model.Malformed, "the answer's reader failed: " + excerpt(fmt.Sprint(p))}
			}
		}()
		f.answer, f.err = do(ctx)
	}()
}

// instant asks for the value of an expression at an instant, now where it is zero.
func (s *promServer) instant(ctx context.Context, query string, at time.Time) (answerOf, error) {
	return s.put(ctx, query+at.String(), func(ctx context.Context) (answerOf, error) {
		value, warnings, infos, err := s.api.Query(ctx, query, at, promv1.WithTimeout(evalTimeout))
		return s.answer(value, warnings, infos, err)
	})
}

// over asks for the values of an expression over a stretch of time.
func (s *promServer) over(ctx context.Context, query string, r promv1.Range) (answerOf, error) {
	return s.put(ctx, query+r.Start.String()+r.End.String(), func(ctx context.Context) (answerOf, error) {
		value, warnings, infos, err := s.api.QueryRange(ctx, query, r, promv1.WithTimeout(evalTimeout))
		return s.answer(value, warnings, infos, err)
	})
}

// listed asks for the names of metrics that a selector means.
func (s *promServer) listed(ctx context.Context, match string, from, to time.Time) (answerOf, error) {
	return s.put(ctx, match+to.String(), func(ctx context.Context) (answerOf, error) {
		values, _, _, err := s.api.LabelValues(ctx, "__name__", []string{match}, from, to, promv1.WithLimit(maxKnown))
		if err != nil {
			return answerOf{}, s.plainError(err)
		}
		var a answerOf
		for _, v := range values[:min(len(values), maxKnown)] {
			a.names = append(a.names, string(v))
		}
		return a, nil
	})
}

func (s *promServer) answer(value prommodel.Value, warnings promv1.Warnings, infos promv1.Infos, err error) (answerOf, error) {
	if err != nil {
		return answerOf{}, s.plainError(err)
	}
	a := answerOf{remarks: s.remarks(warnings, infos)}
	switch v := value.(type) {
	case prommodel.Vector:
		a.vector = slices.DeleteFunc(v, func(s *prommodel.Sample) bool { return s == nil || !whole(s.Histogram) })
	case prommodel.Matrix:
		a.matrix = slices.DeleteFunc(v, func(s *prommodel.SampleStream) bool { return s == nil || !wholeStream(s) })
	case *prommodel.Scalar:
		a.scalar = true
		a.vector = prommodel.Vector{{Timestamp: v.Timestamp, Value: v.Value}}
	default:
		return a, &FaultError{model.Malformed, "the server answered a query with neither numbers nor an error"}
	}
	return a, nil
}

// whole reports whether a histogram has all its parts: a null among them is read as
// one that is not there. No histogram is whole.
func whole(h *prommodel.SampleHistogram) bool {
	return h == nil || !slices.Contains(h.Buckets, nil)
}

func wholeStream(s *prommodel.SampleStream) bool {
	return !slices.ContainsFunc(s.Histograms, func(p prommodel.SampleHistogramPair) bool { return p.Histogram == nil || !whole(p.Histogram) })
}

// plainError is an error without what only the client library knows.
func (s *promServer) plainError(err error) error {
	var known *promv1.Error
	if errors.As(err, &known) {
		return &FaultError{model.Malformed, "the answer cannot be read: " + s.sent.excerpt(known.Msg)}
	}
	return err
}

const (
	// notACounter is said of every engine whose counters do not end in _total.
	notACounter = "metric might not be a counter"
	maxRemarks  = 3
)

// remarks are the server's warnings, such as that a part of it did not answer.
func (s *promServer) remarks(warnings, infos []string) []string {
	var said []string
	for _, text := range append(append([]string(nil), warnings...), infos...) {
		if !strings.Contains(text, notACounter) && len(said) < maxRemarks {
			said = append(said, "the server remarks: "+s.sent.excerpt(text))
		}
	}
	return said
}

// greet asks what time it is, and learns by the form of the answer what kind of
// server answers: VictoriaMetrics knows no scalars.
func (s *promServer) greet(ctx context.Context) (answerOf, error) {
	a, err := s.instant(ctx, "time()", time.Time{})
	if err != nil {
		return a, err
	}
	if len(a.vector) != 1 || !isTime(float64(a.vector[0].Value)) {
		return a, &FaultError{model.NotMetrics, "it does not tell the time as a Prometheus server does"}
	}
	s.wholes = !a.scalar
	return a, nil
}

// software names the server, as far as it says what it is.
func (s *promServer) software(ctx context.Context) (string, error) {
	if s.wholes {
		return "VictoriaMetrics", nil // the version that it tells is Prometheus'
	}
	a, err := s.put(ctx, "buildinfo", func(ctx context.Context) (answerOf, error) {
		info, err := s.api.Buildinfo(ctx)
		return answerOf{text: info.Version}, err
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil || a.text == "": // what it is called matters to nobody but the reader
		return "the server", nil
	}
	return "Prometheus " + s.sent.excerpt(a.text), nil
}

// unixTime is a time in seconds, to the millisecond as such servers have it.
func unixTime(seconds float64) time.Time { return time.UnixMilli(int64(seconds*1000 + 0.5)) }

// Close ends the question under way and the kept connection.
func (s *promServer) Close() error {
	s.end()
	if s.flight != nil {
		<-s.flight.done
		s.flight = nil
	}
	s.client.CloseIdleConnections()
	return nil
}
