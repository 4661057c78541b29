"""What a page, the header or a callback raises is a sentence with a way back; the log has more."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from transformer import InputError
from transformer.discover import discover
from viz.run.operating import COUNTS
from viz.screen import FIRST_PAGE
from viz.state.page import report

ROOT = Path(__file__).parents[3]
PAGES = discover("viz.pages", "PAGE")


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The copy task on the first page."""
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(ROOT / "checkpoints"))
    return at("./?checkpoint=copy&layer=1")


def at(link: str) -> AppTest:
    """The app at an address, in a new session."""
    page, _, query = link.removeprefix("./").partition("?")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app._page_hash = calc_hash(page or FIRST_PAGE)
    for name, value in parse_qsl(query):
        app.query_params[name] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception
    return app


def turn(app: AppTest, page: str) -> AppTest:
    app._page_hash = calc_hash(page)
    return checked(app.run())


def said(app: AppTest) -> str:
    return " ".join(element.value.replace("\\", "") for element in app.error)


def offer(app: AppTest) -> tuple[str, str]:
    """The words of the link below the sentence, and where it leads."""
    (found,) = filter(None, (re.search(r'<a .*href="(.*?)">(.*)</a>', each) for each in drawn(app)))
    return found[2], found[1].replace("&amp;", "&")


def drawn(app: AppTest) -> list[str]:
    return [each.proto.body for each in app.get("html")]


def has_picture(app: AppTest) -> bool:
    names = [each.proto.component_name for each in app.get("bidi_component")]
    return any(name.endswith("head_view") for name in names)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (KeyError("x"), "Decode could not be drawn: the program has a fault there (KeyError)"),
        (MemoryError(), "Decode could not be drawn: there is not enough memory"),
        (PermissionError(13, "Permission denied"), "be read or written (Permission denied)."),
        (InputError("The text is too odd."), "The text is too odd. Choose another page"),
    ],
)
def test_a_page_that_fails_is_a_sentence_below_the_header(
    app: AppTest, monkeypatch: Any, caplog: Any, error: Exception, sentence: str
) -> None:
    monkeypatch.setitem(PAGES, "decode", replace(PAGES["decode"], draw=failing(error)))
    turn(app, "decode")
    assert sentence in said(app)
    assert "Sentence" in [field.label for field in app.text_input] and not has_picture(app)
    is_logged = "in fail\n    raise error" in caplog.text
    assert is_logged != isinstance(error, InputError)  # a refusal is no failure
    words, link = offer(app)
    assert (words, link) == ("Back to Explore", "./?checkpoint=copy&layer=1")
    assert has_picture(at(link)) and not said(at(link))
    turn(app, FIRST_PAGE)
    assert has_picture(app) and not said(app)


def test_a_page_is_tried_again_at_the_next_run(app: AppTest, monkeypatch: Any) -> None:
    whole = PAGES["decode"]
    monkeypatch.setitem(PAGES, "decode", replace(whole, draw=failing(KeyError("x"))))
    assert "Decode" in said(turn(app, "decode"))
    monkeypatch.setitem(PAGES, "decode", whole)
    assert not said(checked(app.run()))


def test_a_model_that_fails_leaves_the_header(app: AppTest, monkeypatch: Any) -> None:
    monkeypatch.setattr("viz.ui.header.whole", failing(RuntimeError("no such kernel")))
    (field,) = (each for each in app.text_input if each.label == "Sentence")
    checked(field.set_value("3 4").run())
    assert "Explore could not be drawn" in said(app) and "(RuntimeError)" in said(app)
    assert "Checkpoint" in [box.label for box in app.selectbox]
    assert offer(app)[1] == "./?checkpoint=copy&layer=1"


def test_at_the_start_the_way_back_is_the_start(monkeypatch: Any) -> None:
    monkeypatch.setitem(PAGES, "explore", replace(PAGES["explore"], draw=failing(KeyError("x"))))
    assert offer(at("./?checkpoint=copy")) == ("Back to the start", "./?")
    assert offer(at("./")) == ("Try again", "./?")


def test_a_folder_of_a_model_of_images_leaves_the_header(app: AppTest, tmp_path: Path) -> None:
    """Its config.json names no vocab_size."""
    import transformers

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(**sizes, intermediate_size=20, image_size=8, patch_size=4)
    transformers.ViTModel._from_config(config).save_pretrained(tmp_path / "vit")
    for page in ("inspect", "compare", ""):
        opened = at(f"./{page}?checkpoint={tmp_path / 'vit'}")
        assert "names no vocab_size" in said(opened)
        assert "Checkpoint" in [box.label for box in opened.selectbox]


def test_a_choice_that_fails_leaves_the_page(app: AppTest, monkeypatch: Any, caplog: Any) -> None:
    (field,) = (each for each in app.text_input if each.label == "Sentence")
    monkeypatch.setattr("viz.state.state.choose", failing(ZeroDivisionError()))
    checked(field.set_value("3 4").run())
    assert "What you chose last did not work" in said(app) and has_picture(app)
    assert "ZeroDivisionError" in caplog.text
    monkeypatch.undo()
    assert not said(checked(app.run()))


def test_what_cannot_be_opened_leaves_the_page(app: AppTest, monkeypatch: Any) -> None:
    monkeypatch.setattr("viz.ui.sidebar.find", failing(RecursionError()))
    (field,) = (each for each in app.text_input if each.key == "open_text")
    checked(field.set_value("/a/folder").run())
    assert "could not be opened" in said(app) and has_picture(app)


def test_a_refusal_is_said_and_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    before = COUNTS.values.get("headscope_failures_total", 0)
    assert report(InputError("Wait a second."), "It failed") == "Wait a second."
    assert COUNTS.values.get("headscope_failures_total", 0) == before and not caplog.records
    assert report(ValueError("no"), "It failed").startswith("It failed: the program has a fault")
    assert (
        COUNTS.values.get("headscope_failures_total", 0) == before + 1 and len(caplog.records) == 1
    )
