package discover

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Socket is a TCP socket of this host that waits for connections.
type Socket struct {
	Addr  netip.AddrPort // where it listens; the unspecified address means everywhere
	UID   int            // of the user it belongs to
	Inode uint64         // by which the process that holds it is found
}

const (
	// maxTable bounds what is read of a table of sockets: half a million of them, of
	// which few listen.
	maxTable = 96 << 20
	// maxSockets bounds those that listen. A port is a number of 16 bits.
	maxSockets = 4096
)

// Listening are the TCP sockets of this host that wait for connections, as the
// tables below proc, /proc as a rule, have them for IPv4 and IPv6. A host without
// IPv6 lacks the second. It fails where there is neither.
func Listening(proc string) ([]Socket, error) {
	var all []Socket
	var failed error
	read := false
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(filepath.Join(proc, "net", name))
		if err != nil {
			failed = err
			continue
		}
		read = true
		all = append(all, parseTable(io.LimitReader(f, maxTable))...)
		_ = f.Close()
	}
	if !read {
		return nil, failed
	}
	return all[:min(len(all), maxSockets)], nil
}

// parseTable reads a table such as /proc/net/tcp (proc_net_tcp.txt in the kernel's
// documentation). Rows that it cannot read are none that listen.
func parseTable(table io.Reader) []Socket {
	var all []Socket
	lines := bufio.NewScanner(table)
	for lines.Scan() && len(all) < maxSockets {
		if s, ok := parseRow(lines.Text()); ok {
			all = append(all, s)
		}
	}
	return all
}

// The columns of a row, and the state of a socket that listens.
const (
	columnLocal = 1
	columnState = 3
	columnUID   = 7
	columnInode = 9

	listens = "0A"
)

func parseRow(row string) (Socket, bool) {
	column := strings.Fields(row)
	if len(column) <= columnInode || column[columnState] != listens {
		return Socket{}, false
	}
	addr, ok := parseLocal(column[columnLocal])
	uid, wrongUID := strconv.ParseUint(column[columnUID], 10, 32)
	inode, wrongInode := strconv.ParseUint(column[columnInode], 10, 64)
	if !ok || wrongUID != nil || wrongInode != nil {
		return Socket{}, false
	}
	return Socket{Addr: addr, UID: int(uid), Inode: inode}, true
}

// parseLocal reads an address and a port in hexadecimal: each word of the address
// in the byte order of the machine, the port as people write it.
func parseLocal(local string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(local, ":")
	raw, err := hex.DecodeString(host)
	number, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil || number == 0 || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, false
	}
	for word := raw; len(word) > 0; word = word[4:] {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(number)), ok
}
