"""Whatever is typed: a decoding, or one sentence that says what to change."""

import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tests.conftest import SENTENCES
from transformer import (
    Checkpoint,
    CheckpointError,
    InputError,
    decode,
    evidence,
    record,
    survey,
)
from transformer.token import Token


@pytest.mark.parametrize("text", ["", " ", " \t\n\u00a0 "])
def test_nothing_typed(text_checkpoint: Checkpoint, text: str) -> None:
    with pytest.raises(InputError, match=r"^The text is empty: type a sentence\.$"):
        decode(text_checkpoint, text)


@pytest.mark.parametrize("text", ["\u200b", ","])
def test_nothing_to_read(
    text_checkpoint: Checkpoint, copy_checkpoint: Checkpoint, text: str
) -> None:
    checkpoint = copy_checkpoint if text == "," else text_checkpoint
    with pytest.raises(InputError, match="nothing that the model can read"):
        decode(checkpoint, text)


def test_ten_thousand_words(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match=r"has 59,999 characters; at most 20,000 are read"):
        decode(text_checkpoint, " ".join(["house"] * 10_000))


def test_too_long_names_both_numbers(text_checkpoint: Checkpoint) -> None:
    text = " ".join(SENTENCES[:12])
    n = len(text_checkpoint.tokenizer.encode(text))
    assert n > 64
    with pytest.raises(InputError, match=rf"^The text has {n} tokens; random takes at most 64\. "):
        decode(text_checkpoint, text)
    with pytest.raises(InputError, match=rf"^The target has {n} tokens; random takes at most 64"):
        record(text_checkpoint, SENTENCES[0], text)


def test_as_long_as_the_model_reads(copy_checkpoint: Checkpoint) -> None:
    assert len(decode(copy_checkpoint, "2 3 4 5").target) == 4
    with pytest.raises(InputError, match="has 5 tokens; copy takes at most 4"):
        decode(copy_checkpoint, "2 3 4 5 6")


@pytest.mark.parametrize(
    "text",
    ["🙂🙃", "שלום עולם", "<b>bold</b>", "`*_~` # no", "$x_1$", "<s> </s> <pad>", "a\0b", "\ud800"],
)
def test_odd_text_is_read(text_checkpoint: Checkpoint, text: str) -> None:
    decoding = decode(text_checkpoint, text, max_len=4)
    recording = record(text_checkpoint, text, decoding.target)
    assert recording.source == decoding.source
    assert len(recording.notes) == (text == "\ud800")  # it says what it could not read


def test_tokens_of_another_vocabulary(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match="does not know"):
        record(text_checkpoint, SENTENCES[0], [Token(9999, "x")])


def test_an_empty_target(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match="The target is empty"):
        record(text_checkpoint, SENTENCES[0], [])


@pytest.mark.parametrize("use", ["record", "decode", "forced", "evidence", "force"])
def test_tokens_of_another_vocabulary_of_the_same_size(
    text_checkpoint: Checkpoint, use: str
) -> None:
    """An id is there in both; what it means is not."""
    first, *others = decode(text_checkpoint, SENTENCES[0], max_len=4).target
    strange = [replace(first, piece="▁elsewhere"), *others]
    calls = {
        "record": lambda: record(text_checkpoint, SENTENCES[0], strange),
        "decode": lambda: decode(text_checkpoint, SENTENCES[0], prefix=strange),
        "forced": lambda: decode(text_checkpoint, SENTENCES[0], "forced", target=strange),
        "evidence": lambda: evidence(text_checkpoint, SENTENCES[0], strange),
        "force": lambda: decode(text_checkpoint, SENTENCES[0], "beam", force=[strange]),
    }
    with pytest.raises(InputError, match="of another vocabulary"):
        calls[use]()


NO_LISTS: list[Any] = [5, 0.5, b"abc", {5: 1, 7: 2}, object(), torch.tensor(5), np.array(5)]
"""Some of them can be counted up: bytes are numbers, and a dict has keys."""


@pytest.mark.parametrize(
    "target",
    [
        *NO_LISTS,
        ["Es", "regnet."],
        [1.0],
        [None],
        {5, 7},
        [True, False],
        torch.tensor([True, False]),
        np.array([True, False]),
    ],
)
def test_neither_text_nor_tokens(text_checkpoint: Checkpoint, target: Any) -> None:
    with pytest.raises(InputError, match="neither a text nor tokens"):
        record(text_checkpoint, SENTENCES[0], target)
    with pytest.raises(InputError, match="neither a text nor tokens"):
        decode(text_checkpoint, SENTENCES[0], prefix=target)


@pytest.mark.parametrize("given", NO_LISTS)
def test_what_is_no_list(text_checkpoint: Checkpoint, given: Any) -> None:
    for use in (
        partial(survey, text_checkpoint, given),
        partial(survey, text_checkpoint, SENTENCES[:1], given),
        partial(decode, text_checkpoint, SENTENCES[0], "beam", force=given),
        partial(decode, text_checkpoint, SENTENCES[0], forbid=given),
        partial(decode, text_checkpoint, SENTENCES[0], edits=given),
        partial(record, text_checkpoint, SENTENCES[0], "ja", edits=given),
    ):
        with pytest.raises(InputError, match="list of"):
            use()


def test_a_phrase_is_a_list(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match="a list of their ids"):
        decode(text_checkpoint, SENTENCES[0], "beam", force=[5])  # type: ignore[list-item]
    with pytest.raises(InputError, match="list of sentences"):
        survey(text_checkpoint, None)  # type: ignore[arg-type]


def test_ids_are_tokens(text_checkpoint: Checkpoint) -> None:
    target = decode(text_checkpoint, SENTENCES[0], max_len=4).target
    ids = [token.id for token in target]
    for each in (ids, tuple(ids), torch.tensor(ids), np.array(ids)):
        assert record(text_checkpoint, SENTENCES[0], each).target == target  # type: ignore[arg-type]
    with pytest.raises(InputError, match="does not know"):
        record(text_checkpoint, SENTENCES[0], [-1])


@pytest.mark.parametrize("text", [5, None, ["It rains."], Path("text")])
def test_a_text_is_a_string(text_checkpoint: Checkpoint, text: Any) -> None:
    for use in (decode, evidence):
        with pytest.raises(InputError, match="one string"):
            use(text_checkpoint, text)
    with pytest.raises(InputError, match="string"):
        survey(text_checkpoint, [text])


def test_one_string_is_no_list_of_sentences(text_checkpoint: Checkpoint) -> None:
    """Its characters were sentences otherwise, each with numbers of its own."""
    with pytest.raises(InputError, match="list of sentences"):
        survey(text_checkpoint, SENTENCES[0])
    with pytest.raises(InputError, match="list of targets"):
        survey(text_checkpoint, SENTENCES[:1], "Es regnet.")


def test_sentences_come_one_by_one(text_checkpoint: Checkpoint) -> None:
    one_by_one = survey(text_checkpoint, iter(SENTENCES[:2]), iter(["ja", "nein"]))
    assert one_by_one == survey(text_checkpoint, SENTENCES[:2], ["ja", "nein"])


@pytest.mark.parametrize("checkpoint", [None, 5])
def test_what_is_no_checkpoint(checkpoint: Any) -> None:
    for use in (decode, record, evidence):
        with pytest.raises(CheckpointError, match="load_checkpoint"):
            use(checkpoint, SENTENCES[0])
    with pytest.raises(CheckpointError, match="load_checkpoint"):
        survey(checkpoint, SENTENCES)


def test_nothing_is_none(text_checkpoint: Checkpoint) -> None:
    nothing: dict[str, Any] = {"prefix": None, "force": None, "forbid": None, "edits": None}
    plain = decode(text_checkpoint, SENTENCES[0], max_len=4)
    assert decode(text_checkpoint, SENTENCES[0], max_len=4, **nothing).target == plain.target


def test_a_model_in_training_mode(text_checkpoint: Checkpoint) -> None:
    """Dropout would take part, and another pass give other numbers."""
    model = copy.deepcopy(text_checkpoint.model)
    checkpoint = replace(text_checkpoint, model=model)
    assert not record(checkpoint, SENTENCES[0], "ja").notes
    next(each for each in model.modules() if isinstance(each, nn.Dropout)).train()
    (note,) = record(checkpoint, SENTENCES[0], "ja").notes
    assert "training mode" in note
    for use in (
        partial(decode, text=SENTENCES[0]),
        partial(evidence, text=SENTENCES[0], target="ja"),
        partial(survey, sentences=SENTENCES[:1], targets=["ja"]),
    ):
        with pytest.raises(InputError, match="in training mode"):
            use(checkpoint)


def test_a_training_mode_that_changes_nothing(text_checkpoint: Checkpoint) -> None:
    """As between two epochs of a model without dropout, whose passes repeat."""
    model = copy.deepcopy(text_checkpoint.model)
    checkpoint = replace(text_checkpoint, model=model)
    for each in model.modules():
        if isinstance(each, nn.Dropout):
            each.p = 0.0
    model.train()
    written = decode(checkpoint, SENTENCES[0], max_len=4)
    assert written.log_prob == decode(checkpoint, SENTENCES[0], max_len=4).log_prob
    assert survey(checkpoint, SENTENCES[:1], ["ja"]).n_sentences == 1


class ByFunction(nn.Module):
    """Drops out by a function, as many of Transformers' models do."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden_dropout = 0.1


@pytest.mark.parametrize(
    "part", [nn.MultiheadAttention(8, 2, dropout=0.1), nn.BatchNorm1d(8), ByFunction()]
)
def test_parts_whose_passes_do_not_repeat(text_checkpoint: Checkpoint, part: nn.Module) -> None:
    model = copy.deepcopy(text_checkpoint.model)
    model.add_module("part", part.train())
    with pytest.raises(InputError, match="in training mode"):
        decode(replace(text_checkpoint, model=model), SENTENCES[0], max_len=4)
