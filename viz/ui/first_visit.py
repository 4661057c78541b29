"""A first visit to Explore: few controls, until *More* opens the others, which a browser remembers.

All of them are drawn; a style puts them out of sight. So *More* opens them at once, and the server
need not know who has been here before (viz/components/kit/kept.js).
"""

from dataclasses import replace

from viz.app_packages import st
from viz.screen import Screen

_CALM = 'html:not([data-more="known"])'
_OUT_OF_SIGHT = (
    ".st-key-chosen > *",
    ".st-key-proved",
    '[data-testid="stLayoutWrapper"]:has(> .st-key-of-head)',
    ".st-key-experiment .text-lines :is(.foot, dd small)",
)
_STYLE = f"""
<style>
  /* Components have "display: var(--more, ...)" and "visibility: var(--more-seen, ...)" for what is
     out of sight, and "display: var(--fewer, none)" for what takes its place. */
  {_CALM} {{
    --more: none; --more-seen: hidden; --fewer: grid;
    --drawer: 46vh; --beside-checked: var(--beside-save);
  }}
  {", ".join(f"{_CALM} {each}" for each in _OUT_OF_SIGHT)} {{ display: none; }}
</style>
"""
_NOT_HERE = f"<style>{_CALM} .more-button {{ visibility: hidden; }}</style>"
HELP = "All that can be chosen: the model and how it writes, every kind of attention, measures."
_BUTTON = (
    f'<button type="button" class="more-button" data-keeps="more" title="{HELP}">'
    '<span class="open">More</span><span class="close">Less</span></button>'
)


def more_button(screen: Screen) -> None:
    """Draw the button that opens what is out of sight, and puts it there again."""
    st.html((_STYLE if is_plain(screen) else _NOT_HERE) + _BUTTON, width="content")


def is_plain(screen: Screen) -> bool:
    """Tell whether nothing was chosen but what a first visit has controls for: a link to anything
    else opens with all of them.
    """
    seen = {"page", "text", "edits", "prefix", "special", "kind", "layer", "head", "pins"}
    seen |= {"why", "cause", "instead", "repairs", "repair_rows", "story", "scene", "draft"}
    usual = Screen()
    return replace(screen, **{name: getattr(usual, name) for name in seen}) == usual
