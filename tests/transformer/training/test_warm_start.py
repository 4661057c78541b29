"""A run may start from trained weights, though its vocabulary is another one."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.conftest import SENTENCES
from transformer import Checkpoint, load_checkpoint
from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.formats.headscope import save_checkpoint
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.tokenizer import SentencePieceTokenizer
from transformer.training.evaluation.stage import stage_pairs
from transformer.training.loop import Run
from transformer.training.task import Recipe, TrainingError
from transformer.training.train import card
from transformer.training.translation import Translation
from transformer.training.warm_start import start_from

CONFIG = ModelConfig(
    vocab_size=300, d_model=16, d_ff=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1
)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("old")
    torch.manual_seed(1)
    about = About("Old", "none", SentencePieceTokenizer.kind)
    tokenizer = SentencePieceTokenizer.train(SENTENCES, CONFIG.vocab_size)
    save_checkpoint(folder, about, CONFIG, EncoderDecoder(CONFIG).state_dict(), tokenizer)
    return load_checkpoint(folder, "cpu")


@pytest.fixture(scope="module")
def tokenizer() -> SentencePieceTokenizer:
    return SentencePieceTokenizer.train([source for source, _ in stage_pairs()], 400)


def started(old: Checkpoint, tokenizer: SentencePieceTokenizer) -> dict[str, torch.Tensor]:
    torch.manual_seed(2)
    model = EncoderDecoder(replace(CONFIG, vocab_size=tokenizer.vocab_size))
    start_from(model, tokenizer, old.path)
    return model.state_dict()


def test_the_body_is_copied(old: Checkpoint, tokenizer: SentencePieceTokenizer) -> None:
    before, after = old.model.state_dict(), started(old, tokenizer)
    assert before.keys() == after.keys()
    for name in before.keys() - {"embedding.weight"}:
        assert torch.equal(before[name].float(), after[name])


def test_pieces_keep_their_embedding_and_new_ones_are_means(
    old: Checkpoint, tokenizer: SentencePieceTokenizer
) -> None:
    table = old.model.state_dict()["embedding.weight"].float()
    after = started(old, tokenizer)["embedding.weight"]
    assert after.shape == (400, CONFIG.d_model)
    ids = {old.tokenizer.token(id).piece: id for id in range(300)}
    new = {tokenizer.token(id).piece: id for id in range(400)}
    for piece in ids.keys() & new.keys():
        assert torch.equal(after[new[piece]], table[ids[piece]])
    fresh = [piece for piece in new if piece not in ids and piece.startswith("▁")]
    assert fresh
    for piece in fresh:
        parts = old.tokenizer.encode(piece.replace("▁", " ").strip(), "text")
        torch.testing.assert_close(after[new[piece]], table[parts].mean(0))


def test_a_piece_within_a_word_takes_nothing_of_the_space(
    old: Checkpoint, tokenizer: SentencePieceTokenizer
) -> None:
    table = old.model.state_dict()["embedding.weight"].float()
    after = started(old, tokenizer)["embedding.weight"]
    known = {old.tokenizer.token(id).piece for id in range(300)}
    tried = 0
    for id in range(259, 400):
        piece = tokenizer.token(id).piece
        ids = old.tokenizer.encode(piece.replace("▁", " ").strip(), "text")
        if piece not in known and "▁" not in piece and old.tokenizer.token(ids[0]).piece == "▁":
            torch.testing.assert_close(after[id], table[ids[1:]].mean(0))
            tried += 1
    assert tried


def test_an_encoder_may_have_more_layers(
    old: Checkpoint, tokenizer: SentencePieceTokenizer
) -> None:
    deeper = replace(CONFIG, vocab_size=400, n_encoder_layers=3)
    model = EncoderDecoder(deeper)
    start_from(model, tokenizer, old.path)
    before, after = old.model.state_dict(), model.state_dict()
    part = "feed_forward.inner.weight"
    for layer in range(3):
        expected = before[f"encoder.layers.0.{part}"].float()
        assert torch.equal(after[f"encoder.layers.{layer}.{part}"], expected)
    assert not after["encoder.layers.1.feed_forward.outer.weight"].any()
    pre = EncoderDecoder(replace(deeper, norm_order="pre"))
    with pytest.raises(TrainingError, match=r"--from: .* layers of another shape"):
        start_from(pre, tokenizer, old.path)


def test_what_does_not_fit_is_told(
    old: Checkpoint, tokenizer: SentencePieceTokenizer, tmp_path: Path
) -> None:
    model = EncoderDecoder(replace(CONFIG, vocab_size=400, d_ff=32))
    with pytest.raises(TrainingError, match=r"--from: .* layers of another shape"):
        start_from(model, tokenizer, old.path)
    wide = EncoderDecoder(replace(CONFIG, vocab_size=400, d_model=32))
    with pytest.raises(TrainingError, match=r"--from: .* layers of another shape"):
        start_from(wide, tokenizer, old.path)
    with pytest.raises(TrainingError, match=rf"--from: {tmp_path}/nowhere is not there"):
        start_from(model, tokenizer, tmp_path / "nowhere")


def test_a_run_begins_with_them_once(
    old: Checkpoint, tokenizer: SentencePieceTokenizer, copy_recipe: Recipe, tmp_path: Path
) -> None:
    """What was saved of a run counts more than where it began; the card says where that was."""
    recipe = replace(
        copy_recipe,
        model=replace(CONFIG, vocab_size=tokenizer.vocab_size),
        training=replace(copy_recipe.training, steps=2, tokens_per_batch=100, snapshots=0),
    )
    task = Translation(recipe, tokenizer, [["It rains.", "Es regnet."]], stage_pairs())
    run = Run(recipe, task, tmp_path, "cpu", old.path)
    layer = "encoder.layers.0.feed_forward.inner.weight"
    assert torch.equal(run.model.state_dict()[layer], old.model.state_dict()[layer].float())
    run.train()
    again = Run(recipe, task, tmp_path, "cpu", old.path)
    assert again.progress["step"] == 2
    assert torch.equal(run.model.state_dict()[layer], again.model.state_dict()[layer])
    assert f"began with the weights of {old.name}." in card(recipe, again, {}, True)
