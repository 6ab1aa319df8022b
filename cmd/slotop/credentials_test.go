package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"slotop/sources/sim"
)

// The secrets of the test, of which no part is a word: in the address, in its query,
// and in the configuration.
const (
	passwordMark = "7f3a91d0c5e8b246"
	tokenMark    = "e02b47f8a19c6d35"
	bearerMark   = "c40d2e97f1a6b583"
)

// leak is what a text shows of the secrets, "" where it holds a good part of none.
func leak(text string) string {
	text = strings.ToLower(text)
	for _, mark := range []string{passwordMark, tokenMark, bearerMark} {
		for i := range len(mark) - 7 {
			if at := strings.Index(text, mark[i:i+8]); at >= 0 {
				return text[max(0, at-100):min(len(text), at+40)]
			}
		}
	}
	return ""
}

// gossip is a server that tells everybody what it was sent, and sends its visitors on
// to another one.
type gossip struct {
	*httptest.Server
	asked, strayed atomic.Int32 // with a secret; at the other one
	page           []byte
}

func newGossip(t *testing.T) *gossip {
	t.Helper()
	s, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(warm)
	g := &gossip{}
	if g.page, err = s.Replicas()[0].Page(nil); err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { g.strayed.Add(1) }))
	t.Cleanup(other.Close)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.answer(w, r, other.URL) }))
	t.Cleanup(g.Close)
	return g
}

func (g *gossip) answer(w http.ResponseWriter, r *http.Request, elsewhere string) {
	_, password, _ := r.BasicAuth()
	said := fmt.Sprintf("you sent %s %v %s", r.URL, r.Header, password)
	if leak(said) != "" {
		g.asked.Add(1)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/well"):
		_, _ = fmt.Fprintf(w, "%s%s\n", g.page, said)
	case strings.HasPrefix(r.URL.Path, "/away"):
		http.Redirect(w, r, elsewhere+"/metrics?"+r.URL.RawQuery+"&t="+r.Header.Get("Authorization")+password, http.StatusFound)
	case strings.HasPrefix(r.URL.Path, "/denied"):
		http.Error(w, said, http.StatusUnauthorized)
	case strings.HasPrefix(r.URL.Path, "/text"):
		_, _ = fmt.Fprintln(w, said)
	default:
		http.Error(w, said, http.StatusInternalServerError)
	}
}

// targets are addresses of the server, with what stands before the host and at the end.
func (g *gossip) targets(user, query string) []string {
	var all []string
	at := strings.Replace(g.URL, "//", "//"+user, 1)
	for _, path := range []string{"/well/metrics", "/away/metrics", "/denied/metrics", "/text/metrics", "/wrong/metrics"} {
		all = append(all, at+path+query)
	}
	return append(all, "stats+"+at+"/wrong/stats"+query, "events+"+at+"/wrong/events"+query, "prom+"+at+query)
}

// TestCredentialsInNothingThatIsShown names a server with secrets and looks for them
// in all that is printed, drawn, recorded and reported.
func TestCredentialsInNothingThatIsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program dozens of times, which races no more than once")
	}
	t.Parallel()
	for name, given := range map[string]struct{ user, query, config string }{
		"address": {"me:" + passwordMark + "@", "?token=" + tokenMark, ""},
		"config":  {"", "", "http:\n  authorization: {credentials: " + bearerMark + "}\n  follow_redirects: true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGossip(t)
			dir := t.TempDir()
			config, tape := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "a.tape")
			if err := os.WriteFile(config, []byte(given.config), 0o600); err != nil {
				t.Fatal(err)
			}
			live := append([]string{"--config", config}, g.targets(given.user, given.query)...)
			for _, args := range [][]string{
				append([]string{"snapshot", "--for", "2s"}, live...),
				append([]string{"snapshot", "-o", "json", "--for", "2s"}, live...),
				append([]string{"check", "--for", "2s"}, live...),
				append([]string{"doctor"}, live...),
				append([]string{"doctor", "-o", "json"}, live...),
				append([]string{"record", "-o", tape, "--for", "2s"}, live...),
				{"snapshot", "-o", "json", "--frames", tape},
				{"config", "show", "--config", config},
				append([]string{"config", "init"}, live...),
			} {
				r := headless(t, args...)
				if shown := leak(r.out + r.err); shown != "" {
					t.Errorf("slotop %s shows it: %s", args[0], shown)
				}
				if r.code == exitUsage || r.out+r.err == "" {
					t.Errorf("slotop %s: exit code %d, %s", args[0], r.code, r.err)
				}
			}
			recorded, err := os.ReadFile(tape)
			if err != nil || leak(string(recorded)) != "" {
				t.Errorf("the tape: %v, %s", err, leak(string(recorded)))
			}
			screens(t, live)
			if g.asked.Load() == 0 {
				t.Error("nobody sent a secret: nothing is tested")
			}
			if g.strayed.Load() > 0 {
				t.Error("another server was asked")
			}
		})
	}
}

// screens looks for secrets in what the screens draw: each in turn, a target and an
// alert opened, a number explained.
func screens(t *testing.T, args []string) {
	t.Helper()
	s := startWith(t, setup{cols: 160, rows: 50}, args...)
	s.shows("tok/s")
	for _, keys := range []string{"2", "3", "4", "5", "\r", "\x1b", "6", "\r", "\x1b", "1", "e", "?"} {
		before := s.text()
		s.press(keys)
		s.until("another screen after "+keys, func() bool { return s.text() != before })
		if shown := leak(s.text()); shown != "" {
			t.Errorf("the screen shows it after %q: %q", keys, shown)
		}
	}
	if shown := leak(s.bytes(0)); shown != "" {
		t.Errorf("the terminal was sent it: %q", shown)
	}
	s.press("\x1bq")
}
