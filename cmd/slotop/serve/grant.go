package serve

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"
)

// grant is what the options before a key say of it. The zero grant lets its owner
// look, from everywhere and for ever.
type grant struct {
	from    *addresses // nil: from everywhere
	expires time.Time  // zero: never
	noPTY   bool
	env     []string // NAME=value, over what the client sent
}

// options are those of sshd(8) that mean something here. What is in no row refuses
// its key: an option that is not understood may be there to keep somebody out.
var options = map[string]func(g *grant, value string) error{
	"from": func(g *grant, value string) (err error) {
		if g.from != nil {
			return errTwice
		}
		g.from, err = parseAddresses(value)
		return err
	},
	"expiry-time": func(g *grant, value string) (err error) {
		if !g.expires.IsZero() {
			return errTwice
		}
		g.expires, err = parseExpiry(value)
		return err
	},
	"environment": (*grant).setEnv,
	"no-pty":      func(g *grant, _ string) error { g.noPTY = true; return nil },
	"restrict":    func(g *grant, _ string) error { g.noPTY = true; return nil },
	"pty":         func(g *grant, _ string) error { g.noPTY = false; return nil },

	// These forbid what nobody gets here.
	"no-agent-forwarding": forbids, "no-port-forwarding": forbids, "no-x11-forwarding": forbids, "no-user-rc": forbids,
}

// bare are the options that take no value.
var bare = []string{"no-pty", "restrict", "pty", "no-agent-forwarding", "no-port-forwarding", "no-x11-forwarding", "no-user-rc"}

var errTwice = errors.New("it is given twice")

func forbids(*grant, string) error { return nil }

// parseGrant reads the options of a key. Names are the same in capitals, as in sshd.
func parseGrant(list []string) (grant, error) {
	var g grant
	for _, o := range list {
		name, value, valued := strings.Cut(o, "=")
		name = strings.ToLower(name)
		set := options[name]
		if set == nil {
			return grant{}, fmt.Errorf("option %s is not offered, so this key lets nobody in", name)
		}
		if valued == slices.Contains(bare, name) {
			return grant{}, fmt.Errorf("option %s: it takes %s", name, map[bool]string{true: "no value", false: "a value in quotes"}[valued])
		}
		if valued {
			var ok bool
			if value, ok = unquote(value); !ok {
				return grant{}, fmt.Errorf("option %s: its value is not in quotes", name)
			}
		}
		if err := set(&g, value); err != nil {
			return grant{}, fmt.Errorf("option %s: %w", name, err)
		}
	}
	return g, nil
}

func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`), true
}

// setEnv takes a variable that the screen understands.
func (g *grant) setEnv(value string) error {
	name, _, ok := strings.Cut(value, "=")
	if !ok || !known(name) && name != Kiosk {
		return fmt.Errorf("%q is not one of %s, %s with a value", name, strings.Join(understood, ", "), Kiosk)
	}
	g.env = append(g.env, value)
	return nil
}

// parseExpiry reads a day or a time as sshd(8) has them: YYYYMMDD or
// YYYYMMDDHHMM[SS], of the system's clock unless a Z follows.
func parseExpiry(value string) (time.Time, error) {
	digits, utc := strings.CutSuffix(value, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	layout := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}[len(digits)]
	t, err := time.ParseInLocation(layout, digits, zone)
	if layout == "" || err != nil {
		return time.Time{}, fmt.Errorf("%q is no YYYYMMDD or YYYYMMDDHHMM[SS]", value)
	}
	return t, nil
}

// addresses is a list of patterns as from= has it: networks, and addresses with * and
// ?, each turned round by a leading !.
type addresses struct{ patterns []pattern }

type pattern struct {
	not  bool
	net  netip.Prefix // zero where the pattern is of characters
	text string
}

// errNames refuses names: to trust one means to trust whoever answers for the
// client's address in the DNS.
var errNames = errors.New("names of hosts are not looked up: give addresses or networks")

func parseAddresses(list string) (*addresses, error) {
	var a addresses
	for p := range strings.SplitSeq(list, ",") {
		text, not := strings.CutPrefix(strings.TrimSpace(p), "!")
		one, err := netip.ParseAddr(text)
		switch {
		case err == nil:
			a.patterns = append(a.patterns, pattern{not: not, net: netip.PrefixFrom(one.Unmap(), one.Unmap().BitLen())})
		case text == "" || strings.Trim(text, "0123456789abcdefABCDEF.:*?/") != "" || !strings.ContainsAny(text, ".:*?/"):
			return nil, fmt.Errorf("%q: %w", text, errNames)
		case strings.Contains(text, "/"):
			n, err := netip.ParsePrefix(text)
			if err != nil || n.Masked() != n {
				return nil, fmt.Errorf("%q is no network", text)
			}
			a.patterns = append(a.patterns, pattern{not: not, net: n})
		default:
			a.patterns = append(a.patterns, pattern{not: not, text: strings.ToLower(text)})
		}
	}
	return &a, nil
}

// allows reports whether a pattern holds the address and none that is turned round
// does.
func (a *addresses) allows(at netip.Addr) bool {
	at = at.Unmap().WithZone("")
	allowed := false
	for _, p := range a.patterns {
		if !p.holds(at) {
			continue
		}
		if p.not {
			return false
		}
		allowed = true
	}
	return allowed
}

func (p pattern) holds(at netip.Addr) bool {
	if p.net.IsValid() {
		return p.net.Contains(at)
	}
	ok, err := path.Match(p.text, at.String())
	return err == nil && ok
}
