package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// maxKeys bounds a keys file: a thousand keys are some hundred KiB.
const maxKeys = 1 << 20

// Keys are the people who may look, in the form of OpenSSH's authorized_keys. The
// file is read again at each login, so that a key taken out of it opens nothing more.
type Keys struct{ path string }

// OpenKeys reads the file once, so that a mistake in it is told at the start. The
// warnings name lines that let nobody in; without any line that does it is an error.
func OpenKeys(path string) (k Keys, good int, warnings []string, err error) {
	k = Keys{path}
	entries, err := k.read()
	if err != nil {
		return Keys{}, 0, nil, err
	}
	for _, e := range entries {
		if e.trouble != "" {
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s", path, e.line, e.trouble))
			continue
		}
		good++
	}
	if good == 0 {
		return Keys{}, 0, warnings, fmt.Errorf("%s: no line lets anybody in: put public keys there, as in authorized_keys", path)
	}
	return k, good, warnings, nil
}

// entry is one line of the file: a key and what it may do, or why it is of no use.
type entry struct {
	line    int
	key     ssh.PublicKey // nil where the line could not be read
	grant   grant
	trouble string
}

// errNotListed refuses a key that no line has.
var errNotListed = errors.New("the key is not in the keys file")

// allow says what a key may do that comes from an address at a time. A key on several
// lines is let in by the first that does so; the error is that of the last.
func (k Keys) allow(key ssh.PublicKey, from netip.Addr, now time.Time) (grant, error) {
	if _, ok := key.(*ssh.Certificate); ok {
		return grant{}, errors.New("certificates are not accepted, only keys")
	}
	entries, err := k.read()
	if err != nil {
		return grant{}, err
	}
	err = errNotListed
	for _, e := range entries {
		if e.key == nil || !bytes.Equal(e.key.Marshal(), key.Marshal()) {
			continue
		}
		switch why := e.refusal(from, now); why {
		case "":
			return e.grant, nil
		default:
			err = fmt.Errorf("line %d of the keys file: %s", e.line, why)
		}
	}
	return grant{}, err
}

// refusal says why a line does not let its key in now, "" when it does.
func (e entry) refusal(from netip.Addr, now time.Time) string {
	switch {
	case e.trouble != "":
		return e.trouble
	case !e.grant.expires.IsZero() && !now.Before(e.grant.expires):
		return "the key has expired"
	case e.grant.from != nil && !e.grant.from.allows(from):
		return "not from this address"
	}
	return ""
}

// read parses the file. A line that cannot be read lets nobody in and hides no other.
func (k Keys) read() ([]entry, error) {
	data, err := k.load()
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	var out []entry
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		out = append(out, parseEntry(number, line))
	}
	return out, nil
}

// load reads a file that only its owner may write: who may write it lets people in.
func (k Keys) load() ([]byte, error) {
	info, err := os.Stat(k.path)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return nil, fmt.Errorf("%s: it is no regular file", k.path)
	case mode.Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s may be written by others (mode %04o): chmod go-w %s", k.path, mode.Perm(), k.path)
	}
	f, err := os.Open(k.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxKeys+1))
	if err == nil && len(data) > maxKeys {
		err = fmt.Errorf("%s: it is larger than %d bytes", k.path, maxKeys)
	}
	return data, err
}

func parseEntry(number int, line string) entry {
	e := entry{line: number}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		e.trouble = "it is no public key"
		return e
	}
	e.key = key
	if e.grant, err = parseGrant(options); err != nil {
		e.trouble = err.Error()
	}
	return e
}
