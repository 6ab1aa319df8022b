package sources

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"slotop/model"
)

var engineKind = Kind{
	Name:    "engine",
	Doc:     "a server, looked at once: its metrics page (at /metrics unless a path is given), a stats document, a Prometheus-compatible server, or what an engine without a page says in JSON",
	Example: "localhost:8000",
	Match:   isAddress,
	Open:    openEngine,
}

const (
	// defaultBody bounds a page after decompression: a 512-replica exposition is
	// under 2 MiB, a gateway's page with a histogram for each of 50,000 users 66 MB.
	defaultBody = 96 << 20
	// maxRedirects is one more than any server was seen to need.
	maxRedirects = 3
	// maxPooled keeps a single huge page from staying in memory for good.
	maxPooled = 1 << 20
	// maxErrorBody is what is read of an answer that is no page, for its message.
	maxErrorBody = 4 << 10
)

const (
	defaultPath    = "/metrics"
	processStarted = "Process-Start-Time-Unix" // llama.cpp's header
)

// asked is an HTTP server with what is asked of it, and under which keys.
type asked struct {
	client  *http.Client
	request *http.Request // template, context apart
	sent    *sent
}

// newAsked prepares to ask for an address. User and password leave it: they are
// sent as a header by the client, and are never part of an address again.
func newAsked(spec Spec, u *url.URL) (*asked, error) {
	client, err := newClient(spec.Options, u.User)
	if err != nil {
		return nil, usage(spec.Address, "its HTTP settings do not work", excerpt(err.Error()))
	}
	u.User = nil
	request, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, usage(spec.Address, "not an address", forms)
	}
	request.Host = spec.Options.host
	return &asked{client, request, newSent(u, tokenSecrets(spec.Options)...)}, nil
}

// engine scrapes one metrics page.
type engine struct {
	*asked
	page   *page
	limit  int
	guess  bool   // the path is ours and no other was tried yet
	drains string // what lies at /metrics and costs the server something to read, "" for nothing
}

var _ Source = (*engine)(nil)

func openEngine(_ context.Context, spec Spec) ([]Opened, error) {
	u, given, err := parseAddress(spec.Address)
	if err != nil {
		return nil, err
	}
	drain, err := takeDrain(spec.Address, u)
	if err != nil {
		return nil, err
	}
	whole := *u // with the password, which leaves u
	if !given {
		whole.Path = "/"
	}
	asked, err := newAsked(spec, u)
	if err != nil {
		return nil, err
	}
	// Never OpenMetrics: some python clients then write names that no dialect has.
	asked.request.Header.Set("Accept", "text/plain;version=0.0.4")
	asked.request.Header.Set("Accept-Encoding", "gzip")
	page := newPage(spec.Options)
	page.sent = asked.sent
	target := model.Target{ID: targetID(u), Name: u.Host, Kind: model.EngineTarget}
	scraped := &engine{asked: asked, page: page, limit: bodyLimit(spec.Options), guess: !given}
	return []Opened{{Target: target, Source: newPlain(scraped, drain, func() (Source, error) { return newPrometheus(spec, &whole) })}}, nil
}

// start begins anew at the usual path, where that is ours to choose, unless it is
// known to cost the server something.
func (e *engine) start(ours bool) {
	if ours && e.drains == "" {
		e.request = e.at(context.Background(), defaultPath)
		e.guess, e.page.note, e.page.about = true, "", nil
	}
}

// Poll scrapes the page. The first answer that is no page, at a path nobody
// asked for, is followed by a look at the other usual ones.
func (e *engine) Poll(ctx context.Context) (model.Batch, error) {
	batch, err := e.scrape(ctx, e.request)
	var fault *FaultError
	if err == nil || !e.guess || !errors.As(err, &fault) {
		e.guess = e.guess && err != nil
		return batch, err
	}
	paths := otherPaths[fault.Kind]
	if len(paths) == 0 {
		return batch, err
	}
	e.guess = false
	for _, path := range paths {
		if batch, ok := e.tryPath(ctx, path); ok {
			return batch, nil
		}
	}
	e.guess = ctx.Err() != nil && e.drains == "" // there was no time for it
	if e.drains != "" {
		e.request = e.at(ctx, paths[0]) // where the page will be once it is switched on
	}
	return model.Batch{}, &FaultError{fault.Kind, fault.Detail + "; tried " + strings.Join(paths, " and ") + " too"}
}

// otherPaths are tried once where /metrics was our guess. They cost no engine
// anything. An answer that is no page is not asked for again under /metrics/:
// TensorRT-LLM empties a queue for each of those.
var otherPaths = map[model.FaultKind][]string{
	model.NotFound:   {"/prometheus/metrics", "/metrics/"},
	model.NotMetrics: {"/prometheus/metrics"},
}

// tryPath moves the target to another path if there is a page.
func (e *engine) tryPath(ctx context.Context, path string) (model.Batch, bool) {
	request := e.at(ctx, path)
	e.page.note = "found at " + path + ", not at " + defaultPath
	batch, err := e.scrape(ctx, request)
	if err != nil {
		e.page.note = ""
		return model.Batch{}, false
	}
	e.request = request
	return batch, true
}

// at is the request for another path of the same server.
func (e *engine) at(ctx context.Context, path string) *http.Request {
	request := e.request.Clone(ctx)
	request.URL.Path = path
	return request
}

// bodies are shared by all targets: a body is done with when its page is read.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

func (e *engine) scrape(ctx context.Context, request *http.Request) (model.Batch, error) {
	response, err := e.client.Do(request.WithContext(e.sent.watch(ctx)))
	if err != nil {
		return model.Batch{}, requestFault(err, request, e.sent)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return model.Batch{}, answerFault(response, e.sent, e.missing())
	}
	if isEventStream(response) {
		return model.Batch{}, &FaultError{model.NotMetrics, "a stream of events, not a metrics page: write events+ before its address"}
	}
	buf := bodies.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxPooled {
			bodies.Put(buf)
		}
	}()
	fault := func(err error, size int) error { return bodyFault(err, size, e.sent) }
	body, done, err := plainBody(response)
	if err != nil {
		return model.Batch{}, fault(err, 0)
	}
	defer done()
	var batch model.Batch
	*buf, batch, err = e.page.take(ctx, &incoming{Reader: body, limit: e.limit, fault: fault}, *buf, startOf(response))
	if err != nil {
		e.drains = cmp.Or(e.drains, hintOf(*buf).drained())
	}
	tellClock(&batch, response)
	return batch, err
}

// missing says what to do where the address has no page.
func (e *engine) missing() string {
	if e.page.onlyStats {
		return otherPath
	}
	return notEnabled
}

// startOf is the process start time that a server states beside its page.
func startOf(response *http.Response) float64 {
	v, err := strconv.ParseFloat(response.Header.Get(processStarted), 64)
	if err != nil || !(v > firstStart && v < lastStart) {
		return math.NaN()
	}
	return v
}

// Close ends the kept connection.
func (e *engine) Close() error {
	e.client.CloseIdleConnections()
	return nil
}
