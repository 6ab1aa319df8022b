package sources

import (
	"net/url"
	"strconv"
	"strings"

	"slotop/model"
)

func isAddress(arg string) bool {
	_, _, err := parseAddress(arg)
	return err == nil
}

// parseAddress reads host:port, host:port/path or a whole URL. given is false
// where the path is our default.
func parseAddress(arg string) (u *url.URL, given bool, err error) {
	full := arg
	if !strings.Contains(arg, "://") {
		full = "http://" + arg
	}
	u, err = url.Parse(full)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Opaque != "" {
		return nil, false, usage(arg, "not an address", forms)
	}
	if full != arg && !isPort(u.Port()) || u.Port() != "" && !isPort(u.Port()) || strings.HasSuffix(u.Host, ":") {
		return nil, false, usage(arg, "no port from 1 to 65535", forms)
	}
	if u.Hostname() == "" {
		if full == arg || u.Host == "" {
			return nil, false, usage(arg, "no host", forms)
		}
		u.Host = "localhost" + u.Host // :8000
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	if u.Path == "" || u.Path == "/" {
		u.Path = defaultPath
		return u, false, nil
	}
	return u, true, nil
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// Redact is a target argument or address without user, password and secret
// query values, fit for the screen, a log or an error.
func Redact(arg string) string {
	head, rest := "", arg
	if i := strings.Index(arg, "://"); i >= 0 {
		head, rest = arg[:i+3], arg[i+3:]
	}
	// A password may hold any character, so all before the last @ goes. Without
	// a scheme that is a credential only where a colon stands before it.
	if at := strings.LastIndex(rest, "@"); at >= 0 && (head != "" || strings.Contains(rest[:at], ":")) {
		rest = rest[at+1:]
	}
	path, query, found := strings.Cut(rest, "?")
	if !found {
		return head + rest
	}
	return head + path + "?" + redactQuery(query)
}

// targetID is an address without its secret query values.
func targetID(u *url.URL) model.TargetID {
	shown := *u
	shown.RawQuery = redactQuery(u.RawQuery)
	return model.TargetID(shown.String())
}

// secretWords mark the query parameters that hold a credential, secretNames
// those whose whole name is one of these.
var (
	secretWords = []string{"token", "key", "secret", "pass", "pwd", "auth", "sig", "credential", "jwt", "bearer", "access", "session"}
	secretNames = map[string]bool{"pw": true, "sas": true, "code": true, "t": true, "sid": true}
)

func redactQuery(query string) string {
	var shown strings.Builder
	for _, part := range queryParts(query) {
		name, _, found := strings.Cut(part, "=")
		if !found || !isSecretName(name) {
			shown.WriteString(part)
			continue
		}
		shown.WriteString(name + "=redacted")
		if end := part[len(part)-1]; end == '&' || end == ';' {
			shown.WriteByte(end)
		}
	}
	return shown.String()
}

// queryParts cuts a query behind every & and ;, as servers of either taste do.
func queryParts(query string) []string {
	var parts []string
	for query != "" {
		end := strings.IndexAny(query, "&;") + 1
		if end == 0 {
			end = len(query)
		}
		parts = append(parts, query[:end])
		query = query[end:]
	}
	return parts
}

func isSecretName(name string) bool {
	plain, err := url.QueryUnescape(name)
	if err != nil {
		return true // a name that hides itself is not shown to be harmless
	}
	plain = strings.ToLower(plain)
	if secretNames[plain] {
		return true
	}
	for _, w := range secretWords {
		if strings.Contains(plain, w) {
			return true
		}
	}
	return false
}
