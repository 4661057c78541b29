"""The story whose scene is on the screen, told in a strip above the picture."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode

from viz.app_packages import st
from viz.labels import escaped, kind_title, unmade
from viz.page_fields import DecodeFields, HeadsFields
from viz.screen import Screen, link
from viz.state.checkpoints import checkpoint_names, title
from viz.state.fingerprints import meant, unnamed
from viz.state.page import PAGES
from viz.state.requests import first_example
from viz.state.state import change, session, warn
from viz.stories.markdown import as_html
from viz.stories.story import Scene, Story
from viz.talks.stories import doubts, story_of, why_not
from viz.talks.story_drafts import GONE, close, is_gone

# Words of a story on a page of the app: HTML of our own, formulas among them.


def draw_words(escaped_html: str) -> None:
    """Draw what viz/stories/markdown.py makes, and elements of ours around it."""
    if not escaped_html:  # st.html refuses it, and a scene has no words until somebody writes them
        return
    if "<math" not in escaped_html:
        st.html(escaped_html)
        return
    # st.html leaves formulas out. Markdown keeps them, but makes icons and links of plain words.
    parts = re.split(r"(<[^>]*>)", escaped_html)
    plain = "".join(part if part.startswith("<") else unmade(part) for part in parts)
    # It pulls what follows up by a rem, as the last of its paragraphs has a margin; ours has none.
    below = f'<div style="padding-bottom: 1rem">{plain}</div>'
    st.markdown(below, unsafe_allow_html=True, width="stretch")


# A sentence for whoever has left what the words of a scene are about.

LONGEST = 120
"""Characters of a sentence that is named."""


def departure(scene: Scene, screen: Screen, there: Screen) -> str:
    """Say what of a scene's request was changed; empty where its words are about what is shown,
    or state nothing of one sentence: many a scene asks for another.

    there: the scene's own screen, by the checkpoints that are here.
    """
    if not (scene.facts or scene.question or scene.writes):
        return ""
    here, own = (each.checkpoint or _usual() for each in (screen, there))
    if here != own:
        return f"The model was changed: this scene is about {title(own)}."
    texts = _texts(there)
    if _texts(screen) == texts:
        return ""
    whose = " and ".join(f"“{_cut(text)}”" for text in texts if text)
    end = "" if whose[-2:-1] in tuple(".!?") else "."
    return f"The sentence was changed: this scene is about {whose or 'no sentence'}{end}"


def _texts(screen: Screen) -> tuple[str, str]:
    text = screen.text
    if text is None:
        text = first_example(screen.checkpoint or _usual())
    return text, screen.pair or ""


def _usual() -> str:
    return next(iter(checkpoint_names()), "")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# The story whose scene is on the screen, told in a strip above the picture.

_STYLE = """
<style>
  .story { border-left: 3px solid var(--accent); padding: 0.1rem 0 0.1rem 0.9rem; }
  .story header, .story nav { display: flex; flex-wrap: wrap; align-items: baseline;
                              gap: 0.2rem 1.4rem; }
  .story p { margin: 0.2rem 0; max-width: 110ch; line-height: 1.5; }
  .story .departed { color: var(--dim); }
  .story nav { color: var(--dim); font-size: 0.875rem; }
</style>
"""


def tell_story() -> None:
    """Draw the scene that the Screen names, if there is one; it is over at a press."""
    screen = session().screen
    if screen.role is not None:
        return
    if is_gone():
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            warn(GONE)
            st.button("Forget it", key="forget draft", type="tertiary", on_click=close)
    if why := why_not(screen.story):
        warn(why)
    story = story_of(screen.story)
    if story is None:
        return
    if story.nearest(screen.scene) == 1 and Path(story.name).is_absolute():
        say_doubts(story)
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="top", wrap=False, key="story"):
        draw_words(_text(story, story.nearest(screen.scene)))
        st.button(
            "Close",
            key="end of story",
            type="tertiary",
            icon=":material/close:",
            help="The picture stays",
            width="content",
            on_click=lambda: change(story=None),
        )


def say_doubts(story: Story) -> None:
    """Draw what the story names and is not here."""
    for doubt in doubts(story, checkpoint_names()):
        warn(doubt)


def _text(story: Story, number: int) -> str:
    scene, n = story.scenes[number - 1], len(story.scenes)
    links = [f"<span>{number} of {n}</span>"]
    if number > 1:
        links.insert(0, _link(story, number - 1, "← Previous"))
    if number < n:
        links.append(_link(story, number + 1, "Next →"))
    screen, there = session().screen, meant(story.screen_of(number))
    changed, back = departure(scene, screen, there), _link(story, number, "Back to the scene")
    if unnamed(screen) != unnamed(there) and not changed:
        links.append(back)
    links.append(f'<a data-state href="{_on_stage()}">Present</a>')
    return (
        f'<div class="story"><header><strong>{escaped(scene.heading)}</strong>'
        f'<nav aria-label="{escaped(story.title)}">{"".join(links)}</nav></header>'
        f"{departed(changed, back)}{as_html(scene.text)}</div>"
    )


def departed(changed: str, back: str = "") -> str:
    """HTML of what was changed, above the words of a scene; empty where nothing was.

    back: HTML of what leads back.
    """
    return changed and f'<p class="departed">{escaped(changed)} {back}</p>'


def _on_stage() -> str:
    """The address of the same screen, for a wall."""
    return html.escape(link(replace(session().screen, role="stage")))


def _link(story: Story, to: int, words: str) -> str:
    """A link as those of the cards: Streamlit's own keep what the session has."""
    name = escaped(f"{words.strip('← →')}: {story.scenes[to - 1].heading}")
    address = html.escape(link(story.screen_of(to)))
    return f'<a data-state href="{address}" aria-label="{name}">{words}</a>'


# A scene's screen in a few words, as many scenes may be of one sentence.

PICTURES = {"map": "heat map", "inside": "one cell", "why": "the card of a word"}


def screen_words(screen: Screen) -> str:
    """The page, the head, the picture, and what else tells it from its neighbours.

    >>> screen_words(Screen(kind="cross", layer=2, head=3, picture="map", pins=("q5",)))
    'Explore · Cross L2 H3 · heat map · 1 pin'
    >>> screen_words(Screen(page="decode", kind="encoder_self", layer=2, head=3, picture="map"))
    'Decode'
    """
    return " · ".join(_parts(screen))


def _parts(screen: Screen) -> Iterator[str]:
    page = PAGES.get(screen.page)
    yield screen.page.replace("_", " ").capitalize() if page is None else page.title
    is_map, is_decode = screen.page in ("explore", "compare"), screen.page == "decode"
    decode_as = screen.of(DecodeFields).decode_as or "" if is_decode else ""
    place = list(_head(screen, is_map)) if _has_head(screen, decode_as) else []
    if place:
        yield " ".join(place)
    if decode_as:
        yield decode_as
    if is_map and screen.picture in PICTURES:
        yield PICTURES[screen.picture]
    n_pins = len(screen.pins) if is_map or is_decode else 0
    for n, thing in ((n_pins, "pin"), (len(screen.edits), "change")):
        if n:
            yield f"{n} {thing}{'s' * (n > 1)}"
    if is_decode and screen.step:
        yield f"step {screen.step}"


def _has_head(screen: Screen, decode_as: str) -> bool:
    """Tell whether the page shows the chosen head: an address keeps it where none is shown, too."""
    if screen.page == "heads":
        return screen.of(HeadsFields).heads_of == "one"
    return screen.page in ("explore", "compare", "training") or decode_as == "steps"


def _head(screen: Screen, is_map: bool) -> Iterator[str]:
    if screen.kind and screen.page != "decode":  # where both kinds of the decoder are shown
        yield kind_title(screen.kind)
    if screen.layer is not None:
        yield f"L{screen.layer}"
    if screen.heads and is_map:
        yield f"heads {', '.join(map(str, screen.heads))}"
    elif screen.head is not None:
        yield f"H{screen.head}"


# The address of the picture of a scene: of what it shows, so that another one is another's.

THUMBNAIL_LINKS_PATH = "thumbnail"
DIGITS = 16
"""The digits of a scene's key."""


def thumbnail_address(code: str, screen: Screen, theme: str) -> str:
    """The address of a scene's picture, relative to any page. code: of its story."""
    entries = {"draft": code, "of": key_of(screen), "theme": theme}
    return f"./{THUMBNAIL_LINKS_PATH}?{urlencode(entries)}"


def key_of(screen: Screen) -> str:
    """The name of what a scene shows, in the address of its picture."""
    return sha256(link(screen).encode(errors="replace")).hexdigest()[:DIGITS]


# The address of a talk's recording, which a browser keeps for when all else fails.

BACKUP_ADDRESS_PATH = "recorded"


def recording_of(story: str) -> str:
    """The address, relative to any page of the app, of the recording of the story of this name."""
    return f"./{BACKUP_ADDRESS_PATH}?{urlencode({'story': story})}"
