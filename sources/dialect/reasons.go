package dialect

import (
	"slotop/model"
	"slotop/sources/expo"
)

// failureNames are the canonical reasons for which a request failed or was
// cancelled, as events of single requests give them.
var failureNames = []string{
	"rejected", "rate_limited", "upstream_4xx", "upstream_5xx", "timeout", "content_filter", "internal",
	"client_disconnect", "user", "deadline", "preempted", "shutdown",
}

// reasonIn is the canonical reason that a row's labels give, "" for none and for
// signals that have no reasons.
func (d *Dialect) reasonIn(s model.Signal, labels []expo.Label) string {
	switch s {
	case model.Finished:
		return d.finishReason(label(labels, d.labels.Reason))
	case model.Failed, model.Cancelled:
		return d.failure(d.named(labels, d.labels.Failure))
	}
	return ""
}

// finishReason is the canonical word for an exposed finish reason.
func (d *Dialect) finishReason(exposed string) string {
	if word, ok := d.reasons[exposed]; ok || exposed == "" {
		return word
	}
	return "other"
}

// failure is the canonical word for why a request failed or was cancelled: that
// of the file, or of an HTTP status. Anything else is said as it is exposed.
func (d *Dialect) failure(exposed string) string {
	if word, ok := d.failures[exposed]; ok {
		return word
	}
	if word := statusReason(exposed); word != "" {
		return word
	}
	return exposed
}

// statusReason is why a request failed whose answer had an HTTP status, "" for
// what is none of an error. 499 is what proxies note where the client has left.
func statusReason(status string) string {
	if len(status) != 3 || status[1] < '0' || status[1] > '9' || status[2] < '0' || status[2] > '9' {
		return ""
	}
	switch status {
	case "429":
		return "rate_limited"
	case "408", "504":
		return "timeout"
	case "499":
		return "client_disconnect"
	}
	switch status[0] {
	case '4':
		return "upstream_4xx"
	case '5':
		return "upstream_5xx"
	}
	return ""
}
