"""Fields of the Screen that reach a Request: what belongs to a question follows each of them."""

from pathlib import Path
from typing import Any

from tests.transformer.hugging_face.pairs import save_pair_reader
from tests.transformer.hugging_face.test_languages import save_translator
from viz.choice import REQUEST, choices
from viz.pages.lessons.listing import address_of
from viz.screen import Screen, choose, spell
from viz.state.requests import request_of

READ: set[str] = set()


class Watched(Screen):
    """A Screen that notes which of its fields are read."""

    def __getattribute__(self, name: str) -> Any:
        READ.update({name} & choices(Screen).keys())
        return super().__getattribute__(name)


def test_the_question_is_all_that_reaches_a_request(tmp_path: Path) -> None:
    save_pair_reader("BERT", tmp_path / "pairs")
    READ.clear()
    for folder in (tmp_path / "pairs", save_translator("mBART-50", tmp_path)):
        request_of(str(folder), "cat", Watched(template="default"))
    assert {"pair", "turns", "target_language", "options"} <= READ
    assert READ | {"checkpoint", "text"} == REQUEST | {"edits", "stopped"}


def test_another_conversation_is_another_question() -> None:
    screen = Screen(stopped=3, pins=("q5",), cell=(1, 2), heads=(1,), step=4)
    turns = (("user", "cat"),)
    assert choose(screen, turns=turns) == Screen(turns=turns, heads=(1,))


def test_a_lesson_reads_the_whole_conversation() -> None:
    screen = Screen(template="default", system="dog", turns=(("user", "cat"), ("assistant", "")))
    (_, query) = address_of(None, screen).split("?")
    assert f"turns={spell(screen)['turns'].replace(' ', '%20')}" in query
