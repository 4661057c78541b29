"""Everything that a person chose, as one frozen value; the address is its spelling.

`parse` and `spell` are each other's inverse. The fields are the table: each says how it is spelled
and what it is about. None means "as the model or the page says"; whoever draws decides what that
is. A kind, layer, head or checkpoint that does not exist is set to None (viz/state/state.py).
What only one page reads is declared by that page: in viz/page_fields.py, or by its PAGE.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from transformer.analysis.reading import BETWEEN
from transformer.edits import of_any_text
from viz.choice import (
    CHECKPOINT,
    HEAD,
    HEAD_B,
    PICTURE,
    QUESTION,
    REQUEST,
    SEARCH,
    SENTENCE,
    STORY,
    PageFields,
    choice,
    choices,
)
from viz.page_fields import FIELDS
from viz.spelling import (
    EDITS,
    HUB_NAME,
    IDS,
    NAME,
    NAMES,
    NUMBERS,
    PAGE,
    PAIR,
    PHRASES,
    PINS,
    TEXT,
    TURNS,
    WHOLE,
    WHOLES,
    YES,
    Spelling,
    one_of,
)

T = TypeVar("T")
FIRST_PAGE = "explore"
"""The page at the address without a path."""


@dataclass(frozen=True)
class Screen:
    """The choices on the screen; the name of a field is its name in the address."""

    page: str = choice(PAGE, FIRST_PAGE)
    """Spelled as the path."""

    story: str | None = choice(NAME)
    """Told beside what is shown: the name of a shipped one, or a path. Whoever changes something
    stays in its scene."""
    scene: int = choice(WHOLE, 1, STORY)
    """The number in the story, counted from 1."""
    role: str | None = choice(one_of("stage", "presenter", "audience", "present"), None, STORY)
    """The purpose of a window of a talk; "present": this screen alone is for a wall. None: the
    story stands in a strip above the picture."""
    room: str | None = choice(NAME, None, STORY)
    """The code of a talk that is being given."""
    guess: tuple[int, ...] | None = choice(WHOLES, None, QUESTION)
    """The points that were put on the words of a scene's question; () where nobody guessed. None:
    it is not answered yet."""
    draft: str | None = choice(NAME)
    """The code of the story that is put together."""
    checkpoint: str | None = choice(NAME)
    """The name of a shipped one, or a path."""
    weights: str | None = choice(NAME, None, CHECKPOINT)
    """The start of the SHA-256 of a checkpoint that is named by its path, which is another's."""
    made_with: str | None = choice(NAME, None, CHECKPOINT)
    """The start of the SHA-256 of the checkpoint that made a figure; None: of no figure."""
    hub: str | None = choice(HUB_NAME, None, CHECKPOINT)
    """A model on Hugging Face's hub, whose name the field for checkpoints is filled with: a link
    opens nothing from there, a person does."""
    text: str | None = choice(TEXT)
    pair: str | None = choice(TEXT)
    """The second text of a sentence pair; left out by a checkpoint that reads one text."""
    template: str | None = choice(NAME, None, CHECKPOINT)
    """The chat template of its folder that the text is put into; None: it is read as typed."""
    system: str = choice(TEXT, "", CHECKPOINT)
    """The message that the template begins with; empty: none."""
    turns: tuple[tuple[str, str], ...] = choice(TURNS, (), CHECKPOINT)
    """The turns of the conversation before the text: roles and texts."""
    decoding: str | None = choice(NAME, None, CHECKPOINT)
    options: tuple[tuple[str, float], ...] = choice(NUMBERS, ())
    """Options of the decoding methods, by their names, in order."""
    source_language: str | None = choice(NAME)
    target_language: str | None = choice(NAME)
    edits: tuple[str, ...] = choice(EDITS, (), CHECKPOINT)
    """Changes, as they are spelled everywhere: "head-off:cross.2.3"; of words: `of_any_text`."""
    prefix: tuple[int, ...] = choice(IDS, (), SENTENCE)
    """The tokens that the output for this text begins with; () leaves that to the model."""
    force: tuple[tuple[int, ...], ...] = choice(PHRASES, (), CHECKPOINT)
    """Phrases of tokens that the output has somewhere."""
    forbid: tuple[tuple[int, ...], ...] = choice(PHRASES, (), CHECKPOINT)
    """Phrases of tokens that it has nowhere."""
    branch: tuple[int, ...] = choice(IDS, (), SEARCH | {"edits"})
    """The hypothesis of the search that is shown; () is the one that won. The edited model searches
    anew, and comes by others."""
    tool: str = choice(one_of("look", "heads", "arrows"), "look")
    """The effect of a click: show, switch a head off, or cut an arrow."""
    stopped: int | None = choice(WHOLE, None, SEARCH)
    """The tokens after which the writing of this text was stopped."""

    lens: str = choice(NAME, "weight")
    rows: str = choice(one_of("produced", "read"), "produced")
    tokens: str | None = choice(one_of("words", "pieces"), None, CHECKPOINT)
    special: str | None = choice(one_of("shown", "hidden", "renormalised"))
    """None: shown; in the picture that a checkpoint opens with (`is_opening`) as it says."""
    between: str = choice(one_of(*BETWEEN), "all")
    """The cells of a sentence pair that are seen: those from one text to the other, or within."""

    kind: str | None = choice(NAME, None, CHECKPOINT)
    layer: int | None = choice(WHOLE, None, CHECKPOINT)
    head: int | None = choice(WHOLE, None, CHECKPOINT)
    mean: bool = choice(YES, False)
    """Instead of the head, the mean of its layer's heads."""
    picture: str = choice(one_of("arrows", "map", "inside", "why"), "arrows")
    path: bool = choice(YES, False)
    own_scale: bool = choice(YES, False)
    """The shade of each head goes up to its own largest weight."""
    column: str = choice(one_of("one", "two", "slide"), "one")
    """The width of a figure, in columns of a paper, or a slide."""
    scale: str = choice(one_of("root", "linear"), "root")
    """The law by which weights become colours in a figure."""
    font: str = choice(TEXT, "")
    """The family of a figure's typeface; empty, or not on this machine: the usual one."""
    heads: tuple[int, ...] | None = choice(WHOLES, None, CHECKPOINT | HEAD)
    """Heads that are overlaid, of whatever text; () is none at all."""
    lines: int = choice(WHOLE, 5)
    """The number of strongest lines of each row; 0 is all."""
    pins: tuple[str, ...] = choice(PINS, (), REQUEST | {"kind", "tokens", "special", "between"})
    cell: tuple[int, int] | None = choice(PAIR, None, REQUEST | {"kind"})
    """Positions of query and key."""
    why: bool = choice(YES, False, REQUEST)
    """The card of a pinned word is open, where a pin alone does not open it."""
    cause: str | None = choice(NAME, None, REQUEST)
    """The further study of a pinned word that is open: "arrows"."""
    instead: str | None = choice(TEXT, None, REQUEST | {"pins"})
    """The word, or words, that should stand where the pinned word is written."""
    repairs: bool = choice(YES, False, REQUEST | {"pins", "instead"})
    """Changes that would have it written are looked for."""
    repair_rows: str | None = choice(NAME, None, REQUEST | {"pins", "instead"})
    """The heads whose rows may change then: a kind, "layer", "head"; None: as `needed` says."""
    tint: str | None = choice(one_of("off", "log_prob", "rank", "entropy"))
    """The measure by which written words are tinted; None: log-probability, on a wall none."""
    alignment: bool = choice(YES, False)
    """Lines lead from written words to the source words that they look at most."""
    show: str = choice(NAME, "maps")
    sort: str = choice(NAME, "layer")
    top: int = choice(WHOLE, 0)

    step: int = choice(WHOLE, 0, REQUEST)
    """The step of decoding."""

    view: str | None = choice(NAME)
    controls: tuple[tuple[str, str], ...] = choice(NAMES, ())
    """Choices of the views, by their names, in order."""

    own: tuple[tuple[str, Any], ...] = field(default=())
    """Pairs of name and value, of what single pages declare: those that are not the default, in
    the order of the address."""

    def of(self, record: type[T]) -> T:
        """The choices of one page, as the record that declares them."""
        declared: type = record
        return record(**{name: value for name, value in self.own if name in choices(declared)})


_DECLARED: dict[str, PageFields] = {}
"""The pages, by name, that declare choices in their own file."""


def declare(own: PageFields) -> None:
    """Let the choices of a page be part of every Screen, and of its address."""
    if own.name not in _DECLARED:
        _DECLARED[own.name] = own
        all_choices.cache_clear()


@cache
def all_choices() -> dict[str, Field[Any]]:
    """Every choice by its name, in the order of an address."""
    pages: dict[str, PageFields] = FIELDS | _DECLARED
    table: dict[str, Field[Any]] = {}
    for name, each in [*choices(Screen).items(), ("", None)]:
        for page in (page for _, page in sorted(pages.items()) if page.before == name):
            table |= page.fields
        if each is not None:
            table[name] = each
    return table


def parse(address: Mapping[str, str]) -> Screen:
    """The screen that an address names, its path as "page"; what cannot be read is the default."""
    return put(Screen(), **{name: _read(each, address) for name, each in all_choices().items()})


def unread(address: Mapping[str, str]) -> list[str]:
    """Return the parts of an address, as "name=value", that `parse` leaves out."""
    return [f"{name}={text}" for name, text in address.items() if not _is_read(name, text)]


def _is_read(name: str, text: str) -> bool:
    field_name, dot, entry = name.partition(".")
    field = all_choices().get(field_name)
    if field is None or bool(dot and entry) != field.metadata["spelling"].has_entries:
        return False
    try:
        read = field.metadata["spelling"].read(text)
    except ValueError:
        return False
    return name != "edits" or len(read) == len(set(text.split("/")))


def _read(field: Field[Any], address: Mapping[str, str]) -> Any:
    spelling: Spelling = field.metadata["spelling"]
    if spelling.has_entries:
        prefix = f"{field.name}."
        values = {}
        for key, text in address.items():
            if key.startswith(prefix) and key != prefix:
                try:
                    values[key.removeprefix(prefix)] = spelling.read(text)
                except ValueError:
                    continue
        return tuple(sorted(values.items()))
    try:
        return spelling.read(address[field.name])
    except (KeyError, ValueError):
        return field.default


def spell(screen: Screen) -> dict[str, str]:
    """The address of a screen, its path as "page"; defaults stay out of it."""
    parts, own = dict[str, str](), {**vars(screen), **dict(screen.own)}
    for name, each in all_choices().items():
        if (value := own.get(name, each.default)) != each.default:
            spelling = each.metadata["spelling"]
            of = [(f".{key}", it) for key, it in value] if spelling.has_entries else [("", value)]
            parts |= {f"{name}{key}": spelling.write(it) for key, it in of}
    return parts


def query(screen: Screen) -> str:
    """Return the part behind the path and its question mark."""
    parts = spell(screen)
    parts.pop("page", None)
    return urlencode(parts, quote_via=quote, safe=",/:", errors="replace")


def link(screen: Screen) -> str:
    """The address, relative to any page of the app."""
    page = "" if screen.page == FIRST_PAGE else quote(screen.page, safe="", errors="replace")
    return f"./{page}?{query(screen)}"


def value_of(screen: Screen, name: str) -> Any:
    """The choice of this name, whether all pages read it or one."""
    if name in choices(Screen):
        return getattr(screen, name)
    return dict(screen.own).get(name, all_choices()[name].default)


def put(screen: Screen, **values: Any) -> Screen:
    """The screen with these values and nothing else changed, as `replace` does it."""
    common = {name: value for name, value in values.items() if name in choices(Screen)}
    if len(common) == len(values):
        return replace(screen, **common)
    own, every = dict(screen.own) | values, all_choices()
    if unknown := own.keys() - every.keys():
        raise TypeError(f"A screen has no {', '.join(sorted(unknown))}.")
    pairs = ((name, own[name]) for name in every if name in own and name not in common)
    left = tuple((name, value) for name, value in pairs if value != every[name].default)
    return replace(screen, **common, own=left)


def choose(screen: Screen, **changes: Any) -> Screen:
    """The screen with these choices, and the defaults of all that belonged to the old ones."""
    changed = {name for name, value in changes.items() if value_of(screen, name) != value}
    if "edits" in changed and value_of(screen, "edited_b") and value_of(screen, "own_b"):
        changed.add("own_b")  # with other edits B, which writes by itself, writes another text
    left: dict[str, Any] = {
        name: each.default
        for name, each in all_choices().items()
        if each.metadata["about"] & changed
    }
    of_any = {"edits": of_any_text(screen.edits)} if SENTENCE & changed else {}
    new = put(screen, **of_any | left | changes)
    return locked(new, is_told_by_b=bool(changed & HEAD_B) and not changed & HEAD)


def is_opening(screen: Screen) -> bool:
    """Tell whether the head is left to the checkpoint, and no row or column is named by number."""
    return all(value_of(screen, name) == default(name) for name in PICTURE)


def locked(screen: Screen, is_told_by_b: bool = False) -> Screen:
    """The same screen; where both panes are to show one head, with that head in both."""
    if not value_of(screen, "same_head"):
        return screen
    pairs = [(f"{name}_b", name) for name in sorted(HEAD)]
    if is_told_by_b:
        pairs = [(to, of) for of, to in pairs]
    follows = {to: value_of(screen, of) for to, of in pairs}
    is_one = all(value_of(screen, name) == value for name, value in follows.items())
    return screen if is_one else choose(screen, **follows)


def default(name: str) -> Any:
    """Return the value of a field where nothing was chosen."""
    return all_choices()[name].default
