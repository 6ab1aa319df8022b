package discover

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Owner is the process that holds a socket. Of its command line only what is said
// here is kept: the rest may hold keys.
type Owner struct {
	PID     int    // 0: nobody told, which takes the same user or root
	Program string // what runs, "" unknown: software that is known, or the process's own name

	serves string // software that slotop may read from, "" for none that is known
	other  string // software that speaks another protocol, "" for none that is known
	ports  []int  // that its command line names
}

// maxArguments bounds what is read of a command line, in bytes: those of engines
// are long, and hold whole JSON documents.
const maxArguments = 32 << 10

// owners finds who holds the sockets, until all are found or ctx ends. A socket
// that several processes hold is the oldest one's, which started the others.
func owners(ctx context.Context, proc string, listening []Socket) map[uint64]Owner {
	wanted := map[string]uint64{}
	for _, s := range listening {
		if s.Inode != 0 { // 0: one of the kernel's own
			wanted["socket:["+strconv.FormatUint(s.Inode, 10)+"]"] = s.Inode
		}
	}
	found := map[uint64]Owner{}
	for _, pid := range processes(proc) {
		if len(wanted) == 0 || ctx.Err() != nil {
			break
		}
		held := heldBy(proc, pid, wanted)
		if len(held) == 0 {
			continue
		}
		owner := describe(proc, pid)
		for _, inode := range held {
			found[inode] = owner
		}
	}
	return found
}

// processes are the numbers of all processes, in order.
func processes(proc string) []int {
	dir, err := os.Open(proc)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// heldBy takes the sockets that a process holds out of those that are wanted.
func heldBy(proc string, pid int, wanted map[string]uint64) []uint64 {
	fds := filepath.Join(proc, strconv.Itoa(pid), "fd")
	dir, err := os.Open(fds)
	if err != nil {
		return nil // it is gone, or another user's
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var held []uint64
	for _, name := range names {
		what, err := os.Readlink(filepath.Join(fds, name))
		if err != nil {
			continue
		}
		if inode, ok := wanted[what]; ok {
			held = append(held, inode)
			delete(wanted, what)
		}
	}
	return held
}

// describe reads what a process is called and was started with.
func describe(proc string, pid int) Owner {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	comm := strings.TrimSpace(string(readStart(filepath.Join(dir, "comm"))))
	args := strings.Split(string(readStart(filepath.Join(dir, "cmdline"))), "\x00")
	o := Owner{PID: pid, ports: portsIn(args)}
	o.serves = called(served, wordsOf(slices.Concat(args[:min(len(args), fewArguments)], []string{comm})))
	o.other = called(others, wordsOf([]string{comm, args[0]}))
	o.Program = cmp.Or(o.serves, o.other, comm)
	return o
}

func readStart(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, maxArguments))
	return text
}

// fewArguments is how many arguments may tell what runs: those of an interpreter,
// its options and the first of the program's own.
const fewArguments = 6

// wordsOf are the words that may tell what runs: file names, and what stands
// before a dot or a colon in them, as in vllm.entrypoints.openai.api_server or
// VLLM::APIServer.
func wordsOf(args []string) []string {
	var words []string
	for _, arg := range args {
		if arg == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		word := strings.ToLower(filepath.Base(arg))
		words = append(words, word, strings.TrimSuffix(word, ".py"))
		if end := strings.IndexAny(word, ".: "); end > 0 {
			words = append(words, word[:end])
		}
	}
	return words
}

// portsIn are the ports that a command line names: --port 8000, --port=8000,
// --web.listen-address=127.0.0.1:9090, :4000.
func portsIn(args []string) []int {
	var ports []int
	for i, arg := range args {
		if i == 0 {
			continue
		}
		if at := strings.LastIndexAny(arg, "=:"); at >= 0 {
			arg = arg[at+1:]
		}
		if port, err := strconv.Atoi(arg); err == nil && port > 0 && port < 1<<16 {
			ports = append(ports, port)
		}
	}
	return ports
}
