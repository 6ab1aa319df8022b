package serve

import (
	"crypto/ed25519"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// signer is a key made from a number: tests want the same ones each time.
func signer(tb testing.TB, n byte) ssh.Signer {
	tb.Helper()
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// lineFor is a line of a keys file.
func lineFor(tb testing.TB, options string, n byte) string {
	tb.Helper()
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer(tb, n).PublicKey()))) + " somebody\n"
	if options != "" {
		return options + " " + line
	}
	return line
}

func keysFile(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestOptions(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		options, from, want string // want: "" lets the key in
	}{
		{"", "10.0.0.1", ""},
		{`from="10.0.0.1"`, "10.0.0.1", ""},
		{`from="10.0.0.1"`, "10.0.0.2", "not from this address"},
		{`from="10.0.0.*"`, "10.0.0.77", ""},
		{`from="10.0.0.?"`, "10.0.0.77", "not from"},
		{`from="10.0.0.0/8,!10.0.0.9"`, "10.1.2.3", ""},
		{`from="10.0.0.0/8,!10.0.0.9"`, "10.0.0.9", "not from"},
		{`from="!10.0.0.9"`, "10.0.0.8", "not from"}, // nothing says yes
		{`from="2001:db8::/32"`, "2001:db8::5", ""},
		{`from="2001:DB8:0::5"`, "2001:db8::5", ""},
		{`from="10.0.0.1"`, "::ffff:10.0.0.1", ""},
		{`FROM="10.0.0.1"`, "10.0.0.1", ""},
		{`from="*.example.org"`, "10.0.0.1", "not looked up"},
		{`from="bastion"`, "10.0.0.1", "not looked up"},
		{`from="abc"`, "10.0.0.1", "not looked up"},
		{`from="10.0.0.1/8"`, "10.0.0.1", "no network"},
		{`from="10.0.0.1",from="10.0.0.2"`, "10.0.0.1", "twice"},
		{`from`, "10.0.0.1", "a value in quotes"},
		{`from=10.0.0.1`, "10.0.0.1", "not in quotes"},
		{`expiry-time="20260302Z"`, "10.0.0.1", ""},
		{`expiry-time="20260301Z"`, "10.0.0.1", "expired"},
		{`expiry-time="202603011200Z"`, "10.0.0.1", "expired"},
		{`expiry-time="20260301120001Z"`, "10.0.0.1", ""},
		{`expiry-time="20270101"`, "10.0.0.1", ""},
		{`expiry-time="tomorrow"`, "10.0.0.1", "YYYYMMDD"},
		{`expiry-time="20261399Z"`, "10.0.0.1", "YYYYMMDD"},
		{`expiry-time="20260302Z",from="10.0.0.1"`, "10.0.0.2", "not from"},
		{"restrict", "10.0.0.1", ""},
		{"restrict,pty", "10.0.0.1", ""},
		{"no-pty,no-port-forwarding,no-X11-forwarding,no-agent-forwarding,no-user-rc", "10.0.0.1", ""},
		{`pty="yes"`, "10.0.0.1", "no value"},
		{`environment="SLOTOP_THEME=light"`, "10.0.0.1", ""},
		{`environment="SLOTOP_KIOSK=1"`, "10.0.0.1", ""},
		{`environment="LD_PRELOAD=x.so"`, "10.0.0.1", "not one of"},
		{`command="uptime"`, "10.0.0.1", "command is not offered"},
		{"cert-authority", "10.0.0.1", "cert-authority is not offered"},
		{`permitopen="host:22"`, "10.0.0.1", "permitopen is not offered"},
		{"port-forwarding", "10.0.0.1", "port-forwarding is not offered"},
		{"verify-required", "10.0.0.1", "verify-required is not offered"},
		{`tunnel="0"`, "10.0.0.1", "tunnel is not offered"},
		{"made-up", "10.0.0.1", "made-up is not offered"},
	}
	for _, tc := range tests {
		k := Keys{keysFile(t, "# people\n\n"+lineFor(t, tc.options, 1))}
		_, err := k.allow(signer(t, 1).PublicKey(), netip.MustParseAddr(tc.from), noon)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s from %s: %v", tc.options, tc.from, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s from %s: got %v, want %s", tc.options, tc.from, err, tc.want)
		case err != nil && !strings.Contains(err.Error(), "line 3"):
			t.Errorf("%s: %v does not name its line", tc.options, err)
		}
	}
}

func TestGrants(t *testing.T) {
	for options, want := range map[string]grant{
		"":             {},
		"restrict":     {noPTY: true},
		"restrict,pty": {},
		`no-pty,environment="SLOTOP_THEME=li\"ght"`: {noPTY: true, env: []string{`SLOTOP_THEME=li"ght`}},
	} {
		e := parseEntry(1, lineFor(t, options, 1))
		if e.trouble != "" || e.grant.noPTY != want.noPTY || strings.Join(e.grant.env, " ") != strings.Join(want.env, " ") {
			t.Errorf("%s gives %+v", options, e)
		}
	}
}

// A key on two lines is let in by the one that does so; keys that are no keys hide
// none that are.
func TestFile(t *testing.T) {
	home, now := netip.MustParseAddr("10.0.0.1"), time.Now()
	text := "ssh-ed25519 rubbish\n" + lineFor(t, `from="192.0.2.1"`, 1) + "\r\n" + lineFor(t, "", 1) + `from="10.0.0.1 ` + lineFor(t, "", 2) + lineFor(t, "", 3)
	k, good, warnings, err := OpenKeys(keysFile(t, text))
	if err != nil || good != 3 || len(warnings) != 2 || !strings.Contains(warnings[0], ":1: it is no public key") {
		t.Fatalf("%d good, warnings %q, %v", good, warnings, err)
	}
	for n, want := range map[byte]bool{1: true, 2: false, 3: true, 4: false} {
		if _, err := k.allow(signer(t, n).PublicKey(), home, now); (err == nil) != want {
			t.Errorf("key %d: %v", n, err)
		}
	}
	// A login reads the file again.
	if err := os.WriteFile(k.path, []byte(lineFor(t, "", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[byte]bool{1: false, 4: true} {
		if _, err := k.allow(signer(t, n).PublicKey(), home, now); (err == nil) != want {
			t.Errorf("after the change, key %d: %v", n, err)
		}
	}
	if err := os.Remove(k.path); err != nil {
		t.Fatal(err)
	}
	if _, err := k.allow(signer(t, 4).PublicKey(), home, now); err == nil {
		t.Error("without a file somebody is let in")
	}
}

func TestFilesThatAreNone(t *testing.T) {
	good := keysFile(t, lineFor(t, "", 1))
	if err := os.Chmod(good, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "no such file",
		t.TempDir():                        "no regular file",
		good:                               "chmod go-w",
		keysFile(t, "# nobody\n"):          "no line lets anybody in",
		keysFile(t, lineFor(t, "command=\"x\"", 1)):      "no line lets anybody in",
		keysFile(t, strings.Repeat("# long\n", maxKeys)): "larger than",
	} {
		if _, _, _, err := OpenKeys(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestCertificatesAreRefused(t *testing.T) {
	cert := &ssh.Certificate{Key: signer(t, 1).PublicKey(), CertType: ssh.UserCert, ValidBefore: ssh.CertTimeInfinity}
	if err := cert.SignCert(strings.NewReader(strings.Repeat("x", 1000)), signer(t, 2)); err != nil {
		t.Fatal(err)
	}
	k := Keys{keysFile(t, lineFor(t, "", 1)+lineFor(t, "", 2))}
	if _, err := k.allow(cert, netip.MustParseAddr("10.0.0.1"), time.Now()); err == nil || !strings.Contains(err.Error(), "certificates") {
		t.Errorf("got %v", err)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add(`from="10.0.0.0/8,!10.0.0.1",expiry-time="20260101Z",restrict `, "10.0.0.1")
	f.Add(`environment="A=\"b" ssh-ed25519`, "::1")
	f.Fuzz(func(t *testing.T, options, from string) {
		at, err := netip.ParseAddr(from)
		if err != nil {
			return
		}
		e := parseEntry(1, options+lineFor(t, "", 1))
		if e.key == nil && e.trouble == "" {
			t.Error("neither a key nor why not")
		}
		_ = e.refusal(at, time.Unix(0, 0))
	})
}

func TestHostKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "slotop")
	first, err := OwnHostKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OwnHostKey(dir)
	if err != nil || ssh.FingerprintSHA256(again.PublicKey()) != ssh.FingerprintSHA256(first.PublicKey()) {
		t.Fatalf("another key: %v", err)
	}
	path := filepath.Join(dir, "ssh_host_ed25519_key")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v: %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := makeHostKey(dir, path); err != nil {
		t.Errorf("two that begin at once: %v", err)
	}
	if third, _ := HostKey(path); ssh.FingerprintSHA256(third.PublicKey()) != ssh.FingerprintSHA256(first.PublicKey()) {
		t.Error("the key was written over")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := OwnHostKey(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others read: %v", err)
	}
	bad := keysFile(t, "not a key")
	if _, err := HostKey(bad); err == nil || !strings.Contains(err.Error(), "no private key") || strings.Contains(err.Error(), "not a key\n") {
		t.Errorf("got %v", err)
	}
}
