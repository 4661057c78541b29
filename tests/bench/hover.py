"""Pointing at a token, and showing or hiding a head, in a head view of 12 heads: a frame each."""

import statistics

from playwright.sync_api import Locator

from tests.bench.attention import HEADS
from tests.bench.bench import BrowserBench, Row
from tests.bench.places import Places
from tests.bench.screen import CLOCK, entered_to_painted
from tests.browser.server import painted

N_TOKENS, ROUNDS, FRAME = 128, 60, 16
WHAT = (
    ("point at a token", "[data-token]", "pointerover", "hoverMs"),
    ("show or hide a head", "[data-head]", "click", "drawMs"),
)
"""What is done, with what, by which event, and where the script notes its time."""
Times = list[tuple[float, float, float]]
"""Milliseconds of each round: painted, of the script, and of an idle frame."""

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
        const noted = Number(root.dataset[own]);
        await frame(() => {}); // the words follow a frame after the lines
        times.push([painted, noted, idle]);
    }
    return times;
}"""


def run(is_quick: bool, places: Places) -> list[Row]:
    n_tokens, rounds = (8, 4) if is_quick else (N_TOKENS, ROUNDS)
    with places.new_page() as page:
        page.goto(places.address("views"))
        painted(page)
        page.evaluate(CLOCK)
        entered_to_painted(page, f"heads {n_tokens} 0", "heads")
        view = page.locator(".head-view")
        size = f"{HEADS} heads, {n_tokens} tokens"
        return [_row(f"{what}, {size}", _times(view, rounds, *how)) for what, *how in WHAT]


def _times(view: Locator, rounds: int, selector: str, event: str, own: str) -> Times:
    """Of each round, without the first, which compile. own: where the script notes its time."""
    times: Times = view.evaluate(TIME_EACH, [selector, event, own, rounds])
    return times[rounds // 4 :]


def _row(what: str, times: Times) -> Row:
    painted, script, idle = (statistics.median(each) for each in zip(*times, strict=True))
    name = f"{what}: {painted:.1f} ms, script {script:.1f} ms"
    baseline = f"one frame ({FRAME} ms; an idle one took {idle:.1f} ms)"
    return Row(name, painted / FRAME, baseline, 1.0)


BENCH = BrowserBench("hover", run)
