"""A survey as a value: the numbers of each head of a model over many sentences."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from transformer.field_docs import fields_in_help
from transformer.files.foreign_text import csv_bytes
from transformer.in_a_line import in_a_line
from transformer.inputs import TEXT, checks
from transformer.recording.data import ByName, NoSuchHead, place_of
from transformer.refusal import quoted


@fields_in_help
@dataclass(frozen=True)
class Estimate:
    """A mean over sentences; 95 % of the means of resampled sentences lie between low and high."""

    mean: float
    """Over sentences, in the unit of what is estimated."""
    low: float | None
    """None: of one sentence nothing is known of others."""
    high: float | None
    """None where low is."""
    n_sentences: int
    """The sentences of which it says something."""


@fields_in_help
@dataclass(frozen=True)
class Row:
    """One row of a head: a query, and the key that it looks at most."""

    weight: float
    """The weight of that key, 0 to 1."""
    sentence: int
    """Its line in the file, from 1."""
    query: int
    """Its position, from 0."""
    key: int
    """The position of the key, from 0."""
    query_piece: str
    """The piece that was read."""
    key_piece: str
    """The piece of the key."""
    row_piece: str
    """The one that names the row: of cross-attention the piece that was written, else the read."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Decile:
    """Rows of a head whose largest weights are alike, and some of them, drawn at random.

    These are a tenth of its rows, or as many as several tenths where one weight is so frequent.
    """

    low: float
    """The largest weights of its rows are from low to high, 0 to 1."""
    high: float
    """See low."""
    share: float
    """The share of the head's rows; those of all its deciles sum to 1."""
    rows: tuple[Row, ...]
    """Some of them."""


@fields_in_help
@dataclass(frozen=True)
class Syntax:
    """A head and a relation: how often its largest weight lies on an arc of that relation."""

    accuracy: float
    """The share of arcs, in the better direction."""
    low: float | None
    """Between low and high lie 95 % of the shares of resampled sentences; None: there is one."""
    high: float | None
    """See low."""
    direction: str
    """ "to head": of the row of the dependent; "to dependent": of the row of its head."""
    n_arcs: int
    """The arcs of the relation in all sentences."""
    offset: int
    """The place of the head minus the dependent's that most of the arcs have, in words."""
    by_offset: float
    """The share of arcs that have it: the best that a head does which knows places only."""
    n_sentences: int = 0
    """The sentences that have such arcs."""


class _Numbers(ByName[Estimate]):
    HAS_NO = "This head has no number"


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class HeadSummary:
    """One head over all sentences."""

    kind: str
    layer: int
    head: int
    numbers: Mapping[str, Estimate]
    """Metric or role -> its mean; `<role>_chance` is what the role's keys get by chance. Another
    name raises NoSuchName."""
    footprint: tuple[float, ...]
    """Mean shares of the weight by offset, key minus query, from -8 to 8; of cross-attention by
    place in the text, from -1 to 1, in nine bins."""
    deciles: tuple[Decile, ...]
    """From the flattest rows to the sharpest: ten, or fewer where one holds several tenths."""
    strongest: tuple[Row, ...]
    """The sharpest rows, each of another sentence, the first ones of the file among equals."""
    syntax: Mapping[str, Syntax] = field(default_factory=dict)
    """Relation -> how well the head finds it; empty where no trees were given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", _Numbers(self.numbers))


@fields_in_help
@dataclass(frozen=True)
class Survey:
    """The heads of a model over many sentences."""

    n_sentences: int
    heads: tuple[HeadSummary, ...]
    """Every head of every layer of every kind, in this order."""
    one_by_one: str = ""
    """The reason, in a clause, why sentences were not read in batches; empty where they were."""
    left_out: tuple[str, ...] = ()
    """Sentences that say which lines were left out, and why."""

    def __repr__(self) -> str:
        left_out = f", {len(self.left_out)} left out" if self.left_out else ""
        return f"Survey({len(self.heads)} heads over {self.n_sentences} sentences{left_out})"

    @checks(kind=TEXT)
    def of(self, kind: str, layer: int, head: int) -> HeadSummary:
        """One of its heads; layer and head from 0, or from the end. Raises NoSuchHead."""
        of_kind = {(each.layer, each.head): each for each in self.heads if each.kind == kind}
        if not of_kind:
            kinds = ", ".join(dict.fromkeys(each.kind for each in self.heads))
            raise NoSuchHead(f"There is no {quoted(kind)} here; there is {kinds}.")
        layer = place_of("layer", layer, 1 + max(each for each, _ in of_kind), kind)
        n_heads = 1 + max((number for each, number in of_kind if each == layer), default=-1)
        return of_kind[layer, place_of("head", head, n_heads, kind)]

    def to_json(self) -> str:
        """Write all of it as JSON, the names of fields as keys; `read_survey` reads it again."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> bytes:
        """Write a line for each head and number, in UTF-8; `to_json` has all of it."""
        header = ("kind", "layer", "head", "number", "mean", "low", "high", "sentences")
        return csv_bytes(
            header,
            (
                (*place, *map(digits, (each.mean, each.low, each.high)), each.n_sentences)
                for of in self.heads
                for name, each in of.numbers.items()
                for place in [(of.kind, of.layer, of.head, name)]
            ),
        )


def digits(number: float | None) -> str:
    """Write a number of a table with six digits; of None nothing."""
    return "" if number is None else f"{number:.6g}"
