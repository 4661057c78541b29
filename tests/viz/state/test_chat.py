"""A chat template is chosen beside the text; the text that is read stands on the page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.hugging_face.test_chatting import folder_with
from transformer import InputError
from transformer.hugging_face.chat.chatting import MOST
from viz.run.request import Chat, answer, make_request, open_checkpoint
from viz.run.settings import TEMPLATES
from viz.screen import Screen, parse, spell
from viz.state.chat import lines_of, turns_in
from viz.state.state import Session

APP = Path(__file__).parents[3] / "app.py"
TEMPLATE = (
    "{% if messages[0].role == 'system' %}{{ messages[0].content }} {% endif %}"
    "{{ bos_token }}the {{ messages[-1].content }}\n"
)
WHOLE = "{% for each in messages %}{{ each.role[0] }} {{ each.content }} {% endfor %}"
SEVERAL = [
    {"name": "default", "template": TEMPLATE},
    {"name": "*rag*", "template": "ran . dog"},
    {"name": "all", "template": WHOLE},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(tmp_path))
    return folder_with(tmp_path, SEVERAL)


def app_at(folder: Path, **address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in ({"checkpoint": str(folder), "text": "cat"} | address).items():
        app.query_params[name] = value
    return app.run()


def read_as(app: AppTest) -> list[str]:
    return [each.value for each in app.caption if each.value.startswith("Read as")]


def offered(app: AppTest) -> list[str]:
    lists = [each.options for each in app.selectbox if each.label == "Chat template"]
    return lists[0] if lists else []


def script() -> None:
    import streamlit as st

    from viz.run.request import about, make_request
    from viz.state.chat import choose_system, choose_template, choose_turns, chosen_chat, templates
    from viz.state.state import session

    chat = chosen_chat(session().screen)
    choose_template(templates(about(st.session_state["folder"]), chat), chat)
    if chat is not None:
        choose_system(chat)
        choose_turns(make_request(st.session_state["folder"], "cat", "greedy", chat=chat))


def test_it_is_chosen_from_those_of_the_folder(folder: Path) -> None:
    app = app_at(folder)
    assert not app.exception and not read_as(app)
    assert len(offered(app)) == 4
    app = AppTest.from_function(script)
    app.session_state["folder"] = str(folder)
    app.run()
    for at, name in enumerate((None, "default", "*rag*", "default")):
        app.selectbox[0].select_index(min(at, 4 - at)).run()
        assert app.session_state["session"].screen.template == name
    app.text_area[0].set_value("dog ran").run()
    assert app.session_state["session"].screen.system == "dog ran"
    app.text_area[1].set_value("the cat\nassistant: ran:\nuser dog\nuser:sat").run()
    turns = (("user", "the cat"), ("assistant", "ran:\nuser dog"), ("user", "sat"))
    assert app.session_state["session"].screen.turns == turns
    app.run()
    assert app.text_area[1].value == "user: the cat\nassistant: ran:\nuser dog\nuser: sat"


@pytest.mark.parametrize(
    "text",
    [
        "A dialogue:\nuser: hi\nassistant: hello",
        "user: first\n system : last\n",
        "\\user: hi\n\\user: hi\n\\\\user: hi\n \\user: hi\n\\\nC:\\user",
        "\n\n user:\n",
        "",
    ],
)
def test_a_turn_whose_lines_look_like_turns_is_one(text: str) -> None:
    turns = (("user", text), ("assistant", text), ("assistant", text))
    assert turns_in(lines_of(turns)) == turns


def test_one_letter_of_a_turn_changes_no_other(folder: Path) -> None:
    app = AppTest.from_function(script)
    app.session_state["folder"] = str(folder)
    answer = ("assistant", "A dialogue:\nuser: hi\nassistant: hello")
    turns = (("user", "the cat"), answer)
    app.session_state["session"] = Session(Screen(template="all", turns=turns))
    app.run()
    app.text_area[1].set_value(app.text_area[1].value.replace("the cat", "the dog")).run()
    assert app.session_state["session"].screen.turns == (("user", "the dog"), answer)


@pytest.mark.parametrize(("n", "is_said"), [(MOST - 2, False), (MOST - 1, True)])
def test_what_a_long_conversation_loses_is_said(folder: Path, n: int, is_said: bool) -> None:
    app = AppTest.from_function(script)
    app.session_state["folder"] = str(folder)
    app.session_state["session"] = Session(Screen(template="all", turns=(("user", "cat"),) * n))
    app.run()
    assert any(f"at most {MOST} earlier turns" in it.value for it in app.caption) is is_said


def test_the_whole_conversation_is_as_long_as_a_text_may_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv(TEMPLATES, "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_CHARACTERS", "40")
    for n, is_refused in ((9, False), (10, True)):
        app = app_at(folder, template="all", turns="/".join(["user:cat"] * n), system="dog ran")
        assert not app.exception
        assert any("up to 40 characters" in it.value for it in app.warning) is is_refused


def test_a_link_names_it_and_the_system_message(folder: Path) -> None:
    app = app_at(folder, template="default", system="dog ran")
    assert not app.exception
    assert "dog ran" in read_as(app)[0]
    recording = app.session_state["session"].answer.recording
    assert [token.piece for token in recording.source] == ["dog", "ran", "<s>", "the", "cat"]
    turns = "user: the dog/assistant: sat . *ran*"
    app = app_at(folder, template="all", turns=turns)
    assert read_as(app)[0].endswith("u the dog a sat . \\*ran\\* u cat ".strip())
    assert [each.value for each in app.caption if each.value.startswith("assistant")]
    app = app_at(folder, template="*rag*")
    assert not app.exception and "ran . dog" in read_as(app)[0]


def test_one_that_is_not_there_ends_in_a_sentence(folder: Path) -> None:
    app = app_at(folder, template="other")
    assert not app.exception
    assert any("no template 'other'" in each.value for each in app.warning)
    assert len(offered(app)) == 5  # itself, so that it can be left


def test_strangers_run_none_unless_the_operator_lets_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    request = make_request(str(folder), "cat", "greedy", (("max_len", 2),), chat=Chat("default"))
    with pytest.raises(InputError, match="this server runs none"):
        answer(request)
    assert not offered(app_at(folder))
    app = app_at(folder, template="default")
    assert any("this server runs none" in each.value for each in app.warning)
    monkeypatch.setenv(TEMPLATES, "yes")
    assert open_checkpoint(request) is not None
    assert read_as(app_at(folder, template="default"))


def test_it_is_part_of_the_address_and_of_the_question(folder: Path) -> None:
    turns = (("user", "a/b %2F user:\nü "), ("assistant", ""))
    screen = Screen(template="default", system="a & b\nü", turns=turns)
    assert parse(spell(screen)) == screen
    request = make_request(str(folder), "cat", "greedy", (("max_len", 2),), chat=Chat("default"))
    plain = make_request(str(folder), "cat", "greedy", (("max_len", 2),))
    assert len(answer(request).recording.source) > len(answer(plain).recording.source)
