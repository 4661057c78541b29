"""A talk whose model fails, whose server stops answering, is killed, and comes back: it goes on."""

import shutil
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import ROOT, becomes, free_port, serve_process
from tests.browser.test_stage import LAPTOP, SCROLLS, TALK, heading, shown

pytestmark = pytest.mark.browser

KEPT = """() => performance.getEntriesByType("resource")
.some((each) => each.name.includes("/recorded?") && each.responseEnd)"""

DRAWN = "section:visible :is(.picture [data-nonce], .printed img:not(.dark))"


def test_a_talk_goes_on_by_one_key_when_a_model_fails_and_when_the_server_is_killed(
    browser: Browser, tmp_path: Path
) -> None:
    names = {str(each.screen.checkpoint) for each in TALK.scenes}
    number, lost = next(
        (i, each)
        for i, each in enumerate(TALK.scenes, 1)
        if each.screen.checkpoint != TALK.checkpoint
    )
    for name in names:
        shutil.copytree(ROOT / "checkpoints" / name, tmp_path / name)
    context = browser.new_context(viewport={"width": LAPTOP[0], "height": LAPTOP[1]})
    page, port, n = context.new_page(), free_port(), len(TALK.scenes)
    badge, frame = page.locator(".talk > .badge"), page.frame_locator(".talk > .recording")
    at = f"http://127.0.0.1:{port}"
    with serve_process(port, HEADSCOPE_CHECKPOINTS=str(tmp_path)) as server:
        page.goto(f"{at}/?story={TALK.name}&role=stage")
        expect(heading(page)).to_have_text(TALK.scenes[0].heading, timeout=60_000)
        page.wait_for_function(KEPT, timeout=60_000)
        for scene in TALK.scenes[1:3]:
            page.keyboard.press("PageDown")
            expect(heading(page)).to_have_text(scene.heading)
        expect(badge).to_be_hidden()
        (tmp_path / str(lost.screen.checkpoint) / "model.safetensors").write_bytes(b"damaged")
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
        expect(heading(page)).to_have_text(TALK.scenes[2].heading)
        expect(badge).to_be_hidden()
        server.send_signal(signal.SIGSTOP)
        page.keyboard.press("PageDown")
        expect(badge).to_have_text("Recorded: the model takes its time")
        expect(frame.locator("section:visible h1")).to_have_text(TALK.scenes[3].heading)
        server.send_signal(signal.SIGCONT)
        expect(heading(page)).to_have_text(TALK.scenes[3].heading)
        expect(badge).to_be_hidden()
        page.keyboard.press("PageUp")
        expect(heading(page)).to_have_text(TALK.scenes[2].heading)
        server.kill()
        server.wait()
        for number, scene in enumerate(TALK.scenes[3:], 4):
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
        expect(frame.locator("section:visible h1")).to_have_text(TALK.scenes[-2].heading)
    with serve_process(port):  # with all checkpoints
        expect(heading(page)).to_have_text(TALK.scenes[-2].heading, timeout=60_000)
        expect(badge).to_be_hidden()
        page.keyboard.press("PageUp")
        expect(heading(page)).to_have_text(TALK.scenes[-3].heading)
        becomes(lambda: shown(page).page, TALK.scenes[-3].screen.page)
        becomes(lambda: page.evaluate(SCROLLS), 0)
    context.close()
