"""Direct logit attribution: what each part of the decoder adds to the logit of a written token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformer.causes.direct import BIASES, FEED_FORWARD, INPUT, Direct, Name
from viz.exhibits.chart import Axis, Bars, Chart, Ink
from viz.exhibits.shading import even
from viz.exhibits.table import Cell, Column, Legend, Row, Table
from viz.labels import kind_title, number, signed

MOST_BARS = 14
"""Parts with a bar of their own; all others share one."""
MARGIN = 0.22
"""Room for the numbers behind bars, as a share of all."""
LAST_LAYER = (
    "Norms stand behind the sums here, so this is of the last layer only: little that lower layers "
    "add is left in the logit itself."
)
DIRECT = "What a part does by way of later ones, and the whole encoder, is not in it."


@dataclass(frozen=True)
class Parts:
    """The parts of a logit, and those of its lead over that of the runner-up."""

    logit: Direct
    lead: Direct
    token: str
    """The token in words."""
    runner_up: str

    @property
    def error(self) -> float:
        """The larger of both distances from the sum."""
        return max(self.logit.error, self.lead.error)


def chart(parts: Parts) -> Chart:
    """The parts that give most of the lead, and the sum of all others."""
    lead, logit = parts.lead.parts, parts.logit.parts
    order = sorted(lead, key=lambda name: -abs(lead[name]))
    some, others = order[:MOST_BARS], order[MOST_BARS:]
    lines = [(part_name(name), lead[name], logit[name]) for name in some]
    if others:
        of_lead, of_logit = (sum(values[name] for name in others) for values in (lead, logit))
        lines.append((f"{len(others)} others", of_lead, of_logit))
    names, amounts, logits = zip(*lines, strict=True)
    inks: list[Ink] = ["above" if amount >= 0 else "below" for amount in amounts]
    hover = "{y}: {x:.3f} of the lead, {0:.3f} of the logit"
    more = [[amount] for amount in logits]
    texts = list(map(signed, amounts))
    bars = Bars("", range(len(lines)), amounts, inks, hover, is_level=True, texts=texts, more=more)
    of = f" over “{parts.runner_up}”, {number(parts.lead.logit)}: its direct parts"
    room = MARGIN * (max(0.0, *amounts) - min(0.0, *amounts))
    ends = (min(0.0, *amounts) - room, max(0.0, *amounts) + room)
    x = Axis("logit", ends=ends)
    title, y = f"The lead of “{parts.token}”", Axis("", labels=names)
    return Chart("logit-parts", title, of, x, y, [bars])


def parts_table(parts: Parts, n_heads: int) -> Table:
    """All parts of the lead: a line for each layer's attention, a column for each head."""
    lead = parts.lead.parts
    largest = max(map(abs, lead.values()))

    def cell(value: float, title: str) -> Cell:
        return Cell(signed(value), value, even(value, largest), tip=title)

    def row(title: str, names: Sequence[Name], is_first: bool) -> Row:
        heads = [cell(lead[name], part_name(name)) for name in names if name[2] >= 0]
        whole = cell(sum(lead[name] for name in names), title)
        return Row(Cell(title), [*heads, *[None] * (n_heads - len(heads)), whole], is_first)

    rows = [row(*line) for line in _lines(parts)]
    ends = (signed(-largest), f"{signed(largest)} of the lead.")
    return Table(
        "Direct logit attribution",
        [Column("part"), *(Column(f"H{head}") for head in range(n_heads)), Column("whole")],
        rows,
        title=f"The lead of “{parts.token}” over “{parts.runner_up}”",
        legend=Legend("signed", *ends, "What each part adds to it directly."),
        foot=foot(parts),
    )


def foot(parts: Parts) -> str:
    """Say whether the sum is right, and what it leaves out."""
    total = sum(parts.lead.parts.values())
    text = (
        f"All parts sum to {number(total, 3)}; the lead is {number(parts.lead.logit, 3)} "
        f"(off by {number(parts.error, 1, 'e')}). {DIRECT}"
    )
    return f"{text} {LAST_LAYER}" if parts.logit.last_layer_only else text


def describe(parts: Parts) -> str:
    """Name what speaks most for the token beside its runner-up, and what most against it."""
    lead = parts.lead.parts
    most, least = max(lead, key=lambda name: lead[name]), min(lead, key=lambda name: lead[name])
    sides = [
        f"{part_name(name)} most {side} it ({signed(lead[name])})"
        for name, side, is_so in (
            (most, "for", lead[most] > 0),
            (least, "against", lead[least] < 0),
        )
        if is_so
    ]
    text = (
        f"The logit of “{parts.token}” is the sum of {len(parts.logit.parts)} parts. Its lead over "
        f"“{parts.runner_up}” is {signed(parts.lead.logit)}"
    )
    text += f": {', and '.join(sides)}." if sides else "."
    return f"{text} {LAST_LAYER}" if parts.logit.last_layer_only else text


def part_name(name: Name) -> str:
    """Such as "Cross L2 H3"."""
    kind, layer, head = name
    titles = {INPUT: "Embedding", BIASES: "All biases", FEED_FORWARD: f"Feed-forward L{layer}"}
    return titles.get(kind) or f"{kind_title(kind)} L{layer} H{head}"


def _lines(parts: Parts) -> Iterator[tuple[str, list[Name], bool]]:
    """The title of a line, its parts, and whether a layer begins."""
    names, last = parts.lead.parts, -1
    lines: dict[tuple[str, int], list[Name]] = {}
    for name in names:
        lines.setdefault(name[:2], []).append(name)
    for (kind, layer), some in lines.items():
        title = f"{kind_title(kind)} L{layer}" if some[0][2] >= 0 else part_name(some[0])
        yield title, some, layer != last
        last = layer
