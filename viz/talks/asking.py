"""A scene that asks: the question stands in place of the picture until it is answered."""

from dataclasses import replace
from functools import partial
from typing import Any

from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.question.question import question
from viz.lessons.subject import Subject
from viz.run.request import answer
from viz.run.shorter import is_part
from viz.run.work import at_hand
from viz.screen import Screen
from viz.state.checkpoints import checkpoint_names
from viz.state.focus import row_pins
from viz.state.limits import charge
from viz.state.page import Page, Pane
from viz.state.requests import request_of_page
from viz.state.state import change, current_theme, session
from viz.stories.asking import asked_of, payload_of
from viz.talks.rooms import ROOMS
from viz.talks.stage import on_stage
from viz.talks.stories import story_of
from viz.talks.tally import points_of, question_of, why_not_counted


def is_asked(pane: Pane) -> bool:
    """Draw the question of the scene that is on the stage; whether it still waits for its answer:
    then nothing that holds a weight of its row may be sent to the browser.
    """
    if not on_stage() or pane.result is None:
        return False
    guess = _ask(pane)
    if guess:  # the answer takes the place of the words that led to it
        st.html("<style>.st-key-scene p { display: none; }</style>")
    return guess is False


def ask_presenter(page: Page) -> None:
    """Draw the question on the presenter's window, without its picture."""
    screen = session().screen
    story = story_of(screen.story)
    asks = story is not None and story.scenes[story.nearest(screen.scene) - 1].question
    if not asks or page.shows != "sentence" or not checkpoint_names():
        return
    question = request_of_page(page)
    try:
        if at_hand(question) is None:
            charge(question)
        pane = page.pane(Pane(screen, question, answer(question)))
    except Refusal:
        return  # the wall says why
    if pane.result is not None:
        _ask(pane)


def _ask(pane: Pane) -> bool | None:
    """Draw the question about what is shown. Whether it is revealed; None: nothing is asked."""
    screen, answer = session().screen, pane.answer
    story = story_of(screen.story)
    if story is None:
        return None
    scene = story.scenes[story.nearest(screen.scene) - 1]
    subject = asked_of(scene, answer.checkpoint, answer.recording, answer.request.method)
    if subject is None:
        return None
    if is_part(answer.request, pane.request):  # its last row is not the one that is asked about
        st.caption("The question comes once the text is written.")
        return False
    guess, of, uncounted = screen.guess, "", ""
    if screen.room is not None:
        words = _screen_of_room()
        of, room = question_of(words), ROOMS.find(screen.room)
        if room is not None:
            room.ask(words, subject.words)
            uncounted = why_not_counted(subject.words)
            guess = room.guess_of(of) if guess is None else guess
    payload = payload_of(scene, subject, answer.request.text, guess is not None)
    on_reveal = partial(_reveal, pane, subject)
    question(payload, current_theme(), guess, on_reveal, of, screen.role, uncounted)
    return guess is not None


def _screen_of_room() -> Screen:
    """The screen as its room says it, where nobody has changed anything since."""
    state = session()
    return state.arrival if state.arrival and state.screen == state.landing else state.screen


def _reveal(pane: Pane, subject: Subject, value: object) -> None:
    """Show the truth, and in the picture the row that it is of. value: of a browser, which may say
    anything.
    """
    points, place = points_of(value), subject.place
    is_whole = points is not None and len(points) == len(subject.words)
    row: dict[str, Any] = {}
    if pane.screen.page == "decode":
        row = {"step": max(0, place.query - max(0, pane.recording.n_prompt - 1))}
    elif not pane.screen.pins and pane.selection.kind == place.kind:
        if pane.reading.words and not subject.is_of_words:  # the weights that were guessed
            row = {"tokens": "pieces"}
            pane = replace(pane, screen=replace(pane.screen, **row))
        row |= {"pins": row_pins(pane, place.query)}
    change(guess=points if is_whole else (), **row)
