"""A reference on Decode has the numbers of `reference`, as a table."""

from typing import Any

import pytest

from tests.viz.ui.test_why_word import card
from transformer import decode, load_checkpoint
from transformer.causes.pruning import reference
from transformer.checkpoint import checkpoints_folder
from viz.exhibits.table import Table
from viz.labels import number
from viz.screen import Screen, spell

CHOICES = {"checkpoint": "en-de-small", "text": "Tom lives in Boston.", "decode_as": "reference"}


def test_the_table_has_the_numbers_of_the_reference() -> None:
    _, figures = card("decode", **CHOICES, reference="Tom lebt in Boston.")
    name, figure = next(iter(figures.items()))
    table = figure.content
    assert name == "reference" and isinstance(table, Table)
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    result = reference(checkpoint, CHOICES["text"], "Tom lebt in Boston.")
    for row, word in zip(table.rows, result.words, strict=True):
        writes, rank, _, log_prob = row.cells
        assert writes is not None and rank is not None and log_prob is not None
        assert row.head.text == word.word and rank.value == max(word.ranks)
        assert log_prob.value == pytest.approx(word.log_prob, abs=1e-4)
        assert writes.text == (word.instead if word.is_departure else "")
    assert "“lebt”" in figure.says and "“wohnt”" in figure.says


def test_the_space_before_a_continuation_is_a_part_of_it() -> None:
    choices = {"checkpoint": "shakespeare", "text": "ROMEO: what", "decode_as": "reference"}
    _, figures = card("decode", **choices, decoding="greedy", reference=" the")
    table = figures["reference"].content
    assert isinstance(table, Table) and table.rows[0].cells[1] is not None
    assert table.rows[0].cells[1].value == 1  # its rank: greedy decoding writes it


@pytest.mark.parametrize("typed", ["", "  ", "Tom " * 5000])
def test_without_a_reference_the_steps_stand_there(typed: str) -> None:
    _, figures = card("decode", **CHOICES, reference=typed)
    assert next(iter(figures)) in ("steps", "text") and "reference" not in figures


def test_what_is_decided_is_no_part_of_what_the_model_wrote() -> None:
    """Forced words, a beginning, or a branch: the reference is set against the model's own text."""
    plain = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    own = decode(plain, CHOICES["text"], method="beam")
    ids = [token.id for token in decode(plain, CHOICES["text"], prefix="Er").target]
    decisions: dict[str, Any] = {"prefix": tuple(ids[:1]), "force": (tuple(ids[:1]),)}
    decisions["branch"] = tuple(ids)
    tables = []
    for screen in (Screen(), *(Screen(**{name: ids}) for name, ids in decisions.items())):
        choices = CHOICES | spell(screen) | {"decoding": "beam"}
        _, figures = card("decode", **choices, reference="Tom lebt in Boston.")
        tables.append(figures["reference"].content)
    log_prob = number(own.hypotheses[0].log_prob)
    for table in tables:
        assert isinstance(table, Table) and table.rows == tables[0].rows
        assert table.result == tables[0].result
        assert table.result.endswith(f"what the model wrote by itself {log_prob}.")
