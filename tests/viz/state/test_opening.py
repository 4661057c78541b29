"""Which paths may be opened, by whom, and what is said of those that may not."""

import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from tests.transformer.hugging_face.test_adapters import write_pair
from tests.transformer.hugging_face.test_text_vectors import pipeline_around
from tests.transformer.watch.hugging_face import build
from transformer import CheckpointError, load_checkpoint, record
from transformer.fingerprint import fingerprint, version_of
from transformer.formats import opening as formats
from transformer.formats.opening import describe_checkpoint
from viz.labels import literal
from viz.run.request import make_request
from viz.state import checkpoints
from viz.state import checkpoints as opening
from viz.state.checkpoints import NOT_HERE, can_open, find

ADDRESS = "server.address"


@pytest.fixture(autouse=True)
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens on this machine alone, and no allowed folders."""
    for name in ("HEADSCOPE_FOLDERS", "HEADSCOPE_PUBLIC"):
        monkeypatch.delenv(name, raising=False)
    listen(monkeypatch, "localhost")


def listen(monkeypatch: pytest.MonkeyPatch, address: str | None) -> None:
    monkeypatch.setattr(st, "get_option", lambda name: address if name == ADDRESS else None)


@pytest.fixture
def models(text_folder: Path, tmp_path: Path) -> Path:
    """A folder with two checkpoints, and something else."""
    for name in ("one", "two"):
        shutil.copytree(text_folder, tmp_path / "models" / name)
    (tmp_path / "models" / "notes.txt").write_text("nothing")
    return tmp_path / "models"


def refused(text: str) -> str:
    with pytest.raises(CheckpointError) as caught:
        find(text)
    said = str(caught.value)
    assert said.endswith(".") and "\n" not in said
    return said


def test_what_is_loaded_is_named_with_its_size(
    text_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a spinner, which is there while it lasts; where it is loaded already there is none."""
    texts: list[str] = []
    shown = SimpleNamespace(spinner=lambda text: texts.append(text) or nullcontext())
    monkeypatch.setattr(checkpoints, "st", shown)
    monkeypatch.setattr(checkpoints, "draws_pages", lambda: True)
    monkeypatch.setattr(checkpoints, "title", lambda path: "<b>A *translator*")
    monkeypatch.setattr(checkpoints, "size_of", lambda path: 171_400_000)
    monkeypatch.setattr(checkpoints, "repeated", lambda name, text, act: texts.append("loaded"))
    for is_loaded in (False, True):
        monkeypatch.setattr(checkpoints, "is_loaded", lambda request, is_so=is_loaded: is_so)
        checkpoints.load(make_request(str(text_folder), "the cat", "greedy"))
    assert texts == [f"Loading {literal('<b>A *translator*')}, 171 MB", "loaded"]


def test_a_folder_a_snapshot_and_a_folder_of_folders(models: Path) -> None:
    assert find(str(models / "one")) == [models / "one"]
    assert find(f' "{models / "one"}/" ') == [models / "one"]
    assert find(str(models)) == [models / "one", models / "two"]


def test_what_is_no_checkpoint_is_not_searched_for_some(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home has folders by the hundred: they are looked into where one is asked for by itself."""
    shutil.copytree(models / "one", models / "three" / "within")
    assert "three is not a checkpoint itself, and holds within" in said(models / "three")
    looked: list[Path] = []
    monkeypatch.setattr(formats, "what_instead", lambda path, _: looked.append(path))
    assert find(str(models)) == [models / "one", models / "two"] and not looked


def said(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        formats.format_of(path)
    return str(caught.value)


@pytest.mark.parametrize("name", ["one ", " one", "one\t", '"one"'])
@pytest.mark.parametrize("allowed", [True, False])
def test_a_name_that_ends_in_a_space(
    name: str, allowed: bool, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside one of the same name without it, which is another checkpoint."""
    shutil.copytree(models / "one", models / name)
    if allowed:
        monkeypatch.setenv("HEADSCOPE_FOLDERS", str(models))
    assert find(str(models / name)) == [models / name]
    assert find(f"{models / 'two'} ") == [models / "two"]


def test_what_is_not_there_or_is_no_checkpoint(models: Path) -> None:
    assert "There is no /nowhere/at/all on this machine" in refused("/nowhere/at/all")
    assert "notes.txt is not a checkpoint. What opens: " in refused(str(models / "notes.txt"))
    (models / "empty").mkdir()
    assert "empty is not a checkpoint: the folder is empty" in refused(str(models / "empty"))
    for nonsense in ("\0", "x" * 10_000, "~nobody/x"):
        assert "There is no " in refused(nonsense)


def test_a_name_on_the_hub_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def unreachable(*args: object, **named: object) -> None:
        raise OSError("no route")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    assert "cannot be reached or has no such model: check the name" in refused("some/model")
    with pytest.raises(CheckpointError, match="There is no some/model on this machine"):
        find("some/model", may_fetch=False)


def test_a_name_on_the_hub_is_opened_from_its_folder(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    fetched = {}

    def download(name: str, **named: object) -> str:
        fetched[name] = named["allow_patterns"]
        return str(models / "one")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert find("some/model") == [models / "one"]
    assert not any(pattern.endswith(".py") for pattern in fetched["some/model"])


@pytest.mark.parametrize(
    ("address", "may"),
    [
        *(("localhost", True), ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True)),
        *((None, False), ("0.0.0.0", False), ("192.168.0.7", False), ("example.org", False)),
    ],
)
def test_a_server_that_others_reach_opens_nothing_by_itself(
    models: Path, monkeypatch: pytest.MonkeyPatch, address: str | None, may: bool
) -> None:
    listen(monkeypatch, address)
    assert can_open() == may
    if not may:
        assert refused(str(models / "one")) == opening.OFF
        monkeypatch.setenv("HEADSCOPE_FOLDERS", str(models))
        assert find(str(models / "one")) == [models / "one"]


def test_only_what_lies_in_allowed_folders(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_FOLDERS", os.pathsep.join([str(models / "one"), "/nowhere"]))
    assert find(str(models / "one")) == [models / "one"]
    assert find(f"{models}/two/../one") == [models / "one"]
    monkeypatch.setenv("HEADSCOPE_FOLDERS", "")
    assert refused(str(models / "one")) == NOT_HERE


def test_nothing_can_be_probed_outside_of_allowed_folders(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a path or a user exists, and which folders are allowed, is told to nobody."""
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(models / "one"))
    user = Path.home().name
    for text in (
        *(str(models / "two"), str(models / "three"), str(models / "one" / ".." / "two")),
        *(str(models), "/etc/passwd", "/etc/none", f"~{user}", "~nobody/x", "~", "some/model"),
        *(str(models / "one" / "none"), "\0", "x" * 10_000, "", "//host/share", "one"),
    ):
        assert refused(text) == NOT_HERE


def test_nothing_outside_of_allowed_folders_is_looked_at(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(models / "one"))
    looked: list[str] = []
    monkeypatch.setattr(Path, "exists", lambda path: looked.append(str(path)) or True)
    assert refused(str(models / "two")) == NOT_HERE
    assert looked == []


@pytest.fixture
def adapted(models: Path) -> Path:
    """A folder with a base and an adapter of it, which does not name it."""
    write_pair(models)
    return models


def test_an_adapter_brings_its_base_and_the_other_way_round(adapted: Path) -> None:
    base, adapter = adapted / "base", adapted / "adapter"
    both = Path(f"{base}::{adapter}")
    assert find(f' "{both}" ') == [both, base]
    assert "There is no /nowhere on this machine" in refused(f"{base}::/nowhere")
    assert "There is no /nowhere on this machine" in refused(f"/nowhere::{adapter}")
    assert "names no base" in refused(str(adapter))
    for file in adapter.iterdir():
        shutil.copy(file, base)
    assert find(str(base)) == [base, Path(f"{base}::{base}")]
    names = [path.name for path in find(str(adapted))]
    assert names == ["adapter", "base", "one", "two", "base"]


def test_base_and_adapter_lie_in_allowed_folders(
    adapted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, adapter = adapted / "base", adapted / "adapter"
    both = Path(f"{base}::{adapter}")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", os.pathsep.join([str(base), str(adapter)]))
    assert find(str(both)) == [both, base]
    for allowed, other in ((base, adapter), (adapter, base)):
        monkeypatch.setenv("HEADSCOPE_FOLDERS", str(allowed))
        for text in (str(both), f"{allowed}::{other}", f"{other}::{allowed}", f"{allowed}::"):
            assert refused(text) == NOT_HERE


def test_an_adapter_in_allowed_folders_does_not_open_a_base_outside(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pair(models, str(tmp_path / "outside"))
    (models / "base").rename(tmp_path / "outside")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(models))
    sentence = refused(str(models / "adapter"))
    shutil.rmtree(tmp_path / "outside")
    assert refused(str(models / "adapter")) == sentence


def test_a_base_beside_an_allowed_folder_is_not_opened(
    adapted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(adapted / "adapter")
    write_pair(adapted, "base")
    assert find(str(adapted / "adapter")) == [adapted / "adapter", adapted / "base"]
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(adapted / "adapter"))
    assert refused(str(adapted / "adapter")) == NOT_HERE


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """An older pipeline of Sentence Transformers', its model within it."""
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path / "model")
    return pipeline_around(tmp_path / "model", {"pooling_mode_cls_token": True})


def test_a_pipeline_around_an_allowed_folder_is_not_read(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = pipeline / "0_Transformer"
    assert pooled_by_name(inner) and version_of(inner) != of_itself(inner)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(inner))
    assert find(str(inner)) == [inner] and version_of(inner) == of_itself(inner)
    assert not pooled_by_name(inner)
    assert any("HEADSCOPE_FOLDERS" in note for note in describe_checkpoint(inner).about.notes)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(pipeline))
    assert find(str(inner)) == [inner] and pooled_by_name(inner)


def pooled_by_name(path: Path) -> bool:
    vector = record(load_checkpoint(path), "5 9 12").vector
    return vector is not None and vector.is_named


def of_itself(path: Path) -> int:
    """The version of a folder of which nothing outside is read."""
    stats = [file.stat() for file in path.iterdir()]
    return hash(tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats))


@pytest.mark.parametrize("name", ["modules.json", "1_Pooling"])
def test_links_of_a_pipeline_are_not_followed_from_its_model(
    name: str, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = pipeline / "0_Transformer"
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(pipeline))
    (pipeline / name).rename(tmp_path / "outside")
    (pipeline / name).symlink_to(tmp_path / "outside")
    if name == "modules.json":
        assert find(str(inner)) == [inner] and not pooled_by_name(inner)
    else:
        assert refused(str(inner)) == NOT_HERE


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model", "config.json"])
def test_links_that_lead_out_are_not_followed(
    name: str, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = models / "one"
    (allowed / "door").symlink_to(models / "two", target_is_directory=True)
    (allowed / "circle").symlink_to(allowed / "circle")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(allowed))
    assert refused(str(allowed / "door")) == NOT_HERE
    assert refused(str(allowed / "circle")) == NOT_HERE
    assert find(str(allowed)) == [allowed]
    (allowed / name).unlink()
    (allowed / name).symlink_to(models / "two" / name)
    assert refused(str(allowed)) == NOT_HERE


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model", "config.json"])
def test_a_checkpoint_with_another_file_is_another_one(name: str, models: Path) -> None:
    before, marks = version_of(models / "one"), fingerprint(models / "one")
    assert fingerprint(models / "two") == marks
    shutil.copyfile(models / "two" / name, models / "one" / "draft")
    (models / "one" / "draft").replace(models / "one" / name)  # the same once more
    assert version_of(models / "one") != before
    assert fingerprint(models / "one") == marks
    with (models / "one" / name).open("ab") as file:
        file.write(b" ")
    assert fingerprint(models / "one") != marks
    (models / "one" / name).unlink()
    assert version_of(models / "one") not in (before, 0)


def test_an_allowed_folder_may_be_a_link(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (models / "door").symlink_to(models / "two", target_is_directory=True)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(models / "door"))
    for path in (models / "door", models / "two"):
        assert find(str(path)) == [path]


def test_public_mode_is_a_setting_too(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")  # as behind a proxy on this machine
    assert refused(str(models / "one")) == opening.OFF
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    listen(monkeypatch, "0.0.0.0")
    assert find(str(models / "one")) == [models / "one"]
