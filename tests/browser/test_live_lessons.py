"""A lesson without a server, from its link to the file that a learner hands in."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.hosted import hosted
from tests.browser.server import PHONE
from tests.browser.test_live import SLOW
from transformer import load_checkpoint
from viz.commands.site import page_words
from viz.lessons.answers import code_of
from viz.lessons.results import read_results
from viz.live.site import build
from viz.pages.lessons.saved import lesson_page, lesson_words

pytestmark = pytest.mark.browser
LESSON = "masks"
WORDS = lesson_words()
OWN = "She has two dogs."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out, checkpoints = tmp_path_factory.mktemp("site"), [load_checkpoint("en-de-small")]
    build(checkpoints, out, page_words())
    (out / "lessons").mkdir()
    (out / "lessons" / f"{LESSON}.html").write_bytes(lesson_page(LESSON, checkpoints))
    return out


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A phone; fails where the console reports an error."""
    context, wrong = browser.new_context(viewport=PHONE, accept_downloads=True), list[str]()
    context.set_default_timeout(SLOW)
    context.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert wrong == []


def sheets(folder: Path, what: str) -> list[dict[str, Any]]:
    """The sheets of what is asked, with what is sealed in them."""
    text = (folder / "lessons" / f"{LESSON}.html").read_text("utf-8")
    content = json.loads(text.split('id="content">')[1].split("</script>")[0])
    found = content["questions"]
    if what == "tasks":
        found = [task for part in content["parts"] for task in part["tasks"]]
    return [each | json.loads(b64decode(each["sealed"])) for each in found]


def answer(form: Locator, number: float, button: str) -> None:
    form.get_by_role("textbox").fill(str(number))
    form.get_by_role("button", name=button, exact=True).click()


def test_a_lesson_is_done_on_a_phone_from_its_link_to_the_file_that_is_handed_in(
    page: Page, folder: Path, tmp_path: Path
) -> None:
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    questions, tasks = sheets(folder, "questions"), sheets(folder, "tasks")
    with hosted(folder) as host:
        page.goto(f"{host}lessons/{LESSON}.html")
        measure, forms = page.locator(".measure"), page.locator(".task form")
        # 1. The questions before: nothing is said of an answer.
        measure.get_by_role("button", name=WORDS["ask_me"]).click()
        for sheet in questions:
            expect(measure.get_by_text(sheet["question"])).to_be_visible()
            answer(measure, sheet["truth"] + 100, WORDS["next_question"])
        expect(measure).to_have_count(0)
        # 2. The scenes: a wrong answer is remarked on, a right one shows the picture.
        picture = page.locator(".picture")
        expect(picture).to_be_hidden()
        for i, sheet in enumerate(tasks):
            assert sheet["explanation"] not in page.inner_text("body")
            if i == 0:
                answer(forms.first, 0, WORDS["check"])
                expect(forms.first.get_by_role("alert")).to_contain_text(sheet["hints"][0])
            answer(forms.first, sheet["truth"], WORDS["check"])
            outcome = page.locator(".outcome").nth(i)
            expect(outcome).to_have_text(f"{WORDS['right']} {sheet['explanation']}")
            expect(outcome).to_be_focused()
        expect(picture).to_be_visible()
        assert not [each for each in asked if "weights" in each]
        # 3. A sentence of one's own, for which the weights come.
        page.get_by_label(WORDS["own_sentence"]).fill(OWN)
        page.get_by_label(WORDS["own_sentence"]).press("Enter")
        forms.first.get_by_role("button", name=WORDS["show_me"]).click()
        link = page.get_by_role("link", name=WORDS["open"]).last
        expect(link).to_have_attribute("href", re.compile(r"^\.\./\?.*text=She\+has.*layer=\d"))
        done = page.locator("#done")
        expect(done).to_be_visible()
        # 4. The same questions once more, and both times beside each other.
        measure.get_by_role("button", name=WORDS["ask_me"]).click()
        for sheet in questions:
            expect(measure.get_by_text(sheet["question"])).to_be_visible()
            answer(measure, sheet["truth"], WORDS["next_question"])
        expect(measure).to_contain_text(
            WORDS["counted"].format(before=0, after=len(questions), all=len(questions))
        )
        # 5. The file.
        page.get_by_label(WORDS["your_name"]).fill("Ada")
        with page.expect_download() as download:
            page.get_by_role("button", name=WORDS["save"]).click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
        (row,) = read_results(tmp_path).rows
        assert (row["name"], row["lesson"]) == ("Ada", LESSON)
        assert (row["before right"], row["after right"], row["after of"]) == (0, 3, 3)
        assert (row["task 1 answers"], row["task 1 right"]) == (2, 1)
        assert (row["task 4 answers"], row["task 4 shown"]) == (0, 1)
        assert row["task 4 seconds"] >= 0
        # 6. Done is kept, also for who asks by its code, until it is begun anew.
        page.reload()
        expect(done).to_be_visible()
        expect(page.locator(".outcome")).to_have_count(len(tasks) + 1)
        kept = json.loads(page.evaluate("localStorage['headscope:lessons']"))
        assert code_of((LESSON, "finished")) in kept["entries"]
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        found = Axe().run(page).response["violations"]
        assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
        page.get_by_role("button", name=WORDS["start_again"]).click()
        expect(forms).to_have_count(len(tasks))
        expect(page.locator(".outcome")).to_have_count(0)
        assert all(each.startswith((host, "blob:")) for each in asked)
