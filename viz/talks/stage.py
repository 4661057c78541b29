"""A scene for a wall: its heading and text above the page, and the style of that page."""

import html
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.kit.sync import opened
from viz.components.question.question import question
from viz.components.stage.stage import stage
from viz.labels import escaped
from viz.lessons.subject import Subject
from viz.notebook.story_page import WALL
from viz.run.request import answer, is_part
from viz.run.work import at_hand
from viz.screen import Screen, link
from viz.state.checkpoints import checkpoint_names
from viz.state.fingerprints import meant
from viz.state.focus import row_pins
from viz.state.limits import charge
from viz.state.page import Page, Pane
from viz.state.requests import request_of_page
from viz.state.state import change, current_theme, session, this_browser, widget
from viz.stories.markdown import as_html
from viz.stories.reading import asked_of, payload_of, stories_of
from viz.stories.story import Scene, Story, bare
from viz.talks.room_links import invitation, rooms_address, say_untold, seen_by, windows
from viz.talks.rooms import ROOMS, points_of, question_of, why_not_counted
from viz.talks.stories import story_of, why_not
from viz.talks.story import departed, departure, draw_words, recording_of, say_doubts

# The style of a page on a wall: large type, one picture, and no tools around it.

PRESENTER_STYLE = """
<style>
  html { font-size: max(14px, min(100vw / 80, 100vh / 50)) !important; }
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1.4rem 2.4rem 1rem !important; }
  .st-key-scene h1 { margin: 0; padding: 0; font-size: 1.7rem; line-height: 1.2; }
  .st-key-scene p { margin: 0.4rem 0 0; font-size: 1.1rem; line-height: 1.45; opacity: 0.75; }
  .notes { margin-top: 1.6rem; max-width: 60ch; }
  .notes :is(p, ul, ol) { margin: 0 0 0.8rem; }
  .notes :is(p, li) { font-size: 1.5rem; line-height: 1.45; }
  .keys { position: fixed; bottom: 0.4rem; margin: 0; opacity: 0.65; }
  .keys kbd { padding: 0.05em 0.4em; border: 1px solid; border-radius: 4px; background: none;
              color: inherit; font: inherit; font-size: 0.875rem; }
</style>
"""
AUDIENCE_STYLE = """
<style>
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1rem 1rem 5rem !important; }
  .st-key-stage { position: absolute; }
  .st-key-scene h1 { margin: 0; padding: 0; font-size: 1.35rem; line-height: 1.25; }
  .st-key-scene p { margin: 0.3rem 0 0; line-height: 1.45; }
</style>
"""
STAGE_STYLE = (
    f"<style>{WALL}</style>"
    + """
<style>
  ::view-transition-group(root) { animation-duration: 0.18s; }
  @media (prefers-reduced-motion: reduce) {
    ::view-transition-group(root) { animation: none; }
  }
  /* The dialog is Streamlit's, about its connection: viz/components/stage/recorded.js says more. */
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked,
  [data-testid="stDialog"] {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1.2rem 2.4rem 0 !important; }
  [data-testid="stMain"] { scroll-padding-top: 0; }
  .st-key-stage { position: absolute; }
  [data-testid="stTextInputRootElement"] input { font-size: 1.2rem; height: auto; }
  /* What is chosen stays as the scene has it: what chooses is out of sight, with its place. */
  :is(.st-key-page, .st-key-experiment) .stElementContainer:has(> :is(.stButtonGroup, .stSelectbox,
  .stNumberInput, .stDownloadButton, .stMenuButton), [data-testid="stCaptionContainer"]),
  .st-key-experiment > [data-testid="stLayoutWrapper"], .st-key-page .stPopover,
  .st-key-page > .stElementContainer:empty,
  [data-testid="stLayoutWrapper"]:has(.st-key-tokens):not(:has(.st-key-page)) { display: none; }
  .st-key-page [data-testid="stLayoutWrapper"]:has(.stButtonGroup, .stNumberInput,
  .stDownloadButton):not(:has(.stBidiComponent, .printed, iframe, table, .stDataFrame, .contents)) {
    display: none;
  }
  .st-key-page :is(p, th, td, figcaption, .stHtml div, .stHtml span, .stHtml small) {
    font-size: 1rem !important;
  }
  .st-key-page .tables p.title { font-size: 1.4rem !important; }
  .st-key-experiment p { font-size: 1rem !important; }
  /* What a correction costs stands nowhere else. */
  .st-key-branches .text-lines .foot { display: block; }
  .st-key-branches .text-lines dt small { display: none !important; }
  /* Why a text cannot be read: over the page, as it would push the picture off the wall. */
  .stElementContainer:has(> .stAlert [data-testid="stAlertContentWarning"]):not(.st-key-page *) {
    position: fixed; z-index: 1; top: 1rem; right: 2.4rem; width: auto !important; max-width: 45%;
    border-radius: 8px; background: Canvas;
  }
</style>
"""
)


# A scene for a wall: its heading and text above the page, which stays as live as it is.

_KEYS = (
    '<p class="keys"><kbd>→</kbd> next <kbd>g</kbd> go to <kbd>o</kbd> overview '
    "<kbd>b</kbd> black <kbd>q</kbd> link on the wall <kbd>d</kbd> dark</p>"
)
_STYLES = {"stage": STAGE_STYLE, "audience": AUDIENCE_STYLE, "presenter": PRESENTER_STYLE}


def on_stage() -> bool:
    """Tell whether the screen is for a wall or a phone: navigation and tools are out of sight."""
    screen = session().screen
    is_of_talk = screen.role in ("stage", "audience") and story_of(screen.story) is not None
    return is_presented() or is_of_talk


def on_wall() -> bool:
    """Tell whether it is for a wall, where type is large."""
    return on_stage() and session().screen.role != "audience"


# One screen for a wall, without a story: it begins at a key or an entry of the menu.

_without_key: OrderedDict[str, None] = OrderedDict()
"""The browsers in which the key is switched off: letters may be what somebody dictates."""
MOST_BROWSERS = 10_000
KEY_HELP = "f presents the screen and leads back, as Escape does"
PRESENT = "Present this screen"
_PRESENT_STYLE = (
    STAGE_STYLE
    + """
<style>
  .stElementContainer:has(> * > .present-keys) { position: absolute; }
  .present-keys {
    position: fixed; z-index: 1; bottom: 0.6rem; inset-inline-end: 0.6rem; margin: 0;
    padding: 0.2rem 0.8rem; border: 1px solid var(--grid); border-radius: 8px;
    background: var(--surface); color: var(--text); font-size: 1rem;
    animation: read 0.6s 8s forwards;
  }
  .present-keys kbd { background: none; color: var(--accent); font: inherit; font-weight: 600; }
  .present-keys a { color: inherit !important; }
  @media (hover: none) { .present-keys { animation: none; } }
  @keyframes read { to { visibility: hidden; opacity: 0; } }
</style>
"""
)


def is_presented() -> bool:
    """Tell whether this screen alone is for a wall."""
    return session().screen.role == "present"


@dataclass
class Presenting:
    """The tool that was chosen before a screen was presented, which is there again after it."""

    tool: str | None = None


def present_ways(page: Page) -> dict[str, str]:
    """The links of the keys of one screen for a wall: "f" presents it, "back" is where it came
    from, "h" brings the heads or the picture, where both are the page's. Empty for none.
    """
    screen = session().screen
    if screen.role not in (None, "present"):  # a talk has keys of its own
        return {}
    before = session().of(Presenting)
    if not is_presented() or before.tool is None:
        before.tool = screen.tool
    there = link(replace(screen, role="present"))
    back = link(replace(screen, role=None, tool=before.tool))
    ways = {"f": there} if this_browser() not in _without_key else {}
    if not is_presented():
        return ways
    heads = link(replace(screen, tool=_other_tool(screen)))
    return ways | {"back": back} | ({"h": heads} if page.edits == "made" else {})


def _keys_of(page: Page) -> str:
    """Say which keys there are, until one is pressed or it was read; where no key is at hand, as on
    a phone, its words are what is pressed.
    """
    ways = present_ways(page)
    keys = "<kbd>f</kbd> or <kbd>Esc</kbd>" if "f" in ways else "<kbd>Esc</kbd>"
    heads, back = (
        f'<a data-state href="{html.escape(ways[name])}">{words}</a>' if name in ways else ""
        for name, words in (("h", "all heads"), ("back", "leads back"))
    )
    heads = heads and f"<kbd>h</kbd> {heads} · "
    return f'<p class="present-keys" role="status">{heads}{keys} {back}</p>'


def offer_present() -> None:
    """Draw the link that presents the screen, and what switches its key off."""
    there = html.escape(link(replace(session().screen, role="present")))
    st.html(f'<a data-state data-present href="{there}">{PRESENT}</a>', width="content")
    has_key = this_browser() not in _without_key
    st.toggle("Key f", has_key, help=KEY_HELP, **widget("present key", has_key, _switch_key))


def _switch_key(is_on: bool) -> None:
    _without_key.pop(this_browser(), None)
    if not is_on:
        _without_key[this_browser()] = None
    while len(_without_key) > MOST_BROWSERS:
        _without_key.popitem(last=False)


def open_scene(page: Page) -> bool:
    """In a talk, draw what stands above the page, and hear its keys. Returns whether the page is
    to be drawn below: on the presenter's window notes, time and the next scene take its place.
    """
    screen = session().screen
    story = story_of(screen.story)
    if screen.role is None:
        return True
    if is_presented():
        st.html(_PRESENT_STYLE + _keys_of(page))
        return True
    if story is None:
        why = why_not(screen.story)
        if why is not None:
            say_untold(why)
        return why is None
    number = story.nearest(screen.scene)
    scene = story.scenes[number - 1]
    st.html(_STYLES[screen.role])
    # An address as "story=...&role=stage": it goes there.
    if _names_no_screen(screen, story.screen_of(number)):
        _hear(story, number, start=seen_by(story.screen_of(number), screen.role, screen.room))
        return False
    if screen.role == "presenter":
        # The presenter's window; the wall says nothing of what is not here.
        say_doubts(story)
        words, beside = st.columns([6, 5], gap="large")
        with words:
            _scene(story, number, scene)
            _ask_presenter(page)
            notes = as_html(scene.notes) or "<p>This scene has no notes.</p>"
            draw_words(f'<section class="notes" aria-label="Notes">{notes}</section>')
            st.html(_KEYS)
        with beside:
            _hear(story, number)
        return False
    _hear(story, number)
    _scene(story, number, scene)
    return True


def _names_no_screen(screen: Screen, there: Screen) -> bool:
    """Tell whether an address that was opened just now names a scene, and no screen of its own.

    there: the scene's own, which may be a page as it opens: then there is nowhere else to go to.
    """
    says_nothing = screen == session().arrival and bare(screen) == Screen(page=screen.page)
    return says_nothing and bare(there) != bare(screen)


def _hear(story: Story, number: int, start: str = "") -> None:
    """Mount the part that hears keys and the room. start: where the window is to go at once."""
    state, screen = session(), session().screen
    role, room = screen.role, screen.room
    ours = {name: getattr(screen, name) for name in ("role", "room", "draft", "guess")}
    heard = replace(story.screen_of(number), **ours)
    after = (
        replace(story.screen_of(number + 1), role="stage") if number < len(story.scenes) else None
    )
    stage(
        story.title,
        [(each.heading, seen_by(story.screen_of(i), role, room)) for i, each in _numbered(story)],
        leave=link(bare(screen)),
        theme=current_theme(),
        recorded=recording_of(story.name) if role == "stage" else "",
        is_told=screen == heard or (state.arrival == heard and screen == state.landing),
        start=start,
        here=_spelled(screen),
        asked=_spelled(state.arrival),
        led=_spelled(state.landing),
        opened=str(opened()),
        tool=seen_by(replace(screen, tool=_other_tool(screen)), role, room),
        code=room or "",
        rooms=rooms_address(),
        windows=windows(screen, room) if room else {},
        audience=asdict(invitation(room)) if room and role != "audience" else {},
        next=link(after) if after and role == "presenter" else "",
    )


def _numbered(story: Story) -> enumerate[Scene]:
    return enumerate(story.scenes, 1)


def _spelled(screen: Screen | None) -> str:
    """Spell a screen as everybody in a room does."""
    return seen_by(screen, screen.role, screen.room) if screen else ""


def _other_tool(screen: Screen) -> str:
    """Return the tool that the key for it chooses: show, or switch a head off."""
    return "look" if screen.tool == "heads" else "heads"


def _scene(story: Story, number: int, scene: Scene) -> None:
    changed = departed(departure(scene, session().screen, meant(story.screen_of(number))))
    with st.container(key="scene", gap=None):
        st.html(f'<h1 data-scene="{number:d}">{escaped(scene.heading)}</h1>')
        draw_words(changed or as_html(scene.text))  # both would push the picture off the wall


def list_talks() -> None:
    """Draw a link to each talk that can be given."""
    for story in stories_of("talk"):
        text = escaped(f"{story.title} ({len(story.scenes)} scenes)")
        st.html(f'<p><a data-state href="{_first(story)}">Give a talk: {text}</a></p>')


def _first(story: Story) -> str:
    first: Screen = replace(story.screen_of(1), role="stage")
    return html.escape(link(first))


# A scene that asks: the question stands in place of the picture until it is answered.


def is_asked(pane: Pane) -> bool:
    """Draw the question of the scene that is on the stage; whether it still waits for its answer:
    then nothing that holds a weight of its row may be sent to the browser.
    """
    if not on_stage() or is_presented() or pane.result is None:
        return False
    guess = _ask(pane)
    if guess:  # the answer takes the place of the words that led to it
        st.html("<style>.st-key-scene p { display: none; }</style>")
    return guess is False


def _ask_presenter(page: Page) -> None:
    """Draw the question on the presenter's window, without its picture."""
    screen = session().screen
    story = story_of(screen.story)
    asks = story is not None and story.scenes[story.nearest(screen.scene) - 1].question
    if not asks or page.shows != "sentence" or not checkpoint_names():
        return
    question = request_of_page(page)
    try:
        if at_hand(question) is None:
            charge(question)
        pane = page.pane(Pane(screen, question, answer(question)))
    except Refusal:
        return  # the wall says why
    if pane.result is not None:
        _ask(pane)


def _ask(pane: Pane) -> bool | None:
    """Draw the question about what is shown. Whether it is revealed; None: nothing is asked."""
    screen, answer = session().screen, pane.answer
    story = story_of(screen.story)
    if story is None:
        return None
    scene = story.scenes[story.nearest(screen.scene) - 1]
    subject = asked_of(scene, answer.checkpoint, answer.recording, answer.request.method)
    if subject is None:
        return None
    if is_part(answer.request, pane.request):  # its last row is not the one that is asked about
        st.caption("The question comes once the text is written.")
        return False
    guess, of, uncounted = screen.guess, "", ""
    if screen.room is not None:
        # The screen as its room says it, where nobody has changed anything since.
        state = session()
        words = state.arrival if state.arrival and state.screen == state.landing else state.screen
        of, room = question_of(words), ROOMS.find(screen.room)
        if room is not None:
            room.ask(words, subject.words)
            uncounted = why_not_counted(subject.words)
            guess = room.guess_of(of) if guess is None else guess
    payload = payload_of(scene, subject, answer.request.text, guess is not None)
    on_reveal = partial(_reveal, pane, subject)
    question(payload, current_theme(), guess, on_reveal, of, screen.role, uncounted)
    return guess is not None


def _reveal(pane: Pane, subject: Subject, value: object) -> None:
    """Show the truth, and in the picture the row that it is of. value: of a browser, which may say
    anything.
    """
    points, place = points_of(value), subject.place
    is_whole = points is not None and len(points) == len(subject.words)
    row: dict[str, Any] = {}
    if pane.screen.page == "decode":
        row = {"step": max(0, place.query - max(0, pane.recording.n_prompt - 1))}
    elif not pane.screen.pins and pane.selection.kind == place.kind:
        if pane.reading.words and not subject.is_of_words:  # the weights that were guessed
            row = {"tokens": "pieces"}
            pane = replace(pane, screen=replace(pane.screen, **row))
        row |= {"pins": row_pins(pane, place.query)}
    change(guess=points if is_whole else (), **row)
