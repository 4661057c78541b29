"""The pieces of a text as HTML: a box a token, with its piece above its id."""

import html
from collections.abc import Sequence

from transformer.token import Token
from viz.labels import label

_STYLE = """
<style>
  ol.split.split { display: flex; flex-wrap: wrap; gap: 0.3rem; padding: 0; margin: 0; }
  .split li.token { list-style: none; margin: 0; max-width: 100%; text-align: center; }
  .split li.token { padding: 0.1rem 0.45rem 0.2rem; background: var(--surface); }
  .split li.token { border: 1px solid var(--grid); border-radius: 4px; }
  .split .piece { display: block; overflow-wrap: anywhere; white-space: pre-wrap; }
  .split .id { display: block; color: var(--dim); font-size: 0.78rem; }
  .split .special .piece { color: var(--dim); font-style: italic; }
</style>
"""


def split_text(tokens: Sequence[Token]) -> str:
    """A list of tokens; special ones are dim."""
    return f'{_STYLE}<ol class="split">{"".join(map(_item, tokens))}</ol>'


def _item(token: Token) -> str:
    kind = "token special" if token.special else "token"
    piece = f'<span class="piece">{html.escape(label(token))}</span>'
    return f'<li class="{kind}">{piece}<span class="id">{token.id}</span></li>'
