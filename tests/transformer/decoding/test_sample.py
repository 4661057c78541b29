"""What sampling keeps, by the definitions; the same seed draws the same text."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import SENTENCES, random_checkpoint, tiny
from tests.presets import PRESETS
from transformer import Checkpoint, decode
from transformer.decoding import OptionError
from transformer.decoding.greedy import SAMPLE_METHOD, distribution
from transformer.decoding.method import Option


def log_probs(seed: int, vocab_size: int = 50) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(vocab_size, generator=generator)).log_softmax(-1)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7])
def test_temperature_is_a_power_of_the_probabilities(temperature: float) -> None:
    powers = log_probs(0).exp() ** (1 / temperature)
    drawn_from = distribution(log_probs(0), temperature, top_k=0, top_p=1.0)
    torch.testing.assert_close(drawn_from, powers / powers.sum(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("top_k", [1, 3, 50, 500])
def test_top_k_keeps_the_most_probable(top_k: int) -> None:
    for seed in range(5):
        row = log_probs(seed)
        probs = distribution(row, 1.0, top_k, 1.0)
        best = row.argsort(descending=True)[:top_k]
        assert probs.nonzero().flatten().tolist() == sorted(best.tolist())
        assert float(probs.sum()) == pytest.approx(1, abs=1e-6)
        torch.testing.assert_close(
            probs[best], row.exp()[best] / row.exp()[best].sum(), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("top_p", [0.01, 0.3, 0.8, 0.95])
@pytest.mark.parametrize("top_k", [0, 4])
def test_the_nucleus_is_the_smallest_set_that_reaches_p(top_p: float, top_k: int) -> None:
    for seed in range(5):
        whole = distribution(log_probs(seed), 1.0, top_k, 1.0)
        probs = distribution(log_probs(seed), 1.0, top_k, top_p)
        nucleus = probs > 0
        assert float(whole[nucleus].sum()) >= top_p
        assert float(whole[nucleus].sum() - whole[nucleus].min()) < top_p  # one fewer falls short
        assert float(whole[nucleus].min()) >= float(whole[~nucleus].max())
        expected = torch.where(nucleus, whole, 0.0) / whole[nucleus].sum()
        torch.testing.assert_close(probs, expected, rtol=0, atol=1e-6)


def test_a_top_p_of_one_leaves_nothing_out() -> None:
    """Not even where the sum of many probabilities is rounded to more than 1."""
    for seed in range(5):
        assert bool((distribution(log_probs(seed, 50_000), 1.0, 0, 1.0) > 0).all())


@pytest.mark.parametrize("sentence", SENTENCES[::40])
def test_the_most_probable_alone_is_greedy(text_checkpoint: Checkpoint, sentence: str) -> None:
    greedy = decode(text_checkpoint, sentence)
    for options in ({"top_k": 1, "temperature": 2.0}, {"top_p": 1e-6}):
        sampled = decode(text_checkpoint, sentence, method="sample", seed=7, **options)
        assert sampled.target == greedy.target
        assert torch.equal(sampled.hypotheses[0].log_probs, greedy.hypotheses[0].log_probs)


def test_a_seed_names_a_text() -> None:
    checkpoint = random_checkpoint(tiny(PRESETS["former-generator"].config))

    def text(seed: int) -> str:
        return decode(checkpoint, "3 4", method="sample", seed=seed, temperature=1.5).text

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(10)}) > 5


def test_tokens_are_drawn_as_often_as_they_are_probable() -> None:
    checkpoint = random_checkpoint(tiny(PRESETS["former-generator"].config))
    draws = [
        decode(checkpoint, "3 4", method="sample", seed=seed, max_len=1, top_p=1.0, temperature=1.0)
        for seed in range(400)
    ]
    probs = draws[0].hypotheses[0].log_probs[0].exp()
    counts = torch.tensor([draw.target[0].id for draw in draws]).bincount(minlength=20)
    deviations = (400 * probs * (1 - probs)).sqrt()
    assert bool(((counts - 400 * probs).abs() <= 4 * deviations + 1).all())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "temperature must be at least 0.0001, not 0.0."),
        ({"temperature": float("nan")}, "temperature must be a number, not nan."),
        ({"top_k": -1}, "top_k must be at least 0, not -1."),
        ({"top_k": 2**63}, "top_k must be at most 2147483647, not 9223372036854775808."),
        ({"top_p": 0.0}, "top_p must be at least 1e-09, not 0.0."),
        ({"top_p": 1.1}, "top_p must be at most 1, not 1.1."),
        ({"seed": float("nan")}, "seed must be a whole number, not nan."),
        ({"seed": 0.5}, "seed must be a whole number, not 0.5."),
        ({"seed": 10**400}, "seed must be at most 9223372036854775807, not 1000"),
        ({"max_len": float("inf")}, "max_len must be a whole number, not inf."),
        ({"heat": 1}, "no option 'heat' of this method; its options: max_len, temperature, "),
    ],
    ids=str,
)
def test_wrong_options(text_checkpoint: Checkpoint, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as said:
        decode(text_checkpoint, "the cat", method="sample", **options)
    assert str(said.value).startswith(message) and len(str(said.value)) < 200


@pytest.mark.parametrize(
    ("method", "name", "near"),
    [
        ("greedy", "beam", "beam_size of method='beam' or 'diverse'"),
        ("greedy", "temperature", "temperature is one of method='sample'"),
        ("beam", "edit", "mean edits?"),
        ("beam", "max_length", "mean max_len?"),
    ],
)
def test_an_unknown_option_names_what_is_near(
    text_checkpoint: Checkpoint, method: str, name: str, near: str
) -> None:
    with pytest.raises(OptionError) as refused:
        decode(text_checkpoint, "the cat", method, **{name: 4})
    assert near in str(refused.value)


def test_a_hypothesis_has_its_text(text_checkpoint: Checkpoint) -> None:
    decoding = decode(text_checkpoint, "the cat", "beam", max_len=5)
    texts = [each.text for each in decoding.hypotheses]
    assert texts[0] == decoding.text
    assert texts == [text_checkpoint.tokenizer.decode(each.ids) for each in decoding.hypotheses]


@pytest.mark.parametrize("option", SAMPLE_METHOD.options, ids=lambda each: each.name)
def test_the_ends_of_every_range_can_be_decoded(
    text_checkpoint: Checkpoint, option: Option
) -> None:
    for value in option.limits:
        more = {"max_len": 3, option.name: type(option.default)(value)}
        assert decode(text_checkpoint, "the cat", method="sample", **more).target


@pytest.mark.parametrize("min_p", [0.05, 0.4, 1.0])
def test_min_p_keeps_what_is_so_many_times_as_probable_as_the_best(min_p: float) -> None:
    for seed in range(5):
        whole = log_probs(seed).exp()
        probs = distribution(log_probs(seed), 1.0, 0, 1.0, min_p)
        stays = whole >= min_p * whole.max()
        torch.testing.assert_close(
            probs, torch.where(stays, whole, 0.0) / whole[stays].sum(), rtol=0, atol=1e-6
        )


def test_draws_follow_the_distribution_that_is_left() -> None:
    """Pearson's chi-squared over 4,000 first tokens, at its 99.9 % quantile."""
    checkpoint = random_checkpoint(tiny(PRESETS["former-generator"].config))
    options = {"temperature": 1.3, "top_k": 12, "top_p": 0.9, "min_p": 0.1}
    row = decode(checkpoint, "3 4", max_len=1).hypotheses[0].log_probs[0]
    expected = 4096 * distribution(row, 1.3, 12, 0.9, 0.1)
    counts = torch.zeros_like(expected)
    for begin in range(0, 4096, 64):
        several = decode(
            checkpoint, "3 4", "sample", seed=begin, samples=64, max_len=1, **options
        ).hypotheses
        for hypothesis in several:
            counts[hypothesis.ids[0]] += 1
    left = expected > 0
    assert int(left.sum()) > 2
    assert float(counts[~left].sum()) == 0
    statistic = float(((counts - expected)[left] ** 2 / expected[left]).sum())
    freedom = torch.tensor((int(left.sum()) - 1) / 2)
    quantile = float(torch.special.gammainc(freedom, torch.tensor(statistic / 2)))
    assert quantile < 0.999
