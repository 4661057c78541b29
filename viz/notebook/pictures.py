"""The app's pictures of a recording, one function each: Jupyter shows them, files keep them.

Each names what it cannot find in a ValueError of one sentence. lens: the name of a lens, or a whole
Reading, which also merges words and hides special tokens. theme, height: as `picture` takes them.
"""

from collections.abc import Iterable
from functools import partial

from transformer.analysis.cell import inside
from transformer.analysis.metrics.measure import metrics_of
from transformer.analysis.reading import AttentionMap, Reading, lenses, read
from transformer.decoding import Decoding
from transformer.recording import Recording
from viz.components.cell_steps.cell_steps import CELL_STEPS, cell_steps_data, pack_cell, shown_keys
from viz.components.decode_player.decode_player import (
    DECODE_PLAYER,
    decode_player_data,
    pack_decoding,
)
from viz.components.head_grid.head_grid import HEAD_GRID, head_grid_data, pack_head_grid
from viz.components.head_map.head_map import HEAD_MAP, head_map_data, pack_head_map
from viz.components.head_view.head_view import HEAD_VIEW, head_view_data, pack_head_view
from viz.notebook.picture import Picture, ThemeName, picture
from viz.views.head_heatmap import KIND_TITLES, map_name

EXACT = 1024
"""A heat map of up to 1024 x 1024 cells holds every value: a page of 6 MB."""


def head_view(
    recording: Recording,
    kind: str | None = None,
    layer: int = 0,
    heads: Iterable[int] | None = None,
    lens: str | Reading = "weight",
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
) -> Picture:
    """The heads of a layer as lines between two columns of tokens.

    kind: the first that there is when left out; heads: those shown at first, H0 when left out.
    """
    map = _map(recording, kind, lens)
    _check("layer", layer, map.n_layers, map.kind)
    shown = (0,) if heads is None else tuple(heads)
    for head in shown:
        _check("head", head, map.attention.n_heads, map.kind)
    payload = pack_head_view(map, layer, _n_prompt(recording))
    data = partial(head_view_data, head=-1, heads=shown)  # no head is chosen before the others
    title = _title(map, f"L{layer}")
    return picture(HEAD_VIEW, title, data, payload, theme=theme, height=height)


def head_grid(
    recording: Recording,
    kind: str | None = None,
    show: str = "maps",
    sort: str = "layer",
    lens: str | Reading = "weight",
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
) -> Picture:
    """All layers and heads of a kind. show: "maps" or a metric; sort: by "layer" or a metric."""
    map = _map(recording, kind, lens)
    metrics = list(metrics_of(map.attention))
    _check_name("thing to show", show, ["maps", *metrics])
    _check_name("order", sort, ["layer", *metrics])
    payload = pack_head_grid(map, _n_prompt(recording))
    data = partial(head_grid_data, selected=(0, 0), show=show, sort=sort, top=0)
    title = _title(map, "all heads")
    return picture(HEAD_GRID, title, data, payload, theme=theme, height=height)


def head_map(
    recording: Recording,
    kind: str | None = None,
    layer: int = 0,
    head: int = 0,
    lens: str | Reading = "weight",
    path: bool = False,
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
) -> Picture:
    """One head as a heat map. path: whether a line joins each row's largest value.

    Of more than 1024 x 1024 cells it is an overview of 512 x 512, and says so.
    """
    map = _map(recording, kind, lens)
    _check("layer", layer, map.n_layers, map.kind)
    _check("head", head, map.attention.n_heads, map.kind)
    payload = pack_head_map(map, layer, head, n_prompt=_n_prompt(recording), max_cells=EXACT)
    data = partial(head_map_data, cell=None, path=path, asks=False)
    title = _title(map, map_name(map, layer, head))
    return picture(HEAD_MAP, title, data, payload, is_titled=False, theme=theme, height=height)


def cell_steps(
    recording: Recording,
    kind: str | None,
    layer: int,
    head: int,
    query: int,
    key: int,
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
) -> Picture:
    """The inside of one cell, and of those beside it in its row that can be clicked.

    query, key: positions. Refuses where a model left its weights alone.
    """
    map = _map(recording, kind, "weight")
    _check("layer", layer, map.n_layers, map.kind)
    _check("head", head, map.n_heads, map.kind)
    _check("query", query, len(map.rows), map.kind)
    _check("key", key, len(map.columns), map.kind)

    def pack(key: int) -> bytes:
        cell = inside(recording, map.kind, layer, head, query, key)
        return pack_cell(cell, map.rows[query], map.columns[key], map.columns, map.is_produced)

    row = shown_keys(inside(recording, map.kind, layer, head, query, key))
    answers = {("cell", (query, each)): pack(each) for each in row}
    title = f"{_title(map, f'L{layer} H{head}')}, query {query} and key {key}"
    return picture(
        CELL_STEPS,
        title,
        cell_steps_data,
        pack(key),
        is_titled=False,
        answers=answers,
        theme=theme,
        height=height,
    )


def decode_player(
    decoding: Decoding,
    recording: Recording,
    layer: int = 0,
    head: int | None = None,
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
) -> Picture:
    """A decoding step by step, with one head, or the mean of a layer's heads.

    recording: of the same source and the decoding's target.
    """
    kinds = [kind for kind in ("cross", "decoder_self") if kind in recording.attentions]
    if "decoder_self" not in kinds or recording.target != decoding.target:
        raise ValueError(
            "This recording is not of that decoding: record the same source with decoding.target."
        )
    for kind in kinds:
        attention = recording.attentions[kind]
        _check("layer", layer, attention.n_layers, kind)
        if head is not None:
            _check("head", head, attention.n_heads, kind)
    payload = pack_decoding(decoding, recording, layer, head)
    heads = "mean of heads" if head is None else f"H{head}"
    title = f"Decoding, L{layer} {heads}"
    return picture(DECODE_PLAYER, title, decode_player_data, payload, theme=theme, height=height)


def _title(map: AttentionMap, what: str) -> str:
    return f"{KIND_TITLES.get(map.kind, map.kind).capitalize()}, {what}"


def _map(recording: Recording, kind: str | None, lens: str | Reading) -> AttentionMap:
    """Raises ValueError where there is no such kind or lens, or nothing is left to draw."""
    if not recording.attentions:
        raise ValueError("This recording holds no attention: there is nothing to draw.")
    kind = next(iter(recording.attentions)) if kind is None else kind
    _check_name("kind of attention", kind, list(recording.attentions))
    reading = Reading(lens=lens) if isinstance(lens, str) else lens
    _check_name("lens", reading.lens, list(lenses()))
    map = read(recording, kind, reading)
    if not (map.rows and map.columns):
        raise ValueError("Without special tokens there is no row or no column left to draw.")
    return map


def _check(what: str, number: int, n: int, kind: str) -> None:
    if number not in range(n):
        there = "0 alone" if n == 1 else f"0 to {n - 1}"
        raise ValueError(f"There is no {what} {number!r}: {kind} has {there}.")


def _check_name(what: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise ValueError(f"There is no {what} {name!r} here: there is {', '.join(known)}.")


def _n_prompt(recording: Recording) -> int:
    """Of a generator, whose text begins with its source, how many tokens of it were given."""
    is_generator = all(kind.startswith("decoder_self") for kind in recording.attentions)
    return len(recording.source) if is_generator else 0
