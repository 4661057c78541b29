"""Two checkpoints that differ in two heads: those two are named, whatever follows from them."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES
from tests.representatives import MARK
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.__main__ import main
from transformer.analysis.metrics.metric import jensen_shannon
from transformer.analysis.reading import merge
from transformer.commands.changes import lines_of
from transformer.formats.headscope import save_checkpoint
from transformer.two_models.changed_heads import (
    LEAST,
    ChangedHeads,
    changed_heads,
    changing_heads,
)
from transformer.two_models.head_changes import largest_row, read_by_both
from transformer.words import word_groups

LINES = SENTENCES[::6]


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(Path("checkpoints/en-de-small"), "cpu")


def variant(checkpoint: Checkpoint) -> tuple[Checkpoint, Any]:
    model: Any = copy.deepcopy(checkpoint.model)
    return replace(checkpoint, model=model, path=Path("variant")), model


def rows(head: int, size: int) -> slice:
    return slice(head * size, (head + 1) * size)


@pytest.fixture(scope="module")
def two_heads_changed(checkpoint: Checkpoint) -> Checkpoint:
    """Where the first looks, and what the second writes: all layers after them are reached."""
    result, model = variant(checkpoint)
    size = model.encoder.layers[0].self_attention.query.out_features // 4
    with torch.no_grad():
        model.encoder.layers[0].self_attention.query.weight[rows(1, size)] *= -1
        model.decoder.layers[1].cross_attention.value.weight[rows(2, size)] *= -2
    return result


@pytest.fixture(scope="module")
def result(checkpoint: Checkpoint, two_heads_changed: Checkpoint) -> ChangedHeads:
    """Of both over all lines; frozen."""
    return changed_heads(checkpoint, two_heads_changed, LINES)


def test_the_two_heads_are_named_and_no_others(result: ChangedHeads) -> None:
    places = {(head.kind, head.layer, head.head): head for head in result.heads}
    two = {("encoder_self", 0, 1), ("cross", 1, 2)}
    assert {(it.kind, it.layer, it.head) for it in result.changed} == two
    assert {(it.kind, it.layer, it.head) for it in result.heads[:2]} == two
    looks, writes = places["encoder_self", 0, 1], places["cross", 1, 2]
    assert looks.own is not None and looks.own.mean > 0.2
    assert writes.own is not None and writes.own.mean < LEAST  # it looks as before
    assert writes.cosine is not None and writes.cosine.mean < 0
    # What reaches the others changed, so all of what they do is no sign of a change of theirs.
    later = places["encoder_self", 2, 0]
    assert later.total is not None and later.total.mean > 0.02
    assert later.own is not None and later.own.mean < 1e-5
    assert looks.own.low is not None and looks.own.low < looks.own.mean < (looks.own.high or 0)


@pytest.mark.thorough
def test_sentences_whose_output_flipped_are_listed_with_both(
    checkpoint: Checkpoint, two_heads_changed: Checkpoint, result: ChangedHeads
) -> None:
    pairs = [
        [decode(each, line).text for each in (checkpoint, two_heads_changed)] for line in LINES
    ]
    flips = [(n, *pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1]]
    assert len(flips) > 0 and result.n_outputs == len(LINES)
    assert [(it.sentence, it.first, it.second) for it in result.flips] == flips


@MARK
def test_of_one_model_twice_no_output_flips(checkpoint: Checkpoint) -> None:
    assert not changed_heads(checkpoint, checkpoint, LINES).flips


@pytest.mark.thorough
def test_heads_that_changed_places_are_matched(checkpoint: Checkpoint) -> None:
    other, model = variant(checkpoint)
    attention, size = model.encoder.layers[1].self_attention, 32
    a, b = rows(0, size), rows(3, size)
    with torch.no_grad():
        for name in ("query", "key", "value"):
            for of in (getattr(attention, name).weight, getattr(attention, name).bias):
                of[a], of[b] = of[b].clone(), of[a].clone()
        matrix = attention.output.weight
        matrix[:, a], matrix[:, b] = matrix[:, b].clone(), matrix[:, a].clone()
    result = changed_heads(checkpoint, other, LINES)
    elsewhere = {
        (it.kind, it.layer, it.head): it.counterpart for it in result.heads if it.is_elsewhere
    }
    assert elsewhere == {("encoder_self", 1, 0): (1, 3), ("encoder_self", 1, 3): (1, 0)}
    assert all(it.to_counterpart < 1e-3 for it in result.heads)
    assert not result.flips  # the sum over heads is the same


def test_the_largest_row_is_that_of_the_two_maps(
    checkpoint: Checkpoint, two_heads_changed: Checkpoint
) -> None:
    target = decode(checkpoint, LINES[0]).target
    reading = read_by_both(checkpoint, two_heads_changed, LINES[0], target)
    a, b = (each.attentions["encoder_self"] for each in (reading.first, reading.second))
    row = largest_row(a, b, (0, 1))
    assert row is not None
    root = _root_by_rows(a.weights(0, 1), b.weights(0, 1))
    assert float(reading.kinds[0].total[0, 1]) == pytest.approx(root, abs=1e-6)
    words = word_groups(a.queries)
    assert len(words) < len(a.queries)  # the row is that of a word, as pictures have it
    x, y = (merge(merge(of.weights(0, 1), words, -1, "sum"), words, -2, "mean") for of in (a, b))
    by_row = [jensen_shannon(x[i : i + 1], y[i : i + 1]) for i in range(len(x))]
    assert row.query == max(range(len(x)), key=lambda i: by_row[i])
    assert row.divergence == pytest.approx(max(by_row))
    key, weight = row.first
    assert key == int(x[row.query].argmax()) and weight == pytest.approx(float(x[row.query, key]))


def _root_by_rows(x: torch.Tensor, y: torch.Tensor) -> float:
    by_row = [jensen_shannon(x[i : i + 1], y[i : i + 1]) for i in range(len(x))]
    return float(torch.tensor(by_row).mean().sqrt())


def test_the_largest_row_is_known_where_tokens_differ(checkpoint: Checkpoint) -> None:
    """Their words are the same; where these differ too, there is none."""
    large = load_checkpoint(Path("checkpoints/en-de"), "cpu")
    decoding = decode(checkpoint, LINES[0])
    reading = read_by_both(checkpoint, large, LINES[0], decoding.target, decoding.text)
    for kind, attention in reading.first.attentions.items():
        other = reading.second.attentions[kind]
        row = largest_row(attention, other, (0, 1))
        assert row is not None and 0 <= row.query < len(word_groups(attention.queries))
    shorter = record(large, LINES[1], decode(large, LINES[1]).target)
    assert largest_row(attention, shorter.attentions[kind], (0, 1)) is None


def test_other_tokens_are_compared_by_words(checkpoint: Checkpoint) -> None:
    """Of other sizes, too: each head has its nearest one, and its own change is not known."""
    large = load_checkpoint(Path("checkpoints/en-de"), "cpu")
    result = changed_heads(checkpoint, large, LINES[:2])
    assert result.n_sentences == 2 and len(result.heads) == 36
    assert all(head.own is None and head.is_changed is None for head in result.heads)
    assert all(head.total is not None and 0 < head.total.mean < 1 for head in result.heads)
    assert {head.counterpart[1] for head in result.heads} - {0, 1, 2, 3}  # of the eight


def test_encoders_have_the_cosine_of_their_vectors(tmp_path: Path) -> None:
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path / "a")
    with torch.no_grad():
        model.base_model.encoder.layer[1].attention.self.value.weight[:8] *= -1
    model.base_model.save_pretrained(tmp_path / "b")
    a, b = (load_checkpoint(tmp_path / name, "cpu") for name in "ab")
    lines = ["5 9 12 33 7", "6 9 14 8"]
    result = changed_heads(a, b, lines)
    cosines = []
    for line in lines:
        x, y = record(a, line).vector, record(b, line).vector
        assert x is not None and y is not None
        cosines.append(float(torch.cosine_similarity(x.values, y.values, dim=0)))
    assert result.vectors is not None and not result.n_outputs
    assert result.vectors.mean == pytest.approx(sum(cosines) / 2, abs=1e-5)
    by_cosine = min(result.heads, key=lambda it: it.cosine.mean if it.cosine else 1.0)
    assert (by_cosine.layer, by_cosine.head) == (1, 0)


def test_classes_flip() -> None:
    a = load_checkpoint(Path("checkpoints/sentiment"), "cpu")
    b, model = variant(a)
    with torch.no_grad():
        model.classify.weight *= -1
        model.classify.bias *= -1
    result = changed_heads(a, b, ["A gorgeous film.", "It is dull."])
    assert len(result.flips) == 2 and result.flips[0].first != result.flips[0].second
    assert not result.changed


def test_models_of_other_languages_are_refused(checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError):
        changed_heads(checkpoint, load_checkpoint(Path("checkpoints/shakespeare"), "cpu"), LINES)
    with pytest.raises(InputError, match="No sentence"):
        changed_heads(checkpoint, checkpoint, [])


def test_the_command_prints_and_writes(
    two_heads_changed: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, data, out = tmp_path / "other", tmp_path / "lines.txt", tmp_path / "heads.csv"
    of: Any = two_heads_changed
    save_checkpoint(other, of.about, of.config, dict(of.model.state_dict()), of.tokenizer)
    data.write_text("\n".join(LINES[:3]) + "\n")
    arguments = ["changes", "en-de-small", str(other), "--data", str(data), "--device", "cpu"]
    assert main([*arguments, "--out", str(out)]) == 0
    assert "2 of 36 heads changed" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 37
    assert main([*arguments, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["heads"]) == 36


def test_heads_that_b_has_not_come_last(checkpoint: Checkpoint) -> None:
    large = load_checkpoint(Path("checkpoints/en-de"), "cpu")
    result = changed_heads(large, checkpoint, LINES[:2])
    known = [head.total is not None for head in result.heads]
    assert known == sorted(known, reverse=True) and known.count(False) == 36
    rows = [line for line in lines_of(result) if " L0 H" in line]
    assert rows and not any(row.count("not known") > 2 for row in rows)


@pytest.mark.thorough
def test_sentences_of_a_file_keep_the_numbers_of_their_lines(
    checkpoint: Checkpoint,
    two_heads_changed: Checkpoint,
    result: ChangedHeads,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spread = [7 * n for n in range(1, len(LINES) + 1)]
    *_, comparison = changing_heads(checkpoint, two_heads_changed, LINES, numbers=spread)
    flips = comparison.result().flips
    assert flips and [it.sentence for it in flips] == [7 * it.sentence for it in result.flips]
    file = tmp_path / "lines.txt"
    file.write_text(f"\n\n{LINES[0]}\n\n{'word ' * 5000}\n")
    names = ("checkpoints/en-de-small", "checkpoints/en-de-small")
    main(["changes", *names, "--data", str(file), "--json"])
    reasons = json.loads(capsys.readouterr().out)["left_out"]
    assert [reason[:7] for reason in reasons] == ["line 1 ", "line 2 ", "line 4 ", "line 5 "]
