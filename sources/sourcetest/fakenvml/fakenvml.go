// Package fakenvml builds a libnvidia-ml.so.1 that has no driver and does what a
// test's script says. It knows what NVIDIA's functions look like and nothing of who
// calls them.
package fakenvml

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
)

//go:embed testdata/fake.c
var source []byte

// Library is one such library, loaded from a file of its own.
type Library struct {
	Path string

	script  func(text string)
	calls   func(name string) int
	release func()
}

// Build compiles a library. Left out is what an older one lacks: V1_ONLY, NO_GPM,
// NO_FIELDS, NO_TEMPERATURE or NO_COUNT. Without a C compiler the test is skipped,
// or fails where all parts are required.
func Build(tb testing.TB, without ...string) *Library {
	tb.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
			tb.Fatal("no gcc: it builds the library that stands in for the driver's")
		}
		tb.Skip("no gcc, which would build the library that stands in for the driver's")
	}
	l := &Library{Path: filepath.Join(tb.TempDir(), "libnvidia-ml.so.1")}
	if err := os.WriteFile(l.Path, compiled(tb, gcc, without), 0o600); err != nil {
		tb.Fatal(err)
	}
	l.load(tb)
	return l
}

// built are the libraries that were compiled, by what they are without: each test
// loads a copy of its own.
var built sync.Map

func compiled(tb testing.TB, gcc string, without []string) []byte {
	tb.Helper()
	key := strings.Join(without, " ")
	if done, ok := built.Load(key); ok {
		return done.([]byte)
	}
	dir := tb.TempDir()
	code, library := filepath.Join(dir, "fake.c"), filepath.Join(dir, "fake.so")
	if err := os.WriteFile(code, source, 0o600); err != nil {
		tb.Fatal(err)
	}
	args := []string{"-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, code}
	for _, part := range without {
		args = append(args, "-D"+part)
	}
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		tb.Fatalf("gcc: %v\n%s", err, out)
	}
	done, err := os.ReadFile(library)
	if err != nil {
		tb.Fatal(err)
	}
	built.Store(key, done)
	return done
}

// load finds the library's own functions. Whoever loads the same file later gets
// the same library.
func (l *Library) load(tb testing.TB) {
	tb.Helper()
	handle, err := purego.Dlopen(l.Path, purego.RTLD_NOW)
	if err != nil {
		tb.Fatal(err)
	}
	purego.RegisterLibFunc(&l.script, handle, "fake_script")
	purego.RegisterLibFunc(&l.calls, handle, "fake_calls")
	purego.RegisterLibFunc(&l.release, handle, "fake_release")
}

// Script replaces the world that the library tells of. A line says one thing:
//
//	init 18                                 what Init answers
//	all 999                                 what every other call answers
//	count 7                                 more GPUs than the script lists
//	delay 25000                             microseconds that a call takes
//	hang nvmlDeviceGetPowerUsage            that call does not return before Release
//	clock 1000000                           what stands in the stamps, in microseconds
//	version 550.163.01
//	gpu GPU-1 index=0 name=NVIDIA_H100 busy=90 f186=95000 g5=48.5 temp=!4
//	mig MIG-1 parent=GPU-1 slot=0 instance=3 total=1000 used=10
//	process GPU-1 4121 1048576              its number and its bytes
//
// Of a value _ is a blank and ! stands before a return code. What a card does not
// list it does not support. f is a field, with u before a value of 32 bits and d
// before one that is not whole; g is a performance metric; lost=15 is what every
// call of that card answers.
func (l *Library) Script(text string) { l.script(text) }

// Calls is how often a function was called, of all together for "". Functions are
// named without their version.
func (l *Library) Calls(name string) int { return l.calls(name) }

// Release lets a call that hangs return.
func (l *Library) Release() { l.release() }
