"""A story as one file: what is in it, and what is not."""

import json
import re
from dataclasses import replace

from plotly.graph_objects import Bar, Figure

from transformer import Recording
from transformer.analysis.reading import Reading
from transformer.analysis.selection import Selection
from transformer.checkpoint import Checkpoint
from viz.components.kit.pack import unpack
from viz.notebook.printed import Chart, sheet_of
from viz.notebook.scenes import Made, drawn
from viz.notebook.story_page import story_page
from viz.screen import Screen
from viz.stories.story import Scene, Story
from viz.theme import LIGHT

HOSTILE = "<script>alert(1)</script> </main> [a](./decode?x) [b](javascript:alert(1))"
ARROWS = Screen(checkpoint="copy", text="<b>3</b>", kind="cross", layer=1, head=0)
HEAD = Selection("cross", 1, 0)


def made(checkpoint: Checkpoint, recording: Recording, screen: Screen) -> Made:
    return Made(screen, checkpoint, recording, None, Reading(), HEAD, replace(HEAD, head=1))


def content(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    assert found is not None
    return dict(json.loads(found[1]))


def test_each_page_gives_its_pictures(checkpoint: Checkpoint, recording: Recording) -> None:
    def names(**chosen: object) -> list[str]:
        screen = replace(ARROWS, **chosen)  # type: ignore[arg-type]
        return [each.component.name for each in drawn(made(checkpoint, recording, screen))]

    assert names() == ["head_view"]
    assert names(picture="map") == ["head_map"]
    assert names(picture="inside", cell=(2, 1)) == ["cell_steps"]
    assert names(page="compare") == ["head_view", "head_view"]
    assert names(page="inspect") == names(page="compare", checkpoint_b="en-de") == []


def test_a_head_that_is_off_is_marked(checkpoint: Checkpoint, recording: Recording) -> None:
    def said(name: str, **chosen: object) -> object:
        screen = replace(ARROWS, **chosen)  # type: ignore[arg-type]
        (shown,) = drawn(made(checkpoint, recording, screen))
        return unpack(shown.data(shown.payload, LIGHT))[0][name]

    edits = ("head-off:cross.0.1", "head-off:cross.1.0", "head-scale:cross.1.1=0.5")
    assert (said("off"), said("off", edits=edits)) == ([], [HEAD.head])
    off = [said("is_off", picture="map", edits=each) for each in ((), edits, edits[:1])]
    assert off == [False, True, False]


def test_words_are_text_notes_stay_at_home_and_links_to_screens_are_words(
    checkpoint: Checkpoint, recording: Recording
) -> None:
    scene = Scene(HOSTILE, HOSTILE, ARROWS, notes="for nobody else")
    story = Story("x", HOSTILE, "talk", None, "", (scene, replace(scene, heading="Second")))
    page = story_page(story, [made(checkpoint, recording, ARROWS), None])
    assert "<script>alert" not in page and "for nobody else" not in page
    assert page.count("</main>") == 1 and page.count("<section") == 2
    assert "data-state" not in page and "javascript:alert(1))</p>" in page
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert "In Headscope only: ./?checkpoint=copy" in page
    scenes = content(page)["scenes"]
    assert isinstance(scenes, list) and list(map(len, scenes)) == [1, 0]
    assert set(scenes[0][0]["first"]["heads"]) == {"light", "dark"}


def test_a_chart_is_an_image_in_each_theme(checkpoint: Checkpoint, recording: Recording) -> None:
    chart = Chart(lambda theme, share: sheet_of(Figure(Bar(y=[1, 2])), share), 'It "rises" <b>')
    made_of = replace(
        made(checkpoint, recording, replace(ARROWS, page="positions")), charts=(chart,)
    )
    scene = Scene("Heading", "Text", made_of.screen)
    page = story_page(Story("x", "A story", "talk", None, "", (scene,)), [made_of])
    images = re.findall(r'<img class="(\w+)" alt="([^"]*)" src="data:image/webp;base64,(\w+)', page)
    assert [each[:2] for each in images] == [
        (name, "It &quot;rises&quot; &lt;b&gt;") for name in ("light", "dark")
    ]
    assert "In Headscope only" not in page
