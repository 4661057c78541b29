"""How a text splits, as HTML: a box a token, with its piece above its id."""

import html
from collections.abc import Sequence

from transformer.tokenizer import Token
from viz.labels import label
from viz.theme import Theme

_STYLE = """
<style>
  ol.split.split { display: flex; flex-wrap: wrap; gap: 0.3rem; padding: 0; margin: 0; }
  .split li.token { list-style: none; margin: 0; max-width: 100%; text-align: center; }
  .split li.token { padding: 0.1rem 0.45rem 0.2rem; background: SURFACE; }
  .split li.token { border: 1px solid GRID; border-radius: 4px; }
  .split .piece { display: block; overflow-wrap: anywhere; white-space: pre-wrap; }
  .split .id { display: block; color: DIM; font-size: 0.78rem; }
  .split .special .piece { color: DIM; font-style: italic; }
</style>
"""


def split_text(tokens: Sequence[Token], theme: Theme) -> str:
    """A list of tokens; special ones are dim."""
    items = "".join(map(_item, tokens))
    style = _STYLE.replace("GRID", theme.grid).replace("SURFACE", theme.surface)
    return f'{style.replace("DIM", theme.dim)}<ol class="split">{items}</ol>'


def _item(token: Token) -> str:
    kind = "token special" if token.special else "token"
    piece = f'<span class="piece">{html.escape(label(token))}</span>'
    return f'<li class="{kind}">{piece}<span class="id">{token.id}</span></li>'
