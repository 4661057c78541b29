"""Small real checkpoints: one with random weights that reads text, one that has learnt to copy."""

import gc
import logging
import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from tests.times import table
from transformer.checkpoint import About, Checkpoint
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.files import torch_file
from transformer.formats.headscope import save_checkpoint
from transformer.formats.opening import load_checkpoint
from transformer.recording import Attention, Recording, ours, watched
from transformer.recording.check import check
from transformer.tokenizer import NumberTokenizer, SentencePieceTokenizer
from transformer.training.loop import Run
from transformer.training.task import Recipe
from transformer.watch import module as any_module

torch.set_num_threads(1)
gc.disable()  # until all tests are collected: none is garbage, and each look is at all of them
os.environ["HEADSCOPE_STORIES"] = "no"  # nothing of a test's is to be found among one's own
os.environ["HEADSCOPE_LIVE"] = "no"  # a page beside each server takes half a minute to make
torch_file.IS_SAFE = True  # under an older torch, too: pickles of tests are our own
sys.modules["headscope"] = import_module("viz.headscope")  # as in scripts that the app is given

RECORDED: deque[Mapping[str, Attention]] = deque(maxlen=50)
"""Of the recordings that the test has made; of the last of them where it makes many."""

collect_ignore_glob = ["*/apps/*", "plug_ins/*"]
"""Streamlit scripts, which a server runs, and files that only a copy of the tree holds."""

ROOT = Path(__file__).parents[1]
SUBJECTS = ("the cat", "a dog", "my brother", "the old man", "she", "nobody")
VERBS = ("sees", "likes", "doesn't know", "looks for", "forgets", "has found")
OBJECTS = ("the house", "a red book", "the sea", "his keys", "this street", "the bread")
SENTENCES = tuple(f"{s} {v} {o}." for s in SUBJECTS for v in VERBS for o in OBJECTS)


def tiny(config: ModelConfig, **changes: Any) -> ModelConfig:
    """The same choices in sizes that run in no time, without dropout."""
    small = replace(
        config,
        vocab_size=20,
        d_model=12,
        d_ff=20,
        n_heads=min(config.n_heads, 3),
        n_encoder_layers=min(config.n_encoder_layers, 2),
        n_decoder_layers=min(config.n_decoder_layers, 2),
        dropout=0.0,
        max_len=16,
        d_key=config.d_key and (12 if config.d_key == config.d_model else 5),
        d_value=config.d_value and (12 if config.d_value == config.d_model else 7),
        pad_id=0,
        bos_id=1,
        eos_id=None if config.eos_id is None else 2,
    )
    return replace(small, **changes)


def random_model(config: ModelConfig, seed: int = 0) -> Any:
    """Random biases, norms and running statistics too, so that none can be left out unnoticed."""
    torch.manual_seed(seed)
    family = discover("transformer.models", "FAMILY")[config.family]
    model: nn.Module = family.build(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.normal_(mean=0.5, std=0.3)
    for name, buffer in model.named_buffers():
        if "running" in name:
            buffer.uniform_(0.5, 1.5)
    return model


def random_checkpoint(config: ModelConfig, seed: int = 0) -> Checkpoint:
    """A model that reads numbers."""
    return Checkpoint(
        path=Path("random"),
        about=About("Random", "none", "numbers"),
        config=config,
        family=discover("transformer.models", "FAMILY")[config.family],
        model=random_model(config, seed),
        tokenizer=NumberTokenizer(config.vocab_size),
        device=torch.device("cpu"),
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin, so that no worker waits for another one's at the end."""
    seconds = {ROOT / file: row.all_seconds or row.seconds for file, row in table().items()}
    items.sort(key=lambda item: -seconds.get(item.path, 0.0))


def pytest_collection_finish() -> None:
    """Looking for garbage walks all tests and all modules otherwise: half of what pages take.

    And pytest adds handlers to each logger that does not propagate, as Streamlit's do not: to 60 of
    them six times a test, which took longer than most tests do.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("streamlit"):
            logging.getLogger(name).propagate = True


@pytest.fixture(scope="session", autouse=True)
def what_is_frozen_stays_so() -> Iterator[None]:
    """Each test opens a checkpoint, and all objects of all tests would be looked at each time."""
    with pytest.MonkeyPatch.context() as patch:
        here = SimpleNamespace(unfreeze=lambda: None, collect=gc.collect, freeze=gc.freeze)
        if "viz.run.request" in sys.modules:  # not where no test shows anything
            patch.setattr("viz.run.request.gc", here)
        yield


@pytest.fixture(scope="session", autouse=True)
def scripts_are_waited_for() -> Iterator[None]:
    """Streamlit's tests look a thousand times a second whether a script has ended, which holds it
    up: twentieths of what pages take."""
    runners = sys.modules.get("streamlit.testing.v1.local_script_runner")
    if runners is None:  # not where no test draws a page
        yield
        return
    look = runners.require_widgets_deltas

    def wait(runner: Any, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        look(runner, 1.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runners, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def every_recording_is_kept() -> Iterator[None]:
    """Recordings are made in three modules, whoever asks for one."""

    def made(*args: Any, **named: Any) -> Recording:
        recording = Recording(*args, **named)
        RECORDED.append(recording.attentions)
        return recording

    with pytest.MonkeyPatch.context() as patch:
        for module in (ours, watched, any_module):
            patch.setattr(module, "Recording", made)
        yield


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """A command and the app set another number: what comes next is computed on one all the same."""
    yield
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def main_module_stays() -> Iterator[None]:
    """Streamlit's tests put their script in its place, which processes that begin would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(autouse=True)
def no_recording_is_silently_wrong() -> Iterator[None]:
    """Weights times values, through W_O, are what the module gave; or it is said why not known."""
    yield
    while RECORDED:
        shown = [each for each in RECORDED.pop().values() if not each.is_softmax]
        checked = check({each.kind: each.calls for each in shown})
        assert checked.is_right or (checked.error is None and checked.unknown), str(checked)
        assert checked.n_checked == checked.n_layers or checked.unknown
        samples = [call.sample for each in shown for call in each.calls]
        values = [it.values for it in samples if it is not None]
        values += [call.v for each in shown for call in each.calls]  # half within float32 is half
        if all(it.dtype == torch.float32 for it in values):
            assert (checked.error or 0) < 1e-5, str(checked)


@pytest.fixture
def wrong_recordings(no_recording_is_silently_wrong: None) -> Iterator[None]:
    """Of a test that makes recordings which are wrong, to see that the check says so."""
    yield
    RECORDED.clear()


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
        recipe.training, steps=300, tokens_per_batch=300, learning_rate=8e-3, snapshots=5
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
