package serve

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// The exit codes of a session, as everywhere in the program.
const (
	exitOK     = 0
	exitEnded  = 1 // it was ended, or there was no room
	exitWanted = 2 // something was asked for that is not there
)

// Kiosk is the variable that makes a viewer one for the wall: its screen needs no
// keys, so it may be idle for ever. Only the keys file can set it.
const Kiosk = "SLOTOP_KIOSK"

// Theme is the variable that names a viewer's theme.
const Theme = "SLOTOP_THEME"

// understood are the variables that a client may send. They say what its terminal can
// show, and nothing else is kept.
var understood = []string{"COLORTERM", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "NO_MOTION", Theme}

func known(name string) bool { return slices.Contains(understood, name) }

// Bounds of what a client may say.
const (
	maxEnv    = 16
	maxValue  = 128
	maxWidth  = 500
	maxHeight = 200
)

// session is one channel of a connection until its screen begins. Only the goroutine
// that reads its requests touches it.
type session struct {
	server *Server
	conn   *gossh.ServerConn
	line   *line
	ch     gossh.Channel
	who    identity
	grant  grant

	env    []string
	term   string // "": no terminal was asked for, or given
	size   [2]int
	viewer *viewer // what is shown, nil before
	showed bool
}

// session takes a session in and answers what it asks for.
func (s *Server) session(_ *ssh.Server, conn *gossh.ServerConn, c gossh.NewChannel, ctx ssh.Context) {
	s.sessions.Add(1)
	defer s.sessions.Done()
	l := lineOf(ctx)
	if !l.open() {
		s.refused(l, conn.RemoteAddr().String(), fmt.Sprintf("more than %d sessions", maxSessions))
		_ = c.Reject(gossh.ResourceShortage, fmt.Sprintf("%d sessions of one connection are enough", maxSessions))
		return
	}
	defer l.shut()
	key, _ := ctx.Value(ssh.ContextKeyPublicKey).(ssh.PublicKey)
	if key == nil {
		_ = c.Reject(gossh.Prohibited, "no key")
		return
	}
	who := identity{gossh.FingerprintSHA256(key), conn.User(), conn.RemoteAddr().String()}
	grant, err := s.opt.Keys.allow(key, addressOf(conn.RemoteAddr()), time.Now())
	if err != nil {
		s.refused(l, who.String(), err.Error())
		_ = c.Reject(gossh.Prohibited, err.Error())
		return
	}
	ch, requests, err := c.Accept()
	if err != nil {
		return
	}
	n := &session{server: s, conn: conn, line: l, ch: ch, who: who, grant: grant, size: [2]int{80, 24}}
	for req := range requests {
		_ = req.Reply(n.answer(req), nil)
		if n.viewer != nil && !n.showed {
			n.showed = true
			s.sessions.Add(1)
			l.begin()
			go func(v *viewer) {
				defer s.sessions.Done()
				defer l.done()
				v.run()
			}(n.viewer)
		}
	}
	if n.viewer != nil {
		n.viewer.end("the connection is gone", exitEnded)
	}
	_ = ch.Close()
}

// answer says whether a request is granted.
func (n *session) answer(req *gossh.Request) bool {
	switch req.Type {
	case "pty-req":
		return n.terminal(req.Payload)
	case "window-change":
		return n.resize(req.Payload)
	case "env":
		return n.setEnv(req.Payload)
	case "shell":
		return n.begin((*viewer).show)
	case "exec":
		n.server.refused(n.line, n.who.String(), "a command")
		return n.begin((*viewer).refuseCommand)
	case "signal", "eow@openssh.com", "break":
		return false
	}
	n.server.refused(n.line, n.who.String(), req.Type)
	return false
}

// begin makes the viewer, once a session.
func (n *session) begin(does func(*viewer)) bool {
	if n.viewer != nil {
		return false
	}
	env := slices.Concat(n.env, n.grant.env)
	if n.term != "" {
		env = append(env, "TERM="+n.term)
	}
	n.viewer = newViewer(n, env, does)
	return true
}

// terminal takes the client's terminal, unless its key may have none.
func (n *session) terminal(payload []byte) bool {
	var req struct {
		Term                          string
		Width, Height, PixelW, PixelH uint32
		Modes                         string
	}
	if err := gossh.Unmarshal(payload, &req); err != nil || n.viewer != nil || n.term != "" {
		return false
	}
	if n.grant.noPTY {
		n.server.refused(n.line, n.who.String(), "a terminal, which the key's options forbid")
		return false
	}
	if len(req.Term) > maxValue || req.Term == "" {
		req.Term = "dumb"
	}
	n.term, n.size = req.Term, clamp(req.Width, req.Height)
	return true
}

func clamp(w, h uint32) [2]int {
	if w == 0 || h == 0 {
		return [2]int{80, 24}
	}
	return [2]int{int(min(w, maxWidth)), int(min(h, maxHeight))}
}

func (n *session) resize(payload []byte) bool {
	var req struct{ Width, Height, PixelW, PixelH uint32 }
	if err := gossh.Unmarshal(payload, &req); err != nil || n.term == "" {
		return false
	}
	n.size = clamp(req.Width, req.Height)
	if n.viewer != nil {
		n.viewer.resize(n.size)
	}
	return true
}

func (n *session) setEnv(payload []byte) bool {
	var req struct{ Name, Value string }
	if err := gossh.Unmarshal(payload, &req); err != nil || n.viewer != nil {
		return false
	}
	if !known(req.Name) || len(n.env) >= maxEnv || len(req.Value) > maxValue {
		return false
	}
	n.env = append(n.env, req.Name+"="+req.Value)
	return true
}

// Viewer is somebody who looks.
type Viewer struct {
	Key           string // fingerprint
	Width, Height int
	Env           []string // NAME=value, of what describes a terminal
	Terminal      bool     // there is one that can be drawn on
}

// Lookup is the value of a variable and whether it is there; the last one counts.
func (v Viewer) Lookup(name string) (string, bool) {
	for _, e := range slices.Backward(v.Env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Get is the value of a variable, "" where there is none.
func (v Viewer) Get(name string) string {
	value, _ := v.Lookup(name)
	return value
}

func sized(size [2]int) string { return fmt.Sprintf("%d×%d", size[0], size[1]) }
