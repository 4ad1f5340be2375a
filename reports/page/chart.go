package page

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/toolgauge/toolgauge/internal/numerals"
)

// Sizes of charts, in points. They are narrow enough that their texts can be read on a phone.
const (
	chartWidth  = 400
	chartHeight = 230
	textSize    = 12
	lineHeight  = 14
	rowHeight   = 25 // of a chart with a row for each arm or class
	barWidth    = 13
	axisHeight  = 40
	labelGap    = 5
)

// newChart is an empty chart without any lines but a soft grid.
func newChart(xLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Width, axis.Tick.LineStyle.Width, axis.Tick.Length = 0, 0, 0
		axis.Tick.Label.Font, axis.Tick.Label.Color = textFont(), paint("soft")
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = textFont(), paint("soft")
		axis.Tick.Marker = ticker{}
	}
	p.X.Label.Text = xLabel
	return p
}

// textFont has the widths of what style sheets call sans-serif.
func textFont() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize} }

func textStyle(of paint) draw.TextStyle {
	return draw.TextStyle{Color: of, Font: textFont(), YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
}

func grid(horizontal, vertical bool) *plotter.Grid {
	g := plotter.NewGrid()
	for _, line := range []struct {
		style *draw.LineStyle
		drawn bool
	}{{&g.Horizontal, horizontal}, {&g.Vertical, vertical}} {
		*line.style = draw.LineStyle{Color: paint("grid"), Width: 1}
		if !line.drawn {
			line.style.Width = 0
		}
	}
	return g
}

// finish draws a chart with room on its right.
func finish(p *plot.Plot, height, right vg.Length) drawing {
	c := newCanvas(chartWidth, height)
	p.Draw(draw.Crop(draw.New(c), 2, -right-2, 2, -4))
	return c.drawing()
}

// ticker marks round numbers, in few characters.
type ticker struct{}

// Ticks are the marks between two values.
func (ticker) Ticks(low, high float64) (ticks []plot.Tick) {
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if t.Label != "" {
			ticks = append(ticks, plot.Tick{Value: t.Value, Label: short(t.Value)})
		}
	}
	return ticks
}

// short is a number with k or M for thousands and millions.
func short(x float64) string {
	format := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	switch size := math.Abs(x); {
	case size >= 1e6:
		return format(x/1e6) + "M"
	case size >= 1e3:
		return format(x/1e3) + "k"
	default:
		return format(x)
	}
}

// nominal marks whole numbers from 0 with names.
func nominal(names []string) plot.ConstantTicks {
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}

// segment is a part of every bar: one value for each row.
type segment struct {
	paint  paint
	values []float64
}

// bars is a chart of horizontal bars, a row each from above, made of segments. Behind a bar stands its end; the axis ends
// at high.
func bars(rows []string, segments []segment, ends []string, high float64, xLabel string) (drawing, error) {
	p := newChart(xLabel)
	p.Add(grid(false, true))
	n := len(rows)
	totals := make([]float64, n)
	var below *plotter.BarChart
	for _, s := range segments {
		values := make(plotter.Values, n)
		for i, x := range s.values {
			values[n-1-i] = x
			totals[i] += x
		}
		b, err := plotter.NewBarChart(values, barWidth)
		if err != nil {
			return drawing{}, err
		}
		b.Horizontal, b.Color = true, s.paint
		b.LineStyle = draw.LineStyle{Color: paint("paper"), Width: 1} // a gap between neighbours
		if below != nil {
			b.StackOn(below)
		}
		p.Add(b)
		below = b
	}
	var labels []label
	for i, end := range ends {
		labels = append(labels, label{x: totals[i], y: float64(n - 1 - i), text: end, paint: "ink"})
	}
	p.Add(behind(labels))
	withRows(p, rows)
	p.X.Min, p.X.Max = 0, max(high, math.SmallestNonzeroFloat32)
	return finish(p, vg.Length(n*rowHeight+axisHeight), widest(ends)+labelGap), nil
}

// withRows names the rows of a chart, from above.
func withRows(p *plot.Plot, rows []string) {
	upwards := slices.Clone(rows)
	slices.Reverse(upwards)
	p.Y.Tick.Marker = nominal(upwards)
	p.Y.Tick.Label.Color = paint("ink")
	p.Y.Min, p.Y.Max = -.6, float64(len(rows))-.4
}

// widest is the room that the longest of some texts takes.
func widest(texts []string) (width vg.Length) {
	style := textStyle("ink")
	for _, text := range texts {
		width = max(width, style.Width(text))
	}
	return width
}

// label is a text at a place of the data.
type label struct {
	x, y  float64
	text  string
	paint paint
	left  bool // it stands on the left of its place
}

// behind draws labels on the right of their places.
type behind []label

// Plot draws the labels.
func (b behind) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, l := range b {
		c.FillText(textStyle(l.paint), vg.Point{X: x(l.x) + labelGap, Y: y(l.y)}, l.text)
	}
}

// series is a line: its points, its name, and the point that bears a ring, -1 if none does.
type series struct {
	name  string
	paint paint
	at    plotter.XYs
	ring  int
}

// lines is a chart of lines, each with its name at its right end.
func lines(all []series, xTicks []string, high float64, xLabel, yLabel string) (drawing, error) {
	p := newChart(xLabel)
	p.Add(grid(true, false))
	var names []string
	var ends []label
	right := 0.0
	for _, s := range all {
		names = append(names, s.name)
		line, points, err := plotter.NewLinePoints(s.at)
		if err != nil {
			return drawing{}, err
		}
		line.Color, line.Width = s.paint, 1.75
		points.GlyphStyle = draw.GlyphStyle{Color: s.paint, Radius: 2, Shape: draw.CircleGlyph{}}
		p.Add(line, points)
		if s.ring >= 0 {
			p.Add(ring{s.at[s.ring], s.paint})
		}
		last := s.at[len(s.at)-1]
		right = max(right, last.X)
		ends = append(ends, label{x: last.X, y: last.Y, text: s.name, paint: s.paint})
	}
	p.Add(atEnds{ends, yLabel})
	p.X.Tick.Marker = nominal(xTicks)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, max(right, 1), 0, max(high, math.SmallestNonzeroFloat32)
	c := newCanvas(chartWidth, chartHeight)
	p.Draw(draw.Crop(draw.New(c), 2, -widest(names)-2*labelGap, 2, -lineHeight-6))
	return c.drawing(), nil
}

// ring is a circle around a point.
type ring struct {
	at    plotter.XY
	paint paint
}

// Plot draws the ring.
func (r ring) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.DrawGlyph(draw.GlyphStyle{Color: r.paint, Radius: 5, Shape: draw.RingGlyph{}}, vg.Point{X: x(r.at.X), Y: y(r.at.Y)})
}

// atEnds draws names on the right of the chart, next to where their lines end, and what the y axis is above it.
type atEnds struct {
	labels []label
	yLabel string
}

// Plot draws the names.
func (a atEnds) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	at := make([]vg.Length, len(a.labels))
	for i, l := range a.labels {
		at[i] = y(l.y)
	}
	for i, place := range apart(at, lineHeight) {
		c.FillText(textStyle(a.labels[i].paint), vg.Point{X: c.Max.X + 2*labelGap, Y: place}, a.labels[i].text)
	}
	c.FillText(textStyle("soft"), vg.Point{X: 2, Y: c.Max.Y + lineHeight}, a.yLabel)
}

// apart moves places up or down until they are a distance apart, and keeps their order.
func apart(places []vg.Length, distance vg.Length) []vg.Length {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case places[a] > places[b]:
			return -1
		case places[a] < places[b]:
			return 1
		}
		return 0
	})
	// Groups of neighbours that touch share the room around their middle.
	type group struct {
		members []int
		middle  vg.Length
	}
	var groups []group
	for _, i := range order {
		g := group{[]int{i}, places[i]}
		for len(groups) > 0 {
			above := groups[len(groups)-1]
			if above.middle-g.middle >= distance*vg.Length(len(above.members)+len(g.members))/2 {
				break
			}
			weight := vg.Length(len(above.members))
			g.middle = (above.middle*weight + g.middle*vg.Length(len(g.members))) / (weight + vg.Length(len(g.members)))
			g.members = append(above.members, g.members...)
			groups = groups[:len(groups)-1]
		}
		groups = append(groups, g)
	}
	moved := make([]vg.Length, len(places))
	for _, g := range groups {
		top := g.middle + distance*vg.Length(len(g.members)-1)/2
		for k, i := range g.members {
			moved[i] = top - distance*vg.Length(k)
		}
	}
	return moved
}

// dots is a chart with a row for each name and a point on it for each series, from 0 to 1; a row in which a series has
// nothing is NaN there.
func dots(rows []string, all []series, xLabel string) drawing {
	p := newChart(xLabel)
	p.Add(grid(true, false), grid(false, true))
	n := len(rows)
	for k, s := range all {
		// Series lie side by side within a row, so that none hides another.
		offset := (float64(len(all)-1)/2 - float64(k)) * .22
		for i, at := range s.at {
			if !math.IsNaN(at.X) {
				p.Add(dot{plotter.XY{X: at.X, Y: float64(n-1-i) + offset}, s.paint, false})
			}
		}
	}
	withRows(p, rows)
	p.X.Min, p.X.Max = 0, 1
	return finish(p, vg.Length(n*rowHeight+axisHeight), labelGap)
}

// dot is a point, or a ring where it is hollow.
type dot struct {
	at     plotter.XY
	paint  paint
	hollow bool
}

// Plot draws the dot.
func (d dot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.GlyphStyle{Color: d.paint, Radius: 4, Shape: draw.CircleGlyph{}}
	if d.hollow {
		style.Shape = draw.RingGlyph{}
	}
	c.DrawGlyph(style, vg.Point{X: x(d.at.X), Y: y(d.at.Y)})
}

// spot is a named point of a scatter chart.
type spot struct {
	x, y   float64
	text   string
	paint  paint
	hollow bool
}

// scatter is a chart of named points.
func scatter(spots []spot, xHigh, yHigh float64, xLabel, yLabel string) drawing {
	p := newChart(xLabel)
	p.Add(grid(true, true))
	var labels []label
	for _, s := range spots {
		p.Add(dot{plotter.XY{X: s.x, Y: s.y}, s.paint, s.hollow})
		labels = append(labels, label{x: s.x, y: s.y, text: s.text, paint: s.paint, left: s.x > xHigh/2})
	}
	p.Add(beside{labels, yLabel})
	yHigh = max(yHigh, 1)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, max(xHigh, 1), -yHigh/12, yHigh // names of points at 0 stay clear of the axis
	c := newCanvas(chartWidth, chartHeight)
	p.Draw(draw.Crop(draw.New(c), 2, -12, 2, -lineHeight-10))
	return c.drawing()
}

// beside draws names beside their points, and what the y axis is above it.
type beside struct {
	labels []label
	yLabel string
}

// Plot draws the names.
func (b beside) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, left := range []bool{false, true} {
		var side []label
		var at []vg.Length
		for _, l := range b.labels {
			if l.left == left {
				side, at = append(side, l), append(at, y(l.y))
			}
		}
		for i, place := range apart(at, lineHeight) {
			style, gap := textStyle(side[i].paint), vg.Length(labelGap+4)
			if left {
				style.XAlign, gap = draw.XRight, -gap
			}
			c.FillText(style, vg.Point{X: x(side[i].x) + gap, Y: place}, side[i].text)
		}
	}
	c.FillText(textStyle("soft"), vg.Point{X: 2, Y: c.Max.Y + lineHeight}, b.yLabel)
}

// whole and percent word values as the tables do.
func whole(x float64) string   { return numerals.Number(x, 0) }
func percent(x float64) string { return numerals.Number(100*x, 1) + "%" }
