"""Lessons without a browser: no truth is sent before an answer, and every checkpoint will do."""

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from tests.representatives import cases
from tests.transformer.watch.hugging_face import build
from tests.viz.ui.test_app import ROOT, start
from transformer import decode, load_checkpoint, record
from transformer.discover import discover
from viz.components.kit.browser import unpack
from viz.lessons.answers import read_entries
from viz.lessons.exercise import NEEDS, read_task
from viz.lessons.subject import Subject, find_place, sureness
from viz.pages.lessons import lesson as lesson_page
from viz.pages.lessons import listing
from viz.pages.lessons.asking import Answers
from viz.screen import link
from viz.stories.reading import shipped_stories, stories_of

LESSON, TEXT, OWN = "attention-by-hand", "3 7 2 9 4 11 5", "4 9 2 8 6"
"""A lesson, the sentence above it, and the one that its last task is about."""
LESSONS = [each.name for each in stories_of("lesson")]
FEW = {
    "a row by hand": LESSON,
    "no head": "why-attention",
    "snapshots": "heads-emerge",
    "a riddle": "two-meanings",
}
"""By what its tasks are about; golden files have the page of each."""


OF_LESSON = {
    "page": "lessons",
    "story": LESSON,
    "checkpoint": "copy",
    "text": TEXT,
    "decoding": "greedy",
}


def elements(app: AppTest) -> list[Any]:
    """Of the whole window: page, header, sidebar, and what is nowhere to be seen."""
    return [each for part in app._tree.children.values() for each in part]


def sent(app: AppTest) -> str:
    """All that goes to the browser, without what escapes it."""
    plain = "\n".join(map(_said, elements(app)))
    return re.sub(r"\\+(\W)", r"\1", plain)


def _said(element: Any) -> str:
    """Of a component its data; its code is the same for all."""
    proto = element.proto
    if element.type != "bidi_component" or proto.WhichOneof("data") != "bytes":
        return "" if element.type == "bidi_component" else str(proto)
    return str(unpacked(proto.bytes))


def unpacked(content: bytes) -> tuple[dict[str, Any], list[Any]]:
    """What a component is told: all headers as one, and the arrays of numbers."""
    header, arrays = unpack(content)
    if "nonce" not in header:
        return header, arrays
    inner, numbers = unpack(arrays[0].tobytes())
    return header | inner, numbers


def asked() -> list[tuple[Any, Subject]]:
    checkpoint = load_checkpoint("checkpoints/copy", "cpu")
    found = []
    for scene in shipped_stories()[LESSON].scenes:
        text = OWN if scene.exercise.own else TEXT
        recording = record(checkpoint, text, decode(checkpoint, text, "greedy").target)
        place = find_place(recording, scene.exercise.head, scene.exercise.row)
        assert place is not None
        for said in scene.exercise.tasks:
            task, arguments = read_task(said)
            found.append((task, Subject(checkpoint, recording, place, arguments, text)))
    return found


def button(app: AppTest, label: str) -> Any:
    return next(each for each in app.button if each.label == label)


def test_no_truth_is_sent_before_it_is_asked_for() -> None:
    app = start(**OF_LESSON, own_text=OWN)
    assert "Which word does the row" in sent(app)
    for n, (task, seen) in enumerate(asked()):
        over = [*app.info, *app.success]
        assert len(over) == n
        explained = re.sub(r"\s+", " ", task.explain(seen))
        assert explained not in sent(app)
        button(app, "Show me").click().run()
        assert not app.exception
        shown = [re.sub(r"\\(\W)", r"\1", each.value) for each in app.info]
        assert any(explained in each for each in shown), (explained, shown)


@pytest.mark.parametrize("lesson", cases(LESSONS, FEW))
def test_no_numbers_of_a_head_are_sent_before_an_answer(lesson: str) -> None:
    """No picture is, and what the tokens are told is words."""
    app = start(page="lessons", story=lesson, checkpoint="copy", text=TEXT, decoding="greedy")
    assert any(each.label == "Show me" for each in app.button)
    found = elements(app)
    assert not {each.type for each in found} & {
        "plotly_chart",
        "imgs",
        "iframe",
        "arrow_data_frame",
    }
    told = [each.proto for each in found if each.type == "bidi_component"]
    assert {each.component_name for each in told} == {
        "address",
        "token_rows",
        "figure_drop",
        "lesson",
        "tour",
    }
    for each in told:
        if each.WhichOneof("data") == "bytes":
            header, numbers = unpacked(each.bytes)
            assert not sum(array.size for array in numbers)
            assert not re.search(r"\d\.\d", str(header.get("source")) + str(header.get("target")))


def press(app: AppTest, label: str) -> None:
    button(app, label).click().run()
    assert not app.exception


def test_a_wrong_answer_is_called_wrong_and_nudged_once() -> None:
    app = start(page="lessons", story=LESSON, checkpoint="copy", text=TEXT, decoding="greedy")
    press(app, "Show me")
    press(app, "Check")
    assert not app.warning and "Give an answer first" in app.info[-1].value
    answer(app, "4 apples")
    assert not app.warning and "“4 apples” is not a number" in app.info[-1].value
    answer(app, "−1000,5")
    assert app.warning[0].value.startswith("**Not right yet.** ")
    assert "mind the signs" in app.warning[0].value
    answer(app, "½ or so")
    assert not app.warning and "“½ or so” is not a number" in app.info[-1].value
    answer(app, "1e-3")
    assert app.warning[0].value.startswith("**Not right: you answered 0.001.** ")
    assert "one number for how well" in app.warning[0].value


def answer(app: AppTest, typed: str) -> None:
    """The first task that waits for a number."""
    next(each for each in app.text_input if str(each.key).startswith("answer")).set_value(typed)
    press(app, "Check")


def kept_by(app: AppTest) -> dict[str, Any]:
    """What the browser is told to keep of the answers."""
    (told,) = (each for each in app.get("bidi_component") if each.proto.component_name == "lesson")
    kept: dict[str, Any] = unpack(told.proto.bytes)[0]["answers"]
    return kept


def test_answers_outlive_a_session_and_are_graded_anew() -> None:
    of_lesson = {"page": "lessons", "story": LESSON, "checkpoint": "copy", "decoding": "greedy"}
    app = start(text=TEXT, **of_lesson)
    assert kept_by(app) == {}
    press(app, "Show me")
    answer(app, "-1000")
    shown, kept = (len(app.info), app.warning[0].value), kept_by(app)
    assert list(kept.values()) == [[0, None, True], [1, -1000.0, False]]

    app = start(text=TEXT, **of_lesson)
    assert not app.warning and not app.info
    app.session_state["session"].of(Answers).entries = read_entries(json.dumps(kept))
    app.run()
    assert (len(app.info), app.warning[0].value) == shown
    assert kept_by(app) == kept
    answer(app, "-1000")
    assert app.warning[0].value.startswith("**Not right yet.** ")
    answer(app, "-1001")
    assert app.warning[0].value.startswith("**Not right: you answered -1001.** ".replace("-", "−"))

    app = start(text=TEXT[:-2], **of_lesson)  # another sentence: nobody was asked about it
    app.session_state["session"].of(Answers).entries = read_entries(json.dumps(kept))
    app.run()
    assert not app.warning and not app.info


def finished(app: AppTest) -> bool:
    learned = shipped_stories()[LESSON].learned
    return any(learned in each.value for each in app.success)


def marked(app: AppTest) -> list[str]:
    """The lessons that the list says are done."""
    (cards,) = (each.proto.body for each in app.get("html") if 'class="lessons"' in each.proto.body)
    return re.findall(r"<li><a[^>]*>([^<]*)</a>(?:(?!</li>).)*Done", cards)


def test_a_lesson_is_done_with_its_last_task_and_the_list_marks_it_after_a_reload() -> None:
    app = start(**OF_LESSON)
    while any(each.label == "Show me" for each in app.button):
        press(app, "Show me")
    assert not finished(app), "the sentence of one's own is not asked about yet"
    own = next(each for each in app.text_input if "own_text" in str(each.key))
    own.set_value("nonsense").run()
    assert "nonsense" in app.warning[-1].value and not finished(app)
    next(each for each in app.text_input if "own_text" in str(each.key)).set_value(OWN).run()
    assert not finished(app)
    press(app, "Show me")
    assert finished(app)
    kept = kept_by(app)

    app = start(page="lessons", checkpoint="copy")
    assert marked(app) == []
    app.session_state["session"].of(Answers).entries = read_entries(json.dumps(kept))
    app.run()
    assert marked(app) == [shipped_stories()[LESSON].title]


def test_one_row_is_worked_out_by_hand_and_said_whose_it_is() -> None:
    exercises = [scene.exercise for scene in shipped_stories()[LESSON].scenes]
    assert len({(each.head, each.row) for each in exercises if not each.own}) == 1
    app = start(page="lessons", story=LESSON, checkpoint="copy", text=TEXT, decoding="greedy")
    about = [each.value for each in app.caption if each.value.startswith("Below: the row")]
    assert [re.sub(r"\\(\W)", r"\1", each) for each in about] == [asked()[0][1].about_row]


@pytest.mark.parametrize("lesson", cases(LESSONS, FEW))
def test_a_lesson_of_another_checkpoint_is_told(lesson: str) -> None:
    app = start(page="lessons", story=lesson, checkpoint="copy", text=TEXT)
    assert len(app.subheader) == len(shipped_stories()[lesson].scenes)
    assert not app.error


FOREIGN = ("BLOOM", "T5")
"""A model that leaves only its weights, and one that scales nothing."""
FEW_FOREIGN = {
    "weights alone, of a row": ("BLOOM", LESSON),
    "no scale, of a row": ("T5", LESSON),
    "weights alone, of what is scaled": ("BLOOM", "why-the-square-root"),
    "no scale, of what is scaled": ("T5", "why-the-square-root"),
    "no cross-attention": ("BLOOM", "three-attentions"),
    "no table of positions": ("T5", "positions"),
    "no snapshots": ("T5", "heads-emerge"),
}


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both, beside the copy task."""
    folder = tmp_path_factory.mktemp("foreign")
    for name in FOREIGN:
        build(name).save_pretrained(folder / name)
    (folder / "copy").symlink_to(ROOT / "checkpoints" / "copy")
    return folder


def said(app: AppTest) -> str:
    return re.sub(r"\\(\W)", r"\1", " ".join(each.value for each in app.caption))


@pytest.mark.parametrize(
    ("foreign", "lesson"),
    cases([(name, lesson) for name in FOREIGN for lesson in LESSONS], FEW_FOREIGN),
)
def test_no_lesson_breaks_where_a_model_lacks_what_it_asks_for(
    foreign: str, lesson: str, neighbours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(neighbours))
    app = start(page="lessons", story=lesson, checkpoint=foreign, text=TEXT)
    while any(each.label == "Show me" for each in app.button):
        press(app, "Show me")
        assert not app.error
    captions = said(app)
    if lesson == "attention-by-hand":  # one row of one model, from the guess to the mix
        assert captions.count("leaves only its weights") == (foreign == "BLOOM")
        assert captions.count("Below: the row") == 1
    if lesson == "why-the-square-root":
        lacks = {"BLOOM": "leaves only its weights", "T5": "does not scale its products"}
        copied = f"this is copy, over your sentence. It writes “{TEXT}”."
        assert lacks[foreign] in captions and copied in captions


def test_the_row_is_introduced_only_where_a_question_is_about_it() -> None:
    """A word of the output may be asked about for another reason, and be a row elsewhere."""
    row = SimpleNamespace(row_word="a")
    asks: Any = {"row": "The row ‘a’?", "word": "What is ‘a’?", "other": "What is ‘animal’?"}
    for is_of_row, question, speaks in [
        (True, "word", True),
        (True, "other", False),
        (False, "word", False),
        (False, "row", True),
    ]:
        task: Any = SimpleNamespace(of_row=is_of_row, ask=lambda seen, q=question: asks[q])
        said_of: Any = row
        assert lesson_page.speaks_of_row(task, said_of) == speaks


def test_snapshots_that_may_not_be_opened_count_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = SimpleNamespace(path=Path("checkpoints/en-de-small"))
    shown: Any = SimpleNamespace(checkpoint=checkpoint, recording=None, request=None)
    monkeypatch.setattr(listing, "snapshots_of", lambda shown: [])
    assert listing._lacking(shown, ("snapshots",)) == NEEDS["snapshots"].lacks
    monkeypatch.setattr(
        listing, "snapshots_of", lambda shown: listing.list_snapshots(checkpoint.path)
    )
    assert listing._lacking(shown, ("snapshots",)) is None


def test_the_page_about_padding_opens_at_the_attention_that_is_padded() -> None:
    """It opened at the decoder, whose keys no sentence of the lesson pads."""
    app = start(page="lessons", story="masks", checkpoint="copy", text=TEXT, decoding="greedy")
    while any(each.label == "Show me" for each in app.button):
        press(app, "Show me")
    links = " ".join(each.proto.body for each in app.get("html"))
    assert re.search(r'href="\./masks\?[^"]*mask_kind=encoder_self', links)


def opened_by(lesson: str, **query: str) -> list[dict[str, str]]:
    """The addresses of the pages that a lesson opens when all of it is over."""
    app = start(page="lessons", story=lesson, decoding="greedy", **query)
    while any(each.label == "Show me" for each in app.button):
        press(app, "Show me")
    links = " ".join(html.unescape(each.proto.body) for each in app.get("html"))
    invitations = (it.invites for it in discover("viz.pages", "PAGE").values() if it.invites)
    words = "|".join(map(re.escape, ("Open this on its own page", *invitations)))
    found = re.findall(rf'href="([^"]*)">(?:{words})<', links)
    return [dict(parse_qsl(urlsplit(each).query)) for each in found]


def test_a_page_of_its_own_shows_what_was_asked() -> None:
    """It began at the first step, position, metric and size, whatever the question was about."""
    of = {"checkpoint": "copy", "text": TEXT}
    assert opened_by("positions", **of)[1]["controls.offset"] == "3"
    checkpoint = load_checkpoint("checkpoints/copy", "cpu")
    recording = record(checkpoint, TEXT, decode(checkpoint, TEXT, "greedy").target)
    order = sureness(recording).argsort().tolist()
    unsure, smoothed, *_ = opened_by("smoothing-and-rate", **of)
    assert (int(unsure.get("step", 0)), int(smoothed.get("position", 0))) == tuple(order[:2])
    assert "pins" not in unsure and "pins" not in smoothed
    assert [each.get("metric") for each in opened_by("heads-emerge", **of)][1] == "alignment"
    (*_, path) = opened_by("why-attention", **of)
    assert (path["n"], path["d"]) == ("7", "64")


def test_a_riddle_is_graded_and_then_explained() -> None:
    app = start(page="lessons", story="two-meanings", checkpoint="copy", text=TEXT)
    before = sent(app)
    assert "zündete ein Spiel, weil" in before and "Streichholz" not in before
    scene = shipped_stories()["two-meanings"].scenes[0]
    words = next(each for each in app.get("button_group") if "wrong" in each.label)
    names = [option.content for option in words.proto.options]
    words.set_value(names.index("Keller"))
    press(app, "Check")
    assert "“Keller” looks at “cellar”" in app.warning[0].value
    words = next(each for each in app.get("button_group") if "wrong" in each.label)
    words.set_value(names.index("Spiel"))
    press(app, "Check")
    assert app.success[0].value.startswith("**Right.**") and "“Streichholz”" in app.success[0].value
    assert scene.exercise.riddle.solution in [each.value for each in app.markdown]
    links = " ".join(html.unescape(each.proto.body) for each in app.get("html"))
    assert f'href="{link(scene.screen)}"' in links and "why=yes" in link(scene.screen)
