package serve

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/ssh"
	"github.com/charmbracelet/colorprofile"
	gossh "golang.org/x/crypto/ssh"

	"slotop/cmd/slotop/screen"
	"slotop/cmd/slotop/spool"
)

// viewer is one screen on one channel. What stops or breaks here stops nothing else.
type viewer struct {
	server *Server
	conn   *gossh.ServerConn
	ch     gossh.Channel
	who    identity
	is     Viewer
	idle   time.Duration
	does   func(*viewer) // what is shown

	out     *spool.Spool
	paced   *paced
	began   time.Time
	pressed atomic.Int64 // when the last key came, in ns since began
	asked   atomic.Int64 // when an open question was asked, 0: none is open
	typed   int          // bytes; of the goroutine that reads keys
	asking  time.Time    // of the last question, or the beginning; of the server's watch
	aside   atomic.Bool  // what is written is no output but a remark

	mu      sync.Mutex
	program *tea.Program
	size    [2]int
	why     string // of the end, "" while it goes on
	code    int
}

func newViewer(n *session, env []string, does func(*viewer)) *viewer {
	v := &viewer{
		server: n.server, conn: n.conn, ch: n.ch, who: n.who, does: does,
		idle: n.server.opt.Idle, began: time.Now(), size: n.size,
		is: Viewer{Key: n.who.key, Width: n.size[0], Height: n.size[1], Env: env, Terminal: n.term != "" && n.term != "dumb"},
	}
	v.asking = v.began
	if v.is.Get(Kiosk) != "" {
		v.idle = 0
	}
	v.paced = &paced{to: sink{v}}
	return v
}

// run shows what there is to show, and leaves the terminal in order.
func (v *viewer) run() {
	var to io.Writer = v.paced
	if v.is.Terminal {
		to = ssh.NewPtyWriter(v.paced)
	}
	v.out = spool.New(to, func(error) { v.end("the connection is gone", exitEnded) })
	defer v.out.Stop()
	if err := v.server.admit(v); err != nil {
		v.server.log("refused %s: %v", v.who, err)
		v.say(err.Error())
		v.leave(exitEnded)
		return
	}
	defer v.server.dismiss(v)
	v.doSafely()
	why, code := v.reason()
	v.server.log("end %s after %s: %s", v.who, time.Since(v.began).Round(time.Second), why)
	v.leave(code)
}

func (v *viewer) doSafely() {
	defer v.recovered()
	v.does(v)
}

// show draws the screen until the viewer or the server ends it.
func (v *viewer) show() {
	if !v.is.Terminal {
		v.showText()
		return
	}
	m, left, err := v.server.opt.Screen(v.is)
	if err != nil {
		v.sayNo(err.Error())
		return
	}
	defer left()
	v.server.log("login %s: %s %q", v.who, sized(v.size), v.is.Get("TERM"))
	opts := []tea.ProgramOption{
		tea.WithInput(keys{v}), tea.WithOutput(v.out), tea.WithEnvironment(v.is.Env), tea.WithColorProfile(v.profile()),
		tea.WithFilter(stays),
	}
	guard := screen.Guard{Up: func() {}, Clear: v.out.Clear, Drain: v.out.Drain, Recovered: v.recovered}
	p := v.prepare(guard, m, opts)
	if p == nil {
		return
	}
	switch _, err := p.Run(); {
	case errors.Is(err, io.EOF):
		v.end("the client sends no more keys", exitEnded)
	case err != nil:
		v.end(err.Error(), exitEnded)
	}
	if why, _ := v.reason(); why != leftByKey {
		v.say(why)
	}
}

// prepare makes the program in the size that the terminal has by now, nil where all
// is over already: a program that never runs would take no message either.
func (v *viewer) prepare(g screen.Guard, m tea.Model, opts []tea.ProgramOption) *tea.Program {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why != "" {
		return nil
	}
	v.program = g.Program(m, append(opts, tea.WithWindowSize(v.size[0], v.size[1]))...)
	return v.program
}

// showText is for those who bring no terminal: the figures of now, as text.
func (v *viewer) showText() {
	v.server.log("login %s: without a terminal", v.who)
	text, code := v.server.opt.Text(v.is)
	_, _ = v.out.Write([]byte(text))
	v.out.Drain(v.server.limits.stuck)
	v.end("the text was sent", code)
}

// sayNo tells what is not there.
func (v *viewer) sayNo(why string) {
	v.say(why)
	v.end(why, exitWanted)
}

// profile is what the client's terminal can show.
func (v *viewer) profile() colorprofile.Profile {
	if screen.Colourless(v.is.Get("TERM")) {
		return colorprofile.ASCII
	}
	return colorprofile.Env(v.is.Env)
}

// stays keeps a viewer from stopping the server's process.
func stays(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return nil
	}
	return msg
}

func (v *viewer) resize(size [2]int) {
	v.mu.Lock()
	v.size = size
	p := v.program
	v.mu.Unlock()
	if p != nil {
		p.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
	}
}

// leftByKey is the reason of those who end their screen themselves.
const leftByKey = "quit"

// end notes the first reason to end and ends the screen.
func (v *viewer) end(why string, code int) {
	v.mu.Lock()
	first := v.why == ""
	if first {
		v.why, v.code = why, code
	}
	p := v.program
	v.mu.Unlock()
	if first && p != nil {
		go p.Quit() // who panicked in the program cannot wait for it
	}
}

func (v *viewer) reason() (why string, code int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why == "" {
		return leftByKey, exitOK
	}
	return v.why, v.code
}

// recovered turns a panic into the end of this screen alone.
func (v *viewer) recovered() {
	if r := recover(); r != nil {
		v.server.log("panic of the screen of %s: %v", v.who, r)
		for line := range strings.Lines(string(debug.Stack())) {
			v.server.log("panic: %s", strings.TrimRight(line, "\n"))
		}
		v.end("the screen failed, which the server's log tells of", exitEnded)
	}
}

// say writes a remark: on the normal screen, or where no terminal is beside the output.
func (v *viewer) say(why string) {
	v.aside.Store(!v.is.Terminal)
	_, _ = v.out.Write([]byte("slotop: " + why + "\n"))
}

// refuseCommand answers those who ask for one.
func (v *viewer) refuseCommand() {
	v.sayNo("this is a screen and runs no command: use ssh without one")
}

// leave waits for the last bytes, tells the exit code and closes the channel. Whoever
// takes no bytes is left without both.
func (v *viewer) leave(code int) {
	if !v.out.Drain(v.server.limits.farewell) {
		_ = v.conn.Close()
		return
	}
	_, _ = v.ch.SendRequest("exit-status", false, gossh.Marshal(struct{ Code uint32 }{uint32(code)}))
	_ = v.ch.Close()
}

// look ends a viewer who is idle, takes no bytes or does not answer.
func (v *viewer) look(now time.Time) {
	since := now.Sub(v.began)
	if quiet := since - time.Duration(v.pressed.Load()); v.idle > 0 && quiet >= v.idle {
		v.end(fmt.Sprintf("no key was pressed for %s", v.idle), exitEnded)
		return
	}
	if v.paced.stuck(now) >= v.server.limits.stuck {
		v.hangUp(fmt.Sprintf("the terminal took nothing for %s", v.server.limits.stuck))
		return
	}
	v.ask(now)
}

// ask finds out whether somebody is there: a machine that went away says nothing.
func (v *viewer) ask(now time.Time) {
	asked := v.asked.Load()
	switch {
	case asked == 0 && now.Sub(v.asking) >= v.server.limits.ask:
		v.asking = now
		v.asked.Store(int64(now.Sub(v.began)))
		go func() {
			if _, _, err := v.conn.SendRequest("keepalive@openssh.com", true, nil); err == nil {
				v.asked.Store(0)
			}
		}()
	case asked != 0 && now.Sub(v.began)-time.Duration(asked) >= v.server.limits.answer:
		v.hangUp(fmt.Sprintf("the client did not answer for %s", v.server.limits.answer))
	}
}

// hangUp ends a viewer who would not hear a farewell.
func (v *viewer) hangUp(why string) {
	v.end(why, exitEnded)
	_ = v.conn.Close()
}

// maxTyped bounds what a viewer types, in bytes: months of keys, and of a paste that never
// ends no more than the server can hold.
const maxTyped = 8 << 20

// keys reads what a viewer types and notes when.
type keys struct{ v *viewer }

// Read implements io.Reader.
func (k keys) Read(p []byte) (int, error) {
	n, err := k.v.ch.Read(p)
	if n > 0 {
		k.v.pressed.Store(int64(time.Since(k.v.began)))
	}
	if k.v.typed += n; k.v.typed > maxTyped {
		k.v.end("more was typed than hands can", exitEnded)
		return 0, io.EOF
	}
	return n, err
}

// sink is where a viewer's bytes go.
type sink struct{ v *viewer }

// Write implements io.Writer.
func (s sink) Write(p []byte) (int, error) {
	if s.v.aside.Load() {
		return s.v.ch.Stderr().Write(p)
	}
	return s.v.ch.Write(p)
}

// paced writes in small pieces and knows how long it waits for one to be taken.
type paced struct {
	to    io.Writer
	since atomic.Int64 // when the piece under way began, in unix ns; 0: none is
}

// piece is what even a slow terminal takes within seconds.
const piece = 4 << 10

// Write implements io.Writer.
func (p *paced) Write(b []byte) (int, error) {
	defer p.since.Store(0)
	written := 0
	for part := range slices.Chunk(b, piece) {
		p.since.Store(time.Now().UnixNano())
		n, err := p.to.Write(part)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// stuck is how long a piece has not been taken.
func (p *paced) stuck(now time.Time) time.Duration {
	since := p.since.Load()
	if since == 0 {
		return 0
	}
	return now.Sub(time.Unix(0, since))
}
