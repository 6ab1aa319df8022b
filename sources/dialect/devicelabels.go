package dialect

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/sources/expo"

	"go.yaml.in/yaml/v4"
)

// alternatives are the spellings of one thing that labels tell: a|b is the first
// of them that says something, a/b both, joined, where both do.
type alternatives [][]string

// UnmarshalYAML reads a|b/c.
func (a *alternatives) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("write the spellings of a label as a|b, joined labels as a/b")
	}
	for one := range strings.SplitSeq(n.Value, "|") {
		names := strings.Split(one, "/")
		for _, name := range names {
			if strings.TrimSpace(name) != name || name == "" {
				return fmt.Errorf("%q: a label's name is missing, or has a blank", n.Value)
			}
		}
		*a = append(*a, names)
	}
	return nil
}

// of is what the labels say, "" where none of the spellings is there.
func (a alternatives) of(labels []expo.Label) string {
next:
	for _, names := range a {
		text := ""
		for i, name := range names {
			v := label(labels, name)
			if v == "" {
				continue next
			}
			if i > 0 {
				text += "/"
			}
			text += v
		}
		return text
	}
	return ""
}

// nvidiaPrefixes are those that NVIDIA puts before the hexadecimal of a UUID.
var nvidiaPrefixes = []string{"GPU-", "MIG-"}

// uuidOf is the one form of a device's name: with the prefix that an exporter
// strips, and lower-case where it is hexadecimal. Whatever else a source calls its
// devices stays as it is.
func uuidOf(text, prefix string) string {
	if text == "" {
		return ""
	}
	for _, p := range nvidiaPrefixes {
		if rest, ok := strings.CutPrefix(text, p); ok {
			return p + strings.ToLower(rest)
		}
	}
	if prefix == "" {
		return text
	}
	return prefix + strings.ToLower(text)
}

// busAddress is what a PCI address looks like.
var busAddress = regexp.MustCompile(`^([0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]$`)

// name fills in what labels tell of a device and was not known yet. The index is
// that of the GPU, also on the row of a slice, unless the slice has its own.
func (s *deviceSpec) name(d *model.Device, labels []expo.Label) {
	if d.Name == "" {
		d.Name = s.Labels.Name.of(labels)
	}
	if d.Host == "" {
		d.Host = s.Labels.Host.of(labels)
	}
	if bus := s.Labels.Bus.of(labels); d.Bus == "" && busAddress.MatchString(bus) {
		d.Bus = bus
	}
	if n, err := strconv.Atoi(s.Labels.Index.of(labels)); d.Index < 0 && err == nil && n >= 0 {
		d.Index = n
	}
	d.Shared = d.Shared || s.Shared != nil && d.Name != "" && s.Shared.MatchString(d.Name)
}
