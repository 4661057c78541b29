"""Parts of a page as HTML, for what is shown before a page has run: columns, titles, links."""

import html
from collections.abc import Mapping, Sequence

from viz.labels import escaped

WIDTHS = 6, 8
"""The widths of the two columns, in proportion."""
STYLE = f"""
<style>
  .parts {{ display: grid; grid-template-columns: {WIDTHS[0]}fr {WIDTHS[1]}fr; gap: 0 4rem; }}
  .parts > * {{ min-width: 0; }}
  .parts .text-lines {{ margin-bottom: 0.6rem; }}
  .parts h4 {{ margin: 0.6rem 0; padding: 0; font-size: 1rem; font-weight: 600; }}
  .links {{ display: flex; flex-wrap: wrap; gap: 0.3rem 1.5rem; margin-bottom: 0.6rem;
           font-size: 0.875rem; }}
  .links nav {{ display: flex; flex-wrap: wrap; gap: 0.3rem; }}
  .links a {{ box-sizing: border-box; min-width: 28px; padding: 0 0.2rem;
             min-height: 24px; line-height: 24px; text-align: center; }}
  .links .apart a {{ margin-right: 0.7rem; color: inherit; }}
  .links a[aria-current] {{ outline: 1px solid var(--accent); outline-offset: 1px; font-weight: 600;
                           text-decoration: none; }}
  @media (max-width: 1000px) {{ .parts {{ grid-template-columns: 1fr; }} }}
</style>
"""


def side_by_side(*columns: Sequence[str]) -> str:
    """Parts in columns; below each other where there is no room."""
    body = "".join(f"<div>{''.join(each)}</div>" for each in columns)
    return f'<div class="parts">{body}</div>'


def titled(title: str, part: str) -> str:
    """A part with its title above it."""
    return f"<h4>{escaped(title)}</h4>{part}"


def links_row(*groups: str) -> str:
    """Groups of links in a row."""
    return f'<div class="links">{"".join(groups)}</div>'


def links_group(name: str, links: Mapping[str, str], chosen: str | None = None) -> str:
    """Links beside each other. name: of the group, for who hears it; links: text -> address;
    chosen: the text of the one that is open, where the group is a choice.
    """
    look = "" if chosen is not None else ' class="apart"'
    here = ' aria-current="true"'
    texts = "".join(
        f'<a data-state{here * (text == chosen)} href="{html.escape(to)}">{escaped(text)}</a>'
        for text, to in links.items()
    )
    return f'<nav{look} aria-label="{escaped(name)}">{texts}</nav>'
