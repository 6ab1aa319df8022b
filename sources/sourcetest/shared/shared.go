// Package shared finds the material that tests read in place: real pages and
// reported cases kept beside the checkout. It never copies any of it.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir is the path of name under the folder "shared" beside the repository root.
// Where it is absent the test is skipped, saying so; with CI=true that is a failure.
func Dir(tb testing.TB, name string) string {
	tb.Helper()
	root := repositoryRoot(tb)
	dir := filepath.Join(filepath.Dir(root), "shared", filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("test material is missing: %v", err)
		}
		tb.Skipf("needs test material that is not part of the project: %v", err)
	}
	return dir
}

// File is the content of one file of the material.
func File(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(Dir(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func repositoryRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test")
		}
	}
}
