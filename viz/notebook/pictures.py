"""The app's pictures of a recording, one function each: Jupyter shows them, files keep them."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from transformer import Attention, Checkpoint, InputError, record
from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import Reading, Selection, merges_unasked, strongest_weight
from transformer.by_name import opened
from transformer.decoding import Decoding
from transformer.device import usual_state
from transformer.inputs import checks, is_whole
from transformer.old_spelling import respelled
from transformer.recording import Recording
from viz.components.cell_steps.cell_steps import CellSteps, check_position
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.kit.picture import Picture as Shown
from viz.components.kit.picture import check_name, head_in, kind_in, place_in, shown_map
from viz.components.search_tree.search_tree import DecodeTree, pack_tree
from viz.live.alive.request import AliveError
from viz.live.models import example, not_read, opens_at
from viz.notebook.on_paper import OnPaper
from viz.notebook.picture import WANTED, MadeOf, Picture, ThemeName, picture, pictured, themes_of
from viz.notebook.saved import SavedPicture

EXACT = 1024
"""A heat map of up to 1024 x 1024 cells holds every value: a page of 6 MB."""


@pictured
def head_view(
    recording: Recording,
    kind: str | None = None,
    layer: int = 0,
    heads: int | Iterable[int] | None = None,
    lens: str | Reading = "weight",
    *,
    words: bool = False,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """Draw the heads of a layer as lines between two columns of tokens.

    recording: of `record`, `from_weights` or `load_recording`.
    kind: "encoder_self", "decoder_self" or "cross"; None: the first that there is.
    layer: counted from 0, or from the end with -1.
    heads: the one, or the list of those, that are shown at first, counted likewise; None: head 0.
    lens: what is shown: "weight", "score", "value_norm", "sum_norm", "hidden", "rollout" or "flow",
        which docs/glossary.md explains; or a `Reading`, which also hides special tokens.
    words: True: the pieces of a word are one row and one column.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    height: of the frame in a notebook, in pixels; None: as high as it is.
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`, which a notebook shows and `.save("x.html")` or `.save("x.pdf")` keeps.
    Raises InputError, also of a lens that needs what was not recorded, NoSuchHead, and with live
    AliveError.
    """
    kind = kind_in(recording, kind)
    layer, _ = place_in(recording, kind, layer, 0)
    numbers: Any = (heads or 0,) if heads is None or is_whole(heads) else heads
    heads_in = tuple(place_in(recording, kind, layer, head)[1] for head in numbers)
    view = HeadView(kind, layer, _reading(lens, words))
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


@respelled(("recording", "kind", "show", "sort", "lens"))
@pictured
def head_grid(
    recording: Recording,
    kind: str | None = None,
    *,
    lens: str | Reading = "weight",
    words: bool = False,
    show: str = "maps",
    sort: str = "layer",
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """Draw all layers and heads of a kind, each as a small map or by a number.

    recording: of `record`, `from_weights` or `load_recording`.
    kind: "encoder_self", "decoder_self" or "cross"; None: the first that there is.
    lens: what is shown: "weight", "score", "value_norm", "sum_norm", "hidden", "rollout" or "flow",
        which docs/glossary.md explains; or a `Reading`, which also hides special tokens.
    words: True: the pieces of a word are one row and one column.
    show: "maps", or a head metric, such as "entropy", "confidence", "distance" or "previous".
    sort: "layer", or the metric by which the heads are ordered.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    height: of the frame in a notebook, in pixels; None: as high as it is.
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`, which a notebook shows and `.save("x.html")` or `.save("x.pdf")` keeps.
    Raises InputError, also of a lens that needs what was not recorded, and with live AliveError.

    >>> head_grid(recording, "cross", show="entropy", sort="entropy")  # doctest: +SKIP
    """
    grid = HeadGrid((kind_in(recording, kind),), _reading(lens, words))
    map = shown_map(recording, grid.kinds[0], grid.reading)
    metrics = list(metrics_of(map.attention))
    check_name("thing to show", show, ["maps", *metrics])
    check_name("order", sort, ["layer", *metrics])
    state = {"show": show, "sort": sort}
    return _page(
        grid, recording, grid.payload(recording), state, theme=theme, height=height, live=live
    )


@respelled(("recording", "kind", "layer", "head", "lens", "path"))
@pictured
def head_map(
    recording: Recording,
    kind: str | None = None,
    layer: int = 0,
    head: int = 0,
    lens: str | Reading = "weight",
    *,
    words: bool = False,
    path: bool = False,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """Draw one head [Q, K] as a heat map: queries are rows, keys columns.

    recording: of `record`, `from_weights` or `load_recording`.
    kind: "encoder_self", "decoder_self" or "cross"; None: the first that there is.
    layer, head: counted from 0, or from the end with -1.
    lens: what is shown: "weight", "score", "value_norm", "sum_norm", "hidden", "rollout" or "flow",
        which docs/glossary.md explains; or a `Reading`, which also hides special tokens.
    words: True: the pieces of a word are one row and one column.
    path: True: a line joins each row's largest value.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    height: of the frame in a notebook, in pixels; None: as high as it is.
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`, which a notebook shows and `.save("x.html")` or `.save("x.pdf")` keeps.
    Of more than 1024 x 1024 cells it is an overview of 512 x 512, and says so. Raises InputError,
    also of a lens that needs what was not recorded, NoSuchHead, and with live AliveError.
    """
    selection = head_in(recording, kind, layer, head)
    map = HeadMap(selection, _reading(lens, words), max_cells=EXACT)
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
    kind: str | None = None,
    layer: int = 0,
    head: int = 0,
    query: int | None = None,
    key: int | None = None,
    *,
    words: bool = False,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """Draw how one weight is computed, from q and k; others in its row are shown by a click.

    There is no lens: it is the plain weight, of two tokens, whatever maps are read by.

    recording: of `record`, `from_weights` or `load_recording`.
    kind: "encoder_self", "decoder_self" or "cross"; None: the first that there is.
    layer, head: counted from 0, or from the end with -1.
    query, key: positions, counted from 0; None: the head's largest weight, or with one of them that
        of its row or column.
    words: True: tokens are named as beside pictures of words.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    height: of the frame in a notebook, in pixels; None: as high as it is.
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`, which a notebook shows and `.save("x.html")` or `.save("x.pdf")` keeps.
    Raises InputError, NoSuchHead, NotRecorded where q and k are not known, and with live
    AliveError.

    >>> cell_steps(recording, "cross", 2, 1, query=3)  # doctest: +SKIP
    """
    selection = head_in(recording, kind, layer, head)
    place = _cell(selection.attention(recording), selection, query, key)
    cell = CellSteps(selection, place, words=bool(words))
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


def _cell(
    of: Attention, at: Selection, query: int | None, key: int | None
) -> tuple[int, int] | None:
    """The cell that is asked for; None: the head's largest weight, also of another text."""
    if query is None and key is None:
        return None
    for what, place, tokens in (("query", query, of.queries), ("key", key, of.keys)):
        if place is not None:
            check_position(what, place, len(tokens), at.kind)
    if query is not None and key is not None:
        return query, key
    queries, keys = (None if place is None else [place] for place in (query, key))
    return strongest_weight(of, at.layer, at.head, queries, keys)


@usual_state()
@checks(**{**WANTED, "recording": WANTED["recording"].or_none})
def decode_player(
    decoding: Decoding,
    recording: Recording | None = None,
    layer: int = 0,
    head: int | None = None,
    *,
    words: bool = False,
    step: int = 0,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """Draw a decoding step by step, each beside what it attends to, read and written.

    There is no lens: its map has the plain weights, a row per step.

    decoding: of `decode`.
    recording: of the same source and the decoding's target; None: it is made, of a decoding by a
        checkpoint that was trained here, which is opened again in its folder.
    layer, head: counted from 0, or from the end with -1; head None: the mean of the layer's heads.
    words: True: the pieces of a word are one place; steps stay tokens.
    step: that page and figure show first, counted from 0, or from the end with -1.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    height: of the frame in a notebook, in pixels; None: as high as it is.
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`, which a notebook shows and `.save("x.html")` or `.save("x.pdf")` keeps.
    Raises InputError, CheckpointError, NoSuchHead, and with live AliveError.

    >>> decode_player(decode("en-de", "It rains."))  # doctest: +SKIP
    """
    if recording is None:
        recording = _recorded(decoding)
    if "decoder_self" in recording.attentions:  # else it is not of the decoding
        layer, place = place_in(recording, "decoder_self", layer, 0 if head is None else head)
        head = None if head is None else place
    steps = range(len(decoding.steps))
    if not -len(steps) <= step < len(steps):
        raise InputError(f"decode_player: there is no step {step}: there are 0 to {steps[-1]}.")
    player = DecodePlayer(layer, head, bool(words))
    return _page(
        player,
        recording,
        player.payload(recording, decoding),
        {"step": steps[step]},
        decoding,
        theme=theme,
        height=height,
        live=live,
    )


def _recorded(decoding: Decoding) -> Recording:
    """The recording of a decoding by the checkpoint that wrote it. Raises InputError."""
    origin = decoding.origin
    if origin is None:
        raise InputError(
            "decode_player: the checkpoint of this decoding cannot be opened again by itself: give "
            "a recording, as record(checkpoint, text, decoding.target) makes it."
        )
    return record(opened(origin.checkpoint), origin.text, decoding.target, origin.edits)


@pictured
def search_tree(
    decoding: Decoding,
    words: bool = True,
    *,
    theme: ThemeName = "auto",
    height: int | None = None,
    live: bool = False,
) -> Picture:
    """Draw the search of a decoding as a tree: hypotheses, what was dropped, and why.

    decoding: of `decode`, such as one with method="beam".
    words: True: the pieces of a word are one node.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    height: of the frame in a notebook, in pixels; None: as high as it is.
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`, which a notebook shows and `.save("x.html")` or `.save("x.pdf")` keeps.
    Raises InputError, also where nothing was searched for, and with live AliveError.
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


def _reading(lens: str | Reading, words: bool) -> Reading:
    reading = Reading(lens=lens) if isinstance(lens, str) else lens
    return replace(reading, words=True) if words else reading
