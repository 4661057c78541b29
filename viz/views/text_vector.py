"""The vector of a text: which tokens' vectors lie close to it."""

from transformer.analysis.tables.origins import Side
from transformer.recording import Recording
from transformer.recording.text_vector import TextVector, cosine
from viz.exhibits.chart import Axis, Bars, Chart
from viz.labels import in_word, number
from viz.views.view import View


def vector_of(recording: Recording) -> TextVector:
    """The part that this view draws. Raises ValueError where there is none."""
    if recording.vector is None:
        raise ValueError("no vector was made here: View.applies_to says so")
    return recording.vector


def cosines(recording: Recording) -> list[float]:
    """The cosine of each token's vector with the pooled one; of several modes, with the closest."""
    vector = vector_of(recording)
    parts = vector.pooled.view(-1, vector.states.size(1))
    return [max(cosine(part, state) for part in parts) for state in vector.states]


def chart(recording: Recording) -> Chart:
    """A bar a token, the first on top: its vector's cosine with the text's vector."""
    values = cosines(recording)
    bars = Bars("", range(len(values)), values, ("above",), "{x:.4f}", is_level=True)
    x = Axis(f"cosine with {_compared(recording)}", from_zero=True, has_grid=True)
    y = Axis("", labels=recording.source, origins=Side("", recording.source).all)
    return Chart("text_vector", "Vector of the text", "", x, y, (bars,))


def describe(recording: Recording) -> str:
    vector, values = vector_of(recording), cosines(recording)
    size = f"{vector.values.numel():,} numbers, {vector.pooling.title}"
    of = "" if vector.is_named else " (its folder names no pooling)"
    top = max(range(len(values)), key=lambda i: values[i])
    closest, length = in_word(recording.source, top), number(vector.values.norm())
    return (
        f"The text's vector has {size}{of}; its length is {length}. Closest to "
        f"{_compared(recording)} is the vector of {closest}, with a cosine of {values[top]:.4f}."
    )


def _compared(recording: Recording) -> str:
    """Name the vector that tokens' are compared with: a dense layer gives one of another space."""
    layers = vector_of(recording).pooling.layers
    return "the pooled vector, before the dense layer" if layers else "the text's vector"


VIEW = View(
    name="text_vector",
    title="Vector of the text",
    explain=(
        "The model gives each token a vector and pools them to one, the sentence's embedding. A "
        "bar is the cosine of a token's vector with it: 1 where both point the same way. A "
        "hidden word's vector is not pooled."
    ),
    needs="vector",
    content=chart,
    describe=describe,
    controls=(),
)
