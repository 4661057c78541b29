"""The copying score of every head of a kind."""

from torch import Tensor

from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import counted, number


def chart(scores: Tensor) -> Chart:
    """scores: [L, H], from -1 to 1."""
    rows, columns = (
        Axis(title, labels=[f"{letter}{i}" for i in range(n)])
        for title, letter, n in zip(("layer", "head"), "LH", scores.shape, strict=True)
    )
    title = ("Copying score", " of every head")
    hover = "{y} {x}: {z:.4f}"
    return heat_map("copying_scores", title, scores, rows, columns, differences("score"), hover)


def describe(scores: Tensor) -> str:
    layer, head = divmod(int(scores.argmax()), scores.size(1))
    n = counted(scores.numel(), "head", "heads")
    return (
        f"Copying scores of {n}, from {number(scores.min(), 4)} to "
        f"{number(scores.max(), 4)}, which is that of L{layer} H{head}."
    )
