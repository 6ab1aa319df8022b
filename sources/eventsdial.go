package sources

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"slotop/model"
)

// httpEvents connects to a stream of events over HTTP.
type httpEvents struct {
	*asked
	named bool // it must say of itself that it is a stream
}

var _ dialer = (*httpEvents)(nil)

func openEventStream(spec Spec) ([]Opened, error) {
	_, address, _ := strings.Cut(spec.Address, "+")
	u, given, err := parseAddress(address)
	if err != nil {
		return nil, usage(spec.Address, "not a complete address", eventsForm)
	}
	if !given {
		u.Path = "/"
	}
	a, err := newAsked(spec, u)
	if err != nil {
		return nil, err
	}
	source := newEvents(a, spec.Options, false)
	if !given {
		source = &searched{Source: source, paths: knownPaths(), open: func(path string) Source { return newEvents(a.to(path), spec.Options, true) }}
	}
	target := model.Target{ID: eventsScheme + "+" + targetID(u), Name: u.Host, Kind: model.GatewayTarget}
	return []Opened{{Target: target, Source: source}}, nil
}

// newEvents reads what lies at an address: a log of requests by its path, else a stream.
func newEvents(a *asked, opt Options, named bool) Source {
	if how, before, paths := logAt(a.request.URL.Path); how != nil {
		return newRecordLog(a, how, before, paths, opt)
	}
	a.request.Header.Set("Accept", "text/event-stream, application/x-ndjson")
	a.request.Header.Set("Accept-Encoding", "identity") // what is compressed comes late
	a.request.Header.Set("Cache-Control", "no-store")
	s := newStream(&httpEvents{a, named}, opt.Keep)
	s.wire.decoder.lines.nameBy(opt.WorkflowLabel)
	return s
}

// to is the same server at another path.
func (a *asked) to(path string) *asked {
	request := a.request.Clone(context.Background())
	request.URL.Path, request.URL.RawPath = path, ""
	return &asked{a.client, request, a.sent}
}

// again: what ends is taken up again.
func (h *httpEvents) again() bool { return true }

func (h *httpEvents) dial(ctx context.Context, last string) (io.ReadCloser, error) {
	request := h.request.Clone(h.sent.watch(ctx))
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return nil, requestFault(err, request, h.sent)
	}
	if err := h.refusal(response); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	if isEventStream(response) {
		return thin(response.Body), nil
	}
	return response.Body, nil
}

// refusal says why an answer is no stream of events.
func (h *httpEvents) refusal(response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return answerFault(response, h.sent, otherPath)
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return &FaultError{model.UnsupportedPage, "the stream is compressed as " + h.sent.excerpt(encoding) + ", which was not asked for"}
	}
	kind, parameters, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case h.named && !isEventStream(response):
		return &FaultError{model.NotMetrics, "no stream of events"}
	case kind == "text/html":
		return &FaultError{model.NotMetrics, "no stream of events but an HTML page: check the path"}
	case kind == "text/plain" && parameters["version"] != "":
		return &FaultError{model.NotMetrics, "no stream of events but a metrics page: give its address without events+"}
	}
	return nil
}

// isEventStream reports whether an answer never ends.
func isEventStream(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

func (h *httpEvents) fault(err error) error {
	if fault := (*FaultError)(nil); errors.As(err, &fault) {
		return fault
	}
	switch {
	case errors.Is(err, io.EOF):
		return &FaultError{model.Malformed, "the stream ended before the first event: is " + h.sent.excerpt(h.request.URL.Path) + " one of events?"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return &FaultError{model.Malformed, "the stream was cut off before the first event"}
	}
	return requestFault(err, h.request, h.sent)
}

func (h *httpEvents) close() error {
	h.client.CloseIdleConnections()
	return nil
}

// eventInput reads events from standard input, once.
type eventInput struct {
	from  *os.File
	waits bool // reading it waited before it was ours, and must again
}

var _ dialer = (*eventInput)(nil)

func openEventInput(spec Spec) ([]Opened, error) {
	if isTerminal(os.Stdin) {
		return nil, usage(spec.Address, "standard input is a terminal", "write PROGRAM | slotop events:-")
	}
	target := model.Target{ID: eventsScheme + ":-", Name: "stdin", Kind: model.GatewayTarget}
	s := newStream(&eventInput{from: os.Stdin}, spec.Options.Keep)
	s.wire.decoder.lines.nameBy(spec.Options.WorkflowLabel)
	return []Opened{{Target: target, Source: s}}, nil
}

// isTerminal reports whether a file is a device that somebody types at.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

func (e *eventInput) again() bool { return false }

// dial takes a descriptor of its own, of which reading can be ended.
func (e *eventInput) dial(ctx context.Context, _ string) (io.ReadCloser, error) {
	var file *os.File
	err := e.control(func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		e.waits = flags&unix.O_NONBLOCK == 0
		err = unix.SetNonblock(own, true)
		file = os.NewFile(uintptr(own), "standard input")
		return err
	})
	if err != nil {
		return nil, e.fault(err)
	}
	context.AfterFunc(ctx, func() { _ = file.Close() })
	return file, nil
}

func (e *eventInput) control(do func(fd int) error) error {
	raw, err := e.from.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = raw.Control(func(fd uintptr) { done = do(int(fd)) })
	return errors.Join(err, done)
}

func (e *eventInput) fault(err error) error { return fileFault(err) }

// close leaves standard input as it was to whoever shares it.
func (e *eventInput) close() error {
	if !e.waits {
		return nil
	}
	e.waits = false
	return e.control(func(fd int) error { return unix.SetNonblock(fd, false) })
}

// parseWhole reads an address of which the path is not ours to guess.
func parseWhole(address string) (*url.URL, error) {
	u, given, err := parseAddress(address)
	if err == nil && !given {
		u.Path = "/"
	}
	return u, err
}
