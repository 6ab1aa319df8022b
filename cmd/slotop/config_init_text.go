package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// text is the configuration. Whatever came from elsewhere is escaped in comments and
// quoted in values.
func (b *beginning) text() string {
	var out strings.Builder
	out.WriteString("# A configuration of slotop, to be changed. slotop config check says whether it is\n" +
		"# right, and what of its promises can be judged. ${NAME} is taken from the environment.\n\n" +
		"# every: 1s             # poll interval\n" +
		"# window: 60s           # span of every rate and percentile\n" +
		"# theme: dark           # dark, light, mono, high-contrast or colour-blind\n" +
		"# annotations: ops.log  # what a deployment tool writes, to be marked on the charts\n\n")
	b.writeTargets(&out)
	b.writeFlows(&out)
	out.WriteString(alertsExample)
	out.WriteString(hardwareExample)
	return out.String()
}

func (b *beginning) writeTargets(out *strings.Builder) {
	if len(b.targets) == 0 {
		out.WriteString("# targets:\n#   - address: localhost:8000\n#     name: chat-0\n\n")
		return
	}
	out.WriteString("targets:\n")
	for i := range b.targets {
		t := &b.targets[i]
		comment(out, "  ", t.says...)
		fmt.Fprintf(out, "  - address: %s\n    name: %s\n", scalar(t.address), scalar(t.name))
		if t.locked {
			out.WriteString("    # http:            # it wants a key, which is better not written here\n" +
				"    #   authorization: {credentials: \"${SLOTOP_KEY}\"}\n")
		}
		switch {
		case len(t.gpus) > 0:
			comment(out, "    ", "runs on "+listed(t.gpus)+", which slotop finds out itself")
		case t.kind == model.EngineTarget:
			fmt.Fprintf(out, "    # gpus: [%s]    # names of targets that tell of its GPUs, or UUIDs, where slotop cannot tell\n", b.gpuTarget())
		}
	}
	for _, a := range b.aside {
		comment(out, "  ", "not watched: "+a)
	}
	out.WriteString("\n")
}

// gpuTarget is a target that tells of GPUs, or what it might be called.
func (b *beginning) gpuTarget() string {
	for i := range b.targets {
		if b.targets[i].kind == model.GPUTarget {
			return scalar(b.targets[i].name)
		}
	}
	return "gpus"
}

func (b *beginning) writeFlows(out *strings.Builder) {
	if len(b.flows) == 0 {
		out.WriteString("# workflows:           # what is promised, and to whom\n#   - name: chat\n" +
			"#     match: {model: \"llama-*\"}\n#     slo: {ttft: 1s, tpot: 50ms, objective: 95%}\n\n")
		return
	}
	out.WriteString("# What is promised, and to whom: a suggestion, to be replaced by what you promised.\nworkflows:\n")
	for i := range b.flows {
		f := &b.flows[i]
		comment(out, "  ", f.says...)
		fmt.Fprintf(out, "  - name: %s\n    match: {%s: %s}\n", scalar(f.name), f.key, scalar(f.value))
		if len(f.bounds) > 0 {
			fmt.Fprintf(out, "    slo: %s\n", f.slo())
		}
	}
	if b.left > 0 {
		comment(out, "  ", fmt.Sprintf("%d more are left out: match them by patterns, such as {model: \"llama-*\"}", b.left))
	}
	out.WriteString("\n")
}

// comment writes sentences as comments, each on a line.
func comment(out *strings.Builder, indent string, says ...string) {
	for _, s := range says {
		fmt.Fprintf(out, "%s# %s\n", indent, unit.Escape(s, false))
	}
}

// plainScalar is a value that YAML takes for a text without quotes.
var plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/:+-]*[A-Za-z0-9]$`)

// reservedScalars are words that YAML takes for something else than a text.
var reservedScalars = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// scalar is a text as a value.
func scalar(s string) string {
	if plainScalar.MatchString(s) && !reservedScalars[strings.ToLower(s)] {
		return s
	}
	return strconv.QuoteToASCII(s)
}

const alertsExample = `# alerts:
#   rules:             # beside the built-in ones
#     - {name: queue-long, signal: requests_waiting, over: 20, for: 1m}
#   send:              # who is told, on top of the screen
#     - exec: [notify-send, slotop]
#     - webhook: {url: "${SLOTOP_HOOK}"}
#       severity: page
`

const hardwareExample = `
# hardware:            # what slotop cannot find out of the machine behind a target
#   - target: "*"      # a glob; the first that matches
#     accelerator: H100 SXM5 80GB
#     gpus: 1          # that serve one target
#     precision: bf16  # of the arithmetic
#     sequences: 256   # the engine's cap on running requests
# models:              # the shape of a model whose name does not tell it
#   - {name: "llama-*", shape: meta-llama/Llama-3.1-8B-Instruct}
# prices: {currency: "$", gpu_hour: 3.24}
# forecast: {chat: 25} # requests a second, by workflow, to plan replicas for
`
