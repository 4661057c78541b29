"""The public functions take a checkpoint by its name, too."""

import inspect
import shutil
from pathlib import Path
from typing import Any

import pytest

import transformer
from transformer import Checkpoint, CheckpointError, decode, load_checkpoint, record
from transformer.by_name import opened
from transformer.checkpoint import checkpoints_folder

TAKES = {
    name: next(iter(inspect.signature(function).parameters), "")
    for name in transformer.__all__
    if inspect.isfunction(function := getattr(transformer, name)) and name != "record"
}
CHECKPOINT = [name for name, first in TAKES.items() if first == "checkpoint"]
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "align": (["3 7 2"],),
    "chatting": (),
    "contrast": ("3 7 2", "3 7 2", 0, "9"),
    "decode": ("3 7 2",),
    "evidence": ("3 7 2",),
    "pairing": ("3 7 2",),
    "patch": ("3 7 2", "3 7 4"),
    "record": ("3 7 2", "3 7 2"),
    "survey": (["3 7 2"],),
    "sweep": ("3 7 2", "3 7 2"),
    "sweep_corpus": (["3 7 2"],),
    "translating": (),
}


def test_all_that_take_a_checkpoint_are_tried() -> None:
    assert {*CHECKPOINT, "record"} == set(ARGUMENTS)


def outcome(name: str, checkpoint: object, by_keyword: bool = False) -> str:
    """What a function gives in a line, or the sentence that it refuses with."""
    function = getattr(transformer, name)
    try:
        if by_keyword:
            rest = list(inspect.signature(function).parameters)[1:]
            names = rest if name != "record" else ["text", "target"]
            return repr(
                function(checkpoint=checkpoint, **dict(zip(names, ARGUMENTS[name], strict=False)))
            )
        return repr(function(checkpoint, *ARGUMENTS[name]))
    except transformer.InputError as error:  # it has no languages, no template, no second text
        return str(error)


@pytest.mark.parametrize("by_keyword", [False, True])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_name_is_what_it_names(
    name: str, by_keyword: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = outcome(name, load_checkpoint("copy"))
    for way in ("copy", Path("checkpoints/copy"), checkpoints_folder() / "copy"):
        assert outcome(name, way, by_keyword) == wanted


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_is_not_there_is_one_sentence(name: str) -> None:
    with pytest.raises(CheckpointError, match=r"^/models/none is not there\. What opens: "):
        outcome(name, "/models/none")


def test_what_is_opened_is_kept_until_it_changes(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(checkpoints_folder() / "copy", folder)
    first: Checkpoint = opened(folder)
    assert opened(str(folder)) is first
    shutil.rmtree(folder)
    shutil.copytree(checkpoints_folder() / "sentiment", folder)
    assert opened(folder) is not first and opened(folder).about.title != first.about.title


def test_an_open_one_is_taken_as_it_is() -> None:
    checkpoint = load_checkpoint("copy", "cpu")
    assert opened(checkpoint) is checkpoint
    assert decode("copy", "3 7 2").text == decode(checkpoint, "3 7 2").text
    assert record("copy", "3 7 2", decode("copy", "3 7 2").target).checked.is_right
