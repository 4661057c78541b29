"""Where exhibits stand: every address whose golden files there are, by a name of its own."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from urllib.parse import parse_qsl

from tests.golden.exhibits_of import (
    Exhibit,
    exhibits_at,
    gallery_exhibits,
    lesson_exhibits,
    saved,
    views_of,
)
from tests.golden.files import Golden
from tests.golden.lines import csv_lines, drawn_lines, lines_of, page_lines, svg_lines
from tests.golden.recordings import RECORDINGS, recording_of
from tests.golden.screens import drawn_at
from tests.viz.places import PLACES
from transformer.discover import discover
from viz.lessons.riddle import NO_RIDDLE
from viz.screen import Screen, parse, put
from viz.stories.reading import shipped_stories, stories_of
from viz.stories.story import Scene, Story
from viz.views.view import View

PAIR = "checkpoint=cross-encoder&text=the+cat+sat+.&pair=a+dog+ran+home+."
MORE = {
    "explore": (
        "checkpoint=everyday&text=She+told+me+that+she&tokens=pieces",
        "checkpoint=shakespeare&picture=map",
        "checkpoint=sentiment-mean",
        "picture=inside&mean=yes",
        "lens=value&show=maps",
        f"{PAIR}&picture=map&between=a-b",
    ),
    "compare": ("checkpoint=en-de&checkpoint_b=en-de-small&text=Tom+lives+in+Boston.",),
    "decode": (
        "checkpoint=en-de&text=Tom+lives+in+Boston.&decoding=beam",
        "checkpoint=everyday",
        "checkpoint=sentiment",
        "checkpoint=sentiment-mean",
        PAIR,
        "checkpoint=en-de&text=Tom+lives+in+Boston.&decoding=beam&hypotheses=yes",
        "checkpoint=en-de&text=Tom+lives+in+Boston.&decoding=greedy&options.max_len=6&prefix=269.294&forbid=288",
    ),
    "sweep": ("checkpoint=sentiment", "checkpoint=everyday&text=She+told+me"),
    "positions": (
        "checkpoint=sentiment",
        "view=encoding_similarity&controls.measure=cosine",
        "checkpoint=en-de-small&view=lab&text=Tom+lives+in+Boston.",
    ),
    "inspect": (
        "inspect=tensor&checkpoint=everyday",
        "inspect=positions&checkpoint=sentiment",
        "inspect=positions&checkpoint=en-de-small",
        "inspect=circuits&checkpoint=everyday",
        "inspect=modules",
        "inspect=vocabulary&checkpoint=en-de&split=The+animal+didn%27t&piece=an",
    ),
    "masks": ("checkpoint=everyday&mask_text=She+told", "checkpoint=sentiment"),
    "training": ("topic=heads&checkpoint=en-de-small&text=Tom+lives+in+Boston.",),
    "heads": (
        "checkpoint=en-de&heads_kind=cross&heads_find=l3",
        "checkpoint=en-de&heads_of=one&kind=cross&layer=2&head=3",
        "checkpoint=en-de&heads_of=ask&heads_ask=who+links+lives+to+Boston&text=Tom+lives+in+Boston.",
    ),
    "why_attention": ("k=3&r=5",),
}
"""Beside the places where everything that is drawn is tried: other families, and other choices."""

Exhibits = Callable[[], Mapping[str, Exhibit]]
Make = Callable[[], Mapping[str, Golden]]


@cache
def places() -> Mapping[str, Make]:
    """Name of a place -> what makes its golden files, by their names."""
    others = (_scenes, _lessons, _gallery, _views)
    exhibits = {name: _of(make) for each in others for name, make in each()}
    return dict(_pages()) | dict(_screens()) | exhibits | dict(_saved())


def _pages() -> Iterator[tuple[str, Make]]:
    """With the sheets of the first ones."""
    for name, screen in _addresses():
        yield f"pages/{name}", _of(_at(screen), has_svg="more" not in name)


def _screens() -> Iterator[tuple[str, Make]]:
    """With what begins when it is asked for, whether or not it is at hand."""
    for name, screen in _addresses():
        asked = put(screen, sweep_asked=True) if screen.page == "sweep" else screen
        yield f"screens/{name}", _drawn(asked)
    for lesson in stories_of("lesson"):
        at = _screen("lessons", f"story={lesson.name}")
        yield f"screens/lessons-{lesson.name}", _drawn(at)
    right = "decoding=greedy&kind=cross&pins=q1&instead=will&repairs=yes"
    asked = _screen("decode", f"checkpoint=en-de&text=Tom+lives+in+Boston.&{right}")
    yield "screens/decode-needed", _drawn(asked)


def _addresses() -> Iterator[tuple[str, Screen]]:
    for page, queries in PLACES.items():
        for number, query in enumerate(queries, 1):
            yield f"{page}-{number}", _screen(page, query)
        for number, query in enumerate(MORE.get(page, ()), 1):
            yield f"{page}-more-{number}", _screen(page, query)


def _of(make: Exhibits, has_svg: bool = False) -> Make:
    """has_svg: whether its sheets are kept, too."""

    def golden() -> Mapping[str, Golden]:
        return {
            name: Golden(
                lines_of(each),
                svg_lines(each.sheet) if has_svg and each.sheet else [],
                each.unexplained,
                each.uncounted,
            )
            for name, each in make().items()
        }

    return golden


def _drawn(screen: Screen) -> Make:
    """What its page draws, and a file each of the CSV that it offers."""

    def golden() -> Mapping[str, Golden]:
        drawn = drawn_at(screen)
        files = {name: Golden(csv_lines(content)) for name, content in drawn.files.items()}
        return {"screen": Golden(drawn_lines(drawn)), **files}

    return golden


def _screen(page: str, query: str) -> Screen:
    return parse({"checkpoint": "copy", **dict(parse_qsl(query)), "page": page})


def _at(screen: Screen) -> Exhibits:
    return lambda: exhibits_at(screen)


def _is_for_stand_ins(scene: Scene) -> bool:
    """Riddles, and scenes of weights that are kept for theirs, are of these, and too long here."""
    return scene.exercise.riddle == NO_RIDDLE and scene.screen.checkpoint != "en-de-1"


def _scenes() -> Iterator[tuple[str, Exhibits]]:
    for story in shipped_stories().values():
        if story.kind == "lesson":
            continue
        for number, scene in enumerate(story.scenes, 1):
            if _is_for_stand_ins(scene):
                yield f"stories/{story.name}-{number}", _at(story.screen_of(number))


def _saved() -> Iterator[tuple[str, Make]]:
    """Stories as files; of a lesson, which is told on a page, none."""
    for story in shipped_stories().values():
        if story.kind != "lesson" and any(map(_is_for_stand_ins, story.scenes)):
            yield (
                f"saved/{story.name}",
                lambda story=story: {"html": Golden(page_lines(saved(story)))},
            )


def _lessons() -> Iterator[tuple[str, Exhibits]]:
    for story in stories_of("lesson"):
        for number, scene in enumerate(story.scenes, 1):
            if scene.exercise.shows:
                yield f"lessons/{story.name}-{number}", lambda scene=scene: lesson_exhibits(scene)


def _gallery() -> Iterator[tuple[str, Exhibits]]:
    for story in stories_of("gallery"):

        def make(story: Story = story) -> Mapping[str, Exhibit]:
            return {f"{i}": each for i, each in enumerate(gallery_exhibits(story), 1)}

        yield f"gallery/{story.name}", make


def _views() -> Iterator[tuple[str, Exhibits]]:
    for view in discover("viz.views", "VIEW").values():
        yield f"views/{view.name}", lambda view=view: _of_view(view)


def _of_view(view: View) -> Mapping[str, Exhibit]:
    """Of each recording that has what it shows."""
    every = {name: recording_of(name) for name in RECORDINGS}
    fitting = {name: each for name, each in every.items() if view.applies_to(each)}
    return {
        f"{name}{choice}": exhibit
        for name, each in fitting.items()
        for choice, exhibit in views_of(view, each).items()
    }
