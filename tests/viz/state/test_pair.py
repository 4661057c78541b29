"""A second text is entered beside the first where a checkpoint reads pairs, and stays."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.hugging_face.pairs import A, B, save_pair_reader
from tests.transformer.hugging_face.saving import save, writer
from viz.run.request import answer, make_request
from viz.screen import Screen, choose, parse, spell

APP = Path(__file__).parents[3] / "app.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(tmp_path))
    save_pair_reader("BERT", tmp_path / "cross-encoder")
    return tmp_path / "cross-encoder"


def app_at(folder: Path, **address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in ({"checkpoint": str(folder), "text": A} | address).items():
        app.query_params[name] = value
    return app.run()


def boxes(app: AppTest) -> list[str]:
    return [each.value for each in app.text_input if each.label == "Second text"]


def segments(app: AppTest) -> set[str | None]:
    return {token.segment for token in app.session_state["session"].answer.recording.source}


def script() -> None:
    import streamlit as st

    from viz.run.request import about
    from viz.state.chat import choose_pair, chosen_pair
    from viz.state.state import session

    description = about(st.session_state["folder"])
    choose_pair(description, chosen_pair(description, session().screen))


def test_it_is_entered_beside_the_first(folder: Path) -> None:
    app = app_at(folder)
    assert not app.exception and boxes(app) == [""] and segments(app) == {None}
    app = AppTest.from_function(script)
    app.session_state["folder"] = str(folder)
    app.run()
    for text in (B, A):
        app.text_input[0].set_value(text).run()
        assert app.session_state["session"].screen.pair == text


def test_a_link_names_it(folder: Path) -> None:
    app = app_at(folder, pair=B)
    assert not app.exception and boxes(app) == [B] and segments(app) == {"A", "B"}


def test_one_that_is_too_long_ends_in_a_sentence(folder: Path) -> None:
    app = app_at(folder, pair="the cat " * 40)
    assert not app.exception
    assert any("pair of texts" in each.value for each in app.warning)


def test_both_texts_together_are_as_long_as_one_may_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    for most, is_refused in ((len(A + B), False), (len(A + B) - 1, True)):
        monkeypatch.setenv("HEADSCOPE_MOST_CHARACTERS", str(most))
        app = app_at(folder, pair=B)
        assert not app.exception
        assert any(f"up to {most} characters" in it.value for it in app.warning) is is_refused


def test_a_checkpoint_of_one_text_leaves_it_out(folder: Path) -> None:
    other = save(writer("Marian"), folder.parent / "translator")
    app = app_at(other, pair=B, text="the cat")
    assert not app.exception and not boxes(app) and segments(app) == {None}
    assert app.session_state["session"].screen.pair == B


def test_it_is_part_of_the_address_and_of_the_question(folder: Path) -> None:
    screen = Screen(pair="a & b\nü")
    assert parse(spell(screen)) == screen
    assert choose(screen, checkpoint="another").pair == screen.pair
    one, two = (make_request(str(folder), A, "none", pair=pair) for pair in ("", B))
    assert len(answer(one).recording.source) < len(answer(two).recording.source)


@pytest.mark.parametrize(("pair", "fields"), [("", []), (B, [B])])
def test_on_a_wall_an_empty_field_leaves_its_room_to_the_picture(
    pair: str, fields: list[str], folder: Path
) -> None:
    address = {"pair": pair} if pair else {}
    app = app_at(folder, story="attention-is-all-you-need", role="stage", **address)
    assert not app.exception and boxes(app) == fields
