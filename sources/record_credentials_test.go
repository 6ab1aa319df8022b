package sources_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/config"

	"slotop/sources"
)

// Keys for a log are nowhere in what is told of it, whatever its server does with them.
func TestNoKeyOfALogIsTold(t *testing.T) {
	const secret = "MARKED-SECRET-0123456789"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	quoting := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			said := fmt.Sprint(r.Header, r.URL)
			if _, basic, ok := strings.Cut(r.Header.Get("Authorization"), "Basic "); ok {
				plain, _ := base64.StdEncoding.DecodeString(basic)
				said += string(plain)
			}
			w.Header().Set("Content-Encoding", map[bool]string{true: "x-" + secret}[code == 299])
			w.WriteHeader(code)
			_, _ = w.Write([]byte(said))
		}
	}
	var told []string
	servers := map[string]http.HandlerFunc{
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/"+secret+"?token="+secret, http.StatusFound)
		},
		"in its log": func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"logs":[{"id":"a","error":%q}],"data":[%q],"message":%q}`, secret, secret, fmt.Sprint(r.Header))
		},
		"in a stream": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "event: log\ndata: {%q:1\n\ndata: %s\n\n", secret, secret)
		},
	}
	for _, code := range []int{200, 299, 400, 401, 403, 404, 429, 500, 503} {
		servers[fmt.Sprint(code)] = quoting(code)
	}
	for name, handler := range servers {
		s := httptest.NewServer(handler)
		for _, path := range []string{"/spend/logs/v2", "/api/logs", "/api/metrics/activity", "/log/stream", ""} {
			host := strings.TrimPrefix(s.URL, "http://")
			for way, open := range map[string]func() ([]sources.Opened, error){
				"in the address": func() ([]sources.Opened, error) {
					return sources.Resolve(t.Context(), []string{"events+http://user:" + secret + "@" + host + path + "?api_key=" + secret}, sources.Options{})
				},
				"in a file": func() ([]sources.Opened, error) {
					http := &config.HTTPClientConfig{FollowRedirects: true, Authorization: &config.Authorization{Type: "Bearer", CredentialsFile: file}}
					return sources.Resolve(t.Context(), []string{"events+http://" + host + path}, sources.Options{HTTP: http})
				},
			} {
				opened, err := open()
				if err != nil {
					t.Fatal(name, way, err)
				}
				told = append(told, fmt.Sprintf("%+v", opened[0].Target))
				for range 2 {
					b, err := opened[0].Source.Poll(t.Context())
					told = append(told, fmt.Sprintf("%s %s: %+v %v", name, path, b, err))
					if b.About != nil {
						told = append(told, fmt.Sprintf("%+v", *b.About))
					}
				}
				if err := opened[0].Source.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		s.Close()
	}
	for _, text := range told {
		if strings.Contains(text, "MARKED") || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("user:" + secret))[:20]) {
			t.Errorf("it is in %s", text)
		}
	}
}
