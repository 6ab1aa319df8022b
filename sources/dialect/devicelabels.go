package dialect

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
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

// maxPods bounds the pods that are listed of one device.
const maxPods = 64

// identify is a device as the series that are on the page name it. A number, a pod
// or a host may be another one than on the page before.
func (d *devicePlan) identify(p *expo.Page, r *deviceRows) model.Device {
	dev, pods := r.fixed, map[string]bool{}
	for _, row := range r.own {
		if p.Seen[row] {
			d.spec.name(&dev, p.Series[row].Labels)
			pods[d.spec.Labels.Pod.of(p.Series[row].Labels)] = true
		}
	}
	dev.Pods = listed(pods)
	if r.slice && len(d.spec.Slices.Parent) == 0 {
		dev.Index = -1 // the one on its row is its GPU's
	}
	own := dev.Index
	for _, row := range r.kin {
		if p.Seen[row] {
			d.spec.name(&dev, p.Series[row].Labels)
		}
	}
	if d.spec.Slices != nil && (r.slice || len(d.spec.Slices.Parent) > 0) {
		dev.Index = own
	}
	dev.Shared = d.spec.Shared != nil && dev.Name != "" && d.spec.Shared.MatchString(dev.Name)
	return dev
}

// name fills in what labels tell of a device and was not known yet.
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
}

// listed are the pods in order, those beyond the bound as a number.
func listed(pods map[string]bool) []string {
	delete(pods, "")
	all := slices.Sorted(maps.Keys(pods))
	if more := len(all) - maxPods; more > 0 {
		all = append(all[:maxPods:maxPods], fmt.Sprintf("and %d more", more))
	}
	return all
}
