"""Where a checkpoint is: its path, its name among the shipped ones, its name on the hub."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from transformer import CheckpointError, load_checkpoint
from transformer.__main__ import main
from transformer.checkpoint import FOLDER, checkpoints_folder
from transformer.commands.command import checkpoint as argument
from transformer.formats import opening as locating
from transformer.formats.opening import locate
from viz.state.checkpoints import find_at_start

WAYS: dict[str, Callable[[str], Path]] = {
    "Python": lambda text: load_checkpoint(text, "cpu").path,
    "shell": argument,
    "app": lambda text: find_at_start(text)[0],
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that is no clone."""
    for name in (FOLDER, "HEADSCOPE_FOLDERS", "HEADSCOPE_PUBLIC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hub(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A hub that has a copy of a checkpoint at one name; which names were asked for."""
    asked_for: list[str] = []
    shutil.copytree(checkpoints_folder() / "copy", elsewhere / "cache")

    def from_hub(name: str) -> Path:
        asked_for.append(name)
        if name != "some/model":
            raise CheckpointError(f"{name} is not on the hub.")
        return elsewhere / "cache"

    monkeypatch.setattr(locating, "from_hub", from_hub)
    return asked_for


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["copy", "checkpoints/copy", "./copy"])
def test_a_shipped_checkpoint_is_opened_by_its_name(way: str, text: str, hub: list[str]) -> None:
    assert WAYS[way](text) == checkpoints_folder() / "copy"
    assert hub == []


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_here_comes_before_a_shipped_one(way: str, elsewhere: Path) -> None:
    own = Path(shutil.copytree(checkpoints_folder() / "copy", elsewhere / "own"))
    own.rename("copy")
    assert WAYS[way]("copy").absolute() == elsewhere / "copy"


@pytest.mark.parametrize("way", WAYS)
def test_a_mere_file_of_its_name_does_not(way: str, elsewhere: Path) -> None:
    (elsewhere / "copy").write_text("3 7 2")
    assert WAYS[way]("copy") == checkpoints_folder() / "copy"


@pytest.mark.parametrize("way", WAYS)
def test_a_name_on_the_hub_is_fetched(way: str, elsewhere: Path, hub: list[str]) -> None:
    assert WAYS[way]("some/model") == elsewhere / "cache"
    assert hub == ["some/model"]


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_the_hub_lacks_is_named_whole(way: str, hub: list[str]) -> None:
    with pytest.raises(CheckpointError, match="some/other"):
        WAYS[way]("some/other")


def test_a_shell_says_it_in_one_sentence(
    hub: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", "some/other", "It rains."]) == 1
    assert capsys.readouterr().err == "error: some/other is not on the hub.\n"


def test_both_parts_of_an_adapted_model_are_located(elsewhere: Path, hub: list[str]) -> None:
    (elsewhere / "mine").mkdir()
    cache = elsewhere / "cache"
    assert locate("some/model::mine") == Path(f"{cache}::{elsewhere / 'mine'}")
    assert locate("copy::some/model") == Path(f"{checkpoints_folder() / 'copy'}::{cache}")
    with pytest.raises(CheckpointError, match="is not a LoRA adapter"):
        load_checkpoint("copy", "cpu", adapter="some/model")
    assert hub == ["some/model"] * 3


@pytest.mark.parametrize(
    "path", [Path("some/model"), "checkpoints/none", "/some/model", "some/more/model", "../model"]
)
def test_what_is_a_path_is_never_looked_up(path: str | Path, hub: list[str]) -> None:
    with pytest.raises(CheckpointError, match="is not there"):
        load_checkpoint(path, "cpu")
    assert hub == []


@pytest.mark.parametrize("name", ["en-de-smal", "checkpoints/endesmall", "/models/en-de-smal"])
def test_a_name_that_is_nearly_a_shipped_one_is_told_it(name: str) -> None:
    with pytest.raises(CheckpointError, match=r"did you mean en-de-small\?$") as caught:
        load_checkpoint(name, "cpu")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        "/data/models/run7/final",
        "/data/base::/data/adapter",
        "run7.safetensors",
        "a\0b",
    ],
)
def test_a_missing_path_is_named_whole(text: str, elsewhere: Path) -> None:
    with pytest.raises(CheckpointError, match=r"is not there\.") as caught:
        load_checkpoint(text, "cpu")
    whole = (elsewhere / text.partition("::")[0]).as_posix()
    assert str(caught.value).startswith(whole.replace("\0", "U+0000"))


def test_a_missing_adapter_is_named_whole(elsewhere: Path) -> None:
    with pytest.raises(CheckpointError, match=rf"^{elsewhere}/runs/adapter is not there\.$"):
        load_checkpoint("copy", "cpu", adapter=Path("runs/adapter"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["::".join(["a"] * 3000), "::" * 3000, "copy::" * 3000 + "copy"])
def test_any_number_of_colons_is_refused_in_a_sentence(
    way: str, text: str, hub: list[str], elsewhere: Path
) -> None:
    """What somebody types is cut once, however often it could be."""
    if way == "shell":
        text = str(WAYS[way](text))  # a path, which is opened next
        way = "Python"
    with pytest.raises(CheckpointError):
        WAYS[way](text)
