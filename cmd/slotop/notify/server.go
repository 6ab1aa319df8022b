package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/config"
)

// maxAnswer is what is read of an answer, so that its connection ends well.
const maxAnswer = 64 << 10

// server is an HTTP server that takes alerts as JSON.
type server struct {
	client  *http.Client
	url     string // a secret: many webhooks have their key in the path
	place   string // scheme and host, fit to be shown
	headers []string
	timeout time.Duration
}

func newServer(life context.Context, h *HTTP, path string, timeout time.Duration, opt Options) (*server, error) {
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("url is not an address: write http://host:port/path or https://…")
	}
	var cfg config.HTTPClientConfig
	if h.Client != nil {
		cfg = *h.Client
	}
	if u.User != nil {
		password, _ := u.User.Password()
		cfg.Authorization, cfg.OAuth2, cfg.BearerToken, cfg.BearerTokenFile = nil, nil, "", ""
		cfg.BasicAuth = &config.BasicAuth{Username: u.User.Username(), Password: config.Secret(password)}
		u.User = nil
	}
	client, err := newClient(life, cfg, timeout, opt)
	if err != nil {
		return nil, fmt.Errorf("its HTTP settings do not work: %s", clean(err.Error()))
	}
	if !strings.HasSuffix(u.Path, path) {
		u = u.JoinPath(path)
	}
	return &server{
		client:  client,
		url:     u.String(),
		place:   clean(u.Scheme + "://" + u.Host),
		headers: headerNames(cfg),
		timeout: timeout,
	}, nil
}

// newClient makes a client that keeps no connection: alerts are rare, and one
// that was kept may have died meanwhile. It follows no redirect: an alert that is
// sent on to a login page would look delivered, and its key would go along.
func newClient(life context.Context, cfg config.HTTPClientConfig, timeout time.Duration, opt Options) (*http.Client, error) {
	cfg.FollowRedirects = false
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	version := opt.Version
	if version == "" {
		version = "dev"
	}
	return config.NewClientFromConfig(cfg, "slotop",
		config.WithKeepAlivesDisabled(),
		config.WithUserAgent("slotop/"+version),
		config.WithDialContextFunc(dialer(life, timeout)),
	)
}

// dialer makes connections that end with life, and after timeout in any case: a
// server that hands out tokens is asked without the context of the delivery.
func dialer(life context.Context, timeout time.Duration) config.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		stop := context.AfterFunc(life, cancel)
		defer stop()
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
			_ = c.Close()
			return nil, err
		}
		return &boundConn{c, context.AfterFunc(life, func() { _ = c.Close() })}, nil
	}
}

// boundConn is a connection that is closed at the end of something else.
type boundConn struct {
	net.Conn
	unbind func() bool
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	c.unbind()
	return c.Conn.Close()
}

// headerNames are the headers that carry what is not shown.
func headerNames(cfg config.HTTPClientConfig) []string {
	var names []string
	if cfg.BasicAuth != nil || cfg.Authorization != nil || cfg.OAuth2 != nil || cfg.BearerToken != "" || cfg.BearerTokenFile != "" {
		names = append(names, "Authorization")
	}
	if cfg.HTTPHeaders != nil {
		for name := range cfg.HTTPHeaders.Headers {
			names = append(names, clean(name))
		}
	}
	slices.Sort(names)
	return names
}

// post sends a value as JSON. Any status from 200 to 299 means that it was taken.
func (s *server) post(ctx context.Context, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s cannot be asked: its address is not one", s.place)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return s.noAnswer(ctx, err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer)
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return nil
	}
	refused := s.refusal(response)
	if after := retryAfter(response, time.Now()); after > 0 {
		return &busyError{refused, after}
	}
	return refused
}

// retryAfter is how long a server asks to be left alone: seconds or a date.
func retryAfter(response *http.Response, now time.Time) time.Duration {
	value := response.Header.Get("Retry-After")
	if s, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return at.Sub(now)
	}
	return 0
}

// wouldPost is what post would send, for a reader.
func (s *server) wouldPost(value any) string {
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "would send to %s (path not shown)\n", s.place)
	for _, name := range s.headers {
		fmt.Fprintf(&b, "  %s: (not shown)\n", name)
	}
	fmt.Fprintf(&b, "%s\n", body)
	return b.String()
}
