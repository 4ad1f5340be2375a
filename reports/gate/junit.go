package gate

import (
	"bytes"
	"encoding/xml"
	"strings"
	"time"
)

// The elements of JUnit's XML, in the order and with the attributes that the schemas of both Ant and Jenkins demand.
type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	ID         int           `xml:"id,attr"`
	Package    string        `xml:"package,attr"`
	Name       string        `xml:"name,attr"`
	Timestamp  string        `xml:"timestamp,attr"` // UTC, without a zone
	Hostname   string        `xml:"hostname,attr"`
	Tests      int           `xml:"tests,attr"`
	Failures   int           `xml:"failures,attr"`
	Errors     int           `xml:"errors,attr"`
	Skipped    int           `xml:"skipped,attr"`
	Time       string        `xml:"time,attr"`
	Properties []junitOption `xml:"properties>property"`
	Cases      []junitCase   `xml:"testcase"`
	Out        string        `xml:"system-out"`
	Err        string        `xml:"system-err"`
}

type junitOption struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Skipped   *junitSkipped `xml:"skipped"`
	Failure   *junitFailure `xml:"failure"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit is the report as JUnit XML: a test case for each check, a waived one skipped. The time is that of the gate.
func (r *Report) JUnit(now time.Time) ([]byte, error) {
	suite := junitSuite{
		Package: "bench.gate", Name: "bench gate", Timestamp: now.UTC().Format("2006-01-02T15:04:05"), Hostname: "localhost",
		Tests: len(r.Checks), Failures: r.Failed, Skipped: r.Waived, Time: "0",
		Properties: []junitOption{{"rules", r.Rules}, {"run", r.Run}, {"baseline", r.Baseline}},
	}
	var flips bytes.Buffer
	for _, f := range r.flipped() {
		flips.WriteString(f.String() + "\n")
	}
	suite.Out = flips.String()
	for i := range r.Checks {
		c := &r.Checks[i]
		test := junitCase{Name: c.name(), ClassName: "bench.gate", Time: "0"}
		switch c.Status {
		case Failed:
			test.Failure = &junitFailure{Message: c.Reasons[0], Type: "gate", Text: strings.Join(append(c.Reasons, c.Notes...), "\n")}
		case Waived:
			test.Skipped = &junitSkipped{"waived until " + c.Waiver.Expires.String() + ": " + c.Waiver.Reason + " (" + c.Waiver.Issue + "); " + c.Reasons[0]}
		}
		suite.Cases = append(suite.Cases, test)
	}
	text, err := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}
