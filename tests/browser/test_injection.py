"""Nothing that is typed or loaded is anything but text; and a broken escape would be seen."""

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import torch
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.payloads import IN_HTML, IN_MARKDOWN, MARK, PAYLOADS, hits
from tests.browser.server import ROOT, painted, serve
from tests.browser.test_app import open_app
from tests.browser.test_figures import saved
from tests.representatives import cases
from tests.transformer.hugging_face.test_adapters import write_pair
from tests.transformer.hugging_face.test_chatting import folder_with
from transformer import load_checkpoint, record
from transformer.discover import discover
from transformer.files.foreign_text import of_text
from viz import cell_steps, figure, head_grid, head_map, head_view
from viz.export import attention_csv
from viz.painters.chart_plotly import figure_html

pytestmark = pytest.mark.browser
PUT = """
html => {
    const canary = document.createElement("div");
    canary.id = "canary";
    canary.innerHTML = html;
    document.body.append(canary);
}
"""
CLEAR = f"() => {{ document.querySelector('#canary').remove(); delete window.{MARK}; }}"


def test_each_payload_is_seen_where_nothing_escapes_it(context: BrowserContext, apps: str) -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 60
    page = context.new_page()  # whose console may say that nothing is at the addresses
    page.goto(f"{apps}payloads&raw=yes")
    expect(page.get_by_text("All is drawn")).to_be_visible()
    missed = [
        payload
        for i, payload in enumerate(IN_MARKDOWN)
        if not hits(page.locator(f".st-key-payload-{i}"))
    ]
    page.evaluate(PUT, f"a {MARK} b")
    plain = hits(page.locator("#canary"))
    page.evaluate(CLEAR)
    for payload in IN_HTML:
        page.evaluate(PUT, payload)
        missed += [] if hits(page.locator("#canary")) else [payload]
        page.evaluate(CLEAR)
    page.close()
    assert (missed, plain) == ([], [])


def test_escaped_payloads_are_text(page: Page, apps: str) -> None:
    page.goto(f"{apps}payloads")
    expect(page.get_by_text("All is drawn")).to_be_visible()
    assert hits(page) == []
    said = page.get_by_test_id("stAlert").all_inner_texts()
    assert len(said) == len(PAYLOADS)
    signs = str.maketrans({"\n": "⏎", "\u202e": "U+202E", "\u2066": "U+2066", "\u2069": "U+2069"})
    for payload, text in zip(PAYLOADS, said, strict=True):
        read = text.replace("\u2060", "").replace("\u00a0", " ").strip()
        assert read == payload.translate(signs).strip()


FOLDER = f"a **{MARK}** ${MARK}$ :red[{MARK}] <b>{MARK}<b> www.{MARK}.example"
DAMAGED, TRAINED = f"[{MARK}](b) :streamlit: {MARK} -> {MARK}", f"`{MARK}` :smile: \u202e"
LEFTWARD, CHATTING = "letters of Hebrew", "chatting"
JOINED = tuple(
    each for each in IN_MARKDOWN if any(it in each for it in "\u202e\u2066\u200c\u200dש")
)
BASE, ADAPTER = " ".join(JOINED), " ".join(reversed(JOINED))
ADAPTED = quote(ADAPTER)
TYPED = " ".join(each for each in PAYLOADS if "\u202e" not in each)
OF_FOLDER = f"checkpoint={quote(FOLDER)}&text={quote(TYPED)}"
PLACES = (
    f"?{OF_FOLDER}",
    f"decode?{OF_FOLDER}&story={quote(PAYLOADS[0])}",
    f"inspect?{OF_FOLDER}",
    f"inspect?{OF_FOLDER}&inspect=vocabulary&split={quote(TYPED)}",
    f"inspect?checkpoint={quote(DAMAGED)}&inspect={quote(PAYLOADS[1])}",
    f"compare?checkpoint={quote(TRAINED)}&checkpoint_b={quote(FOLDER)}&text=3",
    f"training?checkpoint={quote(TRAINED)}&topic=rate",
    f"masks?checkpoint={quote(TRAINED)}&mask_text={quote(TYPED)}",
    f"?checkpoint={quote('/' + ' '.join(PAYLOADS[10:30]))}&kind={quote(PAYLOADS[2])}",
)
"""Addresses of pages that show what is typed, and what folders, files and tensors are called."""
ADAPTERS = (
    f"?checkpoint={ADAPTED}&text=3+7+2",
    f"inspect?checkpoint={ADAPTED}&inspect={quote(JOINED[0])}",
    f"compare?checkpoint={ADAPTED}&checkpoint_b={quote(BASE)}&text=3+7+2&same_head=yes",
)
"""The same of pages of an adapter."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints whose names, titles, examples, pieces, classes and tensors are payloads."""
    from safetensors.torch import load_file, save_file
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder = tmp_path_factory.mktemp("crafted")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "zqx"]
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(words)})
    tokenizer.add_tokens(list(PAYLOADS), special_tokens=True)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=512,
            id2label=dict(enumerate(PAYLOADS[::8])),
        )
    )
    model.save_pretrained(folder / FOLDER)
    tokenizer.save_pretrained(folder / FOLDER)
    weights = folder / FOLDER / "model.safetensors"
    more = {payload: torch.zeros(2, 2) for payload in PAYLOADS}
    save_file(load_file(weights) | more, weights, metadata={"format": "pt"})
    copied = ROOT / "checkpoints" / "copy"
    said = json.loads((copied / "config.json").read_text())
    said |= {"title": " ".join(PAYLOADS), "examples": list(PAYLOADS), "recipe": PAYLOADS[0]}
    (folder / DAMAGED).mkdir()
    (folder / TRAINED).mkdir()
    (folder / TRAINED / "config.json").write_text(
        json.dumps(said | {"title": PAYLOADS[12], "examples": ["3 7 2 9 4 11 5", *PAYLOADS]})
    )
    shutil.copy(copied / "model.safetensors", folder / TRAINED)
    said["model"]["family"] = " ".join(PAYLOADS)
    (folder / DAMAGED / "config.json").write_text(json.dumps(said))
    wrapped = "the {% for each in messages %}{{ each.content }} {% endfor %}"
    templates = [{"name": each, "template": wrapped} for each in PAYLOADS]
    folder_with(folder / CHATTING, templates)
    write_pair(folder, BASE)
    (folder / "base").rename(folder / BASE)
    (folder / "adapter").rename(folder / ADAPTER)
    letters = shutil.copytree(ROOT / "checkpoints" / "shakespeare", folder / LEFTWARD)
    characters = (letters / "characters.txt").read_text()
    (letters / "characters.txt").write_text(characters.replace("ABCDEFGHIJ", "אבגדהוזחטי"))
    return folder


@pytest.fixture(scope="module")
def crafted(folder: Path) -> Iterator[str]:
    """The address of the app among them."""
    with serve(HEADSCOPE_CHECKPOINTS=str(folder)) as address:
        yield address


@pytest.mark.thorough
def test_what_is_typed_and_loaded_is_text_on_every_page(page: Page, crafted: str) -> None:
    found = {}
    for place in PLACES:
        page.goto(f"{crafted}/{place}")
        painted(page)
        found[place] = hits(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    field = page.get_by_role("textbox", name="Open a checkpoint")
    field.fill(" ".join(PAYLOADS[30:40]))
    field.press("Enter")
    said = page.get_by_test_id("stSidebar").get_by_test_id("stAlert")
    expect(said).to_contain_text("There is no")
    found["sidebar"] = hits(page)
    assert {place: each for place, each in found.items() if each} == {}


@pytest.mark.thorough
def test_an_adapter_is_opened_whatever_its_folder_is_called(page: Page, crafted: str) -> None:
    matches = {}
    for place in ADAPTERS:
        page.goto(f"{crafted}/{place}")
        painted(page)
        matches[place] = hits(page)
        shown = page.get_by_role("combobox", name="Checkpoint").first
        expect(shown).to_have_value(re.compile("LoRA adapter$"))
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
    assert {place: each for place, each in matches.items() if each} == {}


@pytest.mark.thorough
def test_a_template_is_pressed_and_a_conversation_typed(page: Page, crafted: str) -> None:
    open_app(page, f"{crafted}/?checkpoint={CHATTING}&text=cat&options.max_len=4")
    page.get_by_role("combobox", name="Chat template").click()
    options = page.get_by_role("option")
    expect(options.nth(1)).to_be_visible()
    matches = {"list": hits(page)}
    options.nth(1).click()
    expect(page.get_by_text("Read as: the cat")).to_be_visible()
    expect(page).to_have_url(re.compile("template="))
    matches["chosen"] = hits(page)
    page.get_by_test_id("stPopover").get_by_role("button", name="Options").click()
    field = page.get_by_role("textbox", name="Earlier turns")
    field.fill(f"user: {PAYLOADS[0]}\nassistant: {PAYLOADS[1]}")
    field.press("Control+Enter")
    expect(page.get_by_text(f"Read as: the {PAYLOADS[0]} {PAYLOADS[1]} cat")).to_be_visible()
    expect(page).to_have_url(re.compile("turns=user"))
    page.get_by_role("button", name="Add this text and its answer").click()
    expect(page.get_by_text("user: cat", exact=True)).to_be_visible()
    matches["turns"] = hits(page)
    assert {name: each for name, each in matches.items() if each} == {}


def test_a_sentence_runs_as_its_script_does(page: Page, crafted: str) -> None:
    of_letters = f"checkpoint={quote(LEFTWARD)}&options.max_len=20&text={quote('אב גד!')}"
    open_app(page, f"{crafted}/?{of_letters}")
    chips = page.locator('.token-rows .chip[data-side="source"]')
    expect(chips.first).to_have_text("א")
    lefts = chips.evaluate_all("chips => chips.map((chip) => chip.getBoundingClientRect().left)")
    assert lefts == sorted(lefts, reverse=True)
    chips.first.focus()
    page.keyboard.press("ArrowLeft")
    expect(chips.nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(chips.first).to_be_focused()
    expect(page.locator(".head-view [data-token=q1] .piece")).to_have_attribute("dir", "auto")
    expect(chips.filter(has_text="!")).to_have_css("direction", "rtl")  # a sign has none of its own
    open_app(page, f"{crafted}/decode?{of_letters}")
    written = page.locator(".decode-player[data-nonce] .written")
    expect(written).to_have_css("direction", "rtl")
    first, second = (written.locator(".chip").nth(i).bounding_box() for i in range(2))
    assert first is not None and second is not None and first["x"] > second["x"]


VIEWS = discover("viz.views", "VIEW")
FIGURES = {
    "one of each mark": ("class_probabilities", "head_heatmap", "joint_map"),
    "all": tuple(VIEWS),
}
"""Bars, cells, and points with texts; the rest of a chart is the same code."""


@pytest.mark.parametrize("figures", cases(FIGURES, {"marks": "one of each mark"}))
def test_exported_files_are_text(
    page: Page, folder: Path, crafted: str, tmp_path: Path, figures: str
) -> None:
    recording = record(load_checkpoint(folder / FOLDER), TYPED)
    attention = recording.attentions["encoder_self"]
    pieces = [token.piece for token in recording.source]
    assert len({*pieces} & {*PAYLOADS}) > 50

    table = attention_csv(attention, 0, 0).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    held = [row["key_piece"] for row in rows[: len(pieces)]]
    assert [of_text(cell) for cell in held] == pieces  # exact, whatever they hold
    assert not any(cell.startswith(("=", "@", "\t", "\r")) for cell in held)

    pictures = {
        "view": head_view(recording),
        "grid": head_grid(recording),
        "map": head_map(recording),
        "cell": cell_steps(recording, "encoder_self", 0, 0, 1, 2),
    }
    files = {name: each.save(tmp_path / f"{name}.html") for name, each in pictures.items()}
    for name in FIGURES[figures]:
        if VIEWS[name].applies_to(recording):
            files[name] = tmp_path / f"{name}.html"
            files[name].write_bytes(figure_html(figure(recording, name), PAYLOADS[-20]))
    found = {}
    for name, file in files.items():
        page.goto(file.as_uri())
        expect(page.locator("[data-nonce], .main-svg").first).to_be_visible()
        # Its own scripts hold what is shown; a script of theirs would have run.
        found[name] = [each for each in hits(page) if not each.startswith("<script")]

    open_app(page, f"{crafted}/?{OF_FOLDER}&picture=arrows")
    shown = page.locator(".head-view[data-nonce]")
    expect(shown).to_be_visible()
    drawn = saved(page, shown, "SVG", tmp_path).read_text()
    assert MARK in drawn
    page.set_content(drawn)
    found["SVG"] = hits(page)
    assert {name: each for name, each in found.items() if each} == {}
