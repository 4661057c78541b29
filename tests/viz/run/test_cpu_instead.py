"""A device that fails is said on screen, and the app goes on, by the CPU if a setting allows it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.routing import Router
from streamlit.testing.v1 import AppTest
from torch import nn

from tests.transformer.test_device import LOST, NO_MEMORY
from tests.viz.state.test_failures import has_picture, said
from tests.viz.state.test_live_preview import address_of, post, text
from tests.viz.ui.test_app import turn, widget
from transformer.layers.attention import DotProductAttention
from transformer.recording import AttentionCall
from viz.run import line as cpu_instead
from viz.run.cache import CACHE, forget
from viz.run.line import LATER, Failures
from viz.state import live_preview
from viz.state.preview_route import AS_ENTERED, preview_route

APP = Path(__file__).parents[3] / "app.py"
TOO_LITTLE = "The GPU has too little memory for this"


@dataclass
class Device:
    """A GPU that fails, as long as the CPU does not do its work."""

    patch: pytest.MonkeyPatch
    failed: Failures
    fails: bool = True

    def breaks(self, owner: Any, name: str, error: Exception) -> None:
        """Let this function raise the error."""
        whole = getattr(owner, name)

        def run(*args: Any, **named: Any) -> Any:
            if self.fails and not self.failed.texts and self.failed.lost is None:
                raise error
            return whole(*args, **named)

        self.patch.setattr(owner, name, run)

    def allow_cpu(self) -> None:
        self.patch.setenv("HEADSCOPE_CPU_INSTEAD", "yes")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    forget()
    CACHE.clear()
    failed = Failures()
    monkeypatch.setattr(cpu_instead, "FAILURES", failed)
    monkeypatch.setattr(cpu_instead, "choose_device", lambda: torch.device("cuda"))
    monkeypatch.setattr(live_preview, "_is_served", False)
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(APP.parent / "checkpoints"))
    yield Device(monkeypatch, failed)
    CACHE.clear()


def opened() -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["checkpoint"] = "copy"
    turn(app, "explore")
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception
    return app


def enter(app: AppTest, typed: str) -> AppTest:
    return checked(widget(app.text_input, "text").set_value(typed).run())


def warned(app: AppTest) -> str:
    return " ".join(each.value.replace("\\", "") for each in (*app.warning, *app.info))


def test_too_little_memory_for_a_text(device: Device) -> None:
    app = opened()
    device.breaks(DotProductAttention, "forward", NO_MEMORY)
    enter(app, "5 5 2")
    assert TOO_LITTLE in warned(app) and "Still shown: “3 7 2 9 4 11 5”." in warned(app)
    assert has_picture(app) and not device.failed.texts
    device.fails = False
    enter(app, "5 5 2 8")
    assert not warned(app) and has_picture(app)


def test_the_cpu_does_what_the_memory_is_too_little_for(device: Device) -> None:
    device.allow_cpu()
    app = opened()
    device.breaks(DotProductAttention, "forward", NO_MEMORY)
    enter(app, "5 5 2")
    assert TOO_LITTLE in warned(app) and LATER in warned(app)
    assert has_picture(app) and not said(app)
    assert app.session_state["session"].answer.request.text == "5 5 2"
    enter(app, "5 5 2 8")
    assert not warned(app)


def test_the_second_of_two_says_that_the_cpu_computed_it(device: Device) -> None:
    device.failed.texts["en-de-small", "3 7 2 9 4 11 5"] = TOO_LITTLE
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["checkpoint"], app.query_params["checkpoint_b"] = "copy", "en-de-small"
    turn(app, "compare")
    assert f"B: {TOO_LITTLE}" in warned(checked(app.run()))


def test_a_lost_device_leaves_all_to_the_cpu(device: Device) -> None:
    device.allow_cpu()
    device.breaks(DotProductAttention, "forward", LOST)
    app = opened()
    assert "does not answer any more (device-side assert triggered)" in warned(app)
    assert LATER in warned(app) and has_picture(app)
    assert LATER in warned(enter(app, "5 5 2"))


def test_too_little_memory_for_a_checkpoint(device: Device) -> None:
    device.breaks(nn.Module, "to", NO_MEMORY)
    app = opened()
    assert TOO_LITTLE in warned(app) and not has_picture(app)
    assert widget(app.selectbox, "checkpoint").value == "copy"
    device.allow_cpu()
    checked(app.run())
    assert LATER in warned(app) and has_picture(app)


def test_too_little_memory_for_a_picture(device: Device) -> None:
    app = opened()
    device.breaks(AttentionCall, "weights", NO_MEMORY)
    CACHE.clear()
    checked(app.run())
    assert TOO_LITTLE in said(app) and "Choose another page" in said(app) and not has_picture(app)
    device.allow_cpu()
    checked(app.run())
    assert not said(app) and LATER in warned(app) and has_picture(app)


def test_too_little_memory_for_a_preview(device: Device) -> None:
    router, app = Router([preview_route()]), opened()
    device.breaks(AttentionCall, "weights", NO_MEMORY)
    assert post(router, address_of(app), text("5 5 2")) == (AS_ENTERED, b"")
    device.fails = False
    assert post(router, address_of(app), text("5 5 2"))[0] == 200
    device.fails = True
    device.breaks(DotProductAttention, "forward", NO_MEMORY)
    assert post(router, address_of(app), text("5 5"))[0] == AS_ENTERED
    device.allow_cpu()
    assert post(router, address_of(app), text("5 5"))[0] == 200


def test_texts_that_failed_first_are_tried_again(device: Device, monkeypatch: Any) -> None:
    device.allow_cpu()
    monkeypatch.setattr(cpu_instead, "MOST", 2)
    for text_ in "abc":
        assert cpu_instead.may_repeat(NO_MEMORY, text_, "copy")
    assert not cpu_instead.may_repeat(NO_MEMORY, "c", "copy")
    assert not cpu_instead.may_repeat(ValueError("c"), "d", "copy")
    assert [cpu_instead.device_for("copy", each) for each in "abc"] == [None, "cpu", "cpu"]
