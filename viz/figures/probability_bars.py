"""A bar per probability, one below the other, from 0 to 1."""

from collections.abc import Mapping, Sequence

from transformer.token import Token
from viz.exhibits.chart import Axis, Bars, Chart, Ink
from viz.labels import percent

ENDS = (0.0, 1.18)
"""With room for the text behind a bar that ends at 1."""


def chart(
    name: str,
    title: tuple[str, str],
    names: Sequence[Token | str],
    probs: Sequence[float],
    best: int,
    logits: Sequence[float] = (),
    origin: Mapping[str, str] | None = None,
) -> Chart:
    """The first one on top. title: words that stand out, and others; best: the one in the accent;
    logits: said of each under the pointer; origin: the token in whose place they stand.
    """
    texts, places = [percent(prob) for prob in probs], range(len(names))
    inks: list[Ink] = ["accent" if place == best else "dim" for place in places]
    bars = Bars(
        "",
        places,
        probs,
        inks,
        "{y}: {x:.4f} ({0})" + ("\nlogit {1:.4f}" if logits else ""),
        is_level=True,
        texts=texts,
        more=list(zip(texts, *((logits,) if logits else ()), strict=True)),
    )
    origins = [origin] * len(names) if origin else ()
    x = Axis("probability", ends=ENDS, has_grid=True, ticks=[(0, "0"), (0.5, "0.5"), (1, "1")])
    return Chart(name, *title, x, Axis("", labels=names, origins=origins), (bars,))
