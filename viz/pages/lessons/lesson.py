"""One lesson as a page that scrolls: its scenes, each with its tasks, then its picture."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from transformer.complexity import Sizes
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.figures.costs import SHORTEST, cost_samples
from viz.labels import literal
from viz.lessons.exercise import Exercise, lacking, read_task
from viz.lessons.subject import Place, Subject, find_place, sizes_of
from viz.lessons.task import Task
from viz.pages.lessons.asking import ask, keep, own_answer, own_sentence, show_riddle
from viz.pages.lessons.asking import finish as finish_lesson
from viz.pages.lessons.listing import (
    address_of,
    in_order,
    length,
    standing_in,
    whose_sentences,
    written,
)
from viz.pages.training.heads import shipped_left_out
from viz.pages.why_attention import cost_exhibits
from viz.painters.table_html import samples_body
from viz.run.line import Runner
from viz.run.request import Answer, Request, answer
from viz.run.work import Study, finish
from viz.screen import FIRST_PAGE, Screen, link, put
from viz.state.checkpoints import title
from viz.state.focus import elsewhere
from viz.state.page import PAGES, Pane
from viz.state.requests import request_of
from viz.state.state import session
from viz.stories.story import Scene, Story
from viz.ui.progress import whole
from viz.ui.save_menu import offer_figures
from viz.ui.showing import show

# The pictures of lessons, by the names that scenes say: exhibits of the pages that they open.


@dataclass(frozen=True)
class Source:
    """The page that declares a picture of lessons."""

    page: str
    names: tuple[str, ...] = ("picture",)
    """Names of its exhibits that stand side by side."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Parts of its address beyond those that the scene says."""
    needs: tuple[str, ...] = ()
    """Needs that a checkpoint must meet (viz/lessons/exercise.py)."""


PICTURES: Mapping[str, Source] = {
    "arrows": Source("explore", fields={"picture": "arrows"}),
    "map": Source("explore", fields={"picture": "map"}),
    "inside": Source("explore", fields={"picture": "inside"}, needs=("scores",)),
    "similarity": Source("positions", ("encoding_similarity",), needs=("sinusoids",)),
    "rotation": Source("positions", ("encoding_shift",), needs=("sinusoids",)),
    "smoothing": Source("training", ("label-smoothing",), needs=("writes",)),
    "rate": Source("training", ("learning-rate",)),
    "costs": Source("why_attention", ("operations", "longest_path"), needs=("scores",)),
}


def needs_of(name: str) -> tuple[str, ...]:
    """The needs of the picture of this name; none where there is no such picture."""
    return PICTURES[name].needs if name in PICTURES else ()


def draw_picture(name: str, pane: Pane, place: Place, key: str, opened: Screen) -> None:
    """The picture of this name; a sentence where there is none.

    pane: of the answer that the scene is shown on; opened: the address that the scene opens.
    """
    if name not in PICTURES:
        st.caption(f"There is no picture {literal(name)}.")
        return
    pane, exhibits = exhibits_in(name, pane, place, opened)
    if name == "costs":
        st.html(samples_body(cost_samples()))
    for column, each in zip(st.columns(len(exhibits)), exhibits.values(), strict=True):
        with column:
            show(each, f"{name} {key} {each.title}")
    offer_figures(pane, exhibits, f"paper {key}")


def exhibits_in(
    name: str, pane: Pane, place: Place, opened: Screen
) -> tuple[Pane, dict[str, Exhibit]]:
    """The pane of the page that declares the picture, and its exhibits as they stand in a text.

    Where the scene opens another page, it is at the same row of the same head.
    """
    source = PICTURES[name]
    screen = put(opened, page=source.page, **source.fields)
    if screen.page != opened.page:
        row = Subject(pane.checkpoint, pane.recording, place).row
        screen = put(screen, pins=(f"q{row}",))
    page = PAGES[source.page]
    pane = page.pane(replace(pane, screen=screen))
    if name == "costs":  # the page has a few widths, and a model may have any
        n, d = sizes_of(pane.recording, place)
        exhibits = cost_exhibits(Sizes(d), max(n, SHORTEST), None)
    else:
        exhibits = page.finished(pane)
    return pane, {each: exhibits[each].still for each in source.names}


# One lesson as a page that scrolls: its scenes, each with its tasks, then its picture.

OPEN = "Open this on its own page"
ON_EXPLORE = "See it on Explore"
DONE = "You have done this lesson."
CONTINUES = "This continues with your result above: answer there, or have it shown."
WIDTH = 820
"""Pixels of the column: lines that are read easily."""
_STYLE = """
<style>
  .st-key-lesson h2 { font-size: 2rem; padding-bottom: 0; }
  .st-key-lesson h3 { font-size: 1.35rem; padding-top: 1.6rem; }
  .st-key-lesson p { font-size: 1.05rem; line-height: 1.6; }
  .st-key-lesson [data-testid="stForm"], .st-key-lesson [class*="st-key-over"] {
    border: 0; border-left: 3px solid var(--accent); border-radius: 0;
    padding: 0.2rem 0 0.2rem 1rem;
  }
  .st-key-lesson [data-testid="stWidgetLabel"] p { font-size: 1.05rem; }
  .lesson-links { display: flex; flex-wrap: wrap; gap: 0.3rem 1.6rem; }
</style>
"""


@dataclass(frozen=True)
class RowOfLesson(Study[Place]):
    """The row that a scene means; without a value where there is no such head."""

    request: Request
    head: str
    row: str

    def run(self, before: Place | None, runner: Runner) -> Iterator[Place]:
        place = find_place(answer(self.request).recording, self.head, self.row)
        if place is not None:
            yield place


@dataclass
class Course:
    """A lesson on its way down the page."""

    lesson: Story
    pane: Pane
    n_asked: int = 0
    n_left: int = 0
    """The scenes with something that is not over yet."""
    remark: str = ""
    """The last one on the checkpoint that a scene is shown on."""
    waits: set[object] = field(default_factory=set)
    """The rows that somebody is asked about above: what would give them away waits."""
    introduced: set[Place] = field(default_factory=set)
    """The rows of which it was said above whose they are."""
    answers: dict[Request, Answer | None] = field(default_factory=dict)
    """Requests and their answers, those that this run of the page has waited for."""

    @property
    def is_done(self) -> bool:
        return self.n_asked > 0 and self.n_left == 0


def show_lesson(lesson: Story, pane: Pane) -> None:
    """All scenes, below each other; and at the end what was learned."""
    st.html(_STYLE)
    with (
        st.container(horizontal_alignment="center"),
        st.container(key="lesson", width=WIDTH),
    ):
        st.html(_links("All lessons", _way_back(), *_ways_to_pages(lesson)))
        st.header(literal(lesson.title), anchor=False)
        st.markdown(lesson.introduction)
        st.caption(literal(f"{length(lesson)}. {whose_sentences(lesson)}"))
        course = Course(lesson, pane)
        for number, scene in enumerate(lesson.scenes, 1):
            course.n_left += not _scene(course, number, scene)
        if course.is_done:
            finish_lesson(lesson.name)
            st.success(f"**{DONE}** {lesson.learned}", icon=":material/check_circle:")
        st.html(_links("Further lessons", *_ways_on(lesson)))
        keep()


def _scene(course: Course, number: int, scene: Scene) -> bool:
    """Draw a scene. Tell whether nothing of it is left to answer."""
    lesson, pane, answers = course.lesson, course.pane, course.answers
    st.subheader(literal(scene.heading), anchor=False)
    if scene.text:
        st.markdown(scene.text)
    exercise = scene.exercise
    if exercise.is_of_evidence:
        is_over, opened = show_riddle(lesson.name, number, scene, answers)
        if opened is not None:
            course.n_asked += 1
            st.html(_links(scene.heading, (ON_EXPLORE, link(opened))))
        return is_over
    questions, needs = [read_task(each) for each in exercise.tasks], all_needs(exercise)
    stand_in = standing_in(pane.answer, needs, partial(_waited, answers))
    if stand_in is None:
        if None in answers.values():  # it is waited for
            return False
        lacks = "No checkpoint here can show this: the scene is left to its words."
        where = shipped_left_out() if "snapshots" in needs else ""
        st.caption(literal(f"{lacks} {where}".strip()))
        return True
    answer, remark = stand_in
    if exercise.own:
        own = _of_own_sentence(scene, answer, needs, answers)
        if own is None:
            return False
        answer, remark = own
    place = place_in(answer, exercise.head, exercise.row)
    if place is None:
        st.caption("There is no head of this sort here: the scene is left to its words.")
        return True
    if remark and remark != course.remark:
        st.caption(literal(remark))
    course.remark = remark
    is_over, opened = True, opened_by(scene, answer, place)
    for i, (task, arguments) in enumerate(questions):
        subject = Subject(
            answer.checkpoint, answer.recording, place, arguments, answer.request.text
        )
        course.n_asked += 1
        if task.of_row and (answer.request, place) in course.waits:
            st.caption(CONTINUES)
            is_over = False
            continue
        if place not in course.introduced and speaks_of_row(task, subject):
            course.introduced.add(place)
            st.caption(literal(subject.about_row))
        if not _ask(task, subject, (lesson.name, number, i, answer.request, place), answer):
            is_over = False
            if task.of_row:
                course.waits.add((answer.request, place))
    is_answered = is_over
    is_over = is_over and (answer.request, place) not in course.waits
    if exercise.shows and is_over:
        key = f"{lesson.name} {number}"
        draw_picture(exercise.shows, replace(pane, result=answer), place, key, opened)
    if is_over and (exercise.shows or scene.screen.page != FIRST_PAGE):
        words = PAGES[opened.page].invites or OPEN
        st.html(_links(scene.heading, (words, link(opened))))
    return is_answered


def all_needs(exercise: Exercise) -> tuple[str, ...]:
    """The needs of a scene: its own, those of its tasks, and those of its picture."""
    of_tasks = (need for each in exercise.tasks for need in read_task(each)[0].needs)
    return tuple(dict.fromkeys((*exercise.needs, *of_tasks, *needs_of(exercise.shows))))


def _waited(answers: dict[Request, Answer | None], request: Request) -> Answer | None:
    """Wait for the answer, once in a run of the page. Raises Refusal."""
    if request not in answers:
        answers[request] = whole(request, st.empty(), ("stands in", request))
    return answers[request]


def _of_own_sentence(
    scene: Scene, stand_in: Answer, needs: tuple[str, ...], answers: dict[Request, Answer | None]
) -> tuple[Answer, str] | None:
    """The answer to the sentence that is typed there, by the checkpoint that the scene names, or by
    the one that the others are shown on, and what it writes. None where it cannot be asked about.
    """
    text = own_sentence()
    if not text:
        return None
    request = replace(stand_in.request.unconstrained, text=text, edits=())
    if name := scene.screen.checkpoint:
        request = request_of(name, text, scene.screen)
    answer = own_answer(request, answers)
    if answer is None:
        return None
    lacks = lacking(needs, answer.checkpoint, answer.recording)
    if lacks is not None:
        st.caption(literal(f"{title(request.checkpoint)} {lacks}: try another sentence."))
        return None
    return answer, written(answer).strip()


def speaks_of_row(task: Task, subject: Subject) -> bool:
    """Tell whether its question names the row: another one may be about the same word."""
    row, question = f"‘{subject.row_word}’", task.ask(subject)
    return row in question and (task.of_row or f"row {row}" in question)


def _ask(task: Task, subject: Subject, name: tuple[object, ...], answer: Answer) -> bool:
    """Ask a task; tell whether it is over. The words of chance are asked of nobody."""
    if task.of_writing and answer.request.method == "sample":
        st.caption("Chance chose these words: choose greedy or beam search to be asked about them.")
        return True
    return ask(task, subject, name)


def place_in(answer: Answer, head: str, row: str) -> Place | None:
    """The row that a scene means, found once for each answer."""
    return finish(RowOfLesson(answer.request, head, row))


def opened_by(scene: Scene, answer: Answer, place: Place) -> Screen:
    """The page that the scene names, with this sentence, this head, and what its tasks ask."""
    request, tasks = answer.request, [*map(read_task, scene.exercise.tasks)]
    in_pieces = any(task.of_tokens for task, _ in tasks)  # the picture has what was counted
    whole = Subject(answer.checkpoint, answer.recording, place, in_pieces=in_pieces)
    opened = replace(
        scene.screen,
        checkpoint=request.checkpoint,
        text=request.text,
        decoding=None if request.method == "none" else request.method,
        options=request.options,
        prefix=request.constraints.prefix,
        force=request.constraints.force,
        forbid=request.constraints.forbid,
        branch=request.branch,
        tokens=None if whole.is_of_words else "pieces",
        kind=place.kind,
        layer=place.layer,
        head=place.head,
        pins=(f"q{whole.row}",) if scene.screen.page == FIRST_PAGE else (),
    )
    for task, arguments in tasks:
        subject = replace(whole, arguments=arguments, text=request.text)
        opened = _as_asked(opened, task, subject)
    return opened


def _as_asked(opened: Screen, task: Task, subject: Subject) -> Screen:
    """The same page, showing what the task asks about."""
    pins = (f"q{subject.row}",) if speaks_of_row(task, subject) else opened.pins
    fields: Mapping[str, Any] = {"pins": pins, **task.opens(subject)}
    return put(opened, **fields)


def _way_back() -> tuple[str, str]:
    address = address_of(None, session().screen)
    return "← All lessons", address


def _ways_to_pages(lesson: Story) -> list[tuple[str, str]]:
    """The pages that belong to it, which are in no menu."""
    screen = session().screen
    pages = [page for page in PAGES.values() if page.lesson == lesson.name]
    return [(page.invites, elsewhere(screen, page.name)) for page in pages]


def _ways_on(lesson: Story) -> list[tuple[str, str]]:
    """The next lesson, and all."""
    names = [each.name for each in in_order()]
    ways = [_way_back()]
    if lesson.name in names and (after := names.index(lesson.name) + 1) < len(names):
        following = in_order()[after]
        ways.append((f"Next: {following.title} →", address_of(following, session().screen)))
    return ways


def _links(name: str, *ways: tuple[str, str]) -> str:
    """Links as those of the cards: the sentence stays."""
    each = (
        f'<a data-state href="{html.escape(address)}">{html.escape(words)}</a>'
        for words, address in ways
    )
    return f'<nav class="lesson-links" aria-label="{html.escape(name)}">{"".join(each)}</nav>'
