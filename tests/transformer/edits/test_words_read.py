"""A hidden word is padding to everybody; one that is cut off is so to the decoder only."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.recording.test_families import (
    CONFIGS,
    CROSS,
    FEW,
    SOURCE,
    TARGET,
    WRITING,
    each,
)
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, EditError, decode, load_checkpoint, record
from transformer.analysis.scored import output_of, scored
from transformer.editing.checking import side_read
from transformer.edits import edits_of

close = {"rtol": 2e-6, "atol": 2e-6}
ALONE = [name for name, config in CONFIGS.items() if config.family == "decoder_only"]
ENCODING = [name for name in CONFIGS if name not in ALONE]
IDS = [int(word) for word in SOURCE.split()]


def target_of(checkpoint: Checkpoint) -> str | None:
    return TARGET if checkpoint.family.decodes else None


def logits(checkpoint: Checkpoint, *edits: str, source: str = SOURCE) -> Tensor:
    return record(checkpoint, source, target_of(checkpoint), edits=edits).logits


def by_hand(checkpoint: Checkpoint, source: list[int]) -> Tensor:
    """The logits of a source of ids, in which 0 is padding."""
    target = target_of(checkpoint)
    ids = [int(word) for word in (target or "").split()]
    forced = checkpoint.family.forced_pass(checkpoint.config, source, ids or None)
    with torch.inference_mode():
        result: Tensor = checkpoint.model(*(torch.tensor([row]) for row in forced.inputs))[0]
    return result


def hide(checkpoint: Checkpoint, word: int) -> str:
    return f"hide:{side_read(checkpoint)}.{word}"


def cells(checkpoint: Checkpoint, key: int, kinds: set[str]) -> list[str]:
    """Every cut of this key's cells, where a query keeps another key."""
    attentions = record(checkpoint, SOURCE, target_of(checkpoint)).attentions
    return [
        f"cut:{kind}.{layer}.{head}.{query}.{key}"
        for kind, attention in attentions.items()
        if kind in kinds
        for layer in range(attention.n_layers)
        for head in range(attention.n_heads)
        for query in range(len(attention.queries))
        if bool(attention.allowed(layer, head)[query, key])
    ]


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_a_hidden_word_is_a_cut_of_all_its_cells(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    every = cells(checkpoint, 2, {"encoder_self", "decoder_self", "cross"})
    if "cross" in checkpoint.family.attentions:
        every = [it for it in every if "decoder_self" not in it]
    torch.testing.assert_close(
        logits(checkpoint, hide(checkpoint, 2)), logits(checkpoint, *every), **close
    )


@pytest.mark.parametrize("name", part(ENCODING, FEW))
def test_a_hidden_word_is_padding(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    for word in range(len(IDS)):
        padded = [0 if i == word else id for i, id in enumerate(IDS)]
        hidden = logits(checkpoint, hide(checkpoint, word))
        torch.testing.assert_close(hidden, by_hand(checkpoint, padded), rtol=0.0, atol=1e-6)
        assert not torch.equal(hidden, logits(checkpoint))


@pytest.mark.parametrize("name", part(ENCODING, FEW))
def test_without_its_last_words_a_source_is_a_shorter_one(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    both = [hide(checkpoint, 3), hide(checkpoint, 4)]
    torch.testing.assert_close(
        logits(checkpoint, *both), by_hand(checkpoint, IDS[:3]), rtol=0.0, atol=1e-5
    )


@pytest.mark.parametrize("name", part(ALONE, FEW))
def test_rows_before_a_hidden_word_keep_every_bit(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    plain, hidden = (record(checkpoint, SOURCE, TARGET, e) for e in ([], ["hide:text.2"]))
    for layer in range(plain.attentions["decoder_self"].n_layers):
        old, new = (it.attentions["decoder_self"].calls[layer] for it in (plain, hidden))
        assert torch.equal(old.q[:, :2], new.q[:, :2]) and torch.equal(old.v[:, :2], new.v[:, :2])
    assert not torch.equal(plain.logits, hidden.logits)


@each
def test_a_recording_says_what_was_closed(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    result = record(checkpoint, SOURCE, target_of(checkpoint), [hide(checkpoint, 0)])
    assert result.checked.is_right and (result.checked.error or 0) < 1e-5
    for kind, attention in result.attentions.items():
        is_read = kind != "decoder_self" or "cross" not in result.attentions
        for layer in range(attention.n_layers):
            closed = ~attention.allowed(layer)[..., 0]
            assert bool(closed.all()) is is_read
            sums = attention.weights(layer).sum(-1)
            empty = ~attention.allowed(layer).any(-1)
            torch.testing.assert_close(sums, (~empty).float(), **close)


@each
def test_a_batch_of_words_is_each_by_itself(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    words = [[hide(checkpoint, word)] for word in range(len(IDS))]
    words += [[f"cut-word:cross.{i}"] for i in range(5)] * ("cross" in checkpoint.family.attentions)
    words += [[], [*words[0], *words[3]], [*words[1], f"head-off:{_last(checkpoint)}.0.0"]]
    groups = [edits_of(edits) for edits in words]
    output = output_of(checkpoint, SOURCE, target_of(checkpoint))
    together = torch.cat([it.log_probs for it in scored(checkpoint, output, groups)])
    for group, row in zip(groups, together, strict=True):
        (alone,) = scored(checkpoint, output, [group])
        torch.testing.assert_close(alone.log_probs[0], row, **close)
        recorded = logits(checkpoint, *map(str, group)).log_softmax(-1)
        if checkpoint.family.decodes:
            ids = torch.tensor([token.id for token in output.words])
            recorded = recorded.gather(-1, ids[:, None])[:, 0]
        torch.testing.assert_close(recorded, row, rtol=0.0, atol=1e-5)


def _last(checkpoint: Checkpoint) -> str:
    return list(checkpoint.family.attentions)[-1]


@pytest.mark.parametrize("name", part(CROSS, FEW))
def test_a_word_cut_off_is_a_cut_of_all_its_cells_in_cross_attention(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    every = cells(checkpoint, 3, {"cross"})
    torch.testing.assert_close(
        logits(checkpoint, "cut-word:cross.3"), logits(checkpoint, *every), **close
    )
    before, after = (record(checkpoint, SOURCE, TARGET, e) for e in ([], ["cut-word:cross.3"]))
    for layer in range(before.attentions["encoder_self"].n_layers):
        old, new = (it.attentions["encoder_self"].weights(layer) for it in (before, after))
        assert torch.equal(old, new)


@pytest.mark.parametrize("name", part([name for name in CROSS if CONFIGS[name].projections], FEW))
def test_what_adds_nothing_or_the_same_for_every_word_is_missed_by_nobody(name: str) -> None:
    """Weights say otherwise: a map of them cannot know."""
    checkpoint = random_checkpoint(CONFIGS[name])
    decoder: Any = checkpoint.model
    layers = [layer.cross_attention for layer in decoder.decoder.layers]
    edits = ("hide:source.1", "cut-word:cross.1")
    with torch.no_grad():
        for layer in layers:
            layer.value.weight[:] = 0
    for edit in edits:
        torch.testing.assert_close(logits(checkpoint, edit), logits(checkpoint), **close)
    checkpoint = random_checkpoint(CONFIGS[name])
    decoder = checkpoint.model
    with torch.no_grad():
        for layer in decoder.decoder.layers:
            layer.cross_attention.output.weight[:] = 0
    for edit in edits:
        assert torch.equal(logits(checkpoint, edit), logits(checkpoint))


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_what_is_written_is_what_the_forced_pass_says(name: str, method: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    edits = [hide(checkpoint, 1)]
    decoding = decode(checkpoint, SOURCE, method, max_len=5, edits=edits)
    forced = record(checkpoint, SOURCE, decoding.target, edits=edits).logits.log_softmax(-1)
    torch.testing.assert_close(forced, decoding.hypotheses[0].log_probs, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("hide:source.9", "no word 9 here; the source has 5, counted from 0."),
        ("hide:text.0", "there is no 'text' here; words are read in source."),
        ("cut-word:source.0", "there is no 'source' here; words are read in cross."),
    ],
)
def test_a_word_that_is_not_there_is_named(edit: str, message: str) -> None:
    with pytest.raises(EditError, match=message):
        logits(random_checkpoint(CONFIGS["post-norm"]), edit)


def test_a_text_of_nothing_is_not_classified() -> None:
    checkpoint = random_checkpoint(CONFIGS["former-classifier"])
    with pytest.raises(EditError, match="nothing is left"):
        logits(checkpoint, *(hide(checkpoint, word) for word in range(5)))


def test_a_source_of_nothing_leaves_the_prefix() -> None:
    """What cross-attention gives then is its bias, and so the same for every source."""
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    every = [f"hide:source.{word}" for word in range(5)]
    one, other = (logits(checkpoint, *every, source=it) for it in (SOURCE, "5 5 6 7 8"))
    assert bool(one.isfinite().all()) and torch.equal(one, other)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checkpoint]:
    result = {}
    for family in ("Marian", "T5", "GPT-2", "Llama", "BERT"):
        folder = tmp_path_factory.mktemp("hub") / family
        model: Any = build(family)
        model.save_pretrained(folder)
        result[family] = load_checkpoint(folder, "cpu")
    return result


@pytest.mark.parametrize("family", ["Marian", "T5", "GPT-2", "Llama", "BERT"])
def test_in_models_of_the_library_it_is_what_their_own_mask_closes(
    opened: dict[str, Checkpoint], family: str
) -> None:
    checkpoint, text = opened[family], "7 9 11 13 8"
    target = "10 12 14" if checkpoint.family.decodes else None
    result = record(checkpoint, text, target, [hide(checkpoint, 2)])
    ids = [token.id for token in result.source]
    written = [token.id for token in result.target]
    forced = checkpoint.family.forced_pass(checkpoint.config, ids, written or None)
    rows = [torch.tensor([it]) for it in forced.inputs]
    mask = torch.ones_like(rows[0])
    mask[0, 2] = 0
    model: Any = checkpoint.model
    with torch.inference_mode():
        wanted = model(*rows, mask=mask)[0]
    left = slice(-len(written), None) if written else [i for i in range(len(ids)) if i != 2]
    own = result.logits if written else result.logits[left]
    torch.testing.assert_close(own, wanted[left], rtol=0.0, atol=1e-5)
    assert result.checked.is_right
    plain = record(checkpoint, text, target).logits
    assert float((result.logits - plain).abs().max()) > 1e-4
