"""A file of arrays that is dropped on the page without a server, or chosen, and what it shows."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.hosted import hosted
from tests.browser.test_live import SLOW, answers, field, opened, shows, written
from tests.browser.test_live import visitor as visitor  # a fixture
from transformer import from_weights, load_checkpoint
from transformer.formats.bare_arrays import LOOK
from viz.commands.site import page_words
from viz.live.site import build

pytestmark = pytest.mark.browser
NAME = "en-de-small"
TEXTS = {"queries": ["Es", "regnet", "heute", "."], "keys": ["It", "rains", "now", ".", "</s>"]}
DROP = """([name, content]) => {
    const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    const look = { bubbles: true, cancelable: true, dataTransfer };
    for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, look));
}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("site")
    build([load_checkpoint(NAME)], out, page_words())
    with hosted(out) as address:
        yield address


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = np.random.default_rng(3).dirichlet(np.full(5, 0.4), size=(2, 4, 4))
    recording = from_weights({"cross": 0.9 * weights}, **TEXTS)
    return recording.save(tmp_path_factory.mktemp("arrays") / "mine.npz")


def drop(page: Page, name: str, content: bytes) -> None:
    page.evaluate(DROP, [name, b64encode(content).decode()])


def test_a_dropped_file_is_seen_and_what_is_typed_next_is_the_models(
    visitor: BrowserContext, host: str, file: Path
) -> None:
    page = opened(visitor, f"{host}?page=decode")
    answers(page)
    asked = list[str]()
    visitor.on("request", lambda request: asked.append(request.url))
    drop(page, file.name, file.read_bytes())
    line = page.locator("#model")
    expect(line).to_contain_text(f"mine.npz: {LOOK}", timeout=SLOW)
    expect(page.locator("#notes")).to_contain_text("Rows of cross sum to 0.90")
    expect(field(page)).to_have_value("It rains now .")
    heads = page.locator("[data-picture=head_grid]").get_by_role("gridcell")
    expect(heads).to_have_count(2 * 4)
    heads.nth(6).click()
    expect(heads.nth(6)).to_have_attribute("aria-selected", "true")
    expect(page.locator("[data-picture=head_view] [data-nonce]").first).to_be_visible()
    expect(page.locator(".tokens.target")).to_contain_text("regnet")
    for name in ("Decode", "Experiment"):
        expect(page.get_by_role("button", name=name, exact=True).first).to_be_hidden()
    page.reload()
    expect(page.locator("#elsewhere")).to_contain_text("mine.npz was a file")
    answers(page)
    drop(page, file.name, file.read_bytes())
    expect(line).to_contain_text(f"mine.npz: {LOOK}", timeout=SLOW)
    field(page).click()  # else the browser's Back leaves out what nobody has touched
    field(page).fill("She has two dogs.")
    shows(page, written(load_checkpoint(NAME), "She has two dogs."))
    expect(line).to_contain_text("answers, in this browser")
    expect(page.get_by_role("button", name="Decode", exact=True).first).to_be_visible()
    page.go_back()
    expect(line).to_contain_text("mine.npz")
    assert not [each for each in asked if not each.startswith((host, "blob:", "data:"))]


def test_a_file_is_chosen_by_a_button_and_one_that_is_not_taken_is_refused(
    visitor: BrowserContext, host: str, tmp_path: Path, file: Path
) -> None:
    page = opened(visitor, host)
    answers(page)
    button = page.get_by_role("button", name="Open arrays …")
    batch = tmp_path / "batch.npz"
    np.savez(batch, cross=np.ones((1, 2, 3, 4, 5)))
    for path, says in ((batch, "cross has a batch axis, [1, 2, 3, 4, 5]"), (file, LOOK)):
        with page.expect_file_chooser() as chooser:
            button.press("Enter")
        chooser.value.set_files(path)
        expect(page.locator("#model")).to_contain_text(says, timeout=SLOW)
    drop(page, "notes.txt", b"It rains.")
    expect(page.locator("#model")).to_contain_text("notes.txt is not opened here")
    checkpoint = page.get_by_label("Checkpoint", exact=True)
    expect(checkpoint).to_have_value("mine.npz")
    checkpoint.select_option(NAME)
    expect(page.locator("#model")).to_contain_text("answers, in this browser", timeout=SLOW)
    checkpoint.select_option("mine.npz")
    expect(field(page)).to_have_value("It rains now .")
    page.get_by_role("radio", name="Heat map", exact=True).click()
    expect(page.locator("[data-picture=head_map] [data-nonce]").first).to_be_visible()
    expect(page.locator("#picture").get_by_role("radio")).to_have_count(2)  # no cell from inside
