package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The shells' scripts ask the program itself what may stand there.
func TestCompletion(t *testing.T) {
	const files, nothing = ":0", ":4"
	tests := []struct {
		line  string
		words []string // among the answers
		not   []string
		says  string // how the shell goes on
	}{
		{"|", []string{"demo", "serve", "prom+http://", "demo:", "nvml:", "events:", "dns+http://", "file_sd:", "openai+http://", "stats+http://"}, []string{"captures/", "localhost"}, ":2"},
		{"sna|", []string{"snapshot"}, []string{"demo"}, files},
		{"prom|", []string{"prom+http://"}, []string{"stats+http://"}, ":2"},
		{"record -o x.tape ev|", []string{"events:"}, nil, ":2"},
		{"./inc|", nil, []string{"demo"}, files},
		{"replay inc|", nil, nil, files},
		{"demo |", []string{"S1", "S4", "S3b"}, []string{"demo:"}, nothing},
		{"demo S4 |", nil, []string{"S1"}, nothing},
		{"snapshot demo:S1|", []string{"demo:S1", "demo:S10"}, []string{"demo:S4"}, nothing},
		{"--theme |", []string{"dark", "light", "mono", "high-contrast", "colour-blind"}, nil, nothing},
		{"demo --theme l|", []string{"light"}, []string{"dark"}, nothing},
		{"serve --theme d|", []string{"dark"}, []string{"light"}, nothing},
		{"snapshot --screen |", []string{"overview", "latency", "capacity"}, nil, nothing},
		{"snapshot -o |", []string{"text", "json", "markdown"}, nil, nothing},
		{"record -o |", nil, []string{"text"}, files},
		{"serve --keys |", nil, nil, files},
		{"serve --idle |", nil, nil, nothing},
		{"config |", []string{"init", "check", "show"}, nil, nothing},
		{"completion |", []string{"bash", "zsh", "fish", "powershell"}, nil, nothing},
	}
	for _, tc := range tests {
		args := append([]string{"__complete"}, strings.Fields(strings.TrimSuffix(tc.line, "|"))...)
		if line := strings.TrimSuffix(tc.line, "|"); line == "" || strings.HasSuffix(line, " ") {
			args = append(args, "")
		}
		r := headless(t, args...)
		lines := strings.Split(strings.TrimSpace(r.out), "\n")
		got := map[string]bool{}
		for _, l := range lines[:len(lines)-1] {
			word, _, _ := strings.Cut(l, "\t")
			got[word] = true
		}
		for _, w := range tc.words {
			if !got[w] {
				t.Errorf("%s: no %q in %v", tc.line, w, lines)
			}
		}
		for _, w := range tc.not {
			if got[w] {
				t.Errorf("%s: %q is among %v", tc.line, w, lines)
			}
		}
		if last := lines[len(lines)-1]; last != tc.says {
			t.Errorf("%s: the shell is told %s, want %s", tc.line, last, tc.says)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, s := range shells {
		r := headless(t, "completion", s.name)
		if r.code != exitOK || r.err != "" || !strings.Contains(r.out, "__complete") {
			t.Errorf("%s: %d %q", s.name, r.code, r.err)
		}
		if s.name == "bash" {
			check := exec.Command("bash", "-n")
			check.Stdin = strings.NewReader(r.out)
			if text, err := check.CombinedOutput(); err != nil {
				t.Errorf("bash: %v %s", err, text)
			}
		}
	}
	headless(t, "completion").refuses(t, exitUsage, "for which shell")
	headless(t, "completion", "tcsh").refuses(t, exitUsage, "completion")
}

const manualFile = "../../docs/slotop.1"

// TestDocsManual holds the manual to the program, and to what renders it.
func TestDocsManual(t *testing.T) {
	fresh := headless(t, "man").out
	old, err := os.ReadFile(manualFile)
	if *update && string(old) != fresh {
		err = os.WriteFile(manualFile, []byte(fresh), 0o644)
		old = []byte(fresh)
	}
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != fresh {
		t.Error("docs/slotop.1 is not what the program says: make man")
	}
	for _, want := range []string{".SH TARGETS", ".SH KEYS", ".SH EXIT STATUS", "slotop serve", "slotop config init", `\-\-picture`} {
		says(t, "the manual", fresh, want)
	}
}

func TestManualRenders(t *testing.T) {
	groff := part(t, "groff")
	cmd := exec.Command(groff, "-K", "utf8", "-man", "-Tutf8", "-ww", "-P-cbou")
	cmd.Stdin = strings.NewReader(headless(t, "man").out)
	var text, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &complaints
	if err := cmd.Run(); err != nil || complaints.String() != "" {
		t.Errorf("%v %s", err, complaints.String())
	}
	// What might be taken for a request, or for an escape, comes out as it is written.
	for _, want := range []string{"slotop demo 'S1?at=30s&for=2m&seed=7&with=gap'", "~/.config/slotop/config.yaml", "--kiosk", ">~/.local/share/man/man1/slotop.1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
