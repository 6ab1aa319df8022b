package sources

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/prometheus/common/config"

	"slotop/model"
)

// newClient makes a client that keeps one connection to its target alive.
func newClient(opt Options, user *url.Userinfo) (*http.Client, error) {
	cfg := config.HTTPClientConfig{FollowRedirects: true}
	if opt.HTTP != nil {
		cfg = *opt.HTTP
	}
	if user != nil {
		password, _ := user.Password()
		cfg.Authorization, cfg.OAuth2, cfg.BearerToken, cfg.BearerTokenFile = nil, nil, "", ""
		cfg.BasicAuth = &config.BasicAuth{Username: user.Username(), Password: config.Secret(password)}
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	version := opt.Version
	if version == "" {
		version = "dev"
	}
	client, err := config.NewClientFromConfig(cfg, "slotop", config.WithUserAgent("slotop/"+version))
	if err != nil {
		return nil, err
	}
	if cfg.FollowRedirects {
		client.CheckRedirect = sameServer
	}
	return client, nil
}

// tokenSecrets are what is sent to a token's endpoint, whose answer may quote it.
func tokenSecrets(opt Options) []string {
	if opt.HTTP == nil || opt.HTTP.OAuth2 == nil {
		return nil
	}
	return []string{string(opt.HTTP.OAuth2.ClientSecret)}
}

// redirectError is a redirect that is not followed: a credential must not
// travel to a server that the user did not name.
type redirectError struct{ to string }

func (e *redirectError) Error() string { return "redirected to " + e.to }

// sameServer follows redirects within one scheme, host and port.
func sameServer(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Scheme != first.Scheme || !strings.EqualFold(authority(next.URL), authority(first)) {
		return &redirectError{next.URL.Scheme + "://" + next.URL.Host}
	}
	if len(via) > maxRedirects {
		return &redirectError{fmt.Sprintf("itself more than %d times", maxRedirects)}
	}
	return nil
}

// authority is host and port, the port also where the scheme implies it.
func authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}

func bodyLimit(opt Options) int {
	if opt.Limits.Body > 0 {
		return opt.Limits.Body
	}
	return defaultBody
}

// encodingError is a body in an encoding that was not asked for.
type encodingError struct{ encoding string }

func (e *encodingError) Error() string { return "content encoding " + e.encoding }

var unzippers sync.Pool

// readBody appends a response's plain body to buf. The limit holds for what
// comes out of a decompression, and so for what goes in.
func readBody(response *http.Response, buf []byte, limit int) ([]byte, error) {
	body, done, err := plainBody(response)
	if err != nil {
		return buf, err
	}
	defer done()
	return readAll(body, buf, limit)
}

// plainBody is a response's body without its encoding. Whoever has read it calls
// done.
func plainBody(response *http.Response) (body io.Reader, done func(), err error) {
	switch encoding := strings.ToLower(response.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return response.Body, func() {}, nil
	case "gzip", "x-gzip":
		return unzip(response.Body)
	default:
		return nil, nil, &encodingError{encoding}
	}
}

func unzip(body io.Reader) (plain io.Reader, done func(), err error) {
	z, _ := unzippers.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	if err := z.Reset(body); err != nil {
		unzippers.Put(z)
		return nil, nil, err
	}
	return z, func() { unzippers.Put(z) }, nil
}

// firstRead is the room for a page before its size is known.
const firstRead = 32 << 10

// readAll appends all of r to buf and fails when that is more than limit bytes.
func readAll(r io.Reader, buf []byte, limit int) ([]byte, error) {
	buf, whole, err := readUpTo(r, buf, limit)
	if err == nil && !whole {
		err = oversized(limit)
	}
	return buf, err
}

func oversized(limit int) error {
	return &FaultError{model.Oversized, fmt.Sprintf("the page is larger than %d bytes", limit)}
}

// readUpTo appends r to buf until it ends or buf holds more than the given number
// of bytes. It reports whether that is all of r.
func readUpTo(r io.Reader, buf []byte, most int) (all []byte, whole bool, err error) {
	if cap(buf) == 0 {
		buf = make([]byte, 0, min(firstRead, most+1))
	}
	for len(buf) <= most {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, len(buf) <= most, nil
		}
		if err != nil {
			return buf, false, err
		}
	}
	return buf, false, nil
}
