package sources

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// sent is what a source sends to its server that nobody else may see. Some
// servers quote the key that they were sent, whole or cut short, in an answer, a
// page or a redirect: foreign text is shown only after a look at this. A nil
// *sent has no secrets.
type sent struct {
	mu      sync.Mutex // headers are written by a goroutine of the HTTP client
	secrets map[string]bool
	runs    map[string]bool // every run of quotedRun bytes in one of them, in lower case
	short   []string        // the secrets that are no longer than such a run
}

const (
	// quotedRun is how much of a secret may not be quoted: a key cut short by a
	// few characters is still a key.
	quotedRun = 6
	// shortValue is the length below which a header's value is taken for a word
	// such as a tenant's name. A key is never that short.
	shortValue = 6
	// maxSecrets bounds what keys that change with every request can fill.
	maxSecrets = 64
	// withheld stands in for text that quotes a secret.
	withheld = "(not shown: it quotes a key)"
)

// newSent knows the secrets of an address. Those of headers come with each
// request, since a key may lie in a file that changes.
func newSent(u *url.URL, more ...string) *sent {
	s := &sent{}
	for _, part := range queryParts(u.RawQuery) {
		name, value, found := strings.Cut(strings.TrimRight(part, "&;"), "=")
		if !found || !isSecretName(name) {
			continue
		}
		s.add(value)
		if plain, err := url.QueryUnescape(value); err == nil {
			s.add(plain)
		}
	}
	for _, secret := range more {
		s.add(secret)
	}
	return s
}

// watch notes the headers of every request that is made with the context.
func (s *sent) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaderField: s.header})
}

// plainHeaders are ours, and those of HTTP/2 that say where a request goes.
var plainHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "User-Agent": true, "Host": true,
	"Cache-Control": true, "Last-Event-Id": true,
	"Content-Type": true, "Content-Length": true, "Transfer-Encoding": true,
}

func (s *sent) header(name string, values []string) {
	name = http.CanonicalHeaderKey(name)
	if plainHeaders[name] || strings.HasPrefix(name, ":") {
		return
	}
	for _, v := range values {
		switch {
		case name == "Authorization":
			for _, key := range keysIn(v) {
				s.add(key)
			}
		case len(v) >= shortValue:
			s.add(v)
		}
	}
}

func (s *sent) add(secret string) {
	secret = strings.ToLower(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret == "" || s.secrets[secret] {
		return
	}
	if s.secrets == nil || len(s.secrets) >= maxSecrets {
		s.secrets, s.runs, s.short = map[string]bool{}, map[string]bool{}, nil
	}
	s.secrets[secret] = true
	if len(secret) <= quotedRun {
		s.short = append(s.short, secret)
		return
	}
	for i := range len(secret) - quotedRun + 1 {
		s.runs[secret[i:i+quotedRun]] = true
	}
}

// quotedIn reports whether a text holds a secret, or a good part of one.
func (s *sent) quotedIn(text string) bool {
	if s == nil || text == "" {
		return false
	}
	text = strings.ToLower(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.short {
		if strings.Contains(text, secret) {
			return true
		}
	}
	for i := range len(text) - quotedRun + 1 {
		if s.runs[text[i:i+quotedRun]] {
			return true
		}
	}
	return false
}

// excerpt is foreign text that is fit for a message, or a mark in its place.
func (s *sent) excerpt(text string) string {
	if s.quotedIn(text) {
		return withheld
	}
	return excerpt(text)
}

// namesIn are the names among those that a server gave which quote no secret.
func (s *sent) namesIn(names []string) []string { return slices.DeleteFunc(names, s.quotedIn) }

// keysIn is the token after the scheme, and the password inside a basic one.
func keysIn(authorization string) []string {
	_, token, found := strings.Cut(authorization, " ")
	if !found {
		token = authorization // a bare key
	}
	keys := []string{token}
	if plain, err := base64.StdEncoding.DecodeString(token); err == nil && strings.EqualFold(authorization[:len(authorization)-len(token)], "basic ") {
		_, password, _ := strings.Cut(string(plain), ":")
		keys = append(keys, password)
	}
	return keys
}
