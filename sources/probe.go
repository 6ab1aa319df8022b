package sources

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/model/spell"
)

// A probe is the one kind of target that costs its server something: a small
// streaming request now and then, timed to the byte. It is opened only where
// somebody names it, its requests are in no workflow's figures, and it stops where
// its budget of an hour is spent.
var probeKind = Kind{
	Name:    model.ProbeTarget,
	Doc:     "a probe: small timed streaming requests to an OpenAI-compatible server, within a budget and in no workflow's figures",
	Example: "openai+http://localhost:8000?model=llama&every=30s",
	Match:   isProbe,
	Open:    openProbe,
}

const probeScheme = "openai"

const probeForm = "write openai+http(s)://HOST:PORT?model=NAME, and every=30s, max_tokens=8 and the like after it"

func isProbe(arg string) bool {
	scheme, _, found := strings.Cut(arg, ":")
	return found && (scheme == probeScheme+"+http" || scheme == probeScheme+"+https")
}

// probeSettings are what an address may say of a probe.
type probeSettings struct {
	model   string // "" for the only one that the server has
	text    bool   // /completions in place of /chat/completions
	every   time.Duration
	timeout time.Duration // of one request

	prompt int // tokens, about
	answer int // tokens at most

	requests int // an hour, at most
	tokens   int // likewise, of prompts and answers

	keyEnv, keyFile string
}

// probeOption is a number that an address may give.
type probeOption struct {
	name        string
	to          func(*probeSettings) *int
	least, most int
	preset      int
}

// The bounds keep a probe small: it watches a service and is no load test.
var probeNumbers = []probeOption{
	{"max_tokens", func(s *probeSettings) *int { return &s.answer }, 1, 256, 8},
	{"prompt_tokens", func(s *probeSettings) *int { return &s.prompt }, 1, 8192, 32},
	{"requests", func(s *probeSettings) *int { return &s.requests }, 1, 3600, 240},
	{"budget", func(s *probeSettings) *int { return &s.tokens }, 1, 10_000_000, 50_000},
}

var probeTimes = []struct {
	name        string
	to          func(*probeSettings) *time.Duration
	least, most time.Duration
	preset      time.Duration
}{
	{"every", func(s *probeSettings) *time.Duration { return &s.every }, time.Second, time.Hour, 30 * time.Second},
	{"timeout", func(s *probeSettings) *time.Duration { return &s.timeout }, time.Second, 10 * time.Minute, time.Minute},
}

// probeWords are the options that are no numbers.
var probeWords = []string{"model", "api", "key_env", "key_file"}

// readProbeSettings reads the options of an address.
func readProbeSettings(arg string, q url.Values) (s probeSettings, err error) {
	if err := knownOptions(arg, q); err != nil {
		return s, err
	}
	for _, o := range probeNumbers {
		n := o.preset
		if given := q.Get(o.name); q.Has(o.name) {
			if n, err = strconv.Atoi(given); err != nil || n < o.least || n > o.most {
				return s, usage(arg, fmt.Sprintf("%s=%s", o.name, given), fmt.Sprintf("a whole number from %d to %d", o.least, o.most))
			}
		}
		*o.to(&s) = n
	}
	for _, o := range probeTimes {
		d := o.preset
		if given := q.Get(o.name); q.Has(o.name) {
			if d, err = time.ParseDuration(given); err != nil || d < o.least || d > o.most {
				return s, usage(arg, fmt.Sprintf("%s=%s", o.name, given), fmt.Sprintf("a time from %v to %v, such as 30s", o.least, o.most))
			}
		}
		*o.to(&s) = d
	}
	s.model, s.keyEnv, s.keyFile = q.Get("model"), q.Get("key_env"), q.Get("key_file")
	switch api := q.Get("api"); api {
	case "", "chat":
	case "completions":
		s.text = true
	default:
		return s, usage(arg, "api="+api, "chat or completions")
	}
	return s, nil
}

// knownOptions refuses what is no option, and above all a key: an address is shown
// on screens and stands in the shell's history.
func knownOptions(arg string, q url.Values) error {
	known := slices.Clone(probeWords)
	for _, o := range probeNumbers {
		known = append(known, o.name)
	}
	for _, o := range probeTimes {
		known = append(known, o.name)
	}
	for name, values := range q {
		switch {
		case !slices.Contains(known, name) && isSecretName(name):
			return keyInAddress(arg)
		case !slices.Contains(known, name):
			try := "the options are " + strings.Join(known, ", ")
			if near := spell.Nearest(name, known); near != "" {
				try = "did you mean " + near + "?"
			}
			return usage(arg, "no option of a probe: "+excerpt(name), try)
		case len(values) > 1:
			return usage(arg, name+" is given twice", "give it once")
		}
	}
	return nil
}

func keyInAddress(arg string) error {
	return usage(arg, "a key does not belong into an address, which others can see",
		"put it into a variable and write key_env=NAME, or into a file and write key_file=PATH")
}

func openProbe(_ context.Context, spec Spec) ([]Opened, error) {
	_, address, _ := strings.Cut(spec.Address, "+")
	u, given, err := parseAddress(address)
	if err != nil {
		return nil, usage(spec.Address, "not a complete address", probeForm)
	}
	if u.User != nil {
		return nil, keyInAddress(spec.Address)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, usage(spec.Address, "its options cannot be read", probeForm)
	}
	set, err := readProbeSettings(spec.Address, q)
	if err != nil {
		return nil, err
	}
	if spec.Options, err = withKey(spec, set); err != nil {
		return nil, err
	}
	u.Path, u.RawQuery = probePath(u.Path, given), ""
	asked, err := newAsked(spec, u)
	if err != nil {
		return nil, err
	}
	q.Del("key_env")
	q.Del("key_file")
	id := probeScheme + "+" + u.String()
	if rest := q.Encode(); rest != "" {
		id += "?" + rest
	}
	target := model.Target{ID: model.TargetID(id), Name: u.Host + "/probe", Kind: model.ProbeTarget}
	now := spec.Options.Now
	if now == nil {
		now = wallClock
	}
	return []Opened{{Target: target, Source: newProbe(asked, set, now)}}, nil
}

// probePath is what stands before /chat/completions: /v1 unless another path was
// given.
func probePath(path string, given bool) string {
	if !given {
		return "/v1"
	}
	path = strings.TrimSuffix(path, "/")
	for _, end := range []string{"/chat/completions", "/completions"} {
		path = strings.TrimSuffix(path, end)
	}
	return path
}

// withKey is the options of a target with the key that its address names. A file
// is read anew with each request, so that a key can be changed.
func withKey(spec Spec, set probeSettings) (Options, error) {
	opt := spec.Options
	if set.keyEnv == "" && set.keyFile == "" {
		return opt, nil
	}
	if set.keyEnv != "" && set.keyFile != "" {
		return opt, usage(spec.Address, "two keys", "give key_env or key_file")
	}
	cfg := config.HTTPClientConfig{FollowRedirects: true}
	if opt.HTTP != nil {
		cfg = *opt.HTTP
	}
	cfg.BasicAuth, cfg.OAuth2, cfg.BearerToken, cfg.BearerTokenFile = nil, nil, "", ""
	cfg.Authorization = &config.Authorization{Type: "Bearer", CredentialsFile: set.keyFile}
	if set.keyFile != "" {
		if err := regular(set.keyFile); err != nil {
			return opt, usage(spec.Address, "its key_file cannot be read", excerpt(err.Error()))
		}
	} else {
		key := strings.TrimSpace(os.Getenv(set.keyEnv))
		if key == "" {
			return opt, usage(spec.Address, "the variable "+excerpt(set.keyEnv)+" is not set", "export it before, with the key as its value")
		}
		cfg.Authorization.Credentials = config.Secret(key)
	}
	opt.HTTP = &cfg
	return opt, nil
}
