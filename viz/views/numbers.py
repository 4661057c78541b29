"""The numbers that a model puts on a text, such as how relevant it is to another one."""

from transformer.recording import Recording
from viz.exhibits.chart import Axis, Bars, Chart
from viz.labels import number, signed
from viz.views.view import View

ROOM = 1.25
"""Times the longest bar: its number stands behind its end."""


def chart(recording: Recording) -> Chart:
    """A bar a number, from 0 to the side of its sign."""
    names, values = list(recording.numbers), list(recording.numbers.values())
    texts = [signed(value) for value in values]
    bars = Bars("", range(len(names)), values, ("accent",), "{y}: {x:.6g}", True, texts=texts)
    ends = min(0.0, *values) * ROOM, max(0.0, *values) * ROOM
    x = Axis("number, as it leaves the model", ends=ends, has_grid=True)
    title = ("Number of the text", f": {names[0]} {texts[0]}" if len(names) == 1 else "")
    return Chart("numbers", *title, x, Axis("", labels=names), (bars,))


def describe(recording: Recording) -> str:
    values = ", ".join(f"{name} {number(value)}" for name, value in recording.numbers.items())
    return f"The model puts on the text: {values}."


VIEW = View(
    name="numbers",
    title="Number of the text",
    explain=(
        "The output of the model's last layer, with its sign: no probability. A library that "
        "ranks texts may put a sigmoid on it, which changes no order."
    ),
    needs="numbers",
    content=chart,
    describe=describe,
    controls=(),
)
