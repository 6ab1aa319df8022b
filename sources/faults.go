package sources

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"slotop/model"
)

// switches say how each engine's metrics page is switched on or where it lies.
const switches = "vLLM: start without --disable-log-stats; SGLang: --enable-metrics; llama.cpp: --metrics; " +
	"TensorRT-LLM: /prometheus/metrics with return_perf_metrics: true; Triton: port 8002; Dynamo workers: DYN_SYSTEM_PORT; TGI: /metrics on its own port"

const (
	notEnabled = "metrics not enabled or other path (" + switches + ")"
	otherPath  = "no such path: give the whole address, as the gateway's documentation has it"

	needsKey = "set authorization or basic_auth for it in the configuration, or user:password@ in its address"
	trustIt  = "name its CA in tls_config.ca_file, or accept any certificate with tls_config.insecure_skip_verify"
)

// requestFault says why a request got no answer. The text is our own: errors of
// the HTTP client quote addresses.
func requestFault(err error, request *http.Request, sent *sent) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if outOfFiles(err) {
		return &FaultError{model.UnsupportedPage, ownLimit}
	}
	host := request.URL.Host
	var redirect *redirectError
	if errors.As(err, &redirect) {
		return &FaultError{model.Redirected, "redirected to " + sent.excerpt(redirect.to) + ", not followed so that no key leaves " + host + ": give that address if it is the right one"}
	}
	if detail := certificateDetail(err); detail != "" {
		return &FaultError{model.Certificate, detail}
	}
	if isTimeout(err) {
		return &FaultError{model.Timeout, host + " did not answer in time"}
	}
	if detail := refusalDetail(err, host); detail != "" {
		return &FaultError{model.Refused, detail}
	}
	return otherFault(err, sent)
}

// ownLimit is no fault of the target's: it was not even asked.
const ownLimit = "not asked: slotop itself has run out of file descriptors: raise its limit (ulimit -n), or watch fewer targets"

// outOfFiles reports whether this process may open no more files. A failed look-up
// of a name keeps only the text of its cause.
func outOfFiles(err error) bool {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return true
	}
	var dns *net.DNSError
	return errors.As(err, &dns) && strings.Contains(dns.Err, syscall.EMFILE.Error())
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

func certificateDetail(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		remote    *net.OpError
	)
	switch {
	case errors.As(err, &authority):
		issuer := "an unknown issuer"
		if authority.Cert != nil && authority.Cert.Issuer.String() != "" {
			issuer = excerpt(authority.Cert.Issuer.String())
		}
		return "certificate not trusted, issued by " + issuer + ": " + trustIt
	case errors.As(err, &name):
		return "certificate is for another name: " + excerpt(name.Error()) + ": set tls_config.server_name, or use the name it is for"
	case errors.As(err, &invalid):
		return "certificate not valid: " + excerpt(invalid.Error())
	case errors.As(err, &verify):
		return "certificate not trusted: " + excerpt(verify.Err.Error()) + ": " + trustIt
	case errors.As(err, &remote) && remote.Op == "remote error": // a TLS alert
		return "the server ended the TLS handshake (" + excerpt(remote.Err.Error()) + "): it may want a client certificate, tls_config.cert_file and key_file"
	default:
		return ""
	}
}

func refusalDetail(err error, host string) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no host is named " + excerpt(dns.Name) + ": check the spelling and DNS"
	case errors.As(err, &dns):
		return "the name " + excerpt(dns.Name) + " could not be looked up: " + excerpt(dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + host + ": is the server running, and is this its port?"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to " + host
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return host + " closed the connection without an answer"
	default:
		return ""
	}
}

// otherFault is for what has no word of its own, such as an answer that is not HTTP.
func otherFault(err error, sent *sent) error {
	var header tls.RecordHeaderError
	if errors.As(err, &header) {
		return &FaultError{model.Certificate, "the server does not speak TLS: write http://"}
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address
	}
	text := err.Error()
	switch {
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return &FaultError{model.Malformed, "the server speaks TLS: write https://"}
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return &FaultError{model.Certificate, "the server does not speak TLS: write http://"}
	}
	return &FaultError{model.Malformed, sent.excerpt(text)}
}

// bodyFault says why a page ended early, after n bytes.
func bodyFault(err error, n int, sent *sent) error {
	if fault := (*FaultError)(nil); errors.As(err, &fault) {
		return fault
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if isTimeout(err) {
		return &FaultError{model.Timeout, fmt.Sprintf("the page did not end in time, after %d bytes", n)}
	}
	if encoding := (*encodingError)(nil); errors.As(err, &encoding) {
		return &FaultError{model.UnsupportedPage, "the page is compressed as " + sent.excerpt(encoding.encoding) + ", which was not asked for"}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return &FaultError{model.Malformed, fmt.Sprintf("the page was cut off after %d bytes", n)}
	}
	return &FaultError{model.Malformed, fmt.Sprintf("the page could not be read past byte %d: %s", n, sent.excerpt(err.Error()))}
}

// answerFault is what a status other than 200 means for someone who wants a page.
// Missing says what to do where there is none.
func answerFault(response *http.Response, sent *sent, missing string) error {
	body := errorBody(response)
	code := response.StatusCode
	status := fmt.Sprintf("%d at %s", code, sent.excerpt(response.Request.URL.Path))
	if hint := hintOf(body); hint.text != "" {
		return &FaultError{kindOfStatus(code), status + ": " + hint.text}
	}
	kind := kindOfStatus(code)
	switch kind {
	case model.Denied:
		// No excerpt: servers like to quote the key they refuse.
		if response.Request.Header.Get("Authorization") != "" {
			return &FaultError{kind, fmt.Sprintf("%d: the key was not accepted: %s", code, needsKey)}
		}
		return &FaultError{kind, fmt.Sprintf("%d: needs a key: %s", code, needsKey)}
	case model.NotFound:
		return &FaultError{kind, status + ": " + missing}
	case model.NotMetrics:
		return &FaultError{kind, status + ": an answer without a page"}
	default:
		switch kind {
		case model.Timeout:
			status = "answers " + status + ": loading or overloaded"
		case model.Malformed:
			status = "answers " + status + ": a failure inside the server"
		}
		if text := sent.excerpt(string(body)); text != "" {
			status += ": " + text
		}
		return &FaultError{kind, status}
	}
}

func kindOfStatus(code int) model.FaultKind {
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		return model.Denied
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusGone, code == http.StatusNotImplemented:
		return model.NotFound
	case code >= 300 && code < 400:
		return model.Redirected
	case code == http.StatusNotAcceptable:
		return model.UnsupportedPage
	case code < 300:
		return model.NotMetrics
	case busy(code):
		return model.Timeout
	case code >= 500:
		return model.Malformed
	default:
		return model.Refused
	}
}

// busy reports whether a status says that there is no page now, from the server
// or from a proxy in front of it. One such answer means no more than one that
// did not come in time.
func busy(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// errorBody is the start of an answer's text, empty where it cannot be had.
func errorBody(response *http.Response) []byte {
	body, err := readBody(response, nil, maxErrorBody)
	if fault := (*FaultError)(nil); err != nil && !errors.As(err, &fault) {
		return nil
	}
	return body[:min(len(body), maxErrorBody)]
}
