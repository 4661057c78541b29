"""A head in words: its name, its label with interval and baseline, its footprint in a line."""

from collections.abc import Sequence

from transformer.corpus.atlas import Atlas
from transformer.corpus.labels import Label
from transformer.corpus.measured import metrics
from transformer.corpus.shipped import Place
from transformer.recording import Recording
from viz.labels import counted, kind_title, percent, signed

BLOCKS = "▁▂▃▄▅▆▇█"


def head_name(place: Place, of: Atlas | Recording) -> str:
    """Such as "Cross L2 H3", where layers have the model's own numbers."""
    kind, layer, head = place
    number = of.layer(place) if isinstance(of, Atlas) else of.attentions[kind].number(layer)
    return f"{kind_title(kind)} L{number:d} H{head:d}"


def sentences(n: int) -> str:
    """The number of them that a figure is of.

    >>> sentences(320)
    '320 sentences'
    """
    return counted(n, "sentence", "sentences")


def label_text(label: Label) -> str:
    """Such as "Previous token: 81 % (78 to 84), by chance 12 %"."""
    return f"{label.title}: {score_text(label)}, by chance {percent(label.baseline, 0)}"


def score_text(label: Label) -> str:
    """The score with its interval; of one sentence there is none."""
    if label.low is None or label.high is None:
        return percent(label.score, 0)
    ends = f"{percent(label.low, 0).removesuffix(' %')} to {percent(label.high, 0)}"
    return f"{percent(label.score, 0)} ({ends})"


def sparkline(shares: Sequence[float]) -> str:
    """A footprint in a line of blocks, its largest share as high as the line.

    >>> sparkline([0.0, 0.1, 0.4])
    '▁▃█'
    """
    most = max(shares, default=0.0) or 1.0
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * max(0.0, each) / most)] for each in shares)


def ends_text(name: str, low: float, high: float, unit: str) -> str:
    """An interval of such a number, its unit once: "24 to 27 %".

    >>> ends_text("worth", -0.5, 0.25, "nats")
    '−0.500 to +0.250 nats'
    """
    first, last = (text_of(name, end, unit) for end in (low, high))
    return f"{first.rpartition(' ')[0] or first} to {last}"


def text_of(name: str, value: float, unit: str) -> str:
    """A number of a head with its unit; a role's score is a share. unit: that of its worth."""
    if name == "worth":
        return f"{signed(value, 3)} {unit}"
    metric = metrics().get(name)
    return percent(value, 0) if metric is None else metric.text(value)
