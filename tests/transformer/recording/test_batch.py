"""A padded batch of texts shows in each head what a text by itself shows."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint, tiny
from tests.presets import PRESETS
from tests.representatives import cases
from tests.transformer.hugging_face.saving import save, writer
from tests.transformer.watch.hugging_face import build
from transformer import InputError, decode, load_checkpoint
from transformer.config import ModelConfig
from transformer.corpus import targets as targets_module
from transformer.corpus.targets import greedy_batch, judged_targets, takes_batches, targets_of
from transformer.hugging_face.model import HuggingFaceConfig, HuggingFaceModel
from transformer.models import decoder_only, encoder_decoder
from transformer.models.family import ForcedPass
from transformer.recording import AttentionCall
from transformer.recording.ours import calls_of, calls_of_batch
from transformer.recording.watched import watched_calls
from transformer.recording.watched_batch import watched_calls_of_batch

SOURCES = ([5, 7, 9, 11, 4, 2], [6, 8, 2], [12, 13, 14, 15, 2])
TARGETS = ([4, 5, 2], [7, 8, 9, 10, 2], [12, 2])


def furthest(batch: dict[str, list[AttentionCall]], alone: dict[str, Any], text: int) -> float:
    """The largest difference of a weight of one text; a batch has the heads of all."""
    assert set(batch) == set(alone)
    differences = [0.0]
    for kind, calls in alone.items():
        assert len(calls) == len(batch[kind])
        for one, several in zip(calls, batch[kind], strict=True):
            weights = one.weights()
            n_heads, n_queries, n_keys = weights.shape
            heads = several.weights()[n_heads * text : n_heads * (text + 1)]
            assert float(heads[:, :n_queries, n_keys:].sum()) == 0
            differences.append(float((heads[:, :n_queries, :n_keys] - weights).abs().max()))
    return max(differences)


@pytest.mark.parametrize("name", PRESETS)
def test_models_of_ours(name: str) -> None:
    checkpoint = random_checkpoint(tiny(PRESETS[name].config))
    decodes = checkpoint.family.decodes
    passes = [
        checkpoint.family.forced_pass(checkpoint.config, source, target if decodes else None)
        for source, target in zip(SOURCES, TARGETS, strict=True)
    ]
    inputs = list(zip(*(each.inputs for each in passes), strict=True))
    batch = calls_of_batch(checkpoint, inputs)
    for text, forced in enumerate(passes):
        assert furthest(batch, calls_of(checkpoint, forced.inputs), text) < 1e-5


def test_greedy_targets_are_those_of_decode() -> None:
    checkpoint = random_checkpoint(tiny(ModelConfig()))
    alone = [decode(checkpoint, " ".join(map(str, ids[:-1]))) for ids in SOURCES]
    sources = [[token.id for token in each.source] for each in alone]
    targets = [[token.id for token in each.target] for each in alone]
    assert greedy_batch(checkpoint, sources) == targets
    assert greedy_batch(checkpoint, sources[1:2]) == targets[1:2]


WORDS = ["the", "cat", "sat", "dog", "ran", "."] * 4
TEXTS = [" ".join(WORDS[i : 2 * i + 1]) for i in range(1, 12)]
RULES = {
    "no_repeat_ngram_size": 2,
    "encoder_repetition_penalty": 1.3,
    "min_length": 4,
    "begin_suppress_tokens": [4],
}


@pytest.mark.parametrize(
    ("family", "rules"),
    [("Marian", {}), ("BART", RULES), *cases([("T5", {}), ("Marian", RULES), ("BART", {})], {})],
)
def test_the_library_s_translators_write_together_what_they_write_alone(
    family: str, rules: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = writer(family, 1)
    model.generation_config.eos_token_id = 2
    for name, value in rules.items():
        setattr(model.generation_config, name, value)
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    assert takes_batches(checkpoint)
    expected = {text: decode(checkpoint, text).target for text in TEXTS}
    assert len({len(target) for target in expected.values()}) > 3
    sizes = list[int]()
    start = HuggingFaceModel.start

    def counted(self: Any, source: Any, mask: Any = None) -> Any:
        sizes.append(len(source))
        return start(self, source, mask)

    monkeypatch.setattr(HuggingFaceModel, "start", counted)
    assert judged_targets(checkpoint, TEXTS) == expected and sizes == [len(TEXTS)]


def test_a_translator_that_reads_padding_writes_one_by_one(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(save(writer("Marian", 1), tmp_path), "cpu")
    encoder: Any = checkpoint.model.get_submodule("inner").get_encoder()
    forward = encoder.forward
    encoder.forward = lambda input_ids, attention_mask, **more: forward(input_ids, **more)
    assert not takes_batches(checkpoint)
    targets = judged_targets(checkpoint, TEXTS[:3])
    assert targets == {text: decode(checkpoint, text).target for text in TEXTS[:3]}


def test_a_text_that_is_refused_leaves_the_others_their_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = load_checkpoint(save(writer("Marian", 1), tmp_path), "cpu")
    sources = {1: [4, 5, 2], 2: [6, 2], 3: [7, 8, 9, 2]}
    right = targets_of(checkpoint, sources)

    def refusing(checkpoint: Any, rows: Any) -> Any:
        if [6, 2] in rows:
            raise InputError("It cannot go on.")
        return greedy_batch(checkpoint, rows)

    monkeypatch.setattr(targets_module, "greedy_batch", refusing)
    assert targets_of(checkpoint, sources) == {n: right[n] for n in (1, 3)}


@pytest.mark.parametrize(
    "family", ["BERT", "GPT-2", "Llama", "Gemma-2", "gpt-oss", "T5", "Marian", "BLOOM"]
)
def test_models_that_are_watched(family: str) -> None:
    model = build(family)
    writes = bool(model.config.is_encoder_decoder)
    config: Any = HuggingFaceConfig(family, 50, 40, 1, 2, start_ids=(2,) if writes else ())
    watched: Any = SimpleNamespace(
        config=config, model=HuggingFaceModel(model, config), device=torch.device("cpu")
    )
    passes: list[ForcedPass] = []
    for source, target in zip(SOURCES, TARGETS, strict=True):
        start: Any = SimpleNamespace(bos_id=2)
        both = encoder_decoder.forced_pass(start, source, target)
        passes.append(both if writes else decoder_only.forced_pass(start, source, None))
    batch, added = watched_calls_of_batch(watched, passes)
    pieces = [key.piece for key in added["decoder_self" if writes else next(iter(batch))]]
    assert batch and pieces == (["sink"] if family == "gpt-oss" else [])
    for text, forced in enumerate(passes):
        alone = watched_calls(watched, forced, forced.inputs, len(forced.inputs[0]))
        assert furthest(batch, alone, text) < 1e-5
