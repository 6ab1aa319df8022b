package alert

import (
	"strings"

	"slotop/model"
)

// escaped keeps two alerts apart whose names hold the separator.
var escaped = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// ID identifies the alert of a rule on a workflow, a target, both or neither:
// "rule|workflow|target". It depends on nothing else, so it is the same in
// every run.
func ID(rule, workflow, target string) model.AlertID {
	return model.AlertID(escaped.Replace(rule) + "|" + escaped.Replace(workflow) + "|" + escaped.Replace(target))
}
