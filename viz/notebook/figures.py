"""figure(): any view of a recording as a Plotly figure.

JupyterLab, Notebook and VS Code show one by themselves; where none of them runs, as in a page that
nbconvert made, `viz.painters.chart_plotly.figure_html` gives a page of its own.
"""

from typing import Any

from transformer.analysis.selection import Selection
from transformer.discover import discover
from transformer.recording import Recording
from viz.app_packages import go
from viz.painters.chart_plotly import figure as chart_figure
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
    return chart_figure(view.content(recording, **chosen), theme_of(theme))


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
