"""Pointing at a token, and showing or hiding a head, in a head view of 12 heads: a frame each."""

import statistics

from playwright.sync_api import Locator, sync_playwright

from tests.bench.attention import HEADS
from tests.bench.bench import Bench, Row
from tests.bench.rivals import APP
from tests.bench.screen import CLOCK, typed_to_painted
from tests.browser.server import DESKTOP, launch, painted, serve

N_TOKENS, ROUNDS, FRAME = 128, 60, 16

# Browsers hand pointer events to the page at the start of a frame; a message that is sent there
# arrives when that frame's styles, layout and painting are done.
TIME_EACH = """async (root, [selector, event, rounds]) => {
    const nodes = [...root.querySelectorAll(selector)];
    const times = [];
    for (let i = 0; i < rounds; i++) {
        times.push(await new Promise((resolve) => requestAnimationFrame(() => {
            const start = performance.now();
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => resolve(performance.now() - start);
            nodes[(7 * i) % nodes.length].dispatchEvent(
                new PointerEvent(event, { bubbles: true, composed: true }));
            port2.postMessage(null);
        })));
    }
    return times;
}"""


def run() -> list[Row]:
    with sync_playwright() as playwright, serve(APP) as address:
        browser = launch(playwright)
        page = browser.new_page(viewport=DESKTOP)
        page.goto(address)
        painted(page)
        page.evaluate(CLOCK)
        typed_to_painted(page, f"heads {N_TOKENS} 0", "heads")
        view = page.locator(".head-view")
        rows = [
            _row("point at a token", view, "[data-token]", "pointerover"),
            _row("show or hide a head", view, "[data-head]", "click"),
        ]
        browser.close()
    return rows


def _row(what: str, view: Locator, selector: str, event: str) -> Row:
    """Medians over ROUNDS: the first rounds compile."""
    times = view.evaluate(TIME_EACH, [selector, event, ROUNDS])
    milliseconds = statistics.median(times[ROUNDS // 4 :])
    name = f"{what}, {HEADS} heads, {N_TOKENS} tokens: {milliseconds:.1f} ms"
    return Row(name, milliseconds / FRAME, f"one frame ({FRAME} ms)", 1.0)


BENCH = Bench("hover", run)
