"""What a classifier decided: the probability of each class."""

import plotly.graph_objects as go

from transformer.recording import Recording
from transformer.recording.decisions import Classification
from viz.figures.layout import SMALL, axis, layout, rows_height
from viz.labels import figure_text, percent
from viz.theme import Theme
from viz.views.view import View

MOST = 40
"""Bars of a figure: of more classes the most probable are drawn."""
SAID = 5
"""The number of classes in the sentence."""
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


def ranked(found: Classification) -> list[int]:
    """The classes, the most probable first."""
    return found.logits.argsort(descending=True, stable=True).tolist()


def draw(recording: Recording, theme: Theme) -> go.Figure:
    """A bar a class, from 0 to 1; in the model's order, of very many the most probable first."""
    found = classification_of(recording)
    rows = ranked(found)[:MOST] if len(found.classes) > MOST else range(len(found.classes))
    names = [figure_text(found.classes[i]) for i in rows]
    probs, logits = found.probs[list(rows)].tolist(), found.logits[list(rows)].tolist()
    best = rows.index(predicted(found))
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
            customdata=list(zip(percents, logits, strict=True)),
            hovertemplate=(
                "%{y}: %{x:.4f} (%{customdata[0]})<br>logit %{customdata[1]:.4f}<extra></extra>"
            ),
        )
    )
    grid = {"showgrid": True, "gridcolor": theme.grid, "tickvals": [0, 0.5, 1]}
    figure.update_xaxes(axis(theme, "probability", range=[0, 1], **grid))
    labels = {"tickvals": list(range(len(names))), "ticktext": names}
    figure.update_yaxes(axis(theme, "", range=[len(names) - 0.5, -0.5], **labels))
    return figure


def describe(recording: Recording) -> str:
    found = classification_of(recording)
    best, n = predicted(found), len(found.classes)
    named = ranked(found)[:SAID] if n > MOST else range(n)
    chances = ", ".join(f"{found.classes[i]} {percent(float(found.probs[i]))}" for i in named)
    others = f", and {n - SAID:,} others" if n > MOST else ""
    return (
        f"Predicted: {found.classes[best]}, with a logit of {found.logits[best]:.2f}. "
        f"The probabilities: {chances}{others}."
    )


VIEW = View(
    name="class_probabilities",
    title="Classes",
    explain=(
        "The softmax of the logits: a probability for each class, 1 in all. Where a text may be of "
        "several classes, the sigmoid of each logit."
    ),
    needs="classification",
    draw=draw,
    describe=describe,
    controls=(),
)
