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
# arrives when that frame's styles, layout and painting are done. In turn with it, an idle frame:
# what the machine takes for nothing.
TIME_EACH = """async (root, [selector, event, own, rounds]) => {
    const frame = (act) => new Promise((resolve) => requestAnimationFrame(() => {
        const start = performance.now();
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now() - start);
        act();
        port2.postMessage(null);
    }));
    const nodes = [...root.querySelectorAll(selector)];
    const fire = (node) => node.dispatchEvent(
        new PointerEvent(event, { bubbles: true, composed: true }));
    const times = [];
    for (let i = 0; i < rounds; i++) {
        const idle = await frame(() => {});
        const painted = await frame(() => fire(nodes[(7 * i) % nodes.length]));
        times.push([painted, Number(root.dataset[own]), idle]);
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
            _row("point at a token", view, "[data-token]", "pointerover", "hoverMs"),
            _row("show or hide a head", view, "[data-head]", "click", "drawMs"),
        ]
        browser.close()
    return rows


def _row(what: str, view: Locator, selector: str, event: str, own: str) -> Row:
    """Medians over ROUNDS, without the first, which compile. own: where it notes its own time."""
    times = view.evaluate(TIME_EACH, [selector, event, own, ROUNDS])[ROUNDS // 4 :]
    painted, script, idle = (statistics.median(each) for each in zip(*times, strict=True))
    size = f"{HEADS} heads, {N_TOKENS} tokens"
    name = f"{what}, {size}: {painted:.1f} ms, script {script:.1f} ms"
    baseline = f"one frame ({FRAME} ms; an idle one took {idle:.1f} ms)"
    return Row(name, painted / FRAME, baseline, 1.0)


BENCH = Bench("hover", run)
