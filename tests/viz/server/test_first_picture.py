"""The picture of the first screen is made before anybody comes, and so is what its words need."""

from viz.causes.card import signs_of
from viz.causes.needs import Causes
from viz.labels import bare_label
from viz.run.request import make_answer
from viz.run.work import at_hand
from viz.screen import Screen
from viz.server.first_picture import first_picture
from viz.state.checkpoints import shipped_names
from viz.state.requests import first_example, request_of


def test_the_first_screen_says_which_words_need_another_than_they_look_at() -> None:
    picture = first_picture()
    name = shipped_names()[0]
    answer = make_answer(request_of(name, first_example(name), Screen()))
    assert answer.decoding is not None and answer.decoding.text in picture
    evidence = at_hand(Causes(answer.request))
    assert evidence is not None
    marks = signs_of(answer.recording, evidence).marks
    target = answer.recording.target
    parted = {bare_label(target[at]) for _, at, sign, _ in marks if sign == "parted"}
    assert parted and "Straße" not in parted  # which looks at street, and needs it
