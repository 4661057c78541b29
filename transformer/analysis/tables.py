"""Tables of what is read in recordings: which tokens a row is about, all heads, and sweeps on
disk.
"""

import csv
import importlib
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from transformer.analysis.alignment import word_links
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.analysis.patching import Patching
from transformer.analysis.scored import Output
from transformer.extras import require
from transformer.files.foreign_text import csv_bytes, of_text, write_whole
from transformer.inputs import InputError
from transformer.recording import Attention, Recording
from transformer.refusal import quoted
from transformer.token import Token
from transformer.words import TextWords, words_in

# Columns of a file that name the tokens that a row is about: position, piece and word.

Columns = dict[str, str]


class Side:
    """The tokens of a text, by position, as columns that begin with a name: "query_piece"."""

    def __init__(self, name: str, tokens: Sequence[Token]) -> None:
        self.name = name
        self.tokens = tokens

    @cached_property
    def _words(self) -> TextWords:
        return words_in(self.tokens)

    def at(self, positions: Iterable[int]) -> Columns:
        """Columns of the position, piece and word of one token, or of several, a space between."""
        positions = list(positions)
        return {self._title("position"): _joined(positions)} | self.text_at(positions)

    def text_at(self, positions: Iterable[int]) -> Columns:
        """The same without the position; empty where no token is."""
        there = [i for i in positions if i < len(self.tokens)]
        return {
            self._title("piece"): _joined(self.tokens[i].piece for i in there),
            self._title("word"): _joined(dict.fromkeys(self._word(i) for i in there)),
        }

    @property
    def all(self) -> list[Columns]:
        """The columns of each token."""
        return [self.at([i]) for i in range(len(self.tokens))]

    @property
    def words(self) -> list[Columns]:
        """The columns of each word."""
        return [self.at(word.positions) for word in self._words]

    def _word(self, i: int) -> str:
        """The word that a token is a part of, without the space before it."""
        word = self._words.at(i)
        return word.text or word.piece

    def _title(self, column: str) -> str:
        return f"{self.name}_{column}" if self.name else column


def words_of_sides(recording: Recording) -> tuple[list[Columns], list[Columns]]:
    """The columns of each word of the source, and of the target."""
    return Side("source", recording.source).words, Side("target", recording.target).words


class Sides:
    """Queries, with what was written then, and keys of one kind of attention."""

    def __init__(self, attention: Attention) -> None:
        self._query = Side("query", attention.queries)
        self._written = Side("written", attention.produced or ())
        self._key = Side("key", attention.keys)

    def query(self, *positions: int) -> Columns:
        """The token that was read, and piece and word that were written then; empty: none were."""
        return self._query.at(positions) | self._written.text_at(positions)

    def key(self, *positions: int) -> Columns:
        """The token that is looked at."""
        return self._key.at(positions)

    @property
    def queries(self) -> list[Columns]:
        """The columns of each query."""
        return [self.query(i) for i in range(len(self._query.tokens))]

    @property
    def keys(self) -> list[Columns]:
        """The columns of each key."""
        return self._key.all


def _together(columns: Sequence[Columns]) -> Columns:
    """The columns of several tokens as one row: a space between positions, each word once."""
    names = dict.fromkeys(name for each in columns for name in each)
    values = {name: [each[name] for each in columns if name in each] for name in names}
    return {
        name: _joined(dict.fromkeys(of) if name.endswith("word") else of)
        for name, of in values.items()
    }


def _joined(parts: Iterable[object]) -> str:
    return " ".join(map(str, parts))


# The places in a text of tokens that a model wrote, or that a sweep judges: columns of files.


def writing_at(recording: Recording, written: Sequence[Token]) -> list[Columns]:
    """Each token that was written last, with the one that was read then."""
    decoder = _decoder(recording)
    start = 0 if decoder is None else len(decoder.queries) - len(written)
    return _written(decoder, written, start)


def writing_of_words(recording: Recording) -> list[Columns]:
    """Each word of the target, with the tokens that were read while it was written."""
    judged = writing_at(recording, recording.target)
    return [_together([judged[i] for i in word.positions]) for word in recording.target_words]


def judged_groups(output: Output, recording: Recording) -> list[Columns]:
    """The columns of each word, class or number of an output. recording: of the same text."""
    judged = judged_at(output, recording)
    return [_together([judged[i] for i in group]) for group in output.groups]


def judged_at(output: Output, recording: Recording) -> list[Columns]:
    """The columns of each token, class or number of an output. recording: of the same text."""
    if output.classes:
        return [{"class": name} for name in output.classes]
    if output.numbers:
        return [{"number": name} for name in output.numbers]
    if output.vector is not None:
        return [{}]
    if output.places:
        read, words = Side("query", recording.source), Side("written", output.words)
        return [read.at([place]) | words.text_at([i]) for i, place in enumerate(output.places)]
    if output.target is None:  # each word of a text that is only read follows its first token
        return _written(_decoder(recording), output.words, 0)
    return writing_at(recording, output.words)


def patched_at(patches: Patching, kind: str) -> list[Columns]:
    """The columns of each token whose states are patched, of B, and A's beside them."""
    words, pair = patches.places[kind], patches.pair
    others = Side("other", pair.other_tokens if words is pair.tokens else words)
    return [each | others.text_at([i]) for i, each in enumerate(Side("", words).all)]


def _decoder(recording: Recording) -> Attention | None:
    return next((each for each in recording.attentions.values() if each.is_decoder), None)


def _written(decoder: Attention | None, written: Sequence[Token], start: int) -> list[Columns]:
    """start: the query that wrote the first one."""
    text = Side("written", written)
    if decoder is None:
        return [text.at([i]) for i in range(len(written))]
    sides = Sides(decoder)
    return [sides.query(start + i) | text.text_at([i]) for i in range(len(written))]


# Files about all heads, or one: every metric as CSV, and the words that a head links.


def metrics_csv(recording: Recording) -> bytes:
    """Return every metric of every head, a line each; empty: no query of that head has one."""
    return csv_bytes(
        ("kind", "layer", "head", "metric", "unit", "value"),
        (
            (kind, attention.number(layer), head, name, metrics[name].unit, _exact(value))
            for kind, attention in recording.attentions.items()
            for metrics in [metrics_of(attention)]
            for layer in range(attention.n_layers)
            for name, values in measure(attention, layer).items()
            for head, value in enumerate(values.tolist())
        ),
    )


def _exact(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.9g}"


def alignment_text(recording: Recording, layer: int, head: int) -> bytes:
    """Return the words that one head of cross-attention links, as `0-0 1-2`, source first.

    The rule stands in the first line; words are those of `transformer.words.RULE`.
    """
    links = word_links(recording, layer, head)
    name = f"cross-attention, layer {recording.attentions['cross'].number(layer)}, head {head}"
    rule = (
        "each target word with the source word that it gives most, with none where special "
        "tokens together get more"
    )
    pairs = " ".join(f"{source}-{target}" for source, target in sorted(links))
    return f"# source-target, words and signs counted from 0; {name}; {rule}\n{pairs}\n".encode()


# A table of sweeps on disk, as CSV or Parquet: written whole, read back to go on from there.

CSV, PARQUET = ".csv", ".parquet"


@dataclass(frozen=True)
class Line:
    """One edit, or two at once, on one sentence."""

    sentence: int
    """Its line in the file, from 1."""
    source: str
    written: str
    """The model's output without an edit; of a classifier its class, of numbers the
    name of the one that is judged."""
    n_words: int
    """Tokens that are judged; of a classifier 1, its class, of a vector 1."""
    log_prob: float
    """The log-probability of them all without an edit, in nats; of a number itself."""
    edits: str
    """The edits as they are spelled, two with a space between."""
    change: float
    """The change of that log-probability; of a vector minus the angle of its turn, in degrees; of a
    number that is put on the sentence its own."""
    n_other: int
    """Tokens at which another one is most probable than without an edit."""
    synergy: float | None = None
    """The change by two edits, less that of each by itself."""
    pair: str = ""
    """The second text, which was read with the sentence; empty: there was none."""


TYPES = {"sentence": int, "n_words": int, "n_other": int, "log_prob": float, "change": float}
NAMES = tuple(field.name for field in fields(Line))


def rounded(number: float) -> float:
    """Round as in a table, so that a run that goes on computes with what an unbroken one does."""
    return float(f"{number:.9g}")


def check_place(file: Path) -> None:
    """Raise InputError for a file that no table can be written to."""
    if file.suffix not in (CSV, PARQUET):
        raise InputError(f"{file} must end in {CSV} or {PARQUET}, which says how it is written.")
    if file.suffix == PARQUET:
        _arrow()


def write(file: Path, lines: Sequence[Line]) -> None:
    """Replace the file whole. Raises Unwritten, InputError."""
    write_whole(file, _parquet(lines) if file.suffix == PARQUET else _csv(lines))


def read(file: Path) -> list[Line]:
    """The lines that are there; none where there is no file. Raises InputError for another one."""
    if not file.exists():
        return []
    try:
        rows = _parquet_rows(file) if file.suffix == PARQUET else _csv_rows(file)
        return [_line(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise InputError(
            f"{file} is there and holds no sweep that could be continued: give --out another name."
        ) from error


def _line(row: dict[str, Any]) -> Line:
    row = {"pair": "", **row}  # tables of before there was such a column
    if set(row) != set(NAMES):
        raise ValueError(f"other columns: {quoted(str(list(row)))}")
    values = {name: TYPES.get(name, str)(row[name]) for name in NAMES if name != "synergy"}
    synergy = row["synergy"]
    return Line(**values, synergy=None if synergy in ("", None) else float(synergy))


def _csv(lines: Sequence[Line]) -> bytes:
    return csv_bytes(NAMES, (list(row.values()) for row in line_rows(lines)))


def line_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """A row each, as its cells are written: numbers with nine digits, and nothing as no text."""

    def cell(value: Any) -> Any:
        return f"{value:.9g}" if isinstance(value, float) else "" if value is None else value

    return [{name: cell(value) for name, value in vars(line).items()} for line in lines]


def _csv_rows(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream, strict=True)
        return [{name: of_text(cell) for name, cell in row.items()} for row in rows]


def _parquet(lines: Sequence[Line]) -> bytes:
    arrow, parquet = _arrow()
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    schema = arrow.schema(
        [
            (name, arrow.float64() if name == "synergy" else kinds[TYPES.get(name, str)])
            for name in NAMES
        ]
    )
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(map(asdict, lines)), schema=schema), stream)
    return stream.getvalue()


def _parquet_rows(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _arrow()[1].read_table(file).to_pylist()
    return rows


def _arrow() -> tuple[Any, Any]:
    """pyarrow and its part for Parquet. Raises NotInstalled."""
    require("parquet", "write a .csv instead")
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
