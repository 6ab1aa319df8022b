package sources

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/prometheus/common/config"

	"slotop/model"
)

var dnsKind = Kind{
	Name:    "dns",
	Doc:     "every address of a name as a target of its own, such as a headless Service's pods, watched as they come and go",
	Example: "dns+http://vllm.prod:8000",
	Match: func(arg string) bool {
		return strings.HasPrefix(arg, dnsPrefix+"http://") || strings.HasPrefix(arg, dnsPrefix+"https://")
	},
	Open: openDNS,
}

const dnsPrefix = "dns+"

// dns finds the addresses of a name.
type dns struct {
	found
	url    *url.URL
	user   *url.Userinfo
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

var _ Finder = (*dns)(nil)

func openDNS(_ context.Context, spec Spec) ([]Opened, error) {
	u, _, err := parseAddress(strings.TrimPrefix(spec.Address, dnsPrefix))
	if err != nil {
		return nil, usage(spec.Address, "not a complete address", "write dns+http://NAME:PORT/PATH")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil, usage(spec.Address, "an address, not a name", "write it without dns+")
	}
	user := u.User
	u.User = nil
	spec.Options.HTTP = forName(spec.Options.HTTP, u)
	spec.Options.host = u.Host
	return []Opened{{
		Target: model.Target{ID: dnsPrefix + targetID(u), Name: dnsPrefix + u.Host, Kind: model.FinderTarget},
		Source: &dns{found: found{options: spec.Options}, url: u, user: user, lookup: addressesOf},
	}}, nil
}

// forName makes a certificate for the name good for each of its addresses.
func forName(http *config.HTTPClientConfig, u *url.URL) *config.HTTPClientConfig {
	if u.Scheme != "https" {
		return http
	}
	named := config.HTTPClientConfig{FollowRedirects: true}
	if http != nil {
		named = *http
	}
	if named.TLSConfig.ServerName == "" {
		named.TLSConfig.ServerName = u.Hostname()
	}
	return &named
}

func addressesOf(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// Poll looks the name up again. A name that is gone for a moment takes no target
// along: the resolver's trouble is not the pods'.
func (d *dns) Poll(ctx context.Context) (model.Batch, error) {
	addrs, err := d.lookup(ctx, d.url.Hostname())
	if err != nil {
		return model.Batch{}, lookupFault(err, d.url.Hostname())
	}
	addrs, notes := oneFamily(addrs)
	specs := make([]Spec, 0, len(addrs))
	for _, a := range addrs {
		u := *d.url
		u.User = d.user
		u.Host = a.String()
		if a.Is6() {
			u.Host = "[" + a.String() + "]"
		}
		if port := d.url.Port(); port != "" {
			u.Host = net.JoinHostPort(a.String(), port)
		}
		specs = append(specs, Spec{Address: u.String(), Options: d.options})
	}
	return d.take(specs, notes...), nil
}

// oneFamily keeps the IPv4 addresses where there are any: a server with an address
// of each kind would count double.
func oneFamily(addrs []netip.Addr) (kept []netip.Addr, notes []string) {
	var v6 []netip.Addr
	for _, a := range addrs {
		if a = a.Unmap(); a.Is4() {
			kept = append(kept, a)
		} else {
			v6 = append(v6, a)
		}
	}
	if len(kept) == 0 {
		return v6, nil
	}
	if len(v6) > 0 {
		notes = []string{strconv.Itoa(len(v6)) + " IPv6 addresses are left out: a server has one of each kind"}
	}
	return kept, notes
}

func lookupFault(err error, host string) error {
	var lookup *net.DNSError
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return &FaultError{model.NotFound, "no such name: " + excerpt(host)}
	case errors.As(err, &lookup) && lookup.IsTimeout:
		return &FaultError{model.Timeout, "the name server does not answer"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	default:
		return &FaultError{model.Refused, excerpt("the name cannot be looked up: " + err.Error())}
	}
}
