"""What each written word needs is what runs without the words say, for every family."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint
from tests.representatives import cases, part
from tests.transformer.hugging_face.test_numbers import judge
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING, each
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, Evidence, InputError, decode, evidence, load_checkpoint, record
from transformer.causes.prefix import replaced, stand_in
from transformer.checkpoint import shipped_path
from transformer.editing.checking import side_read
from transformer.fingerprint import is_marked
from transformer.recording.vector import angle
from transformer.words import word_groups

WATCHED = ("Marian", "BART", "mBART", "T5", "GPT-2", "Llama")
close: Any = {"rtol": 0.0, "atol": 5e-6}


def target_of(checkpoint: Checkpoint) -> str | None:
    return TARGET if checkpoint.family.decodes else None


def log_probs(checkpoint: Checkpoint, *edits: str) -> Tensor:
    """[T], by a run of its own."""
    result = record(checkpoint, SOURCE, target_of(checkpoint), edits)
    if result.classification is not None:
        scores = result.logits.double().log_softmax(-1)
        plain = record(checkpoint, SOURCE).logits
        return scores[plain.argmax()][None]
    ids = torch.tensor([token.id for token in result.target])
    scores = result.logits.double().log_softmax(-1).gather(-1, ids[:, None])[:, 0]
    return torch.stack([scores[list(group)].sum() for group in word_groups(result.target)])


@each
def test_costs_are_those_of_runs_with_one_edit(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    result = evidence(checkpoint, SOURCE, target_of(checkpoint))
    plain, side = log_probs(checkpoint), side_read(checkpoint)
    n = len(result.source_words)
    torch.testing.assert_close(result.log_probs, plain, **close)
    hidden = [plain - log_probs(checkpoint, f"hide:{side}.{i}") for i in range(n)]
    torch.testing.assert_close(result.hidden, torch.stack(hidden, -1), **close)
    if result.cut is not None:
        cut = [plain - log_probs(checkpoint, f"cut-word:cross.{i}") for i in range(n)]
        torch.testing.assert_close(result.cut, torch.stack(cut, -1), **close)
    assert (result.cut is None) is ("cross" not in checkpoint.family.attentions)
    if checkpoint.family.decodes:
        every = log_probs(checkpoint, *(f"hide:{side}.{i}" for i in range(n)))
        torch.testing.assert_close(result.without_source, every, **close)
        assert len(result.verdicts) == len(result.target_words)
    else:
        assert result.verdicts == () and result.prefix is None


@each
def test_of_words_in_another_order_it_is_that_of_a_text_in_this_order(name: str) -> None:
    """The edit is of a whole run, so each word is hidden in one of its own: not in a batch."""
    checkpoint = random_checkpoint(CONFIGS[name])
    words, target = SOURCE.split(), target_of(checkpoint)
    read = [token.piece for token in record(checkpoint, SOURCE, target).source]
    places = [read.index(words[i]) for i in (0, 2)]
    words[0], words[2] = words[2], words[0]
    edit = f"words-swap:{side_read(checkpoint)}={places[0]},{places[1]}"
    changed, typed = (
        evidence(checkpoint, text, target, edits)
        for text, edits in ((SOURCE, [edit]), (" ".join(words), []))
    )
    assert changed.source_words == typed.source_words
    for field in ("log_probs", "hidden", "cut", "prefix", "weights", "without_source", "contrast"):
        expected = getattr(typed, field)
        assert (getattr(changed, field) is None) is (expected is None)
        if expected is not None:
            torch.testing.assert_close(getattr(changed, field), expected, **close)


@pytest.mark.parametrize(
    "name", part([it for it in CONFIGS if CONFIGS[it].positions != "none"], FEW)
)
@pytest.mark.parametrize("edit", ["positions-shift:{}=1", "positions-zero:{}"])
def test_edits_of_positions_stay_in_force(name: str, edit: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    side = side_read(checkpoint)
    plain = log_probs(checkpoint, edit.format(side))
    result = evidence(checkpoint, SOURCE, target_of(checkpoint), [edit.format(side)])
    hidden = log_probs(checkpoint, edit.format(side), f"hide:{side}.2")
    torch.testing.assert_close(result.log_probs, plain, **close)
    torch.testing.assert_close(result.hidden[:, 2], plain - hidden, **close)


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_edits_in_force_stay_in_force(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    edit = f"head-off:{list(checkpoint.family.attentions)[-1]}.0.0"
    result = evidence(checkpoint, SOURCE, TARGET, [edit])
    plain, side = log_probs(checkpoint, edit), side_read(checkpoint)
    torch.testing.assert_close(result.log_probs, plain, **close)
    cost = plain - log_probs(checkpoint, edit, f"hide:{side}.2")
    torch.testing.assert_close(result.hidden[:, 2], cost, **close)
    without = evidence(checkpoint, SOURCE, TARGET)
    assert result.prefix is not None and without.prefix is not None
    assert not torch.equal(result.prefix, without.prefix)


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_the_contrast_is_with_the_most_probable_other_word(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    result, side = evidence(checkpoint, SOURCE, TARGET), side_read(checkpoint)
    plain, hidden = (
        record(checkpoint, SOURCE, TARGET, edits).logits.double().log_softmax(-1)
        for edits in ([], [f"hide:{side}.1"])
    )
    assert result.contrast is not None
    for t, own in enumerate(map(int, TARGET.split())):
        others = plain[t].clone()
        others[own] = -torch.inf
        foil = int(others.argmax())
        assert result.runner_ups[t] == checkpoint.tokenizer.token(foil).piece
        lost = (plain[t, own] - plain[t, foil]) - (hidden[t, own] - hidden[t, foil])
        assert float(result.contrast[t, 1]) == pytest.approx(float(lost), abs=1e-5)


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_a_replaced_word_is_the_other_token_where_it_is_read(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    sources, targets = ([int(word) for word in text.split()] for text in (SOURCE, TARGET))
    unknown = 7
    rows = replaced(checkpoint, SOURCE, sources, targets, [[], [0], [0, 1]], (), unknown)
    ids = torch.tensor(targets)[:, None]
    for row, tokens in zip(rows, ([5, 6, 19], [7, 6, 19], [7, 7, 19]), strict=True):
        text = " ".join(map(str, tokens))
        logits = record(checkpoint, SOURCE, text).logits.double().log_softmax(-1)
        wanted = logits.gather(-1, ids)[:, 0].float()
        torch.testing.assert_close(row, wanted, **close)
    mean = replaced(checkpoint, SOURCE, sources, targets, [[], [1]])
    torch.testing.assert_close(mean[0, :2], mean[1, :2], **close)
    assert float((mean[0, 2] - mean[1, 2]).abs()) > 0


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checkpoint]:
    result = {}
    for family in (*WATCHED, "BERT"):
        folder = tmp_path_factory.mktemp("hub") / family
        model: Any = build(family)
        model.save_pretrained(folder)
        result[family] = load_checkpoint(folder, "cpu")
    return result


FEW_WATCHED = {"a source": "Marian", "a bias": "T5", "words behind a text": "Llama"}
"""What a run without a word differs in -> the family that shows it."""


@pytest.mark.parametrize("family", cases(WATCHED, FEW_WATCHED))
def test_models_of_the_library_run_word_by_word(opened: dict[str, Checkpoint], family: str) -> None:
    checkpoint = opened[family]
    result = evidence(checkpoint, "7 9 11", "10 12 14")
    side = side_read(checkpoint)
    assert result.hidden.shape[1] == len(result.source_words)
    plain, hidden = (
        record(checkpoint, "7 9 11", "10 12 14", edits) for edits in ([], [f"hide:{side}.1"])
    )
    ids = torch.tensor([token.id for token in plain.target])[:, None]
    before, after = (
        it.logits.double().log_softmax(-1).gather(-1, ids)[:, 0] for it in (plain, hidden)
    )
    torch.testing.assert_close(result.hidden[:, 1], before - after, **close)
    targets = [token.id for token in plain.target]
    sources = [token.id for token in plain.source]
    rows = replaced(checkpoint, "7 9 11", sources, targets, [[], [0]], (), 5)
    wanted = record(checkpoint, "7 9 11", "5 12 14").logits.double().log_softmax(-1)
    torch.testing.assert_close(rows[1], wanted.gather(-1, ids)[:, 0].float(), **close)
    edits = [f"head-off:{list(plain.attentions)[-1]}.0.0"]
    changed = evidence(checkpoint, "7 9 11", "10 12 14", edits)
    assert changed.prefix is not None and not torch.equal(changed.prefix, result.prefix)


def test_an_encoder_s_vector_turns(tmp_path: Path) -> None:
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    result = evidence(checkpoint, "7 9 11 13")
    assert result.unit == "degrees" and result.target_words == ("vector",)
    assert result.verdicts == ()
    plain = record(checkpoint, "7 9 11 13").vector
    for i in range(4):
        edited = record(checkpoint, "7 9 11 13", None, [f"hide:text.{i}"]).vector
        assert plain is not None and edited is not None
        turned = angle(plain.values, edited.values)
        assert turned > 0
        assert float(result.hidden[0, i]) == pytest.approx(turned, rel=1e-4)


def test_a_number_that_is_put_on_a_text_changes(tmp_path: Path) -> None:
    checkpoint = judge(tmp_path, num_labels=1)
    result = evidence(checkpoint, "The cat sleeps.")
    before, after = (
        record(checkpoint, "The cat sleeps.", None, edits).numbers
        for edits in ([], ["hide:text.2"])
    )
    (name,) = result.target_words
    assert result.unit == "units" and result.contrast is None
    assert float(result.hidden[0, 2]) == pytest.approx(before[name] - after[name], abs=1e-6)


def test_a_long_text_of_a_watched_model_is_refused(
    opened: dict[str, Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("transformer.causes.evidence"), "MOST_RUNS", 4)
    with pytest.raises(InputError, match="at most 4 are made"):
        evidence(opened["GPT-2"], "7 9 11", "10 12 14")
    with pytest.raises(InputError):
        evidence(opened["GPT-2"], "")


@pytest.fixture(scope="module")
def en_de() -> Checkpoint:
    path = shipped_path("en-de-1")
    wanted = "f814bd7a4a338947d434887780ad0b0c195cd04d3f611656d2295c42d2a9904b"
    assert is_marked(path, wanted), "other weights: numbers below are of those"
    return load_checkpoint(path, "cpu")


def cost(matrix: Tensor | None, result: Evidence, word: str, source: str) -> float:
    assert matrix is not None
    return float(matrix[result.target_words.index(word), result.source_words.index(source)])


def test_it_looks_at_the_and_needs_river(en_de: Checkpoint) -> None:
    result = evidence(en_de, "The bank on the river was full of flowers.")
    assert result.source_words[-1] == result.target_words[-1] == "</s>"
    assert cost(result.hidden, result, "dem", "river") == pytest.approx(2.34, abs=0.01)
    assert cost(result.hidden, result, "dem", "the") == pytest.approx(0.26, abs=0.01)
    assert cost(result.cut, result, "dem", "the") == pytest.approx(0.08, abs=0.01)
    assert cost(result.weights, result, "dem", "the") == pytest.approx(0.59, abs=0.01)
    assert cost(result.hidden, result, "Die", "bank") == pytest.approx(4.37, abs=0.01)
    assert cost(result.hidden, result, "Die", "The") == pytest.approx(0.49, abs=0.01)
    of = dict(zip(result.target_words, result.verdicts, strict=True))
    assert (
        of["dem"].kind == of["Die"].kind == "moved by the encoder" and of["Fluss"].kind == "agrees"
    )
    needed = of["dem"].needs
    assert needed is not None and result.source_words[needed] == "river"
    total = (result.log_probs[:, None] - result.hidden).sum(0)
    again = record(
        en_de,
        "The bank on the river was full of flowers.",
        decode(en_de, "The bank on the river was full of flowers.").target,
        ["hide:source.4"],
    )
    ids = torch.tensor([token.id for token in again.target])[:, None]
    whole = again.logits.double().log_softmax(-1).gather(-1, ids).sum()
    assert float(total[4]) == pytest.approx(float(whole), abs=1e-4)


def test_ihren_needs_both_her_and_umbrella(en_de: Checkpoint) -> None:
    result = evidence(en_de, "She forgot her umbrella.")
    assert cost(result.hidden, result, "ihren", "umbrella") == pytest.approx(4.56, abs=0.01)
    assert cost(result.hidden, result, "ihren", "her") == pytest.approx(4.17, abs=0.01)
    judged = result.verdicts[result.target_words.index("ihren")]
    needed = [result.source_words[i] for i in (judged.needs or 0, *judged.also)]
    assert judged.kind == "agrees" and needed == ["umbrella", "her"]


def test_not_is_needed_by_nicht(en_de: Checkpoint) -> None:
    result = evidence(en_de, "The animal didn't cross the street because it was too tired.")
    assert cost(result.hidden, result, "nicht", "didn't") == pytest.approx(7.97, abs=0.01)
    assert cost(result.cut, result, "nicht", "didn't") == pytest.approx(7.79, abs=0.01)
    comma = result.verdicts[result.target_words.index(",")]
    assert comma.kind == "held by the prefix" and "nicht" in comma.text
    for verdict in result.verdicts:
        assert verdict.text.endswith(".") and "right" not in verdict.text


def test_bytes_leave_nothing_unknown(en_de: Checkpoint) -> None:
    assert stand_in(en_de) is None


@pytest.mark.parametrize("starts", [True, False])
def test_a_decoder_that_only_reads_does_not_see_a_hidden_word_either(
    tmp_path: Path, *, starts: bool
) -> None:
    """It reads the text again, moved on by one: mBART begins with the last word."""
    checkpoint = judge(tmp_path, "BART", num_labels=1)
    config: Any = checkpoint.config
    if not starts:
        checkpoint = replace(checkpoint, config=replace(config, start_ids=()))
    result = evidence(checkpoint, "the cat sat .")
    n, tokens = len(result.source_words), record(checkpoint, "the cat sat .").source
    assert result.hidden.isfinite().all() and result.hidden.shape == (1, n)
    groups = word_groups(tokens)
    for word in range(n):
        hidden = record(checkpoint, "the cat sat .", edits=[f"hide:text.{word}"])
        places = {kind: set(groups[word]) for kind in ("encoder_self", "cross")}
        moved = {place + 1 for place in groups[word]}
        places["decoder_self"] = {place % len(tokens) if not starts else place for place in moved}
        for kind, attention in hidden.attentions.items():
            seen = torch.stack(
                [attention.weights(layer).sum((0, 1)) for layer in range(attention.n_layers)]
            ).sum(0)
            assert {i for i, it in enumerate(seen.tolist()) if it == 0} == {
                place for place in places[kind] if place < len(seen)
            }


@pytest.mark.parametrize(
    ("family", "edit"),
    [
        ("Marian", "words-swap:source=0,1"),
        ("GPT-2", "words-swap:text=0,1"),
        ("GPT-2", "positions-shift:text=1"),
    ],
)
def test_a_watched_model_has_such_an_edit_in_force(
    opened: dict[str, Checkpoint], family: str, edit: str
) -> None:
    checkpoint, target = opened[family], "10 12 14"
    result = evidence(checkpoint, "7 9 11", target, [edit])
    wanted = record(checkpoint, "7 9 11", target, [edit])
    ids = torch.tensor([token.id for token in wanted.target])[:, None]
    scores = wanted.logits.double().log_softmax(-1).gather(-1, ids)[:, 0]
    torch.testing.assert_close(result.log_probs, scores, **close)
    assert result.prefix is not None
    if "swap" in edit:
        swapped = evidence(checkpoint, "9 7 11", target)
        assert swapped.prefix is not None
        torch.testing.assert_close(result.hidden, swapped.hidden, **close)
        torch.testing.assert_close(result.prefix, swapped.prefix, **close)
    else:
        plain = evidence(checkpoint, "7 9 11", target)
        assert plain.prefix is not None and not torch.equal(plain.prefix, result.prefix)
