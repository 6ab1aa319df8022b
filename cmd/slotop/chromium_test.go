package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium that is spoken to over two pipes, in the DevTools
// protocol: https://chromedevtools.github.io/devtools-protocol/.
type browser struct {
	tb   testing.TB
	send *os.File

	mu     sync.Mutex
	next   int
	answer map[int]chan reply
	events []event
	died   error
	wake   chan struct{} // an event came
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// event is something that the browser tells without being asked.
type event struct {
	Method    string
	Params    json.RawMessage
	SessionID string `json:"sessionId"`
}

// chromium starts the browser. Without one the test is skipped, unless every part must
// be there.
func chromium(tb testing.TB) *browser {
	tb.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
			tb.Fatalf("the page is not opened in a browser: %v", err)
		}
		tb.Skipf("the page is not opened in a browser: %v", err)
	}
	theirs, send, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	receive, told, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+tb.TempDir(), "--remote-debugging-pipe", "about:blank")
	c.ExtraFiles = []*os.File{theirs, told}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	_, _ = theirs.Close(), told.Close()
	b := &browser{tb: tb, send: send, answer: map[int]chan reply{}, wake: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.listen(receive)
	}()
	tb.Cleanup(func() {
		cancel()
		_ = c.Wait()
		_, _ = send.Close(), receive.Close()
		<-done
		if tb.Failed() {
			tb.Logf("chromium: %.2000s", stderr.String())
		}
	})
	return b
}

// listen reads messages, which end with a zero byte.
func (b *browser) listen(from *os.File) {
	var rest []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			i := bytes.IndexByte(rest, 0)
			if i < 0 {
				break
			}
			b.hear(rest[:i])
			rest = rest[i+1:]
		}
		if err != nil {
			b.mu.Lock()
			b.died = err
			for id, ch := range b.answer {
				delete(b.answer, id)
				close(ch)
			}
			b.mu.Unlock()
			return
		}
	}
}

func (b *browser) hear(message []byte) {
	var m struct {
		ID int
		reply
		event
	}
	if json.Unmarshal(message, &m) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if ch := b.answer[m.ID]; ch != nil {
		delete(b.answer, m.ID)
		ch <- m.reply
		return
	}
	b.events = append(b.events, m.event)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// call asks for something and puts the answer into out.
func (b *browser) call(session, method string, params map[string]any, out any) {
	b.tb.Helper()
	b.mu.Lock()
	b.next++
	id := b.next
	ch := make(chan reply, 1)
	b.answer[id] = ch
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.send.Write(append(text, 0))
	}
	if err != nil {
		b.tb.Fatalf("%s: %v", method, err)
	}
	select {
	case r, ok := <-ch:
		switch {
		case !ok:
			b.tb.Fatalf("%s: the browser ended: %v", method, b.died)
		case r.Error != nil:
			b.tb.Fatalf("%s: %s", method, r.Error.Message)
		case out != nil:
			if err := json.Unmarshal(r.Result, out); err != nil {
				b.tb.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(patience):
		b.tb.Fatalf("%s: no answer within %v", method, patience)
	}
}

// await waits for an event of a tab.
func (b *browser) await(session, method string) {
	b.tb.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		for _, e := range b.events {
			if e.SessionID == session && e.Method == method {
				b.mu.Unlock()
				return
			}
		}
		b.mu.Unlock()
		select {
		case <-b.wake:
		case <-deadline:
			b.tb.Fatalf("%s did not come within %v", method, patience)
		}
	}
}

// tab is a page that is open.
type tab struct {
	*browser
	session string
}

// view is how a page is looked at.
type view struct {
	width, height int
	dark          bool
}

// open opens a page and waits until all of it is there.
func (b *browser) open(url string, l view) tab {
	b.tb.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	t := tab{b, attached.SessionID}
	for _, domain := range []string{"Page", "Network", "Runtime", "Log", "Security"} {
		t.call(t.session, domain+".enable", nil, nil)
	}
	t.resize(l)
	t.call(t.session, "Page.navigate", map[string]any{"url": url}, nil)
	t.await(t.session, "Page.loadEventFired")
	return t
}

func (t tab) resize(l view) {
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	t.call(t.session, "Emulation.setDeviceMetricsOverride", map[string]any{"width": l.width, "height": l.height, "deviceScaleFactor": 1, "mobile": l.width < 600}, nil)
	t.call(t.session, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// eval is the value of a script's expression, which is run in the page by us.
func (t tab) eval(expression string, out any) {
	t.tb.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	t.call(t.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		t.tb.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, out); err != nil {
		t.tb.Fatalf("%s: %v: %s", expression, err, r.Result.Value)
	}
}

// picture is the whole page as PNG.
func (t tab) picture() []byte {
	t.tb.Helper()
	var r struct{ Data string }
	t.call(t.session, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &r)
	return decoded(t.tb, r.Data)
}

// printed is the page as PDF.
func (t tab) printed() []byte {
	t.tb.Helper()
	var r struct{ Data string }
	t.call(t.session, "Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}, &r)
	return decoded(t.tb, r.Data)
}

func decoded(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// requests are the addresses that the page asked for, without the page itself and data
// that it holds.
func (t tab) requests(page string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, e := range t.events {
		var p struct{ Request struct{ URL string } }
		if e.SessionID != t.session || e.Method != "Network.requestWillBeSent" {
			continue
		}
		if err := json.Unmarshal(e.Params, &p); err != nil {
			out = append(out, err.Error())
		}
		if p.Request.URL != page && !strings.HasPrefix(p.Request.URL, "data:") {
			out = append(out, p.Request.URL)
		}
	}
	return out
}

// complaints are the errors and warnings of the page, by itself or by its reader.
func (t tab) complaints() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []error
	for _, e := range t.events {
		if e.SessionID == t.session && (e.Method == "Log.entryAdded" || e.Method == "Runtime.exceptionThrown" || e.Method == "Runtime.consoleAPICalled") {
			all = append(all, fmt.Errorf("%s: %.300s", e.Method, e.Params))
		}
	}
	return errors.Join(all...)
}
