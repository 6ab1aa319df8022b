package discover

// Listening are the TCP sockets of this host that wait for connections, as the
// tables below proc, /proc as a rule, have them.
func Listening(proc string) ([]Socket, error) { return sockets(proc) }
