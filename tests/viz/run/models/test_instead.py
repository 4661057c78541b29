"""A page says that its own process did what models elsewhere were to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.browser.server import free_port
from tests.viz.run.models.serving import served
from tests.viz.state.test_failures import has_picture
from tests.viz.ui.test_app import turn, widget
from viz.run.cache import CACHE
from viz.run.models import choosing, elsewhere
from viz.server.models.answering import answering

APP = Path(__file__).parents[4] / "app.py"


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A place where nothing answers, and this process does it instead."""
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setattr(elsewhere, "PAUSES", (0.0,))
    monkeypatch.setenv("HEADSCOPE_MODELS", address)
    monkeypatch.setenv("HEADSCOPE_MODELS_INSTEAD", "here")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(APP.parent / "checkpoints"))
    CACHE.clear()
    yield address
    CACHE.clear()
    choosing._REST.until.clear()


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    turn(app, page)
    return app.run()


def notes(app: AppTest, address: str) -> list[str]:
    """The sentences that name the place, without what keeps them from being links."""
    assert not app.exception
    said = [each.value.replace("\\", "").replace("\u2060", "") for each in app.info]
    return [each for each in said if address in each]


def test_the_page_says_it_until_they_answer(address: str) -> None:
    app = opened("explore", checkpoint="copy")
    assert len(notes(app, address)) == 1 and has_picture(app)
    choosing._REST.until.clear()
    with served(answering(), int(address.rpartition(":")[2])):
        widget(app.text_input, "text").set_value("5 5 2").run()
        assert not notes(app, address) and has_picture(app)


def test_the_second_of_two_says_it(address: str) -> None:
    app = opened("compare", checkpoint="copy", checkpoint_b="en-de-small")
    first, second = notes(app, address)
    assert second == f"B: {first}"
