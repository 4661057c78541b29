"""A head by itself: its labels with evidence, where it looks in sentences, and its relatives."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary

from transformer.analysis.tables import Side
from transformer.corpus.labels import Atlas
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Row as HeadRow
from transformer.inspection.circuits import Composition, Heads, Products, compositions, products_of
from transformer.marks import SPACED, WORDS, marks_of
from transformer.token import Token
from transformer.training.history import left_out, list_snapshots
from transformer.words import word_piece
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads.all_heads import head_name, label_text, sentences
from viz.figures.heads.of_head import (
    RowInSentence,
    chart,
    circuits_table,
    describe,
    labels_table,
    numbers_of_head,
    relatives_table,
    rows_table,
    words_of_head,
)
from viz.labels import in_word, kind_title, literal, number
from viz.pages.inspect.files import inspected
from viz.pages.training.heads import heads_exhibits
from viz.painters.bars_html import WIDTHS, links_group, links_row
from viz.run.cache import CACHE
from viz.run.line import Runner
from viz.run.work import Growth, Study
from viz.screen import Screen, link
from viz.state.focus import at_head, in_sentence, in_weights, on_explore, over_training
from viz.state.page import Pane
from viz.state.state import note
from viz.ui.ahead import Part, show_ahead
from viz.ui.controls import help_of
from viz.ui.progress import paid, whole
from viz.ui.save_menu import is_menu_open, offer_figures
from viz.ui.showing import below, columns, show, show_with_files

# The circuits of a head with other heads, and how it came about in training.

EXPLAIN = (
    "How much of what one head writes another one reads by its queries, keys or values: "
    "||W_OV W|| / (||W_OV|| ||W||) (Elhage et al. 2021), of the weights only, without norms, "
    "biases and feed-forward layers."
)
MOST_BYTES = 2**27
"""The bytes of all heads' matrices up to which they are kept from one head's page to the next."""
Composed = tuple[list[Composition], list[Composition]]


@dataclass(frozen=True)
class HeadCircuits(Study[Composed]):
    """The composition of a head with all others."""

    checkpoint: str
    version: int
    place: Place

    def run(self, before: Composed | None, runner: Runner) -> Iterator[Composed]:
        heads = inspected((self.checkpoint, self.version)).heads
        name = "products of heads", self.checkpoint, self.version
        every = CACHE.get(name, lambda: _few_products(heads), _bytes_of)
        yield compositions(heads, self.place, every or None)


def _few_products(heads: Heads) -> list[tuple[Place, Products]]:
    """The products of all heads, which are the same whichever is open; none where they are many."""
    result = list[tuple[Place, Products]]()
    for each in products_of(heads):
        result.append(each)
        if _bytes_of(result) > MOST_BYTES:
            return []
    return result


def _bytes_of(products: Sequence[tuple[Place, Products]]) -> int:
    return sum(each.n_bytes for _, each in products)


def circuits_of_head(pane: Pane, atlas: Atlas) -> Growth[Composed]:
    """The heads that the open one reads, and that read it."""
    place = place_on(pane, atlas)
    name = head_name(place, atlas)

    def exhibit(composed: Composed) -> Exhibit:
        if not any(composed):
            raise NothingLeft(f"No layer above or below {name} reads heads or is read.")
        title, of = f"Circuits of {name}", partial(at_head, pane.screen)
        table = circuits_table(title, *composed, atlas, lambda other: link(of(other)))
        says = f"The heads that {name} reads most, and those that read it most."
        return Exhibit(title, table, says, is_main=False, about="checkpoint")

    study = HeadCircuits(pane.request.checkpoint, pane.request.version, place)
    return Growth(f"Circuits of {name}", study, exhibit, is_main=False)


def _draw_circuits(pane: Pane, atlas: Atlas) -> None:
    """Draw them as soon as they are computed; a reason, where weights cannot be read."""
    growth = circuits_of_head(pane, atlas)
    st.markdown(f"**{literal(growth.title)}**", help=literal(EXPLAIN))
    composed = paid(growth.study, st.empty())
    if composed is None:
        return
    try:
        show_with_files(pane, growth.exhibit(composed), "circuits")
    except NothingLeft as reason:
        note(reason)


def _draw_training(pane: Pane, atlas: Atlas) -> None:
    """Draw the head at each snapshot of its own training, on the sentence that is chosen."""
    if not pane.is_of_asked_checkpoint:
        return
    if len(list_snapshots(pane.checkpoint.path)) < 2:
        if sentence := left_out(pane.checkpoint.path):
            st.caption(literal(sentence))
        return
    result = paid(pane.request, st.empty())  # a page of a checkpoint comes with a token only
    growth = None if result is None else heads_exhibits(replace(pane, result=result)).get("heads")
    if growth is None:
        return
    name = head_name(place_on(pane, atlas), atlas)
    st.markdown(f"**{literal(f'{name} over training')}**")
    course = whole(growth.study, st.empty())
    if course is None:
        return
    try:
        show(growth.exhibit(course), "heads")
    except NothingLeft as reason:
        note(reason)


# Rows of a head in the sentences of its survey: their text, with query and key marked in it.

SPACE = "▁"
SPACES = SPACE, " "
"""A space that is a piece by itself; models of characters have the second one."""


@dataclass(frozen=True)
class _Sentence:
    """A sentence of a survey as the rows of every head show it."""

    text: str
    parts: Sequence[tuple[int, int]]
    """The letters of each piece along the columns."""
    read: tuple[Token, ...]
    column: tuple[Token, ...]
    named: tuple[Token, ...]
    """The names of the rows."""
    written: tuple[Token, ...]
    """The same, where they are not those that were read; else none."""


_SENTENCES: WeakKeyDictionary[Atlas, dict[tuple[str, int], _Sentence]] = WeakKeyDictionary()
"""Made once a survey: heads have rows of the same ones."""


def _sentence(atlas: Atlas, kind: str, line: int) -> _Sentence:
    cache = _SENTENCES.setdefault(atlas, {})
    if (kind, line) not in cache:
        queries, keys, names = atlas.shipped.pieces_of(kind, line)
        source = atlas.shipped.sentences[line]
        is_apart = " " in source and not any(space in "".join(keys) for space in SPACES)
        read, column, named = (tokens_of(side, is_apart) for side in (queries, keys, names))
        written = () if names == queries else named
        cache[kind, line] = _Sentence(*spread(keys, is_apart), read, column, named, written)
    return cache[kind, line]


def rows_of(
    atlas: Atlas, place: Place, rows: Iterable[HeadRow], screen: Screen, group: str = ""
) -> list[RowInSentence]:
    """These rows of a head, each with the address that opens it on Explore."""
    return [_row(atlas, place, row, screen, group) for row in rows]


def _row(atlas: Atlas, place: Place, row: HeadRow, screen: Screen, group: str) -> RowInSentence:
    shipped, kind = atlas.shipped, place[0]
    of = _sentence(atlas, kind, row.sentence)
    is_same = shipped.sides[kind][0] == shipped.sides[kind][1]
    chosen = sorted({row.key, row.query} if is_same else {row.key})
    marked = tuple(of.parts[at] for at in chosen if at < len(of.parts))
    source, writes = shipped.sentences[row.sentence], bool(shipped.targets)
    address = link(in_sentence(screen, place, source, (row.query, row.key), writes))
    query, key = in_word(of.named, row.query), in_word(of.column, row.key)
    written = Side("written", of.written).text_at([row.query])
    origin = Side("query", of.read).at([row.query]) | written | Side("key", of.column).at([row.key])
    return RowInSentence(row.weight, query, key, of.text, marked, address, group, origin)


def tokens_of(pieces: Sequence[str], is_apart: bool) -> tuple[Token, ...]:
    """Pieces as tokens, whose words can be told: a survey keeps no more of them.

    is_apart: as in `spread`. Their ids are none, as a number is a word where its id is the same.
    """
    marks = marks_of(pieces, SPACED)
    marks = WORDS if is_apart and not marks.apart else marks
    return tuple(marks.token(-1, piece, is_special(piece)) for piece in pieces)


def is_special(piece: str) -> bool:
    """Tell whether a piece reads as the start, the end and the like: no byte does."""
    return len(piece) > 2 and piece[0] in "<[" and piece[-1] in ">]" and bare(piece) == piece


def bare(piece: str) -> str:
    """A piece without the mark of a space before it; a space by itself stays visible.

    >>> bare("▁It"), bare("<0x36>")
    ('It', '6')
    """
    return SPACE if piece in SPACES else word_piece([Token(0, piece)]).removeprefix(SPACE)


def spread(pieces: Sequence[str], is_apart: bool) -> tuple[str, list[tuple[int, int]]]:
    """Write pieces as a text, with the letters of each; is_apart: they are words without a mark.

    >>> spread(["▁It", "▁rain", "s", "</s>"], False)
    ('It rains </s>', [(0, 2), (3, 7), (7, 8), (9, 13)])
    >>> spread(["s", "o", ",", " ", "I"], False)
    ('so, I', [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    >>> spread(["▁19", "<0x36>", "2"], False)
    ('1962', [(0, 2), (2, 3), (3, 4)])
    """
    text, parts = "", list[tuple[int, int]]()
    for piece in pieces:
        if piece in SPACES:
            text += " "
            parts.append((len(text) - 1, len(text)))
            continue
        word = bare(piece)
        is_alone = piece.startswith(SPACE) or is_apart or is_special(piece)
        if text and not text.endswith(" ") and is_alone:
            text += " "
        parts.append((len(text), len(text) + len(word)))
        text += word
    return text, parts


# A head by itself: its labels with evidence, where it looks in sentences, and its relatives.

MOST_RELATIVES = 5
HEAD = "kind", "layer", "head"
"""The fields of the Screen that name a head."""
ROWS = (
    "Rows drawn at random from each tenth of all rows, by their largest weight: what it "
    "does at its strongest is seldom all that it does. Each sentence opens on Explore."
)


def place_on(pane: Pane, atlas: Atlas) -> Place:
    """The head that the Screen names; the checkpoint's own where the survey has none of it."""
    screen, default = pane.screen, pane.default
    layer = default.layer if screen.layer is None else screen.layer
    head = default.head if screen.head is None else screen.head
    place = screen.kind or default.kind, layer, head
    return place if place in atlas.heads else next(iter(atlas.heads))


def exhibits_of_head(pane: Pane, atlas: Atlas) -> dict[str, Exhibit]:
    """Everything that is known of the head that is open."""
    place, screen = place_on(pane, atlas), pane.screen
    head, name = atlas.heads[place], head_name(place, atlas)
    deciles = [
        row
        for decile in head.deciles
        for weights in [f"{number(decile.low)} to {number(decile.high)}"]
        for row in rows_of(atlas, place, decile.rows, screen, weights)
    ]
    strongest = rows_of(atlas, place, head.strongest, screen)
    near = atlas.relatives(place, MOST_RELATIVES)
    links = [link(at_head(screen, each)) for each, _ in near]
    label = atlas.label(place)
    does = f"{name} has no label" if label is None else f"{name}: {label_text(label)}"
    exhibits = {
        "deciles": Exhibit(
            f"Rows of {name} by decile",
            rows_table(f"Rows of {name} by decile", deciles),
            f"Rows of {name}, drawn at random from each tenth by their largest weight.",
        ),
        "footprint": Exhibit(f"Footprint of {name}", chart(head), describe(head)),
        "labels": Exhibit(f"Labels of {name}", labels_table(atlas.labels.get(place, ())), does),
        "numbers": Exhibit(
            f"Numbers of {name}", numbers_of_head(atlas, place), f"{name} in numbers"
        ),
        "strongest": Exhibit(
            f"Strongest rows of {name}",
            rows_table(f"Strongest rows of {name}", strongest),
            f"The rows of {name} with the largest weights, each of another sentence.",
            is_main=False,
        ),
        "relatives": Exhibit(
            f"Relatives of {name}",
            relatives_table(atlas, near, links),
            f"The heads whose footprints are most like that of {name}.",
            is_main=False,
        ),
    }
    over = f", over {sentences(atlas.survey.n_sentences)}."  # none is of the sentence that is read
    return {
        key: replace(each, about="checkpoint", says=each.says.removesuffix(".") + over)
        for key, each in exhibits.items()
    }


def one_head(pane: Pane, atlas: Atlas) -> None:
    """Draw its name with evidence, its sentences, and what leads on."""
    help = help_of("head_label", "head_worth", "footprint")
    below(lambda _: st.caption(ROWS, help=help), pane)
    show_ahead(pane.screen, HEAD, lambda screen: _part(replace(pane, screen=screen), atlas))
    if is_menu_open():
        offer_figures(pane, exhibits_of_head(pane, atlas))
    below(partial(_further, atlas), pane)


def _part(pane: Pane, atlas: Atlas) -> Part:
    """All that a survey knows of the head that is open."""
    place, exhibits = place_on(pane, atlas), exhibits_of_head(pane, atlas)
    words = words_of_head(atlas, place, pane.checkpoint.family)
    labels = [exhibits["labels"]] if atlas.labels.get(place) else []
    others = [exhibits[name] for name in ("footprint", "numbers", "relatives")]
    rows = [exhibits["deciles"], exhibits["strongest"]]
    return Part(_links(pane, place, atlas), [[words, *labels, *others], rows])


def _further(atlas: Atlas, pane: Pane) -> None:
    """Draw what takes its time, after the rest: circuits, and training."""
    for place, draw in zip(
        columns(WIDTHS, gap="large"), (_draw_circuits, _draw_training), strict=True
    ):
        with place:
            draw(pane, atlas)


def _links(pane: Pane, place: Place, atlas: Atlas) -> str:
    """All kinds, the layers of its kind and the heads of its layer; and where else it is shown."""
    screen, (kind, layer, head) = pane.screen, place
    kinds = list(dict.fromkeys(each[0] for each in atlas.heads))
    layers = list(dict.fromkeys(each[1] for each in atlas.heads if each[0] == kind))

    def group(name: str, heads: dict[str, Place], chosen: str) -> str:
        links = {text: link(at_head(screen, each)) for text, each in heads.items()}
        return links_group(name, links, chosen) if len(links) > 1 else ""

    def number_of(layer: int) -> str:
        return f"L{atlas.layer((kind, layer, 0)):d}"

    of_kinds = {kind_title(each): _near(atlas, (each, layer, head)) for each in kinds}
    of_layers = {number_of(each): _near(atlas, (kind, each, head)) for each in layers}
    of_heads = {f"H{each[2]:d}": each for each in atlas.heads if each[:2] == (kind, layer)}
    others = {
        "Open on Explore": on_explore(screen, place),
        "Its circuits": in_weights(screen, place),
    }
    if len(list_snapshots(pane.checkpoint.path)) > 1:
        others["Over training"] = over_training(screen, place)
    return links_row(
        group("Attention", of_kinds, kind_title(kind)),
        group("Layers", of_layers, number_of(layer)),
        group("Heads", of_heads, f"H{head:d}"),
        links_group("More of this head", {text: link(to) for text, to in others.items()}),
    )


def _near(atlas: Atlas, place: Place) -> Place:
    """The head at the same place of another kind or layer; its first one where that has none."""
    kind, layer, _ = place
    of_kind = [each for each in atlas.heads if each[0] == kind]
    of_layer = [each for each in of_kind if each[1] == layer]
    return place if place in atlas.heads else (of_layer or of_kind)[0]
