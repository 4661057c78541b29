"""Everything that a person chose, as one frozen value; the address is its spelling.

`parse` and `spell` are each other's inverse. The fields are the table: each says how it is spelled
and what it is about. None means "as the model or the page says"; whoever draws decides what that
is. A kind, layer, head or checkpoint that does not exist is set to None (viz/state/mending.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from viz.spelling import (
    EDITS,
    NAME,
    NAMES,
    NUMBER,
    NUMBERS,
    PAIR,
    PINS,
    TEXT,
    WHOLE,
    WHOLES,
    YES,
    Spelling,
    one_of,
)

T = TypeVar("T")
FIRST_PAGE = "explore"
"""The page at the address without a path."""

REQUEST = frozenset(
    ("checkpoint", "text", "decoding", "options", "source_language", "target_language")
)
"""What the model is asked."""
HEAD, SECOND = frozenset(("kind", "layer", "head")), frozenset(("checkpoint_b", "edited_b"))
HEAD_B = frozenset(("kind_b", "layer_b", "head_b"))
CHECKPOINT = frozenset(("checkpoint",))
STORY = frozenset(("story",))
QUESTION = REQUEST | STORY | {"scene"}
"""What makes the question of a scene another one."""


def _choice(spelling: Spelling, default: Any = None, about: frozenset[str] = frozenset()) -> Any:
    """A field. about: the fields that it belongs to: once one changes, the default holds again."""
    return field(default=default, metadata={"spelling": spelling, "about": about})


@dataclass(frozen=True)
class Screen:
    """What is on the screen; the name of a field is its name in the address."""

    page: str = _choice(NAME, FIRST_PAGE)
    """Spelled as the path."""

    story: str | None = _choice(NAME)
    """Told beside what is shown: the name of a shipped one, or a path. Whoever changes something
    stays in its scene."""
    scene: int = _choice(WHOLE, 1, STORY)
    """Of the story, counted from 1."""
    role: str | None = _choice(one_of("stage", "presenter", "audience"), None, STORY)
    """What a window of a talk is for; None: the story stands in a strip above the picture."""
    room: str | None = _choice(NAME, None, STORY)
    """The code of a talk that is being given."""
    guess: tuple[int, ...] | None = _choice(WHOLES, None, QUESTION)
    """The points that were put on the words of a scene's question; () where nobody guessed. None:
    it is not answered yet."""
    draft: str | None = _choice(NAME)
    """The code of the story that is put together."""
    checkpoint: str | None = _choice(NAME)
    """The name of a shipped one, or a path."""
    made_with: str | None = _choice(NAME, None, CHECKPOINT)
    """How the SHA-256 of the checkpoint begins that a figure was made with; None: of no figure."""
    text: str | None = _choice(TEXT)
    decoding: str | None = _choice(NAME, None, CHECKPOINT)
    options: tuple[tuple[str, float], ...] = _choice(NUMBERS, ())
    """Of the decoding methods, by their names, in order."""
    source_language: str | None = _choice(NAME)
    target_language: str | None = _choice(NAME)
    edits: tuple[str, ...] = _choice(EDITS, (), CHECKPOINT)
    """What is changed in the model, each as it is spelled everywhere: "head-off:cross.2.3"."""
    tool: str = _choice(one_of("look", "heads", "arrows"), "look")
    """What a click does: show, switch a head off, or cut an arrow."""
    stopped: int | None = _choice(WHOLE, None, REQUEST)
    """The tokens after which the writing of this text was stopped."""

    lens: str = _choice(NAME, "weight")
    rows: str = _choice(one_of("produced", "read"), "produced")
    tokens: str | None = _choice(one_of("words", "pieces"), None, CHECKPOINT)
    special: str = _choice(one_of("shown", "hidden", "renormalised"), "shown")

    kind: str | None = _choice(NAME, None, CHECKPOINT)
    layer: int | None = _choice(WHOLE, None, CHECKPOINT)
    head: int | None = _choice(WHOLE, None, CHECKPOINT)
    mean: bool = _choice(YES, False)
    """Instead of the head, the mean of its layer's heads."""
    picture: str = _choice(one_of("arrows", "map", "inside"), "arrows")
    path: bool = _choice(YES, False)
    own_scale: bool = _choice(YES, False)
    """Whether the shade of each head goes up to its own largest weight."""
    column: str = _choice(one_of("one", "two"), "one")
    """How many columns of a paper a figure is as wide as."""
    heads: tuple[int, ...] | None = _choice(WHOLES, None, REQUEST | HEAD)
    """Those that are overlaid; () is none at all."""
    lines: int = _choice(WHOLE, 5)
    """Of each row the strongest so many; 0 is all."""
    pins: tuple[str, ...] = _choice(PINS, (), REQUEST | {"kind", "tokens", "special"})
    cell: tuple[int, int] | None = _choice(PAIR, None, REQUEST | {"kind"})
    """Positions of query and key."""
    show: str = _choice(NAME, "maps")
    sort: str = _choice(NAME, "layer")
    top: int = _choice(WHOLE, 0)

    checkpoint_b: str | None = _choice(NAME)
    edited_b: bool = _choice(YES, False)
    """Whether B is A with `edits`, where it is of no other checkpoint."""
    own_b: bool = _choice(YES, False)
    """Whether B, with edits, writes by itself; else it reads what A wrote."""
    same_head: bool = _choice(YES, False)
    """Whether B shows the head that A shows, and A that of B, where they are of two runs."""
    kind_b: str | None = _choice(NAME, None, SECOND)
    layer_b: int | None = _choice(WHOLE, None, SECOND)
    head_b: int | None = _choice(WHOLE, None, SECOND)
    heads_b: tuple[int, ...] | None = _choice(WHOLES, None, REQUEST | SECOND | HEAD_B)
    cell_b: tuple[int, int] | None = _choice(PAIR, None, REQUEST | SECOND | {"kind_b"})

    step: int = _choice(WHOLE, 0, REQUEST)
    """Of decoding."""

    experiment: str | None = _choice(NAME)
    """Which one the page Experiment shows."""
    sweep_sort: str = _choice(NAME, "change")
    """By the total "change", by "layer", or by a word: "word 3"."""
    sweep_kind: str = _choice(NAME, "all", CHECKPOINT)
    """Whose heads a sweep shows."""
    sweep_pairs: int = _choice(WHOLE, 0)
    """Of how many heads all pairs are tried."""
    sweep_over: str = _choice(one_of("sentence", "sentences"), "sentence")
    """What is swept: the sentence above, or those that were entered for it."""
    sweep_sentences: str | None = _choice(TEXT, None, CHECKPOINT)
    """One per line; None: the checkpoint's examples."""
    patch_from: str | None = _choice(TEXT)
    """The sentence from which states and heads are put into `text`."""

    view: str | None = _choice(NAME)
    controls: tuple[tuple[str, str], ...] = _choice(NAMES, ())
    """Of the views, by their names, in order."""

    inspect: str | None = _choice(NAME)
    tensor: str | None = _choice(NAME)
    tensor_rows: tuple[int, int] | None = _choice(PAIR, None, CHECKPOINT | {"tensor"})
    """The first and the last one."""
    tensor_columns: tuple[int, int] | None = _choice(PAIR, None, CHECKPOINT | {"tensor"})
    pooling: str = _choice(one_of("largest", "mean"), "largest")
    kind_circuit: str | None = _choice(NAME, None, CHECKPOINT)
    layer_circuit: int | None = _choice(WHOLE, None, CHECKPOINT)
    head_circuit: int | None = _choice(WHOLE, None, CHECKPOINT)
    circuit_words: str | None = _choice(TEXT)
    split: str | None = _choice(TEXT)
    piece: str = _choice(TEXT, "")
    table: str | None = _choice(NAME)

    mask_text: str | None = _choice(TEXT)
    mask_kind: str | None = _choice(NAME)
    masks: str = _choice(one_of("used", "textbook"), "used")
    """What the model closes, or what the textbook does."""

    topic: str | None = _choice(NAME)
    position: int = _choice(WHOLE, 0)
    """Of the target, where labels are smoothed."""
    epsilon: float | None = _choice(NUMBER)
    d_model: int | None = _choice(WHOLE)
    warmup: int | None = _choice(WHOLE)
    log: bool = _choice(YES, False)
    snapshot: int | None = _choice(WHOLE, None, REQUEST)
    """The step of training at which it was taken."""
    metric: str | None = _choice(NAME)

    d: int | None = _choice(WHOLE)
    k: int | None = _choice(WHOLE)
    n: int | None = _choice(WHOLE)
    r: int | None = _choice(WHOLE)


_FIELDS = {each.name: each for each in fields(Screen)}


def parse(address: Mapping[str, str]) -> Screen:
    """The screen that an address names, its path as "page"; what cannot be read is the default."""
    return Screen(**{name: _read(name, address) for name in _FIELDS})


def unread(address: Mapping[str, str]) -> list[str]:
    """Those parts of an address, as "name=value", that say nothing: `parse` leaves them out."""
    return [f"{name}={text}" for name, text in address.items() if not _is_read(name, text)]


def _is_read(name: str, text: str) -> bool:
    field_name, dot, entry = name.partition(".")
    known = _FIELDS.get(field_name)
    if known is None or bool(dot and entry) != known.metadata["spelling"].has_entries:
        return False
    try:
        read = known.metadata["spelling"].read(text)
    except ValueError:
        return False
    return name != "edits" or len(read) == len(set(text.split("/")))


def _read(name: str, address: Mapping[str, str]) -> Any:
    spelling: Spelling = _FIELDS[name].metadata["spelling"]
    if spelling.has_entries:
        return _entries(spelling, f"{name}.", address)
    try:
        return spelling.read(address[name])
    except (KeyError, ValueError):
        return _FIELDS[name].default


def _entries(
    spelling: Spelling, prefix: str, address: Mapping[str, str]
) -> tuple[tuple[str, Any], ...]:
    found = {}
    for key, text in address.items():
        if key.startswith(prefix) and key != prefix:
            try:
                found[key.removeprefix(prefix)] = spelling.read(text)
            except ValueError:
                continue
    return tuple(sorted(found.items()))


def spell(screen: Screen) -> dict[str, str]:
    """The address of a screen, its path as "page"; defaults stay out of it."""
    said: dict[str, str] = {}
    for name, each in _FIELDS.items():
        spelling, value = each.metadata["spelling"], getattr(screen, name)
        if spelling.has_entries:
            said |= {f"{name}.{entry}": spelling.write(chosen) for entry, chosen in value}
        elif value != each.default:
            said[name] = spelling.write(value)
    return said


def query(screen: Screen) -> str:
    """What stands behind the path and its question mark."""
    said = spell(screen)
    said.pop("page", None)
    return urlencode(said, quote_via=quote, safe=",/:", errors="replace")


def link(screen: Screen) -> str:
    """The address, relative to any page of the app."""
    page = "" if screen.page == FIRST_PAGE else quote(screen.page, safe="", errors="replace")
    return f"./{page}?{query(screen)}"


def choose(screen: Screen, **changes: Any) -> Screen:
    """The screen with these choices, and with the defaults of all that belonged to the old ones."""
    changed = {name for name, value in changes.items() if getattr(screen, name) != value}
    left: dict[str, Any] = {
        name: each.default for name, each in _FIELDS.items() if each.metadata["about"] & changed
    }
    chosen = replace(screen, **(left | changes))
    return _locked(chosen, is_told_by_b=bool(changed & HEAD_B) and not changed & HEAD)


def _locked(screen: Screen, is_told_by_b: bool) -> Screen:
    """The same screen; where both panes are to show one head, with that head in both."""
    if not screen.same_head:
        return screen
    pairs = [(f"{name}_b", name) for name in sorted(HEAD)]
    if is_told_by_b:
        pairs = [(to, of) for of, to in pairs]
    follows = {to: getattr(screen, of) for to, of in pairs}
    is_one = all(getattr(screen, name) == value for name, value in follows.items())
    return screen if is_one else choose(screen, **follows)


def default(name: str) -> Any:
    """What a field says where nothing was chosen."""
    return _FIELDS[name].default


def with_entry(
    entries: tuple[tuple[str, T], ...], name: str, value: T | None
) -> tuple[tuple[str, T], ...]:
    """Pairs of which the one of this name has another value; None: it is not mentioned."""
    others = {entry: known for entry, known in entries if entry != name}
    if value is not None:
        others[name] = value
    return tuple(sorted(others.items()))
