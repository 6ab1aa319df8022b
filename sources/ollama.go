package sources

import (
	"fmt"
	"time"

	"slotop/model"
)

// ollama reads Ollama's /api/ps: which models are loaded. Ollama has no metrics
// page, and the document is the same with 2 and with 84 requests open: it tells
// neither what runs nor what waits, only that nothing does where no model is loaded.
//
// A model is unloaded at its expires_at, which is set when its last request ends
// and stands still until the next one has ended. One that is past is held up by a
// request that runs.
type ollama struct {
	text jsonText
	said said
}

var _ reader = (*ollama)(nil)

// ollamaModel is a model as /api/ps has it.
type ollamaModel struct {
	name       string
	size, vram float64 // bytes
	expires    model.Stamp
}

const ollamaNote = "Ollama tells neither what runs nor what waits nor how long it takes: measure it from outside by a probe, " +
	"openai+http://HOST:PORT, or read the llama-server that it runs on a port of its own (ss -ltnp shows it), whose /slots is open"

func (o *ollama) read(body []byte, date time.Time) (model.Batch, error) {
	t := &o.text
	t.reset(body)
	if t.peek() != '{' {
		return model.Batch{}, errForeign
	}
	var loaded []ollamaModel
	listed := false
	for name := range t.fields {
		if string(name) != "models" || t.peek() != '[' {
			continue
		}
		listed = true
		for range t.items {
			if t.peek() == '{' && len(loaded) < maxModels {
				loaded = append(loaded, readOllamaModel(t))
			}
		}
	}
	if !listed || !t.ends() {
		return model.Batch{}, errForeign
	}
	about := model.About{Engine: "ollama", Missing: allSignals(), Notes: []string{ollamaNote}}
	for _, m := range loaded {
		about.Models = append(about.Models, m.name)
		about.Notes = append(about.Notes, m.note(model.StampOf(date)))
	}
	batch := model.Batch{}
	if len(loaded) == 0 {
		batch.Samples = []model.Sample{gauge(model.Running, 0, model.LabelSet{})}
		about.Meanings = []model.Meaning{{Signal: model.Running, Metric: "/api/ps", Measures: "known only while no model is loaded"}}
		about.Missing = allBut(model.Running)
		about.Notes = append(about.Notes, "no model is loaded: the next request waits for that")
	}
	batch.About = o.said.of(about)
	return batch, nil
}

func readOllamaModel(t *jsonText) (m ollamaModel) {
	for name := range t.fields {
		switch string(name) {
		case "name":
			m.name = t.cleaned()
		case "size":
			m.size, _ = t.real()
		case "size_vram":
			m.vram, _ = t.real()
		case "expires_at":
			if t.peek() == '"' {
				m.expires, _ = parseStamp(t.text())
			}
		}
	}
	return m
}

// note says where a model lies, and whether it is busy as far as that can be known.
func (m ollamaModel) note(now model.Stamp) string {
	where := "in the host's memory"
	if share := 100 * m.vram / m.size; share >= 1 {
		where = fmt.Sprintf("%.0f %% of it in the GPU's memory", min(share, 100))
	}
	if m.expires != 0 && now != 0 && m.expires < now {
		return fmt.Sprintf("%s is loaded, %s, and busy: only a request that runs keeps it beyond its time", m.name, where)
	}
	return fmt.Sprintf("%s is loaded, %s", m.name, where)
}
