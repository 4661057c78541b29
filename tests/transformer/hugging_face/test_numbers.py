"""A model that puts a number on a text, as a judge of relevance does: edits change that number."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face.pairs import A, B, save_pair_reader
from transformer import InputError, load_checkpoint, pairing, record
from transformer.__main__ import main
from transformer.analysis.ablation import ablating, sweep
from transformer.analysis.corpus_sweep import sweep_sentences
from transformer.analysis.patching import patching
from transformer.analysis.tables import judged_at
from transformer.checkpoint import Checkpoint

HEAD_OFF = "head-off:encoder_self.0.2"
SAME = ["a", "a", "a (1)"]
OTHER = "the dog sat ."


def judge(folder: Path, family: str = "BERT", **values: object) -> Checkpoint:
    """Reads A with B behind it."""
    save_pair_reader(family, folder, **values)
    return pairing(load_checkpoint(folder), B)


JUDGES = ("BERT", "RoBERTa", "DeBERTa-v2", "XLNet", "BART")
FEW = {"of the first token": "BERT", "of the last": "XLNet", "of a decoder": "BART"}
"""Which state a number is made of -> the family that shows it."""


@pytest.mark.parametrize("family", cases(JUDGES, FEW))
def test_a_number_is_the_library_s_and_an_edit_changes_it(family: str, tmp_path: Path) -> None:
    model, tokenizer = save_pair_reader(family, tmp_path, num_labels=1)
    checkpoint = pairing(load_checkpoint(tmp_path), B)
    with torch.no_grad():
        expected = float(model(**tokenizer(A, B, return_tensors="pt")).logits)
    plain = record(checkpoint, A)
    assert plain.numbers == {"score": pytest.approx(expected, abs=1e-5)}
    assert plain.classification is None and plain.vector is None
    edited = record(checkpoint, A, edits=[HEAD_OFF]).numbers["score"]
    swept = sweep(checkpoint, A)
    assert swept.edits and not swept.refused and swept.output.unit == "units"
    row = list(map(str, swept.edits)).index(HEAD_OFF)
    assert float(swept.totals[row]) == pytest.approx(edited - expected, abs=1e-5)
    assert abs(edited - expected) > 1e-3
    assert float(swept.log_probs[0]) == pytest.approx(expected, abs=1e-5)
    assert judged_at(swept.output, plain) == [{"number": "score"}]


def test_no_word_is_written_in_its_place(tmp_path: Path) -> None:
    *_, ablation = ablating(judge(tmp_path, num_labels=1), A)
    assert ablation.plain == [] and set(ablation.written.values()) == {()}
    assert len(ablation.written) == ablation.sweep.n_asked


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"num_labels": 1, "id2label": {0: "relevance"}}, ["relevance"]),
        ({"num_labels": 1, "problem_type": "regression"}, ["score"]),
        ({"num_labels": 2, "problem_type": "regression"}, ["LABEL_0", "LABEL_1"]),
        (
            {"num_labels": 3, "problem_type": "regression", "id2label": {0: "a", 1: "a", 2: "b"}},
            ["a (0)", "a (1)", "b"],
        ),
        (
            {"num_labels": 3, "problem_type": "regression", "id2label": dict(enumerate(SAME))},
            ["a (0)", "a (1)'", "a (1)"],
        ),
        ({"num_labels": 1, "problem_type": "multi_label_classification"}, []),
        ({"num_labels": 2}, []),
    ],
)
def test_what_numbers_are_called_and_what_is_a_class(
    values: dict[str, object], names: list[str], tmp_path: Path
) -> None:
    recording = record(judge(tmp_path, **values), A)
    assert list(recording.numbers) == names
    assert (recording.classification is None) == bool(names)


def test_a_patch_moves_the_number_towards_the_other_sentence_s(tmp_path: Path) -> None:
    checkpoint = judge(tmp_path, num_labels=1)
    *_, result = patching(checkpoint, A, OTHER)
    of_a, of_b = (record(checkpoint, text).numbers["score"] for text in (OTHER, A))
    assert result.pair.is_number and result.pair.names == ("score", "score")
    assert (result.pair.clean, result.pair.plain) == pytest.approx((of_a, of_b), abs=1e-5)
    last = max(edit.layer for edit in result.edits)
    of_first = next(it for it in result.edits if it.name == "state-from" and it.layer == last)
    # The number is made of the first token's state alone.
    assert result.effects[of_first] == pytest.approx(1, abs=1e-4)
    edited = record(checkpoint, A, edits=[of_first]).numbers["score"]
    assert edited == pytest.approx(of_a, abs=1e-4)


def test_of_several_numbers_the_one_that_differs_most_is_measured(tmp_path: Path) -> None:
    checkpoint = judge(tmp_path, num_labels=3, problem_type="regression")
    *_, result = patching(checkpoint, A, OTHER)
    a, b = (record(checkpoint, text).numbers for text in (OTHER, A))
    assert result.pair.names[0] == max(a, key=lambda name: abs(a[name] - b[name]))


def opposite(folder: Path, names: Sequence[str] = ("a", "b", "c")) -> Checkpoint:
    """Three numbers, the second minus twice the first and the third always the same."""
    model, _ = save_pair_reader("BERT", folder, num_labels=3, problem_type="regression")
    model.config.id2label = dict(enumerate(names))
    weight = model.classifier.weight.data
    weight[1], weight[2] = -2 * weight[0], 0
    model.save_pretrained(folder)
    return pairing(load_checkpoint(folder), B)


def test_several_numbers_do_not_add_up_to_one(tmp_path: Path) -> None:
    checkpoint = opposite(tmp_path)
    swept = sweep(checkpoint, A)
    assert swept.judged_number == "b"
    assert torch.equal(swept.totals, swept.changes[:, 1])
    torch.testing.assert_close(swept.totals, -2 * swept.changes[:, 0])
    assert bool(swept.totals.any())


def test_all_sentences_are_judged_by_the_same_number(tmp_path: Path) -> None:
    checkpoint = judge(tmp_path, num_labels=2, problem_type="regression")
    texts = {1: A, 2: OTHER, 3: "the cat sat the dog ."}
    *_, lines = sweep_sentences(checkpoint, texts, n_pairs_of=2, pair=B)
    name = sweep(checkpoint, A).judged_number
    assert {line.written for line in lines} == {name}
    for number, text in texts.items():
        plain = record(checkpoint, text).numbers[name]
        own = [line for line in lines if line.sentence == number]
        assert all(line.log_prob == pytest.approx(plain, abs=1e-5) for line in own)
        for line in own:
            edited = record(checkpoint, text, edits=line.edits.split()).numbers[name]
            assert line.change == pytest.approx(edited - plain, abs=1e-5)
    *_, again = sweep_sentences(checkpoint, texts, lines[:-1], n_pairs_of=2, pair=B)
    assert again == lines


def test_a_patch_takes_the_place_of_the_number_of_a_name_that_two_have(tmp_path: Path) -> None:
    pair = next(patching(opposite(tmp_path, ("a", "b", "b")), A, OTHER)).pair
    assert pair.ids == (1, 1) and pair.clean != pair.plain


def test_sentences_with_the_same_number_are_refused(tmp_path: Path) -> None:
    model, _ = save_pair_reader("BERT", tmp_path, num_labels=1)
    model.classifier.weight.data.zero_()
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError):
        next(patching(pairing(load_checkpoint(tmp_path), B), A, OTHER))


def test_a_sweep_that_reads_no_sentence_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_pair_reader("BERT", tmp_path / "judge", num_labels=1)
    (tmp_path / "sentences.txt").write_text(f"{A}\n")
    data = ["--data", str(tmp_path / "sentences.txt"), "--pair", f"{B} " * 40]
    assert main(["sweep", str(tmp_path / "judge"), *data, "--device", "cpu"])
    assert "at most 48" in capsys.readouterr().err.splitlines()[-1]
