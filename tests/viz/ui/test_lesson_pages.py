"""Pages that belong to a lesson: in no menu, opened from there, and with a way back."""

import re

import pytest

from tests.viz.ui.test_app import folder, start
from transformer.discover import discover
from viz.pages.lessons.listing import ORDER
from viz.stories.reading import shipped_stories

__all__ = ["folder"]
PAGES = discover("viz.pages", "PAGE")
OF_LESSONS = [name for name, page in PAGES.items() if page.lesson]
MOST = 11
"""Pages in the menus: of more nobody knows where to look."""


def test_the_menus_are_short() -> None:
    assert len(PAGES) - len(OF_LESSONS) <= MOST


@pytest.mark.parametrize("name", OF_LESSONS)
def test_a_lesson_opens_its_page(name: str) -> None:
    lesson = shipped_stories()[PAGES[name].lesson]
    assert name in {scene.screen.page for scene in lesson.scenes} and PAGES[name].invites


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", OF_LESSONS)
def test_the_page_leads_back_to_its_lesson(name: str) -> None:
    app = start(page=name, checkpoint="copy", text="3 7 2")
    ways = [each.proto.body for each in app.get("html") if "data-state" in each.proto.body]
    assert any(f"story={PAGES[name].lesson}" in way and "text=3%207%202" in way for way in ways)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", OF_LESSONS)
def test_its_lesson_begins_with_a_link_to_it_and_ends_with_one_to_the_next(name: str) -> None:
    app = start(page="lessons", story=PAGES[name].lesson, checkpoint="copy", text="3 7 2")
    ways = [
        each.proto.body for each in app.get("html") if '<nav class="lesson-links' in each.proto.body
    ]
    assert re.search(rf'href="./{name}\?[^"]*text=3%207%202', ways[0])
    following = ORDER[ORDER.index(PAGES[name].lesson) + 1]
    assert f"story={following}" in ways[-1]


@pytest.mark.usefixtures("folder")
def test_the_list_of_lessons_opens_each_of_them() -> None:
    app = start(page="lessons", checkpoint="copy", text="3 7 2")
    links = " ".join(each.proto.body for each in app.get("html"))
    assert all(f'href="./{name}?' in links for name in OF_LESSONS)
