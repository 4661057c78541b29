"""Translators of many languages: which one is read and which is written is chosen."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.models.test_hugging_face_languages import TEXT, save_translator

APP = Path(__file__).parents[3] / "app.py"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app, at a small mBART-50 with random weights."""
    folder = save_translator("mBART-50", tmp_path)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(tmp_path))
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["open"], app.query_params["text"] = str(folder), TEXT
    return app


def shown(app: AppTest) -> str:
    """What the rows of tokens are given to show."""
    components = [component.proto for component in app.get("bidi_component")]
    return next(str(each) for each in components if each.component_name.endswith("token_rows"))


def test_both_are_chosen_from_the_codes_of_the_tokenizer(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert {"ar_AR", "de_DE", "en_XX"} <= set(app.selectbox(key="from").options)
    assert app.selectbox(key="from").value == "en_XX" and app.selectbox(key="to").value is None
    assert "en_XX" in shown(app)


def test_decode_shows_what_was_written_in_a_language(app: AppTest) -> None:
    app.query_params["to"] = "de_DE"
    app.run()
    app.switch_page(str(APP.parent / "viz" / "pages" / "decode.py")).run()
    assert not app.exception
    names = [component.proto.component_name for component in app.get("bidi_component")]
    assert any(name.endswith("decode_player") for name in names)


def test_a_link_names_them_and_the_page_says_so(app: AppTest) -> None:
    app.query_params["from"], app.query_params["to"] = "ar_AR", "de_DE"
    app.run()
    assert not app.exception
    assert "ar_AR" in shown(app) and "en_XX" not in shown(app)
    assert any("ar\\_AR → de\\_DE · " in caption.value for caption in app.caption)
