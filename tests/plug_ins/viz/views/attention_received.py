"""How much of a head's attention each key receives."""

from transformer.analysis.reading import Selection
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Bars, Chart, values_of
from viz.views.view import Choice, HeadChoice, View


def chart(recording: Recording, selection: Selection, scale: str) -> Chart:
    """sum_i A_ij for every key j: [K]."""
    attention = selection.attention(recording)
    weights = attention.weights(selection.layer, selection.head)
    received = (weights.sum(0) if scale == "sum" else weights.mean(0)).numpy()
    bars = Bars("", range(len(received)), received, ("accent",), "{x}: {y:.4f}")
    x, y = Axis("key", labels=attention.keys), values_of(f"{scale} of weights")
    return Chart(f"attention_received {selection}", "Received", "", x, y, (bars,), 200)


def describe(recording: Recording, selection: Selection, scale: str) -> str:
    weights = selection.attention(recording).weights(selection.layer, selection.head)
    return f"In {selection} key {int(weights.sum(0).argmax())} receives most."


VIEW = View(
    name="attention_received",
    title="Attention received",
    explain="What all queries together give to each key.",
    needs="attentions",
    content=chart,
    describe=describe,
    controls=(HeadChoice(), Choice("scale", "Scale", ("sum", "mean"))),
)
