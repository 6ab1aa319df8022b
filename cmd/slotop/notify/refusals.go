package notify

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
)

// refusal is what a status means for someone who has an alert to deliver. The
// answer's text is not quoted: servers like to repeat the key they refuse.
func (s *server) refusal(response *http.Response) error {
	code := response.StatusCode
	said := fmt.Sprintf("%s answers %d %s", s.place, code, http.StatusText(code))
	switch {
	case code >= 300 && code < 400:
		return fmt.Errorf("%s%s: redirects are not followed, give the address that takes alerts", said, redirectedTo(response))
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%s: its key is missing or was not accepted, set authorization or basic_auth under http", said)
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusGone:
		return fmt.Errorf("%s: nothing there takes alerts, is the path of its url right?", said)
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity, code == http.StatusUnsupportedMediaType:
		return fmt.Errorf("%s: it does not understand the message, is it the right kind of receiver?", said)
	default:
		return errors.New(said)
	}
}

// redirectedTo names the server that a redirect leads to. Its path may hold a key.
func redirectedTo(response *http.Response) string {
	to, err := response.Location()
	if err != nil || to.Host == "" {
		return ""
	}
	return " to " + clean(to.Scheme+"://"+to.Host)
}

// noAnswer says why a request got none, in our own words: errors of the HTTP
// client quote addresses.
func (s *server) noAnswer(ctx context.Context, err error) error {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s was not waited for: slotop is leaving", s.place)
	case fromTokens(err):
		return fmt.Errorf("%s was not asked: the server named in oauth2 gave no token", s.place)
	case viaProxy(err):
		return fmt.Errorf("%s was not asked: its proxy cannot be reached", s.place)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s did not answer within %v", s.place, s.timeout)
	case errors.As(err, &dns):
		return fmt.Errorf("%s: the name %s could not be looked up: check the spelling and DNS", s.place, clean(dns.Name))
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: is it running, and is this its port?", s.place)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s closed the connection without an answer", s.place)
	case untrusted(err) != nil:
		return fmt.Errorf("%s: its certificate is not trusted (%s): name its CA in tls_config.ca_file", s.place, clean(untrusted(err).Error()))
	default:
		return fmt.Errorf("%s cannot be asked: %s", s.place, unquoted(err))
	}
}

// fromTokens reports whether it was the server of tokens that failed: a request
// within the request, or an answer that may quote what it was sent.
func fromTokens(err error) bool {
	var outer, inner *url.Error
	return errors.As(err, &outer) && errors.As(outer.Err, &inner) || strings.Contains(err.Error(), "oauth2:")
}

func viaProxy(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "proxyconnect"
}

// untrusted is why a certificate was not accepted, nil where none was refused.
func untrusted(err error) error {
	var verify *tls.CertificateVerificationError
	if errors.As(err, &verify) {
		return verify.Err
	}
	var authority x509.UnknownAuthorityError
	if errors.As(err, &authority) {
		return authority
	}
	return nil
}

// unquoted is an error without the address, and without what it quotes, which is
// foreign or ours alone.
func unquoted(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	text, _, _ := strings.Cut(err.Error(), `"`)
	return clean(strings.TrimSpace(text))
}
