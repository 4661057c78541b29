"""The counts of values of a tensor."""

from torch import Tensor

from viz.exhibits.chart import Axis, Bars, Chart, values_of
from viz.labels import number

HEIGHT = 242


def chart(edges: Tensor, counts: Tensor) -> Chart:
    """A bar a bin: edges [N + 1] and counts [N], as `tensor_statistics.histogram` gives them."""
    low, high = edges[:-1], edges[1:]
    ends = list(zip(low.tolist(), high.tolist(), strict=True))
    middles, hover = ((low + high) / 2).numpy(), "{0:.4f} to {1:.4f}: {y:,}"
    bars = Bars("", middles, counts.numpy(), (0,), hover, width=0.94, more=ends)
    x, y, title = Axis("value"), values_of("values in a bin"), ("Histogram", " of the values")
    return Chart("tensor_histogram", *title, x, y, (bars,), HEIGHT)


def describe(edges: Tensor, counts: Tensor) -> str:
    top, ends = int(counts.argmax()), [number(value, 4) for value in edges.tolist()]
    return (
        f"Histogram of {int(counts.sum()):,} values from {ends[0]} to {ends[-1]}; most "
        f"of them, {int(counts[top]):,}, lie between {ends[top]} and {ends[top + 1]}."
    )
