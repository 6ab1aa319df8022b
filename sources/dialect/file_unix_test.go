//go:build unix

package dialect

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no file, or too large for one, is refused at once: a pipe would be
// waited for, a sparse file of some GiB read whole.
func TestFilesThatAreNoDialects(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"regular file": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"no regular":   func(path string) error { return os.Mkdir(path, 0o700) },
		"larger than 1048576 bytes": func(path string) error {
			if err := os.WriteFile(path, []byte("engine: foo\n"), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 3<<30)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, "foo.yaml")); err != nil {
				t.Fatal(err)
			}
			err := builtinSet(t).AddDir(os.DirFS(dir))
			if err == nil || !strings.Contains(err.Error(), "foo.yaml") || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
		})
	}
}
