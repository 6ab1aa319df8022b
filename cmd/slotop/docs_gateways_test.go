package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/dialect"
)

const gatewaysPage = "../../docs/gateways.md"

// The table of what gateways tell is made from their dialects.
func TestGatewaysPageIsFresh(t *testing.T) {
	text, err := os.ReadFile(gatewaysPage)
	if err != nil {
		t.Fatal(err)
	}
	fresh := replacePart(t, string(text), "gateways", gatewayTable(t))
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/gateways.md is not what the program says; run go test ./cmd/slotop -run GatewaysPage -update and read the difference")
	}
	if err := os.WriteFile(gatewaysPage, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gatewayColumns are what a gateway may tell, as the page has it.
var gatewayColumns = []struct {
	title string
	any   []model.Signal
}{
	{"TTFT", []model.Signal{model.TTFT}}, {"ITL", []model.Signal{model.ITL}}, {"TPOT", []model.Signal{model.TPOT}},
	{"E2E", []model.Signal{model.E2E}}, {"queue", []model.Signal{model.Queue, model.AtGateway, model.Waiting}},
	{"in flight", []model.Signal{model.Running}}, {"tokens", []model.Signal{model.OutputTokens}},
	{"failures", []model.Signal{model.Failed}}, {"cancelled", []model.Signal{model.Cancelled}},
}

func gatewayTable(t *testing.T) string {
	set, err := dialect.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| gateway | workflow |")
	for _, c := range gatewayColumns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(gatewayColumns)) + "\n")
	for _, engine := range slices.DeleteFunc(set.Engines(), func(e string) bool { return set.Kind(e) != model.GatewayTarget }) {
		label := "–"
		if names := set.WorkflowLabel(engine); names != "" {
			label = "`" + strings.ReplaceAll(names, "|", "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |", engine, label)
		for _, c := range gatewayColumns {
			mark := ""
			for _, s := range c.any {
				if a, known := set.Advice(&model.About{Engine: engine}, string(s)); known && a.Metric != "" {
					mark = "●"
				}
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
