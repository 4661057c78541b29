"""Lines of a survey as a table of pyarrow's, and back: a line per sentence and head.

Every row of attention leaves its largest weight and that weight's key, so that quantiles over all
rows, and the rows at them, can be told from parts alone: no model is run again.
"""

import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from transformer.corpus.measured import N_OFFSETS, SentenceHeads, columns
from transformer.corpus.shards import parquet
from transformer.extras import require
from transformer.files.natural_order import natural
from transformer.inputs import InputError
from transformer.refusal import quoted

VERSION = 3
"""The number of this layout; parts of another one are not read."""
LAYOUT, ONE_BY_ONE, LEFT_OUT = "headscope_survey", "one_by_one", "left_out"
"""Names of what a part says of itself."""


def table_of(
    lines: Sequence[SentenceHeads], one_by_one: str = "", left_out: Sequence[str] = ()
) -> Any:
    """Make a pyarrow.Table of them. one_by_one, left_out: see `Survey`. Raises NotInstalled."""
    require("survey")
    arrow: Any = importlib.import_module("pyarrow")
    n_heads = np.array([len(each.numbers) for each in lines], dtype=np.int64)
    nothing = np.empty((0, len(columns())), np.float32), np.empty((0, N_OFFSETS), np.float32)
    numbers = np.concatenate([nothing[0], *(each.numbers for each in lines)])
    footprint = np.concatenate([nothing[1], *(each.footprint for each in lines)])
    places = [np.arange(len(each.numbers)) for each in lines]
    layers = [at // each.n_heads for at, each in zip(places, lines, strict=True)]
    heads = [at % each.n_heads for at, each in zip(places, lines, strict=True)]

    def words(values: Sequence[str]) -> Any:
        """The same text in all lines of a sentence and kind: written once."""
        different = list(dict.fromkeys(values))
        at = {value: i for i, value in enumerate(different)}
        codes = np.repeat(np.array([at[value] for value in values], dtype=np.int32), n_heads)
        return arrow.DictionaryArray.from_arrays(
            arrow.array(codes), arrow.array(different, arrow.string())
        )

    def joined(arrays: Sequence[Any], kind: Any) -> Any:
        return np.concatenate([np.empty(0, kind), *arrays]).astype(kind)

    def rows(name: str, kind: Any) -> Any:
        values = [getattr(each, name) for each in lines]
        widths = np.repeat(np.array([each.shape[1] for each in values], dtype=np.int64), n_heads)
        offsets = np.append(0, widths.cumsum()).astype(np.int32)
        flat = joined([each.ravel() for each in values], kind)
        return arrow.ListArray.from_arrays(arrow.array(offsets), arrow.array(flat))

    of_part = {LAYOUT: str(VERSION), ONE_BY_ONE: one_by_one, LEFT_OUT: json.dumps(left_out)}
    return arrow.table(
        {
            "sentence": np.repeat(
                np.array([each.sentence for each in lines], dtype=np.int64), n_heads
            ),
            "kind": words([each.kind for each in lines]),
            "layer": joined(layers, np.int16),
            "head": joined(heads, np.int16),
            **{name: numbers[:, i] for i, name in enumerate(columns())},
            "footprint": arrow.FixedSizeListArray.from_arrays(
                arrow.array(footprint.ravel()), N_OFFSETS
            ),
            "peaks": rows("peaks", np.float32),
            "peak_keys": rows("peak_keys", np.int32),
            "queries": words([each.queries for each in lines]),
            "keys": words([each.keys for each in lines]),
            "names": words([each.names for each in lines]),
            "arcs": words([each.arcs for each in lines]),
            "arc_hits": rows("arc_hits", np.uint8),
        }
    ).replace_schema_metadata(of_part)


class Parts:
    """The lines of all parts in a folder, in the order of the file; may be gone through again."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted(folder.glob("part-*.parquet"), key=lambda file: natural(file.name))

    def __iter__(self) -> Iterator[SentenceHeads]:
        for file in self.files:
            yield from lines_of(file)

    @property
    def one_by_one(self) -> str:
        """The reason why sentences were not read in batches, as the first part has it."""
        return _of_part(self.files[0], ONE_BY_ONE) if self.files else ""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences that say which lines the parts leave out, and why."""
        texts = (_of_part(file, LEFT_OUT) for file in self.files)
        return tuple(sentence for text in texts for sentence in json.loads(text or "[]"))


def _of_part(file: Path, name: str) -> str:
    """Return what a part says of itself under this name; empty where it says nothing."""
    with _refused(file):
        metadata = parquet().read_schema(file).metadata or {}
        return str(metadata.get(name.encode(), b"").decode())


@contextmanager
def _refused(file: Path) -> Iterator[None]:
    """Say in a sentence that a file is no part. Raises InputError."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file} is not a part of a survey that this version reads: remove it, and the same "
            "command makes it anew."
        ) from error


def lines_of(file: Path) -> Iterator[SentenceHeads]:
    """Read a part. Raises InputError for what is none, NotInstalled."""
    reader = parquet()
    with _refused(file):
        table = reader.read_table(file)
        version = (table.schema.metadata or {}).get(LAYOUT.encode(), b"").decode()
        if version != str(VERSION):
            raise ValueError(f"version {quoted(version)}")
        yield from _lines(table)


def _lines(table: Any) -> Iterator[SentenceHeads]:
    if not len(table):
        return
    names = ("kind", "queries", "keys", "names", "arcs")
    texts = {name: table[name].cast("string").to_pylist() for name in names}
    sentences, layers = table["sentence"].to_numpy(), table["layer"].to_numpy()
    numbers = np.stack([table[name].to_numpy() for name in columns()], axis=1)
    footprint = table["footprint"].combine_chunks().flatten().to_numpy().reshape(-1, N_OFFSETS)
    lists = {name: table[name].combine_chunks() for name in ("peaks", "peak_keys", "arc_hits")}
    flat = {name: each.values.to_numpy(zero_copy_only=False) for name, each in lists.items()}
    offsets = {name: each.offsets.to_numpy() for name, each in lists.items()}
    kinds = np.array(texts["kind"])
    starts = np.flatnonzero((np.diff(sentences) != 0) | (kinds[1:] != kinds[:-1])) + 1
    for first, last in zip([0, *starts], [*starts, len(table)], strict=True):
        rows = {
            name: flat[name][at[first] : at[last]].reshape(last - first, -1)
            if at[first] < at[last]
            else np.zeros((last - first, 0), flat[name].dtype)
            for name, at in offsets.items()
        }
        yield SentenceHeads(
            sentence=int(sentences[first]),
            kind=str(kinds[first]),
            n_layers=int(layers[last - 1]) + 1,
            queries=texts["queries"][first],
            keys=texts["keys"][first],
            names=texts["names"][first],
            numbers=numbers[first:last],
            footprint=footprint[first:last],
            arcs=texts["arcs"][first],
            **rows,
        )
