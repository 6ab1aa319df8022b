package sources_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/sources"
)

const longSecret = "hunter2SECRETxyz"

// holdsSecret reports whether a text holds a good part of the secret or of what
// basic authentication makes of it.
func holdsSecret(text string) bool {
	text = strings.ToLower(text)
	for _, s := range []string{longSecret, "dXNlcjpodW50ZXIyU0VDUkVUeHl6"} {
		for i := range len(s) - 7 {
			if strings.Contains(text, strings.ToLower(s[i:i+8])) {
				return true
			}
		}
	}
	return false
}

func TestNothingThatQuotesAKeyIsShown(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter, key string){
		"json": func(w http.ResponseWriter, key string) { fmt.Fprintf(w, `{"you sent":"%s"}`, key) },
		"html": func(w http.ResponseWriter, key string) { fmt.Fprintf(w, "<html>%s", key) },
		"text": func(w http.ResponseWriter, key string) { fmt.Fprintf(w, "Hello %s\nmore text\nand more\n", key) },
		"status": func(w http.ResponseWriter, key string) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "you sent ", key)
		},
		"cut": func(w http.ResponseWriter, key string) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "key ", key[:len(key)-3], "...")
		},
		"upper": func(w http.ResponseWriter, key string) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, strings.ToUpper(key))
		},
		"bad line": func(w http.ResponseWriter, key string) {
			fmt.Fprint(w, enginePage+key+" is what you sent\n")
		},
		"verdict": func(w http.ResponseWriter, key string) {
			fmt.Fprintf(w, "%s# TYPE x%s gauge\n# TYPE x%s gauge\n", enginePage, plainName(key), plainName(key))
		},
		"series": func(w http.ResponseWriter, key string) { fmt.Fprintf(w, "x%s 1\n", plainName(key)) },
		"redirect": func(w http.ResponseWriter, key string) {
			w.Header().Set("Location", "http://"+plainName(key)+".example.com/x?k="+key)
			w.WriteHeader(http.StatusFound)
		},
		"redirect to a path": func(w http.ResponseWriter, key string) {
			w.Header().Set("Location", "/nothing/"+plainName(key))
			w.WriteHeader(http.StatusFound)
		},
		"not HTTP": func(w http.ResponseWriter, key string) {
			c, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprintf(c, "BAD %s\r\n\r\n", key)
			_ = c.Close()
		},
	}
	for how, sends := range map[string]struct {
		user, query string
		cfg         config.HTTPClientConfig
		key         func(r *http.Request) string
	}{
		"basic": {user: "user:" + longSecret + "@", key: func(r *http.Request) string { return r.Header.Get("Authorization") }},
		"password": {user: "user:" + longSecret + "@", key: func(r *http.Request) string {
			_, p, _ := r.BasicAuth()
			return p
		}},
		"bearer": {
			cfg: config.HTTPClientConfig{BearerToken: longSecret},
			key: func(r *http.Request) string { return r.Header.Get("Authorization") },
		},
		"header": {
			cfg: config.HTTPClientConfig{HTTPHeaders: &config.Headers{Headers: map[string]config.Header{"X-Api-Key": {Secrets: []config.Secret{longSecret}}}}},
			key: func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
		},
		"query": {query: "?sid=" + longSecret, key: func(r *http.Request) string { return r.URL.Query().Get("sid") }},
	} {
		for name, answer := range answers {
			t.Run(how+"/"+name, func(t *testing.T) {
				var key string
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if key == "" {
						key = sends.key(r)
					}
					if strings.HasPrefix(r.URL.Path, "/nothing/") {
						http.NotFound(w, r)
						return
					}
					answer(w, key)
				})
				sends.cfg.FollowRedirects = true
				b, err := pollOne(t, strings.Replace(s.URL, "//", "//"+sends.user, 1)+"/metrics"+sends.query, sources.Options{HTTP: &sends.cfg})
				if key == "" {
					t.Fatal("no key was sent")
				}
				shown := b.FirstBad + fmt.Sprint(err)
				if b.About != nil {
					shown += strings.Join(b.About.Notes, " ")
				}
				if holdsSecret(shown) {
					t.Errorf("shows the key: %s", shown)
				}
			})
		}
	}
}

// plainName is a key without what a name cannot hold.
func plainName(key string) string {
	return strings.NewReplacer(" ", "", "=", "").Replace(key)
}

// What quotes no key is still shown.
func TestAnAnswerIsStillQuoted(t *testing.T) {
	s := serve(t, status(http.StatusBadRequest, "tenant unknown"))
	_, err := pollOne(t, strings.Replace(s.URL, "//", "//me:"+longSecret+"@", 1), sources.Options{})
	wantFault(t, err, model.Refused, "400", "tenant unknown")
}
