"""Lenses against hide: what is known beforehand comes out."""

import random
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES, random_checkpoint
from tests.representatives import MARK
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from transformer import Checkpoint, InputError, decode, evidence, load_checkpoint, record
from transformer.analysis.corpus_sweep import interval
from transformer.analysis.lenses.lens import Lens
from transformer.causes.ladder import CUT, RANDOM, agreement, yardstick
from transformer.checkpoint import shipped_path
from transformer.discover import discover
from transformer.training.evaluation.stage import stage_pairs
from transformer.words import word_groups


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> dict[Any, torch.Tensor]:
    """One more lens, which is told its values: its map for each text.

    Among those found already: to find them anew would leave other tests with dead ones.
    """
    maps: dict[Any, torch.Tensor] = {}
    lens = Lens(
        "judge",
        "Judge",
        "J",
        "It is told.",
        "signed",
        lambda recording, kind, layer: maps[tuple(recording.source)].clone(),
        per_head=False,
        merge="max",
    )
    monkeypatch.setitem(discover("transformer.analysis.lenses", "LENS"), "judge", lens)
    return maps


def test_one_more_lens_that_is_hide_agrees_in_all(
    text_checkpoint: Checkpoint, judge: dict[Any, torch.Tensor]
) -> None:
    texts = SENTENCES[:3]
    for text in texts:
        target = decode(text_checkpoint, text).target
        costs = evidence(text_checkpoint, text, target).hidden
        source = record(text_checkpoint, text, target).source
        values = torch.zeros(1, len(target), len(source))
        for t, rows in enumerate(word_groups(target)):
            for s, columns in enumerate(word_groups(source)):
                values[0, rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = costs[t, s]
        judge[source] = values
    result = yardstick(text_checkpoint, texts)
    assert list(result.agreements)[-2:] == [CUT, RANDOM]
    whole = result.agreements["judge"]
    assert whole.rank.mean == pytest.approx(1) and whole.first.mean == 1
    assert whole.rank.low == pytest.approx(1) and whole.first.low == whole.first.high == 1
    assert result.agreements["weight"].first.mean < 1
    assert set(result.left_out) == {"flow"}


@MARK
def test_a_random_model_s_lenses_know_nothing_of_random_words() -> None:
    """Each word has its own random row of W_E, up as likely as down: no sign of a cost is known.

    What it decodes by itself would not do: a few words, again and again, whose costs hang on the
    same places as the weights (up to .8 either way, by the seed).
    """
    config = replace(CONFIGS["encoder_decoder, untied"], vocab_size=2000, max_len=32)
    numbers = random.Random(1)

    def texts(n_words: int) -> list[str]:
        words = (map(str, numbers.choices(range(20, 2000), k=n_words)) for _ in range(60))
        return list(map(" ".join, words))

    sources, targets = texts(9), texts(20)
    result = yardstick(random_checkpoint(config, 1), sources, targets)
    assert len(result.agreements) >= 7
    for name, each in result.agreements.items():
        assert each.n_sentences == 60 and each.n_words == 1200
        assert name == CUT or abs(each.rank.mean) < 0.05
    assert result.agreements[RANDOM].first.mean == pytest.approx(1 / 9)
    assert result.agreements[CUT].rank.low > 0.3  # type: ignore[operator]


def test_ranks_and_first_words() -> None:
    costs = torch.tensor([[1.0, 3.0, 2.0, 4.0]]).double()

    def of(*values: float) -> list[float]:
        return agreement(torch.tensor([values]), costs)[0].tolist()  # type: ignore[no-any-return]

    assert of(-1, 5, 2, 9) == [1, 1]
    assert of(4, 2, 3, 1) == [-1, 0]
    assert of(1, 2, 2, 4) == [pytest.approx(4.5 / (4.5 * 5) ** 0.5), 1]  # equal ones share a rank
    assert of(7, 7, 7, 7) == [0, 0.25]
    assert of(0, 1, 0, 1) == [pytest.approx(4 / (4 * 5) ** 0.5), 0.5]


def test_words_count_alike_and_sentences_are_resampled() -> None:
    values, sizes = torch.tensor([[0.0], [1.0], [0.5]]), torch.tensor([1, 3, 2])
    words = torch.tensor([[0.0], [1.0], [1.0], [1.0], [0.5], [0.5]])
    weighed = interval(values, sizes)
    assert float(weighed.mean) == pytest.approx(float(words.mean()))
    assert float(weighed.low) == 0 and float(weighed.high) == 1  # one sentence, drawn three times
    again = interval(values, sizes)
    assert torch.equal(weighed.low, again.low) and torch.equal(weighed.high, again.high)
    alike = interval(values, torch.ones(3)), interval(values)
    assert torch.equal(alike[0].low, alike[1].low) and torch.equal(alike[0].mean, alike[1].mean)


def test_the_same_texts_give_the_same_intervals(text_checkpoint: Checkpoint) -> None:
    first, again = (yardstick(text_checkpoint, SENTENCES[:4]).agreements for _ in range(2))
    assert first == again
    for each in first.values():
        assert each.rank.low is not None and each.rank.high is not None
        assert each.rank.low <= each.rank.mean <= each.rank.high
    (alone,) = {
        each.first.low for each in yardstick(text_checkpoint, SENTENCES[:1]).agreements.values()
    }
    assert alone is None


def test_a_text_that_cannot_be_read_is_left_out(text_checkpoint: Checkpoint) -> None:
    result = yardstick(text_checkpoint, ["", SENTENCES[0]])
    assert "" in result.left_out and result.agreements["weight"].n_sentences == 1
    for texts in (["", "she"], []):
        with pytest.raises(InputError):
            yardstick(text_checkpoint, texts)


@pytest.mark.parametrize("name", ["gpt2", "encoder_classifier, wide"])
def test_without_cross_attention_there_is_nothing_to_compare(name: str) -> None:
    with pytest.raises(InputError):
        yardstick(random_checkpoint(CONFIGS[name]), [SOURCE], [TARGET])


@MARK
def test_of_a_trained_model_weights_know_much_and_the_cut_more() -> None:
    texts = [source for source, _ in stage_pairs()[::20]]
    result = yardstick(load_checkpoint(shipped_path("en-de-1"), "cpu"), texts).agreements
    chance, weight, cut = (result[name] for name in (RANDOM, "weight", CUT))
    assert cut.first.mean > weight.first.mean > 4 * chance.first.mean
    assert cut.rank.mean > weight.rank.mean > 0.2
