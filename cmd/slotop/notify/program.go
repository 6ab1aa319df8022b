package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"slotop/model"
)

const (
	// maxTail is what is kept of a program's last line of errors.
	maxTail = 256
	// afterExit is how long the error output of a program that has ended may be
	// held open by what it left running.
	afterExit = 20 * time.Millisecond
)

// program runs a program for each notice.
type program struct {
	path    string
	args    []string
	timeout time.Duration
}

func newProgram(s Sink) (*program, error) {
	path, err := exec.LookPath(s.Exec[0])
	if err != nil {
		return nil, fmt.Errorf("exec: no program %s can be run: %w", clean(s.Exec[0]), cause(err))
	}
	return &program{path: path, args: s.Exec[1:], timeout: s.Timeout}, nil
}

// cause is the plain reason, without the path, which the message has already.
func cause(err error) error {
	if wrapped := (*exec.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if wrapped := (*os.PathError)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err
}

func (p *program) where() string          { return clean(p.path) }
func (p *program) limit() int             { return 1 }
func (p *program) refresh() time.Duration { return 0 }

// carry runs the program for one notice in a session of its own: it has no
// terminal, and what it started ends with it.
func (p *program) carry(ctx context.Context, sent []notice) error {
	var errs tail
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = append(os.Environ(), environment(sent[0])...)
	cmd.Stderr = &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = afterExit
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s cannot be started: %w", p.where(), cause(err))
	}
	err := cmd.Wait()
	_ = killGroup(cmd) // what it left running; usually nothing
	return p.outcome(ctx, err, errs.line())
}

// killGroup ends a program that leads a session, and its children.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func (p *program) outcome(ctx context.Context, err error, said string) error {
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s did not end within %v and was killed", p.where(), p.timeout)
	case ctx.Err() != nil:
		return fmt.Errorf("%s was killed: slotop is leaving", p.where())
	}
	if said = p.withoutSecrets(said); said != "" {
		return fmt.Errorf("%s ended with %w: %s", p.where(), err, said)
	}
	return fmt.Errorf("%s ended with %w", p.where(), err)
}

// withheld stands in for a text that quotes what may be a secret.
const withheld = "(its message is not shown: it may quote a key)"

// shortSecret is the length below which a word is taken for an option or a name.
const shortSecret = 8

// withoutSecrets is what the program said, unless it quotes an argument or a key
// from the environment.
func (p *program) withoutSecrets(said string) string {
	for _, arg := range p.args {
		if len(arg) >= shortSecret && strings.Contains(said, arg) {
			return withheld
		}
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) >= shortSecret && isSecretName(name) && strings.Contains(said, value) {
			return withheld
		}
	}
	return clean(said)
}

func isSecretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"},
		func(word string) bool { return strings.Contains(name, word) })
}

func (p *program) show(sent []notice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "would run %s (%d arguments, not shown)\n", p.where(), len(p.args))
	for _, pair := range environment(sent[0]) {
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(pair, "\n", "\n    "))
	}
	return b.String()
}

// environment is an alert as variables. What is unknown is empty, never 0.
func environment(n notice) []string {
	a := cleaned(n.alert)
	return []string{
		"SLOTOP_ALERT_ID=" + string(a.ID),
		"SLOTOP_ALERT_RULE=" + a.Rule,
		"SLOTOP_ALERT_STATE=" + string(a.State),
		"SLOTOP_ALERT_SEVERITY=" + string(a.Severity),
		"SLOTOP_ALERT_WORKFLOW=" + string(a.Workflow),
		"SLOTOP_ALERT_TARGET=" + string(a.Target),
		"SLOTOP_ALERT_TEXT=" + a.Text,
		"SLOTOP_ALERT_SINCE=" + stamp(a.Since),
		"SLOTOP_ALERT_FIRED_AT=" + stamp(a.FiredAt),
		"SLOTOP_ALERT_RESOLVED_AT=" + stamp(resolvedAt(a)),
		"SLOTOP_ALERT_VALUE=" + number(a.Value),
		"SLOTOP_ALERT_PEAK=" + number(a.Peak),
		"SLOTOP_ALERT_LIMIT=" + number(a.Limit),
		"SLOTOP_ALERT_UNIT=" + string(a.Unit),
		"SLOTOP_ALERT_TIMES=" + strconv.Itoa(a.Times),
		"SLOTOP_ALERT_CAUSE=" + string(a.Cause),
		"SLOTOP_ALERT_MEMBERS=" + strings.Join(a.Members, "\n"),
		"SLOTOP_ALERT_SIMULATED=" + strconv.FormatBool(n.simulated),
	}
}

// resolvedAt is when the alert was resolved. An alert that fires again may still
// carry the time at which it did so before.
func resolvedAt(a model.AlertView) model.Instant {
	if a.State == model.AlertResolved {
		return a.ResolvedAt
	}
	return model.Instant{}
}

// tail keeps the last line that is written to it.
type tail struct {
	last    []byte
	newLine bool
}

func (t *tail) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			t.newLine = true
		case t.newLine:
			t.last, t.newLine = append(t.last[:0], c), false
		case len(t.last) < maxTail:
			t.last = append(t.last, c)
		}
	}
	return len(p), nil
}

func (t *tail) line() string { return strings.ToValidUTF8(strings.TrimSpace(string(t.last)), "") }
