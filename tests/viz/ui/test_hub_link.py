"""A link that names a model on Hugging Face's hub: it fills a field in, and a person opens it."""

import socket
from pathlib import Path

import huggingface_hub
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import said, screen, start, widget
from transformer.checkpoint import checkpoints_folder

NAME = "some/model"


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that the hub was asked for; it has one. Nobody connects to anything else."""
    names: list[str] = []

    def download(name: str, **named: object) -> str:
        names.append(name)
        if name != NAME:
            raise OSError("there is no such model")
        return str(checkpoints_folder() / "copy")

    def connect(_: object, address: object) -> None:
        names.append(str(address))
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(socket.socket, "connect", connect)
    return names


def field(app: AppTest) -> str:
    return str(widget(app.text_input, "open_text").value)


def press(app: AppTest) -> AppTest:
    (button,) = (each for each in app.button if each.label == "Open")
    return button.click().run()


def may_press(app: AppTest) -> bool:
    return any(each.label == "Open" for each in app.button)


def test_a_link_fills_in_and_a_press_opens(fetched: list[str]) -> None:
    app = start(hub=NAME, page="masks")
    assert field(app) == NAME and screen(app).hub == NAME
    for _ in range(2):  # nothing but a press opens it
        assert may_press(app.run()) and not said(app)
    assert screen(app).checkpoint is None and not fetched
    press(app)
    assert fetched == [NAME]
    assert Path(screen(app).checkpoint or "").name == "copy" and screen(app).hub is None
    assert not may_press(app) and not may_press(app.run()) and fetched == [NAME]


def test_what_the_hub_has_not_is_said_and_may_be_tried_again(fetched: list[str]) -> None:
    app = press(start(hub="no/model", page="masks"))
    assert "no/model is not a folder here" in said(app) and screen(app).checkpoint is None
    assert fetched == ["no/model"] and may_press(app)


def test_who_types_something_else_leaves_the_link(fetched: list[str]) -> None:
    app = start(hub=NAME, page="masks")
    widget(app.text_input, "open_text").set_value("").run()
    assert screen(app).hub is None and not may_press(app) and not fetched


@pytest.mark.parametrize("text", ["", "model", "/etc/passwd", "../up", "a/b/c", "a/b c"])
def test_what_is_no_name_on_the_hub_fills_nothing_in(text: str, fetched: list[str]) -> None:
    app = start(hub=text, page="masks")
    assert field(app) == "" and screen(app).hub is None and not may_press(app) and not fetched


@pytest.mark.parametrize("setting", ["HEADSCOPE_PUBLIC", "HEADSCOPE_FOLDERS"])
def test_a_server_for_others_refuses_it_in_a_sentence(
    setting: str, fetched: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    value = str(tmp_path) if setting == "HEADSCOPE_FOLDERS" else "yes"
    monkeypatch.setenv(setting, value)
    app = start(hub=NAME, page="masks")
    (sentence,) = (each.value for each in app.warning)
    assert NAME in sentence.replace("\\", "") and sentence.count(". ") == 0
    assert screen(app).hub is None and not may_press(app) and not fetched
