"""From Enter to painted in the browser, against an empty Streamlit rerun in the same run.

The bare rows are the floor: the same model and pictures below a text input, and nothing else.
"""

import statistics
import tempfile
from contextlib import ExitStack
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
APPS = Path(__file__).parent / "apps"

# Time from the Enter key to two frames after all facts have changed; shadow roots are searched too,
# but not in every frame: in a large page that would take longer than what is measured.
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
        grid: nonce('.head-grid'),
        heads: nonce('.head-view'),
        heatmap: nonce('.head-map'),
    };
    window.measure = (facts) => {
        const now = () => facts.map((fact) => window.facts[fact]());
        const before = now();
        const isDone = () => now().every((value, i) => value !== before[i]);
        window.measured = new Promise((resolve, reject) => {
            setTimeout(() => reject(`${facts} did not all change within a minute`), 60000);
            document.addEventListener('keydown', () => {
                const start = performance.now();
                const look = () => isDone()
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
    about = About("144 heads", "none", "numbers", (_text(0),), ("encoder_self", 0, 0))
    save_checkpoint(folder / "big", about, config, weights, NumberTokenizer(config.vocab_size))


def typed_to_painted(page: Page, text: str, *facts: str) -> float:
    """Milliseconds from Enter to two frames after all facts changed."""
    page.get_by_label("Sentence").fill(text)
    page.evaluate("(facts) => window.measure(facts)", list(facts))
    page.keyboard.press("Enter")
    milliseconds = page.evaluate("() => window.measured")
    painted(page)
    return float(milliseconds)


GRID, BOTH = ("grid",), ("grid", "heatmap")
MEASURED = {
    "empty": ("empty", "", ("shown",)),
    "typed to grid of 144 heads painted": ("app", "/?picture=Heatmap", GRID),
    "typed to grid and heatmap painted": ("app", "/?picture=Heatmap", BOTH),
    "the same grid in a bare app": ("bare", "", GRID),
    "the same grid and heatmap in a bare app": ("bare", "/?picture=Heatmap", BOTH),
}
"""What is measured in turn: a server, an address there and what has to change."""
GOALS = {"typed to grid of 144 heads painted": 1.6, "typed to grid and heatmap painted": 3.7}


def run() -> list[Row]:
    times = _times()
    floor = times.pop("empty")
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [Row(name, ms / floor, baseline, GOALS.get(name)) for name, ms in times.items()]


def _times() -> dict[str, float]:
    """Medians, in ms."""
    times: dict[str, list[float]] = {name: [] for name in MEASURED}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        big_checkpoint(Path(folder))
        environment = {"HEADSCOPE_CHECKPOINTS": folder, "FIRST_TEXT": _text(0)}
        servers = {
            "empty": stack.enter_context(serve(APPS / "empty.py")),
            "bare": stack.enter_context(serve(APPS / "bare.py", **environment)),
            "app": stack.enter_context(serve(**environment)),
        }
        browser = launch(stack.enter_context(sync_playwright()))
        pages = {}
        for name, (server, path, _) in MEASURED.items():
            pages[name] = browser.new_page(viewport=DESKTOP)
            pages[name].goto(servers[server] + path)
            painted(pages[name])
            pages[name].evaluate(CLOCK)
        for i, name in enumerate(list(MEASURED) * ROUNDS):
            pages[name].bring_to_front()
            text = _text(i + 1)
            times[name].append(typed_to_painted(pages[name], text, *MEASURED[name][2]))
        browser.close()
    # The first round compiles and warms up.
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def _text(turn: int) -> str:
    """Another text each turn: none is answered from a cache."""
    return " ".join(str(2 + (turn + i) % 98) for i in range(N_TOKENS))


BENCH = Bench("screen", run)
