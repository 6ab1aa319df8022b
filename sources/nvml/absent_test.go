package nvml_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A build without the binding is fully static: nothing in it may load a library.
func TestWithoutTheBindingNothingLoadsLibraries(t *testing.T) {
	for tags, want := range map[string]bool{"": true, "nonvml": false} {
		list := exec.Command("go", "list", "-deps", "-tags", tags, "slotop/cmd/slotop")
		list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := list.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := strings.Contains(string(out), "ebitengine/purego"); got != want {
			t.Errorf("with the tags %q: can load libraries %v, want %v", tags, got, want)
		}
	}
}
