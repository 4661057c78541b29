"""The footprint of a head: where its weight lies, by offset, or by place in the text."""

from transformer.corpus.surveyed import HeadSummary
from viz.exhibits.chart import Axis, Bars, Chart, values_of
from viz.labels import percent

HEIGHT = 150
SHARE = "{y:.1%} of the weight"


def chart(head: HeadSummary) -> Chart:
    """A bar for each offset of the key from the query; of cross-attention for each place."""
    n, shares = len(head.footprint), list(head.footprint)
    is_cross = head.kind == "cross"
    name = f"footprint {head.kind} {head.layer} {head.head}"
    if is_cross:
        places = [(2 * i + 1) / n - 1 for i in range(n)]
        title = "the key's place, less the query's, as shares of the text"
        ends = [(-1.0, "−1"), (-0.5, "−0.5"), (0.0, "0"), (0.5, "+0.5"), (1.0, "+1")]
        x, hover = Axis(title, ticks=ends), "{x:+.2f}: " + SHARE
    else:
        middle = n // 2
        places = [float(i - middle) for i in range(n)]
        labels = [(at, f"{at:+.0f}" if at else "0") for at in places]
        labels[0] = places[0], f"≤ {places[0]:.0f}".replace("-", "−")
        labels[-1] = places[-1], f"≥ +{places[-1]:.0f}"
        labels = [(at, text.replace("-", "−")) for at, text in labels]
        x = Axis("the key's place, less the query's, in tokens", ticks=labels[::2])
        hover = "{x:+d}: " + SHARE
    bars = Bars("", places, shares, ["accent"], hover, width=0.8)
    more = ": where its weight lies on average"
    return Chart(name, "Footprint", more, x, values_of("share of the weight"), [bars], HEIGHT)


def describe(head: HeadSummary) -> str:
    """Say where most of the weight lies."""
    n = len(head.footprint)
    at = max(range(n), key=lambda i: head.footprint[i])
    share = percent(head.footprint[at], 0)
    if head.kind == "cross":
        return f"Most weight, {share}, lies in part {at + 1} of {n} of the relative places."
    offset = at - n // 2
    tokens = "token" if abs(offset) == 1 else "tokens"
    return f"Most weight, {share}, lies {offset:+d} {tokens} from the query."
