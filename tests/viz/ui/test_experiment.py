"""Edits on the page: in force by the address, taken back, dropped where they cannot be made."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import EXAMPLE, folder, said, screen, start
from transformer import decode, load_checkpoint
from transformer.checkpoint import Checkpoint
from transformer.edits import Edit, edit_kinds, of_any_text
from transformer.edits.edit import NUMBERS
from viz.state import changing
from viz.ui.experiment import HELD

__all__ = ["folder"]

HEAD = "head-off:cross.0.1"


def outputs(app: AppTest) -> str:
    """The strip's two lines as text."""
    found = [each.proto.body for each in app.get("html") if 'class="text-lines"' in each.proto.body]
    return re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", found[0], flags=re.S))


def press(app: AppTest, title: str) -> AppTest:
    return next(each for each in app.button if each.label == title).click().run()


def test_edits_of_the_address_are_in_force(folder: Path) -> None:
    checkpoint = load_checkpoint(folder / "copy")
    edits = [f"head-off:cross.{layer}.{head}" for layer in range(2) for head in range(4)]
    edits = [each for each in edits if _is_there(checkpoint, each)]
    app = start(edits="/".join(edits), decoding="greedy")
    assert app.session_state["session"].answer.recording.target == (
        decode(checkpoint, EXAMPLE, edits=edits).target
    )
    assert screen(app).edits == tuple(edits)
    assert "without the edits" in outputs(app)
    assert re.search(r"[+−]\d+\.\d\d", outputs(app))


def _is_there(checkpoint, edit: str) -> bool:
    _, layer, head = edit.rsplit(".", 2)
    return int(layer) < checkpoint.config.n_decoder_layers and int(head) < checkpoint.config.n_heads


def test_edits_are_taken_back_and_made_again(copied: Path) -> None:
    app = start(edits=HEAD)
    press(app, "All off")
    assert screen(app).edits == ()
    press(app, "Undo")
    assert screen(app).edits == (HEAD,)
    press(app, "Redo")
    assert screen(app).edits == ()
    assert not said(app)


def says_held(app: AppTest) -> bool:
    return any(HELD in each.proto.body for each in app.get("html"))


def test_what_goes_with_its_sentence_is_said_and_comes_back_by_undo(copied: Path) -> None:
    """Whoever kept a repair and typed on had the rows of the old sentence forced on the new one."""
    of_word = "hide:source.1"
    app = start(text="3 7 2 9", edits=f"{of_word}/{HEAD}")
    assert not says_held(app)
    next(each for each in app.text_input if each.label == "Sentence").set_value("4 7 2 9").run()
    assert screen(app).edits == (HEAD,)
    assert says_held(app)
    assert "Undo" in " ".join(each.value for each in app.info)
    press(app, "Undo")
    assert screen(app).edits == (of_word, HEAD) and screen(app).text == "4 7 2 9"
    assert not said(app) and not app.info


def test_what_goes_with_the_words_of_another_decoding_is_said_and_comes_back_by_undo() -> None:
    """The same number named whatever another method, an option or a decision had written there."""
    choices = {"text": "Tom lives in Boston.", "decoding": "greedy", "checkpoint": "en-de-small"}
    at = 3  # of the first word that is another one then
    stays = ["hide:source.1", HEAD, f"cut:cross.0.1.{at - 2}.0", "emphasise:cross.0.1=0.9,2"]
    goes = [f"cut:cross.0.1.{at}.0", f"arrow-scale:decoder_self.0.1.{at + 1}.{at}=0.9"]
    choices["edits"] = "/".join([*stays, *goes])
    written = [
        each.id for each in start(**choices).session_state["session"].answer.recording.target
    ]
    prefix = ".".join(map(str, [*written[:at], written[0]]))
    app = start(**choices, prefix=prefix)
    assert screen(app).edits == (*stays, *goes) and not app.info  # a link means what it says
    app.button(key="branch 0").click().run()
    assert screen(app).edits == tuple(stays)
    assert "2 changes" in app.info[0].value and "Undo" in app.info[0].value
    app.run()
    assert app.info, "it stands as long as nothing else is chosen"
    press(app, "Undo")
    assert screen(app).edits == (*stays, *goes) and screen(app).prefix == ()
    assert not app.info and not said(app)


def test_every_edit_that_names_a_written_word_goes_with_it(folder: Path) -> None:
    """Kind by kind, beside what names words that are read, and what names none."""
    checkpoint = load_checkpoint(folder / "copy")
    (ten,) = (i for i in range(checkpoint.config.vocab_size) if _piece(checkpoint, i) == "10")
    written, read = [], []
    for kind in edit_kinds().values():
        values = [*kind.values, *([kind.further] if kind.further else [])]
        numbers = tuple({"query": 3, "key": 2}.get(name, 0) for name in NUMBERS[kind.of])
        tokens = tuple(2.0 if each.is_token else each.default for each in values)
        text = "4 7 2 9 4 11 5" if kind.text == "needed" else ""
        at = "decoder_self" if kind.of not in ("side", "read word") else "source"
        at = "cross" if kind.name == "cut-word" else at
        edit = str(Edit(kind.name, at, numbers, tokens, text))
        if kind.is_of_text:
            (written if at == "decoder_self" else read).append(edit)
    assert len(written) >= 5 and len(read) >= 3
    app = start(edits="/".join([*written, HEAD, *read]), prefix=f"{ten}.{ten}.{ten}.{ten}")
    assert screen(app).edits == (*written, HEAD, *read) and not said(app)
    app.button(key="branch 0").click().run()
    assert screen(app).edits == (HEAD, *read) and f"{len(written)} changes" in app.info[0].value


def test_edits_are_compared_once_and_not_each_with_all(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def counted(edits: Sequence[str]) -> tuple[str, ...]:
        compared.append(len(edits))
        return of_any_text(edits)

    monkeypatch.setattr(changing, "of_any_text", counted)
    n_compared = []
    for n in (1, 3):
        start(edits="/".join(f"cut:cross.0.0.{query}.0" for query in range(n)))
        n_compared.append(len(compared))
        compared.clear()
    assert n_compared[0] == n_compared[1] > 0


def _piece(checkpoint: Checkpoint, id: int) -> str:
    return checkpoint.tokenizer.token(id).piece


@pytest.mark.parametrize(
    "wrong",
    [f"{HEAD}0", "head-off:cross.9.9", "cut:cross.0.0.0.99", "head-off:nothing.0.0"],
)
def test_an_edit_of_what_is_not_there_is_dropped_with_a_note(copied: Path, wrong: str) -> None:
    app = start(edits=f"{HEAD}/{wrong}")
    assert screen(app).edits == (HEAD,)
    notes = re.sub(r"[\\\N{WORD JOINER}]", "", " ".join(each.value for each in app.info))
    assert "It was dropped." in notes
    assert wrong in notes
    assert app.session_state["session"].answer.request.edits == (HEAD,)


def test_without_edits_or_a_tool_the_page_says_nothing_of_them(copied: Path) -> None:
    app = start()
    assert not [each for each in app.button if each.label in ("Undo", "Redo", "All off")]
    press(app, "Experiment")
    assert [each.disabled for each in app.button if each.label in ("Undo", "Redo")] == [True, True]
    press(app, "Experiment")
    assert screen(app).tool == "look"


@pytest.mark.parametrize(("page", "is_shown"), [("decode", True), ("compare", False)])
def test_a_page_shows_the_changed_model_or_says_that_it_does_not(
    copied: Path, page: str, is_shown: bool
) -> None:
    app = start(edits=HEAD, page=page)
    assert screen(app).edits == (HEAD,)
    assert app.session_state["session"].answer.request.edits == ((HEAD,) if is_shown else ())
    notes = [each.value for each in app.caption if "changed by 1 edit" in each.value]
    assert len(notes) == (not is_shown)


def test_heads_that_are_off_stand_beside_other_edits() -> None:
    def script() -> None:
        from viz.state.changing import switch_off
        from viz.state.state import change

        change(edits=("head-off:cross.0.0", "cut:cross.0.0.1.2"))
        switch_off([("cross", 0, 1)])

    app = AppTest.from_function(script).run()
    assert screen(app).edits == ("cut:cross.0.0.1.2", "head-off:cross.0.1")


def test_links_back_and_forward_are_changes_that_can_be_taken_back() -> None:
    def script() -> None:
        from dataclasses import replace

        import streamlit as st

        from viz.state.changing import changes, note_edits, redo, undo
        from viz.state.state import session

        state, seen = session(), []

        def go(*edits: str, checkpoint: str | None = None) -> None:
            before = state.screen
            state.screen = replace(before, edits=edits, checkpoint=checkpoint)
            note_edits(before)
            tell()

        def tell() -> None:
            seen.append((state.screen.edits, changes().before[:], changes().undone[:]))

        go("a")  # a link
        undo()
        tell()
        redo()
        tell()
        go()  # Back
        go("a")  # Forward
        go("a", "b")
        go("c", checkpoint="other")
        st.session_state["seen"] = seen

    seen = AppTest.from_function(script).run().session_state["seen"]
    a, b = ("a",), ("a", "b")
    assert seen == [
        (a, [()], []),
        ((), [], [a]),
        (a, [()], []),
        ((), [], [a]),
        (a, [()], []),
        (b, [(), a], []),
        (("c",), [], []),
    ]


def test_on_a_wall_an_edited_output_is_not_called_that_without_the_edits(copied: Path) -> None:
    app = start(edits=HEAD, story="attention-is-all-you-need", scene="7", role="stage")
    assert any("data-value" in each.proto.body for each in app.get("html"))
    app.text_input[0].set_value("").run()  # what is shown is the output of before, with the edits
    shown = [each.proto.body for each in app.get("html") if 'class="text-lines"' in each.proto.body]
    assert shown[0].startswith('<div class="unseen">')


def field(app: AppTest, label: str) -> Any:
    """The one widget of this label that is drawn."""
    (one,) = (each for each in [*app.selectbox, *app.number_input] if each.label == label)
    return one


def opened(app: AppTest, n: int) -> AppTest:
    """As a press on Add an edit does it, after n edits."""
    app.session_state[f"new edit {n}"] = True
    return app.run()


def test_the_fields_of_an_edit_are_what_its_kind_declares(copied: Path) -> None:
    app = opened(start(tool="heads", kind="cross", layer="1", head="2"), 0)
    declared = edit_kinds()["head-scale"].values[0]
    field(app, "Edit").set_value("head-scale").run()
    factor = field(app, declared.title)
    limits = (declared.least, declared.default, declared.most)
    assert (factor.min, factor.value, factor.max) == limits
    press(app, "Add it")
    assert screen(app).edits == ("head-scale:cross.1.2=0.5",)
    field(opened(app, 1), "Edit").set_value("emphasise").run()
    press(app, "Add it")
    field(app, "Factor of the others").set_value(0.25).run()  # that of the one in force
    assert screen(app).edits == ("head-scale:cross.1.2=0.5", "emphasise:cross.1.2=0.25,0")
    press(app, "Undo")
    assert screen(app).edits[-1] == "emphasise:cross.1.2=0.01,0"
    assert not said(app)


def test_a_word_is_hidden_by_its_field(copied: Path) -> None:
    app = opened(start(tool="heads", checkpoint="copy"), 0)
    field(app, "Edit").set_value("hide").run()
    words = field(app, "Word")
    assert [each.split()[0] for each in words.options] == [str(i) for i in range(7)]
    words.set_value("1").run()
    press(app, "Add it")
    assert screen(app).edits == ("hide:source.1",) and not said(app)
    field(opened(app, 1), "Edit").set_value("cut-word").run()
    press(app, "Add it")
    assert screen(app).edits == ("hide:source.1", "cut-word:cross.0") and not said(app)


@pytest.mark.parametrize(
    ("page", "query"),
    [("decode", {}), ("positions", {}), ("compare", {"edited_b": "yes", "same_head": "yes"})],
)
def test_an_edit_is_added_on_each_page_that_shows_edits(
    copied: Path, page: str, query: dict[str, str]
) -> None:
    app = opened(start(page=page, kind="cross", layer="1", head="2", **query), 0)
    field(app, "Edit").set_value("head-off").run()
    press(app, "Add it")
    assert not app.exception and not said(app)
    assert screen(app).edits == ("head-off:cross.1.2",)
    is_b = page == "compare"
    assert app.session_state["session"].answer.request.edits == (() if is_b else screen(app).edits)
    factor = next(each for each in app.slider if each.label == "Factor")
    factor.set_value(1.5).run()
    assert screen(app).edits == ("head-scale:cross.1.2=1.5",)
    press(app, "Undo")
    press(app, "Undo")
    assert screen(app).edits == ()


def test_an_edit_without_what_it_needs_is_not_added_and_says_why(copied: Path) -> None:
    app = opened(start(tool="heads"), 0)
    field(app, "Edit").set_value("head-from").run()
    press(app, "Add it")
    assert screen(app).edits == ()
    assert any("head-from" in each.value for each in app.warning)


def test_only_edits_of_what_the_model_has_are_offered(copied: Path) -> None:
    app = opened(start(tool="heads"), 0)
    offered = set(field(app, "Edit").options)
    titles = {name: kind.title for name, kind in edit_kinds().items()}
    assert offered == set(titles.values()) - {titles["bias-off"], titles["rotary-base"]}
    field(app, "Edit").set_value("head-previous").run()
    assert "Cross" not in field(app, "Of").options
