package discover

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Candidate is one place on this host at which something listens.
type Candidate struct {
	Address string // host:port to reach it by
	Port    int
	Owner
	// Skip says why it is not spoken to, "" where it is.
	Skip string
	// Likely: its port or its owner is one of those worth reading.
	Likely bool
}

// Candidates are the places at which something listens, the likely ones first.
// A server that listens on several addresses of one port is one of them.
// Where the system does not tell, they are the well-known ports: Guess.
func Candidates(ctx context.Context, proc string) ([]Candidate, error) {
	listening, err := Listening(proc)
	if err != nil {
		return nil, err
	}
	held := owners(ctx, proc, listening)
	chosen := systemPorts(proc)
	var all []Candidate
	for _, g := range servers(listening, held) {
		c := Candidate{Address: g.address, Port: g.port, Owner: g.owner}
		c.Skip, c.Likely = c.judge(chosen)
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Address, b.Address))
	})
	return all, nil
}

// Guess are the well-known ports, for a system that does not tell which of them
// are in use.
func Guess() []Candidate {
	var all []Candidate
	for _, port := range Ports() {
		all = append(all, Candidate{Address: "localhost:" + strconv.Itoa(port), Port: port, Likely: true})
	}
	return all
}

// rank puts those whose owner is known to serve first, then the well-known ports.
func (c *Candidate) rank() int {
	switch {
	case c.Skip != "":
		return 3
	case c.serves != "":
		return 0
	case c.Likely:
		return 1
	default:
		return 2
	}
}

// judge says whether a place is worth a question, and harmed by none.
func (c *Candidate) judge(system portRange) (skip string, likely bool) {
	usual := usualAt(served, c.Port) != ""
	chosen := system.holds(c.Port) && !slices.Contains(c.ports, c.Port) && !usual
	protocol := usualAt(others, c.Port)
	switch {
	case c.PID == os.Getpid():
		return "slotop itself", false
	case c.serves != "" && chosen:
		// Engines speak to their own workers on such ports, and not HTTP.
		return "a port that the system chose for " + c.serves, false
	case c.serves != "":
		return "", true
	case c.other != "":
		return c.other + " speaks another protocol", false
	case !usual && protocol != "":
		return "the port of " + protocol, false
	case chosen:
		return "a port that the system chose", false
	default:
		return "", usual
	}
}

// portRange are the ports that the system gives to programs that name none.
type portRange struct{ from, to int }

func (r portRange) holds(port int) bool { return r.from <= port && port <= r.to }

// systemPorts reads the range, or takes Linux' own default.
func systemPorts(proc string) portRange {
	r := portRange{32768, 60999}
	text := readStart(filepath.Join(proc, "sys/net/ipv4/ip_local_port_range"))
	if n, err := fmt.Sscan(string(text), &r.from, &r.to); n < 2 || err != nil {
		return portRange{32768, 60999}
	}
	return r
}

// server is who listens at a port, by the address to reach it at.
type server struct {
	address string
	port    int
	owner   Owner
}

// servers puts the sockets together by port and owner: a program that listens on
// several addresses is one server.
func servers(listening []Socket, held map[uint64]Owner) []server {
	byKey := map[key][]netip.Addr{}
	owner := map[key]Owner{}
	users := map[int]int{} // of each port
	for _, s := range listening {
		o := held[s.Inode]
		k := keyOf(s, o)
		if byKey[k] == nil {
			users[k.port]++
		}
		if first, ok := owner[k]; !ok || o.PID < first.PID {
			owner[k] = o
		}
		byKey[k] = append(byKey[k], s.Addr.Addr())
	}
	var all []server
	taken := map[string]bool{}
	for k, addrs := range byKey {
		host := hostOf(addrs, users[k.port] == 1)
		all = append(all, server{net.JoinHostPort(host, strconv.Itoa(k.port)), k.port, owner[k]})
	}
	slices.SortFunc(all, func(a, b server) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.owner.PID, b.owner.PID))
	})
	return slices.DeleteFunc(all, func(s server) bool {
		twice := taken[s.address]
		taken[s.address] = true
		return twice
	})
}

// key is what the sockets of one server have in common.
type key struct {
	port, pid, uid int
	program        string
}

// keyOf: whoever listens everywhere is alone on its port, though it may take a
// process for each family of addresses, as a container's port does.
func keyOf(s Socket, o Owner) key {
	k := key{port: int(s.Addr.Port()), pid: o.PID, uid: s.UID, program: o.Program}
	if s.Addr.Addr().IsUnspecified() && o.Program == "docker-proxy" {
		k.pid = 0
	}
	return k
}

// hostOf is how to reach a server that listens on the addresses: by the loopback
// interface where it does, under the name that people know if nobody else has the port.
func hostOf(addrs []netip.Addr, alone bool) string {
	slices.SortFunc(addrs, func(a, b netip.Addr) int {
		return cmp.Or(cmp.Compare(nearness(a), nearness(b)), a.Compare(b))
	})
	best := addrs[0]
	switch {
	case nearness(best) == 0 && alone:
		return "localhost"
	case best.IsUnspecified() && best.Is4():
		return "127.0.0.1"
	case best.IsUnspecified():
		return "::1"
	default:
		return best.String()
	}
}

// nearness is 0 for what the loopback interface reaches under its own name.
func nearness(a netip.Addr) int {
	switch {
	case a.IsUnspecified(), a == netip.IPv6Loopback(), a == netip.AddrFrom4([4]byte{127, 0, 0, 1}):
		return 0
	case a.IsLoopback():
		return 1
	default:
		return 2
	}
}
