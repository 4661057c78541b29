"""The app's pictures of a recording, one function each: Jupyter shows them, files keep them.

Layers and heads are counted from 0, or from the end, -1 the last; NoSuchHead says which there are.
Whatever else cannot be found, or is another thing, is named in an InputError of one sentence. lens:
the name of a lens, or a whole Reading, which also merges words and hides special tokens. theme,
height, live: as `picture` takes them.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from transformer import Checkpoint
from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import Reading, Selection, merges_unasked
from transformer.decoding import Decoding
from transformer.recording import Recording
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.kit.picture import Picture as Shown
from viz.components.kit.picture import check_kind, check_name, place_in, shown_map
from viz.components.search_tree.search_tree import DecodeTree, pack_tree
from viz.live.alive.request import AliveError
from viz.live.models import example, not_read, opens_at
from viz.notebook.on_paper import OnPaper
from viz.notebook.picture import MadeOf, Picture, ThemeName, picture, pictured, themes_of
from viz.notebook.saved import SavedPicture

EXACT = 1024
"""A heat map of up to 1024 x 1024 cells holds every value: a page of 6 MB."""


@pictured
def head_view(
    recording: Recording,
    kind: str | None = None,
    layer: int = 0,
    heads: Iterable[int] | None = None,
    lens: str | Reading = "weight",
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """The heads of a layer as lines between two columns of tokens.

    kind: the first that there is when left out; heads: those shown at first, H0 when left out.
    """
    kind = _kind(recording, kind)
    layer, _ = place_in(recording, kind, layer, 0)
    numbers = (0,) if heads is None else heads
    heads_in = tuple(place_in(recording, kind, layer, head)[1] for head in numbers)
    view = HeadView(kind, layer, _reading(lens))
    payload = view.payload(recording)
    # No head is chosen before the others.
    return _page(
        view,
        recording,
        payload,
        {"head": -1, "heads": heads_in},
        theme=theme,
        height=height,
        live=live,
    )


@pictured
def head_grid(
    recording: Recording,
    kind: str | None = None,
    show: str = "maps",
    sort: str = "layer",
    lens: str | Reading = "weight",
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """All layers and heads of a kind. show: "maps" or a metric; sort: by "layer" or a metric."""
    grid = HeadGrid((_kind(recording, kind),), _reading(lens))
    map = shown_map(recording, grid.kinds[0], grid.reading)
    metrics = list(metrics_of(map.attention))
    check_name("thing to show", show, ["maps", *metrics])
    check_name("order", sort, ["layer", *metrics])
    state = {"show": show, "sort": sort}
    return _page(
        grid, recording, grid.payload(recording), state, theme=theme, height=height, live=live
    )


@pictured
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
    live: bool = False,
) -> Picture:
    """One head as a heat map. path: whether a line joins each row's largest value.

    Of more than 1024 x 1024 cells it is an overview of 512 x 512, and says so.
    """
    map = HeadMap(_selection(recording, kind, layer, head), _reading(lens), max_cells=EXACT)
    payload = map.payload(recording)
    return _page(
        map,
        recording,
        payload,
        {"path": path},
        is_titled=False,
        theme=theme,
        height=height,
        live=live,
    )


@pictured
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
    live: bool = False,
) -> Picture:
    """The inside of one cell, and of those beside it in its row that can be clicked.

    query, key: positions. Refuses where a model left its weights alone.
    """
    cell = CellSteps(_selection(recording, kind, layer, head), (query, key))
    payload = cell.payload(recording)
    answers = {("cell", each.cell): each.payload(recording) for each in cell.in_row(recording)}
    return _page(
        cell,
        recording,
        payload,
        {},
        is_titled=False,
        answers=answers,
        theme=theme,
        height=height,
        live=live,
    )


@pictured
def decode_player(
    decoding: Decoding,
    recording: Recording,
    layer: int = 0,
    head: int | None = None,
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """A decoding step by step, with one head, or the mean of a layer's heads.

    recording: of the same source and the decoding's target.
    """
    if "decoder_self" in recording.attentions:  # else it is not of the decoding
        layer, place = place_in(recording, "decoder_self", layer, 0 if head is None else head)
        head = None if head is None else place
    player = DecodePlayer(layer, head)
    return _page(
        player,
        recording,
        player.payload(recording, decoding),
        {},
        decoding,
        theme=theme,
        height=height,
        live=live,
    )


@pictured
def search_tree(
    decoding: Decoding,
    words: bool = True,
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """The search of a decoding as a tree: hypotheses, what was dropped, and why.

    words: whether the pieces of a word are one node. Refuses a text that nothing was searched for.
    """
    tree = DecodeTree(words)
    title, payload = "The search as a tree", pack_tree(decoding.search, words)
    saved = SavedPicture(tree.component, tree.data, payload, title, picture=tree)
    made_of = MadeOf((saved,), decoding.origin, decoding.source, decoding.target, theme=theme)
    choices: dict[str, Any] = {"theme": theme, "height": height, "live": live}
    paper = OnPaper(tree, title, None, decoding, themes_of(theme)[0])
    return picture(
        tree.component, title, tree.data, payload, made_of=made_of, paper=paper, **choices
    )


def explored(checkpoint: Checkpoint) -> Picture:
    """All heads of a checkpoint and one of them large, over a field. Raises AliveError."""
    if why := not_read(checkpoint):
        raise AliveError(why)
    _, recording, decoding = example(checkpoint, checkpoint.about.examples[0])
    kind, layer, head = opens_at(checkpoint)
    reading = Reading(words=merges_unasked(checkpoint.about))
    grid = HeadGrid(tuple(recording.attentions), reading)
    view = HeadView(kind, layer, reading)
    pictures = tuple(
        SavedPicture(
            it.component,
            partial(it.data, **state),
            it.payload(recording),
            it.title(recording),
            picture=it,
        )
        for it, state in ((view, {"head": head}), (grid, {"selected": (kind, layer, head)}))
    )
    origin = recording.origin if decoding is None else decoding.origin
    of = (recording.source, recording.target, predicted(recording))
    made_of = MadeOf(pictures, origin, *of, is_titled=False)
    return Picture(checkpoint.about.title, "", made_of=made_of).live


def _page(
    exhibit: Shown,
    recording: Recording,
    payload: bytes,
    state: dict[str, Any],
    decoding: Decoding | None = None,
    **choices: Any,
) -> Picture:
    data, title = partial(exhibit.data, **state), exhibit.title(recording)
    saved = SavedPicture(exhibit.component, data, payload, title, picture=exhibit)
    made_of = MadeOf(
        (replace(saved, answers=choices.get("answers") or {}),),
        recording.origin if decoding is None else decoding.origin,
        recording.source,
        recording.target,
        predicted(recording),
        choices["theme"],
        choices.get("is_titled", True),
    )
    paper = OnPaper(exhibit, title, recording, decoding, themes_of(choices["theme"])[0], state)
    return picture(exhibit.component, title, data, payload, made_of=made_of, paper=paper, **choices)


def predicted(recording: Recording) -> str:
    """The class of a text, where the model says one."""
    result = recording.classification
    return "" if result is None else result.classes[int(result.logits.argmax())]


def _selection(recording: Recording, kind: str | None, layer: int, head: int) -> Selection:
    """The head that is asked for, by its place from 0."""
    kind = _kind(recording, kind)
    return Selection(kind, *place_in(recording, kind, layer, head))


def _kind(recording: Recording, kind: str | None) -> str:
    """The kind that is asked for, or the first that there is. Raises InputError."""
    kind = next(iter(recording.attentions), "") if kind is None else kind
    check_kind(recording, kind)
    return kind


def _reading(lens: str | Reading) -> Reading:
    return Reading(lens=lens) if isinstance(lens, str) else lens
