package page

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestCanvas(t *testing.T) {
	c := newCanvas(100, 50)
	line := vg.Path{}
	line.Move(vg.Point{X: 1, Y: 2})
	line.Line(vg.Point{X: 10.26, Y: 50})
	c.SetColor(paint("a1"))
	c.SetLineDash([]vg.Length{2, 1}, 0)
	c.Stroke(line)

	c.Push()
	c.Translate(vg.Point{X: 5, Y: -5})
	c.SetColor(color.White)
	curve := vg.Path{}
	curve.Move(vg.Point{})
	curve.QuadTo(vg.Point{X: 1}, vg.Point{X: 2})
	curve.CubeTo(vg.Point{X: 3}, vg.Point{X: 4}, vg.Point{X: 5})
	curve.Close()
	c.Fill(curve)
	c.Pop()

	circle := vg.Path{}
	circle.Arc(vg.Point{X: 20, Y: 20}, 4, 0, 2*math.Pi)
	c.Fill(circle)
	c.SetLineWidth(0)
	c.Stroke(line)
	c.Pop()

	want := []mark{
		{Paint: "a1", Path: "M1 48L10.3 0", LineWidth: "1", LineDash: "2 1"},
		{Paint: "ink", Path: "M5 55Q6 55 7 55C8 55 9 55 10 55Z"},
		{Paint: "a1", Path: "M24 30A4 4 0 0 0 16 30A4 4 0 0 0 24 30"},
	}
	if got := c.drawing(); !slices.Equal(got.Marks, want) || got.Width != 100 || got.Height != 50 {
		t.Errorf("drawing\n%+v, want\n%+v", got, want)
	}
}

func TestCoordinate(t *testing.T) {
	for x, want := range map[vg.Length]string{0: "0", -.04: "0", 1.25: "1.2", 1.26: "1.3", -3: "-3", 100: "100"} {
		if got := coordinate(x); got != want {
			t.Errorf("coordinate(%v) = %q, want %q", x, got, want)
		}
	}
}
