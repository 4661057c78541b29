"""A sweep of heads in the browser is Python's: its numbers, its table, and its file."""

import csv
import io
from base64 import b64decode
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.representatives import cases
from tests.viz.live.payloads import NATS, Comparison, Found, checkpoint_of, packed
from transformer import Recording, decode, record
from transformer.analysis.ablation import Ablation, ablating
from transformer.edits import Edit
from viz.components.kit.browser import unpack
from viz.exhibits.table import Table
from viz.export import rows_csv, sweep_rows
from viz.figures.sweeps import LINE_BREAK, Order, measure_of, rows_of_heads, sweep_table
from viz.painters.bars_html import elements
from viz.painters.table_html import table_html
from viz.theme import LIGHT

SHORT = "It rains."
LONG = "When the old man came home, his big dog was waiting at the door for him, and he saw that "
LONG += "nobody else had been in the house."
TEXTS = {
    "en-de-small": (SHORT, "He slept.", "C++, 3 €?"),
    "en-de-small, more words than have room": (LONG,),
    "sentiment": ("It is dull.",),
    "everyday": ("She told me that she",),
    "copy": ("3 4 5",),
    "shakespeare": ("ROMEO:\nO,",),
}
ORDERS = ("change", "layer", "word 1")
LIMITS = {"everyday": 8, "shakespeare": 8}


@cache
def swept(name: str, text: str) -> tuple[Recording, Ablation]:
    checkpoint = checkpoint_of(name)
    if not checkpoint.family.decodes:
        *_, ablation = ablating(checkpoint, text)
        return record(checkpoint, text), ablation
    options: dict[str, Any] = {"method": _method(text), **_limit(name)}
    target = decode(checkpoint, text, **options).target
    *_, ablation = ablating(checkpoint, text, target, **options)
    return record(checkpoint, text, target), ablation


@pytest.mark.parametrize(
    "case",
    cases(
        TEXTS,
        {
            "a text that is written": "en-de-small",
            "classes": "sentiment",
            "a prompt that is gone on with": "everyday",
        },
    ),
)
def test_every_head_off_in_turn_is_worth_the_same(case: str) -> None:
    name, texts, found = case.split(",")[0], TEXTS[case], Found()
    kinds = ["all", *checkpoint_of(name).family.attentions]
    pictures = [
        {f"sweep {sort} {kind}": {"sort": sort, "kind": kind, "theme": LIGHT.name}}
        for sort, kind in zip(ORDERS, (*kinds, "all", "all"), strict=False)
    ]
    given = packed(name, [_asked(name, text, pictures) for text in texts])
    for text, its in zip(texts, given, strict=True):
        assert "error" not in its, its["error"]
        recording, ablation = swept(name, text)
        comparison = Comparison(found, text, is_exact=False)
        for what, packed_table in its["payloads"].items():
            own = b64decode(packed_table)
            if what == "sweep_rows":
                _compare_files(found, own.decode(), recording, ablation)
                continue
            _, sort, kind = what.replace("word ", "word_").split(" ")
            table = _table(recording, ablation, sort.replace("_", " "), kind)
            header, _ = unpack(own)
            style, *body = elements(table_html(table, LIGHT))
            comparison.value("style", style, header["style"])
            comparison.value(what, body, header["elements"])
    assert found.lines == [] and found.n_compared > 100


def _method(text: str) -> str:
    return "beam" if text == SHORT else "greedy"


def _limit(name: str) -> dict[str, int]:
    return {"max_len": LIMITS[name]} if name in LIMITS else {}


def _asked(name: str, text: str, pictures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    all_of = {what: of for each in pictures for what, of in each.items()}
    asked = {"text": text, "method": _method(text), "options": _limit(name)}
    return {"asked": asked, "pictures": all_of | {"sweep_rows": {}}}


def _table(recording: Recording, ablation: Ablation, sort: str, kind: str) -> Table:
    """As the page of the app makes it; a link is a choice."""
    output = ablation.sweep.output
    words = list(output.classes)
    if not words:
        words = [word.text.strip() or LINE_BREAK for word in recording.target_words]
    orders = ["layer", "change", *(f"word {i}" for i in range(len(words)))]
    kinds = [kind] if kind in recording.attentions else list(recording.attentions)
    rows = rows_of_heads(ablation, recording, kinds, sort, _address)
    links = [f"?sweep_sort={each.replace(' ', '%20')}" for each in orders]
    return sweep_table(rows, words, measure_of(output), order=Order(orders.index(sort), links))


def _address(edit: Edit) -> str:
    kind, layer, head = edit.at_head
    return f"?page=explore&edits={edit}&tool=heads&kind={kind}&layer={layer}&head={head}"


def _compare_files(found: Found, browser: str, recording: Recording, ablation: Ablation) -> None:
    written = {edit: " ".join(words) for edit, words in ablation.written.items()}
    python = rows_csv(sweep_rows(ablation.sweep, recording, written)).decode()
    pairs = [[*csv.DictReader(io.StringIO(text, newline=""))] for text in (python, browser)]
    for own, other in zip(*pairs, strict=True):
        numbers = [
            {key: float(row.pop(key)) for key in ("log_prob", "change")} for row in (own, other)
        ]
        is_near = numbers[0] == pytest.approx(numbers[1], abs=NATS)
        if own != other or not is_near:
            found.lines.append(f"{own} {numbers[0]} in Python, {other} {numbers[1]} in the browser")
