"""A story as one file: what is in it, and what is not."""

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from transformer import Recording
from viz.components.head_view.head_view import HeadView
from viz.exhibits.chart import Axis, Bars, Chart
from viz.notebook.saved import ChartImage, SavedPicture, SavedScene, sheet_of
from viz.notebook.story_page import story_page
from viz.screen import Screen
from viz.stories.story import Scene, Story

TWO_BARS = Chart("two", "", "", Axis(""), Axis(""), [Bars("", (0, 1), (1, 2), (0,), "{y}")], 200)
HOSTILE = "<script>alert(1)</script> </main> [a](./decode?x) [b](javascript:alert(1))"
ARROWS = Screen(checkpoint="copy", text="<b>3</b>", kind="cross", layer=1, head=0)


def saved(recording: Recording) -> SavedScene:
    view = HeadView("cross", 1)
    data = partial(view.data, head=0)
    picture = SavedPicture(view.component, data, view.payload(recording), "Arrows")
    return SavedScene(ARROWS.text, "", (picture,))


def content(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    assert found is not None
    return dict(json.loads(found[1]))


def test_words_are_text_notes_stay_at_home_and_links_to_screens_are_words(
    recording: Recording,
) -> None:
    scene = Scene(HOSTILE, HOSTILE, ARROWS, notes="for nobody else")
    story = Story("x", HOSTILE, "talk", None, "", (scene, replace(scene, heading="Second")))
    page = story_page(story, [saved(recording), None])
    assert "<script>alert" not in page and "for nobody else" not in page
    assert page.count("</main>") == 1 and page.count("<section") == 2
    assert "data-state" not in page and "javascript:alert(1))</p>" in page
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert "In Headscope only: ./?checkpoint=copy" in page
    scenes = content(page)["scenes"]
    assert isinstance(scenes, list) and list(map(len, scenes)) == [1, 0]
    assert set(scenes[0][0]["first"]["heads"]) == {"light", "dark"}


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\u2028"])
def test_a_story_shows_what_hides_or_reorders_and_keeps_joiners(
    recording: Recording, hidden: str
) -> None:
    name, joined = f"a{hidden}gpj.exe", "می\u200cخواهم 👩\u200d👧 שלום"
    told = replace(saved(recording), text=name, written=name)
    scene = Scene(f"{name} {joined}", f"{name} {joined}", ARROWS)
    page = story_page(Story("x", f"{name} {joined}", "talk", None, "", (scene,)), [told])
    shown = page.split("<script")[0]
    assert hidden not in shown and shown.count(f"aU+{ord(hidden):04X}gpj.exe") >= 5
    assert shown.count(joined) >= 4


def test_a_chart_is_an_image_in_each_theme() -> None:
    chart = ChartImage(lambda theme, share: sheet_of(TWO_BARS, theme, share), 'It "rises" <b>')
    scene = Scene("Heading", "Text", replace(ARROWS, page="positions"))
    story = Story("x", "A story", "talk", None, "", (scene,))
    page = story_page(story, [SavedScene(charts=(chart,))])
    images = re.findall(r'<img class="(\w+)" alt="([^"]*)" src="data:image/webp;base64,(\w+)', page)
    assert [each[:2] for each in images] == [
        (name, "It &quot;rises&quot; &lt;b&gt;") for name in ("light", "dark")
    ]
    assert "In Headscope only" not in page
