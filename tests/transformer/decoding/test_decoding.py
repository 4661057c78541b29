"""Decoding methods against each other, and each step against the forced pass."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from tests.conftest import SENTENCES, random_checkpoint, tiny
from tests.presets import PRESETS
from tests.representatives import MARK, cases
from transformer import Checkpoint, InputError, decode, record
from transformer.decoding.constraints import barred
from transformer.decoding.decode import Written
from transformer.decoding.shared_batch import alone
from transformer.decoding.steps import forced, written_text
from transformer.discover import discover
from transformer.inputs import source_ids
from transformer.tokenizer import SentencePieceTokenizer

METHODS = discover("transformer.decoding", "METHOD")


class Rows(TorchFunctionMode):
    """Attention rows of each fused call, by the formula, from the call's own q and k."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[torch.Tensor] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is F.scaled_dot_product_attention:
            q, k = args[:2]
            assert not (kwargs or {}).get("is_causal")
            self.rows.append((q[0] @ k[0].mT / math.sqrt(q.size(-1))).softmax(-1)[:, -1])
        return func(*args, **(kwargs or {}))


def test_the_methods() -> None:
    assert {"beam", "forced", "greedy", "sample"} <= set(METHODS)
    assert all(method.title for method in METHODS.values())


@pytest.mark.parametrize("sentence", cases(SENTENCES[::9], dict(enumerate(SENTENCES[::72]))))
def test_beam_of_one_equals_greedy(text_checkpoint: Checkpoint, sentence: str) -> None:
    greedy = decode(text_checkpoint, sentence)
    beam = decode(text_checkpoint, sentence, method="beam", beam_size=1)
    assert beam.target == greedy.target
    assert len(beam.hypotheses) == 1
    rows = beam.hypotheses[0].log_probs, greedy.hypotheses[0].log_probs
    torch.testing.assert_close(*rows, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@pytest.mark.parametrize("edits", [(), ("head-off:cross.0.0",)])
def test_whoever_decodes_hears_of_each_step_and_can_end_it(
    text_checkpoint: Checkpoint, method: str, edits: tuple[str, ...]
) -> None:
    heard: list[int] = []
    asked = partial(decode, text_checkpoint, SENTENCES[0], method, edits=edits, max_len=6)
    plain = asked()
    told = asked(on_step=lambda: heard.append(1))
    assert told.target == plain.target
    assert torch.equal(told.hypotheses[0].log_probs, plain.hypotheses[0].log_probs)
    assert max(len(each.ids) for each in told.hypotheses) <= len(heard) <= 6

    def ends() -> None:
        heard.append(1)
        if len(heard) == 2:
            raise KeyError("enough")

    heard.clear()
    with pytest.raises(KeyError, match="enough"):
        asked(on_step=ends)
    assert len(heard) == 2
    assert asked().target == plain.target  # nothing stays behind


@pytest.mark.parametrize("sentence", SENTENCES[::40])
def test_steps_equal_the_forced_pass(text_checkpoint: Checkpoint, sentence: str) -> None:
    """Probabilities and attention rows of an incremental pass equal those of the recording."""
    model, config = text_checkpoint.model, text_checkpoint.config
    decoding = decode(text_checkpoint, sentence, max_len=12)
    recording = record(text_checkpoint, sentence, decoding.target)
    torch.testing.assert_close(
        recording.logits.log_softmax(-1), decoding.hypotheses[0].log_probs, rtol=0, atol=1e-5
    )
    state = model.start(torch.tensor([source_ids(text_checkpoint, sentence)]))
    last = config.bos_id
    for step, token in enumerate(decoding.target):
        with Rows() as observed:
            model.advance(state, torch.tensor([[last]]))
        for layer in range(config.n_decoder_layers):
            own, cross = observed.rows[2 * layer : 2 * layer + 2]
            forced_own = recording.attentions["decoder_self"].weights(layer)[:, step]
            forced_cross = recording.attentions["cross"].weights(layer)[:, step]
            torch.testing.assert_close(own, forced_own[:, : step + 1], rtol=0, atol=1e-5)
            torch.testing.assert_close(cross, forced_cross, rtol=0, atol=1e-5)
        last = token.id


@pytest.mark.parametrize("beam_size", [2, 4])
@pytest.mark.parametrize("sentence", SENTENCES[::40])
def test_beam(text_checkpoint: Checkpoint, sentence: str, beam_size: int) -> None:
    hypotheses = decode(
        text_checkpoint, sentence, method="beam", beam_size=beam_size, max_len=12
    ).hypotheses
    eos = text_checkpoint.config.eos_id
    scores = [hypothesis.score for hypothesis in hypotheses]
    assert 1 <= len(hypotheses) <= beam_size
    assert scores == sorted(scores, reverse=True)
    assert len({hypothesis.ids for hypothesis in hypotheses}) == len(hypotheses)
    source = torch.tensor([source_ids(text_checkpoint, sentence)])
    for hypothesis in hypotheses:
        assert hypothesis.ids[-1] == eos or len(hypothesis.ids) == 12
        assert eos not in hypothesis.ids[:-1]
        search = forced(text_checkpoint.model, source, target_ids=hypothesis.ids)
        [again] = alone(text_checkpoint.model, search, source)
        assert hypothesis.log_prob == pytest.approx(again.log_prob, abs=1e-4)
        penalty = ((5 + len(hypothesis.ids)) / 6) ** 0.6
        assert hypothesis.score == pytest.approx(again.score / penalty, abs=1e-4)


def test_beam_is_never_worse_than_greedy_by_its_own_score(copy_checkpoint: Checkpoint) -> None:
    greedy = decode(copy_checkpoint, "3 7 2 9")
    beam = decode(copy_checkpoint, "3 7 2 9", method="beam")
    assert beam.hypotheses[0].log_prob >= greedy.hypotheses[0].log_prob - 1e-5


@pytest.mark.parametrize(
    ("ids", "repeats", "expected"),
    [
        ([], 2, set()),
        ([5], 1, {5}),
        ([5, 5], 2, {5}),
        ([5, 5], 3, set()),
        ([5, 5], 0, set()),
        ([1, 5, 6, 5, 6], 2, {5}),
        ([1, 5, 6, 5, 6, 6], 2, {6}),
        ([5, 6, 5], 2, set()),
        ([6, 5, 5, 6, 5, 5], 2, {5, 6}),
        ([*range(7), *range(7)], 2, set()),
    ],
)
def test_what_would_be_a_repetition(ids: list[int], repeats: int, expected: set[int]) -> None:
    assert barred(ids, repeats) == expected


def repeated(ids: list[int], repeats: int) -> bool:
    """Whether a run of up to six stands there more often in succession."""
    return any(ids[at] in barred(ids[:at], repeats) for at in range(len(ids)))


@pytest.mark.parametrize("repeats", [2, pytest.param(3, marks=MARK)])
def test_a_beam_repeats_nothing_more_often_than_it_may(
    text_checkpoint: Checkpoint, repeats: int
) -> None:
    written = []
    for sentence in SENTENCES[::9]:
        assert not repeated(source_ids(text_checkpoint, sentence), repeats)
        free = decode(text_checkpoint, sentence, method="beam", max_len=30)
        kept = decode(text_checkpoint, sentence, method="beam", max_len=30, repeats=repeats)
        for hypothesis in kept.hypotheses:
            assert not repeated(list(hypothesis.ids), repeats)
            assert math.isfinite(hypothesis.log_prob)
        written.append(repeated([token.id for token in free.target], repeats))
    assert any(written)


def test_what_the_source_repeats_may_be_repeated(text_checkpoint: Checkpoint) -> None:
    source = " ".join(["the cat"] * 4)
    assert repeated(source_ids(text_checkpoint, source), 2)
    free, kept = (
        decode(text_checkpoint, source, method="beam", max_len=30, repeats=n) for n in (0, 2)
    )
    assert free.target == kept.target


def test_steps_say_what_was_considered(text_checkpoint: Checkpoint) -> None:
    decoding = decode(text_checkpoint, SENTENCES[0])
    for step, row, token in zip(
        decoding.steps, decoding.hypotheses[0].log_probs, decoding.target, strict=True
    ):
        probs = [candidate.prob for candidate in step.candidates]
        assert len(probs) == 10
        assert probs == sorted(probs, reverse=True)
        assert sum(probs) + step.rest == pytest.approx(1, abs=1e-5)
        assert step.candidates[0] == step.chosen
        assert step.chosen.token == token
        bits = -float((row.exp() * row).sum()) / math.log(2)
        assert step.entropy == pytest.approx(bits, abs=1e-4)


def test_forced_takes_text_and_tokens(text_checkpoint: Checkpoint) -> None:
    by_text = decode(text_checkpoint, SENTENCES[0], method="forced", target=SENTENCES[1])
    by_tokens = decode(text_checkpoint, SENTENCES[0], method="forced", target=by_text.target)
    assert by_text.text == SENTENCES[1]
    assert by_text.target == by_tokens.target
    with pytest.raises(InputError, match="give it a target"):
        decode(text_checkpoint, SENTENCES[0], method="forced")


def test_max_len_is_kept_with_and_without_an_end_token(
    text_checkpoint: Checkpoint, copy_checkpoint: Checkpoint
) -> None:
    for method in ("greedy", "beam"):
        assert len(decode(text_checkpoint, SENTENCES[0], method=method, max_len=3).target) <= 3
        assert decode(copy_checkpoint, "3 7 2 9", method=method, max_len=3).text == "3 7 2"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "unknown decoding method .guess.; known: beam, diverse, forced"),
        ({"method": "beam", "beam_size": 0}, "beam_size must be at least 1"),
        ({"method": "beam", "length_penalty": 1e308}, "length_penalty must be at most 100, not"),
        ({"method": "beam", "beam_size": True}, "beam_size must be a whole number, not True"),
        ({"method": "a" * 10_000}, "unknown decoding method 'a{59}…; known"),
        ({"max_len": 0}, "max_len must be at least 1"),
    ],
)
def test_wrong_options(text_checkpoint: Checkpoint, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(text_checkpoint, "the cat", **options)


def test_prompt_and_continuation_are_one_text(text_tokenizer: SentencePieceTokenizer) -> None:
    config = tiny(PRESETS["former-generator"].config, vocab_size=text_tokenizer.vocab_size)
    generator = replace(random_checkpoint(config), tokenizer=text_tokenizer)
    prompt = source_ids(generator, "the cat")
    for whole in ("the cat sees the sea.", "the catsees"):
        ids = text_tokenizer.encode(whole)[len(prompt) - 1 :]
        assert "the cat" + written_text(generator, prompt, ids) == whole


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_what_is_written_so_far_is_the_shorter_continuation(
    text_tokenizer: SentencePieceTokenizer, method: str
) -> None:
    config = tiny(PRESETS["former-generator"].config, vocab_size=text_tokenizer.vocab_size)
    generator = replace(random_checkpoint(config), tokenizer=text_tokenizer)
    heard: list[Written] = []
    decode(generator, "the cat", method, max_len=4, on_token=heard.append)
    assert [written.n_tokens for written in heard] == [1, 2, 3, 4][: len(heard)]
    assert len(heard) >= 3, "a beam tells no more of its last step"
    for n, written in enumerate(heard, 1):
        shorter, so_far = decode(generator, "the cat", method, max_len=n), written.decoding()
        assert [h.ids for h in so_far.hypotheses] == [h.ids for h in shorter.hypotheses]
        assert so_far.search.leaves == shorter.search.leaves
        assert [(node.parent, node.token, node.score) for node in so_far.search.nodes] == [
            (node.parent, node.token, node.score) for node in shorter.search.nodes
        ]
        assert written.text == so_far.text == shorter.text
        assert so_far.target == shorter.target
        assert so_far.steps == shorter.steps


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("sample", {"samples": 4, "temperature": 1.5, "seed": 3}),
        ("beam", {"force": [(30,)]}),
        ("beam", {"beam_size": 6, "force": [(30,), (9, 9)]}),
    ],
)
def test_a_part_has_all_hypotheses_of_the_shorter_text(
    text_checkpoint: Checkpoint, method: str, options: dict[str, Any]
) -> None:
    heard: list[Written] = []
    decode(text_checkpoint, SENTENCES[0], method, max_len=9, on_token=heard.append, **options)
    assert heard[-1].n_tokens >= 8
    for written in heard:
        longest = written.n_tokens
        shorter = decode(text_checkpoint, SENTENCES[0], method, max_len=longest, **options)
        of_part = [each.ids for each in written.decoding().hypotheses]
        assert of_part == [each.ids for each in shorter.hypotheses]
