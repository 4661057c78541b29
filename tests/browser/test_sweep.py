"""Every head off in turn: the grid says what each is worth, it can be stopped, and leads on."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import open_app, parameter, visit
from transformer import decode, load_checkpoint
from transformer.analysis.ablation import sweep
from transformer.analysis.corpus_sweep import sweep_sentences, worths
from transformer.words import words_of
from viz.labels import kind_title

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

BARS = """
window.bars = [];
const look = () => {
  const [bar] = document.querySelectorAll('[data-testid="stProgress"]');
  const track = bar?.querySelector('[data-testid="stProgressBarTrack"]');
  const [n, of] = bar?.textContent.match(/\\d+/g) ?? [];
  if (track && of) {
    const { left, width } = track.getBoundingClientRect();
    const end = track.firstElementChild.getBoundingClientRect().right;
    window.bars.push([Number(n), Number(of), (end - left) / width]);
  }
  requestAnimationFrame(look);
};
look();
"""
"""What each frame shows: the numbers of the words, and the part of the track that is filled."""
HEIGHTS = "all => all.map(each => each.getBoundingClientRect().height)"
TWO_LINES = 52
"""Pixels that a row is high at most, however many words its head changed."""


def test_a_sweep_is_stopped_goes_on_and_leads_to_a_head(page: Page, address: str) -> None:
    text = "The old man looked at the lake, and it was as quiet as his house was."
    page.add_init_script(BARS)
    page.goto(f"{address}/sweep?sweep_asked=yes&text={text}")
    far, rows = page.locator("[class*=st-key-far]"), page.locator(".data tbody tr")
    page.wait_for_function("bars.length > 2 && bars.at(-1)[0] > 9")
    far.get_by_role("button", name="Stop").click()
    expect(far).to_contain_text(re.compile(r"Stopped: \d+ of 72 are done"))
    n_done = int(re.findall(r"(\d+) of 72", far.inner_text())[0])
    assert n_done < 72
    for n, n_all, width in page.evaluate("window.bars"):
        assert width == pytest.approx(n / n_all, abs=0.011)  # Streamlit rounds to a hundredth
    expect(rows).to_have_count(72)
    known = rows.locator("td.text:not(:empty)")
    expect(known).to_have_count(n_done)

    checkpoint = load_checkpoint("checkpoints/en-de")
    decoding = decode(checkpoint, text, "beam")
    found = sweep(checkpoint, text, decoding.target)
    worst = int(found.totals.argmin())
    name = f"{kind_title(found.edits[worst].place)} L{{}} H{{}}".format(*found.edits[worst].numbers)
    expect(rows.first.locator("th")).to_have_text(name)
    total = f"{float(found.totals[worst]):+.2f}".replace("-", "−")
    expect(rows.first.locator("td").first).to_have_text(total)
    words = [head.inner_text() for head in page.locator(".data th.word").all()]
    assert words == words_of(found.target)

    far.get_by_role("button", name="Go on").click()
    expect(far.get_by_role("button", name="Stop")).to_be_visible()
    becomes(lambda: known.count() > n_done + 2, True)  # a step was not yet shown when it stopped
    page.get_by_test_id("stButtonGroup").get_by_text("Decoder", exact=True).click()
    expect(rows).to_have_count(24)
    becomes(lambda: parameter(page, "sweep_kind"), "decoder_self")
    page.get_by_test_id("stButtonGroup").get_by_text("All", exact=True).click()
    expect(rows).to_have_count(72)
    rows.first.locator("a").first.click()  # drawn anew meanwhile or not: test_steady.py
    becomes(lambda: parameter(page, "edits"), str(found.edits[worst]))
    expect(page.locator(".text-lines .foot [data-value]")).to_have_text(total)


def test_a_classifier_s_heads_move_its_classes(page: Page, address: str) -> None:
    visit(page, f"{address}/sweep?sweep_asked=yes&checkpoint=sentiment&sweep_sort=layer")
    expect(page.locator(".data th.word")).to_have_count(2)
    expect(page.locator(".data tbody tr")).to_have_count(4)
    expect(page.locator("[class*=st-key-far]")).to_have_count(0)
    checkpoint = load_checkpoint("checkpoints/sentiment")
    found = sweep(checkpoint, checkpoint.about.examples[0])
    best = found.best_edited[:, 0].tolist()
    said = ["the same class" if it == found.best else found.output.classes[it] for it in best]
    expect(page.locator(".data td.text")).to_contain_text(said)
    expect(page.locator(".data td.text:not(:empty)")).to_have_count(4)

    head = page.locator(".data th.word").nth(1)  # a click on it sorts by what changes below it
    head.get_by_role("link").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(head.get_by_role("link")).to_be_focused()
    expect(page.locator(".data th[aria-sort]")).to_have_count(1)
    assert parameter(page, "sweep_sort") == "word 1"
    changes = sorted(found.changes[:, 1].tolist())
    cells = page.locator(".data tbody tr td:nth-child(4)")
    told = cells.evaluate_all("all => all.map(each => Number(each.dataset.value))")
    assert told == pytest.approx(changes, rel=1e-3)


def test_sentences_come_from_a_file(page: Page, address: str) -> None:
    visit(page, f"{address}/sweep?checkpoint=copy&sweep_over=sentences")
    page.get_by_role("button", name="From a file").click()
    picker = page.get_by_test_id("stFileUploaderDropzoneInput")

    def give(name: str, content: bytes) -> None:
        picker.set_input_files([{"name": name, "mimeType": "text/plain", "buffer": content}])

    give("ours.txt", "\ufeff3 7 2 11\r\n\r\n 4 9 5 10 \r\n".encode())
    becomes(lambda: parameter(page, "sweep_sentences"), "3 7 2 11\n4 9 5 10")
    field = page.get_by_label("Sentences, one per line")
    expect(field.first).to_have_value("3 7 2 11\n4 9 5 10")  # the one before gives way
    give("theirs.txt", b"\xff\xfe3\x00")
    expect(page.get_by_text("theirs.txt is not a text in UTF-8")).to_be_visible()
    assert parameter(page, "sweep_sentences") == "3 7 2 11\n4 9 5 10"
    page.get_by_role("button", name="Begin the sweep").press("Enter")  # a popover is over it
    expect(page.locator("[aria-label=Means] tbody tr").first).to_be_visible()


@pytest.mark.thorough
def test_pairs_and_several_sentences(page: Page, address: str) -> None:
    sentences = ("The cat sleeps.", "It rains.", "")
    text = "%0A".join(sentences)
    open_app(
        page,
        f"{address}/sweep?text=It+rains.&sweep_over=sentences&sweep_asked=yes&sweep_sentences={text}",
    )
    rows = page.locator("[aria-label=Means] tbody tr")
    expect(rows).to_have_count(72)
    expect(page.locator("[class*=st-key-far]")).to_have_count(0)
    checkpoint = load_checkpoint("checkpoints/en-de")
    *_, lines = sweep_sentences(checkpoint, dict(enumerate(sentences[:2], 1)))
    worst = min(worths(lines), key=lambda each: each.mean)
    said = [f"{number:+.2f}".replace("-", "−") for number in (worst.mean, worst.low or 0.0)]
    expect(rows.first.locator("td").first).to_have_text(said[0])
    expect(rows.first.locator("td").nth(1)).to_contain_text(said[1])
    page.get_by_test_id("stButtonGroup").get_by_text("This sentence", exact=True).click()
    page.get_by_role("button", name="Begin the sweep: 72 runs, about").click()
    becomes(lambda: parameter(page, "sweep_asked"), "yes")
    expect(page.locator("[aria-label=Sweep] tbody tr")).to_have_count(72)
    page.get_by_role("combobox", name="Pairs").click()
    page.get_by_role("option", name="Pairs of 4 strongest: 6 more runs").click()
    pairs = page.locator("[aria-label=Pairs] tbody tr")
    expect(pairs).to_have_count(6)
    becomes(lambda: parameter(page, "sweep_pairs"), "4")
    together, apart, synergy = (
        float(text.replace("−", "-")) for text in pairs.first.locator("td").all_inner_texts()
    )
    assert synergy == pytest.approx(together - apart, abs=0.011)
    pairs.first.locator("a").click()
    becomes(lambda: (parameter(page, "edits") or "").count("head-off:"), 2)


@pytest.mark.thorough
def test_rows_of_many_changed_words_are_two_lines_until_one_is_opened(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/sweep?sweep_asked=yes&checkpoint=shakespeare&options.max_len=120")
    rows, long = page.locator(".data tbody tr"), page.locator(".data td.text details")
    expect(long.nth(3)).to_be_attached(timeout=60_000)  # of 120 characters each, run by run
    page.locator("[class*=st-key-far]").get_by_role("button", name="Stop").click()
    expect(page.locator("[class*=st-key-far]")).to_contain_text("Stopped")
    assert max(rows.evaluate_all(HEIGHTS)) < TWO_LINES
    tallest = max(range(long.count()), key=lambda i: len(long.nth(i).inner_text()))
    long.nth(tallest).locator("summary").press("Enter")
    becomes(lambda: max(rows.evaluate_all(HEIGHTS)) > TWO_LINES, True)

    head = rows.filter(has=page.locator("details[open]")).locator("th").inner_text()
    row = rows.filter(has=page.locator("th", has_text=re.compile(f"^{head}$")))
    known = page.locator(".data td.text:not(:empty)")
    n_known = known.count()
    page.locator("[class*=st-key-far]").get_by_role("button", name="Go on").click()
    becomes(lambda: known.count() > n_known, True)  # the table is drawn anew
    expect(row.locator("details")).to_have_attribute("open", "")
    row.locator("summary").focus()
    n_known = known.count()
    becomes(lambda: known.count() > n_known, True)
    expect(row.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    n_known = known.count()
    becomes(lambda: known.count() > n_known, True)
    expect(page.locator(".data details[open]")).to_have_count(0)
