"""An attention map in words, and schemes that tell tokens apart by place, in sentences."""

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from math import isnan

from torch import Tensor

from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import AttentionMap, strongest_cell
from transformer.positions.encodings import Rotary
from transformer.positions.relative_bias import RelativeBias, paper_slopes
from transformer.recording import Attention, PositionalEncoding, Recording
from viz.labels import counted, kind_name, number, percent
from viz.sentence import sentence, wording

# An attention map in words: its name, what its rows stand for, and what stands out in it.

NAME = "L{layer} H{head}"
SENTENCE = "{name}, {kind} from {rows} to {columns}{favourite}. Strongest: {strongest}"
EMPTY = "{name}, {kind} from {rows} to {columns}: {why}."
FAVOURITE = ", with {share} on the {name} token"
FAVOURITES = ("previous", "same", "next", "first")
"""The metrics that are the weight on one place."""
HIDDEN = "hidden special tokens have {share} of the weight"
ALL_MASKED = "every cell is masked"
QUERIES, KEYS = ("query", "queries"), ("key", "keys")
"""One of them, and many."""


def row_title(is_produced: bool) -> str:
    """Name the token of a row: the one that it writes, or the one that it has read."""
    return "writing (query)" if is_produced else "reading (query)"


def column_title(map: AttentionMap) -> str:
    """Name the token of a column."""
    return "hidden (key)" if map.lens.of_output else "looks at (key)"


def hidden_texts(map: AttentionMap, layer: int) -> list[str]:
    """Say of each head how much weight is on special tokens that are left out; of none, if none."""
    shares = map.hidden_shares(layer)
    each = [] if shares is None else shares.tolist()
    return [HIDDEN.format(share=percent(share)) for share in each]


def hides(map: AttentionMap) -> bool:
    """Tell whether what its rows lack of 1 is on special tokens that are left out."""
    reading = map.reading
    is_all = reading.between == "all" and map.lens.scale == "share"
    return reading.special == "hidden" and is_all


def map_name(map: AttentionMap, layer: int, head: int) -> str:
    """ "L2 H3", "L2" where a lens makes one map of a whole layer, or that it is of all of them."""
    if map.lens.of_output:
        return "The whole model"
    number = map.attention.number(layer)
    name = NAME.format(layer=number, head=head)
    return name if map.lens.per_head else name.split()[0]


def describe_map(map: AttentionMap, layer: int, head: int) -> str:
    """One true sentence about the map of one head, however it is read."""
    values, allowed = map.values(layer, head), map.allowed(layer, head)
    rows, columns = _sizes(*values.shape)
    name, kind = map_name(map, layer, head), kind_name(map.kind)
    start = {"name": name, "kind": kind, "rows": rows, "columns": columns}
    cell = strongest_cell(values, allowed)
    if cell is None:
        return EMPTY.format(**start, why=_empty(bool(allowed.any())))
    favourite = _favourite(map.attention, values) if map.is_plain else ""
    strongest = cell_sentence(map, layer, head, cell, float(values[cell]), True)
    text = SENTENCE.format(**start, favourite=favourite, strongest=strongest)
    hidden = [f"{capitalised(text)}." for text in hidden_texts(map.only(head), layer)]
    return " ".join((text, *hidden))


def cell_sentence(
    map: AttentionMap,
    layer: int,
    head: int,
    cell: tuple[int, int],
    value: float,
    is_quoted: bool = False,
) -> str:
    """The sentence of one cell, (row, column), and its value, NaN where it is masked."""
    row, column = cell
    number = map.attention.number(layer)
    tokens = (map.rows[row], map.columns[column])
    return sentence(wording(map), *tokens, number, head, value, is_quoted)


def describe_heads(
    map: AttentionMap, layers: Sequence[int], heads: Collection[int] | None = None
) -> str:
    """One true sentence about heads of some layers, all where none are named: where the strongest
    cell is.
    """
    heads_read: Sequence[int] = range(map.n_heads)
    if heads is not None and map.lens.per_head:
        heads_read = [head for head in heads_read if head in heads]
    number, n_maps = map.attention.number(layers[0]), len(layers) * len(heads_read)
    of = f"{len(layers)} layers" if len(layers) > 1 else f"L{number}"
    if n_maps == 1 or map.lens.of_output:
        maps = map_name(map, layers[0], heads_read[0])
    elif len(heads_read) == map.n_heads:
        maps = f"{n_maps} maps of {of}"
    else:
        maps = f"{', '.join(f'H{head}' for head in heads_read) or 'no head'} of {of}"
    maps = f"{maps}, {kind_name(map.kind)}"
    if not heads_read:
        return f"{maps}."
    sizes = " to ".join(_sizes(len(map.rows), len(map.columns)))
    strongest = [
        (abs(float(map.values(layer, head)[cell])), layer, head, cell)
        for layer, head in product(layers, heads_read)
        if (cell := map.strongest(layer, head)) is not None
    ]
    if not strongest:
        is_open = any(bool(map.allowed(layer).any()) for layer in layers)
        return f"{maps} from {sizes}: {_empty(is_open)}."
    _, layer, head, cell = max(strongest, key=lambda each: each[0])
    value = float(map.values(layer, head)[cell])
    return f"{maps} from {sizes}. Strongest: {cell_sentence(map, layer, head, cell, value, True)}"


def _sizes(n_rows: int, n_columns: int) -> tuple[str, str]:
    return counted(n_rows, *QUERIES), counted(n_columns, *KEYS)


def list_of(names: Sequence[str]) -> str:
    """
    >>> list_of(["a"]), list_of(["a", "b"]), list_of(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def _empty(is_open: bool) -> str:
    return "no value is a finite number" if is_open else ALL_MASKED


def capitalised(text: str) -> str:
    """The same with a capital first letter, the rest as it stands."""
    return text[:1].upper() + text[1:]


def uncapitalised(text: str) -> str:
    """A title within a sentence.

    >>> uncapitalised("Beam size"), uncapitalised("OV circuit")
    ('beam size', 'OV circuit')
    """
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _favourite(attention: Attention, weights: Tensor) -> str:
    """The place (previous, same, next, first token) that gets most, as ", with 71 % on ..."."""
    metrics = metrics_of(attention)
    shares = {
        name: float(metrics[name].compute(weights[None])) for name in FAVOURITES if name in metrics
    }
    name, share = max(shares.items(), key=lambda item: -1 if isnan(item[1]) else item[1])
    return FAVOURITE.format(share=metrics[name].text(share), name=name)


# Schemes that tell tokens apart by place, in sentences: every one that a recording shows.

CLOSE = 0.01
"""Slopes that differ by less, as a share, are the same: some models round them to bfloat16."""


def schemes(recording: Recording) -> list[str]:
    """One sentence per scheme; empty if no position scheme was found.

    Sides and kinds of which the same is true share a sentence.
    """
    by_scheme: dict[str, list[str]] = {}
    for name, each in recording.positions.items():
        by_scheme.setdefault(_added(each), []).append(name)
    for name, rotary in recording.rotary.items():
        by_scheme.setdefault(_turning(rotary, recording), []).append(name)
    for name, bias in recording.biases.items():
        by_scheme.setdefault(_biased(bias, recording), []).append(name)
    return [sentence.format(" and ".join(names)) for sentence, names in by_scheme.items()]


def undrawn(recording: Recording) -> list[str]:
    """One sentence for what tells places apart, or may do so, and is in no picture."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in recording.unmeasured.items():
        by_reason.setdefault(reason, []).append(name)
    return [f"Not drawn ({' and '.join(names)}): {why}." for why, names in by_reason.items()]


def _added(positions: PositionalEncoding) -> str:
    n_positions, width = positions.table.shape
    how = {
        "sinusoidal": "Fixed encodings (sinusoids) are added to",
        "concatenated": "Learned embeddings are set beside",
    }.get(positions.scheme, "Learned embeddings are added to")
    return f"{how} the tokens of the {{}}: {n_positions:,} positions, {width:,} dimensions."


def _turning(rotary: Rotary, recording: Recording) -> str:
    waves = rotary.wavelengths
    return (
        f"Rotary ({{}}): {rotary.n_turning} of {rotary.d_head} dimensions of every query and key "
        f"turn with the position, once in {wave_text(float(waves.min()))} to "
        f"{wave_text(float(waves.max()))} positions, {layers_text(rotary, recording)}"
        f"{_places_text(rotary.positions, len(recording.attentions[rotary.kind].queries))}."
    )


_MOST_RUNS = 4
"""Runs of positions that a sentence names."""


def _places_text(positions: Sequence[int], n_tokens: int) -> str:
    """Name positions that do not follow each other, of all n_tokens where they are known."""
    if not positions:
        return ""
    starts = [i for i, it in enumerate(positions) if i == 0 or positions[i - 1] != it - 1]
    ends = [*starts[1:], len(positions)]
    runs = [positions[first:end] for first, end in zip(starts, ends, strict=True)]
    names = [str(it[0]) if len(it) == 1 else f"{it[0]}–{it[-1]}" for it in runs[:_MOST_RUNS]]
    more = ", …" if len(runs) > _MOST_RUNS or len(positions) < n_tokens else ""
    return f"; the positions of this text do not follow each other: {', '.join(names)}{more}"


def _biased(bias: RelativeBias, recording: Recording) -> str:
    where = layers_text(bias, recording)
    if bias.slopes is not None:
        return (
            "ALiBi ({}): every head lowers its scores by a slope times the distance, "
            f"{slopes_text(bias.slopes)}, {where}."
        )
    if bias.is_of_distance:
        return (
            "Relative bias ({}): every head adds to its scores a number that depends on "
            f"key − query only, {where}."
        )
    return (
        "Bias ({}): every head adds to its scores numbers that differ by up to "
        f"{bias.by_distance.spread:.4f} between cells of one distance, {where}."
    )


def slopes_text(slopes: Tensor) -> str:
    """Their range, and how they compare with the paper's.

    >>> slopes_text(paper_slopes(2))
    "0.0039 to 0.0625 per position, the paper's"
    """
    shares = slopes / paper_slopes(slopes.numel())
    values_text = f"{number(slopes.min(), 4)} to {number(slopes.max(), 4)} per position"
    if not bool((shares - shares[0]).abs().le(CLOSE * shares[0].abs()).all()):
        return f"{values_text}, not the paper's"
    share = float(shares.mean())
    return f"{values_text}, " + (
        f"{share:.4g} times the paper's" if abs(share - 1) > CLOSE else "the paper's"
    )


def layers_text(of: Rotary | RelativeBias, recording: Recording) -> str:
    """Name the layers of its kind: "in all 6 layers", "in L0, L2–L4"."""
    n_layers = recording.attentions[of.kind].n_layers
    if len(of.layers) == n_layers:
        return f"in all {n_layers} layers" if n_layers > 1 else "in its one layer"
    return f"in {', '.join(_runs(of.layers))}"


def _runs(layers: Sequence[int]) -> Iterator[str]:
    """Layers that follow each other as a range."""
    starts = [i for i, layer in enumerate(layers) if i == 0 or layers[i - 1] != layer - 1]
    for first, end in zip(starts, [*starts[1:], len(layers)], strict=True):
        run = layers[first:end]
        yield f"L{run[0]}" if len(run) == 1 else f"L{run[0]}–L{run[-1]}"


def wave_text(wavelength: float) -> str:
    """A number of positions, with as many digits as say something.

    >>> wave_text(6.2832), wave_text(62831.9)
    ('6.3', '62,832')
    """
    return f"{wavelength:,.1f}" if wavelength < 100 else f"{wavelength:,.0f}"
