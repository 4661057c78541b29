"""The page that needs no server: what its reader types is answered in their browser."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.browser.hosted import hosted
from tests.representatives import thorough
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.inputs import InputError
from viz.commands.site import page_words
from viz.labels import percent
from viz.live.models import POLICY
from viz.live.shelf.assets import own_files
from viz.live.site import build

pytestmark = pytest.mark.browser
NAME = "en-de-small"
TEXT = "I have never seen such a beautiful house."
OWN = "She has two dogs."
SLOW = 60_000


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(NAME)


@pytest.fixture(scope="module")
def folder(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "any" / "path"
    build([checkpoint], out, page_words())
    return out


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[str]:
    """Where a plain host has the folder: below a path, with no header of its own."""
    with hosted(folder.parents[1]) as address:
        yield f"{address}any/path/"


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody who has never been here; fails where the console reports an error."""
    context, wrong = browser.new_context(viewport={"width": 1440, "height": 900}), list[str]()
    context.set_default_timeout(SLOW)
    context.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    yield context
    context.close()
    assert [each for each in wrong if "Failed to load resource" not in each] == []


def opened(visitor: BrowserContext, address: str) -> Page:
    page = visitor.new_page()
    page.goto(address)
    return page


def answers(page: Page) -> None:
    """Wait until a model is open; playwright bounds no promise of a page."""
    expect(page.locator("#model[data-open]")).not_to_have_attribute("data-open", "", timeout=SLOW)


def field(page: Page) -> Locator:
    return page.get_by_label("Sentence", exact=True)


def target(page: Page) -> Locator:
    return page.locator(".tokens.target")


def shows(page: Page, text: str) -> None:
    expect(page.locator("html")).to_have_attribute("data-shown", text, timeout=SLOW)


def written(checkpoint: Checkpoint, text: str, method: str = "beam", **more: Any) -> str:
    ids = [token.id for token in decode(checkpoint, text, method=method, **more).target]
    return checkpoint.tokenizer.decode(ids)


def test_what_is_typed_is_answered_as_python_answers_it_and_nobody_else_is_asked(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    asked = list[str]()
    visitor.on("request", lambda request: asked.append(request.url))
    page = opened(visitor, host)
    answers(page)
    field(page).fill(OWN)
    shows(page, written(checkpoint, OWN))
    for method in ("greedy", "beam"):
        answer = page.evaluate(f"headscope.answer({TEXT!r}, {{ method: {method!r} }})")
        decoding = decode(checkpoint, TEXT, method=method)
        assert answer["target_ids"] == [token.id for token in decoding.target]
        assert answer["text"] == written(checkpoint, TEXT, method)
    assert asked and all(each.startswith((host, "blob:")) for each in asked)


def test_the_first_picture_is_there_before_any_weight(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    held = list[Route]()
    visitor.route("**/weights/*.model.*", lambda route: held.append(route))
    page = opened(visitor, host)
    shows(page, written(checkpoint, checkpoint.about.examples[0]))
    expect(page.locator(".head-view[data-nonce]")).to_be_visible()
    field(page).fill(OWN)  # it is answered when the weights are here
    assert len(held) == 1
    held[0].continue_()
    shows(page, written(checkpoint, OWN))


@pytest.mark.parametrize("fault", ["damaged", thorough("cut"), thorough("missing")])
def test_weights_that_do_not_come_are_said_and_asked_for_again(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint, fault: str, folder: Path
) -> None:
    (file,) = folder.glob("weights/*.model.*")
    content = bytearray(file.read_bytes())

    def broken(route: Route) -> None:
        if fault == "missing":
            route.fulfill(status=404)
        elif fault == "cut":
            route.fulfill(body=bytes(content[: len(content) // 2]))
        else:
            route.fulfill(body=bytes([*content[:1000], content[1000] ^ 1, *content[1001:]]))

    visitor.route("**/weights/*.model.*", broken)
    page = opened(visitor, host)
    expect(page.locator("#model")).to_have_attribute("data-fault", "")
    expect(page.locator("#model")).to_contain_text(file.name)
    shows(page, written(checkpoint, checkpoint.about.examples[0]))  # the recorded one
    visitor.unroute_all()
    page.locator("#model").get_by_role("button").click()
    answers(page)
    field(page).fill(OWN)
    shows(page, written(checkpoint, OWN))


def test_one_file_answers_from_disk_with_the_network_off(
    browser: Browser, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    build([checkpoint], out, page_words(), one_file=True)
    assert out.stat().st_size < 7_000_000
    context, asked = browser.new_context(offline=True), list[str]()
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(out.as_uri())
    answers(page)
    field(page).fill(OWN)
    shows(page, written(checkpoint, OWN))
    assert [each for each in asked if not each.startswith("blob:")] == [out.as_uri()]
    link = page.evaluate("location.href")
    again = context.new_page()
    again.goto(link)
    shows(again, written(checkpoint, OWN))
    context.close()


def test_a_policy_lets_one_worker_and_no_other_host_in(folder: Path) -> None:
    page = (folder / "index.html").read_text("utf-8")
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None and found[1] == own_files(f"{POLICY}; connect-src 'self'")
    assert "unsafe-eval'" not in found[1].replace("'wasm-unsafe-eval'", "")


def test_a_piece_that_looks_like_markup_is_text(visitor: BrowserContext, host: str) -> None:
    page = opened(visitor, host)
    answers(page)
    text = "<img src=x onerror=\"document.title='hit'\"> dog"
    field(page).fill(text)
    expect(page.locator(".tokens.source")).to_contain_text("onerror", timeout=SLOW)
    expect(page.locator("img")).to_have_count(0)
    assert page.title() != "hit"


def test_heads_are_switched_off_by_clicks_and_taken_back(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    page = opened(visitor, f"{host}?text={TEXT}&tool=heads")
    answers(page)
    plain = written(checkpoint, TEXT)
    shows(page, plain)
    heads = [(layer, head) for layer in (0, 1) for head in range(checkpoint.config.n_heads)]
    edits = [f"head-off:cross.{layer}.{head}" for layer, head in heads]
    for n, (layer, head) in enumerate(heads, 1):
        page.get_by_role("gridcell", name=re.compile(f"^Cross L{layer} H{head}[: ,]")).click()
        expect(page.locator("#edits button")).to_have_count(n)
    shows(page, written(checkpoint, TEXT, edits=edits))
    assert page.evaluate("new URLSearchParams(location.search).get('edits')") == "/".join(edits)
    expect(page.locator("#outcome dd").first).to_have_text(re.compile(plain[:6]))
    for _ in edits:
        page.get_by_role("button", name="Undo", exact=True).click()
    shows(page, plain)


def test_a_link_opens_what_it_says_and_back_leads_back(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    page = opened(visitor, f"{host}?text={OWN}&kind=encoder_self&layer=1&head=3&decoding=greedy")
    answers(page)
    shows(page, written(checkpoint, OWN, "greedy"))
    chosen = page.get_by_role("gridcell", selected=True)
    expect(chosen).to_have_accessible_name(re.compile("^Encoder L1 H3"))
    page.get_by_role("button", name="Decode", exact=True).click()
    expect(page.locator(".decode-player")).to_be_visible()
    page.go_back()
    expect(page.locator(".decode-player")).to_be_hidden()
    expect(chosen).to_have_accessible_name(re.compile("^Encoder L1 H3"))


def test_what_the_page_does_not_do_is_said_with_where_it_is_done(
    visitor: BrowserContext, host: str
) -> None:
    page = opened(visitor, f"{host}?lens=logit&text={OWN}")
    expect(page.locator("#elsewhere")).to_contain_text("lens=logit")
    expect(page.locator("#elsewhere")).to_contain_text("make run")


def test_one_click_changes_what_is_written(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    text = "He does not sleep in the house."
    page = opened(visitor, f"{host}?text={text}")
    answers(page)
    plain = written(checkpoint, text)
    shows(page, plain)
    button = page.locator(".change-offer").get_by_role("button")
    expect(button).to_be_visible(timeout=SLOW)
    button.click()
    expect(page.locator("html")).not_to_have_attribute("data-shown", plain)
    edits = page.evaluate("new URLSearchParams(location.search).get('edits')").split("/")
    shows(page, written(checkpoint, text, edits=edits))


def test_the_search_goes_on_from_any_node(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    page = opened(visitor, f"{host}?page=decode&text={TEXT}")
    answers(page)
    shows(page, written(checkpoint, TEXT))
    tree = page.locator(".search-tree")
    tree.locator("[data-place='5']").first.click()
    tree.get_by_role("button", name="Go on from here").click()
    expect(page).to_have_url(re.compile("prefix="))
    prefix = page.evaluate("new URLSearchParams(location.search).get('prefix')").split(".")
    shows(page, written(checkpoint, TEXT, prefix=[*map(int, prefix)]))
    page.get_by_role("button", name=re.compile("^Begins with")).click()
    shows(page, written(checkpoint, TEXT))


@pytest.mark.thorough
def test_odd_texts_are_answered_or_said_and_never_fail(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    page = opened(visitor, host)
    answers(page)
    letters = "abc \t\n\u00ad\u200b\u200d\u0301\ufeff\x00\x1b<&'\"%"
    letters += "\U0001f469\U0001f3fd\u4e2d\u05d0\u0628\u0e01\u0915"
    draw = random.Random(0)
    for _ in range(20):
        text = "".join(draw.choices(letters, k=draw.randint(1, 40)))
        said = page.evaluate(
            """(text) => headscope.answer(text)
              .then((it) => it.target_ids, (error) => error.message)""",
            text,
        )
        try:
            expected = [token.id for token in decode(checkpoint, text, method="beam").target]
        except InputError:
            assert isinstance(said, str) and said
        else:
            assert said == expected, repr(text)


def test_on_a_phone_the_small_model_answers_whatever_is_touched(
    browser: Browser, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    large = load_checkpoint("en-de-1")
    build([large, checkpoint], tmp_path, page_words())
    first = large.about.examples[0]
    context = browser.new_context(viewport={"width": 390, "height": 844})
    with hosted(tmp_path) as address:
        page = opened(context, address)
        answers(page)
        assert page.evaluate("headscope.ready") == NAME
        shows(page, written(large, first))  # the recorded one
        page.locator("#others summary").click()
        page.get_by_role("button", name="Decode", exact=True).click()
        shows(page, written(checkpoint, first))
        expect(page.locator(".decode-player[data-nonce]")).to_be_visible()
    context.close()


def test_an_edit_that_the_page_lacks_is_said_and_the_others_are_made(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    edits = "head-off:cross.1.0/head-scale:cross.1.1=0.5/head-off:cross.9.9"
    page = opened(visitor, f"{host}?text={OWN}&edits={edits}")
    answers(page)
    shows(page, written(checkpoint, OWN, edits=["head-off:cross.1.0"]))
    expect(page.locator("#elsewhere")).to_contain_text("head-scale:cross.1.1=0.5")
    expect(page.locator("#elsewhere")).to_contain_text("head-off:cross.9.9")
    expect(page.locator("#edits button")).to_have_count(1)


def test_a_guess_is_called_one_and_an_empty_field_says_what_is_shown(
    visitor: BrowserContext, host: str
) -> None:
    page = opened(visitor, host)
    answers(page)
    field(page).fill("qwx zzkp blorf " * 4)
    expect(page.locator("#notes")).to_contain_text("%", timeout=SLOW)
    field(page).fill("")
    expect(page.locator("#model")).to_have_attribute("data-fault", "")
    field(page).fill(OWN)
    expect(page.locator("#model")).not_to_have_attribute("data-fault", "")


OTHERS = ("sentiment", "copy", "everyday")
"""One of each family, and a model that reads no words."""


@pytest.fixture(scope="module")
def host_of_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("others")
    build([load_checkpoint(name) for name in OTHERS], out, page_words())
    with hosted(out) as address:
        yield address


def test_a_classifier_says_its_classes_and_shows_nothing_that_is_written(
    visitor: BrowserContext, host_of_others: str
) -> None:
    page = opened(visitor, f"{host_of_others}?page=decode")
    answers(page)
    for text in ("A gorgeous, witty and moving film.", "It is dull."):
        result = record(load_checkpoint("sentiment"), text).classification
        assert result is not None
        field(page).fill(text)
        best = int(result.logits.argmax())
        shows(page, result.classes[best])
        expect(page.locator("#classes [data-best] .name")).to_have_text(result.classes[best])
        expect(page.locator("#classes .share")).to_have_text([*map(percent, result.probs.tolist())])
        said = page.evaluate("(text) => headscope.answer(text)", text)
        assert [it["prob"] for it in said["classes"]] == pytest.approx(result.probs.tolist(), 1e-4)
    page.goto(f"{host_of_others}?text=It is dull.&edits=head-off:encoder_self.0.0")
    for lines, edits in (("first", ()), ("last", ("head-off:encoder_self.0.0",))):
        it = record(load_checkpoint("sentiment"), "It is dull.", None, edits).classification
        assert it is not None
        line = getattr(page.locator("#outcome dd"), lines)
        expect(line).to_contain_text(percent(float(it.probs.max())), timeout=SLOW)
    expect(page.get_by_role("button", name="Decode", exact=True)).to_be_hidden()
    expect(page.get_by_label("Decoding", exact=True)).to_be_hidden()
    expect(page.locator(".decode-player, .search-tree")).to_have_count(0)
    expect(page.get_by_role("gridcell", name=re.compile("^Cross"))).to_have_count(0)


def test_a_generator_goes_on_with_its_prompt_and_says_what_it_lacks(
    visitor: BrowserContext, host_of_others: str
) -> None:
    text, checkpoint = "She told me that she", load_checkpoint("everyday")
    page = opened(visitor, f"{host_of_others}?checkpoint=everyday&text={text}&decoding=sample")
    greedy = decode(checkpoint, text)
    shows(page, greedy.text)
    expect(page.locator("#notes")).to_contain_text("Sampling")
    expect(page.locator("#elsewhere")).to_contain_text("decoding=sample")
    expect(page.locator("#classes")).to_be_hidden()
    expect(page.locator(".tokens.target")).to_contain_text(greedy.target[0].piece.strip("▁"))
    edits = ["head-off:decoder_self.1.5", "hide:text.2"]
    page.goto(f"{host_of_others}?checkpoint=everyday&text={text}&edits={'/'.join(edits)}")
    shows(page, decode(checkpoint, text, edits=edits).text)
    expect(page.locator("#edits button")).to_have_count(len(edits))
    page.get_by_role("button", name="Decode", exact=True).click()
    expect(page.locator(".decode-player[data-nonce]")).to_be_visible()


def test_another_family_is_chosen_with_a_text_that_it_reads(
    visitor: BrowserContext, host_of_others: str
) -> None:
    """No model answers in the place of one of another kind, and nothing of it stays."""
    page = opened(visitor, host_of_others)
    answers(page)
    for name in ("copy", "everyday", "sentiment", "copy"):
        choice = page.get_by_label("Checkpoint", exact=True)
        choice.evaluate("(it, name) => { it.value = name; it.onchange({ target: it }); }", name)
        checkpoint = load_checkpoint(name)
        first = checkpoint.about.examples[0]
        expect(field(page)).to_have_value(first)
        expect(page.locator("#model")).to_have_attribute("data-open", name, timeout=SLOW)
        if checkpoint.family.decodes:
            method = "beam" if checkpoint.family.reads == "source" else "greedy"
            shows(page, decode(checkpoint, first, method).text)
        else:
            shows(page, "positive")
        field(page).fill(checkpoint.about.examples[1])  # the next one does not read it
    field(page).fill("3 x")
    expect(page.locator("#model")).to_contain_text("“x”")


def test_what_is_typed_before_the_page_is_ready_is_answered(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    early = "document.addEventListener('readystatechange', () => {"
    early += f" if (document.readyState === 'interactive') text.value = {OWN!r}; }})"
    visitor.add_init_script(early)
    page = opened(visitor, host)
    shows(page, written(checkpoint, OWN))
    expect(field(page)).to_have_value(OWN)
