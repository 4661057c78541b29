"""The payloads that the browser packs, beside Python's: what differs, by the name of its field."""

import json
import re
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.node import node
from transformer import Recording, decode, load_checkpoint, record
from transformer.analysis.reading import Reading, Selection
from transformer.analysis.tables import words_of_sides
from transformer.causes import Evidence
from transformer.causes.evidence import evidence_beside, output_beside
from transformer.checkpoint import Checkpoint
from transformer.decoding import Decoding
from transformer.decoding.certainty import certainties_of_pieces
from transformer.decoding.search_tree import Node
from transformer.editing.editor import within
from transformer.edits import edits_of
from transformer.token import Token
from viz.causes.card import signs_of, words_left_out
from viz.causes.tables import worth_tables
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import unpack
from viz.components.kit.picture import known_map, metrics_of_map, sides
from viz.components.search_tree.search_tree import DecodeTree
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.components.word_card.word_card import all_cards
from viz.live.tables import tables
from viz.painters.bars_html import elements
from viz.painters.table_html import table_html
from viz.theme import LIGHT

ROOT = Path(__file__).parents[3]
LIVE = ROOT / "viz" / "live"
NAMES = {
    *("head_view.text", "head_map.tokens", "decode_player.decoding"),
    *("search_tree.search", "search_tree.source"),
}
"""Digests: they tell contents apart, and need not be the same in both."""
NEAR = 1e-5
"""The largest difference that is no fault: both count in 32 bits, in another order."""
NATS = 1e-4
"""The same of log-probabilities, and of costs: sums over a vocabulary, and over a text."""
SHADES = 1e-3
"""The share of shades that may be the next ones."""
NUMBER = re.compile(r"−?\d+(?:\.(\d+))?")


LONGEST = 30
"""Tokens that a text is gone on for."""
OF = "the token rows"
"""What cards say that they belong to."""


class Case(NamedTuple):
    """A text, how it is decoded, and how its pictures are read."""

    text: str
    method: str = "greedy"
    words: bool = True
    special: str = "shown"
    changes: tuple[str, ...] = ()
    place: tuple[str, int, int] | None = None
    """Kind, layer and head; None: those that the checkpoint opens at."""


@cache
def checkpoint_of(name: str) -> Checkpoint:
    return load_checkpoint(ROOT / "checkpoints" / name)


@cache
def tables_of(name: str) -> dict[str, Any]:
    return tables(checkpoint_of(name))


@dataclass
class Found:
    """What differs, a line each, and how much was compared."""

    lines: list[str] = field(default_factory=list)
    n_compared: int = 0
    n_ties: int = 0
    """Last digits, and cells of equal strength, that only the order of sums tells apart."""


def differences(name: str, cases: Sequence[Case], *, by_engine: bool, live: Path = LIVE) -> Found:
    """Pack the pictures of each case in both.

    by_engine: the browser's engine answers the texts; else it is given what Python computed, and
    nothing may differ but sums of floats.
    """
    answers = [answered(name, case) for case in cases]
    pictures = [_pictures(name, case) for case in cases]
    asked = [
        {
            "pictures": {what: of for what, (_, of) in each.items()},
            **({"asked": _asked(name, case)} if by_engine else {"given": _given(name, case)}),
        }
        for case, answer, each in zip(cases, answers, pictures, strict=True)
    ]
    found = Found()
    for case, answer, each, given in zip(
        cases, answers, pictures, packed(name, asked, live), strict=True
    ):
        own = Comparison(found, f"{case}", is_exact=not by_engine)
        if "error" in given:
            found.lines.append(f"{case}: {given['error']}")
        elif given["target"] != [token.id for token in answer[0].target]:
            found.lines.append(f"{case}: another target")
        else:
            for what, (picture, _) in each.items():
                own.payloads(what, picture, answer, b64decode(given["payloads"][what]))
    return found


@lru_cache(maxsize=64)
def answered(name: str, case: Case) -> tuple[Recording, Decoding | None]:
    """What Python writes, where it does, and its recording."""
    checkpoint = checkpoint_of(name)
    if not checkpoint.family.decodes:
        return record(checkpoint, case.text, None, case.changes), None
    limit = None if checkpoint.family.reads == "source" else LONGEST
    decoding = decode(checkpoint, case.text, case.method, edits=case.changes, max_len=limit)
    edits = within(checkpoint, case.text, decoding.target, edits_of(case.changes))
    return record(checkpoint, case.text, decoding.target, edits), decoding


@lru_cache(maxsize=64)
def evidence_of(name: str, case: Case) -> Evidence:
    return evidence_beside(checkpoint_of(name), case.text, answered(name, case)[0], case.changes)


@dataclass(frozen=True)
class Cards:
    """The cards of all written words, as the app has them over a picture of this kind."""

    name: str
    case: Case
    kind: str
    reading: Reading

    def payload(self, recording: Recording, decoding: Decoding | None) -> bytes:
        evidence = evidence_of(self.name, self.case)
        rows = sides(known_map(recording, self.kind, self.reading))["rows"].get("target", [])
        word_of = recording.target_words.at
        opens = {row: word_of(rows.index(row)).number for row in rows if row >= 0}
        sides_of, unseen = words_of_sides(recording), words_left_out(recording, self.reading)
        cards = [
            elements(table_html(worth_tables(evidence, word, *sides_of, unseen), LIGHT))
            for word in range(len(evidence.target_words))
        ]
        return all_cards(OF, LIGHT, rows, opens, cards, signs_of(recording, evidence))


def _pictures(name: str, case: Case) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each picture, as Python has it and as the browser is asked for it."""
    checkpoint, (recording, _) = checkpoint_of(name), answered(name, case)
    kind, layer, head = case.place or checkpoint.about.opens_at
    reading = Reading(words=case.words, special=case.special)  # type: ignore[arg-type]
    of = {"reading": {"words": case.words, "special": case.special}}
    place, words = {"kind": kind, "layer": layer, "head": head}, {"asWords": case.words}
    own = None if case.words else head
    # Cards are of words in any case, and each costs some runs for each word of its text.
    cards = {
        "word_card": (
            Cards(name, case, kind, reading),
            {"of": OF, "theme": LIGHT.name, "kind": kind, **of},
        ),
    }
    steps = {
        "decode_player": (
            DecodePlayer(layer, own, case.words),
            {"layer": layer, "head": own, **words},
        ),
        "search_tree": (DecodeTree(case.words), words),
    }
    return {
        "token_rows": (TokenRows(TITLES[checkpoint.family.reads], case.words), words),
        "head_grid": (HeadGrid(tuple(recording.attentions), reading), of),
        "head_view": (HeadView(kind, layer, reading), place | of),
        "head_map": (HeadMap(Selection(kind, layer, head), reading), place | of),
        **(steps if checkpoint.family.decodes else {}),
        "cell_steps": (
            CellSteps(Selection(kind, layer, head), None, words=case.words),
            place | words,
        ),
        **(cards if case.words and "cross" in recording.attentions else {}),
    }


def packed(name: str, cases: Sequence[Mapping[str, Any]], live: Path = LIVE) -> list[Any]:
    """Ask Node, with the tables of this checkpoint, for what pack.mjs gives of each case."""
    asked = {
        "live": str(live),
        "tables": tables_of(name),
        "checkpoint": str(ROOT / "checkpoints" / name),
        "cases": cases,
    }
    command = [node(), str(Path(__file__).with_name("pack.mjs"))]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(done.stdout)
    return results


def _asked(name: str, case: Case) -> dict[str, Any]:
    options = {} if checkpoint_of(name).family.reads == "source" else {"max_len": LONGEST}
    return {"text": case.text, "method": case.method, "changes": case.changes, "options": options}


# Python's numbers, as the engine would give them.


def _given(name: str, case: Case) -> dict[str, Any]:
    recording, decoding = answered(name, case)
    attentions, search = recording.attentions, decoding and decoding.search
    written, steps = decoding.steps if decoding else (), list[Any]()
    pieces = certainties_of_pieces(recording) if decoding else ()
    for step, piece in zip(written, pieces, strict=True):
        candidates = [{"id": it.token.id, "prob": it.prob} for it in step.candidates]
        steps.append(
            {
                **{"id": step.chosen.token.id, "prob": step.chosen.prob, "candidates": candidates},
                **{"rest": step.rest, "entropy": step.entropy},
                **{"logProb": piece.log_prob, "rank": piece.ranks[0]},
            }
        )
    return {
        "source": [_token(token) for token in recording.source],
        "target": [_token(token) for token in recording.target],
        "read": [*map(_token, attentions["decoder_self"].queries)] if decoding else [],
        "steps": steps,
        "weights": {
            kind: [_base64(of.weights(layer).numpy()) for layer in range(of.n_layers)]
            for kind, of in attentions.items()
        },
        "allowed": {
            kind: [_cells(of.allowed(layer).numpy()) for layer in range(of.n_layers)]
            for kind, of in attentions.items()
        },
        "call": _call(name, case),
        "evidence": _numbers(name, case) if case.words and "cross" in attentions else None,
        "tree": search
        and {"nodes": [_node(node) for node in search.nodes], "leaves": search.leaves},
        "tokens": {token.id: _token(token) for token in _named(name, case)},
    }


def _numbers(name: str, case: Case) -> dict[str, Any]:
    """The evidence."""
    it = evidence_of(name, case)
    assert it.cut is not None and it.prefix is not None and it.weights is not None
    assert it.without_source is not None
    return {
        "logProbs": it.log_probs.tolist(),
        "withoutSource": it.without_source.tolist(),
        "hidden": it.hidden.tolist(),
        "cut": it.cut.tolist(),
        "prefix": it.prefix.tolist(),
        "weights": it.weights.tolist(),
        "isBeside": [each is not None for each in it.beside],
        "runnerUps": [token.id for token in _foils(name, case)],
        "lost": [list(span.words) for span in it.lost],
    }


def _call(name: str, case: Case) -> dict[str, Any]:
    """The layer of its place, from inside."""
    kind, layer, _ = case.place or checkpoint_of(name).about.opens_at
    call = answered(name, case)[0].attentions[kind].calls[layer]
    parts = {"q": call.q, "k": call.k, "v": call.v, "output": call.output}
    vectors = {name: _base64(part.float().numpy()) for name, part in parts.items()}
    return {"scale": call.scale, **vectors}


def _foils(name: str, case: Case) -> tuple[Token, ...]:
    return output_beside(checkpoint_of(name), case.text, answered(name, case)[0]).foils


def _token(token: Token) -> dict[str, Any]:
    return {name: getattr(token, name) for name in ("id", "piece", "special", "unknown")}


def _named(name: str, case: Case) -> Iterator[Token]:
    """Every token that a step or the search looked at, and the runners-up."""
    recording, decoding = answered(name, case)
    if decoding is None:
        return
    if "cross" in recording.attentions:
        yield from _foils(name, case)
    for step in decoding.steps:
        yield from (candidate.token for candidate in (*step.candidates, step.chosen))
    yield from (node.token for node in decoding.search.nodes if node.token)


def _node(node: Node) -> dict[str, Any]:
    score, dropped = node.score, node.dropped
    return {
        "parent": node.parent,
        "token": None if node.token is None else node.token.id,
        "logProb": node.log_prob,
        "score": {
            **{"logProb": score.log_prob, "length": score.length, "divisor": score.divisor},
            "total": score.total,
        },
        "rank": node.rank,
        "dropped": None if dropped is None else asdict(dropped),
        "isForced": node.is_forced,
        "hypothesis": node.hypothesis,
    }


def _base64(array: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _cells(allowed: NDArray[np.bool_]) -> str | None:
    return None if allowed.all() else _base64(allowed.astype("|u1"))


# The comparison.

Packed = tuple[dict[str, Any], list[NDArray[Any]]]
"""A header and its arrays."""


@dataclass
class Comparison:
    """Of what both packed for one case."""

    found: Found
    case: str
    is_exact: bool

    def payloads(self, name: str, picture: Any, answer: Any, browser: bytes) -> None:
        python, browsers = unpack(picture.payload(*answer)), unpack(browser)
        if name == "cell_steps":  # all of it is sums of floats
            replace(self, is_exact=False).packed(name, python, browsers)
            return
        if not isinstance(picture, HeadGrid):
            self.packed(name, python, browsers)
            return
        maps = picture.maps(answer[0]).values()
        for map, *both in zip(maps, python[1], browsers[1], strict=True):
            own, other = (unpack(bytes(each)) for each in both)
            # Numbers of metrics are sums of floats: each text is held to the browser's own number.
            metrics = zip(metrics_of_map(map).values(), own[0]["metrics"], other[1][3], strict=True)
            for metric, header, values in metrics:
                header["texts"] = [metric.text(value) for value in values.ravel().tolist()]
            self.packed(f"{name} {map.kind}", own, other)

    def packed(self, where: str, python: Packed, browser: Packed) -> None:
        own, own_arrays = python
        other, arrays = browser if self.is_exact else self.with_ties(python, browser)
        self.value(where, own, other)
        self.value(f"{where}, arrays", len(own_arrays), len(arrays))
        for i, pair in enumerate(zip(own_arrays, arrays, strict=False)):
            self.array(f"{where}, array {i}", *pair)

    def with_ties(self, python: Packed, browser: Packed) -> Packed:
        """The browser's, with Python's places of cells that are as strong: the order of sums
        decides which is first.
        """
        (own, own_arrays), (other, arrays) = python, browser
        if "metrics" in own:  # of a grid: the places of strongest cells, and what stands there
            cells, peaks = np.array(arrays[1]), np.abs(arrays[2] - own_arrays[2])
            is_tie = (cells != own_arrays[1]).any(-1) & (peaks <= NEAR)
            cells[is_tie] = own_arrays[1][is_tie]
            self.found.n_ties += int(is_tie.sum())
            arrays = [arrays[0], cells, *arrays[2:]]
        if arrays and arrays[0].dtype == np.uint16:  # the strongest keys of each row, in order
            places = np.array(arrays[0])
            is_tie = (places != own_arrays[0]) & (np.abs(arrays[1] - own_arrays[1]) <= NEAR)
            places[is_tie] = own_arrays[0][is_tie]
            self.found.n_ties += int(is_tie.sum())
            arrays = [places, *arrays[1:]]
        a, b = own.get("strongest"), other.get("strongest")
        if a and b and a != b and abs(a["value"] - b["value"]) <= NEAR:
            other = other | {"strongest": a, "says": own["says"]}
            self.found.n_ties += 1
        return other, arrays

    def value(self, where: str, own: Any, other: Any) -> None:
        """Compare JSON values; a field that is in one of them only is named."""
        if isinstance(own, dict) and isinstance(other, dict):
            for key in [*own, *(key for key in other if key not in own)]:
                if key not in own or key not in other:
                    lacks = "Python" if key not in own else "the browser"
                    self.bad(f"{where}.{key}", f"{lacks} lacks it")
                elif f"{where}.{key}" not in NAMES:
                    self.value(f"{where}.{key}", own[key], other[key])
        elif isinstance(own, list) and isinstance(other, list) and len(own) == len(other):
            for a, b in zip(own, other, strict=True):
                self.value(where, a, b)
        elif not self.is_exact and _are_cells(own, other):
            self.found.n_ties += 1  # only one of them reaches the value from which it has a number
            self.value(where, own[:2], other[:2])
        else:
            self.found.n_compared += 1
            if own != other or isinstance(own, bool) != isinstance(other, bool):
                self.differing(where, own, other)

    def differing(self, where: str, own: Any, other: Any) -> None:
        is_number = where.endswith(".data-value")  # of a cost, in nats
        if not self.is_exact and is_number and abs(float(own) - float(other)) <= NATS:
            return
        if not self.is_exact and _is_tie(own, other, near_of(where)):
            self.found.n_ties += 1
        else:
            self.bad(where, f"{own!r:.90} in Python, {other!r:.90} in the browser")

    def array(self, where: str, own: NDArray[Any], other: NDArray[Any]) -> None:
        if own.shape != other.shape or own.dtype != other.dtype:
            self.bad(where, f"{own.dtype}{own.shape} and {other.dtype}{other.shape}")
            return
        self.found.n_compared += own.size
        if own.dtype == np.float32:
            near = NEAR if self.is_exact else near_of(where)
            if where.startswith("cell_steps"):  # a sum that grows is as exact as its largest value
                near *= max(1.0, float(np.nanmax(np.abs(own[np.isfinite(own)]), initial=0.0)))
            is_far = ~np.isclose(own, other, NEAR, near, equal_nan=True)
        elif own.dtype == np.uint8 and (own != other).sum() <= 1 + SHADES * own.size:
            # Weights that are computed again may differ in the last bit, and a shade by 1 of 254.
            is_far = np.abs(own.astype(int) - other.astype(int)) > 1
            self.found.n_ties += int((own != other).sum() - is_far.sum())
        else:
            is_far = own != other
        if is_far.any():
            place = tuple(np.argwhere(is_far)[0].tolist())
            self.bad(where, f"{own[place]} in Python, {other[place]} in the browser, at {place}")

    def bad(self, where: str, what: str) -> None:
        self.found.lines.append(f"{where}: {what} ({self.case})")


def _are_cells(own: Any, other: Any) -> bool:
    """Tell whether both are cells of a card, as elements."""
    return isinstance(own, list) and isinstance(other, list) and own[:1] == other[:1] == ["td"]


def near_of(where: str) -> float:
    """The largest difference that is no fault: more where numbers are made of log-probabilities."""
    return NATS if where.startswith(("search_tree", "decode_player.steps")) else NEAR


def _is_tie(own: Any, other: Any, near: float) -> bool:
    """Tell whether both are the same number as far as 32 bits go, or texts with such numbers."""
    if isinstance(own, str) and isinstance(other, str):
        if NUMBER.sub("#", own) != NUMBER.sub("#", other):
            return False
        pairs = zip(NUMBER.finditer(own), NUMBER.finditer(other), strict=True)
        shares = 100 * near if own.endswith("%") else near
        numbers = ((_number(a[0]), _number(b[0]), len(a[1] or "")) for a, b in pairs)
        return all(_is_near(*each, shares) for each in numbers)
    if {type(own), type(other)} not in ({float}, {float, int}):  # whole numbers are places
        return False
    exponents = [Decimal(str(each)).as_tuple().exponent for each in (own, other)]
    return _is_near(own, other, max(-int(each) for each in exponents), near)


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def _is_near(own: float, other: float, n_decimals: int, near: float) -> bool:
    """They differ by so much at most, of large ones as a share, or by 1 in their last digit."""
    return abs(own - other) <= max(near, near * abs(own), 1.01 * 10**-n_decimals)
