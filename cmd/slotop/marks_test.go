package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
)

// Stages are begun by a plan and by the lines of a script, each before the poll that
// follows; what ends the lines early is said.
func TestMarked(t *testing.T) {
	tests := []struct {
		name, script string
		plan         []string
		want         []string
		says         string
	}{
		{name: "nobody marks", want: []string{"poll", "poll", "poll"}},
		{name: "a plan", plan: []string{"1s=20 users", "0s=calm"}, want: []string{"calm", "poll", "20 users", "poll", "poll"}},
		{name: "a script", script: "calm\n\n  20 users \n", want: []string{"calm", "20 users", "poll", "poll", "poll"}},
		{
			name: "a line without an end", script: "calm\n" + strings.Repeat("x", 1<<17), want: []string{"calm", "poll", "poll", "poll"},
			says: "slotop: --stages-from: a line is over 64 KiB long: no further stage is read\n",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var said bytes.Buffer
				a := &app{err: &said}
				for _, s := range tc.plan {
					if err := a.flags.plan.Set(s); err != nil {
						t.Fatal(err)
					}
				}
				if tc.script != "" {
					a.flags.stagesFrom = filepath.Join(dir, "stages")
					if err := os.WriteFile(a.flags.stagesFrom, []byte(tc.script), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				var got []string
				emit, err := a.marked(func(in model.Input) {
					if in.Mark != "" {
						got = append(got, in.Mark)
					} else {
						got = append(got, "poll")
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				for i := range 3 {
					emit(model.Input{At: model.Instant{Mono: time.Duration(i) * time.Second}})
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("emitted %q, want %q", got, tc.want)
				}
				if said.String() != tc.says {
					t.Errorf("said %q, want %q", said.String(), tc.says)
				}
			})
		})
	}
}
