"""The cards of a story's scenes as HTML: a grid of one to three columns, with links.

Not Streamlit's own, which keep the sentence and the checkpoint that the session has: `data-state`
marks those that the address component goes to without loading the page anew.
"""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass

from viz.figures.thumbnail import HEIGHT, WIDTH
from viz.labels import escaped
from viz.screen import link
from viz.stories.markdown import as_html, spelled_formulas
from viz.stories.story import Story

_STYLE = f"""
<style>
  .cards {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 360px), 1fr));
            gap: 1rem; list-style: none; }}
  .cards, .cards li {{ margin: 0 !important; }}  /* Streamlit indents lists. */
  .cards {{ padding: 0 !important; }}
  .cards li {{ display: flex; flex-direction: column; gap: 0.6rem; padding: 0.9rem 1rem;
               border: 1px solid var(--grid); border-radius: 8px; }}
  .cards strong {{ font-weight: 600; }}
  .cards p {{ margin: 0; font-size: 0.9rem; line-height: 1.45; }}
  .cards .picture {{ width: 100%; aspect-ratio: {WIDTH} / {HEIGHT}; }}
  .cards .picture img {{ display: block; width: 100%; height: 100%; }}
  .cards .foot {{ display: flex; justify-content: space-between; gap: 1rem; margin-top: auto;
                  font-size: 0.875rem; color: var(--dim); }}
  .cards a {{ color: var(--accent); text-decoration: underline; text-underline-offset: 3px; }}
</style>
"""


@dataclass(frozen=True)
class Picture:
    """A drawing and what it says."""

    svg: str
    alt: str


def cards(story: Story, pictures: Sequence[Picture | None]) -> str:
    """One card per scene; a picture that is None keeps its place."""
    items = (_card(story, i + 1, picture) for i, picture in enumerate(pictures))
    return f'{_STYLE}<ul class="cards">{"".join(items)}</ul>'


def _card(story: Story, number: int, picture: Picture | None) -> str:
    scene = story.scenes[number - 1]
    title, screen = escaped(scene.heading), scene.screen
    address = html.escape(link(story.screen_of(number)))
    about = html.escape(" · ".join(filter(None, (screen.checkpoint, screen.page))))
    words = as_html(spelled_formulas(scene.text))  # the page drops what draws a formula
    opened = f'<a data-state href="{address}" aria-label="Open: {title}">Open</a>'
    return (
        f"<li><strong>{title}</strong>"
        f'<div class="picture">{_image(picture)}</div>'
        f'<div class="words">{words}</div>'
        f'<div class="foot">{opened}<span>{about}</span></div>'
        "</li>"
    )


def _image(picture: Picture | None) -> str:
    """Streamlit takes no SVG elements, but images of them."""
    if picture is None:
        return ""
    source = base64.b64encode(picture.svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{source}" alt="{html.escape(picture.alt)}">'
