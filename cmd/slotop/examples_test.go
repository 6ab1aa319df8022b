package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// An example is there to be copied: the help puts one blank between its words, so
// that what is said about it stands in a line of its own.
func TestExamplesAreCommandsAlone(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "# ") && strings.Contains(line, "  ") {
				t.Errorf("%s: %q", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&app{}).rootCommand())
}
