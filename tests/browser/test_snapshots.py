"""A training in the browser: what is shown at a step equals what Python computes for it."""

import re

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.browser.sentences import SAID, said
from tests.browser.server import ROOT, painted
from tests.browser.test_app import open_app
from transformer import decode, load_checkpoint, record
from transformer.analysis.reading import AttentionMap, read

pytestmark = pytest.mark.browser

PLAYER = ".snapshot-player[data-nonce]"


def map_at(step: int, kind: str) -> AttentionMap:
    """What a snapshot of the copy task makes of the first example, run by itself."""
    final = load_checkpoint(ROOT / "checkpoints/copy", "cpu")
    text = final.about.examples[0]
    target = decode(final, text, method="beam").target
    snapshot = load_checkpoint(final.path, "cpu", f"snapshots/{step:06d}.safetensors")
    return read(record(snapshot, text, target), kind)


def hover(page: Page, player: Locator, map: AttentionMap, row: int, column: int) -> None:
    x, y, width, height = (float(n) for n in str(player.get_attribute("data-plot")).split(","))
    stage = player.locator(".stage").bounding_box()
    assert stage is not None
    across, down = (column + 0.5) / len(map.columns), (row + 0.5) / len(map.rows)
    page.mouse.move(stage["x"] + x + across * width, stage["y"] + y + down * height)


def test_a_training_is_slid_through_and_played(page: Page, address: str) -> None:
    sent: list[object] = []

    def watch(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", watch)
    query = "checkpoint=copy&topic=heads&kind=decoder_self&layer=1&head=2&snapshot=200"
    open_app(page, f"{address}/training?{query}")
    player = page.locator(PLAYER)
    expect(player).to_have_attribute("data-step", "200")
    line = player.locator(SAID)
    map = map_at(200, "decoder_self")
    for row, column in ((3, 1), (0, 4)):
        hover(page, player, map, row, column)
        expect(line).to_have_text(said(map, 1, 2, row, column))

    page.get_by_role("slider", name="Training step").press("ArrowLeft")  # another value there
    map = map_at(126, "decoder_self")
    hover(page, player, map, 3, 1)
    expect(line).to_have_text(said(map, 1, 2, 3, 1))
    page.wait_for_url(re.compile("snapshot=126"))
    page.get_by_role("button", name=re.compile("^L0 H3: ")).click()
    expect(player).to_have_attribute("data-id", "decoder_self L0 H3")
    expect(player).to_have_attribute("data-step", "126")
    painted(page)

    page.get_by_label("Speed").select_option("0.5")  # time to pause, on a busy machine too
    sent.clear()
    page.get_by_role("button", name="Play").click()
    expect(player).not_to_have_attribute("data-step", "126")
    assert sent == []  # the server knows nothing of it
    page.get_by_role("button", name="Pause").click()
    page.wait_for_url(re.compile(f"snapshot={player.get_attribute('data-step')}\\b"))
    expect(page.get_by_test_id("stException")).to_have_count(0)
