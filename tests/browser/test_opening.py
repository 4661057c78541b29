"""A checkpoint of one's own in a browser: opened by its path, looked at, compared, inspected."""

import csv
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import PHONE, ROOT, becomes, painted
from tests.browser.test_app import go_to, parameter, row, visit
from tests.transformer.hugging_face.test_adapters import write_pair
from tests.transformer.watch.hugging_face import build
from transformer import load_checkpoint, record
from transformer.inspection.survey import survey
from transformer.recording.vector import cosine

pytestmark = [pytest.mark.browser, pytest.mark.same_page]
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat un ##happ ##y ."


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small masked model with random weights, as Hugging Face's library saves it."""
    from transformers import BertTokenizer

    folder = tmp_path_factory.mktemp("models") / "small-bert"
    model: Any = build("BERT")
    model.save_pretrained(folder)
    words = {word: i for i, word in enumerate(WORDS.split())}
    BertTokenizer(vocab=words).save_pretrained(folder)
    return folder


def test_a_hugging_face_folder_opens_by_its_path(page: Page, address: str, bert: Path) -> None:
    visit(page, address)
    page.get_by_test_id("stExpandSidebarButton").click()
    field = page.get_by_role("textbox", name="Open a checkpoint")
    field.fill(str(bert))
    field.press("Enter")
    chosen = page.get_by_role("combobox", name="Checkpoint")
    expect(chosen).to_have_value(re.compile("BertForMaskedLM, Hugging Face"))
    becomes(lambda: row(page, "source")[:2], ["[CLS]", "the"])
    expect(page.locator(".head-grid .cell")).to_have_count(8)
    becomes(lambda: parameter(page, "checkpoint"), str(bert))
    go_to(page, "Look", "Decode")
    expect(page.get_by_text("it predicts the masked tokens")).to_be_visible()
    go_to(page, "Model", "Inspect")
    expect(page.get_by_text(f"{survey(bert).n_parameters:,} parameters in")).to_be_visible()
    page.get_by_text(re.compile(r"\d+ biases are 0: .* more$")).click()
    zero = page.get_by_text("bert.encoder.layer.0.attention.self.query.bias: every value is 0.")
    expect(zero).to_be_visible()
    becomes(lambda: parameter(page, "checkpoint"), str(bert))
    page.reload()
    painted(page)
    expect(chosen).to_have_value(re.compile("BertForMaskedLM, Hugging Face"))


def test_a_model_that_a_link_names_is_opened_by_a_press(browser: Browser, address: str) -> None:
    """The field is there to see, on a phone too; what lies here under that name is not fetched."""
    page = browser.new_context(viewport=PHONE).new_page()
    visit(page, f"{address}/masks?hub=checkpoints/copy")
    button = page.get_by_test_id("stSidebar").get_by_role("button", name="Open", exact=True)
    expect(button).to_be_in_viewport(ratio=1)
    assert (parameter(page, "hub"), parameter(page, "checkpoint")) == ("checkpoints/copy", None)
    button.click()
    becomes(lambda: parameter(page, "checkpoint"), str(ROOT / "checkpoints" / "copy"))
    becomes(lambda: parameter(page, "hub"), None)
    expect(button).to_have_count(0)
    page.context.close()


def test_two_sentences_of_an_encoder_are_compared(
    page: Page, address: str, bert: Path, tmp_path: Path
) -> None:
    from transformers import AutoModel

    folder = Path(shutil.copytree(bert, tmp_path / "encoder"))
    AutoModel.from_pretrained(bert).save_pretrained(folder)
    sentences = ("the cat sat", "the cat sat on mat")
    visit(page, f"{address}/decode?checkpoint={folder}&text={sentences[0]}")
    field = page.get_by_role("textbox", name="A second sentence")
    field.fill(sentences[1])
    field.press("Enter")
    checkpoint = load_checkpoint(folder, "cpu")
    vectors = [record(checkpoint, each).vector for each in sentences]
    a, b = (each.values for each in vectors if each is not None)
    expect(page.get_by_text(f"{cosine(a, b):.4f}")).to_be_visible()
    page.get_by_test_id("stPopover").filter(has_text="Save").get_by_role("button").click()
    painted(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Vectors as CSV").click()
    header, *rows = csv.reader(io.StringIO(waiting.value.path().read_text("utf-8")))
    assert header == ["dimension", *sentences]
    saved = [[float(cell) for cell in row[1:]] for row in rows]
    assert saved == pytest.approx(torch.stack((a, b), 1).numpy(), abs=1e-5)


def test_a_training_is_compared_with_its_beginning(page: Page, address: str) -> None:
    snapshots = ROOT / "checkpoints" / "copy" / "snapshots"
    first = min(snapshots.iterdir())
    link = f"compare?checkpoint=copy&checkpoint_b={first}&picture=map"
    visit(page, f"{address}/{link}")
    expect(page.get_by_text("B is given A's output")).to_be_visible()
    expect(page.locator(".head-map")).to_have_count(2)
    expect(page.get_by_text(re.compile("of copy step 0")).first).to_be_visible()
    expect(page.get_by_text("Parameters that changed most")).to_be_visible()
    of_both = page.locator("p", has_text="These two heads")
    expect(of_both).to_contain_text(re.compile(r"0\.\d{4} bits"))


@pytest.mark.thorough
def test_an_adapter_is_compared_with_its_base(
    page: Page, address: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("adapters")
    write_pair(folder, "someone/base")
    visit(page, address)
    page.get_by_test_id("stExpandSidebarButton").click()
    field = page.get_by_role("textbox", name="Open a checkpoint")
    field.fill(str(folder / "adapter"))
    field.press("Enter")
    becomes(lambda: parameter(page, "checkpoint"), str(folder / "adapter"))
    page.get_by_role("link", name="Compare base and adapted").click()
    becomes(lambda: parameter(page, "checkpoint_b"), str(folder / "adapter"))
    assert parameter(page, "checkpoint") == str(folder / "base")
    expect(page.locator(".head-view[data-nonce]")).to_have_count(2)
    expect(page.get_by_text(re.compile("^B: LoRA adapter .* rank 2, alpha 4"))).to_be_visible()
    visit(page, f"{address}/?checkpoint={folder}/base::{folder}/adapter")
    chosen = page.get_by_role("combobox", name="Checkpoint")
    expect(chosen).to_have_value(re.compile("base with adapter"))
