"""What cannot be decided of a decoding: its sentence, and the text as the model decodes it."""

import pytest

from tests.viz.ui.test_app import said, start
from viz.run.request import FREE

TEXT, CHOICES = "Tom lives in Boston.", {"checkpoint": "en-de-small"}


@pytest.mark.parametrize("page", ["decode", "explore", "inspect"])
@pytest.mark.parametrize(
    "decided",
    [
        {"decoding": "greedy", "force": "303"},
        {"decoding": "beam", "prefix": "303.995", "forbid": "995"},
        {"decoding": "beam", "prefix": "99999999"},
    ],
)
def test_what_cannot_be_decided_leaves_the_text_as_it_is_written(
    page: str, decided: dict[str, str]
) -> None:
    app = start(page=page, text=TEXT, **CHOICES, **decided)
    request = app.session_state["session"].answer.request
    assert request.text == TEXT and request.constraints == FREE
    assert bool(said(app)) == (page != "inspect")


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize("name", ["prefix", "force", "branch"])
def test_a_page_without_a_sentence_takes_what_is_decided(method: str, name: str) -> None:
    app = start(page="inspect", text=TEXT, decoding=method, **CHOICES, **{name: "303.995"})
    assert not said(app) and app.session_state["session"].answer.request.text == TEXT
