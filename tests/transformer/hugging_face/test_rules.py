"""What generation_config.json says of writing is followed as `generate` does, token by token."""

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.representatives import cases
from tests.transformer.hugging_face.saving import WRITERS, generated, save, writer
from transformer import InputError, decode, load_checkpoint
from transformer.formats.opening import describe_checkpoint
from transformer.hugging_face.writing.settings import RULES

TEXT, IDS, LENGTH = "the cat sat", [4, 5, 6], 10
BEAM = {"beam_size": 3, "length_penalty": 0.0}


def settings_for(free: list[int]) -> dict[str, dict[str, Any]]:
    """Each with what the model would write without it in its way."""
    first, second, third = free[:3]
    return {
        "nothing": {},
        "bad words": {"bad_words_ids": [[first], [second, third], [4, 5]]},
        "suppressed": {"suppress_tokens": [first, third]},
        "suppressed at first": {"begin_suppress_tokens": [first, 2]},
        "least length": {"min_length": 9, "eos_token_id": [2, third]},
        "least of new ones": {"min_new_tokens": 6, "eos_token_id": [2, second]},
        "no bigram twice": {"no_repeat_ngram_size": 2},
        "no word twice": {"no_repeat_ngram_size": 1},
        "repetition costs": {"repetition_penalty": 1.7},
        "repetition pays": {"repetition_penalty": 0.6},
        "begins with": {"forced_bos_token_id": 9},
        "ends with": {"forced_eos_token_id": 2},
        "ends with one of": {"forced_eos_token_id": [2, 7], "eos_token_id": [2, 7]},
        "all at once": {
            **{"bad_words_ids": [[first]], "suppress_tokens": [second], "min_length": 6},
            **{"no_repeat_ngram_size": 3, "repetition_penalty": 1.2, "forced_eos_token_id": 2},
            **{"begin_suppress_tokens": [third], "forced_bos_token_id": 9},
        },
        "several ends, none at first": {
            **{"eos_token_id": [2, third], "begin_suppress_tokens": [first, 2, third]},
            **{"no_repeat_ngram_size": 2, "repetition_penalty": 1.3},
        },
        "several ends, and two least lengths": {
            **{"eos_token_id": [2, first, third], "min_new_tokens": 4, "min_length": 7},
        },
        "begins with, but not at first": {
            **{"forced_bos_token_id": 9, "begin_suppress_tokens": [first], "min_new_tokens": 3},
        },
        "likelier and less likely": {"sequence_bias": [[[first], -50.0], [[second, third], 40.0]]},
        "the end grows likelier": {"exponential_decay_length_penalty": [3, 1.6]},
        "normalised anew": {"renormalize_logits": True, "suppress_tokens": [first, third]},
        "neutral": {
            "repetition_penalty": 1.0,
            "min_new_tokens": 0,
            "min_length": 9,
            "no_repeat_ngram_size": 0,
        },
    }


WHATS = tuple(settings_for([1, 2, 3]))
LIKE_ANOTHER = (
    *("no word twice", "repetition pays", "several ends, none at first"),
    *("several ends, and two least lengths", "begins with, but not at first"),
)
"""Settings of rules that others have, too: with another value, or two at once."""
FEW = {
    **{f"{what} alone": ("BART", what) for what in WHATS if what not in LIKE_ANOTHER},
    **{f"all rules of {family}": (family, "all at once") for family in WRITERS},
    "a first token that counts as written": ("T5", "begins with, but not at first"),
}
"""Each rule by itself in one family, and all of them in each."""


@pytest.mark.parametrize(("family", "what"), cases(product(WRITERS, WHATS), FEW))
def test_it_writes_what_generate_writes(family: str, what: str, tmp_path: Path) -> None:
    model = writer(family, 1)
    model.generation_config.eos_token_id = 2
    said = settings_for(generated(model, IDS, 6, eos_token_id=None))[what]
    for name, value in said.items():
        setattr(model.generation_config, name, value)
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    config: Any = checkpoint.config
    # `generate` counts a first token that is forced; here a decoder starts with it.
    forced = config.start_ids[1:]
    for method, options, theirs in (
        ("greedy", {}, {}),
        ("beam", BEAM, {"num_beams": 3, "length_penalty": 0.0}),
        ("beam", BEAM, {"num_beams": 3, "length_penalty": 0.0, "early_stopping": "never"}),
    ):
        decoding = decode(checkpoint, TEXT, method, max_len=LENGTH, **options)
        right = generated(model, IDS, LENGTH + len(forced), **theirs)
        ends = set(config.eos_ids)
        end = next((at for at, id in enumerate(right) if id in ends), len(right))
        written = [*forced, *(token.id for token in decoding.target)]
        if what == "ends with one of" and method == "beam":  # both are certain: neither is first
            assert written[-1] in ends and right[end] in ends
            written[-1] = right[end]
        assert written == right[: end + 1]
        is_told = decoding.hypotheses[0].ruled is not None
        assert is_told == (bool(said) and what not in ("begins with", "neutral"))
        assert (decoding.steps[0].chosen.after is not None) == is_told


@pytest.mark.parametrize("name", ["encoder_no_repeat_ngram_size", "encoder_repetition_penalty"])
@pytest.mark.parametrize("family", ["Marian", "BART", "T5"])
def test_rules_about_the_source(family: str, name: str, tmp_path: Path) -> None:
    model = writer(family, 1)
    setattr(model.generation_config, name, 1 if "size" in name else 3.0)
    decoding = decode(load_checkpoint(save(model, tmp_path), "cpu"), TEXT, max_len=LENGTH)
    assert [token.id for token in decoding.target] == generated(model, IDS, LENGTH)


def test_a_prompt_of_one_token_may_be_told_how_to_go_on(tmp_path: Path) -> None:
    model = writer("GPT-2", 1)
    model.generation_config.forced_bos_token_id = 9
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    written = [token.id for token in decode(checkpoint, "the", max_len=4).target]
    assert written == generated(model, [4], 4) and written[0] == 9


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize("family", ["Marian", "BART"])
def test_a_prefix_has_its_probabilities_after_the_rules(
    family: str, method: str, tmp_path: Path
) -> None:
    """Those of the same tokens where they are written freely."""
    model = writer(family, 1)
    model.generation_config.repetition_penalty = 1.7
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    free = decode(checkpoint, TEXT, method, max_len=LENGTH)
    ids = free.hypotheses[0].ids
    again = decode(checkpoint, TEXT, method, max_len=LENGTH, prefix=ids[:4])
    for one, other in zip(free.steps[:4], again.steps, strict=False):
        assert other.chosen.after == pytest.approx(one.chosen.after, abs=1e-5)
    for node in again.search.nodes:
        if node.dropped and node.dropped.why == "greedy":
            assert node.rank > 0


def test_candidates_have_their_probabilities_before_and_after(tmp_path: Path) -> None:
    model = writer("Marian", 1)
    first = generated(model, IDS, 1)[0]
    model.generation_config.suppress_tokens = [first]
    decoding = decode(load_checkpoint(save(model, tmp_path), "cpu"), TEXT, max_len=1)
    (step,) = decoding.steps
    barred = next(each for each in step.candidates if each.token.id == first)
    assert barred.after == 0 and barred.prob > step.chosen.prob
    left = 1 - barred.prob
    assert step.chosen.after == pytest.approx(step.chosen.prob / left, abs=1e-6)
    (hypothesis,) = decoding.hypotheses  # the model's own numbers stay what they were
    assert hypothesis.log_prob == pytest.approx(
        float(hypothesis.log_probs[0, step.chosen.token.id])
    )


UNFOLLOWED: dict[str, Any] = {
    **{"num_beams": 4096, "length_penalty": "2", "sequence_bias": [[[99], 2.0]]},
    **{"repetition_penalty": "much", "suppress_tokens": [999], "my_own_rule": 3},
    **{"bad_words_ids": [[]], "do_sample": "yes", "max_length": -1, "max_new_tokens": 1.5},
    **{"early_stopping": "soon", "temperature": -1, "top_k": 2**40, "top_p": 2, "min_p": 2},
    **{"exponential_decay_length_penalty": [3], "renormalize_logits": 1, "typical_p": 0.9},
    **{"guidance_scale": 2.0, "stop_strings": ["."], "num_beam_groups": 2, "top_h": 0.4},
    **{"diversity_penalty": 0.5, "max_time": 3, "token_healing": True, "penalty_alpha": 0.6},
    **{"epsilon_cutoff": 0.1, "eta_cutoff": 0.1, "watermarking_config": {"bias": 2.0}},
}


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that tests copy."""
    return save(writer("BART"), tmp_path_factory.mktemp("saved"))


def test_what_is_not_followed_is_named(tmp_path: Path) -> None:
    folder = save(writer("Marian"), tmp_path)
    file = folder / "generation_config.json"
    usual, plain = json.loads(file.read_text()), decode(load_checkpoint(folder, "cpu"), TEXT)
    for name, value in UNFOLLOWED.items():
        file.write_text(json.dumps(usual | {name: value}))
        known = describe_checkpoint(folder)
        assert f" {name}" in " ".join(known.about.notes)
        assert known.about.decoding == {} and name not in vars(known.config)["writing"]
    file.write_text(json.dumps(usual | UNFOLLOWED))
    assert decode(load_checkpoint(folder, "cpu"), TEXT).target == plain.target


def test_beams_that_are_drawn_are_named(tmp_path: Path) -> None:
    folder = save(writer("Marian"), tmp_path)
    file = folder / "generation_config.json"
    more = {"num_beams": 4, "do_sample": True}
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    assert "do_sample with num_beams" in " ".join(load_checkpoint(folder, "cpu").about.notes)


@pytest.mark.parametrize(
    ("setting", "is_named"),
    [
        *((("repetition_penalty", value), value != 1.0) for value in (1.0, 0, 0.0, -1.0, True)),
        *((("length_penalty", value), value == "1") for value in (1.0, 0.0, 2.0, -1.0, "1")),
        *((("typical_p", value), value != 1.0) for value in (1.0, 0.2)),
        *((("do_sample", value), value == 1) for value in (False, 1)),
        *((("diversity_penalty", value), value != 0.0) for value in (0.0, 1.0)),
        *((("penalty_alpha", value), value != 0.0) for value in (0.0, 1.0)),
        *((("num_beams", value), value in (0, 17)) for value in (1, 4, 0, 17)),
        *((("eos_token_id", value), value == "2") for value in (2, [2, 9], [2, 999], "2")),
    ],
)
def test_only_what_changes_nothing_goes_unnamed(
    setting: tuple[str, Any], is_named: bool, bart: Path, tmp_path: Path
) -> None:
    file = Path(shutil.copytree(bart, tmp_path / "BART")) / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | dict([setting])))
    notes = " ".join(describe_checkpoint(file.parent).about.notes)
    assert (f" {setting[0]} " in notes) == is_named


def test_older_folders_keep_it_in_their_configuration(tmp_path: Path) -> None:
    model = writer("Marian", 1)
    folder = save(model, tmp_path)
    first = generated(model, IDS, 1)[0]
    (folder / "generation_config.json").unlink()
    file = folder / "config.json"
    more = {"bad_words_ids": [[first]], "num_beams": 4, "max_time": 7}
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    checkpoint = load_checkpoint(folder, "cpu")
    assert decode(checkpoint, TEXT, max_len=1).target[0].id != first
    assert "max_time 7" in " ".join(checkpoint.about.notes)
    assert checkpoint.about.decoding["beam"]["beam_size"] == 4


def test_rules_that_leave_nothing_end_in_a_sentence(tmp_path: Path) -> None:
    model = writer("Marian")
    model.generation_config.suppress_tokens = list(range(64))
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    for method in ("greedy", "beam", "sample"):
        with pytest.raises(InputError, match="leave no token"):
            decode(checkpoint, TEXT, method)


METHODS = ("greedy", "beam", "sample")
CUT = {**{f"{it} of a source": ("Marian", it) for it in METHODS}, "a prompt": ("Llama", "greedy")}


@pytest.mark.parametrize(("family", "method"), cases(product(WRITERS, METHODS), CUT))
def test_what_was_written_before_an_error_is_kept(
    family: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = load_checkpoint(save(writer(family, 1), tmp_path), "cpu")
    model: Any = checkpoint.model
    usual, calls = model.inner.forward, []

    def fails(*args: Any, **named: Any) -> Any:
        calls.append(named)
        if len(calls) > 4:
            raise IndexError("index out of range")
        return usual(*args, **named)

    fails.__signature__ = __import__("inspect").signature(type(model.inner).forward)  # type: ignore[attr-defined]
    whole = decode(checkpoint, TEXT, method, max_len=8)
    monkeypatch.setattr(model.inner, "forward", fails)
    cut = decode(checkpoint, TEXT, method, max_len=8)
    n = len(cut.target)
    assert 0 < n < 8 and not cut.is_ended and "index out of range" in cut.ended_by
    if method != "beam":
        assert cut.target == whole.target[:n]
    calls[:] = [{}] * 9
    with pytest.raises(InputError, match="index out of range"):
        decode(checkpoint, TEXT, method, max_len=8)


def test_every_rule_is_tried_above() -> None:
    tried = {name for said in settings_for([1, 2, 3]).values() for name in said}
    assert set(RULES) - tried == {"encoder_no_repeat_ngram_size", "encoder_repetition_penalty"}
