package discover

import (
	"context"
	"mime"
	"net/http"
)

// eventsPath is where a gateway is expected to report its requests, as in the
// documentation of the schema.
const eventsPath = "/events"

// streams reports whether a server has a stream of events there. It reads none of
// it.
func streams(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+eventsPath, nil)
	if err != nil {
		return false
	}
	request.Header.Set("Accept", "text/event-stream, application/x-ndjson")
	once := &http.Transport{DisableKeepAlives: true} // and no proxy: the server is here
	response, err := once.RoundTrip(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return response.StatusCode == http.StatusOK && (kind == "text/event-stream" || kind == "application/x-ndjson")
}
