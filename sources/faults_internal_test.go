package sources

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"slotop/model"
)

// Where slotop itself may open no more files its targets are not to blame.
func TestOurOwnLimitIsNotTheTargets(t *testing.T) {
	request, err := http.NewRequest(http.MethodGet, "http://host:8000/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	full := os.NewSyscallError("socket", syscall.EMFILE)
	for name, got := range map[string]error{
		"dial":    requestFault(&url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: full}}, request, nil),
		"look up": requestFault(&net.OpError{Op: "dial", Err: &net.DNSError{Err: full.Error(), Name: "host"}}, request, nil),
		"file":    fileFault(&fs.PathError{Op: "open", Path: "a.prom", Err: syscall.ENFILE}),
	} {
		var fault *FaultError
		if !errors.As(got, &fault) || fault.Kind != model.UnsupportedPage || !strings.Contains(fault.Detail, "slotop itself has run out of file descriptors") || !strings.Contains(fault.Detail, "ulimit -n") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
