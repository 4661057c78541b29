"""Small real checkpoints: one with random weights that reads text, one that has learnt to copy."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from transformer.checkpoint import About, Checkpoint, load_checkpoint, save_checkpoint
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.tokenizer import SentencePieceTokenizer
from transformer.training.loop import Run
from transformer.training.task import Recipe

torch.set_num_threads(1)

SUBJECTS = ("the cat", "a dog", "my brother", "the old man", "she", "nobody")
VERBS = ("sees", "likes", "doesn't know", "looks for", "forgets", "has found")
OBJECTS = ("the house", "a red book", "the sea", "his keys", "this street", "the bread")
SENTENCES = tuple(f"{s} {v} {o}." for s in SUBJECTS for v in VERBS for o in OBJECTS)


@pytest.fixture(scope="session")
def text_tokenizer() -> SentencePieceTokenizer:
    return SentencePieceTokenizer.train(SENTENCES, 300)


@pytest.fixture(scope="session")
def text_folder(
    tmp_path_factory: pytest.TempPathFactory, text_tokenizer: SentencePieceTokenizer
) -> Path:
    """A checkpoint folder with random weights; read it, never write to it."""
    torch.manual_seed(1)
    config = ModelConfig(
        vocab_size=text_tokenizer.vocab_size,
        d_model=32,
        d_ff=64,
        n_heads=4,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_len=64,
    )
    model = discover("transformer.models", "FAMILY")[config.family].build(config)
    folder = tmp_path_factory.mktemp("checkpoints") / "random"
    about = About("Random weights", "none", "sentencepiece", (SENTENCES[0],))
    save_checkpoint(folder, about, config, model.state_dict(), text_tokenizer)
    return folder


@pytest.fixture(scope="session")
def text_checkpoint(text_folder: Path) -> Checkpoint:
    return load_checkpoint(text_folder, "cpu")


@pytest.fixture(scope="session")
def copy_recipe() -> Recipe:
    """The copy task, small enough to be learnt in seconds."""
    recipe: Recipe = discover("transformer.training.recipes", "RECIPE")["copy"]
    model = replace(
        recipe.model, d_model=32, d_ff=64, n_encoder_layers=1, n_decoder_layers=1, max_len=4
    )
    training = replace(
        recipe.training, steps=500, tokens_per_batch=400, learning_rate=5e-3, snapshots=5
    )
    return replace(recipe, model=model, training=training)


@pytest.fixture(scope="session")
def copy_run(copy_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of our own training code."""
    folder = tmp_path_factory.mktemp("training") / "copy"
    run = Run(copy_recipe, copy_recipe.prepare(copy_recipe, None, folder), folder, "cpu")
    run.train()
    return run


@pytest.fixture(scope="session")
def copy_checkpoint(copy_run: Run) -> Checkpoint:
    return load_checkpoint(copy_run.folder, "cpu")
