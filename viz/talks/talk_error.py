"""On a wall or a phone, a story that cannot be told: why, on the whole screen."""

import html

from viz.app_packages import st
from viz.screen import Screen, link

_STYLE = """
<style>
  [data-testid="stHeader"], [data-testid="stSidebar"] { display: none !important; }
  .untold { position: fixed; inset: 0; z-index: 9; display: flex; flex-direction: column;
            align-items: center; justify-content: center; gap: 1.5rem; padding: 2rem;
            background: var(--background); text-align: center; }
  .untold h1 { padding: 0; font-size: max(1.6rem, 5vmin); }
  .untold :is(p, a) { font-size: max(1.1rem, 3.4vmin); }
  .untold p { max-width: 60ch; margin: 0; overflow-wrap: anywhere; }
  .untold a { color: var(--accent); text-underline-offset: 3px; }
</style>
"""


def say_untold(why: str) -> None:
    """Draw the sentence over everything else, and a way to the stories that are there."""
    st.html(_whole_screen(why))


def _whole_screen(why: str) -> str:
    stories = html.escape(link(Screen(page="stories")))
    return (
        f'{_STYLE}<section class="untold" role="alert"><h1>This talk cannot be given</h1>'
        f'<p>{html.escape(why)}</p><a data-state href="{stories}">Stories</a></section>'
    )
