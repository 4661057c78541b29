"""What a person decides of a decoding: chips, fields, and what it costs by two forced passes."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import said, screen, start
from tests.viz.ui.test_why_word import card
from transformer import decode, load_checkpoint
from transformer.checkpoint import Checkpoint, checkpoints_folder
from transformer.token import Token
from transformer.words import words_of
from viz.exhibits.exhibit import Words
from viz.figure_at import page_of
from viz.labels import bare_label
from viz.pages.compare.second import Second
from viz.run.previews import _changed
from viz.run.request import FREE, answer
from viz.screen import parse
from viz.server.recording_scenes import saved_scene
from viz.state.requests import request_of
from viz.stories.story import Scene

TEXT, CHOICES = "Tom lives in Boston.", {"checkpoint": "en-de-small"}


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")


def ids(checkpoint: Checkpoint, text: str) -> tuple[int, ...]:
    every = map(checkpoint.tokenizer.token, checkpoint.tokenizer.encode(text, "target"))
    return tuple(token.id for token in every if not token.special)


def spelled(ids: tuple[int, ...]) -> str:
    return ".".join(map(str, ids))


def forced(checkpoint: Checkpoint, target: tuple[Token, ...]) -> float:
    """The log-probability of a target, by decoding that is forced."""
    return decode(checkpoint, TEXT, "forced", target=target).hypotheses[0].score


def open_decode(**choices: str) -> AppTest:
    return start(page="decode", text=TEXT, decoding="greedy", **CHOICES, **choices)


def typed(app: AppTest, begins: str, text: str) -> AppTest:
    (field,) = (each for each in app.text_input if each.label.startswith(begins))
    return field.set_value(text).run()


def chips(app: AppTest) -> list[str]:
    return [it.label for it in app.button if it.key and it.key.startswith("branch ")]


@pytest.mark.parametrize(
    ("method", "decided"),
    [
        *(("beam", each) for each in ("prefix", "force", "forbid", "branch")),
        *(("greedy", each) for each in ("prefix", "forbid", "branch")),  # it places no phrase
    ],
)
def test_a_correction_costs_the_difference_of_two_forced_passes(
    checkpoint: Checkpoint, method: str, decided: str
) -> None:
    before = decode(checkpoint, TEXT, method)
    value = {
        "prefix": ids(checkpoint, "Der"),
        "force": ids(checkpoint, "lebt"),
        "forbid": (before.target[1].id,),
        "branch": tuple(token.id for token in before.target[:2]),
    }[decided]
    at = {"page": "decode", "text": TEXT, "decoding": method, decided: spelled(value)}
    pane, figures = page_of(parse({**CHOICES, **at}))
    now = pane.recording.target
    words = figures["correction"].content
    assert isinstance(words, Words)
    was, became = ([span.text for span in line.spans] for line in words.lines)
    assert (was, became) == (words_of(before.target), words_of(now))
    cost = next(span.value for span in words.foot if span.measure)
    n = len(now) if decided == "branch" else None  # it has no end: a part beside a part
    expected = forced(checkpoint, before.target[:n]) - forced(checkpoint, now)
    assert cost == pytest.approx(expected, abs=1e-5)
    written = tuple(token.id for token in now)
    if decided == "branch":
        assert written == value
    elif decided == "prefix":
        assert written[: len(value)] == value
    else:
        n = len(value)
        has = any(written[i : i + n] == value for i in range(len(written)))
        assert has == (decided == "force")


def test_without_a_decision_there_is_no_correction() -> None:
    _, figures = card("decode", text=TEXT, **CHOICES)
    assert "correction" not in figures


def test_a_word_is_edited_where_it_stands_and_its_chip_takes_it_back() -> None:
    app = open_decode(step="1")
    assert not chips(app)
    before = app.session_state["session"].answer.recording.target
    typed(app, "In place of “wohnt”", "lebt")
    made = app.session_state["session"].answer
    assert words_of(made.recording.target)[:2] == ["Tom", "lebt"]
    assert made.recording.target[0] == before[0] and screen(app).step == len(screen(app).prefix) - 1
    assert chips(app) == ["Begins with “Tom lebt”"] and not said(app)
    next(each for each in app.button if each.label == chips(app)[0]).click().run()
    assert not chips(app) and screen(app).prefix == ()
    assert app.session_state["session"].answer.recording.target == before


def test_what_is_typed_is_cut_and_says_into_which_pieces() -> None:
    app = open_decode()
    typed(app, "Begin with", "Xylophon")
    prefix = screen(app).prefix
    assert len(prefix) > 1
    token = app.session_state["session"].answer.checkpoint.tokenizer.token
    pieces = [bare_label(token(id)) for id in prefix]
    (sentence,) = (each.value for each in app.caption if "Xylophon" in each.value)
    assert " · ".join(pieces) in sentence
    assert words_of(app.session_state["session"].answer.recording.target)[0] == "Xylophon"
    typed(app, "Begin with", "")
    assert screen(app).prefix == ()


def test_a_contradiction_is_refused_in_a_sentence_and_changes_nothing() -> None:
    app = open_decode()
    typed(app, "Begin with", "Tom")
    typed(app, "Must not have", "Tom")
    assert "forbidden" in said(app)
    assert screen(app).forbid == () and len(chips(app)) == 1
    (field,) = (each for each in app.text_input if each.label.startswith("Must not have"))
    assert field.value == "Tom"  # nothing that was typed is lost
    typed(app, "Must not have", "lebt")
    assert not said(app) and len(chips(app)) == 2


def test_what_must_stand_is_typed_only_where_a_method_can_place_it() -> None:
    app = open_decode()
    (field,) = (each for each in app.text_input if each.label.startswith("Must have"))
    assert field.disabled and "beam search" in field.label
    app.selectbox(key="decoding").set_value("beam").run()
    typed(app, "Must have", "lebt")
    assert not said(app)
    assert "lebt" in words_of(app.session_state["session"].answer.recording.target)
    app.selectbox(key="decoding").set_value("greedy").run()
    assert "forced words" in said(app) and chips(app) == ["Has “lebt”"]  # nothing is lost


@pytest.mark.parametrize(
    "wrong", [{"prefix": "99999999"}, {"branch": "99999999"}, {"forbid": "1,99999999"}]
)
def test_tokens_that_there_are_not_are_a_sentence(wrong: dict[str, str]) -> None:
    app = open_decode(**wrong)
    assert "99999999" in said(app)
    assert app.session_state["session"].answer.request.text == TEXT
    (chip,) = (each for each in app.button if each.label == chips(app)[-1])
    chip.click().run()
    assert not said(app) or wrong.keys() == {"forbid"}


def test_a_prefix_that_is_too_long_is_a_sentence(checkpoint: Checkpoint) -> None:
    (id,) = ids(checkpoint, "der")
    app = open_decode(prefix=spelled((id,) * (checkpoint.config.max_len + 5)))
    assert f"{checkpoint.config.max_len + 5} tokens" in said(app)


def test_another_text_keeps_phrases_and_no_beginning_and_another_checkpoint_neither() -> None:
    app = open_decode()
    typed(app, "Begin with", "Der")
    typed(app, "Must not have", "Tom")
    phrases = screen(app).forbid
    next(each for each in app.text_input if each.label == "Sentence").set_value("It rains.").run()
    assert (screen(app).prefix, screen(app).forbid) == ((), phrases)
    assert words_of(app.session_state["session"].answer.recording.target)[0] != "Der"
    app.selectbox(key="checkpoint").set_value("en-de").run()
    assert screen(app).prefix == () and not chips(app)


def test_a_request_is_decided_up_to_a_step_of_what_is_shown(checkpoint: Checkpoint) -> None:
    pane, _ = card("decode", text=TEXT, **CHOICES, prefix="5.6.7", forbid="9")
    request = pane.request
    assert request.decided == {"prefix": (5, 6, 7), "forbid": ((9,),)}
    assert request.decided_before(2) == {"prefix": (5, 6), "forbid": ((9,),)}
    assert request.decided_before(0) == {"forbid": ((9,),)}
    branch = replace(request, branch=(5, 6, 7, 8))
    assert branch.decided_before(4)["prefix"] == (5, 6, 7, 8)
    assert branch.of_search == request
    assert branch.unconstrained.constraints == FREE and not branch.unconstrained.branch
    follows = branch.made_to_read(branch)
    assert follows.constraints == FREE and answer(follows).recording.target == (
        tuple(map(checkpoint.tokenizer.token, (5, 6, 7, 8)))
    )


def test_another_checkpoint_beside_has_none_of_its_ids() -> None:
    pane, _ = card("decode", text=TEXT, **CHOICES, prefix="327")
    beside = Second("copy").request(replace(pane.answer))
    assert beside.constraints == FREE and not beside.branch


def test_a_saved_scene_has_both_texts() -> None:
    address = {**CHOICES, "page": "decode", "text": TEXT, "decoding": "greedy", "prefix": "327"}
    scene = saved_scene(Scene("A branch", "", parse(address)))
    assert scene is not None and "before" in scene.outputs and "now" in scene.outputs


def test_a_repair_is_decoded_before_the_word_that_was_decided(checkpoint: Checkpoint) -> None:
    begins = spelled(ids(checkpoint, "Tom wohnt"))
    choices = {"text": TEXT, "kind": "cross", "pins": "q1", "instead": "lebt", "repairs": "yes"}
    pane, figures = card("explore", **CHOICES, **choices, prefix=begins)
    table = figures["repairs"].content
    assert pane.screen.prefix and table.rows
    for row in table.rows[:2]:
        kept = parse(dict(parse_qsl(row.cells[0].link.partition("?")[2])))
        assert kept.prefix == ids(checkpoint, "Tom")
        again, _ = page_of(kept)
        assert again.answer.decoding is not None
        assert again.answer.decoding.text == row.cells[2].text


def test_the_right_word_is_written_where_it_stands() -> None:
    at = {"text": TEXT, "decoding": "greedy", "kind": "cross", "pins": "q1", "instead": "lebt"}
    app = start(**CHOICES, **at)
    next(each for each in app.button if each.label == "Write it here").click().run()
    assert not said(app)
    assert words_of(app.session_state["session"].answer.recording.target)[:2] == ["Tom", "lebt"]
    assert chips(app) == ["Begins with “Tom lebt”"]


def test_a_preview_keeps_what_is_decided_and_leaves_a_hypothesis_of_the_old_search() -> None:
    pane, _ = card("decode", text=TEXT, **CHOICES, prefix="5.6", branch="5.6.7", forbid="9")
    request = pane.request
    typed = _changed(request, {"text": "It rains."})
    assert (typed.constraints, typed.branch) == (replace(request.constraints, prefix=()), ())
    edited = _changed(request, {"edits": ["head-off:cross.0.1"]})
    assert (edited.constraints, edited.branch) == (request.constraints, ())
    assert _changed(request, {}) == request


def test_a_visitor_types_no_more_than_a_server_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_CHARACTERS", "30")
    app = open_decode()
    typed(app, "Begin with", "a very long beginning of an output")
    assert "30 characters" in said(app) and screen(app).prefix == ()


def test_the_word_of_a_step_is_forbidden_by_a_button_unless_it_was_decided() -> None:
    app = open_decode(step="1")
    before = app.session_state["session"].answer.recording.target
    app.button(key="forbid this").click().run()
    now = app.session_state["session"].answer.recording.target
    assert screen(app).forbid == ((before[1].id,),) and before[1].id not in [it.id for it in now]
    typed(app, "Begin with", "Tom")
    app.button(key="forbid this").click().run()  # of what the output begins with
    assert "Tom" in said(app) and len(screen(app).forbid) == 1
    next(each for each in app.text_input if each.label == "Sentence").set_value("It rains.").run()
    assert not said(app)


def test_a_hypothesis_of_a_text_that_was_stopped_is_of_that_part() -> None:
    screen = parse({"text": "She told me", "decoding": "sample", "stopped": "4", "branch": "5.6"})
    request = request_of("everyday", "She told me", screen)
    assert dict(request.of_search.options)["max_len"] == 4 and request.branch == (5, 6)


def test_side_by_side_has_the_correction_and_what_is_written_without_it(
    checkpoint: Checkpoint,
) -> None:
    at = {"page": "decode", "text": TEXT, "decoding": "beam", "side_by_side": "yes"}
    forced = spelled(ids(checkpoint, "lebt"))
    pane, figures = page_of(parse({**CHOICES, **at, "force": forced}))
    words = figures["methods"].content
    assert isinstance(words, Words)
    lines = {line.title.rpartition(",")[0]: [it.text for it in line.spans] for line in words.lines}
    free = decode(checkpoint, TEXT, "beam").target
    assert lines["Beam search, corrected"] == words_of(pane.recording.target)
    assert lines["Beam search"] == words_of(free)
    assert "Greedy" in lines  # which places no phrase, and is not refused


def first_other(a: tuple[Token, ...], b: tuple[Token, ...]) -> int:
    return next(i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x.id != y.id)


def test_a_decision_shows_the_first_word_that_it_changed_and_its_undoing_too() -> None:
    text = "The weather is very good today and the children are playing in the garden."
    app = start(page="decode", text=text, **CHOICES, step="8")
    before = app.session_state["session"].answer.recording.target
    app.button(key="forbid this").click().run()
    now = app.session_state["session"].answer.recording.target
    changed = first_other(before, now)
    assert changed > 0 and screen(app).step == changed
    app.button(key="branch 0").click().run()
    assert app.session_state["session"].answer.recording.target == before
    assert screen(app).step == changed
    typed(app, "Must have", "Katze")
    now = app.session_state["session"].answer.recording.target
    assert screen(app).step == first_other(before, now)


def test_a_decision_that_changes_nothing_leaves_the_step_and_an_address_says_its_own() -> None:
    app = open_decode(step="2")
    before = app.session_state["session"].answer.recording.target
    typed(app, "Must not have", "Katze")
    assert app.session_state["session"].answer.recording.target == before
    assert screen(app).forbid and screen(app).step == 2
    app = open_decode(pins="q3")
    typed(app, "Must not have", "Katze")
    assert screen(app).step == 3, "that of the word that was pinned"
    assert screen(open_decode(forbid=str(before[1].id), step="3")).step == 3
    assert screen(open_decode(forbid=str(before[1].id))).step == 0
