"""Another word in the place of a written one is judged as runs that write it say."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import cases, part
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, decode, evidence, load_checkpoint, record
from transformer.causes import contrast
from transformer.causes.contrast import another_word, contrast_lines, contrast_values, word_number
from transformer.editing.checking import side_read
from transformer.token import Token

close: Any = {"rtol": 0.0, "atol": 1e-5}
SMALL, SENTENCE = "en-de-small", "Tom lives in Boston."


def written(checkpoint: Checkpoint, target: str = TARGET) -> tuple[Token, ...]:
    return record(checkpoint, SOURCE, target).target


@pytest.fixture(scope="module")
def small() -> Checkpoint:
    return load_checkpoint(Path("checkpoints") / SMALL, "cpu")


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_both_words_cost_what_runs_that_write_them_say(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    result = contrast(checkpoint, SOURCE, written(checkpoint), 1, "8 11")
    side, first = side_read(checkpoint), len(["5"])

    def both(*edits: str) -> torch.Tensor:
        sums = []
        for target, ids in (("5 6", [6]), ("5 8 11", [8, 11])):
            logits = record(checkpoint, SOURCE, target, edits).logits.double()[first:]
            sums.append(logits.log_softmax(-1)[range(len(ids)), ids].sum())
        return torch.stack(sums)

    plain = both()
    assert result.log_prob_written == pytest.approx(float(plain[0]), abs=1e-5)
    assert result.log_prob == pytest.approx(float(plain[1]), abs=1e-5)
    hidden = torch.stack([plain - both(f"hide:{side}.{i}") for i in range(len(SOURCE.split()))], -1)
    torch.testing.assert_close(result.hidden[:, :5], hidden[:, :5], **close)
    torch.testing.assert_close(result.of_source, result.hidden[0] - result.hidden[1], **close)
    assert result.prefix.shape == (2, 1) and result.prefix_words == ("5",)


@pytest.mark.parametrize("name", ["post-norm", "gpt2"])
def test_the_other_way_round_all_signs_are_turned(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    one = contrast(checkpoint, SOURCE, written(checkpoint, "5 6"), 1, "8")
    other = contrast(checkpoint, SOURCE, written(checkpoint, "5 8"), 1, "6")
    assert one.lead == pytest.approx(-other.lead, abs=1e-6)
    torch.testing.assert_close(one.of_source, -other.of_source, **close)
    torch.testing.assert_close(one.of_prefix, -other.of_prefix, **close)


@pytest.mark.parametrize("name", ["post-norm", "gpt2"])
def test_ranks_are_counted_over_the_whole_vocabulary(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    tokens = written(checkpoint)
    order = record(checkpoint, SOURCE, tokens).logits[1].argsort(descending=True).tolist()
    ranks = {}
    for id in order:
        if id != 6 and not checkpoint.tokenizer.token(id).special and id > 0:
            ranks[id] = contrast(checkpoint, SOURCE, tokens, 1, str(id)).ranks
    assert len(ranks) > 10
    assert ranks == {id: (order.index(id) + 1,) for id in ranks}


def test_greedy_decoding_writes_what_is_first(small: Checkpoint) -> None:
    target = decode(small, SENTENCE).target
    instead = another_word(small, target, 1, "lebt")
    changed = (*instead.before, *instead.other)
    for word in range(len(instead.words)):
        again = contrast(small, SENTENCE, changed, 1 + word, "wohnt")
        assert set(again.ranks) == {1} and again.lead < 0
    edits = ["head-off:cross.0.0"]
    edited = contrast(small, SENTENCE, target, 1, "lebt", edits)
    assert edited.log_prob != contrast(small, SENTENCE, target, 1, "lebt").log_prob


def test_evidence_at_hand_is_taken(small: Checkpoint) -> None:
    target = decode(small, SENTENCE).target
    whole = evidence(small, SENTENCE, target)
    one, two = (
        contrast(small, SENTENCE, target, 1, "lebt", evidence_at_hand=it) for it in (whole, None)
    )
    torch.testing.assert_close(one.hidden, two.hidden, **close)
    torch.testing.assert_close(one.prefix, two.prefix, **close)


def test_pieces_are_those_that_the_model_would_write_there(small: Checkpoint) -> None:
    target = decode(small, SENTENCE).target
    stop = word_number(target, ".")
    assert [it.piece for it in another_word(small, target, stop, "!").other] == ["!"]
    assert another_word(small, target, 0, "Anna").words == ["Anna"]
    assert another_word(small, target, 1, "lebt jetzt").words == ["lebt", "jetzt"]
    assert another_word(small, target, stop, "und").other[0].piece.startswith("▁")
    assert another_word(small, target, len(target) - 1, "und").words == ["und"]


LIBRARY = {"a source": "Marian"}
"""Words behind a text are asked for in test_repairs."""


@pytest.mark.parametrize("family", cases(("Marian", "BART", "T5", "GPT-2"), LIBRARY))
def test_models_of_the_library_have_other_words(tmp_path: Path, family: str) -> None:
    build(family).save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    tokens = record(checkpoint, "7 9 11", "10 12 14").target
    result = contrast(checkpoint, "7 9 11", tokens, 1, "13")
    logits = record(checkpoint, "7 9 11", "10 13 14").logits[1].double().log_softmax(-1)
    assert result.log_prob == pytest.approx(float(logits[13]), abs=1e-5)
    assert result.ranks == (1 + int((logits > logits[13]).sum()),)


@pytest.mark.parametrize(
    ("word", "typed"), [(1, ""), (1, "   "), (1, "wohnt"), (99, "lebt"), (-1, "lebt")]
)
def test_what_is_no_other_word_is_refused(small: Checkpoint, word: int, typed: str) -> None:
    target = decode(small, SENTENCE).target
    with pytest.raises(InputError):
        contrast(small, SENTENCE, target, word, typed)


def test_a_model_that_writes_nothing_is_refused() -> None:
    name = next(it for it, config in CONFIGS.items() if config.family == "encoder_classifier")
    with pytest.raises(InputError):
        contrast(random_checkpoint(CONFIGS[name]), SOURCE, (), 0, "7")


def test_a_word_is_named_by_itself_or_by_its_number(small: Checkpoint) -> None:
    target = decode(small, "Tom sees Tom.").target
    names = [token.piece.strip("▁") for token in target]
    assert word_number(target, "1") == 1
    for wrong in ("Tom", "Anna", "99"):
        with pytest.raises(InputError):
            word_number(target, wrong)
    assert names[0] == "Tom"


def test_values_and_lines_name_both_words(small: Checkpoint) -> None:
    target = decode(small, SENTENCE).target
    result = contrast(small, SENTENCE, target, 1, "lebt")
    values = contrast_values(result)
    assert (values["word"], values["other"]) == ("wohnt", "lebt")
    assert [it["word"] for it in values["source"]] == list(result.source_words)
    assert all(it["contrast"] == it["to_word"] - it["to_other"] for it in values["source"])
    assert any("lebt" in line and f"{result.ranks[0]:,}" in line for line in contrast_lines(result))
