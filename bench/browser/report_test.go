package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browserPath is the first browser on the PATH; the test is skipped if there is none.
func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("neither chromium nor Chrome is on the PATH")
	return ""
}

// hostile is a corpus whose tools try to break out of the page.
const hostile = `{"tools": [
  {"name": "weather_now", "description": "</script><img src=x onerror=console.error(1)> reads the weather of cities.", "inputSchema": {"type": "object"}},
  {"name": "flights_find", "description": "\"><svg onload=console.error(2)> finds flights between airports.", "inputSchema": {"type": "object"}}
]}`

// reportOf runs the commands as users do and returns the report's path.
func reportOf(t *testing.T, runs ...[]string) string {
	t.Helper()
	dir := t.TempDir()
	bench := filepath.Join(dir, "bench")
	command := func(name string, args ...string) string {
		c := exec.Command(name, args...)
		if name == "go" {
			c.Dir = "../.."
		} else {
			c.Dir = dir
		}
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
		}
		return strings.TrimSpace(string(out))
	}
	command("go", "build", "-o", bench, "./cmd/bench")
	if err := os.WriteFile(filepath.Join(dir, "hostile.json"), []byte(hostile), 0o666); err != nil {
		t.Fatal(err)
	}
	made := []string{"report", "-o", "report"}
	for _, args := range runs {
		out := command(bench, append([]string{"run", "-o", "runs"}, args...)...)
		made = append(made, out[strings.LastIndex(out, " ")+1:])
	}
	command(bench, made...)
	return filepath.Join(dir, "report", "report.html")
}

// reader is a browser with a page open, and what the page did that it should not.
type reader struct {
	t      *testing.T
	ctx    context.Context
	mu     sync.Mutex
	faults []string
}

// open opens a file in a browser of its own.
func open(t *testing.T, browser, path string) *reader {
	t.Helper()
	r := &reader{t: t}
	url := "file://" + path
	listener := func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.URL != url {
				r.fault("a request for %s", e.Request.URL)
			}
		case *runtime.EventConsoleAPICalled:
			r.fault("console %s", e.Type)
		case *runtime.EventExceptionThrown:
			r.fault("exception: %s", e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			r.fault("log: %s", e.Entry.Text)
		}
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(browser), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun,
		chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true), chromedp.UserDataDir(t.TempDir()))
	t.Cleanup(cancel)
	r.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(listener))
	t.Cleanup(cancel)
	stop := time.AfterFunc(5*time.Minute, cancel)
	t.Cleanup(func() { stop.Stop() })
	send(r, network.Enable, network.EnableParams{})
	send(r, log.Enable, cdp.Empty{})
	r.width(1280)
	r.do(chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("#theme")))
	return r
}

func (r *reader) fault(format string, values ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, values...))
}

func (r *reader) do(actions ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	if err := chromedp.Do(r.ctx, actions...); err != nil {
		r.t.Fatal(err)
	}
}

// get runs an action that gives a value.
func get[T any](r *reader, action chromedp.Action[T]) T {
	r.t.Helper()
	value, err := chromedp.Run(r.ctx, action)
	if err != nil {
		r.t.Fatal(err)
	}
	return value
}

// send sends a command of the browser's protocol.
func send[P, R any](r *reader, command cdp.Command[P, R], params P) R {
	r.t.Helper()
	return get(r, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// eval evaluates an expression in the page.
func eval[T any](r *reader, expression string) T {
	r.t.Helper()
	return get(r, chromedp.Evaluate[T](expression))
}

// width makes the window so many pixels wide.
func (r *reader) width(pixels int64) {
	r.t.Helper()
	r.do(chromedp.EmulateViewport(pixels, 900))
}

// prefers gives the reader a theme.
func (r *reader) prefers(theme string) {
	r.t.Helper()
	send(r, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
}

// quiet holds that the page did nothing that it should not.
func (r *reader) quiet() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) > 0 {
		r.t.Errorf("the page is not quiet: %q", r.faults)
	}
}

// picture keeps a screenshot of the whole page, if it is wanted.
func (r *reader) picture(name string) {
	r.t.Helper()
	if os.Getenv("TOOLGAUGE_SCREENSHOTS") != "" {
		r.keep(name+".png", get(r, chromedp.FullScreenshot(100)))
	}
}

func (r *reader) keep(name string, content []byte) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(os.Getenv("TOOLGAUGE_SCREENSHOTS"), name), content, 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// firstColumn are the texts of the visible row heads of a table.
func (r *reader) firstColumn(table string) []string {
	r.t.Helper()
	return eval[[]string](r, `[...document.querySelectorAll('`+table+` tbody th[scope=row]')].filter(h => h.offsetParent).map(h => h.firstChild.textContent)`)
}

// overflow is by how many pixels the page is wider than its window.
func (r *reader) overflow() int {
	r.t.Helper()
	return eval[int](r, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
}

func TestReport(t *testing.T) {
	r := open(t, browserPath(t), reportOf(t, []string{"--sessions", "150"}))
	r.picture("light")
	t.Run("sorts by click and by key", func(t *testing.T) { sorts(t, r) })
	t.Run("drills from class to intent to hits", func(t *testing.T) { drillsDown(t, r) })
	t.Run("has both themes", func(t *testing.T) { hasBothThemes(t, r) })
	t.Run("fits a phone", func(t *testing.T) { fitsAPhone(t, r) })
	t.Run("prints", func(t *testing.T) { prints(t, r) })
	t.Run("is accessible", func(t *testing.T) { isAccessible(t, r) })
	r.quiet()
}

func sorts(t *testing.T, r *reader) {
	const arms = "#summary table"
	before := r.firstColumn(arms)
	if len(before) != 5 {
		t.Fatalf("arms %v", before)
	}
	const head = arms + " thead th:nth-child(2)"
	sorted := func() string { return eval[string](r, `document.querySelector('`+head+`').getAttribute('aria-sort')`) }
	r.do(chromedp.Click(chromedp.CSS(head + " button")))
	if down := r.firstColumn(arms); sorted() != "descending" || down[0] != "eager" {
		t.Errorf("after a click %s: %v", sorted(), down)
	}
	r.do(chromedp.Focus(chromedp.CSS(head+" button")), chromedp.KeyEvent(kb.Enter))
	if up := r.firstColumn(arms); sorted() != "ascending" || up[4] != "eager" {
		t.Errorf("after Enter %s: %v", sorted(), up)
	}
	if said := eval[string](r, `document.getElementById('status').textContent`); !strings.Contains(said, "ascending") {
		t.Errorf("said %q", said)
	}
}

func drillsDown(t *testing.T, r *reader) {
	r.do(chromedp.Click(chromedp.CSS(`#tables a[data-class="paraphrase"]`)))
	if classes := eval[[]string](r, `[...new Set([...document.querySelectorAll('.drill tbody:not([hidden]) td:nth-child(2)')].filter(c => c.offsetParent).map(c => c.textContent))]`); !slices.Equal(classes, []string{"paraphrase"}) {
		t.Errorf("classes %v", classes)
	}
	const open = `.drill tbody:not([hidden]) .toggle`
	r.do(chromedp.Focus(chromedp.CSS(open)), chromedp.KeyEvent(kb.Enter))
	if hits := eval[int](r, `[...document.querySelectorAll('.drill .hits:not([hidden])')].filter(h => h.offsetParent).length`); hits != 1 {
		t.Errorf("%d rows of hits are open", hits)
	}
	if expanded := eval[string](r, `document.querySelector('`+open+`').getAttribute('aria-expanded')`); expanded != "true" {
		t.Errorf("aria-expanded %q", expanded)
	}
	r.picture("drill")
}

func hasBothThemes(t *testing.T, r *reader) {
	paper := func() string { return eval[string](r, `getComputedStyle(document.body).backgroundColor`) }
	r.prefers("light")
	light := paper()
	r.prefers("dark")
	dark := paper()
	if light == dark {
		t.Errorf("paper is %s in both themes", light)
	}
	r.picture("dark")
	r.do(chromedp.Click(chromedp.CSS("#theme")))
	if now := paper(); now != light {
		t.Errorf("after the button paper is %s, want %s", now, light)
	}
	r.do(chromedp.Click(chromedp.CSS("#theme")))
	if now := paper(); now != dark {
		t.Errorf("after the button again paper is %s, want %s", now, dark)
	}
	r.prefers("light")
	if now := paper(); now != dark {
		t.Errorf("the reader's choice is gone: paper is %s, want %s", now, dark)
	}
	r.do(chromedp.Click(chromedp.CSS("#theme")))
}

func fitsAPhone(t *testing.T, r *reader) {
	r.width(360)
	r.picture("phone")
	eval[int](r, `[...document.querySelectorAll('details')].map(d => d.open = true).length`)
	eval[int](r, `[...document.querySelectorAll('.drill .toggle[aria-expanded=false]')].slice(0, 5).map(b => b.click()).length`)
	if over := r.overflow(); over > 0 {
		t.Errorf("the page is %d pixels wider than a phone", over)
	}
	r.picture("phone-open")
	r.width(1280)
}

func prints(t *testing.T, r *reader) {
	pdf := get(r, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize()))
	if len(pdf) < 10_000 {
		t.Errorf("the print has %d bytes", len(pdf))
	}
	if os.Getenv("TOOLGAUGE_SCREENSHOTS") != "" {
		r.keep("print.pdf", pdf)
	}
	send(r, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if shown := eval[bool](r, `getComputedStyle(document.querySelector('nav')).display !== 'none'`); shown {
		t.Error("the navigation is printed")
	}
	send(r, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

func isAccessible(t *testing.T, r *reader) {
	for what, count := range map[string]string{
		"pictures without a title":  `document.querySelectorAll('svg[role=img]:not([aria-labelledby])').length`,
		"tables without a caption":  `[...document.querySelectorAll('table')].filter(t => !t.caption || !t.caption.textContent.trim()).length`,
		"heads without a scope":     `document.querySelectorAll('th:not([scope])').length`,
		"buttons without a name":    `[...document.querySelectorAll('button')].filter(b => !b.textContent.trim()).length`,
		"ids that are there twice":  `(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(e => e.id))`,
		"labels that point nowhere": `[...document.querySelectorAll('[aria-labelledby],[aria-controls]')].filter(e => ((e.getAttribute('aria-labelledby') || '') + ' ' + (e.getAttribute('aria-controls') || '')).trim().split(/ +/).some(id => !document.getElementById(id))).length`,
		"links that lead nowhere":   `[...document.querySelectorAll('a')].filter(a => !document.getElementById(a.getAttribute('href').slice(1))).length`,
		"skipped levels of heading": `[...document.querySelectorAll('h1,h2,h3,h4')].filter((h, i, all) => i > 0 && h.tagName[1] - all[i-1].tagName[1] > 1).length`,
	} {
		if n := eval[int](r, count); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	if n := eval[int](r, `document.querySelectorAll('main').length * document.querySelectorAll('h1').length`); n != 1 {
		t.Errorf("main and h1: %d", n)
	}
}

func TestSeveralRunsStandSideBySide(t *testing.T) {
	r := open(t, browserPath(t), reportOf(t, []string{"--sessions", "40"}, []string{"--sessions", "40", "--seed", "2", "--arms", "eager,july-listing"}))
	if heads := eval[[]string](r, `[...document.querySelectorAll('.measures thead')][0].rows[1].innerText.split(/\s+/)`); !slices.Contains(heads, "2") {
		t.Errorf("column heads %v", heads)
	}
	r.picture("two-runs")
	r.width(360)
	if over := r.overflow(); over > 0 {
		t.Errorf("the page is %d pixels wider than a phone", over)
	}
	r.quiet()
}

func TestNamesAreHarmless(t *testing.T) {
	r := open(t, browserPath(t), reportOf(t, []string{"--corpus", "hostile.json", "--sessions", "20"}))
	if n := eval[int](r, `document.querySelectorAll('img, svg[onload]').length`); n != 0 {
		t.Errorf("%d elements of the corpus's making", n)
	}
	if text := eval[string](r, `document.body.textContent`); !strings.Contains(text, "onerror=console.error") {
		t.Error("the corpus's text does not show: nothing was tried")
	}
	r.quiet()
}
