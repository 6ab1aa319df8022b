package sources

import (
	"time"

	"slotop/model"
)

// lmStudio reads LM Studio's /api/v0/models: which of its models are loaded.
type lmStudio struct {
	text jsonText
	said said
}

var _ reader = (*lmStudio)(nil)

const lmStudioNote = "LM Studio tells neither what runs nor how long it takes: measure it from outside by a probe, openai+http://HOST:PORT"

func (l *lmStudio) read(body []byte, _ time.Time) (model.Batch, error) {
	t := &l.text
	t.reset(body)
	if t.peek() != '{' {
		return model.Batch{}, errForeign
	}
	about := model.About{Engine: "lm-studio", Missing: allSignals(), Notes: []string{lmStudioNote}}
	known := false
	for name := range t.fields {
		if string(name) != "data" || t.peek() != '[' {
			continue
		}
		for range t.items {
			if t.peek() != '{' {
				continue
			}
			id, state := readLMModel(t)
			known = known || state != ""
			if state == "loaded" && len(about.Models) < maxModels {
				about.Models = append(about.Models, id)
			}
		}
	}
	// Other servers list models under this path too, but not their states.
	if !known || !t.ends() {
		return model.Batch{}, errForeign
	}
	batch := model.Batch{}
	if len(about.Models) == 0 {
		batch.Samples = []model.Sample{gauge(model.Running, 0, model.LabelSet{})}
		about.Meanings = []model.Meaning{{Signal: model.Running, Metric: "/api/v0/models", Measures: "known only while no model is loaded"}}
		about.Missing = allBut(model.Running)
		about.Notes = append(about.Notes, "no model is loaded: the next request waits for that")
	}
	batch.About = l.said.of(about)
	return batch, nil
}

func readLMModel(t *jsonText) (id, state string) {
	for name := range t.fields {
		switch string(name) {
		case "id":
			id = t.cleaned()
		case "state":
			state = t.cleaned()
		}
	}
	return id, state
}

// tabby knows TabbyAPI by its service record, which needs no key. It says nothing
// of what runs.
type tabby struct {
	text jsonText
	said said
}

var _ reader = (*tabby)(nil)

func (y *tabby) read(body []byte, _ time.Time) (model.Batch, error) {
	t := &y.text
	t.reset(body)
	if t.peek() != '{' {
		return model.Batch{}, errForeign
	}
	software := gatewayName{}
	for name := range t.fields {
		if string(name) == "software" {
			software = readGateway(t, &names{})
		}
	}
	if software.name != "TabbyAPI" || !t.ends() {
		return model.Batch{}, errForeign
	}
	return model.Batch{About: y.said.of(model.About{
		Engine: "tabbyapi", Version: software.version, Missing: allSignals(),
		Notes: []string{"TabbyAPI tells nothing of what it does: measure it from outside by a probe, openai+http://HOST:PORT"},
	})}, nil
}
