"""Translators of many languages: which one is read and which is written is chosen."""

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.transformer.hugging_face.test_languages import TEXT, save_translator
from transformer import decode, load_checkpoint, record, translating
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.kit.browser import unpack

APP = Path(__file__).parents[3] / "app.py"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app, at a small mBART-50 with random weights."""
    folder = save_translator("mBART-50", tmp_path)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(tmp_path))
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["checkpoint"], app.query_params["text"] = str(folder), TEXT
    return app


def shown(app: AppTest) -> str:
    """What the rows of tokens are given to show."""
    components = [component.proto for component in app.get("bidi_component")]
    return next(str(each) for each in components if each.component_name.endswith("token_rows"))


def test_what_the_tokenizer_says_is_chosen_first(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert "en_XX" in shown(app)


def script() -> None:
    import streamlit as st

    from viz.run.request import about
    from viz.state.chat import choose_languages, chosen_languages
    from viz.state.state import session

    known = about(st.session_state["folder"])
    assert known is not None
    choose_languages(known, chosen_languages(known, session().screen))


def test_both_are_chosen_from_the_codes_of_the_tokenizer(tmp_path: Path) -> None:
    app = AppTest.from_function(script)
    app.session_state["folder"] = str(save_translator("mBART-50", tmp_path))
    source, target = app.run().selectbox
    assert {"ar_AR", "de_DE", "en_XX"} <= set(source.options)
    assert (source.value, target.value) == ("en_XX", None)
    target.set_value("de_DE").run()
    assert app.session_state["session"].screen.target_language == "de_DE"
    app.selectbox[1].select_index(0).run()
    assert app.session_state["session"].screen.target_language is None


def test_steps_of_a_decoder_that_starts_with_a_language(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(save_translator("mBART-50", tmp_path), "cpu")
    told = translating(checkpoint, "ar_AR", "de_DE")
    decoding = decode(told, TEXT)
    recording = record(told, TEXT, decoding.target)
    header, (cross, own, _) = unpack(DecodePlayer(1, 0).payload(recording, decoding))
    assert [piece for piece, _ in header["read"]][:2] == ["</s>", "de_DE"]
    assert len(header["read"]) == len(decoding.target) + 1
    weights = recording.attentions["cross"].weights(1, 0)[1:]
    assert torch.equal(torch.from_numpy(cross.copy()), weights)
    assert own.shape == (len(decoding.target), len(header["read"]))


def test_a_link_names_them_and_the_page_says_so(app: AppTest) -> None:
    app.query_params["source_language"] = "ar_AR"
    app.query_params["target_language"] = "de_DE"
    app.run()
    assert not app.exception
    assert "ar_AR" in shown(app) and "en_XX" not in shown(app)
    assert any(caption.value.startswith("ar_AR → de_DE") for caption in app.caption)
