"""The gallery, the stories and the lessons of a folder of pages, of what the app's pages show."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from transformer import Checkpoint
from transformer.discover import discover
from viz.figures.scenes import Picture, cards
from viz.labels import escaped
from viz.lessons.answers import code_of
from viz.live.models import methods_of, models_of
from viz.live.shelf import LISTS
from viz.live.shelf.assets import typeface
from viz.live.shelf.lists import (
    IN_APP,
    Listing,
    Shelf,
    TwoPictures,
    address_of,
    lacking,
    leading,
    scene_of,
)
from viz.live.site import DONE, page_names
from viz.notebook.story_page import story_page
from viz.pages import gallery, lessons, stories
from viz.pages.gallery import pictures
from viz.pages.lessons.listing import DONE as DONE_WORDS
from viz.pages.lessons.listing import cards as lesson_cards
from viz.pages.lessons.listing import in_order
from viz.pages.lessons.saved import lesson_page
from viz.pages.stories import contents
from viz.pages.stories.editor import anchor
from viz.screen import Screen
from viz.server.recording_scenes import saved_scene
from viz.state.page import PAGES, Page
from viz.stories.markdown import as_html
from viz.stories.reading import shipped_stories
from viz.stories.story import Story
from viz.theme import DARK, LIGHT

APP = (
    f"<p>What is marked “{IN_APP}” needs it: run <code>make run</code> in the repository of "
    "Headscope.</p>"
)
RECORDED = "Talks about attention, each recorded in a page of its own"
WORDS = {
    "stories": (
        "They need no server, and have the keys of a talk: → or PageDown leads on, ← or PageUp "
        "back, o shows all scenes, b is black, d dark, f full screen."
    ),
    "lessons": (
        "Each takes a few minutes, and asks before it shows. The weights of a model are fetched "
        "only where a lesson comes to a sentence of your own."
    ),
}
Say = Callable[[str], None]


def shelf_of(checkpoints: Sequence[Checkpoint], say: Say, without: Collection[str] = ()) -> Shelf:
    """Return what stands beside the page in which these checkpoints answer.

    say: is told what is being made. without: names in LISTS that are left out.
    """
    PAGES.update(discover("viz.pages", "PAGE"))
    names = [name for name in LISTS if name not in without]
    every = shipped_stories()
    recorded = {
        name: it for name, it in every.items() if it.kind != "lesson" and "stories" in names
    }
    places = {name: f"stories/{name}.html" for name in recorded}
    course = in_order() if "lessons" in names else []
    places |= {each.name: f"lessons/{each.name}.html" for each in course}
    place, drawn = partial(scene_of, places=places), dict[str, list[TwoPictures | None]]()
    if "gallery" in names:
        say("Pictures of the gallery …")
        of_gallery = [name for name, it in every.items() if it.kind == "gallery"]
        drawn = {name: two_pictures(every[name]) for name in of_gallery}
    methods = {it.name: methods_of(it) for it in checkpoints}
    here = partial(lacking, choices=DONE, pages=page_names(), methods=methods)

    def live(screen: Screen) -> str:
        return place(screen) if here(screen) else address_of(screen)

    lists = {
        "gallery": lambda: _gallery(drawn, live),
        "stories": lambda: _stories(recorded.values(), place),
        "lessons": lambda: _lessons(place),
    }
    pages = chain(
        _files(drawn),
        _story_pages(recorded, checkpoints, say),
        _lesson_pages(course, checkpoints, live, say),
    )
    return Shelf([lists[name]() for name in names], pages, places, _first(places))


# The lists: the app's cards, whose links lead to what the folder has.


def _gallery(drawn: Mapping[str, Sequence[Picture | None]], to: Callable[[Screen], str]) -> Listing:
    parts = [as_html(gallery.WORDS)]
    for name, its in drawn.items():
        story = shipped_stories()[name]
        parts.append(f"<h2>{escaped(story.title)}</h2>{cards(story, its)}")
    return _listing(gallery.PAGE, parts, to)


def _stories(recorded: Iterable[Story], to: Callable[[Screen], str]) -> Listing:
    parts = [f"<p>{WORDS['stories']}</p>"]
    for each in sorted(recorded, key=lambda it: it.kind != "talk"):
        head = f"<h2>{anchor(each.screen_of(1), each.title)}</h2>"
        words = f"{head}{as_html(each.introduction)}{contents(each)}"
        parts.append(f'<article class="talk">{words}</article>')
    return _listing(replace(stories.PAGE, subject=RECORDED), parts, to)


def _lessons(to: Callable[[Screen], str]) -> Listing:
    every = in_order()
    codes = {each.name: code_of((each.name, "finished")) for each in every}
    done = {
        name: f'<span data-done="{it}" hidden>{DONE_WORDS}</span>' for name, it in codes.items()
    }
    parts = [f"<p>{WORDS['lessons']}</p>", lesson_cards(every, Screen("lessons"), done)]
    return _listing(lessons.PAGE, parts, to)


def _first(places: Mapping[str, str]) -> str:
    """Return a link to the first lesson, for who has never been here; none where it is no page."""
    first = in_order()[0]
    there, says = places.get(first.name), escaped(first.introduction)
    return f'<a class="first" href="{there}" title="{says}">{escaped(first.title)}</a>' * bool(
        there
    )


def _listing(page: Page, parts: Iterable[str], to: Callable[[Screen], str]) -> Listing:
    body = leading("".join(parts), to, IN_APP)
    return Listing(page.name, page.title, f"{page.subject}.", body + APP * (f"({IN_APP})" in body))


# The pages and files of the folder.


def two_pictures(story: Story) -> list[TwoPictures | None]:
    """Draw each scene in light and dark; None where the app draws none."""
    both = zip(*(pictures(story, theme.name) for theme in (LIGHT, DARK)), strict=True)
    return [light and dark and TwoPictures(light.svg, light.alt, dark.svg) for light, dark in both]


def _files(drawn: Mapping[str, Sequence[TwoPictures | None]]) -> Iterator[tuple[str, bytes]]:
    for its in drawn.values():
        for picture in filter(None, its):
            yield from picture.files.items()


def _story_pages(
    recorded: Mapping[str, Story], checkpoints: Sequence[Checkpoint], say: Say
) -> Iterator[tuple[str, bytes]]:
    """Their weights are those of the page, one folder up."""
    back = '<a href="../index.html?page=stories">All stories</a>'
    models = {each["name"]: each for each in models_of(checkpoints, one_file=False)[0]}
    for number, (name, story) in enumerate(recorded.items(), 1):
        say(f"Story {number} of {len(recorded)}: {story.title} …")
        saved = [saved_scene(scene) for scene in story.scenes]
        page = story_page(story, saved, typeface(), back, models, "../")
        yield f"stories/{name}.html", page.encode()


def _lesson_pages(
    every: Sequence[Story], checkpoints: Sequence[Checkpoint], to: Callable[[Screen], str], say: Say
) -> Iterator[tuple[str, bytes]]:
    def up(screen: Screen) -> str:
        address = to(screen)
        return address and f"../{'index.html' * address.startswith('?')}{address}"

    for number, it in enumerate(every, 1):
        say(f"Lesson {number} of {len(every)}: {it.title} …")
        yield f"lessons/{it.name}.html", lesson_page(it.name, checkpoints, to=up)
