package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/tape"
	"slotop/sources"
)

const recordsDir = "../../sources/testdata/canary"

// recordServer is a gateway that answers with a file of records, for any window but
// one long ago.
func recordServer(t *testing.T, file, empty string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recordsDir, file))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Date(2026, 8, 1, 12, 0, 30, 0, time.UTC).Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.RawQuery, "=2000-01-01") {
			_, _ = w.Write([]byte(empty))
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return "events+" + s.URL
}

// TestNoPromptIsShownOrKept: of records with a prompt in every field that may hold one
// nothing reaches the screen, the JSON, the text or a tape.
func TestNoPromptIsShownOrKept(t *testing.T) {
	for name, target := range map[string]string{
		"lines":      "events:" + recordsDir + "/lines.jsonl",
		"portkey":    "events:" + recordsDir + "/portkey.sse",
		"litellm":    recordServer(t, "litellm.json", `{"data":[]}`) + "/spend/logs/v2",
		"bifrost":    recordServer(t, "bifrost.json", `{"logs":[]}`) + "/api/logs",
		"llama-swap": recordServer(t, "llama-swap.json", "") + "/api/metrics/activity",
	} {
		t.Run(name, func(t *testing.T) {
			taped, last, asJSON := recordsPlayed(t, target)
			if len(last.Workflows) == 0 || last.Targets[0].State == model.Down {
				t.Fatalf("nothing came: %+v", last.Targets[0])
			}
			saysNot(t, "the JSON", asJSON, "CANARY")
			for _, size := range [][2]int{{80, 24}, {200, 60}} {
				saysNot(t, "the screen", screenText(t, last, size[0], size[1]), "CANARY")
			}
			saysNot(t, "the tape", tapeText(t, taped), "CANARY")
		})
	}
	for _, file := range []string{"lines.jsonl", "portkey.sse"} {
		tape := filepath.Join(t.TempDir(), "a.tape")
		target := "events:" + filepath.Join(recordsDir, file)
		for _, args := range [][]string{
			{"snapshot", target}, {"snapshot", "-o", "json", "--frames", target},
			{"record", "-o", tape, "--for", "60s", target}, {"snapshot", "-o", "json", tape}, {"check", target},
		} {
			r := headless(t, args...)
			saysNot(t, "the output of "+args[0], r.out+r.err, "CANARY")
			if r.code == exitFailed || r.code == exitUsage {
				t.Errorf("%q: exit %d, %s", args, r.code, r.err)
			}
		}
	}
}

// recordsPlayed watches a target for half a minute: the tape, the last frame, and all
// frames as JSON.
func recordsPlayed(t *testing.T, target string) (taped []byte, last *model.Frame, all string) {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{target}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := tape.NewWriter(&buf, tape.Header{Targets: targetsOf(opened), Every: time.Second, Window: fleet.DefaultWindow})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var frames strings.Builder
	opt := sources.PlayOptions{Every: time.Second, For: 30 * time.Second, Start: time.Date(2026, 8, 1, 12, 0, 30, 0, time.UTC)}
	err = sources.Play(t.Context(), opened, opt, func(in model.Input) {
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
		if c.take(in); in.IsTick() {
			frames.WriteString(asJSON(t, c.box.latest()))
		}
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), c.box.latest(), frames.String()
}

// tapeText is all that a tape holds.
func tapeText(t *testing.T, recorded []byte) string {
	t.Helper()
	r, err := tape.NewReader(bytes.NewReader(recorded))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text strings.Builder
	fmt.Fprintf(&text, "%+v", r.Header())
	for {
		in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if in.Batch != nil {
			fmt.Fprintf(&text, "%+v %+v\n", in.Batch, in.Batch.About)
		}
	}
}
