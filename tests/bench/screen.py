"""From the keyboard to painted in the browser, against an empty Streamlit rerun in the same run.

The goals were measured on a prototype: pictures below a text input, and nothing else, painted after
Enter. The app paints a sentence while it is being typed: what counts is the time since its last
letter. The rows of Enter say what a sentence takes that was pasted and entered at once, and the
bare ones what it takes where there are only pictures. Apps take turns of a few sentences each, and
the first of a turn is left out: whoever types a sentence has looked at this app just before.
"""

import statistics
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import torch
from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.places import Places
from tests.browser.server import painted
from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.formats.headscope import save_checkpoint
from transformer.tokenizer import NumberTokenizer

N_TOKENS, ROUNDS, SENTENCES = 48, 6, 4
PAUSE = 250
"""Milliseconds between two letters of somebody who types 45 words a minute."""

# For each fact the time from the Enter key to two frames after it has changed. Shadow roots are
# searched too, but not in every frame: in a large page that takes longer than what is measured.
CLOCK = """() => {
    const find = (selector, root = document) => {
        const hit = root.querySelector(selector);
        if (hit) return hit;
        for (const node of root.querySelectorAll('*')) {
            const inner = node.shadowRoot && find(selector, node.shadowRoot);
            if (inner) return inner;
        }
    };
    const found = {};
    const nonce = (selector) => () => {
        if (!found[selector]?.isConnected) found[selector] = find(selector);
        return found[selector]?.dataset.nonce;
    };
    window.facts = {
        shown: () => document.querySelector('#shown')?.textContent,
        tokens: nonce('.token-rows'),
        grid: nonce('.head-grid'),
        heads: nonce('.head-view'),
        heatmap: nonce('.head-map'),
    };
    window.measure = (facts) => {
        const before = facts.map((fact) => window.facts[fact]());
        const changed = (i, start) => new Promise((resolve) => {
            const look = () => window.facts[facts[i]]() !== before[i]
                ? requestAnimationFrame(() => requestAnimationFrame(
                    () => resolve([facts[i], performance.now() - start])))
                : requestAnimationFrame(look);
            look();
        });
        window.measured = new Promise((resolve, reject) => {
            setTimeout(() => reject(`${facts} did not all change within a minute`), 60000);
            document.addEventListener('keydown', () => {
                const start = performance.now();
                Promise.all(facts.map((_, i) => changed(i, start)))
                    .then((times) => resolve(Object.fromEntries(times)));
            }, { once: true, capture: true });
        });
    };
}"""

FACTS = "(facts) => facts.map((fact) => window.facts[fact]())"
ALL_NEW = f"([facts, before]) => ({FACTS})(facts).every((value, i) => value !== before[i])"


def big_checkpoint(folder: Path, n_layers: int = 12) -> None:
    """Layers of 12 heads, d_model 192, random weights; a classifier, which decodes nothing.

    So that the screen is timed and not the length of a random translation.
    """
    torch.manual_seed(0)
    config = ModelConfig(
        family="encoder_classifier",
        classes=("no", "yes"),
        vocab_size=100,
        d_model=192,
        d_ff=768,
        n_heads=12,
        n_encoder_layers=n_layers,
    )
    weights = discover("transformer.models", "FAMILY")[config.family].build(config).state_dict()
    about = About("144 heads", "none", "numbers", (_text(0),), ("encoder_self", 0, 0))
    save_checkpoint(folder / "big", about, config, weights, NumberTokenizer(config.vocab_size))


def entered_to_painted(page: Page, text: str, *facts: str) -> dict[str, float]:
    """For each fact, milliseconds from Enter to two frames after it was seen to have changed.

    A preview may have painted it before.
    """

    def enter() -> None:
        page.get_by_label("Sentence").fill(text)
        page.keyboard.press("Enter")

    milliseconds = until_painted(page, facts, enter)
    painted(page)
    return milliseconds


def typed_to_painted(page: Page, text: str, *facts: str) -> dict[str, float]:
    """The same from the last letter of a text, of which the rest was there for a moment."""
    before = page.evaluate(FACTS, facts)
    page.get_by_label("Sentence").fill(text[:-1])
    page.wait_for_function(ALL_NEW, arg=[facts, before])
    page.wait_for_timeout(PAUSE)
    milliseconds = until_painted(page, facts, lambda: page.keyboard.press(text[-1]))
    page.wait_for_timeout(PAUSE)
    page.keyboard.press("Enter")
    painted(page)
    return milliseconds


def until_painted(page: Page, facts: Sequence[str], press: Callable[[], None]) -> dict[str, float]:
    page.evaluate("(facts) => window.measure(facts)", facts)
    press()
    milliseconds: dict[str, float] = page.evaluate("() => window.measured")
    return milliseconds


GRID, BOTH = ("grid",), ("grid", "heatmap")
PAGES = {
    "empty": ("empty", {}, entered_to_painted, ("shown",)),
    "bare grid": ("bare", {}, entered_to_painted, GRID),
    "bare": ("bare", {"picture": "map"}, entered_to_painted, BOTH),
    "app": ("", {"picture": "map"}, typed_to_painted, BOTH),
    "app entered": ("", {"picture": "map"}, entered_to_painted, BOTH),
}
"""What is measured in turn: an app and its query, from when, and what has to change."""
ROWS = {
    "typed to grid of 144 heads painted": ("app", GRID, 1.5),
    "typed to grid and heatmap painted": ("app", BOTH, 1.8),
    "pasted and entered to both painted": ("app entered", BOTH, None),
    "entered to the same grid in a bare app": ("bare grid", GRID, None),
    "entered to both in a bare app": ("bare", BOTH, None),
}
"""Of a page, when all of these were painted; and the goal."""


def run(is_quick: bool, places: Places) -> list[Row]:
    times = _times(places, *((1, 2, 2) if is_quick else (ROUNDS, SENTENCES, 12)))
    floor = statistics.median(turn["shown"] for turn in times["empty"])
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    rows = []
    for name, (page, facts, goal) in ROWS.items():
        ms = statistics.median(max(turn[fact] for fact in facts) for turn in times[page])
        rows.append(Row(name, ms / floor, baseline, goal))
    return rows


def _times(
    places: Places, rounds: int, sentences: int, n_layers: int
) -> dict[str, list[dict[str, float]]]:
    """Of each page, what each sentence took."""
    times: dict[str, list[dict[str, float]]] = {name: [] for name in PAGES}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        big_checkpoint(Path(folder), n_layers)
        checkpoint = str(Path(folder) / "big")
        pages = {}
        for name, (app, query, *_) in PAGES.items():
            pages[name] = stack.enter_context(places.new_page())
            pages[name].goto(places.address(app, checkpoint=checkpoint, text=_text(0), **query))
            painted(pages[name])
            pages[name].evaluate(CLOCK)
        for turn, name in enumerate(list(PAGES) * rounds):
            pages[name].bring_to_front()
            first = 1 + turn * sentences
            texts = map(_text, range(first, first + sentences))
            *_, timed, facts = PAGES[name]
            took = [timed(pages[name], text, *facts) for text in texts]
            times[name] += took[1:]
    return times


def _text(turn: int) -> str:
    """Another text each turn, also without its last letter: none is answered from a cache."""
    numbers = (2 + (turn + i * (1 + turn // 98)) % 98 for i in range(N_TOKENS - 1))
    return " ".join([*map(str, numbers), "42"])


BENCH = BrowserBench("screen", run)
