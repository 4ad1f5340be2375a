package eval

import (
	"fmt"
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The size of a plot, the margin around it and the strip on the right that names the lines, in points: lines run anywhere, so
// names within would lie on them.
const (
	plotWidth   = 560
	plotHeight  = 320
	plotMargin  = 12
	legendGap   = 4
	legendWidth = 110
)

// palette are colours that people with any kind of colour vision tell apart (Okabe and Ito, 2008), in the order of use.
func palette() []color.Color {
	return []color.Color{
		color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255},
		color.RGBA{204, 121, 167, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
	}
}

// plot draws recall at one cutoff, by its position, against the size of the pool: a line a retriever, as SVG. The x axis is
// logarithmic, and has a mark for each pool.
func (r *SetReport) plot(w io.Writer, cutoff int) error {
	p := plot.New()
	measure := r.Pools[0].Recall[cutoff].Measure
	p.Title.Text = fmt.Sprintf("%s: %s of %d queries among distractors", r.Set, measure, r.Queries)
	p.X.Label.Text, p.Y.Label.Text = "tools in the pool", measure
	p.X.Scale, p.Y.Min, p.Y.Max = plot.LogScale{}, 0, 1
	p.X.Tick.Marker = plot.ConstantTicks(r.ticks())
	p.Y.Tick.Marker = plot.ConstantTicks(shares())
	p.Add(plotter.NewGrid()) // first, so that lines lie on it
	legend := plot.NewLegend()
	legend.Left, legend.Top, legend.Padding = true, true, legendGap
	lines, order := make(map[string]plotter.XYs), []string{}
	for _, pool := range r.Pools {
		if lines[pool.Retriever] == nil {
			order = append(order, pool.Retriever)
		}
		lines[pool.Retriever] = append(lines[pool.Retriever], plotter.XY{X: float64(pool.Tools), Y: pool.Recall[cutoff].Value})
	}
	for i, retriever := range order {
		line, points, err := plotter.NewLinePoints(lines[retriever])
		if err != nil {
			return fmt.Errorf("cannot plot %s of %s: %w\nhint: leave --distractors out", measure, retriever, err)
		}
		line.Color = palette()[i%len(palette())]
		line.Width = vg.Points(1.5)
		line.Dashes = plotutil.Dashes(i) // of lines that lie on one another all are seen
		points.Color, points.Shape = line.Color, draw.CircleGlyph{}
		p.Add(line, points)
		legend.Add(retriever, line, points)
	}
	canvas, err := draw.NewFormattedCanvas(plotWidth, plotHeight, "svg")
	if err != nil {
		return err
	}
	paper := draw.New(canvas)
	paper.SetColor(color.White)
	paper.Fill(paper.Rectangle.Path())
	all := draw.Crop(paper, plotMargin, -plotMargin, plotMargin, -plotMargin)
	p.Draw(draw.Crop(all, 0, -legendWidth, 0, 0))
	legend.Draw(draw.Crop(all, plotWidth-2*plotMargin-legendWidth+plotMargin, 0, 0, -3*plotMargin))
	_, err = canvas.WriteTo(w)
	return err
}

// shares are the marks of the y axis.
func shares() (ticks []plot.Tick) {
	for tenths := 0; tenths <= 10; tenths += 2 {
		ticks = append(ticks, plot.Tick{Value: float64(tenths) / 10, Label: fmt.Sprintf("%.1f", float64(tenths)/10)})
	}
	return ticks
}

// ticks are the sizes of the pools; of two that are close the first bears no label.
func (r *SetReport) ticks() (ticks []plot.Tick) {
	const apart = 1.8 // ratio of sizes whose labels stand clear of one another
	for _, pool := range r.Pools {
		n := len(ticks)
		if n > 0 && ticks[n-1].Value == float64(pool.Tools) {
			continue
		}
		if n > 0 && float64(pool.Tools)/ticks[n-1].Value < apart {
			ticks[n-1].Label = ""
		}
		ticks = append(ticks, plot.Tick{Value: float64(pool.Tools), Label: strconv.Itoa(pool.Tools)})
	}
	return ticks
}
