// Package serve shows one screen to several people over SSH. They look, each with a
// size, a theme and a screen of their own, and that is all: there is no shell, no
// command, no file and no forwarding, whoever asks. It decides nothing about what the
// screen shows.
package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/ssh"
	"charm.land/wish/v2"
	gossh "golang.org/x/crypto/ssh"

	"slotop/model/unit"
)

// Options is what a server is given. Functions are called from several goroutines.
type Options struct {
	Keys    Keys
	Host    gossh.Signer
	Viewers int           // at the same time, of all keys together
	PerKey  int           // of one key at the same time
	Idle    time.Duration // without a key press; 0: for ever

	// Screen makes the screen of one viewer. left is called when the viewer is gone.
	Screen func(Viewer) (m tea.Model, left func(), err error)
	// Text is what those get who bring no terminal, and the exit code that tells how
	// it is.
	Text func(Viewer) (text string, code int)
	// Log is told of each login, refusal and end, in a line without control characters.
	Log func(line string)
}

// limits are bounds that nobody needs to set; tests shorten them.
type limits struct {
	starting int           // connections that show nothing yet
	start    time.Duration // from the connection, or the end of its last screen, to a screen
	write    time.Duration // for a packet, at the level of the connection
	stuck    time.Duration // for a few KiB, at the level of the terminal
	ask      time.Duration // between two questions whether somebody is there
	answer   time.Duration // for the answer
	look     time.Duration // between two looks at all of these
	farewell time.Duration // for the last bytes
}

var usualLimits = limits{
	starting: 20, start: 15 * time.Second, write: 20 * time.Second, stuck: 30 * time.Second,
	ask: 20 * time.Second, answer: 40 * time.Second, look: time.Second, farewell: 500 * time.Millisecond,
}

// Server lets people look.
type Server struct {
	opt    Options
	limits limits
	ssh    *ssh.Server

	mu       sync.Mutex
	starting int
	lines    map[*line]struct{}
	viewers  map[*viewer]struct{}
	perKey   map[string]int
	closing  string // why nobody is let in any more

	sessions sync.WaitGroup
}

// New makes a server that serves nothing yet.
func New(opt Options) (*Server, error) {
	if opt.Host == nil || opt.Screen == nil || opt.Text == nil || opt.Log == nil || opt.Viewers < 1 || opt.PerKey < 1 {
		return nil, errors.New("make server: something is missing in its options")
	}
	s := &Server{opt: opt, limits: usualLimits, lines: map[*line]struct{}{}, viewers: map[*viewer]struct{}{}, perKey: map[string]int{}}
	var err error
	s.ssh, err = wish.NewServer(wish.WithVersion("slotop"), wish.WithPublicKeyAuth(s.welcome), func(srv *ssh.Server) error {
		srv.AddHostKey(opt.Host)
		srv.ConnCallback = s.enter
		srv.ConnectionFailedCallback = s.failed
		srv.ChannelHandlers = map[string]ssh.ChannelHandler{"session": s.session, "default": s.refuseChannel}
		srv.RequestHandlers = map[string]ssh.RequestHandler{"default": s.refuseRequest}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("make server: %w", err)
	}
	return s, nil
}

// Serve lets people in until ctx ends, which its cause explains to those who look.
// Their terminals are back to normal when it returns.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	done := make(chan error, 1)
	go func() { done <- s.ssh.Serve(l) }()
	watched := make(chan struct{})
	quiet, stop := context.WithCancel(ctx)
	go func() {
		defer close(watched)
		s.watch(quiet)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
	}
	stop()
	<-watched
	s.leave(context.Cause(ctx))
	if closed := s.ssh.Close(); err == nil && closed != nil && !errors.Is(closed, net.ErrClosed) {
		err = closed
	}
	s.sessions.Wait()
	return err
}

// leave ends every session and waits for the last bytes to go out.
func (s *Server) leave(cause error) {
	why := "the server has ended"
	if cause != nil && cause != context.Canceled { //nolint:errorlint // a signal's cause is one too by errors.Is, and says which
		why += ": " + cause.Error()
	}
	s.mu.Lock()
	s.closing = why
	s.mu.Unlock()
	for _, v := range s.all() {
		v.end(why, exitEnded)
	}
	gone := make(chan struct{})
	go func() {
		s.sessions.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(s.limits.farewell + time.Second/2):
	}
	s.mu.Lock()
	lines := slices.Collect(maps.Keys(s.lines))
	s.mu.Unlock()
	for _, l := range lines {
		_ = l.Close()
	}
}

func (s *Server) all() []*viewer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.viewers))
}

// watch looks after the viewers until ctx ends.
func (s *Server) watch(ctx context.Context) {
	every := time.NewTicker(s.limits.look)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			for _, v := range s.all() {
				v.look(now)
			}
		}
	}
}

// admit counts a viewer in, or says why there is no room.
func (s *Server) admit(v *viewer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing != "":
		return errors.New(s.closing)
	case len(s.viewers) >= s.opt.Viewers:
		return fmt.Errorf("%s look already, which is the limit; try again later", people(s.opt.Viewers))
	case s.perKey[v.who.key] >= s.opt.PerKey:
		return fmt.Errorf("%s with this key already, which is the limit", people(s.opt.PerKey))
	}
	s.viewers[v] = struct{}{}
	s.perKey[v.who.key]++
	return nil
}

func (s *Server) dismiss(v *viewer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.viewers, v)
	if s.perKey[v.who.key]--; s.perKey[v.who.key] == 0 {
		delete(s.perKey, v.who.key)
	}
}

func people(n int) string {
	if n == 1 {
		return "1 viewer"
	}
	return fmt.Sprintf("%d viewers", n)
}

// welcome answers whether a key may look from where it comes. The key is not proved
// yet: what it may do is asked again when a session begins.
func (s *Server) welcome(ctx ssh.Context, key ssh.PublicKey) bool {
	_, err := s.opt.Keys.allow(key, addressOf(ctx.RemoteAddr()), time.Now())
	if err != nil {
		s.log("refused %s: %v", identity{gossh.FingerprintSHA256(key), ctx.User(), ctx.RemoteAddr().String()}, err)
	}
	return err == nil
}

// failed tells of a connection that came to no login. Whose keys were refused is told
// already.
func (s *Server) failed(conn net.Conn, err error) {
	if refused := (*gossh.ServerAuthError)(nil); errors.As(err, &refused) && len(refused.Errors) > 1 {
		return
	}
	s.log("no login from %s: %v", conn.RemoteAddr(), err)
}

// maxLine bounds a line of the log, of which a client may write parts.
const maxLine = 300

// log writes one line. What clients wrote in it is shown, not obeyed.
func (s *Server) log(format string, args ...any) {
	s.opt.Log(unit.TruncateRight(unit.Escape(fmt.Sprintf(format, args...), false), maxLine, false))
}

// identity names a viewer in the log.
type identity struct{ key, user, address string }

func (i identity) String() string { return i.key + " " + i.user + "@" + i.address }

func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}
