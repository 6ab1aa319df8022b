package nvmllayout

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// known is what slotop takes for true, a line a fact.
const known = "../../nvml/testdata/layout.txt"

// TestLayoutIsTheHeaders asks the header for every number in the list of facts.
func TestLayoutIsTheHeaders(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
			t.Fatal("no gcc")
		}
		t.Skip("no gcc, which would read the header")
	}
	facts, err := os.ReadFile(known)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	code, program := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(code, []byte(questions(t, string(facts))), 0o600); err != nil {
		t.Fatal(err)
	}
	// The older forms of functions are declared, and not replaced by the newer.
	if out, err := exec.Command(gcc, "-w", "-DNVML_NO_UNVERSIONED_FUNC_DEFS", "-I", header(t), "-o", program, code).CombinedOutput(); err != nil {
		t.Fatalf("the header lacks something: %v\n%s", err, out)
	}
	answers, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(string(answers), "\n"), strings.Split(string(facts), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d questions", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the header has %q, slotop %q", got[i], want[i])
		}
	}
	t.Logf("%d facts agree with the header", len(want)-1)
}

// questions is a program that prints the list of facts anew, with the header's
// numbers.
func questions(t *testing.T, facts string) string {
	var b strings.Builder
	b.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include <nvml.h>\nint main(void) {\n")
	for line := range strings.Lines(facts) {
		words := strings.Fields(line)
		subject := words[1]
		switch words[0] {
		case "struct":
			fmt.Fprintf(&b, "printf(\"struct %s %%zu\\n\", sizeof(%s));\n", subject, subject)
		case "field":
			of, field, _ := strings.Cut(subject, ".")
			fmt.Fprintf(&b, "printf(\"field %s %%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n", subject, of, field, of, field)
		case "number":
			fmt.Fprintf(&b, "printf(\"number %s %%llu\\n\", (unsigned long long)(%s));\n", subject, subject)
		case "function":
			fmt.Fprintf(&b, "(void)sizeof(&%s); printf(\"function %s\\n\");\n", subject, subject)
		default:
			t.Fatalf("what is %q?", line)
		}
	}
	b.WriteString("return 0;\n}\n")
	return b.String()
}

// header is the folder of the header, in the module that brings it.
func header(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", "github.com/NVIDIA/go-nvml").Output()
	if err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	var module struct{ Dir, Version string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	t.Logf("go-nvml %s", module.Version)
	return filepath.Join(module.Dir, "pkg", "nvml")
}
