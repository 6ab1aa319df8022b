package serve

import (
	"net"
	"sync"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// line is one connection. It is given some time to show that it is there for a screen,
// at its beginning and whenever its last screen has ended, and each packet some time
// to leave.
type line struct {
	net.Conn
	server *Server

	mu       sync.Mutex
	sessions int         // that are open, with a screen or without
	screens  int         // that are shown
	idle     *time.Timer // closes a connection without a screen
	starting bool        // it counts among those that show nothing
	closed   bool
	told     int // lines about it in the log
}

// lineKey finds the line of a connection in its context.
type lineKey struct{}

// enter takes a new connection in, unless too many are starting already.
func (s *Server) enter(ctx ssh.Context, conn net.Conn) net.Conn {
	l := &line{Conn: conn, server: s, starting: true}
	l.mu.Lock() // whoever finds it among the lines waits until it is whole
	defer l.mu.Unlock()
	if !s.start(l) {
		s.log("refused %s: %d connections that show nothing are enough", conn.RemoteAddr(), s.limits.starting)
		return nil
	}
	l.idle = time.AfterFunc(s.limits.start, l.unused)
	ctx.SetValue(lineKey{}, l)
	return l
}

// start counts a line among those that show nothing, where there is room.
func (s *Server) start(l *line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starting >= s.limits.starting || s.closing != "" {
		return false
	}
	s.lines[l] = struct{}{}
	s.starting++
	return true
}

func (s *Server) started() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
}

func (s *Server) forget(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lines, l)
}

func (l *line) unused() {
	l.mu.Lock()
	busy := l.screens > 0 || l.closed
	l.mu.Unlock()
	if busy {
		return
	}
	l.server.log("end %s: no screen was asked for within %s", l.RemoteAddr(), l.server.limits.start)
	_ = l.Close()
}

// maxSessions bounds the sessions of one connection, as sshd does: each may owe its reader
// megabytes, and who asks for no screen is counted nowhere else.
const maxSessions = 10

// open counts a session in, where there is room.
func (l *line) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessions >= maxSessions {
		return false
	}
	l.sessions++
	return true
}

// shut counts a session out.
func (l *line) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions--
}

// begin counts a screen in.
func (l *line) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.screens++
	l.idle.Stop()
	l.show()
}

// show takes the line off those that show nothing.
func (l *line) show() {
	if l.starting {
		l.starting = false
		l.server.started()
	}
}

// done counts a screen out.
func (l *line) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.screens--
	if l.screens > 0 || l.closed {
		return
	}
	if l.starting = l.server.start(l); !l.starting {
		_ = l.Conn.Close()
		return
	}
	l.idle.Reset(l.server.limits.start)
}

// Write implements net.Conn.
func (l *line) Write(p []byte) (int, error) {
	if err := l.SetWriteDeadline(time.Now().Add(l.server.limits.write)); err != nil {
		return 0, err
	}
	return l.Conn.Write(p)
}

// Close implements net.Conn.
func (l *line) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		l.idle.Stop()
		l.show()
		l.server.forget(l)
	}
	l.mu.Unlock()
	return l.Conn.Close()
}

// maxTold bounds what the log says of one connection: a client may ask for ever.
const maxTold = 20

// refused notes what a connection asked for in vain.
func (s *Server) refused(l *line, who, what string) {
	l.mu.Lock()
	l.told++
	told := l.told
	l.mu.Unlock()
	switch {
	case told < maxTold:
		s.log("refused %s: %s", who, what)
	case told == maxTold:
		s.log("refused %s: %s; what else it asks for is not told", who, what)
	}
}

// refuseChannel answers whatever is no session: forwarding of ports, of X11, tunnels.
func (s *Server) refuseChannel(_ *ssh.Server, conn *gossh.ServerConn, c gossh.NewChannel, ctx ssh.Context) {
	s.refused(lineOf(ctx), conn.RemoteAddr().String(), "a channel of "+c.ChannelType())
	_ = c.Reject(gossh.Prohibited, "slotop shows a screen and forwards nothing")
}

// refuseRequest answers requests that are about the connection: to listen on a port,
// or only whether somebody is there.
func (s *Server) refuseRequest(ctx ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	switch req.Type {
	case "keepalive@openssh.com", "no-more-sessions@openssh.com", "hostkeys-prove-00@openssh.com":
		return false, nil
	}
	s.refused(lineOf(ctx), ctx.RemoteAddr().String(), req.Type)
	return false, nil
}

func lineOf(ctx ssh.Context) *line {
	l, _ := ctx.Value(lineKey{}).(*line)
	return l
}
