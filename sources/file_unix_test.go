//go:build unix

package sources_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"slotop/model"
	"slotop/sources"
)

// A pipe or a device is refused when it is opened, not waited for.
func TestIrregularFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "000.prom")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, what := range map[string]string{pipe: "a pipe", os.DevNull: "a device"} {
		var usage *sources.UsageError
		if _, err := sources.Resolve(t.Context(), []string{path}, sources.Options{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", path, err)
		}
		var irregular *sources.IrregularError
		if _, err := sources.OpenFile(path); !errors.As(err, &irregular) || irregular.What != what {
			t.Errorf("%s: got %v", path, err)
		}
	}
	_, err := pollOne(t, dir, sources.Options{})
	wantFault(t, err, model.UnsupportedPage, "a pipe")
}
