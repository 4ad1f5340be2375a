// Package browser opens reports in a headless Chromium, as their readers will: it clicks, types, changes themes and
// prints, and holds that the page asks the network for nothing, says nothing on the console, and stays within the width
// of a phone.
//
// It is a module of its own, so that the browser's driver stays out of the project's requirements. To run it, with
// chromium or Chrome on the PATH:
//
//	cd bench/browser && go test ./...
//
// TOOLGAUGE_SCREENSHOTS=DIR keeps a picture of each state.
package browser
