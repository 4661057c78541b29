"""From Enter to painted in the browser, against an empty Streamlit rerun in the same run."""

import statistics
import tempfile
from pathlib import Path

import torch
from playwright.sync_api import Page, sync_playwright

from tests.bench.bench import Bench, Row
from tests.browser.server import DESKTOP, launch, painted, serve
from transformer.checkpoint import About, save_checkpoint
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.tokenizer import NumberTokenizer

N_TOKENS, ROUNDS = 48, 12
EMPTY_APP = Path(__file__).parent / "apps" / "empty.py"

# Time from the Enter key to two frames after the fact is true; shadow roots are searched too.
CLOCK = """() => {
    const find = (selector, root = document) => {
        const hit = root.querySelector(selector);
        if (hit) return hit;
        for (const node of root.querySelectorAll('*')) {
            const inner = node.shadowRoot && find(selector, node.shadowRoot);
            if (inner) return inner;
        }
    };
    window.facts = {
        shown: () => document.querySelector('#shown')?.textContent,
        grid: () => find('.head-grid')?.dataset.nonce,
        heads: () => find('.head-view')?.dataset.nonce,
        heatmap: () => find('.head-map')?.dataset.nonce,
    };
    window.measure = (fact) => {
        const before = window.facts[fact]();
        window.measured = new Promise((resolve, reject) => {
            setTimeout(() => reject(`${fact} did not change within a minute`), 60000);
            document.addEventListener('keydown', () => {
                const start = performance.now();
                const look = () => window.facts[fact]() !== before
                    ? requestAnimationFrame(() => requestAnimationFrame(
                        () => resolve(performance.now() - start)))
                    : requestAnimationFrame(look);
                look();
            }, { once: true, capture: true });
        });
    };
}"""


def big_checkpoint(folder: Path) -> None:
    """12 layers of 12 heads, d_model 192, random weights; a classifier, which decodes nothing.

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
        n_encoder_layers=12,
    )
    weights = discover("transformer.models", "FAMILY")[config.family].build(config).state_dict()
    text = " ".join(str(2 + i % 98) for i in range(N_TOKENS))
    about = About("144 heads", "none", "numbers", (text,), ("encoder_self", 0, 0))
    save_checkpoint(folder / "big", about, config, weights, NumberTokenizer(config.vocab_size))


def typed_to_painted(page: Page, text: str, fact: str) -> float:
    """Milliseconds from Enter to two frames after `fact` changed."""
    page.get_by_label("Sentence").fill(text)
    page.evaluate("(fact) => window.measure(fact)", fact)
    page.keyboard.press("Enter")
    milliseconds = page.evaluate("() => window.measured")
    painted(page)
    return float(milliseconds)


def run() -> list[Row]:
    times: dict[str, list[float]] = {"shown": [], "grid": [], "heatmap": []}
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        serve(EMPTY_APP) as empty,
    ):
        big_checkpoint(Path(folder))
        with serve(HEADSCOPE_CHECKPOINTS=folder) as app:
            browser = launch(playwright)
            app += "/?picture=Heatmap"
            pages = {name: browser.new_page(viewport=DESKTOP) for name in (empty, app)}
            for address, page in pages.items():
                page.goto(address)
                painted(page)
                page.evaluate(CLOCK)
            for i, fact in enumerate(list(times) * ROUNDS):
                page = pages[empty if fact == "shown" else app]
                page.bring_to_front()
                numbers = (str(2 + (i + 1 + j) % 98) for j in range(N_TOKENS))  # never twice
                times[fact].append(typed_to_painted(page, " ".join(numbers), fact))
            browser.close()
    # The first round compiles and warms up.
    floor, grid, heatmap = (statistics.median(values[1:]) for values in times.values())
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [
        Row("typed to grid of 144 heads painted", grid / floor, baseline, 1.6),
        Row("typed to grid and heatmap painted", heatmap / floor, baseline, 3.7),
    ]


BENCH = Bench("screen", run)
