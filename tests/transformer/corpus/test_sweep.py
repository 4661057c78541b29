import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.hugging_face.saving import save, writer
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.analysis import corpus_sweep
from transformer.analysis.ablation import sweep
from transformer.analysis.corpus_sweep import Worth
from transformer.analysis.scored import output_of
from transformer.corpus.sweep import sweep_corpus
from transformer.corpus.targets import judged_target, judged_targets
from transformer.recording.data import NoSuchKind

TEXTS = ["It rains.", "", "a " * 3000, "It snows."]


def test_means_are_those_of_each_sentence_by_itself() -> None:
    checkpoint = load_checkpoint("en-de-small")
    steps: list[int] = []
    result = sweep_corpus(checkpoint, TEXTS, on_step=lambda: steps.append(1))
    assert [why.split(" is")[0] for why in result.left_out] == ["line 2", "line 3"]
    assert len(steps) == 3  # an empty one is never tried
    by_hand: dict[str, float] = {}
    for text in (TEXTS[0], TEXTS[-1]):
        alone = sweep(checkpoint, text, judged_target(checkpoint, text))
        for edit, change in zip(alone.edits, alone.totals.tolist(), strict=True):
            by_hand[str(edit)] = by_hand.get(str(edit), 0) + change / 2
    assert {it.edits: it.mean for it in result.worths} == pytest.approx(by_hand, abs=1e-5)
    sizes = [abs(it.mean) for it in result.worths]
    assert sizes == sorted(sizes, reverse=True)
    means = result.means("cross")
    assert means.shape == (3, 4)
    assert means[2, 3] == pytest.approx(by_hand["head-off:cross.2.3"], abs=1e-5)
    table = csv.DictReader(StringIO(result.to_csv().decode(), newline=""))
    for row, of in zip(table, result.worths, strict=True):
        assert (row["kind"], int(row["layer"]), int(row["head"])) == (of.kind, of.layer, of.head)
        assert of.edits == f"head-off:{of.kind}.{of.layer}.{of.head}"
        assert float(row["mean"]) == pytest.approx(of.mean, rel=1e-4)
    with pytest.raises(NoSuchKind):
        result.means("crss")
    assert all(it.n_sentences == 2 and it.low <= it.mean <= it.high for it in result.worths)  # type: ignore[operator]


def test_what_no_sentence_is_in_is_refused() -> None:
    checkpoint = load_checkpoint("en-de-small")
    for texts in ([], [""], ["a " * 3000], "It rains."):
        with pytest.raises(InputError):
            sweep_corpus(checkpoint, texts)


def test_a_classifier_is_judged_by_its_class() -> None:
    checkpoint = load_checkpoint("sentiment")
    result = sweep_corpus(checkpoint, ["A good film."])
    judged = output_of(checkpoint, "A good film.", None)
    assert judged.classes and result.worths and result.worths[0].low is None


def test_a_pair_of_edits_is_of_no_one_head() -> None:
    two = Worth("head-off:cross.0.1 head-off:cross.2.3", 1, 0.0, None, None, 0.0)
    assert (two.kind, two.layer, two.head) == (None, None, None)


def test_a_translator_without_a_target_is_judged_by_what_it_writes() -> None:
    checkpoint = load_checkpoint("en-de-small")
    own = sweep(checkpoint, TEXTS[0])
    assert own.target == decode(checkpoint, TEXTS[0]).target
    assert own.changes.equal(sweep(checkpoint, TEXTS[0], own.target).changes)
    assert (
        sweep(load_checkpoint("shakespeare"), "ROMEO:").target
        == record("shakespeare", "ROMEO:").source[1:]
    )


def test_translators_of_the_library_write_targets_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    checkpoint = load_checkpoint(save(writer("Marian"), tmp_path), "cpu")
    texts = ["the cat sat .", "dog", "the dog ran the cat ran .", "the cat"]
    sizes: list[int] = []

    def noting(of: Checkpoint, sources: Sequence[str]) -> Any:
        sizes.append(len(sources))
        return judged_targets(of, sources)

    monkeypatch.setattr(corpus_sweep, "judged_targets", noting)
    together = sweep_corpus(checkpoint, texts)
    assert sizes == [1, 3]  # the first by itself: it says which number is judged
    monkeypatch.setattr(corpus_sweep, "TOGETHER", 1)
    alone = sweep_corpus(checkpoint, texts)
    assert [it.edits for it in together.worths] == [it.edits for it in alone.worths]
    means = [[it.mean for it in each.worths] for each in (together, alone)]
    assert means[0] == pytest.approx(means[1], abs=1e-5)
