"""A full disk at each write, a kill at each: the old files stay whole, and a sentence is said."""

import errno
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import random_checkpoint
from transformer.checkpoint import SNAPSHOTS, Checkpoint
from transformer.config import ModelConfig
from transformer.files.foreign_text import Unwritten, write_whole
from transformer.formats.headscope import save_checkpoint
from transformer.training.loop import Run
from transformer.training.task import Recipe


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path in it."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


class FullDisk:
    """In place of os.fsync: the disk is full from the nth time on."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, descriptor: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")


def full_at_each_write(
    write: Callable[[], object], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Fails `write` at its first, second, ... write. How many it has."""
    before = contents(folder)
    for n in count():
        disk = FullDisk(n)
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", disk)
            try:
                write()
            except Unwritten as error:
                said = str(error)
                assert said.startswith(str(folder)) and said.endswith(
                    " cannot be written: No space left on device. "
                    "What was there before is as it was."
                )
                assert contents(folder) == before
                continue
        assert not [name for name in contents(folder) if ".part" in name]
        return n
    raise AssertionError


def saved(checkpoint: Checkpoint, folder: Path) -> None:
    tensors = checkpoint.model.state_dict()
    about, config, tokenizer = checkpoint.about, checkpoint.config, checkpoint.tokenizer
    assert isinstance(config, ModelConfig)
    save_checkpoint(folder, about, config, tensors, tokenizer)


@pytest.mark.parametrize("is_there", [False, True])
def test_a_disk_that_is_full_leaves_a_checkpoint_as_it_was(
    is_there: bool, text_checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    if is_there:
        saved(random_checkpoint(ModelConfig(d_model=8, n_heads=2, d_ff=8, vocab_size=9)), folder)
    assert full_at_each_write(lambda: saved(text_checkpoint, folder), folder, monkeypatch) == 3
    assert folder.is_dir()


def test_published_snapshots_stay_until_the_new_ones_are_whole(
    copy_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copy"
    copy_run.publish(folder)
    new = sorted(each.name for each in (folder / SNAPSHOTS).iterdir())
    write_whole(folder / SNAPSHOTS / "999999.safetensors", b"of an earlier run")
    write_whole(folder / "card.md", b"# Mine")
    n = full_at_each_write(lambda: copy_run.publish(folder), folder, monkeypatch)
    assert n == 3 + len(new)  # a copy has no tokenizer: config, weights, history
    assert sorted(each.name for each in (folder / SNAPSHOTS).iterdir()) == new
    assert (folder / "card.md").read_bytes() == b"# Mine"


def test_a_training_on_a_full_disk_ends_in_a_sentence_and_goes_on_later(
    copy_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, folder = copy_run.recipe, tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", FullDisk(1))
        with pytest.raises(Unwritten, match=r"run/state\.safetensors cannot be written: No space"):
            Run(recipe, copy_run.task, folder, "cpu").train()
    assert not list(folder.rglob("*.part"))
    assert not (folder / "state.safetensors").exists()


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unwritten, match=r"file/model cannot be written: (Not a dir|File exists)"):
        write_whole(tmp_path / "file" / "model", b"new")
    with pytest.raises(Unwritten, match=r"cannot be written: File name too long\. What was"):
        write_whole(tmp_path / ("a" * 300), b"new")


KILLED = """
import os, signal, sys
from itertools import count
from pathlib import Path
import torch
from tests.transformer.files.test_whole_file import contents, copy_of, saved
from transformer import load_checkpoint
from transformer.discover import discover
from transformer.training import loop

place, loop.SAVE_SECONDS = Path(sys.argv[1]), 0
recipe = discover("transformer.training.recipes", "RECIPE")["copy"]
run = copy_of(recipe, place / "run")
run.train()
published = place / "published"
run.publish(published)
before = contents(published)
for name, write, opened in (
    ("save", lambda: run.export(published), published),
    ("publish", lambda: run.publish(published), published),
    ("train", lambda: copy_of(recipe, place / "killed").train(), place / "killed"),
):
    for n in count(1):
        pid = os.fork()
        if not pid:
            left = [n]
            def fsync(descriptor):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
            os.fsync = fsync
            write()
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        if not status:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        if opened == published:
            found = {k: v for k, v in contents(published).items() if ".part" not in k}
            assert found == before, name
            load_checkpoint(published, "cpu")
    left = [each for each in contents(published) if ".part" in each]
    assert not left, left  # the save that was not killed has taken their places
    print(name, n - 1, flush=True)
assert copy_of(recipe, place / "killed").progress["step"] == 4
load_checkpoint(place / "killed", "cpu")
"""


def copy_of(recipe: Recipe, folder: Path) -> Run:
    """A training of four steps, which goes on where it stopped."""
    model = replace(recipe.model, d_model=8, d_ff=8, n_heads=2, n_encoder_layers=1, max_len=4)
    training = replace(recipe.training, steps=4, validate_every=2, snapshots=2)
    small = replace(recipe, model=replace(model, n_decoder_layers=1), training=training)
    return Run(small, small.prepare(small, None, folder), folder, "cpu")


def test_a_process_that_is_killed_at_any_write_leaves_whole_files(tmp_path: Path) -> None:
    done = warm.run(KILLED, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    killed = dict(line.split() for line in done.stdout.decode().splitlines())
    assert {name: int(n) > 2 for name, n in killed.items()} == dict.fromkeys(killed, True)
    assert list(killed) == ["save", "publish", "train"]
