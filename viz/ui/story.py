"""The story that a link of the gallery tells, above the picture that it opens."""

import html

import streamlit as st

from viz.gallery import COMPOSITIONS, Composition, neighbours, story
from viz.screen import link
from viz.ui.state import change, current_theme, session

_STYLE = """
<style>
  .story { border-left: 3px solid ACCENT; padding: 0.1rem 0 0.1rem 0.9rem; }
  .story header, .story nav { display: flex; flex-wrap: wrap; align-items: baseline;
                              gap: 0.2rem 1.4rem; }
  .story p { margin: 0.2rem 0; max-width: 110ch; line-height: 1.5; }
  .story nav { color: DIM; font-size: 0.875rem; }
  .story a { color: ACCENT; text-underline-offset: 3px; }
</style>
"""


def tell_story() -> None:
    """Draw the story that the Screen names, if there is one; it is over at a press."""
    told = story(session().screen.story)
    if told is None:
        return
    with st.container(horizontal=True, vertical_alignment="top", wrap=False, key="story"):
        st.html(_text(told))
        st.button(
            "Close",
            key="end of story",
            type="tertiary",
            icon=":material/close:",
            help="The picture stays",
            width="content",
            on_click=lambda: change(story=None),
        )


def _text(told: Composition) -> str:
    before, after = neighbours(told)
    place = f"{COMPOSITIONS.index(told) + 1} of {len(COMPOSITIONS)}"
    links = (_link(before, "← Previous"), f"<span>{place}</span>", _link(after, "Next →"))
    theme = current_theme()
    style = _STYLE.replace("ACCENT", theme.accent).replace("DIM", theme.dim)
    return (
        f'{style}<div class="story"><header><strong>{html.escape(told.title)}</strong>'
        f'<nav aria-label="Stories">{"".join(filter(None, links))}</nav></header>'
        f"<p>{html.escape(told.sentence)}</p></div>"
    )


def _link(to: Composition | None, words: str) -> str:
    """A link as those of the cards: Streamlit's own keep what the session has."""
    if to is None:
        return ""
    name = html.escape(f"{words.strip('← →')}: {to.title}")
    return f'<a data-state href="{html.escape(link(to.told))}" aria-label="{name}">{words}</a>'
