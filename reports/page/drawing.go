package page

import (
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// paint is a colour by the name that the style sheet gives it: what it looks like depends on the reader's theme.
type paint string

// RGBA is black: a paint has no colour of its own.
func (paint) RGBA() (r, g, b, a uint32) { return color.Black.RGBA() }

// drawing is a chart as shapes, which a template writes as SVG. Coordinates are points from the upper left corner.
type drawing struct {
	Width, Height float64
	Marks         []mark
	Title, Desc   string // for who cannot see it
	Run           string // of which run it is; empty if there is only one
}

// mark is one shape: a text, or else a path that is filled or stroked.
type mark struct {
	Paint       paint
	Text        string
	X, Y, Width string // of a text: its baseline's left end, and how much room it has, whatever font the reader has
	Path        string
	LineWidth   string // of a stroked path; empty of a filled one
	LineDash    string
}

// canvas is what charts are drawn on. Paths and texts become marks; images, turned and scaled shapes have no place in our
// charts, and are passed over.
type canvas struct {
	width, height vg.Length
	state         state
	saved         []state
	marks         []mark
}

// state is what Push keeps and Pop brings back.
type state struct {
	paint  paint
	width  vg.Length
	dash   []vg.Length
	origin vg.Point
}

func newCanvas(width, height vg.Length) *canvas {
	c := &canvas{width: width, height: height}
	vg.Initialize(c)
	return c
}

// drawing is what was drawn so far.
func (c *canvas) drawing() drawing {
	return drawing{Width: float64(c.width), Height: float64(c.height), Marks: c.marks}
}

func (c *canvas) Size() (x, y vg.Length)                    { return c.width, c.height }
func (c *canvas) SetLineWidth(width vg.Length)              { c.state.width = width }
func (c *canvas) SetLineDash(dash []vg.Length, _ vg.Length) { c.state.dash = dash }
func (c *canvas) Rotate(float64)                            {}
func (c *canvas) Scale(_, _ float64)                        {}
func (c *canvas) Translate(by vg.Point)                     { c.state.origin = c.state.origin.Add(by) }
func (c *canvas) Push()                                     { c.saved = append(c.saved, c.state) }
func (c *canvas) DrawImage(vg.Rectangle, image.Image)       {}

// SetColor takes a paint; any other colour is ink.
func (c *canvas) SetColor(is color.Color) {
	p, ok := is.(paint)
	if !ok {
		p = "ink"
	}
	c.state.paint = p
}

// Pop brings back the state of the last Push.
func (c *canvas) Pop() {
	if last := len(c.saved) - 1; last >= 0 {
		c.state, c.saved = c.saved[last], c.saved[:last]
	}
}

// Stroke draws along a path.
func (c *canvas) Stroke(path vg.Path) {
	if c.state.width <= 0 {
		return
	}
	var dash []string
	for _, d := range c.state.dash {
		dash = append(dash, coordinate(d))
	}
	c.marks = append(c.marks, mark{Paint: c.state.paint, Path: c.path(path), LineWidth: coordinate(c.state.width), LineDash: strings.Join(dash, " ")})
}

// Fill fills a path.
func (c *canvas) Fill(path vg.Path) {
	c.marks = append(c.marks, mark{Paint: c.state.paint, Path: c.path(path)})
}

// FillString writes a text.
func (c *canvas) FillString(face font.Face, at vg.Point, text string) {
	x, y := c.place(at)
	c.marks = append(c.marks, mark{Paint: c.state.paint, Text: text, X: x, Y: y, Width: coordinate(face.Width(text))})
}

// path is a path in SVG's words.
func (c *canvas) path(path vg.Path) string {
	var d strings.Builder
	to := func(command string, points ...vg.Point) {
		d.WriteString(command)
		for i, p := range points {
			if i > 0 {
				d.WriteByte(' ')
			}
			x, y := c.place(p)
			d.WriteString(x + " " + y)
		}
	}
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			to("M", part.Pos)
		case vg.LineComp:
			to("L", part.Pos)
		case vg.CurveComp:
			command := map[int]string{1: "Q", 2: "C"}[len(part.Control)]
			to(command, append(part.Control[:len(part.Control):len(part.Control)], part.Pos)...)
		case vg.ArcComp:
			// An arc of a whole turn ends where it starts, which SVG takes for none: it is drawn in two halves.
			to(map[bool]string{true: "M", false: "L"}[d.Len() == 0], onArc(part, 0))
			radius := coordinate(part.Radius)
			sweep := map[bool]string{true: "0", false: "1"}[part.Angle > 0] // y runs downwards here
			for _, share := range []float64{.5, 1} {
				to("A"+radius+" "+radius+" 0 0 "+sweep+" ", onArc(part, share))
			}
		case vg.CloseComp:
			d.WriteByte('Z')
		}
	}
	return d.String()
}

// onArc is the point of an arc at a share of its angle.
func onArc(arc vg.PathComp, share float64) vg.Point {
	sin, cos := math.Sincos(arc.Start + float64(share*arc.Angle))
	return arc.Pos.Add(vg.Point{X: arc.Radius * vg.Length(cos), Y: arc.Radius * vg.Length(sin)})
}

// place turns a point into coordinates from the upper left corner.
func (c *canvas) place(p vg.Point) (x, y string) {
	p = p.Add(c.state.origin)
	return coordinate(p.X), coordinate(c.height - p.Y)
}

// coordinate is a length to the tenth of a point. What is finer than that differs between CPUs, and is not seen.
func coordinate(length vg.Length) string {
	text := strconv.FormatFloat(float64(length), 'f', 1, 64)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}
