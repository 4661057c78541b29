"""A talk whose model fails, whose server stops answering, is killed, and comes back: it goes on."""

import shutil
import signal
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import ROOT, becomes, free_port, serve_process
from tests.browser.test_stage import LAPTOP, SCROLLS, TALK, heading, shown
from tests.representatives import cases
from viz.screen import Screen
from viz.stories.reading import write_story
from viz.stories.story import Scene, Story

pytestmark = pytest.mark.browser

KEPT = """() => performance.getEntriesByType("resource")
.some((each) => each.name.includes("/recorded?") && each.responseEnd)"""

SCREENS = (
    *(Screen(checkpoint="copy", text=f"{i} 7 2") for i in range(4)),
    Screen(page="decode", checkpoint="copy", text="3 8 4"),
    Screen(checkpoint="sentiment", text="A good film."),
    Screen(checkpoint="copy", text="9 2 6", picture="map"),
)
SMALL = Story(
    *("", "Small", "talk", "copy", ""),
    scenes=tuple(Scene(f"Scene {i}", "Words.", screen) for i, screen in enumerate(SCREENS)),
)
DRAWN = "section:visible :is(.picture [data-nonce], .printed img:not(.dark))"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "talk", cases([SMALL, TALK], {"a talk": SMALL}), ids=["a small one", "the shipped one"]
)
def test_a_talk_goes_on_by_one_key_when_a_model_fails_and_when_the_server_is_killed(
    browser: Browser, tmp_path: Path, talk: Story
) -> None:
    file, checkpoints = tmp_path / "talk.md", tmp_path / "checkpoints"
    file.write_text(write_story(talk), "utf-8")
    name = talk.name or quote(str(file))
    names = {str(each.screen.checkpoint) for each in talk.scenes}
    number, lost = next(
        (i, each)
        for i, each in enumerate(talk.scenes, 1)
        if each.screen.checkpoint != talk.checkpoint
    )
    for each in names:
        shutil.copytree(ROOT / "checkpoints" / each, checkpoints / each)
    context = browser.new_context(viewport={"width": LAPTOP[0], "height": LAPTOP[1]})
    page, port, n = context.new_page(), free_port(), len(talk.scenes)
    badge, frame = page.locator(".talk > .badge"), page.frame_locator(".talk > .recording")
    at = f"http://127.0.0.1:{port}"
    with serve_process(port, HEADSCOPE_CHECKPOINTS=str(checkpoints)) as server:
        page.goto(f"{at}/?story={name}&role=stage")
        expect(heading(page)).to_have_text(talk.scenes[0].heading, timeout=60_000)
        page.wait_for_function(KEPT, timeout=60_000)
        for scene in talk.scenes[1:3]:
            page.keyboard.press("PageDown")
            expect(heading(page)).to_have_text(scene.heading)
        expect(badge).to_be_hidden()
        (checkpoints / str(lost.screen.checkpoint) / "model.safetensors").write_bytes(b"damaged")
        page.keyboard.press("g")
        page.keyboard.type(str(number))
        page.keyboard.press("Enter")
        expect(badge).to_contain_text(
            f"Recorded: the model failed. {lost.screen.checkpoint}: model"
        )
        expect(frame.locator("section:visible h1")).to_have_text(lost.heading)
        expect(frame.locator(DRAWN).first).to_be_visible()
        page.keyboard.press("g")
        page.keyboard.type("3")
        page.keyboard.press("Enter")
        expect(heading(page)).to_have_text(talk.scenes[2].heading)
        expect(badge).to_be_hidden()
        server.send_signal(signal.SIGSTOP)
        page.keyboard.press("PageDown")
        expect(badge).to_have_text("Recorded: the model takes its time")
        expect(frame.locator("section:visible h1")).to_have_text(talk.scenes[3].heading)
        server.send_signal(signal.SIGCONT)
        expect(heading(page)).to_have_text(talk.scenes[3].heading)
        expect(badge).to_be_hidden()
        page.keyboard.press("PageUp")
        expect(heading(page)).to_have_text(talk.scenes[2].heading)
        server.kill()
        server.wait()
        for number, scene in enumerate(talk.scenes[3:], 4):
            page.keyboard.press("PageDown")
            expect(badge).to_have_text("Recorded: the server does not answer")
            expect(frame.locator("section:visible h1")).to_have_text(scene.heading)
            if scene.question:
                page.keyboard.press("r")
            expect(frame.locator(DRAWN).first).to_be_visible()
            expect(page.get_by_title("Overview")).to_have_text(f"{number} / {n}")
            expect(page.get_by_test_id("stDialog")).to_be_hidden()
        frame.locator("section:visible h1").click()  # its keys are the talk's, too
        page.keyboard.press("PageUp")
        expect(frame.locator("section:visible h1")).to_have_text(talk.scenes[-2].heading)
    with serve_process(port):  # with all checkpoints
        expect(heading(page)).to_have_text(talk.scenes[-2].heading, timeout=60_000)
        expect(badge).to_be_hidden()
        page.keyboard.press("PageUp")
        expect(heading(page)).to_have_text(talk.scenes[-3].heading)
        becomes(lambda: shown(page).page, talk.scenes[-3].screen.page)
        becomes(lambda: page.evaluate(SCROLLS), 0)
    context.close()
