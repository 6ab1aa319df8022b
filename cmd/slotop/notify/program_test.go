package notify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"slotop/model"
)

// script writes a shell script that can be run.
func script(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a script.sh")
	write(t, path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700)
	return path
}

// runOne runs a program for one alert, without the pace.
func runOne(t *testing.T, timeout time.Duration, a model.AlertView, args ...string) error {
	t.Helper()
	before := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, before)
	p, err := newProgram(Sink{Exec: args, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return p.carry(ctx, []notice{{what: began, alert: a}})
}

// TestArguments arrive as they were given: no shell reads them.
func TestArguments(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	given := []string{"a b", `"quoted"`, "'single'", "$(echo no)", "`echo no`", "$HOME", "; rm x", "two\nlines", "", "*", `\`, "-n"}
	path := script(t, `out=$1; shift; for a; do printf '%s\0' "$a"; done >"$out"`)
	if err := runOne(t, patience, fires("a", 0), append([]string{path, out}, given...)...); err != nil {
		t.Fatal(err)
	}
	if got := records(t, out); !slices.Equal(got, given) {
		t.Errorf("the program got %q, want %q", got, given)
	}
}

// records are the texts of a file that end with NUL.
func records(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(b), "\x00")
	return all[:len(all)-1]
}

// TestEnvironment: the alert comes as variables, without what a terminal obeys.
func TestEnvironment(t *testing.T) {
	t.Setenv("SLOTOP_ALERT_ID", "of another")
	out := filepath.Join(t.TempDir(), "out")
	path := script(t, `env -0 >"$1"`)
	a := with(hostile(), func(a *model.AlertView) {
		a.Since.Wall = a.Since.Wall.In(time.FixedZone("", 2*3600))
		a.ResolvedAt = a.FiredAt.Add(-time.Hour) // of the time before
		a.Cause = "target_down/chat-0"
		a.Value = model.Of(0.25)
	})
	if err := runOne(t, patience, a, path, out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pair := range records(t, out) {
		if strings.HasPrefix(pair, "SLOTOP_ALERT_") {
			got = append(got, strings.TrimPrefix(pair, "SLOTOP_ALERT_"))
		}
	}
	slices.Sort(got)
	want := []string{
		"CAUSE=target_down/chat-0",
		"FIRED_AT=2026-03-01T03:00:00Z",
		"ID=slo_burn/chat␛[2J",
		"LIMIT=",
		"MEMBERS=chat-0:8000\nchat-1␀:8000",
		"PEAK=9",
		"RESOLVED_AT=",
		"RULE=slo_burn",
		"SEVERITY=page",
		"SIMULATED=false",
		"SINCE=2026-03-01T04:59:00+02:00",
		"STATE=firing",
		"TARGET=",
		"TEXT=chat burns␤its \"budget\" $(reboot) `id` ; rm -rf / é",
		"TIMES=1",
		"UNIT=",
		"VALUE=0.25",
		"WORKFLOW=chat␛]0;owned␇",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the program got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLongTexts fit into an environment.
func TestLongTexts(t *testing.T) {
	a := with(fires("a", 0), func(a *model.AlertView) {
		a.Text = strings.Repeat("é\x1b", 1<<20)
		for i := range 5000 {
			a.Members = append(a.Members, fmt.Sprintf("target-%d", i))
		}
	})
	if err := runOne(t, patience, a, "true"); err != nil {
		t.Error(err)
	}
}

// TestNoTerminal: the program leads a session without a terminal, reads nothing,
// and its output goes nowhere.
func TestNoTerminal(t *testing.T) {
	path := script(t,
		`[ "$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f4)" = $$ ] || { echo "no session of its own" >&2; exit 1; }`,
		`(: </dev/tty) 2>/dev/null && { echo "has a terminal" >&2; exit 1; }`,
		`[ -z "$(cat)" ] || { echo "something to read" >&2; exit 1; }`,
		`echo said; exit 0`)
	if err := runOne(t, patience, fires("a", 0), path); err != nil {
		t.Error(err)
	}
}

// TestOutcomes: what the program says last is shown, unless it quotes a key.
func TestOutcomes(t *testing.T) {
	t.Setenv("PAGER_TOKEN", secret)
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"well", []string{script(t, "exit 0")}, ""},
		{"badly", []string{script(t, "echo first >&2; printf 'no \\033[1mroute\\n\\n' >&2; exit 3")}, "ended with exit status 3: no ␛[1mroute"},
		{"silently", []string{script(t, "exit 4")}, "ended with exit status 4"},
		{"by a signal", []string{script(t, "kill -TERM $$")}, "signal: terminated"},
		{"with a key from the environment", []string{script(t, `echo "bad key $PAGER_TOKEN" >&2; exit 1`)}, "not shown: it may quote a key"},
		{"with a key from an argument", []string{script(t, `echo "bad key $1" >&2; exit 1`), "key=" + secret}, "not shown: it may quote a key"},
		{"not a program", []string{notProgram(t)}, "cannot be started: exec format error"},
		{"with much to say", []string{script(t, "yes 'a line that is not the last' | head -100000 >&2; printf %5000s x >&2; exit 1")}, "ended with exit status 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := runOne(t, patience, fires("a", 0), tt.args...)
			if (err == nil) != (tt.want == "") {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if err == nil {
				return
			}
			text := err.Error()
			if !strings.Contains(text, tt.want) || strings.Contains(text, secret) || len(text) > 1000 || strings.ContainsAny(text, "\x1b\n") {
				t.Errorf("error %q, want %q", text, tt.want)
			}
		})
	}
}

func notProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	write(t, path, []byte{1, 2, 3}, 0o700)
	return path
}

// TestKilledWithChildren: a program that takes too long ends with all it started,
// also where a child ignores signals and holds its output open.
func TestKilledWithChildren(t *testing.T) {
	for _, tt := range []struct{ name, last, want string }{
		{"a program that hangs", "wait", "did not end within 500ms and was killed"},
		{"a program that leaves a child", "exit 0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pids := filepath.Join(t.TempDir(), "pids")
			path := script(t,
				`sh -c 'trap "" TERM HUP INT; sleep 1000' &`,
				`echo $! >"$1"`,
				`echo $$ >>"$1"`,
				tt.last)
			err := runOne(t, 500*time.Millisecond, fires("a", 0), path, pids)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			b, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range strings.Fields(string(b)) {
				waitGone(t, pid)
			}
		})
	}
}

// waitGone waits until a process is no more than a name that nobody collects.
func waitGone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if syscall.Kill(n, 0) != nil {
			return
		}
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %s still runs", pid)
}

// TestClosesQuickly: leaving kills a program that hangs.
func TestClosesQuickly(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	s := start(t, Sink{Exec: []string{script(t, `: >"$1"; sleep 1000`), started}})
	s.Frame(frame(fires("a", 0)))
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
	}
	began := time.Now()
	s.Close(10 * time.Millisecond)
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
	if st := s.Status()[0]; st.Waiting != 1 {
		t.Errorf("status %+v", st)
	}
}

// TestProgramOnceEach: a real program is run once for the firing and once for the
// end of each alert.
func TestProgramOnceEach(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := start(t, Sink{Exec: []string{script(t, `echo "$SLOTOP_ALERT_ID $SLOTOP_ALERT_STATE $SLOTOP_ALERT_RESOLVED_AT" >>"$1"`), out}, Resolved: true})
	s.Frame(frame(fires("a", 0), fires("b", 0)))
	settled(t, s, func(st SinkStatus) bool { return st.Delivered == 2 })
	s.Frame(frame(resolves("a", 0), fires("b", 0)))
	settled(t, s, func(st SinkStatus) bool { return st.Delivered == 3 })
	got, err := os.ReadFile(out)
	if want := "a firing \nb firing \na resolved 2026-03-01T03:05:00Z\n"; err != nil || string(got) != want {
		t.Errorf("the program ran for %q, want %q (%v)", got, want, err)
	}
}

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		writes []string
		want   string
	}{
		{nil, ""},
		{[]string{"one\n", "two"}, "two"},
		{[]string{"one\ntwo\n"}, "two"},
		{[]string{"on", "e\r\n\n\n"}, "one"},
		{[]string{"one\n", strings.Repeat("x", 2*maxTail)}, strings.Repeat("x", maxTail)},
		{[]string{"a\xffb"}, "ab"},
	} {
		var errs tail
		for _, w := range tt.writes {
			if n, err := errs.Write([]byte(w)); n != len(w) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := errs.line(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.writes, got, tt.want)
		}
	}
}
