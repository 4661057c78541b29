"""What a classifier decided: the probability of each class."""

import plotly.graph_objects as go

from transformer.recording import Classification, Recording
from viz.labels import figure_text
from viz.theme import Theme
from viz.views.layout import SMALL, axis, layout, rows_height
from viz.views.view import View

TOP, BOTTOM, RIGHT = 44, 44, 64
"""Pixels for the title, for the axis, and for the text behind a bar that ends at 1."""


def classification_of(recording: Recording) -> Classification:
    """The part that these views draw. Raises ValueError where there is none."""
    if recording.classification is None:
        raise ValueError("nothing was classified here: View.applies_to says so")
    return recording.classification


def predicted(found: Classification) -> int:
    """The class with the largest logit."""
    return int(found.logits.argmax())


def draw(recording: Recording, theme: Theme) -> go.Figure:
    """A bar a class, in the model's order, from 0 to 1."""
    found = classification_of(recording)
    names = [figure_text(name) for name in found.classes]
    best, probs = predicted(found), found.probs.tolist()
    percents = [percent(prob) for prob in probs]
    margin = {"t": TOP, "l": 8, "r": RIGHT, "b": BOTTOM}
    height = rows_height(len(names)) + TOP + BOTTOM
    title = f"<b>Predicted</b> {names[best]}"
    figure = go.Figure(
        layout=layout(theme, "class_probabilities", title, height=height, margin=margin, bargap=0.4)
    )
    figure.add_trace(
        go.Bar(
            x=probs,
            y=list(range(len(names))),
            orientation="h",
            marker={"color": [theme.accent if i == best else theme.dim for i in range(len(names))]},
            text=percents,
            textposition="outside",
            textangle=0,
            textfont={"size": SMALL},
            cliponaxis=False,
            customdata=list(zip(percents, found.logits.tolist(), strict=True)),
            hovertemplate=(
                "%{y}: %{x:.4f} (%{customdata[0]})<br>logit %{customdata[1]:.4f}<extra></extra>"
            ),
        )
    )
    grid = {"showgrid": True, "gridcolor": theme.grid, "tickvals": [0, 0.5, 1]}
    figure.update_xaxes(axis(theme, "probability", range=[0, 1], **grid))
    rows = {"tickvals": list(range(len(names))), "ticktext": names}
    figure.update_yaxes(axis(theme, "", range=[len(names) - 0.5, -0.5], **rows))
    return figure


def percent(share: float) -> str:
    """A share of 1 with its unit.

    >>> percent(0.97312)
    '97.3 %'
    """
    return f"{100 * share:.1f} %"


def describe(recording: Recording) -> str:
    found = classification_of(recording)
    best = predicted(found)
    chances = ", ".join(
        f"{name} {percent(prob)}"
        for name, prob in zip(found.classes, found.probs.tolist(), strict=True)
    )
    return (
        f"Predicted: {found.classes[best]}, with a logit of {found.logits[best]:.2f}. "
        f"The probabilities: {chances}."
    )


VIEW = View(
    name="class_probabilities",
    title="Classes",
    explain="The softmax of the logits: a probability for each class, 1 in all.",
    needs="classification",
    draw=draw,
    describe=describe,
    controls=(),
)
