package sources

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"slotop/model"
)

// identity is what a server says of itself beside what it is polled for. It is
// asked once, and anew when the server was gone in between.
type identity struct {
	version string
	models  []string
	owner   string // of its models, as /v1/models has it
}

// identities are the documents that tell of an engine. None of them costs an engine
// anything. nameless: its page names no model.
var identities = []struct {
	engine   string
	path     string
	nameless bool
}{
	{engine: "vllm", path: "/version"},
	{engine: "aphrodite", path: "/version"},
	{engine: "trtllm", path: "/version"},
	{engine: "sglang", path: "/server_info"},
	{engine: "llama.cpp", path: "/props", nameless: true},
	{engine: "tgi", path: "/info", nameless: true},
	{engine: "tei", path: "/info", nameless: true},
	{engine: "ollama", path: "/api/version"},
	{engine: "tabbyapi", path: "/v1/models"},
}

// identify asks for what tells of an engine. What does not answer is not known.
func (a *asked) identify(ctx context.Context, engine string) (id identity) {
	for _, row := range identities {
		if row.engine != engine {
			continue
		}
		_ = a.beside(row.path).get(ctx, func(body []byte, _ *http.Response) error {
			id = readIdentity(body)
			id.models = a.sent.namesIn(id.models)
			if a.sent.quotedIn(id.version) {
				id.version = withheld
			}
			return nil
		})
	}
	return id
}

// nameless reports whether an engine's page names no model.
func nameless(engine string) bool {
	for _, row := range identities {
		if row.engine == engine {
			return row.nameless
		}
	}
	return false
}

// readIdentity reads the fields by which engines name their version and models.
func readIdentity(body []byte) (id identity) {
	t := &jsonText{}
	t.reset(body)
	if t.peek() != '{' {
		return identity{}
	}
	alias, file := "", ""
	named := func(to *string) { *to = cmp.Or(*to, modelName(t.cleaned())) }
	for name := range t.fields {
		switch string(name) {
		case "version", "build_info":
			id.version = t.cleaned()
		case "model_alias", "served_model_name":
			named(&alias)
		case "model_id", "model_path":
			named(&file)
		case "data":
			if t.peek() == '[' {
				id.models, id.owner = readModels(t)
				for i := range id.models {
					id.models[i] = modelName(id.models[i])
				}
			}
		}
	}
	if !t.ends() {
		return identity{}
	}
	if name := cmp.Or(alias, file); name != "" {
		id.models = []string{name}
	}
	return id
}

// readModels reads the list of /v1/models: the names, and whose the first is.
func readModels(t *jsonText) (models []string, owner string) {
	for range t.items {
		if t.peek() != '{' {
			continue
		}
		for name := range t.fields {
			switch string(name) {
			case "id":
				if id := t.cleaned(); id != "" && len(models) < maxModels {
					models = append(models, id)
				}
			case "owned_by":
				owner = cmp.Or(owner, t.cleaned())
			}
		}
	}
	return models, owner
}

// complete is a description with what the server says of itself.
func (id identity) complete(about *model.About) *model.About {
	if id.version == "" && (len(id.models) == 0 || len(about.Models) > 0) {
		return about
	}
	whole := *about
	whole.Version = cmp.Or(id.version, about.Version)
	if len(about.Models) == 0 {
		whole.Models = slices.Clone(id.models)
	}
	return &whole
}
