package discover

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tree writes a process table such as the kernel's.
type tree struct {
	tb   testing.TB
	root string
	v4   []string
	v6   []string
}

func newTree(tb testing.TB) *tree {
	tb.Helper()
	return &tree{tb: tb, root: tb.TempDir()}
}

const (
	header4 = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
	header6 = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
)

// kernelForm writes an address as the kernel does: its words in the machine's order.
func kernelForm(at string) string {
	a := netip.MustParseAddrPort(at)
	raw := a.Addr().AsSlice()
	var b strings.Builder
	for ; len(raw) > 0; raw = raw[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(raw))
	}
	return fmt.Sprintf("%s:%04X", b.String(), a.Port())
}

func (t *tree) listen(at string, uid, inode int) *tree { return t.row(at, "0A", uid, inode) }

func (t *tree) row(at, state string, uid, inode int) *tree {
	a := netip.MustParseAddrPort(at)
	row := fmt.Sprintf("   0: %s %s %s 00000000:00000000 00:00000000 00000000  %4d        0 %d 1 0000000000000000 100 0 0 10 0",
		kernelForm(at), strings.Repeat("0", 2*len(a.Addr().AsSlice()))+":0000", state, uid, inode)
	if a.Addr().Is4() {
		t.v4 = append(t.v4, row)
	} else {
		t.v6 = append(t.v6, row)
	}
	return t
}

// process holds sockets, under a command line.
func (t *tree) process(pid int, comm string, args []string, inodes ...int) *tree {
	dir := filepath.Join(t.root, strconv.Itoa(pid))
	t.write(filepath.Join(dir, "comm"), comm+"\n")
	t.write(filepath.Join(dir, "cmdline"), strings.Join(args, "\x00")+"\x00")
	if err := os.MkdirAll(filepath.Join(dir, "fd"), 0o755); err != nil {
		t.tb.Fatal(err)
	}
	for i, inode := range append([]int{0}, inodes...) {
		what := fmt.Sprintf("socket:[%d]", inode)
		if i == 0 {
			what = "/dev/null"
		}
		if err := os.Symlink(what, filepath.Join(dir, "fd", strconv.Itoa(i))); err != nil {
			t.tb.Fatal(err)
		}
	}
	return t
}

func (t *tree) write(path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.tb.Fatal(err)
	}
}

// proc is the path of the finished tree.
func (t *tree) proc() string {
	t.write(filepath.Join(t.root, "net/tcp"), strings.Join(append([]string{header4}, t.v4...), "\n")+"\n")
	if len(t.v6) > 0 {
		t.write(filepath.Join(t.root, "net/tcp6"), strings.Join(append([]string{header6}, t.v6...), "\n")+"\n")
	}
	return t.root
}

func TestParseRow(t *testing.T) {
	for _, c := range []struct {
		row  string
		addr string // "" for none
		uid  int
	}{
		{"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0", "127.0.0.1:8080", 1000},
		{"  17: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0", "0.0.0.0:8000", 0},
		{"0: 00000000000000000000000001000000:1F40 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9", "[::1]:8000", 0},
		{"0: 0000000000000000FFFF00000100007F:1F40 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9", "127.0.0.1:8000", 0},
		{"1: 0100007F:1F90 0100007F:D431 01 0:0 0:0 0 1000 0 4711", "", 0}, // a connection
		{"1: 0100007F:1F90 0100007F:D431 0A 0:0 0:0 0 1000 0", "", 0},      // cut off
		{"1: 0100007F:0000 0100007F:D431 0A 0:0 0:0 0 1000 0 4711", "", 0},
		{"1: 0100007F:1F900 0100007F:D431 0A 0:0 0:0 0 1000 0 4711", "", 0},
		{"1: 0100007:1F90 0100007F:D431 0A 0:0 0:0 0 1000 0 4711", "", 0},
		{"1: 0100:1F90 0100007F:D431 0A 0:0 0:0 0 1000 0 4711", "", 0},
		{"1: 0100007F 0100007F:D431 0A 0:0 0:0 0 1000 0 4711", "", 0},
		{"1: 0100007F:1F90 0100007F:D431 0A 0:0 0:0 0 -1 0 4711", "", 0},
		{"1: 0100007F:1F90 0100007F:D431 0A 0:0 0:0 0 1 0 many", "", 0},
		{header4, "", 0},
		{"", "", 0},
	} {
		if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
			t.Skip("the rows are those of a little-endian machine")
		}
		s, ok := parseRow(c.row)
		switch {
		case ok != (c.addr != ""):
			t.Errorf("%q: %v", c.row, s)
		case ok && (s.Addr.String() != c.addr || s.UID != c.uid):
			t.Errorf("%q: %v of %d", c.row, s.Addr, s.UID)
		}
	}
}

func TestSocketsWithoutIPv6(t *testing.T) {
	proc := newTree(t).listen("0.0.0.0:8000", 0, 7).row("127.0.0.1:9", "01", 0, 8).proc()
	all, err := Listening(proc)
	if err != nil || len(all) != 1 || all[0].Addr.String() != "0.0.0.0:8000" || all[0].Inode != 7 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := Listening(t.TempDir()); err == nil {
		t.Error("a system that does not tell gave no error")
	}
}

func TestSocketsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxSockets {
		fmt.Fprintf(&b, "%d: %s 0:0 0A 0:0 0:0 0 0 0 %d\n", i, kernelForm(fmt.Sprintf("127.0.0.1:%d", 1+i)), i)
	}
	if n := len(parseTable(strings.NewReader(b.String()))); n != maxSockets {
		t.Errorf("%d sockets", n)
	}
}

// FuzzParseTable holds the reading against a slower one by formatted scanning:
// what either takes, the other takes alike.
func FuzzParseTable(f *testing.F) {
	f.Add(header4 + "\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0\n")
	f.Add("0: 00000000000000000000000001000000:1F40 0:0 0A 0:0 0:0 0 0 0 9")
	f.Add("1: 0100007F:1F90 0100007F:D431 01 0:0 0:0 0 1000 0 4711\n\n\x00\n::::")
	f.Fuzz(func(t *testing.T, text string) {
		all := parseTable(strings.NewReader(text))
		if len(all) > maxSockets {
			t.Fatalf("%d sockets", len(all))
		}
		for _, s := range all {
			if !s.Addr.IsValid() || s.Addr.Port() == 0 || s.UID < 0 {
				t.Fatalf("%+v", s)
			}
			row := fmt.Sprintf("0: %s x 0A x x x %d x %d", kernelForm(s.Addr.String()), s.UID, s.Inode)
			again, ok := parseRow(row)
			if !ok || again != s {
				t.Fatalf("%+v is written %q and read %+v", s, row, again)
			}
		}
	})
}
