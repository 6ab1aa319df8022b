package sources

import (
	"context"
	"errors"
	"math"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"slotop/model"
)

// maxDocument bounds a JSON document of an engine's, in bytes: the slots of a busy
// llama.cpp with long prompts in them are under 1 MiB.
const maxDocument = 8 << 20

// reader makes a batch of what one engine answers in JSON. errForeign says that
// the document is of something else.
type reader interface {
	// read is given the time that the server states in the answer's head; zero where
	// it states none. Nothing of the body is kept.
	read(body []byte, date time.Time) (model.Batch, error)
}

// errForeign: a document that a reader does not know.
var errForeign = errors.New("another kind of document")

// document is what an engine answers in JSON, read anew at each poll.
type document struct {
	*asked
	reader reader
}

var _ Source = (*document)(nil)

// Poll reads the document.
func (d *document) Poll(ctx context.Context) (batch model.Batch, err error) {
	err = d.get(ctx, func(body []byte, response *http.Response) (err error) {
		date, _ := http.ParseTime(response.Header.Get("Date"))
		batch, err = d.reader.read(body, date)
		tellClock(&batch, response)
		return err
	})
	if errors.Is(err, errForeign) {
		err = &FaultError{model.NotMetrics, "the answer at " + d.sent.excerpt(d.request.URL.Path) + " is not what it was: is another server there now?"}
	}
	if err != nil {
		return model.Batch{}, err
	}
	return batch, nil
}

// Close ends the kept connection.
func (d *document) Close() error {
	d.client.CloseIdleConnections()
	return nil
}

// beside asks the same server for another path: that of a document that lies where
// the page does.
func (a *asked) beside(name string) *asked {
	request := a.request.Clone(context.Background())
	before := strings.TrimSuffix(request.URL.Path, "/")
	if short, ok := strings.CutSuffix(before, "/prometheus/metrics"); ok {
		before = short
	}
	request.URL.Path, request.URL.RawPath = strings.TrimSuffix(before, "/metrics")+name, ""
	request.Header.Set("Accept", "application/json")
	return &asked{a.client, request, a.sent}
}

// get asks, and gives the body of a good answer to use. The body is wiped when that
// returns: some servers put prompts into such documents.
func (a *asked) get(ctx context.Context, use func(body []byte, response *http.Response) error) error {
	response, err := a.client.Do(a.request.WithContext(a.sent.watch(ctx)))
	if err != nil {
		return requestFault(err, a.request, a.sent)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return answerFault(response, a.sent, otherPath)
	}
	if isEventStream(response) {
		return errForeign
	}
	buf := bodies.Get().(*[]byte)
	defer func() {
		clear((*buf)[:cap(*buf)])
		if cap(*buf) <= maxPooled {
			bodies.Put(buf)
		}
	}()
	*buf, err = readBody(response, (*buf)[:0], maxDocument)
	if err != nil {
		return bodyFault(err, len(*buf), a.sent)
	}
	return use(*buf, response)
}

// said hands out the same description until something in it changes.
type said struct{ about *model.About }

func (s *said) of(about model.About) *model.About {
	if s.about == nil || !reflect.DeepEqual(*s.about, about) {
		s.about = &about
	}
	return s.about
}

// gauge is one level of a server.
func gauge(s model.Signal, value float64, labels model.LabelSet) model.Sample {
	return model.Sample{Signal: s, Labels: labels, Kind: model.Gauge, Value: value}
}

// allBut lists the signals apart from some.
func allBut(have ...model.Signal) []model.Signal {
	return slices.DeleteFunc(allSignals(), func(s model.Signal) bool { return slices.Contains(have, s) })
}

// real is a number that comes next, and whether one did that can be.
func (t *jsonText) real() (v float64, ok bool) {
	if !t.isNumber() {
		return 0, false
	}
	v = t.number()
	return v, !math.IsInf(v, 0)
}

// cleaned is a name that comes next, cleaned; "" where something else does.
func (t *jsonText) cleaned() string {
	if t.peek() != '"' {
		return ""
	}
	return cleanName(t.text())
}

// modelName is what a model is called. Where one is named by its path, that is the
// last part: where models lie on a server's disk is nobody's business.
func modelName(name string) string {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.Contains(name, `:\`) {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	}
	return strings.TrimSuffix(name, ".gguf")
}
