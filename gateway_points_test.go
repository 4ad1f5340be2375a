package toolgauge_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// gatewayPoints is how many requirements the gateway has.
const gatewayPoints = 47

// pointRow is a row of the table in docs/gateway.md: number, point, tests.
var pointRow = regexp.MustCompile(`(?m)^\| ([0-9]+) \| (.+) \| (.+) \|$`)

// TestEveryPointOfTheGatewayHasATest holds the table of docs/gateway.md to the tests
// that there are.
func TestEveryPointOfTheGatewayHasATest(t *testing.T) {
	page, err := os.ReadFile("docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := pointRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) != gatewayPoints {
		t.Fatalf("the table has %d points, want %d", len(rows), gatewayPoints)
	}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("row %d is numbered %s", i+1, row[1])
		}
		for named := range strings.SplitSeq(row[3], ", ") {
			room, test, _ := strings.Cut(named, ".")
			if !hasTest(t, room, test) {
				t.Errorf("point %s: there is no %s", row[1], named)
			}
		}
	}
}

// hasTest reports whether a room, named from the root or from the gateway's, has a test.
func hasTest(t *testing.T, room, test string) bool {
	t.Helper()
	folders := []string{filepath.FromSlash(room), filepath.Join("pipeline/gateway", filepath.FromSlash(room))}
	if room == "gateway" {
		folders = []string{"pipeline/gateway"}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "func "+test+"(") {
				return true
			}
		}
	}
	return false
}
