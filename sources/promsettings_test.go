package sources_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/sources"
)

// Keys, tenants, prefixes and matchers reach the server.
func TestPrometheusSettings(t *testing.T) {
	f := aFleet(2)
	f.replica("vllm", "10.9.9.9:8000", vllmLines("other", 70)...)
	web := f.serve(t)
	options := sources.Options{HTTP: &config.HTTPClientConfig{
		Authorization: &config.Authorization{Type: "Bearer", Credentials: "geheim-4711"},
		HTTPHeaders:   &config.Headers{Headers: map[string]config.Header{"X-Scope-OrgID": {Values: []string{"team-a"}}}},
	}}
	opened, err := sources.Resolve(t.Context(), []string{"prom+" + web.URL + `/mimir/?match=model_name="m"`}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sources.CloseAll(opened) }()
	b, err := opened[0].Source.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := the(t, b, model.Running, model.LabelModel, "m").Value; v != 21 || slices.Contains(b.About.Models, "other") {
		t.Errorf("%v run of %v, want only those that match", v, b.About.Models)
	}
	if f.path != "/mimir/api/v1/query" || f.header.Get("X-Scope-OrgID") != "team-a" || f.header.Get("Authorization") != "Bearer geheim-4711" {
		t.Errorf("asked at %s with %v", f.path, f.header)
	}
}

func TestPrometheusDoesNotCarryKeysElsewhere(t *testing.T) {
	var leaked []string
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { leaked = append(leaked, r.Header.Get("Authorization")) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/api/v1/query", http.StatusTemporaryRedirect)
	})
	_, err := resolve(t, "prom+"+strings.Replace(s.URL, "http://", "http://me:geheim-4711@", 1))[0].Source.Poll(t.Context())
	var fault *sources.FaultError
	if !errors.As(err, &fault) || fault.Kind != model.Redirected || len(leaked) > 0 || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v; the other server has %q", err, leaked)
	}
}
