"""figure(): any view of a recording as a Plotly figure.

JupyterLab and VS Code draw one where they have Plotly's own extension; where none is, as in a page
that nbconvert made, an image of it stands.
"""

from functools import partial
from typing import Any

from transformer.analysis.selection import Selection
from transformer.discover import discover
from transformer.recording import Recording
from viz.app_packages import go
from viz.exhibits.chart import Chart
from viz.notebook.still import image
from viz.painters.chart_plotly import figure as chart_figure
from viz.painters.chart_sheet import sheet
from viz.paper.figure import Figure
from viz.paper.record import Record, versions
from viz.theme import Theme
from viz.theme import theme as theme_of
from viz.views.view import Dimensions


def figure(recording: Recording, name: str, *, theme: str = "light", **choices: Any) -> "go.Figure":
    """Draw the view of that name; a choice that is left out is the view's first.

    choices: by the names of the view's controls; a head as (kind, layer, head). Raises ValueError.
    """
    views = discover("viz.views", "VIEW")
    fitting = [each for each, view in views.items() if view.applies_to(recording)]
    if name not in fitting:
        raise ValueError(f"This recording has no view {name!r}: it has {', '.join(fitting)}.")
    view = views[name]
    unknown = sorted(set(choices) - {control.name for control in view.controls})
    if unknown:
        names = ", ".join(control.name for control in view.controls) or "no choice"
        raise ValueError(f"{name} has no choice {unknown[0]!r}: it has {names}.")
    chosen = {
        control.name: _chosen(control, recording, choices[control.name])
        if control.name in choices
        else control.options(recording)[0]
        for control in view.controls
    }
    chart, says = view.content(recording, **chosen), view.describe(recording, **chosen)
    return _with_image(chart, theme_of(theme), says)


def _with_image(chart: Chart, theme: Theme, says: str) -> "go.Figure":
    """Plotly's figure, which gives a notebook an image and a sentence beside Plotly's own data."""
    record = Record("explore", "", "", "", "", "", chart.title, says, versions())
    record = record.with_law(chart.law)
    still = image(Figure(partial(sheet, chart, theme), record), says)
    rest = {"text/plain": says} | ({"text/html": still} if still else {})
    figure = chart_figure(chart, theme)
    own = figure._repr_mimebundle_
    # Of this figure alone: a class of ours could not be made before Plotly is imported.
    figure._repr_mimebundle_ = lambda *choices, **options: rest | own(*choices, **options)
    figure._ipython_display_ = None  # which shows Plotly's data and nothing else
    return figure


def _chosen(control: Any, recording: Recording, value: Any) -> Any:
    """A choice that the control offers. Raises ValueError."""
    options = list(control.options(recording))
    if isinstance(options[0], Selection) and isinstance(value, tuple | list):
        value = Selection(*value) if len(value) == 3 else value
    several = isinstance(control, Dimensions) and isinstance(value, tuple | list)
    if all((each,) in options for each in value) if several else value in options:
        return tuple(value) if several else value
    first = ", ".join(repr(option) for option in options[:4])
    raise ValueError(
        f"{control.name} may not be {value!r}: there is {first}{', ...' * (len(options) > 4)}."
    )
