package tape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"strings"
	"time"

	"slotop/model"
)

// Header says what a tape is a recording of.
type Header struct {
	Version   string         // of the slotop that wrote it
	Recorded  time.Time      // when it was begun
	Targets   []model.Target // the targets, without credentials
	Every     time.Duration  // poll interval
	Window    time.Duration  // of the frames at the start
	Simulated bool
	Policy    model.Policy // what was promised: a replay judges by it
}

// wireHeader1 is the header's JSON form in format 1. Units are in the names.
type wireHeader1 struct {
	Schema    string         `json:"schema"`
	Version   string         `json:"version"`
	Recorded  time.Time      `json:"recorded_at"`
	Targets   []model.Target `json:"targets"`
	EveryS    float64        `json:"every_s"`
	WindowS   float64        `json:"window_s"`
	Simulated bool           `json:"simulated"`
}

// wireHeader is the header's JSON form.
type wireHeader struct {
	wireHeader1
	Policy model.Policy `json:"policy,omitzero"`
}

func (h Header) encode() ([]byte, error) {
	if err := h.refusePasswords(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(wireHeader{wireHeader1{
		Schema: Schema, Version: h.Version, Recorded: h.Recorded.UTC(), Targets: h.Targets,
		EveryS: h.Every.Seconds(), WindowS: h.Window.Seconds(), Simulated: h.Simulated,
	}, h.Policy})
	if err != nil {
		return nil, fmt.Errorf("write tape header: %w", err)
	}
	if len(line) >= maxHeader {
		return nil, fmt.Errorf("write tape header: targets and workflows take %d bytes, a tape has room for %d: record fewer of them", len(line), maxHeader)
	}
	return append(append([]byte(Schema+"\n"), line...), '\n'), nil
}

// refusePasswords guards the promise that no tape holds a credential: names are
// built without them, and a mistake there, or in a pattern someone pasted, must
// not reach a file people share.
func (h Header) refusePasswords() error {
	for _, t := range h.Targets {
		if hasPassword(string(t.ID)) || hasPassword(t.Name) {
			return errors.New("write tape header: a target's name holds a password")
		}
	}
	for _, w := range h.Policy.Workflows {
		for _, m := range w.Match {
			if hasPassword(m.Target) {
				return fmt.Errorf("write tape header: the target that workflow %q matches holds a password", w.Name)
			}
		}
	}
	for _, h := range h.Policy.Hardware {
		if hasPassword(h.Target) {
			return errors.New("write tape header: the target of a row of hardware holds a password")
		}
	}
	for _, r := range h.Policy.Rules {
		if hasPassword(r.Target) {
			return fmt.Errorf("write tape header: the target of rule %q holds a password", r.Name)
		}
	}
	return nil
}

func hasPassword(target string) bool {
	_, after, ok := strings.Cut(target, "://")
	if !ok {
		return false
	}
	u, err := url.Parse("x://" + after)
	return err == nil && u.User != nil
}

// readHeader reads the two lines of text at the start and says which version
// the rest is in.
func readHeader(in *bufio.Reader) (Header, version, error) {
	prefix, err := in.Peek(len(Schema) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return Header{}, 0, fmt.Errorf("read tape header: %w", err)
	}
	if !Is(prefix) {
		return Header{}, 0, &NotTapeError{describe(prefix)}
	}
	schema, err := readLine(in, 64)
	if err != nil {
		return Header{}, 0, err
	}
	v, ok := versions[schema]
	if !ok {
		return Header{}, 0, &VersionError{schema}
	}
	line, err := readLine(in, maxHeader)
	if err != nil {
		return Header{}, 0, err
	}
	h, err := decodeHeader(v, schema, []byte(line))
	return h, v, err
}

func decodeHeader(v version, schema string, line []byte) (Header, error) {
	var w wireHeader
	into := any(&w)
	if v == version1 {
		into = &w.wireHeader1
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return Header{}, errors.New("read tape header: " + err.Error()) // not wrapped: it may be io.EOF
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Header{}, errors.New("read tape header: more than one JSON value")
	}
	if w.Schema != schema {
		return Header{}, fmt.Errorf("read tape header: the first line says %q, the second %q", schema, w.Schema)
	}
	return Header{
		Version: w.Version, Recorded: w.Recorded, Targets: w.Targets,
		Every: seconds(w.EveryS), Window: seconds(w.WindowS), Simulated: w.Simulated,
		Policy: w.Policy,
	}, nil
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

func readLine(in *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit:
			return "", fmt.Errorf("read tape header: a line is longer than %d bytes", limit)
		case err == nil:
			return string(line[:len(line)-1]), nil
		case errors.Is(err, io.EOF):
			return "", errors.New("read tape header: the file ends inside it")
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", fmt.Errorf("read tape header: %w", err)
		}
	}
}

// describe names what a foreign file starts with, in words that are safe to show.
func describe(prefix []byte) string {
	switch {
	case len(prefix) == 0:
		return "nothing: it is empty"
	case bytes.HasPrefix(prefix, []byte("# ")):
		return "a comment: a saved metrics page?"
	case prefix[0] == '{' || prefix[0] == '[':
		return "JSON"
	case prefix[0] == '<':
		return "markup"
	default:
		return fmt.Sprintf("%+q", prefix)
	}
}
