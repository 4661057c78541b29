"""Evidence as files: a table with a row for each pair of words, and values for JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from torch import Tensor

from transformer.causes.evidence import Evidence
from transformer.files.csv_file import csv_bytes

HEADER = (
    *("target", "target_word", "verdict", "side", "number", "word"),
    *("weight", "hidden", "cut", "contrast", "replaced"),
)
"""`side` is source or prefix; words are counted from 0, costs are in the evidence's unit."""


def evidence_csv(evidence: Evidence) -> bytes:
    """Write each written word with each word that is read, and with each written before it."""
    return csv_bytes(HEADER, _rows(evidence))


def _rows(evidence: Evidence) -> Iterator[Sequence[Any]]:
    of_source = (evidence.weights, evidence.hidden, evidence.cut, evidence.contrast)
    for t, word in enumerate(evidence.target_words):
        kind = evidence.verdicts[t].kind if evidence.verdicts else ""
        for s, other in enumerate(evidence.source_words):
            numbers = [_number(each, t, s) for each in of_source]
            yield (t, word, kind, "source", s, other, *numbers, "")
        if evidence.prefix is not None:
            for j, other in enumerate(evidence.target_words[:t]):
                cost = _number(evidence.prefix, t, j)
                yield (t, word, kind, "prefix", j, other, "", "", "", "", cost)


def _number(matrix: Tensor | None, t: int, s: int) -> str:
    return "" if matrix is None else f"{float(matrix[t, s]):.9g}"


def evidence_values(evidence: Evidence) -> dict[str, Any]:
    """Name -> value of everything, as JSON has them: matrices are lists of rows."""
    values = {each.name: getattr(evidence, each.name) for each in fields(evidence)}
    verdicts = [
        {**vars(each), "word": word}
        for word, each in zip(evidence.target_words, evidence.verdicts, strict=False)
    ]
    return {name: _plain(value) for name, value in values.items()} | {"verdicts": verdicts}


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
