"""A reference is scored as the forced pass says, and departures are what decoding writes there."""

from pathlib import Path

import pytest

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.__main__ import main
from transformer.causes.prefix import continuation
from transformer.causes.pruning import reference
from transformer.commands.decode import COMMAND
from transformer.words import words_of

SENTENCE = "Tom lives in Boston."


@pytest.fixture(scope="module")
def small() -> Checkpoint:
    return load_checkpoint(Path("checkpoints/en-de-small"), "cpu")


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_words_have_the_numbers_of_the_forced_pass(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    result = reference(checkpoint, SOURCE, TARGET)
    logits = record(checkpoint, SOURCE, TARGET).logits.double()
    for t, (word, id) in enumerate(zip(result.words, map(int, TARGET.split()), strict=False)):
        order = logits[t].argsort(descending=True).tolist()
        assert word.ranks == (order.index(id) + 1,)
        assert word.log_prob == pytest.approx(float(logits[t].log_softmax(-1)[id]), abs=1e-5)
        best = checkpoint.tokenizer.token(order[0]).piece
        assert word.instead == (str(id) if word.ranks == (1,) else best.strip(" ▁"))


def test_what_greedy_decoding_writes_departs_nowhere(small: Checkpoint) -> None:
    decoding = decode(small, SENTENCE)
    for edits in ([], ["head-off:cross.0.0"]):
        target = decode(small, SENTENCE, edits=edits).target
        result = reference(small, SENTENCE, target, edits)
        assert not result.departures and [it.instead for it in result.words] == words_of(target)
    result = reference(small, SENTENCE, decoding.text)
    assert result.log_prob == pytest.approx(decoding.hypotheses[0].log_prob, abs=1e-4)


def test_a_departure_is_the_whole_word_that_decoding_writes(small: Checkpoint) -> None:
    result = reference(small, SENTENCE, "Tom lebt in Boston.")
    assert result.departures[0] == 1 and result.words[1].instead == "wohnt"
    long = reference(small, "The animal was too tired.", "Der")
    greedy = words_of(decode(small, "The animal was too tired.").target)
    assert long.words[0].instead == greedy[0]


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_a_continuation_is_what_decoding_would_have_written(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    target = decode(checkpoint, SOURCE, max_len=6).target
    for n in (0, 1, 4):
        rest = continuation(checkpoint, SOURCE, target[:n], is_enough=lambda new: len(new) == 2)
        assert [it.id for it in rest] == [it.id for it in target[n : n + 2]]


@pytest.mark.parametrize("family", ["Marian", "GPT-2"])
def test_models_of_the_library_score_references(tmp_path: Path, family: str) -> None:
    build(family).save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    result = reference(checkpoint, "7 9 11", "10 12 14")
    best = record(checkpoint, "7 9 11", "10 12 14").logits.argmax(-1).tolist()
    for word, id in zip(result.words, best, strict=True):
        assert checkpoint.tokenizer.token(id).piece.strip(" ▁") in word.instead


def test_what_is_no_reference_is_refused(small: Checkpoint) -> None:
    for typed in ("", "  ", "Tom " * 5000):
        with pytest.raises(InputError):
            reference(small, SENTENCE, typed)
    name = next(it for it, config in CONFIGS.items() if config.family == "encoder_classifier")
    with pytest.raises(InputError):
        reference(random_checkpoint(CONFIGS[name]), SOURCE, "7")


def test_a_shell_prints_a_line_for_each_word() -> None:
    words = [
        {"word": "Tom", "log_prob": -0.1, "ranks": (1,), "instead": "Tom", "is_departure": False},
        {
            "word": "lebt",
            "log_prob": -2.5,
            "ranks": (2, 1),
            "instead": "wohnt",
            "is_departure": True,
        },
    ]
    text, first, second = COMMAND.text({"text": "Tom wohnt.", "reference": words}).splitlines()
    assert text == "Tom wohnt." and "wohnt" not in first
    assert "lebt" in second and "wohnt" in second and "-2.50" in second


def test_a_departure_is_from_what_the_search_in_use_wrote() -> None:
    """Greedy decoding goes another way there; behind a departure it says what would follow."""
    checkpoint = load_checkpoint(Path("checkpoints/en-de"), "cpu")
    text = "The museum, which my friend who lives in Berlin recommended, was closed when we came."
    greedy, beam = decode(checkpoint, text), decode(checkpoint, text, method="beam")
    words = words_of(beam.target)
    pairs = zip(words, words_of(greedy.target), strict=False)
    at = next(i for i, (one, other) in enumerate(pairs) if one != other)
    same = reference(checkpoint, text, beam.target, own=beam.target)
    assert not same.departures and max(same.words[at].ranks) > 1
    assert reference(checkpoint, text, beam.target).departures[0] == at
    typed = f"{beam.text.partition(words[at])[0]}heute"
    result = reference(checkpoint, text, typed, own=beam.target)
    assert result.departures[0] == at and result.words[at].instead == words[at]
    assert reference(checkpoint, text, typed).words[at].instead == words_of(greedy.target)[at]


def test_a_shell_departs_from_what_the_model_writes_by_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["decode", "en-de-small", SENTENCE, "--reference", "Tom lebt in Boston."]
    printed = []
    for more in ([], ["--prefix", "Er"]):
        main([*options, *more])
        printed.append(capsys.readouterr().out.splitlines())
    assert printed[0][1:] == printed[1][1:] and printed[0][0] != printed[1][0]
