package sources

import (
	"slices"
	"strconv"
	"strings"

	"slotop/model"
)

const (
	statsSchema = "llm-gateway-stats/"
	// maxStats bounds a stats document, in bytes, and maxGroups its groups.
	maxStats  = 8 << 20
	maxGroups = 2000
	// maxReasons bounds the reasons of one group, maxBounds the buckets or
	// quantiles of one latency. No gateway has a fraction of that.
	maxReasons = 32
	maxBounds  = 512
)

// statsField is a number of a group and what it means.
type statsField struct {
	name   string
	signal model.Signal
	reason string
}

// statsLevels are the phases of requests in flight that have a signal.
var statsLevels = []statsField{
	{name: "queued", signal: model.AtGateway},
	{name: "preparing_context", signal: model.Preparing},
	{name: "waiting_for_model", signal: model.AtModel},
	{name: "streaming", signal: model.IsStreaming},
}

// statsTotals are the counters.
var statsTotals = []statsField{
	{name: "received", signal: model.Started},
	{name: "completed", signal: model.Finished, reason: "stop"},
	{name: "output_limit", signal: model.Finished, reason: "length"},
	{name: "cancelled", signal: model.Cancelled},
	{name: "failed", signal: model.Failed},
	{name: "retries", signal: model.Retried},
	{name: "input_tokens", signal: model.PromptTokens},
	{name: "output_tokens", signal: model.OutputTokens},
	{name: "cached_input_tokens", signal: model.CachedTokens},
}

// Places in statsTotals: what came in, and the four ways in which it ends.
const (
	atReceived  = 0
	atEnds      = 1
	atCancelled = 3
	atFailed    = 4
)

// statsReasons are the totals that are also given by reason.
var statsReasons = []struct {
	name string
	of   int // place in statsTotals
}{{"cancelled_by", atCancelled}, {"failed_by", atFailed}}

var statsLatencies = []statsField{
	{name: "queue", signal: model.Queue},
	{name: "ttft", signal: model.TTFT},
	{name: "tpot", signal: model.TPOT},
	{name: "e2e", signal: model.E2E},
}

// place is where a name stands in a table, -1 where it does not.
func place(table []statsField, name []byte) int {
	return slices.IndexFunc(table, func(f statsField) bool { return f.name == string(name) })
}

// statsDoc is one stats document as it stands.
type statsDoc struct {
	schema    string
	gateway   gatewayName
	started   model.Stamp
	generated model.Stamp
	epoch     string
	hasGroups bool
	groups    []*statsGroup
	nameless  int // groups with neither a workflow nor a model
	dropped   int // groups and reasons beyond the most there may be
}

// statsGroup is one group of it.
type statsGroup struct {
	id        string // what tells it from others
	name      string // for messages
	model     string
	labels    model.LabelSet
	levels    [4]model.Reading // of statsLevels
	inFlight  model.Reading    // in all phases, also those without a signal
	totals    [9]counted       // of statsTotals
	reasons   [2][]counted     // of statsReasons
	latencies [4]latency       // of statsLatencies
}

// counted is a counter under its labels.
type counted struct {
	labels model.LabelSet
	n      model.Reading
}

// latency is a histogram or the quantiles of a window. A nil one is neither.
type latency struct {
	hist   *model.Buckets
	window *model.Reported
	broken bool // it is there and cannot be used
}

// statsReader reads documents. It keeps the fields that it knows by name.
type statsReader struct {
	text   jsonText
	names  names
	labels *labels
	ids    map[string]int // how often the document has a group of that identity
}

// read reads a document. Whole is false where it is not JSON to its end.
func (r *statsReader) read(body []byte) (doc *statsDoc, whole bool) {
	doc = &statsDoc{}
	r.ids = map[string]int{}
	r.text.reset(body)
	r.object(func(name []byte) { r.field(doc, name) })
	return doc, r.text.ends()
}

// object reads the object that comes next, and leaves anything else alone.
func (r *statsReader) object(field func(name []byte)) bool {
	if r.text.peek() != '{' {
		return false
	}
	for name := range r.text.fields {
		field(name)
	}
	return true
}

func (r *statsReader) field(doc *statsDoc, name []byte) {
	switch string(name) {
	case "schema":
		doc.schema = r.name()
	case "gateway":
		doc.gateway = readGateway(&r.text, &r.names)
	case "started_at":
		doc.started = r.stamp()
	case "generated_at":
		doc.generated = r.stamp()
	case "epoch":
		doc.epoch = r.name()
	case "groups":
		if r.text.peek() != '[' {
			return
		}
		doc.hasGroups = true
		for range r.text.items {
			r.group(doc)
		}
	}
}

func (r *statsReader) name() string {
	if r.text.peek() != '"' {
		return ""
	}
	return r.names.of(r.text.text())
}

func (r *statsReader) stamp() model.Stamp {
	if r.text.peek() != '"' {
		return 0
	}
	s, _ := parseStamp(r.text.text())
	return s
}

// count is a whole number that is not below 0; anything else is unknown.
func (r *statsReader) count() model.Reading {
	if !r.text.isNumber() {
		return model.Reading{}
	}
	n, ok := r.text.whole()
	if !ok {
		return model.Reading{}
	}
	return model.Of(float64(n))
}

// seconds is a number that is not below 0; anything else is unknown.
func (r *statsReader) seconds() model.Reading {
	if !r.text.isNumber() {
		return model.Reading{}
	}
	v := r.text.number()
	if v < 0 {
		return model.Reading{}
	}
	return model.Of(v)
}

// group reads the group that comes next.
func (r *statsReader) group(doc *statsDoc) {
	if len(doc.groups) == maxGroups {
		doc.dropped++
		return
	}
	var workflow, version string
	var others uint64
	var by [2][]reason
	g := &statsGroup{}
	r.labels.none()
	r.object(func(name []byte) {
		switch string(name) {
		case "workflow":
			workflow = r.name()
		case "model":
			g.model = r.name()
		case "model_version":
			version = r.name()
		case "labels":
			if r.text.peek() == '{' {
				others = r.labels.read(&r.text)
			}
		case "now":
			r.phases(g)
		case "total":
			r.totals(g)
		case statsReasons[0].name:
			by[0] = r.reasons(doc)
		case statsReasons[1].name:
			by[1] = r.reasons(doc)
		case "latency":
			r.latencies(g)
		}
	})
	if workflow == "" && g.model == "" {
		doc.nameless++
		return
	}
	r.identify(g, workflow, version, others)
	r.label(g, workflow, by)
	doc.groups = append(doc.groups, g)
}

// identify says which group this is. Groups that nothing tells apart are told
// apart by their order.
func (r *statsReader) identify(g *statsGroup, workflow, version string, others uint64) {
	if g.name = workflow; workflow == "" {
		g.name = g.model
	}
	g.id = strings.Join([]string{workflow, g.model, version, strconv.FormatUint(others, 16)}, "\xff")
	r.ids[g.id]++
	if n := r.ids[g.id]; n > 1 {
		g.id += "\xff" + strconv.Itoa(n)
	}
}

// label puts the group's labels on all it says.
func (r *statsReader) label(g *statsGroup, workflow string, by [2][]reason) {
	with := func(reason string) model.LabelSet {
		return r.labels.set(model.LabelWorkflow, workflow, model.LabelModel, g.model, model.LabelReason, reason)
	}
	g.labels = with("")
	for i := range g.totals {
		g.totals[i].labels = with(statsTotals[i].reason)
	}
	for i := range by {
		for _, one := range by[i] {
			g.reasons[i] = append(g.reasons[i], counted{with(one.name), one.n})
		}
	}
	for i := range g.latencies {
		if w := g.latencies[i].window; w != nil {
			w.Signal, w.Labels = statsLatencies[i].signal, g.labels
		}
	}
}

// phases reads how many requests are in flight.
func (r *statsReader) phases(g *statsGroup) {
	sum := model.Of(0)
	if r.object(func(name []byte) {
		i, n := place(statsLevels, name), r.count()
		sum = sum.Plus(n)
		if i >= 0 {
			g.levels[i] = n
		}
	}) {
		g.inFlight = sum
	}
}

func (r *statsReader) totals(g *statsGroup) {
	r.object(func(name []byte) {
		if i := place(statsTotals, name); i >= 0 {
			g.totals[i].n = r.count()
		}
	})
}

// reason is why requests ended, and how many.
type reason struct {
	name string
	n    model.Reading
}

func (r *statsReader) reasons(doc *statsDoc) (all []reason) {
	r.object(func(raw []byte) {
		name := r.names.of(raw)
		n := r.count()
		switch i := slices.IndexFunc(all, func(one reason) bool { return one.name == name }); {
		case i >= 0:
			all[i].n = n
		case name == "" || len(all) == maxReasons:
			doc.dropped++
		default:
			all = append(all, reason{name, n})
		}
	})
	return all
}
