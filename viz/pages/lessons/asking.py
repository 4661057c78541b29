"""One task on the page: the question and its form; afterwards the truth; riddles, and sentences of
the learner's own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from transformer.causes import Evidence
from transformer.files.foreign_text import clean
from transformer.refusal import Refusal, visible
from viz.app_packages import st
from viz.causes.needs import Causes
from viz.components.kit.picture import NothingLeft
from viz.components.kit.sync import guarded
from viz.components.lesson.lesson import keep_answers
from viz.figures.tables import guess_table, numbers_table
from viz.labels import literal
from viz.lessons.answers import (
    FINISHED,
    MOST,
    Attempt,
    Entry,
    answered,
    attempt_of,
    code_of,
    entry_of,
    graded,
    read_entries,
    waiting,
)
from viz.lessons.exercise import read_task, tasks
from viz.lessons.riddles import mistakes_in
from viz.lessons.subject import Place, Subject
from viz.lessons.task import LONGEST, Reply, Task, read_number
from viz.page_fields import LessonsFields
from viz.run.cache import bytes_of
from viz.run.line import Runner
from viz.run.request import Answer, Request, about, answer, open_checkpoint
from viz.run.work import Study, at_hand
from viz.screen import Screen
from viz.state.checkpoints import load
from viz.state.limits import charge, check_text
from viz.state.requests import request_of
from viz.state.state import bound, session
from viz.stories.story import Scene
from viz.ui.progress import whole
from viz.ui.showing import show_table

# One task on the page: the question and its form; afterwards the truth and its number.

CHECK, SHOW_ME = "Check", "Show me"
RIGHT, NOT_RIGHT = "Right.", "Not right{answer}."
NOT_YET, NOT_QUITE = "Not right yet.", "Not quite."
"""Remarks on a first answer that is wrong; and on one that is likely."""
MOST_BUTTONS = 40
"""Words of a longer row are a list that opens."""
POINTS_WIDTH = 150
"""The width of a field for points, in px: two stand beside each other on a phone."""


@dataclass
class Answers:
    """Attempts at the tasks of lessons, by the code of a task's place and of what it is about."""

    attempts: dict[str, Attempt] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    """Entries of the browser for tasks that were answered before this session began, and for the
    lessons that were finished."""


def ask(task: Task, subject: Subject, name: tuple[Any, ...]) -> bool:
    """Draw a task; whether it is over. name: where it stands, and what it is asked about."""
    code, own = code_of(name), session().of(Answers)
    before = None if code in own.attempts else own.entries.get(code)
    attempt = own.attempts.get(code, Attempt())
    with st.container():  # always here, as below: what follows keeps its place, and the focus
        if attempt.waits or attempt.is_over or before is not None:
            try:
                ran = _with_run(task, subject, name)
                if ran is not None:
                    subject = ran
                    attempt = attempt_of(before, task, subject) if before is not None else attempt
                    attempt = graded(attempt, task, subject) if attempt.waits else attempt
                    _keep(code, attempt)
            except Exception:  # whoever comes back is asked anew; a rerun goes on with the answer
                _keep(code, Attempt())
                raise
    key = f"{name[0]} {name[1]} {name[2]} {code}"
    with st.container(key=f"task {key}"):
        if attempt.is_over:
            with st.container(key=f"over {key}"):
                _over(task, subject, attempt)
        else:
            _form(task, subject, code, key, attempt)
    return attempt.is_over


def keep() -> None:
    """Below all that is asked: let the browser keep what was answered, over a reload."""
    own = session().of(Answers)
    entries = {**own.entries, **{code: entry_of(each) for code, each in own.attempts.items()}}
    keep_answers(dict(list(entries.items())[-MOST:]), _take_entries)


def _take_entries(text: object) -> None:
    session().of(Answers).entries = read_entries(text)


def finish(lesson: str) -> None:
    """Remember that all tasks of a lesson are over, whatever sentence they were asked about."""
    own = session().of(Answers)
    own.entries = {**own.entries, code_of((lesson, "finished")): FINISHED}


def is_finished(lesson: str) -> bool:
    """Tell whether they were, in this session or before it in this tab."""
    return code_of((lesson, "finished")) in session().of(Answers).entries


def _form(task: Task, subject: Subject, code: str, key: str, attempt: Attempt) -> None:
    """The question, what is said of an answer that is not right yet, and the buttons."""

    def check() -> None:
        try:
            reply = _reply(task, key)
        except ValueError as error:
            _keep(code, replace(attempt, hint=str(error), is_wrong=False))
            return
        is_answer = reply is not None
        _keep(
            code, waiting(attempt, reply) if is_answer else answered(attempt, None, task, subject)
        )

    def show() -> None:
        _keep(code, waiting(attempt))

    with st.form(f"form {key}", border=False):
        if task.form != "spread":
            _material(task, subject)
        _fields(task, subject, f"answer {key}")
        with st.container():
            _nudge(attempt)
        with st.container(horizontal=True):
            st.form_submit_button(CHECK, on_click=guarded(check), key=f"check {key}")
            st.form_submit_button(
                SHOW_ME, on_click=guarded(show), type="tertiary", key=f"show {key}"
            )


@dataclass(frozen=True)
class TaskRun(Study[Any]):
    """The computing of a task's truth, where a model is run for it."""

    task: str
    arguments: tuple[int, ...]
    request: Request
    place: Place

    def run(self, before: Any, runner: Runner) -> Iterator[Any]:
        now, run = answer(self.request, runner), tasks()[self.task].run
        turn = partial(runner.turn, now.checkpoint.model)
        rest = (self.place, self.arguments, self.request.text, turn)
        if run is not None:
            yield from run(Subject(now.checkpoint, now.recording, *rest), before)

    def progress(self, value: Any) -> tuple[int, int]:
        return getattr(value, "progress", (1, 1))

    def n_bytes(self, value: Any) -> int:
        return bytes_of(value, open_checkpoint(self.request).model)


def _with_run(task: Task, subject: Subject, name: tuple[Any, ...]) -> Subject | None:
    """With what the truth is computed from; None where that was stopped."""
    if task.run is None:
        return subject
    study = TaskRun(task.name, subject.arguments, name[3], subject.place)
    result = whole(study, st.empty(), (study, *name[:3]))
    return None if result is None else replace(subject, result=result)


def _nudge(attempt: Attempt) -> None:
    """Remark on the last answer. Streamlit marks such boxes as alerts: they are read out."""
    if attempt.is_wrong and attempt.has_reason:
        st.warning(f"**{NOT_QUITE}** {literal(attempt.hint)}", icon=":material/help:")
    elif attempt.is_wrong:
        st.warning(f"**{NOT_YET}** {literal(attempt.hint)}", icon=":material/close:")
    elif attempt.hint:
        st.info(literal(attempt.hint), icon=":material/edit:")


def _keep(code: str, attempt: Attempt) -> None:
    answers = session().of(Answers).attempts
    answers[code] = attempt
    while len(answers) > MOST:
        del answers[next(iter(answers))]


def _material(task: Task, subject: Subject) -> None:
    if rows := task.material(subject):
        show_table(numbers_table(rows))


def _fields(task: Task, subject: Subject, key: str) -> None:
    """Draw the fields for an answer; their keys begin with `key`."""
    question = task.ask(subject)
    if task.form == "number":
        unit = f" ({task.unit})" if task.unit else ""
        look: dict[str, Any] = {"label_visibility": "collapsed", "width": 240}
        st.markdown(literal(question + unit))  # a label would be as narrow as the field
        st.text_input(literal(question + unit), key=key, max_chars=LONGEST, **look)
        return
    options = task.options(subject)
    if task.form == "spread":
        _spread(question, options, key)
        return
    if task.form == "choice":
        st.radio(
            literal(question),
            range(len(options)),
            index=None,
            format_func=lambda i: literal(options[i]),
            key=key,
        )
    elif len(options) <= MOST_BUTTONS:
        st.pills(
            literal(question),
            range(len(options)),
            format_func=lambda i: literal(options[i]),
            key=key,
        )
    else:
        st.selectbox(literal(question), options, index=None, key=key, format_func=visible)


def _spread(question: str, options: tuple[str, ...], key: str) -> None:
    st.markdown(literal(question))
    with st.container(horizontal=True):
        for i, word in enumerate(options):
            look: dict[str, Any] = {"step": 5, "width": POINTS_WIDTH}
            st.number_input(literal(word), 0, 100, 0, key=f"{key} {i}", **look)


def _reply(task: Task, key: str) -> Reply | None:
    """Read the fields; None where nothing stands in them. Raises ValueError, in a sentence."""
    if task.form == "spread":
        begin = f"answer {key} "
        fields = {k: v for k, v in st.session_state.items() if str(k).startswith(begin)}
        points = [float(fields[f"{begin}{i}"] or 0) for i in range(len(fields))]
        return tuple(points) if sum(points) > 0 else None
    value = st.session_state.get(f"answer {key}")
    if task.form == "number":
        return read_number(value or "", task.unit)
    chosen: Reply | None = value
    return chosen


def _over(task: Task, subject: Subject, attempt: Attempt) -> None:
    st.markdown(f"**{literal(task.ask(subject))}**")
    truth = task.truth(subject)
    if isinstance(truth, tuple):
        points = attempt.answer if isinstance(attempt.answer, tuple) else None
        show_table(guess_table(task.options(subject), points, truth))
    else:
        _material(task, subject)
    explanation = literal(task.explain(subject))
    if attempt.is_right:
        st.success(f"**{RIGHT}** {explanation}", icon=":material/check:")
    elif attempt.is_wrong:
        answer = task.repeat(subject, attempt.answer) if attempt.answer is not None else ""
        st.warning(
            f"**{NOT_RIGHT.format(answer=literal(answer))}** {explanation}", icon=":material/close:"
        )
    else:
        st.info(explanation, icon=":material/arrow_forward:")


# A sentence of the learner's own, which is typed where it is asked about.


OWN_SENTENCE, ONCE_ENTERED = "Your own sentence", "It is asked about once it is entered."


def own_sentence() -> str:
    """Draw the field. Return what stands in it."""
    text = session().screen.of(LessonsFields).own_text or ""
    label, look = OWN_SENTENCE, dict[str, Any](label_visibility="collapsed")
    st.text_input(label, text, placeholder=label, **look, **bound("own_text", text, ""))
    if not text.strip():
        st.caption(ONCE_ENTERED)
    return text.strip()


def own_answer(request: Request, answers: dict[Request, Answer | None]) -> Answer | None:
    """Return the answer to it; None while it is waited for, or where a sentence says why not."""
    try:
        load(request)
        check_text(request.text)
        if at_hand(request) is None:
            charge(request)
        if request not in answers:
            answers[request] = whole(request, st.empty(), ("own", request))
    except Refusal as reason:
        st.warning(literal(str(reason)))
        return None
    return answers[request]


# A riddle on the page: a sentence, what the model writes, and the question where it goes wrong.

NOWHERE = Place("cross", 0, 0, 0)
"""Riddles are about words, and about the row of no head."""


def show_riddle(
    lesson: str, number: int, scene: Scene, answers: dict[Request, Answer | None]
) -> tuple[bool, Screen | None]:
    """Draw a riddle. True: nothing of it is left to answer; and the screen with its card, where it
    was asked and is over.

    number: the scene's in the lesson. answers: those that this run of the page has waited for.
    """
    name, screen = scene.screen.checkpoint or "", scene.screen
    if about(name) is None:
        st.caption(f"These are mistakes of {literal(clean(name))}, which is not here.")
        return True, None
    if scene.exercise.own:
        screen = replace(screen, text=own_sentence())
        if not screen.text:
            return False, None
    try:
        pair = _answer(screen, bool(scene.exercise.own), answers)
    except (Refusal, NothingLeft) as reason:
        st.caption(literal(str(reason)))
        return not scene.exercise.own, None
    if pair is None:
        return False, None
    answer, evidence = pair
    output = answer.decoding.text if answer.decoding else ""
    st.markdown(f"{literal(answer.request.text)}\n\n**{literal(output)}**")
    riddle = scene.exercise.riddle
    of = answer.checkpoint, answer.recording, NOWHERE, (), answer.request.text
    subject = Subject(*of, result=evidence, riddle=riddle)
    for i, name in enumerate(scene.exercise.tasks):
        task, _ = read_task(name)
        if why := task.absent(subject):
            st.caption(literal(why))
            return True, None
        if not ask(task, subject, (lesson, number, i, answer.request, NOWHERE)):
            return False, None
    for number_of_word, _ in mistakes_in(subject)[:1]:
        st.markdown(literal(visible(evidence.verdicts[number_of_word].text)))
    st.markdown(riddle.solution)
    return True, screen


def _answer(
    screen: Screen, is_own: bool, answers: dict[Request, Answer | None]
) -> tuple[Answer, Evidence] | None:
    """The translation and the evidence of it; None while they are waited for, or where stopped."""
    place = st.empty()
    request = request_of(screen.checkpoint or "", screen.text or "", screen)
    if is_own:
        answer = own_answer(request, answers)
    else:
        if request not in answers:
            answers[request] = whole(request, place, ("riddle", request))
        answer = answers[request]
    study = Causes(request)
    evidence = None if answer is None else whole(study, place, ("riddle", study))
    return None if answer is None or evidence is None else (answer, evidence)
