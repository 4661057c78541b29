"""A survey beside a checkpoint: what is written is read again, and only of the same weights."""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from transformer import load_checkpoint, survey
from transformer.analysis.ablation import sweep
from transformer.analysis.reading import row_tokens
from transformer.checkpoint import CONFIG, CheckpointError, checkpoints_folder
from transformer.corpus.labels import labels
from transformer.corpus.measured import joined, split
from transformer.corpus.shipped import FILE, FOLDER, shipped_survey, write_shipped
from transformer.corpus.shipping import Gathered, Sentences, sentences_for, shipping, with_relations
from transformer.corpus.targets import judged_target
from transformer.corpus.trees import Tree
from transformer.fingerprint import fingerprint
from transformer.inputs import InputError
from transformer.recording.ours import record
from transformer.refusal import Refusal

MOST_BYTES = 200_000
"""The size of a survey beside a checkpoint, which docs/survey.md says."""
SHIPPED = sorted(file.parents[1] for file in checkpoints_folder().glob(f"*/{FOLDER}/{FILE}"))
LINES = {n: " ".join(str(2 + (n * at) % 10) for at in range(1, 3 + n % 5)) for n in range(1, 41)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of its own, with its survey."""
    folder = tmp_path_factory.mktemp("checkpoints") / "copy"
    shutil.copytree(checkpoints_folder() / "copy", folder, ignore=shutil.ignore_patterns(FOLDER))
    *_, gathered = shipping(load_checkpoint(folder, "cpu"), Sentences(LINES, "Of this test."))
    write_shipped(folder / FOLDER, gathered.shipped, fingerprint(folder))
    return folder


def test_what_is_written_is_read_again(folder: Path) -> None:
    shipped = shipped_survey(folder)
    assert shipped is not None and shipped.about == "Of this test."
    checkpoint = load_checkpoint(folder, "cpu")
    whole = survey(checkpoint, [*LINES.values()])
    assert shipped.survey.n_sentences == len(LINES)
    for head, again in zip(whole.heads, shipped.survey.heads, strict=True):
        assert {*head.numbers} == {*again.numbers}
        for name, estimate in head.numbers.items():
            assert again.numbers[name].mean == pytest.approx(estimate.mean, abs=1e-4)
        assert [row.key_piece for row in head.strongest] == [
            row.key_piece for row in again.strongest
        ]
        for row in again.strongest:
            queries, keys, names = shipped.pieces_of(again.kind, row.sentence)
            assert (queries[row.query], keys[row.key]) == (row.query_piece, row.key_piece)
            assert names[row.query] == row.row_piece
            assert shipped.sentences[row.sentence] == LINES[row.sentence]


def test_worth_is_the_mean_loss_of_a_token(folder: Path) -> None:
    shipped, checkpoint = shipped_survey(folder), load_checkpoint(folder, "cpu")
    assert shipped is not None and shipped.unit == "nats"
    changes = []
    for text in LINES.values():
        of = sweep(checkpoint, text, judged_target(checkpoint, text))
        at = [str(edit) for edit in of.edits].index("head-off:cross.1.2")
        changes.append(float(of.totals[at]) / len(of.target))
    worth = shipped.worth["cross", 1, 2]
    assert sum(changes) < 0  # a head that the copy needs
    assert worth.mean == pytest.approx(-sum(changes) / len(changes), abs=1e-4)
    assert worth.n_sentences == len(LINES)
    assert worth.low is not None and worth.high is not None
    assert worth.low < worth.mean < worth.high


def test_one_that_goes_on_is_as_an_unbroken_one(folder: Path) -> None:
    checkpoint, sentences = load_checkpoint(folder, "cpu"), Sentences(LINES, "Of this test.")
    stopped: Gathered = next(shipping(checkpoint, sentences))
    assert 0 < stopped.n_done < stopped.n_lines
    *_, whole = shipping(checkpoint, sentences, stopped)
    write_shipped(folder / "again", whole.shipped, fingerprint(folder))
    assert (folder / "again" / FILE).read_bytes() == (folder / FOLDER / FILE).read_bytes()


def test_relations_of_trees_are_added(folder: Path) -> None:
    """Trees of numbers, each the head of the one before it: the trees themselves are not kept."""
    checkpoint, shipped = load_checkpoint(folder, "cpu"), shipped_survey(folder)
    assert shipped is not None
    words = [line.split() for line in LINES.values()]
    trees = [
        Tree(" ".join(of), tuple(of), (*range(1, len(of)), None), ("dep",) * len(of))
        for of in words
    ]
    more = with_relations(shipped, checkpoint, trees, "this test.")
    write_shipped(folder / "trees", more, fingerprint(folder))
    again = shipped_survey(folder, folder / "trees")
    assert again is not None and "40 trees of this test." in again.about
    whole = {(it.kind, it.layer, it.head): it.syntax for it in more.survey.heads}
    assert {kind for (kind, _, _), syntax in whole.items() if syntax} == {"encoder_self"}
    kept = [name for head in again.survey.heads for name in head.syntax]
    asked = {name for syntax in whole.values() for name in syntax}
    assert {*kept} == asked  # a relation that no head finds is a test, too
    for head in again.survey.heads:
        of_head = whole[head.kind, head.layer, head.head]
        better = {name for name, of in of_head.items() if of.accuracy > of.by_offset}
        assert better <= {*head.syntax} <= {*of_head}
        for name in head.syntax:
            of = of_head[name]
            assert head.syntax[name].accuracy == pytest.approx(of.accuracy, abs=1e-4)


def test_the_unit_is_that_of_the_first_line_that_is_read() -> None:
    checkpoint = load_checkpoint(checkpoints_folder() / "sentiment", "cpu")
    lines = {1: "good " * 600, 2: "a good film", 3: "a bad film"}
    *_, gathered = shipping(checkpoint, Sentences(lines, "Of this test."))
    assert gathered.unit == gathered.shipped.unit == "nats" and gathered.n_done == 3
    assert [reason.partition(" is")[0] for reason in gathered.left_out] == ["line 1"]
    with pytest.raises(InputError, match="no sentence"):
        next(shipping(checkpoint, Sentences({1: lines[1]}, "Of this test.")))


def test_one_of_other_weights_is_refused(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "copy")
    config = json.loads((other / CONFIG).read_text())
    (other / CONFIG).write_text(json.dumps(config, indent=1))
    with pytest.raises(CheckpointError, match="other weights"):
        shipped_survey(other)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"layout": 1}', '{"layout": 9}'])
def test_a_damaged_one_is_refused(folder: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(Refusal):
        shipped_survey(folder, tmp_path)
    assert shipped_survey(folder, tmp_path / "nowhere") is None


def of_first(*path: str | int) -> Callable[[Any, object], None]:
    """Put another value at this path of the first head."""

    def put(survey: Any, value: object) -> None:
        *where, last = "heads", 0, *path
        for key in where:
            survey = survey[key]
        survey[last] = value

    return put


def of_all(name: str) -> Callable[[Any, object], None]:
    """Put another value in place of one of the survey."""
    return lambda survey, value: survey.update({name: value})


@pytest.mark.parametrize(
    ("put", "values"),
    [
        (of_first("numbers", "previous"), ([None, None, None, 3], ["a", "b", "c", 3])),
        (of_first("numbers", "previous"), ([math.nan, 0.1, 0.2, 3], [10**400, 0.1, 0.2, 3])),
        (of_first("numbers", "previous"), ([0.1, None, 0.2, 3], [0.1, 0.2, 0.1, 3], [0.1, 0, 1])),
        (of_first("footprint"), ([], [0.5, 0.5], [math.nan] * 17, ["x"] * 17, [-0.1] * 17)),
        (of_first("footprint"), ([0.1] * 9, 3, None)),
        (of_first("head"), (["encoder_self", 99, 99], ["encoder_self", 0, 1], ["other", 0, 0])),
        (of_first("head"), (["encoder_self", 0, "0"], ["encoder_self", -1, 0], [None, 0, 0])),
        (of_first("worth"), (["x", "y", "z", 1], [None, None, None, 1], [1, 2], "abcd")),
        (of_first("strongest", 0, 0), ("x", None, True)),
        (of_first("strongest", 0, 2), (-1, 999, 0.5, "0")),
        (of_first("deciles", 0, 0), ("x", None)),
        (of_first("syntax"), ({"nsubj": ["a", "b", "c", 1, "d", "e", "f"]},)),
        (of_first("syntax"), ({"nsubj": [0.5, 0.4, 0.6, "to head", 9, 1.5, 0.1, 3]}, [])),
        (of_all("heads"), ([], {}, None)),
        (of_all("n_sentences"), (0, "3", None)),
        (of_all("unit"), (3, None)),
        (of_all("left_out"), ([3], None)),
        (of_all("sides"), ({}, {"encoder_self": [-1, -1]}, {"encoder_self": ["0", "0"]})),
    ],
)
def test_a_value_of_another_kind_is_refused(
    folder: Path, tmp_path: Path, put: Callable[[Any, object], None], values: Sequence[object]
) -> None:
    for value in values:
        survey = json.loads((folder / FOLDER / FILE).read_text())
        put(survey, value)
        (tmp_path / FILE).write_text(json.dumps(survey))
        with pytest.raises(CheckpointError, match="make it anew"):
            shipped_survey(folder, tmp_path)


@pytest.mark.parametrize("folder_of", SHIPPED, ids=lambda folder: folder.name)
def test_shipped_ones_are_of_these_weights(folder_of: Path) -> None:
    shipped = shipped_survey(folder_of)
    earlier = load_checkpoint(folder_of, "cpu").about.earlier
    assert shipped is not None
    assert any(each in shipped.about for each in (fingerprint(folder_of), *earlier))
    assert (folder_of / FOLDER / FILE).stat().st_size < MOST_BYTES
    sentences = sentences_for(load_checkpoint(folder_of, "cpu")).lines
    assert {*shipped.sentences.items()} <= {*sentences.items()}
    assert {(head.kind, head.layer, head.head) for head in shipped.survey.heads} == {*shipped.worth}


def test_a_head_that_aligns_tells_by_which_word() -> None:
    """As alignments by people have it of these two: see docs/survey.md."""
    (folder,) = (each for each in SHIPPED if each.name == "en-de")
    shipped = shipped_survey(folder)
    assert shipped is not None
    of = labels(shipped.survey)
    sides = {"aligns_read", "aligns_written"}
    by = {place: sides & {label.role for label in some} for place, some in of.items()}
    assert by["cross", 0, 6] == {"aligns_read"} and by["cross", 2, 3] == {"aligns_written"}
    assert not any(some for (kind, *_), some in by.items() if kind != "cross")


@pytest.mark.parametrize("folder_of", SHIPPED, ids=lambda folder: folder.name)
def test_rows_name_the_pieces_of_the_model(folder_of: Path) -> None:
    shipped, checkpoint = shipped_survey(folder_of), load_checkpoint(folder_of, "cpu")
    assert shipped is not None
    line = Random(folder_of.name).choice([*shipped.sentences])
    text, written = shipped.sentences[line], shipped.targets.get(line)
    needs_target = checkpoint.family.target == "needed"
    target = written if needs_target else None
    of_kind = record(checkpoint, text, target).attentions
    n_rows = 0
    for head in shipped.survey.heads:
        attention = of_kind[head.kind]
        for row in (*head.strongest, *(row for of in head.deciles for row in of.rows)):
            if row.sentence != line:
                continue
            n_rows += 1
            pieces = attention.queries[row.query].piece, attention.keys[row.key].piece
            assert (row.query_piece, row.key_piece) == pieces
            assert row.row_piece == row_tokens(attention)[row.query].piece
            weight = float(attention.weights(head.layer)[head.head, row.query, row.key])
            assert row.weight == pytest.approx(weight, abs=1e-3)
    assert n_rows


def test_a_piece_may_be_a_space() -> None:
    pieces = ["a", " ", "b c", "\\", "\\s", "", "▁d"]
    assert split(joined(pieces)) == pieces
