"""All that Python says of a checkpoint's pictures whatever the text.

`payloads/` reads it, and adds what a text changes: the browser has no word of its own.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import cache
from itertools import groupby
from typing import Any, Literal

from transformer import Recording, decode, record
from transformer.analysis.ablation import heads_off
from transformer.analysis.lost import OPENS, TRACE, function_words
from transformer.analysis.metrics.metric import UNDEFINED
from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import (
    Reading,
    Selection,
    lenses,
    notes_on_hiding,
    notes_on_merging,
)
from transformer.analysis.scored import Output
from transformer.analysis.tables import judged_at
from transformer.causes import verdict
from transformer.causes.change import FUNCTION_WORDS, NEGATING
from transformer.causes.verdict import KINDS, SENTENCES
from transformer.checkpoint import Checkpoint
from transformer.corpus.carriers import shipped_carriers
from transformer.decoding.search_tree import BEATEN, REASONS
from transformer.fingerprint import is_marked
from transformer.refusal import HIDDEN, JOINED, NAMED
from transformer.token import Token
from transformer.words import ALONE, LETTER, PATTERN, SPACES, class_of
from viz.causes.tables import CARD, LEAST, MANY, PARTED, PLAIN
from viz.components.cell_steps import cell_steps
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.change_offer import change_offer
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view import head_view
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import palette, unpack
from viz.components.kit.picture import MAX_PIXELS, NOTHING_LEFT, Picture, known_map, starts
from viz.components.search_tree import search_tree
from viz.components.search_tree.search_tree import DecodeTree
from viz.components.token_rows import token_rows
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.edit_words import edit_text
from viz.exhibits.table import WIDE
from viz.figures import sweeps
from viz.figures.heads.all_heads import head_name
from viz.labels import IN_WORD, MOST_OF_WORD, SPACE_BEFORE, kind_name, label, percent
from viz.map_words import (
    ALL_MASKED,
    EMPTY,
    FAVOURITE,
    FAVOURITES,
    KEYS,
    NAME,
    QUERIES,
    SENTENCE,
)
from viz.map_words import HIDDEN as NOTE_ON_HIDDEN
from viz.painters.bars_html import elements
from viz.painters.table_html import SHORT, SORT_BY, TALL, ramp_style, style_of
from viz.sentence import amount
from viz.theme import DARK, LIGHT, N_STOPS, Theme
from viz.views import heads

SPECIAL: tuple[Literal["shown", "hidden"], ...] = ("shown", "hidden")
READINGS = {
    f"{of}, {special}": Reading(words=of == "words", special=special)
    for of in ("pieces", "words")
    for special in SPECIAL
}
"""The readings of a map that a page without a server offers."""
OF_TEXT = {
    *("rows", "columns", "sides", "notes", "block", "masked", "layer", "hidden"),
    *("text", "rows_of", "columns_of", "closed"),
    *("tokens", "id", "head", "says", "region", "strongest"),
}
"""The fields of a header that are of one text: `payloads/` writes them."""
Headers = dict[str, dict[str, Any]]
"""Headers by the names of components."""


def tables(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return it as JSON values. The checkpoint is one that `engine/` can run."""
    text, is_writer = checkpoint.about.examples[0], checkpoint.family.decodes
    decoding = decode(checkpoint, text, "greedy", max_len=5) if is_writer else None
    recording = record(checkpoint, text, decoding.target if decoding else None)
    attentions = recording.attentions
    has_cross = "cross" in attentions  # what needs a source that stands apart is of such alone
    return {
        "vocab_size": checkpoint.config.vocab_size,
        "layers": {
            kind: [of.number(layer) for layer in range(of.n_layers)]
            for kind, of in attentions.items()
        },
        "kinds": {kind: kind_tables(recording, kind) for kind in attentions},
        "notes": _notes(),
        "token_rows": _token_rows(checkpoint),
        "decode_player": decoding
        and {
            name: unpack(DecodePlayer(0, head).payload(recording, decoding))[0]["sentences"]
            for name, head in (("mean", None), ("head", 0))
        },
        "search_tree": {
            "reasons": REASONS,
            "beaten": BEATEN,
            "continued": search_tree.CONTINUED,
            "most": search_tree.MOST,
            "folded": search_tree.FOLDED,
            "most_pieces": search_tree.MOST_PIECES,
        },
        "cell_steps": {
            "says": cell_steps.SAYS,
            "most": cell_steps.N_COMPETITORS,
            "readable": cell_steps.READABLE,
        },
        "change_offer": _change_offer(checkpoint, recording) if has_cross else None,
        "verdict": {
            "kinds": KINDS,
            "sentences": SENTENCES,
            "least": verdict.LEAST,
            "much": verdict.MUCH,
            "parted": PARTED,
        },
        "sweep": _sweep(checkpoint, recording),
        "compare": {
            "different": heads.DIFFERENT,
            "difference": heads.DIFFERENCE,
            "a_less_b": heads.A_LESS_B,
            "cell": heads.CELL,
            "in_word": {"piece": IN_WORD, "space": SPACE_BEFORE, "most": MOST_OF_WORD},
        },
        "trace": TRACE,
        "lost": _lost(checkpoint) if has_cross else None,
        "card": CARD,
        "plain": {**PLAIN, "most": MANY},
        "sentences": {
            "name": NAME,
            "map": SENTENCE,
            "masked": EMPTY.replace("{why}", ALL_MASKED),
            "favourite": FAVOURITE,
            "hidden": NOTE_ON_HIDDEN,
            "query": QUERIES,
            "key": KEYS,
            "nothing_left": NOTHING_LEFT,
        },
        "numbers": {
            "least_share": percent(1e-9),
            "below": amount(1e-4),
            "above": amount(-1e-4),
            "undefined": UNDEFINED,
        },
        "limits": {
            "thumbnail": MAX_PIXELS,
            "dense": head_view.MAX_DENSE,
            "ranked": head_view.MAX_RANKED,
            "keys": head_view.KEYS,
            "bytes_a_key": head_view.BYTES_A_KEY,
            "wide": WIDE,
            "shown": LEAST,
            "stops": N_STOPS,
        },
        "characters": characters(),
        "themes": {theme.name: _theme(theme, recording) for theme in (LIGHT, DARK)},
    }


# Pictures: what their headers say whatever the text.


def kind_tables(recording: Recording, kind: str) -> dict[str, Any]:
    """All that pictures of one kind of attention say whatever the text."""
    map = known_map(recording, kind, Reading())
    rows, columns = starts(map)
    metrics = metrics_of(recording.attentions[kind])
    plain = _headers(recording, kind, Reading())
    return {
        "name": kind_name(kind),
        "is_produced": map.is_produced,
        "starts": {"rows": rows, "columns": columns},
        "favourites": [name for name in FAVOURITES if name in metrics],
        "headers": plain,
        "changes": {
            name: changes(plain, _headers(recording, kind, reading))
            for name, reading in READINGS.items()
        },
    }


def changes(plain: Headers, other: Headers) -> Headers:
    """The fields of headers that a reading changes."""
    return {
        name: {key: value for key, value in header.items() if plain[name].get(key) != value}
        for name, header in other.items()
    }


def _headers(recording: Recording, kind: str, reading: Reading) -> Headers:
    (grid,) = unpack(HeadGrid((kind,), reading).payload(recording))[1]
    headers = {
        "head_grid": unpack(bytes(grid))[0],
        "head_view": unpack(HeadView(kind, 0, reading).payload(recording))[0],
        "head_map": unpack(HeadMap(Selection(kind, 0, 0), reading).payload(recording))[0],
    }
    for metric in headers["head_grid"]["metrics"]:
        del metric["texts"]
    return {
        name: {key: value for key, value in header.items() if key not in OF_TEXT}
        for name, header in headers.items()
    }


def _notes() -> dict[str, Any]:
    """The notes on what is merged, and on what is left out: of rows alone, of keys, of none."""
    reading, lens = READINGS["pieces, hidden"], lenses()[Reading().lens]
    sides = {"none": (False, False), "rows": (True, False), "keys": (True, True)}
    return {
        "merged": [*notes_on_merging(lens, is_merged=True)],
        "hidden": {name: notes_on_hiding(reading, lens, *each) for name, each in sides.items()},
    }


def _token_rows(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "titles": TITLES[checkpoint.family.reads],
        "tints": token_rows.TINTS,
        "least": token_rows.LEAST,
        "full": {
            "log_prob": token_rows.FULL_LOG_PROB,
            "rank": token_rows.FULL_RANK,
            "entropy": token_rows.FULL_ENTROPY,
        },
        "certain": token_rows.CERTAIN,
        "certain_of_several": token_rows.CERTAIN_OF_SEVERAL,
    }


def _lost(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """The lists that `engine/lost.js` looks for lost words with; None: not of this language."""
    words = function_words(checkpoint)
    return {"functionWords": sorted(words), "opens": OPENS} if words else None


def _change_offer(checkpoint: Checkpoint, recording: Recording) -> dict[str, Any]:
    """The words of the button, and what `engine/change.js` searches with."""
    shipped, carriers = shipped_carriers(checkpoint.path), None
    if shipped is not None and is_marked(checkpoint.path, shipped.fingerprint):
        carriers = shipped.carriers
    language = "" if carriers is None else carriers.language
    heads = heads_off(checkpoint)
    return {
        "parts": change_offer.PARTS,
        "says": change_offer.SAYS,
        "title": change_offer.TITLE,
        "heads": {str(edit): edit_text(edit, recording) for edit in heads},
        "carriers": [] if carriers is None else [[*map(str, each)] for each in carriers.groups],
        "patterns": {
            "negating": NEGATING.get(language),
            "functionWords": FUNCTION_WORDS.get(language),
        },
    }


def _sweep(checkpoint: Checkpoint, recording: Recording) -> dict[str, Any]:
    """The words of a sweep of heads, and the limits of its table."""
    heads = heads_off(checkpoint)
    columns = ["edit", *_judged(recording), "log_prob", "change", "written"]
    return {
        "measures": {"words": asdict(sweeps.WORDS), "classes": asdict(sweeps.CLASSES)},
        "heads": {str(edit): head_name(edit.at_head, recording) for edit in heads},
        "columns": columns,
        "name": sweeps.NAME,
        "off": sweeps.OFF,
        "total": sweeps.TOTAL,
        "hint": sweeps.HINT,
        "least": sweeps.SWEEP_TABLE_LEAST,
        "titled": sweeps.TITLED,
        "line_break": sweeps.LINE_BREAK,
        "tall": TALL,
        "short": SHORT,
        "sort_by": SORT_BY,
    }


def _judged(recording: Recording) -> list[str]:
    """The columns of a file that name what a sweep judges: tokens, or classes."""
    output = Output("", recording.target or None, tuple(recording.target))
    if recording.classification is not None:
        output = replace(output, classes=tuple(recording.classification.classes))
    return list(judged_at(output, recording)[0])


def _theme(theme: Theme, recording: Recording) -> dict[str, Any]:
    """The colours, and what each component is given over a payload: a state to begin with."""
    pictures: dict[str, tuple[Picture, dict[str, Any]]] = {
        "token_rows": (TokenRows(), {}),
        "head_grid": (HeadGrid(tuple(recording.attentions)), {}),
        "head_view": (HeadView("cross", 0), {"head": 0}),
        "head_map": (HeadMap(Selection("cross", 0, 0)), {}),
        "decode_player": (DecodePlayer(), {}),
        "search_tree": (DecodeTree(), {}),
        "cell_steps": (CellSteps(Selection("cross", 0, 0)), {}),
    }
    (style,) = elements(style_of(["signed"], theme))
    return {
        "palette": palette(theme),
        "card": {"style": style, "ramp": ramp_style("signed", theme)},
        "heads": {
            name: unpack(picture.data(b"", theme, **state))[0]
            for name, (picture, state) in pictures.items()
        },
    }


# Characters: the rule of words, and what cannot be seen.

N_CODES = 0x110000


@cache
def characters() -> dict[str, Any]:
    """Return what the rule of words and labels know of every code point, by Python's Unicode."""
    classes = [*_runs(class_of)]
    hidden = [*_runs(lambda sign: unicodedata.category(sign) in HIDDEN)]
    first_is_hidden = hidden[0][0]
    return {
        "classes": {
            "lengths": [length for _, length in classes],
            "values": "".join(name for name, _ in classes),
        },
        # Runs that are seen and runs that are not, in turn, from one that is seen on.
        "hidden": [*[0] * first_is_hidden, *(length for _, length in hidden)],
        "rule": _without_layout(PATTERN.pattern),
        "joined": _spelled_out(JOINED.pattern),
        "signs": NAMED,
        "spaces": SPACES,
        "alone": ALONE,
        "letter": LETTER,
        "empty": label(Token(0, "")),
    }


def _runs(of: Callable[[str], Any]) -> Iterator[tuple[Any, int]]:
    """Values of code points that follow each other, with how many have them."""
    for value, run in groupby(map(of, map(chr, range(N_CODES)))):
        yield value, sum(1 for _ in run)


def _without_layout(pattern: str) -> str:
    """A pattern of re.VERBOSE as other languages read it: without comments and line breaks."""
    lines = re.sub(r"\s+#.*", "", pattern)
    return re.sub(r"(\[[^\]]*\])|\s+", lambda match: match[1] or "", lines)


def _spelled_out(pattern: str) -> str:
    """A pattern with its characters themselves in the place of their names and numbers."""
    named = re.sub(r"\\N\{([^}]+)\}", lambda match: unicodedata.lookup(match[1]), pattern)
    return re.sub(
        r"\\(?:u(\w{4})|U(\w{8}))", lambda match: chr(int(match[1] or match[2], 16)), named
    )
