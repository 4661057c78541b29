"""One cell of an attention map in one sentence: the same words in every picture and every file.

A sentence has the places {row}, {column}, {layer}, {head} and {value}. `sentence` fills them here,
viz/components/kit/sentence.js in the browser.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import isnan

from transformer.analysis.lenses.lens import Lens
from transformer.analysis.reading import AttentionMap, Reading
from transformer.token import Token
from viz.labels import bare_label, number

LARGE = 1e6
"""Numbers from here on are written with an exponent."""
_HEAD = "head {head} of layer {layer}"


@dataclass(frozen=True)
class Wording:
    """The sentences about a cell."""

    seen: str
    masked: str
    """The same of a cell that a mask forbids: it has no value."""


def wording(map: AttentionMap) -> Wording:
    """The words for the cells of a map: "looks at" only where a value is an attention weight."""
    lead, note = _lead(map.kind, map.is_produced), _note(map.reading, map.lens)
    return _looks(lead, note) if map.lens.is_weights else _measures(lead, map.lens, note)


def weight_wording(kind: str, *, is_produced: bool = False, is_mean: bool = False) -> Wording:
    """The same for the weights of one head, or for the mean of all heads of a decoder's layer."""
    lead = _lead(kind, is_produced)
    if not is_mean:
        return _looks(lead)
    who = "the heads of layer {layer}"
    return Wording(
        f"{lead}{who} look at {{column}} ({{value}} on average).",
        f"{lead}{who} may not look at {{column}} (masked).",
    )


def sentence(
    words: Wording,
    row: Token,
    column: Token,
    layer: int,
    head: int,
    value: float,
    is_quoted: bool = False,
) -> str:
    """The sentence of one cell; value: NaN where it is masked. is_quoted: whether the words of the
    text stand in quotation marks, where nothing else sets them apart.
    """
    mark = "“{}”" if is_quoted else "{}"
    filled = {
        "row": mark.format(bare_label(row)),
        "column": mark.format(bare_label(column)),
        "layer": layer,
        "head": head,
        "value": amount(value),
    }
    return (words.masked if isnan(value) else words.seen).format_map(filled)


def amount(value: float) -> str:
    """A number with three decimals, as sentence.js writes it; what is not 0 is never shown as 0.

    >>> amount(0.9984), amount(-2.5), amount(0.0001), amount(0.0), amount(-2e26)
    ('0.998', '−2.500', 'below 0.001', '0', '−2.000e+26')
    """
    if value == 0 or isnan(value):
        return "0"
    if abs(value) >= LARGE:
        return number(value, 3, "e")
    if abs(value) < 0.0005:
        return "below 0.001" if value > 0 else "above −0.001"
    rounded = Decimal(value).quantize(Decimal("0.001"), ROUND_HALF_UP)  # as JavaScript rounds
    return number(rounded, 3)


def _lead(kind: str, is_produced: bool) -> str:
    """Empty where rows belong to an encoder: nothing is written there."""
    if is_produced:
        return "While writing {row}, "
    return "After reading {row}, " if kind in ("cross", "decoder_self") else ""


def _looks(lead: str, note: str = "") -> Wording:
    value = f"({{value}}{note and f', {note}'})"
    if lead:
        return Wording(
            f"{lead}{_HEAD} looks at {{column}} {value}.",
            f"{lead}{_HEAD} may not look at {{column}} (masked).",
        )
    return Wording(
        f"{{row}} looks at {{column}} in {_HEAD} {value}.",
        f"{{row}} may not look at {{column}} in {_HEAD} (masked).",
    )


def _measures(lead: str, lens: Lens, note: str) -> Wording:
    if lens.of_output:
        cost = f"{lead}the {lens.title[:1].lower()}{lens.title[1:]} {{column}}"
        return Wording(f"{cost} is {{value}} nats.", f"{cost} is masked.")
    where = _HEAD if lens.per_head else "layer {layer}"
    title = lens.title[:1].lower() + lens.title[1:]
    start = f"{lead}the {title} for" if lead else f"The {title} from {{row}} to"
    cell = f"{start} {{column}} in {where}"
    value = f"{{value}}{note and f' ({note})'}"
    return Wording(f"{cell} is {value}.", f"{cell} is masked.")


def _note(reading: Reading, lens: Lens) -> str:
    """Say why a number is not the one of two pieces."""
    is_divided = reading.special == "renormalised" and lens.scale == "share"
    return ", ".join(["renormalised"] * is_divided)
