package sources

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"slotop/model"
)

func openedDNS(t *testing.T, address string, answer func() ([]netip.Addr, error)) (*dns, Opened) {
	t.Helper()
	opened, err := Resolve(t.Context(), []string{address}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := opened[0].Source.(*dns)
	d.lookup = func(context.Context, string) ([]netip.Addr, error) { return answer() }
	return d, opened[0]
}

func addrs(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

func TestDNS(t *testing.T) {
	for _, c := range []struct {
		address string
		answer  []netip.Addr
		want    string
		note    string
	}{
		{"dns+http://vllm.prod:8000", addrs("10.0.0.2", "10.0.0.1", "10.0.0.2"), "http://10.0.0.1:8000/metrics http://10.0.0.2:8000/metrics", "2 found"},
		{"dns+https://vllm.prod/m", addrs("10.0.0.1"), "https://10.0.0.1/m", "1 found"},
		{"dns+http://vllm.prod:8000", addrs("fd00::1", "10.0.0.1"), "http://10.0.0.1:8000/metrics", "1 IPv6"},
		{"dns+http://vllm.prod", addrs("fd00::1"), "http://[fd00::1]/metrics", "1 found"},
		{"dns+http://vllm.prod:1", addrs("::ffff:10.0.0.1"), "http://10.0.0.1:1/metrics", "1 found"},
	} {
		d, _ := openedDNS(t, c.address, func() ([]netip.Addr, error) { return c.answer, nil })
		b, err := d.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range d.Found() {
			got = append(got, s.Address)
		}
		if strings.Join(got, " ") != c.want || !strings.Contains(strings.Join(b.About.Notes, "; "), c.note) {
			t.Errorf("%s: %v, %v, want %s and %q", c.address, got, b.About.Notes, c.want, c.note)
		}
	}
}

func TestDNSFaults(t *testing.T) {
	for word, err := range map[model.FaultKind]error{
		model.NotFound: &net.DNSError{IsNotFound: true},
		model.Timeout:  &net.DNSError{IsTimeout: true},
		model.Refused:  &net.DNSError{Err: "server misbehaving"},
	} {
		answer := addrs("10.0.0.1")
		var fails error
		d, _ := openedDNS(t, "dns+http://user:S3CRET-MARK@vllm.prod:8000", func() ([]netip.Addr, error) { return answer, fails })
		if _, err := d.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		fails = err
		_, got := d.Poll(t.Context())
		var fault *FaultError
		if !errors.As(got, &fault) || fault.Kind != word || strings.Contains(got.Error(), "MARK") {
			t.Errorf("%v gives %v, want %s", err, got, word)
		}
		if len(d.Found()) != 1 {
			t.Error("a look that failed took the targets along")
		}
	}
	for _, bad := range []string{"dns+http://10.0.0.1:80", "dns+http://", "dns+http://x:99999"} {
		if _, err := Resolve(t.Context(), []string{bad}, Options{}); err == nil {
			t.Errorf("%s was opened", bad)
		}
	}
}

// The server is asked under the name that was looked up, with the name's keys.
func TestDNSAsksByName(t *testing.T) {
	var host, user string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		user, _, _ = r.BasicAuth()
		_, _ = w.Write([]byte("vllm:num_requests_running{model_name=\"m\"} 1\n"))
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	d, o := openedDNS(t, "dns+http://me:pw@vllm.prod:"+u.Port(), func() ([]netip.Addr, error) { return addrs("127.0.0.1"), nil })
	if id := string(o.Target.ID) + o.Target.Name; strings.Contains(id, "me") && strings.Contains(id, "pw") {
		t.Errorf("the target shows its key: %s", id)
	}
	if _, err := d.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := open(t.Context(), d.Found()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = CloseAll(found) }()
	if _, err := found[0].Source.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if host != "vllm.prod:"+u.Port() || user != "me" {
		t.Errorf("asked %q as %q", host, user)
	}
}
