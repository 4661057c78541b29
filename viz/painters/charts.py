"""The one place that paints a chart, whichever way it is declared."""

import plotly.graph_objects as go

from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import PlotlyFigure
from viz.painters import chart_plotly, chart_sheet
from viz.painters.chart_sheet import SHAPE, TALLEST
from viz.paper.plotted import plotted
from viz.paper.sheet import Sheet
from viz.theme import Theme

AnyChart = Chart | PlotlyFigure


def figure(chart: AnyChart, theme: Theme) -> go.Figure:
    """The chart as Plotly draws it."""
    return chart_plotly.figure(chart, theme) if isinstance(chart, Chart) else chart.make(theme)


def sheet(
    chart: AnyChart, theme: Theme, width: float, shape: float = SHAPE, tallest: float = TALLEST
) -> Sheet:
    """The chart on a sheet as wide as this, in points. shape, tallest: of `chart_sheet.sheet`."""
    if isinstance(chart, Chart):
        return chart_sheet.sheet(chart, theme, width, shape, tallest)
    return plotted(chart.make(theme), width, shape, tallest)
