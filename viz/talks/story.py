"""The story whose scene is on the screen, told in a strip above the picture."""

import html
from dataclasses import replace
from pathlib import Path

from viz.app_packages import st
from viz.labels import escaped
from viz.screen import link
from viz.state.checkpoints import checkpoint_names
from viz.state.fingerprints import meant, unnamed
from viz.state.note import warn
from viz.state.state import change, session
from viz.stories.markdown import as_html
from viz.stories.story import Story
from viz.talks.collecting import GONE, close, is_gone
from viz.talks.departure import departure
from viz.talks.stories import doubts, story_of, why_not
from viz.talks.story_words import draw_words

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
