"""The lines between the two rows: from each written word to the source word it looks at most."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from typing import Any, ClassVar, Literal

from transformer.causes.evidence import looks
from transformer.decoding import Decoding
from transformer.decoding.certainty import Certainty, certainties
from transformer.recording import Recording
from transformer.token import Token, second_at
from transformer.words import word_groups
from viz.components.kit.browser import Component, envelope, pack, pieces_of_words
from viz.components.kit.sync import mountable
from viz.labels import bare_label, labels, number, percent
from viz.theme import Theme

LEAST = 0.2
"""The weight from which on a word has a line."""


def aligned(recording: Recording) -> list[tuple[int, int, float]] | None:
    """Return the lines: the first positions of a written word and of a source word, and the weight.

    Weights are those of a word's card: cross-attention of the last layer, the mean of its heads,
    by the rows that write, summed over a source word's pieces and averaged over a written word's.
    A word has no line below LEAST, nor where what is beside the source has more weight than any
    word of it. None: there is no cross-attention, or nothing is written.
    """
    attention = recording.attentions.get("cross")
    n, n_source = len(recording.target), len(recording.source)
    if attention is None or not n or not n_source:
        return None
    if len(attention.keys) < n_source or len(attention.queries) < n:
        return None
    groups, words = word_groups(recording.target), word_groups(recording.source)
    weights, beside = looks(recording, groups)
    assert weights is not None
    most = zip(groups, weights.max(-1).values, weights.argmax(-1), beside, strict=True)
    return [
        (group[0], words[int(word)][0], round(float(weight), 4))
        for group, weight, word, other in most
        if other is None and float(weight) >= LEAST
    ]


# The tint of written words: how sure the model was of each, by one of three measures.

Tint = Literal["off", "log_prob", "rank", "entropy"]
TINTS: dict[Tint, str] = {
    "log_prob": "log-probability",
    "rank": "rank",
    "entropy": "entropy",
}
"""The measures, by what a person chooses them by."""
FULL_LOG_PROB = log(100)
"""The nats of a word of 1 %, from which on the tint is the deepest."""
FULL_RANK = 100
FULL_ENTROPY = 6.0
"""In bits: as if 64 words were equally probable."""
CERTAIN = "{share} ({nats} nats), rank {ranks}, entropy {bits} bits"
CERTAIN_OF_SEVERAL = (
    "{share} ({nats} nats), entropy {bits} bits, of its {n} pieces together; rank of each: {ranks}"
)
"""The same of a word of several pieces."""


def tinted(recording: Recording) -> list[tuple[float, float, float, str]]:
    """Return for each target token the depth of its word's tint by each measure, and the numbers.

    Depths are 0, where the model was sure, to 1. Empty where nothing is written.
    """
    target = recording.target
    if not recording.has_target_logits:
        return []
    result: dict[int, tuple[float, float, float, str]] = {}
    for word, each in zip(recording.target_words, certainties(recording), strict=True):
        depths = _depths(each)
        result |= {position: (*depths, _text(each)) for position in word.positions}
    return [result[position] for position in range(len(target))]


def _depths(it: Certainty) -> tuple[float, float, float]:
    values = (
        -it.log_prob / FULL_LOG_PROB,
        log(max(it.ranks)) / log(FULL_RANK),
        it.entropy / FULL_ENTROPY,
    )
    a, b, c = (round(min(1.0, max(0.0, value)), 3) for value in values)
    return a, b, c


def _text(it: Certainty) -> str:
    """The numbers of a word, as a pointer finds them."""
    return (CERTAIN if len(it.ranks) == 1 else CERTAIN_OF_SEVERAL).format(
        share=percent(exp(it.log_prob)),
        nats=number(it.log_prob),
        bits=number(it.entropy),
        ranks=", ".join(f"{n:,}" for n in it.ranks),
        n=len(it.ranks),
    )


# The evidence as tokens show it: their signs, and the worth of each word that is read.

Mark = tuple[str, int, str, str]
"""The side and position of a token, the name of its sign, and the sentence that it stands for."""


@dataclass(frozen=True)
class Worth:
    """Costs of hiding words that are read, in log-probability of those that are written."""

    words: Mapping[str, Sequence[str]]
    """Words by side, "source" and "target"."""
    word_at: Mapping[str, Sequence[int]]
    """The number of the word at each position of a side."""
    nats: Sequence[Sequence[float]]
    """A row for each written word."""
    least: float
    """From which on a word is needed."""


@dataclass(frozen=True)
class Signs:
    """The signs of one sentence and its translation."""

    marks: Sequence[Mark] = ()
    worth: Worth | None = None
    lost: tuple[str, ...] = ()
    """The sentence that says what left no trace, and the one that says how that is known; then the
    words of a link to what may be done about it, their tip, and its address, where there is one."""

    def data(self) -> dict[str, Any]:
        """Return them as the browser has them."""
        worth = None if self.worth is None else asdict(self.worth)
        return {"marks": list(map(list, self.marks)), "worth": worth, "lost": list(self.lost)}


# The sentence and its translation as tokens: the spine of every page.

Awaited = Literal["", "marks", "lost"]
"""The reason why the browser asks for the evidence by itself: none; everybody sees its marks; it
says what is lost, for which it waits until nobody types and no other page asks."""

TOKEN_ROWS = Component("token_rows")
TITLES = {
    "source": ("source", "target"),
    "prompt": ("prompt", "continuation"),
    "text": ("text", "target"),
}
"""The names of the two lines of tokens, by how the model reads."""

token_rows = mountable(TOKEN_ROWS)
"""Pointing at a token marks it in every component.

on_pin: {"side", "position", "key"} of the one that was clicked; key: whether it is meant as a key,
where it is a query, too. on_tint, on_alignment: as in `data`.
"""


@dataclass(frozen=True)
class TokenRows:
    """The tokens of both sides."""

    titles: tuple[str, str] = ("source", "target")
    words: bool = True
    """They read as the words that they make, in which a space is no piece of its own."""
    component: ClassVar[Component] = TOKEN_ROWS

    def title(self, recording: Recording) -> str:
        return "Tokens"

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        source, target = (self._pieces(each) for each in (recording.source, recording.target))
        pair = {"second": second} if (second := second_at(recording.source)) else {}
        rows = {"source": source, "target": target, "titles": list(self.titles)}
        over = {"certainty": tinted(recording), "tints": TINTS}
        between = {"alignment": aligned(recording), "least": LEAST}
        return pack(rows | over | between | pair)

    def data(
        self,
        payload: bytes,
        theme: Theme,
        *,
        pinned: Sequence[tuple[str, int]] = (),
        signs: Signs | None = None,
        awaited: Awaited = "",
        judges: bool = False,
        address: str = "",
        tint: Tint = "off",
        alignment: bool = False,
    ) -> bytes:
        """pinned: tokens that stay marked, by side and position.

        signs: of tokens, "parted", whose meaning the row has at its end, or "lost", of which a
        line above the target says more; and what the sentences of pictures say of the evidence.
        awaited: the browser asks for them, as they are not known yet. judges: that line has its
        place before anything is known.
        address: of previews, which answers what differs with data for the page's components.
        While a sentence is being typed they show these. tint: the measure by which written words
        are the deeper, the less sure the model was of them. alignment: whether lines
        lead from written words to those of the source that they look at most.
        """
        over = {"pinned": list(map(list, pinned)), "signs": signs and signs.data()}
        look = {"address": address, "tint": tint, "alignment": alignment}
        return envelope(payload, theme, **over, **look, awaited=awaited, judges=judges)

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        sides = zip(self.titles, (recording.source, recording.target), strict=True)
        parts = [f"{title}: {' '.join(labels(tokens))}" for title, tokens in sides if tokens]
        return "; ".join(parts) + "."

    def _pieces(self, tokens: Sequence[Token]) -> list[tuple[str, int, int]]:
        """Read words as pieces_of_words does; where pieces are asked for, each is seen."""
        if self.words:
            return pieces_of_words(tokens, words=True)
        pieces = zip(tokens, pieces_of_words(tokens), strict=True)
        return [(bare_label(token), special, begins) for token, (_, special, begins) in pieces]
