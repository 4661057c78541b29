"""A scene that asks: the question stands in place of the picture until it is answered."""

from functools import partial

import streamlit as st

from viz.components.question.question import question
from viz.stories.asking import asked_of, payload_of
from viz.ui.page import Pane
from viz.ui.stage import on_stage
from viz.ui.state import change, current_theme, session
from viz.ui.stories import story_of


def is_asked(pane: Pane) -> bool:
    """Draw the question of the scene that is on the stage; whether it still waits for its answer:
    then nothing that holds a weight of its row may be sent to the browser.
    """
    screen = session().screen
    story = story_of(screen.story) if on_stage() else None
    if story is None or pane.shown is None:
        return False
    scene, answer = story.scenes[story.nearest(screen.scene) - 1], pane.answer
    seen = asked_of(scene, answer.checkpoint, answer.recording, answer.request.method)
    if seen is None:
        return False
    guess = screen.guess
    payload = payload_of(scene, seen, answer.request.text, guess is not None)
    if guess is not None:  # the answer takes the place of the words that led to it
        st.html("<style>.st-key-scene p { display: none; }</style>")
    question(payload, current_theme(), guess, partial(_reveal, len(seen.words)))
    return guess is None


def _reveal(n: int, points: list[int]) -> None:
    """points: of a browser, which may say anything."""
    whole = [each for each in points if isinstance(each, int) and 0 <= each <= 100]
    change(guess=tuple(whole) if len(whole) == n else ())
