"""A talk: given by its keys, live in every scene, large enough for a wall, followed by phones."""

import random
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.server import DESKTOP, PHONE, becomes, painted
from tests.browser.test_accessibility import OTHERS
from tests.browser.test_app import open_app, parameter, type_sentence
from tests.browser.test_space import DRAWN, FAULTS
from tests.representatives import cases
from transformer import decode, load_checkpoint, record
from viz.lessons.task import log_loss, shares
from viz.screen import FIRST_PAGE, Screen, link, parse
from viz.stories.reading import asked_of, stories_of, write_story
from viz.stories.story import Question, Scene, Story
from viz.theme import DARK, LIGHT

pytestmark = pytest.mark.browser

TALK = stories_of("talk")[0]
SCREENS = [Screen(checkpoint="copy", text=f"{i} 7 2") for i in range(6)]
COUNTED = Story(
    *("", "Counted", "talk", "copy", ""),
    scenes=tuple(
        Scene(f"Scene {i}", "Words.", screen, notes=f"Notes of {i}.")
        for i, screen in enumerate(SCREENS)
    ),
)
ASKING = Story(
    *("", "Asking", "talk", "copy", ""),
    scenes=(
        Scene(
            "It asks",
            "Words.",
            Screen(checkpoint="copy", text="3 8 4 9 5", decoding="greedy"),
            question=Question("encoder_self", 0, 0, 2, "Which digit?"),
        ),
        Scene("It does not", "Words.", Screen(checkpoint="copy", text="9 2 6")),
    ),
)
EVERY_PAGE = (
    "./?text=It+rains.&picture=inside",
    "./decode?checkpoint=sentiment&text=A+good+film.",
    "./compare?text=It+rains.&kind=cross",
    "./positions?text=It+rains.&view=lab",
    "./masks?text=It+rains.",
    "./training?text=It+rains.&topic=smoothing",
    "./training?text=It+rains.&topic=loss",
    "./inspect",
    "./inspect?inspect=tensor",
    "./inspect?inspect=circuits",
    "./sweep?checkpoint=copy&text=3+8+4",
    "./sweep?experiment=patch&text=The+cat+sleeps.&patch_from=The+dog+sleeps.",
    "./why_attention",
)
WALL, LAPTOP, OLD = (1920, 1080), (1280, 720), (1024, 768)
EVERY = (
    (tuple({(it.screen.page, it.screen.picture): it for it in TALK.scenes}.values()), (OLD, WALL)),
    (TALK.scenes, (OLD, LAPTOP, WALL)),
)
"""Scenes, and sizes of a wall: the shape of a laptop is that of the largest."""
TYPE = (Path(__file__).parent / "drawn_type.js").read_text("utf-8")
LONG = (
    "My brother and his two friends wanted to play football in the park yesterday afternoon, but "
    "it rained and so they stayed at home instead and watched an old film together."
)
SMALL = "(least) => Object.entries(drawnType).filter(([, size]) => size < least)"
SCROLLS = """() => [document.scrollingElement, document.querySelector('[data-testid="stMain"]')]
.filter((node) => node.scrollHeight > node.clientHeight + 1).length"""
BELOW = """() => {
  const isOut = ({ right, bottom }, { right: x, bottom: y }) => right > x + 1 || bottom > y + 1;
  const wall = { right: innerWidth, bottom: innerHeight };
  return [...document.querySelectorAll(":is(.st-key-grid, .st-key-arrows, .st-key-map) *")]
    .flatMap(({ shadowRoot }) => [...(shadowRoot?.querySelectorAll(".headscope *") ?? [])])
    .filter((node) => node.checkVisibility({ visibilityProperty: true }) && node.offsetWidth)
    .filter((node) => [wall, node.closest(".box")?.getBoundingClientRect() ?? wall]
      .some((within) => isOut(node.getBoundingClientRect(), within)))
    .map(({ className, textContent }) => `${className}: ${textContent.slice(0, 20)}`);
}"""
"""What of the heads and of the picture beside them is out of sight."""
PICTURES = ".headscope:is(.head-view, .head-map, .decode-player, .token-rows)[data-nonce]"
IN_SIGHT = """(list) => {
  const share = (node) => Number(node.querySelector(".weight")?.textContent ?? NaN);
  const seen = [...list.children].filter((node) => !node.classList.contains("later"));
  const most = seen.reduce((one, node) => (share(node) > share(one) ? node : one));
  const own = list.closest(".own") ? seen.at(-1) : most;
  const of = (list.querySelector(".now") ?? own).getBoundingClientRect();
  const within = ({ top, bottom }) => of.top >= top - 1 && of.bottom <= bottom + 1;
  const wall = { top: 0, bottom: innerHeight };
  return of.height > 0 && [list.getBoundingClientRect(), wall].every(within);
}"""
"""Whether the token that the step is about is seen: of a list that is not shown whole."""
CUT = """() => [...document.querySelectorAll(".printed img")].filter((chart) => {
  const { left, top, right, bottom } = chart.getBoundingClientRect();
  return !chart.naturalWidth || left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
}).length"""
FILLED = """() => {
  const pictures = [...document.querySelectorAll(
    ".st-key-page :is(.stBidiComponent, .printed, table, .stDataFrame)")];
  return pictures.some((node) => node.checkVisibility() && node.offsetHeight > 90);
}"""
PRINTED_SMALL = """() => [...document.querySelectorAll(".printed img")]
  .map((image) => image.getBoundingClientRect().width / image.naturalWidth)
  .filter((times) => times * 300 / 12 < 0.95 * Math.min(innerWidth / 80, innerHeight / 45))"""
"""Of charts that are images: 300 dots per inch, and type of 1/12 inch at least."""
RING = "() => getComputedStyle(document.querySelector('[data-testid=stMain]'), '::before').content"
ANSWER = re.compile(
    r"looks at ‘.+’: .+ %. Your points cost \d\.\d\d nats · uniform \d\.\d\d nats · "
    r"previous word \d\.\d\d nats · at best \d\.\d\d nats"
)
SOCKET = """window.WebSocket = class extends WebSocket {
  constructor(address, ...more) {
    super(address, ...more);
    if (address.includes("/talk/")) window.talkSocket = this;
  }
};"""
POINTS = ".question li:visible output:not(.weight)"
ALL_TEXT = """() => [...document.querySelectorAll("*")].map(({ shadowRoot }) => shadowRoot)
.concat(document.body).map((root) => root?.innerHTML).join()"""
SCHEME = "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scenes", "sizes"),
    cases(EVERY, {"pictures, and what takes their place": EVERY[0]}),
    ids=["each page", "all"],
)
def test_the_talk_is_given_by_one_key_and_every_scene_is_read_from_afar(
    page: Page, address: str, scenes: tuple[Scene, ...], sizes: tuple[tuple[int, int], ...]
) -> None:
    page.add_init_script(TYPE)
    resize(page, WALL)
    open_app(page, f"{address}/gallery")
    page.get_by_role("link", name=TALK.title).click()
    for number, scene in enumerate(TALK.scenes, 1):
        expect(heading(page)).to_have_text(scene.heading)
        becomes(lambda: shown(page).page, scene.screen.page)
        expect(page.get_by_title("Overview")).to_have_text(f"{number} / {len(TALK.scenes)}")
        if scene not in scenes:
            page.keyboard.press("PageDown")
            continue
        if scene.question:
            expect(page.get_by_role("button", name="Reveal")).to_be_visible()
            expect(page.locator(PICTURES)).to_have_count(0)  # it waits for the answer
            page.keyboard.press("r")
            expect(page.locator(PICTURES)).not_to_have_count(0)
        for size in sizes:
            page.evaluate("window.drawnType = {}")
            resize(page, size)
            least = 24 * min(size[0] / WALL[0], size[1] / WALL[1])  # the same part of the wall
            becomes(lambda least=least: page.evaluate(FAULTS, least), [])
            becomes(lambda least=least: page.evaluate(SMALL, least), [])
            becomes(lambda: page.evaluate(SCROLLS), 0)
            becomes(lambda: page.evaluate(CUT), 0)
            becomes(lambda: page.evaluate(RING), "none")  # of a page that a key has led to
        expect(page.locator(".stPlotlyChart")).to_have_count(0)  # its type is that of a screen
        if scene.screen.page == "decode" and scene.question:
            a_long_sentence_fits(page, scene.question.query, sizes)
        if scene.screen.page == "positions":
            type_sentence(page, "")
            expect(page.get_by_text("The text is empty: type a sentence.")).to_be_visible()
            resize(page, LAPTOP)
            becomes(lambda: page.evaluate(SCROLLS), 0)  # and nothing is pushed off the wall
        page.keyboard.press("PageDown")
    expect(heading(page)).to_have_text(TALK.scenes[-1].heading)  # there it ends


@pytest.mark.thorough
def test_every_page_is_a_scene_that_is_seen_whole_and_read_from_afar(
    page: Page, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "pages.md"
    said = "".join(f"\n## Scene {i}\n\nscreen: {at}\n\nWords.\n" for i, at in enumerate(EVERY_PAGE))
    file.write_text(f"---\ntitle: Pages\nkind: talk\n---\n{said}", "utf-8")
    resize(page, LAPTOP)
    open_app(page, f"{address}/?story={quote(str(file))}&role=stage")
    for i in range(len(EVERY_PAGE)):
        expect(heading(page)).to_have_text(f"Scene {i}")
        becomes(lambda: page.evaluate(FILLED), True)
        painted(page)
        becomes(lambda: page.evaluate(SCROLLS), 0)
        becomes(lambda: [f for f in page.evaluate(FAULTS, 16) if f.startswith("small")], [])
        becomes(lambda: page.evaluate(PRINTED_SMALL), [])
        page.keyboard.press("PageDown")


def a_long_sentence_fits(page: Page, asked: int, sizes: tuple[tuple[int, int], ...]) -> None:
    type_sentence(page, LONG)
    expect(page.locator(PICTURES)).to_have_count(0)  # it is asked anew
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    becomes(lambda: shown(page).text, LONG)
    painted(page)  # a key before would be an answer for the sentence before
    page.keyboard.press("r")
    player = page.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", str(asked))
    for key in ("Home", "End"):
        page.get_by_label("Step", exact=True).press(key)
        for size in sizes:
            resize(page, size)
            becomes(lambda: page.evaluate(SCROLLS), 0)
            for name in (".written", ".panel.source .tokens", ".panel.own .tokens"):
                tokens = player.locator(name)
                becomes(lambda tokens=tokens: tokens.evaluate(IN_SIGHT), True)


def test_a_scene_is_live_and_its_keys_are_text_where_one_types(page: Page, address: str) -> None:
    first, second = TALK.scenes[:2]
    open_app(page, f"{address}/?story={TALK.name}&role=stage")
    expect(heading(page)).to_have_text(first.heading)
    field = page.get_by_label("Sentence")
    expect(field).to_have_value(first.screen.text or "")  # though the address has only a name
    type_sentence(page, "b.g. o d  f?")
    becomes(lambda: shown(page).text, "b.g. o d  f?")
    expect(heading(page)).to_have_text(first.heading)
    type_sentence(page, LONG)
    resize(page, LAPTOP)
    arrows = page.locator(".head-view .box")
    becomes(lambda: arrows.evaluate("box => box.scrollHeight - box.clientHeight <= 1"), True)
    becomes(lambda: shown(page).text, LONG)
    painted(page)
    arrows.locator(".rows .token").nth(4).click()  # no name lies on that of its neighbour
    page.mouse.move(1, 1)
    expect(page.locator(".head-view .sentence")).to_contain_text("Pinned: its strongest line")
    becomes(lambda: page.evaluate(FAULTS, 12), [])
    expect(field).not_to_be_focused()  # the next key leads on
    page.keyboard.press("PageDown")
    expect(heading(page)).to_have_text(second.heading)
    painted(page)
    expect(field).to_have_value(second.screen.text or "")
    field.click()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    heads = page.locator(".head-grid")
    expect(heads).to_have_count(0)
    page.keyboard.press("h")
    expect(heads.locator(".cell").first).to_be_visible()
    head = heads.locator('.cell[aria-selected="true"]')
    before, sentence = shown(page).edits, page.locator(":is(.head-view, .head-map) .sentence")
    for size in (OLD, LAPTOP, WALL):
        resize(page, size)
        becomes(lambda: (page.evaluate(SCROLLS), page.evaluate(BELOW)), (0, []))
        expect(sentence).not_to_contain_text("off")
        box = head.bounding_box()
        head.click()
        page.mouse.move(1, 1)  # a head that is pointed at has the sentence
        expect(page.locator(".text-lines dt small")).to_have_text(
            "change of log-probability, in nats"
        )
        expect(sentence).to_contain_text("This head is off: what it sees is left out")
        becomes(lambda: (page.evaluate(SCROLLS), page.evaluate(BELOW)), (0, []))
        assert box is not None  # of before: the head has not gone away
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        becomes(lambda: shown(page).edits, before)
    page.keyboard.press("h")
    expect(heads).to_have_count(0)
    for key, look in (("d", DARK), ("d", LIGHT)):
        page.keyboard.press(key)
        becomes(lambda: page.evaluate(SCHEME), look.name)
        becomes(lambda look=look: page.evaluate(OTHERS, look.background), [])
    blank = page.locator(".talk .blank")
    page.keyboard.press(".")
    expect(blank).to_be_visible()
    page.keyboard.press("b")
    expect(blank).to_be_hidden()
    page.keyboard.press("o")
    expect(page.get_by_role("dialog").get_by_role("button")).to_have_count(len(TALK.scenes))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text(first.heading)
    invitation = page.locator(".cover.invitation")
    page.keyboard.press("q")  # which opens the room, too
    expect(invitation).to_be_visible()  # its text is there before
    expect(invitation).to_contain_text("this server listens to this machine only")
    page.keyboard.press("Escape")
    expect(invitation).to_be_hidden()
    expect(heading(page)).to_have_text(first.heading)
    becomes(lambda: parameter(page, "role"), "stage")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Experiment")).to_be_visible()
    becomes(lambda: (parameter(page, "role"), parameter(page, "story")), (None, None))
    assert shown(page).text == first.screen.text


def test_the_keys_of_a_talk_that_its_link_has_started_are_heard(page: Page, address: str) -> None:
    first, second, third, *_, last = (scene.heading for scene in TALK.scenes)
    open_app(page, f"{address}/stories")
    page.get_by_role("link", name="Give it as a talk").first.click()
    expect(heading(page)).to_have_text(first)
    painted(page)
    steps = (("ArrowRight", second), ("ArrowLeft", first), ("Space", second), ("Home", first))
    for key, expected in (*steps, ("End", last)):
        page.keyboard.press(key)
        expect(heading(page)).to_have_text(expected)
    page.keyboard.press("Home")
    expect(heading(page)).to_have_text(first)
    painted(page)
    box = heading(page).bounding_box()
    assert box is not None
    page.mouse.click(page.evaluate("innerWidth") - 8, box["y"])  # where nothing is
    for key, expected in steps:
        page.keyboard.press(key)
        expect(heading(page)).to_have_text(expected)
    painted(page)
    page.locator(".head-view .rows .token").nth(4).click()  # it is pinned, and drawn anew
    becomes(lambda: parameter(page, "pins") is None, False)
    painted(page)
    for key, expected in (("ArrowRight", second), ("Space", third), ("ArrowLeft", second)):
        page.keyboard.press(key)
        expect(heading(page)).to_have_text(expected)


def test_a_mouse_left_lying_points_at_nothing_in_a_scene_that_keys_bring(
    page: Page, address: str
) -> None:
    resize(page, WALL)
    open_app(page, f"{address}/?story={TALK.name}&scene=1&role=stage")
    word = page.locator(".head-view[data-nonce] .rows .token .piece").nth(3)
    expect(word).to_be_visible()
    painted(page)
    box = word.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    pointed = page.locator(".head-view .rows .token.active")
    for step in (0, 4):
        page.mouse.move(x + step, y)
    expect(pointed).to_have_count(1)
    expect(page.locator(".head-view .legend")).not_to_contain_text("square root")
    for key, scene in (("ArrowRight", TALK.scenes[1]), ("ArrowLeft", TALK.scenes[0])):
        page.keyboard.press(key)
        expect(heading(page)).to_have_text(scene.heading)
    expect(word).to_be_visible()
    painted(page)
    expect(pointed).to_have_count(0)
    page.mouse.move(x + 8, y)
    expect(pointed).to_have_count(1)


def test_people_guess_and_the_answer_is_that_of_the_sentence_on_screen(
    page: Page, address: str
) -> None:
    number, scene = next((i, each) for i, each in enumerate(TALK.scenes, 1) if each.question)
    assert scene.question is not None
    resize(page, LAPTOP)
    open_app(page, address + link(replace(TALK.screen_of(number), role="stage")).removeprefix("."))
    asked, said = page.locator(".question .asked"), page.locator(".question .said")
    expect(asked).to_have_text(scene.question.words)
    words = page.locator(".question li button")
    words.nth(1).click()
    expect(page.locator(".question .foot")).to_contain_text("100 of 100 points")
    page.get_by_label("Points for").nth(2).focus()
    for _ in range(8):  # arrow keys lead on in the talk elsewhere
        page.keyboard.press("ArrowRight")
    n_others = page.locator(POINTS).count() - 3  # as many words as the row may look at
    expect(page.locator(POINTS)).to_have_text(["", "60", "40", *[""] * n_others])
    expect(page.locator(PICTURES)).to_have_count(0)
    page.get_by_role("button", name="Reveal").press("Enter")
    expect(said).to_contain_text(ANSWER)
    expect(page.locator(".head-view[data-nonce]")).to_be_visible()
    becomes(lambda: shown(page).guess, (0, 60, 40, *[0] * n_others))
    type_sentence(page, "She lives in a small house.")
    expect(asked).to_contain_text("look at most?")  # of another sentence it is asked anew
    expect(page.locator(PICTURES)).to_have_count(0)
    page.keyboard.press("Enter")
    expect(said).to_contain_text(re.compile(r"%. Uniform \d\.\d\d nats"))
    becomes(lambda: [pin[0] for pin in shown(page).pins], ["q"])  # the row that was asked
    expect(said).not_to_contain_text("Your points")  # nobody guessed


@pytest.mark.parametrize("n_keys", cases([12, 100], {"some keys": 12}))
def test_presenter_wall_and_audience_agree_and_a_phone_that_wandered_comes_back(
    page: Page, browser: Browser, address: str, tmp_path: Path, n_keys: int
) -> None:
    file = tmp_path / "talk.md"  # small, as each of five sessions draws each scene
    file.write_text(write_story(COUNTED), "utf-8")
    story, scenes = quote(str(file)), COUNTED.scenes
    rng, keys = random.Random(17), ("PageDown", "ArrowRight", "PageUp", "ArrowLeft", "Home", "End")
    open_app(page, f"{address}/?story={story}&role=stage")
    expect(heading(page)).to_have_text(scenes[0].heading)
    expect(page.get_by_title("Overview")).to_have_text(f"1 / {len(scenes)}")  # keys are heard
    with page.expect_popup() as opened:
        page.keyboard.press("p")
    presenter = opened.value
    expect(presenter.get_by_label("Notes")).to_contain_text("Notes of 0.")
    following = presenter.frame_locator(".next iframe").locator(".st-key-scene h1")
    expect(following).to_have_text(scenes[1].heading)
    becomes(lambda: bool(parameter(page, "room")), True)
    phone, laptop = (browser.new_page(viewport=size) for size in (PHONE, DESKTOP))
    room = parameter(page, "room")
    phone.goto(f"{address}/talk/{room}")
    laptop.goto(f"{address}/?story={story}&role=stage&room={room}")
    windows = (page, presenter, phone, laptop)
    for window in windows:
        expect(heading(window)).to_have_text(scenes[0].heading)
    expect(presenter.get_by_text("2 following")).to_be_visible()
    at = 0
    for _ in range(n_keys):
        mover = rng.choice((page, presenter))
        for window in (page, presenter):  # each key is heard where the one before has led
            becomes(lambda window=window: shown(window).scene, at + 1)
        key = rng.choice(keys)
        by = 1 if key in ("PageDown", "ArrowRight") else -1
        at = {"Home": 0, "End": len(scenes) - 1}.get(key, at + by)
        at = min(max(at, 0), len(scenes) - 1)
        mover.keyboard.press(key)
    for window in windows:
        expect(heading(window)).to_have_text(scenes[at].heading)
    for keys, at in ((("End",), -1), (("Home", "End", "PageUp", "PageUp"), -3)):
        for key in keys:  # sooner than anything is drawn
            page.keyboard.press(key)
        for window in windows:
            expect(heading(window)).to_have_text(scenes[at].heading)
    presenter.keyboard.press("Home")
    expect(heading(phone)).to_have_text(scenes[0].heading)
    painted(phone)
    back = phone.get_by_role("button", name="Back to the talk")
    expect(back).to_be_hidden()
    type_sentence(phone, "9 9")
    expect(back).to_be_visible()
    type_sentence(page, "8 8")  # what is changed on the wall is heard of, too
    becomes(lambda: shown(laptop).text, "8 8")
    presenter.keyboard.press("PageDown")
    expect(heading(laptop)).to_have_text(scenes[1].heading)
    assert (shown(phone).text, shown(phone).scene) == ("9 9", 1)
    back.click()
    expect(heading(phone)).to_have_text(scenes[1].heading)
    expect(back).to_be_hidden()
    becomes(lambda: shown(phone).text, scenes[1].screen.text)
    presenter.keyboard.press("q")
    invitation = page.locator(".cover.invitation")
    expect(invitation).to_be_visible()  # its text is there before
    expect(invitation).to_contain_text("this server listens to this machine only")
    expect(presenter.get_by_text("The wall shows the link (q).")).to_be_visible()
    page.keyboard.press("Escape")
    expect(invitation).to_be_hidden()
    picture = presenter.frame_locator(".next iframe").get_by_test_id("stApp")
    for look in (DARK, LIGHT):  # it is of the wall
        page.keyboard.press("d")
        becomes(lambda: page.evaluate(SCHEME), look.name)
        expect(picture).to_have_css("color-scheme", look.name)
    for guest in (phone, laptop):
        guest.context.close()


@pytest.mark.thorough
def test_an_audience_answers_together_and_learns_the_truth_when_it_is_revealed(
    page: Page, browser: Browser, address: str, tmp_path: Path
) -> None:
    scene = ASKING.scenes[0]
    checkpoint, text = load_checkpoint("checkpoints/copy", "cpu"), scene.screen.text or ""
    recording = record(checkpoint, text, decode(checkpoint, text, "greedy").target)
    seen = asked_of(scene, checkpoint, recording, "greedy")
    assert seen is not None
    weights, n = seen.weights.tolist(), len(seen.words)
    file = tmp_path / "asking.md"
    file.write_text(write_story(ASKING), "utf-8")
    open_app(page, f"{address}/?story={quote(str(file))}&role=stage")
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    with page.expect_popup() as opened:
        page.keyboard.press("p")
    presenter = opened.value
    expect(presenter.get_by_role("button", name="Reveal")).to_be_visible()
    becomes(lambda: bool(parameter(page, "room")), True)
    phones = [browser.new_page(viewport=PHONE) for _ in range(2)]
    told: list[bytes] = []
    for phone in phones:
        phone.add_init_script(SOCKET)
        phone.on("websocket", lambda socket: socket.on("framereceived", partial(_keep, told)))
        phone.goto(f"{address}/talk/{parameter(page, 'room')}")
        expect(phone.locator(".question .asked")).to_have_text("Which digit?")
        expect(phone.get_by_role("button", name="Reveal")).to_be_hidden()
    answers = [[0] * n, [0] * n]
    answers[0][1], answers[1][0], answers[1][2] = 100, 60, 40
    words = phones[0].locator(".question li button")
    words.nth(0).click()
    expect(phones[0].get_by_text("Counted.")).to_be_visible()
    phones[0].evaluate("talkSocket.close()")
    words.nth(1).click()  # it goes out once there is a connection again
    for i in (0, 2):
        phones[1].get_by_label("Points for").nth(i).fill(str(answers[1][i]))
    sums = [str(sum(points)) for points in zip(*answers, strict=True)]
    for window in (page, presenter):
        expect(window.get_by_text("2 of 2 have answered")).to_be_visible()
        expect(window.locator(POINTS)).to_have_text(sums)
    phones[1].reload()  # whoever comes back is known, and is not counted twice
    expect(phones[1].get_by_text("100 of 100 points. Counted.")).to_be_visible()
    expect(page.get_by_text("2 of 2 have answered")).to_be_visible()
    for phone in phones:
        assert not has_weight(phone.evaluate(ALL_TEXT).encode(), weights)
    assert told and not has_weight(b"".join(told), weights)
    presenter.keyboard.press("r")
    pooled = [sum(points) for points in zip(*answers, strict=True)]
    of_each = [log_loss(weights, shares(points)) for points in answers]
    room = (
        f"the room's points together {log_loss(weights, shares(pooled)):.2f} · "
        f"mean over 2 people {sum(of_each) / 2:.2f} · uniform"
    )
    for window in (page, presenter):
        expect(window.locator(".question .said")).to_contain_text(f": {room}")
    for phone, cost in zip(phones, of_each, strict=True):
        expect(phone.locator(".question .said")).to_contain_text(
            f": your points {cost:.2f} · {room}"
        )
        expect(phone.get_by_role("button", name="Back to the talk")).to_be_hidden()
    expect(page.locator(".head-view[data-nonce]")).to_be_visible()
    assert has_weight(b"".join(told), weights)  # as it would have been found before
    page.keyboard.press("PageDown")
    for window in (page, phones[0]):
        expect(window.locator(".question")).to_have_count(0)
    page.keyboard.press("PageUp")
    for window in (page, phones[0]):
        expect(window.locator(".question .said")).to_contain_text(room)  # it is known by now
    for phone in phones:
        phone.context.close()


def _keep(told: list[bytes], message: str | bytes) -> None:
    told.append(message.encode() if isinstance(message, str) else message)


def has_weight(content: bytes, weights: list[float]) -> bool:
    """Whether weights of a row are there: as numbers in a text, or by three in an array."""
    texts = (repr(each)[:7].encode() for each in weights if 0.01 < each < 0.99)
    arrays = (np.asarray(weights, kind) for kind in ("<f4", "<f2"))
    runs = (each[i : i + 3].tobytes() for each in arrays for i in range(len(weights) - 2))
    return any(each in content for each in (*texts, *runs))


def heading(page: Page) -> Locator:
    return page.locator(".st-key-scene h1")


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate(DRAWN)


def shown(page: Page) -> Screen:
    """What the address says."""
    parts = urlsplit(page.evaluate("location.href"))
    last = parts.path.rpartition("/")[2] or FIRST_PAGE
    return parse({"page": last, **dict(parse_qsl(parts.query))})
