package notify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slotop/model"
)

// needed is the path of a program of another package. Where it is missing the
// test is skipped; where every part must be there, that is a failure.
func needed(t *testing.T, name, from string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
		t.Fatalf("needs %s (%s): %v", name, from, err)
	}
	t.Skipf("needs %s (%s): %v", name, from, err)
	return ""
}

// resolveTimeout is how soon the Alertmanager of the test takes an alert for
// resolved that it does not hear of.
const resolveTimeout = time.Second

// alertmanagerConfig sends everything to one webhook, at once.
const alertmanagerConfig = `
global: {resolve_timeout: %v}
route:
  receiver: test
  group_by: ['...']
  group_wait: 10ms
  group_interval: 100ms
  repeat_interval: 1h
receivers:
- name: test
  webhook_configs: [{url: '%s', send_resolved: true}]
`

// startAlertmanager runs a real one on the loopback interface and returns its URL.
func startAlertmanager(t *testing.T, receiver string) string {
	t.Helper()
	program := needed(t, "prometheus-alertmanager", "Debian package prometheus-alertmanager")
	dir := t.TempDir()
	file := filepath.Join(dir, "alertmanager.yml")
	write(t, file, fmt.Appendf(nil, alertmanagerConfig, resolveTimeout, receiver), 0o600)
	address := freeAddress(t)
	var log bytes.Buffer
	cmd := exec.Command(program,
		"--config.file="+file, "--storage.path="+dir, "--web.listen-address="+address,
		"--cluster.listen-address=") // alone
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the Alertmanager said:\n%s", log.String())
		}
	})
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the Alertmanager ended: %v", err)
		default:
		}
		if r, err := http.Get("http://" + address + "/-/ready"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return "http://" + address
			}
		}
	}
	t.Fatal("the Alertmanager is never ready")
	return ""
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// notification is what an Alertmanager posts to its receivers.
type notification struct {
	Alerts []struct {
		Status      string
		Labels      map[string]string
		Annotations map[string]string
		StartsAt    time.Time
		EndsAt      time.Time
	}
}

// counted counts requests on their way to a transport.
type counted struct {
	http.RoundTripper
	n atomic.Int64
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	defer c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// TestRealAlertmanager: the receiver behind a real Alertmanager hears of a firing
// alert once, and of its end once, although the alert fires for several times
// its resolve_timeout.
func TestRealAlertmanager(t *testing.T) {
	receiver, got := serve(t, nil)
	url := startAlertmanager(t, receiver.URL)
	s, requests := countedSender(t, url)

	now := time.Now().UTC().Truncate(time.Millisecond)
	a := with(fires("slo_burn/chat", 0), func(a *model.AlertView) {
		a.Target, a.FiredAt.Wall, a.Since.Wall = "chat-0:8000", now, now.Add(-time.Minute)
	})
	s.Frame(frame(a))
	first := received(t, next(t, got))
	if first != "firing slo_burn chat chat-0:8000 page: chat burns its budget" {
		t.Errorf("the receiver got %q", first)
	}
	// It is told often enough, and takes none of it for news.
	for until := time.Now().Add(4 * resolveTimeout); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		s.Frame(frame(a))
	}
	if n := requests.n.Load(); n < 4 {
		t.Errorf("only %d requests in %v", n, 4*resolveTimeout)
	}
	if st := s.Status()[0]; st.Delivered != 1 || st.Failures != 0 {
		t.Errorf("status %+v", st)
	}
	if len(got) != 0 {
		t.Fatalf("while it fires, the receiver also got %s", (<-got).body)
	}

	a.State, a.ResolvedAt.Wall = model.AlertResolved, time.Now()
	s.Frame(frame(a))
	if second := received(t, next(t, got)); second != "resolved slo_burn chat chat-0:8000 page: chat burns its budget" {
		t.Errorf("the receiver got %q", second)
	}
	before := requests.n.Load()
	for until := time.Now().Add(2 * resolveTimeout); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		s.Frame(frame(a))
	}
	if len(got) != 0 {
		t.Errorf("after its end, the receiver also got %s", (<-got).body)
	}
	if after := requests.n.Load(); after != before {
		t.Errorf("%d requests after the end", after-before)
	}
	if st := s.Status()[0]; st.Delivered != 2 || st.Waiting != 0 {
		t.Errorf("status %+v", st)
	}
}

// countedSender speaks to an Alertmanager that forgets after a second.
func countedSender(t *testing.T, url string) (*Sender, *counted) {
	t.Helper()
	s, err := New(Config{Sinks: []Sink{{Alertmanager: &HTTP{URL: url}, Resolved: true}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := s.workers[0].carrier.(*alertmanager)
	m.every = resolveTimeout / 4
	requests := &counted{RoundTripper: m.client.Transport}
	m.client.Transport = requests
	go s.Run(t.Context())
	t.Cleanup(func() { s.Close(0) })
	return s, requests
}

// received is what a notification says, in a line.
func received(t *testing.T, p posted) string {
	t.Helper()
	var n notification
	if err := json.Unmarshal(p.body, &n); err != nil {
		t.Fatalf("%v in %s", err, p.body)
	}
	var lines []string
	for _, a := range n.Alerts {
		l := a.Labels
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s: %s",
			a.Status, cmp.Or(l["alertname"], "?"), l["workflow"], l["target"], l["severity"], a.Annotations["summary"]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
