"""A riddle on the page: a sentence, what the model writes, and the question where it goes wrong."""

from transformer.causes import Evidence
from transformer.files.foreign_text import clean
from transformer.refusal import Refusal
from transformer.visible import visible
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.labels import literal
from viz.lessons.kinds import read_task
from viz.lessons.place import Place
from viz.lessons.riddles import mistakes_in
from viz.lessons.subject import Subject
from viz.pages.lessons.asking import ask
from viz.run.causes import Causes
from viz.run.request import Answer, Request, about
from viz.screen import Screen
from viz.state.requests import request_of
from viz.stories.story import Scene
from viz.ui.progress import whole

NOWHERE = Place("cross", 0, 0, 0)
"""Riddles are about words, and about the row of no head."""


def show_riddle(
    lesson: str, number: int, scene: Scene, answers: dict[Request, Answer | None]
) -> Screen | None:
    """Draw a riddle. The screen with its card once it is over, else None.

    number: the scene's in the lesson. answers: those that this run of the page has waited for.
    """
    name = scene.screen.checkpoint or ""
    if about(name) is None:
        st.caption(f"These are mistakes of {literal(clean(name))}, which is not here.")
        return None
    try:
        pair = _answer(scene, answers)
    except (Refusal, NothingLeft) as reason:
        st.caption(literal(str(reason)))
        return None
    if pair is None:
        return None
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
            return None
        if not ask(task, subject, (lesson, number, i, answer.request, NOWHERE)):
            return None
    for number_of_word, _ in mistakes_in(subject)[:1]:
        st.markdown(literal(visible(evidence.verdicts[number_of_word].text)))
    st.markdown(riddle.solution)
    return scene.screen


def _answer(scene: Scene, answers: dict[Request, Answer | None]) -> tuple[Answer, Evidence] | None:
    """The translation and the evidence of it; None while they are waited for, or where stopped."""
    screen, place = scene.screen, st.empty()
    request = request_of(screen.checkpoint or "", screen.text or "", screen)
    if request not in answers:
        answers[request] = whole(request, place, ("riddle", request))
    answer, study = answers[request], Causes(request)
    evidence = None if answer is None else whole(study, place, ("riddle", study))
    return None if answer is None or evidence is None else (answer, evidence)
