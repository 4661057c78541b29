"""Scenes of stories drawn small, and their cards."""

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from transformer.analysis.reading import AttentionMap, Reading, read, row_tokens
from transformer.recording import Recording
from viz.exhibits.chart import rooted
from viz.labels import escaped, kind_title, of_groups
from viz.screen import link
from viz.stories.markdown import as_html, spelled_formulas
from viz.stories.story import Fact, Scene, Story
from viz.theme import FONT, Theme

# A scene drawn small, as SVG: the lines of its heads, or the map of one.

WIDTH, HEIGHT = 320, 124
"""In the units of the drawing."""
_KEYS, _QUERIES, _MARGIN = 30, 96, 14
"""Heights of the two rows of dots, keys above; and what is left free at both ends."""
_LEAST = 0.05
"""Weights below it are not drawn."""
_LETTER = 6.6
"""Width that a letter of a label takes at most, on average."""


def draw_thumbnail(scene: Scene, recording: Recording, reading: Reading, theme: Theme) -> str:
    """One SVG with the theme's colours; words are escaped. reading: the scene's."""
    is_map = scene.screen.picture == "map"
    drawn = (_map if is_map else _lines)(scene, recording, reading, theme)
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    font = html.escape(FONT)
    style = f'font-family="{font}" font-size="12.5" fill="{theme.text}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {style}>{"".join(drawn)}</svg>'


def facts_there(scene: Scene, recording: Recording, reading: Reading) -> tuple[Fact, ...]:
    """The facts whose row and column are there: other weights may write, and read, fewer words."""
    maps = {fact.kind: read(recording, fact.kind, reading) for fact in scene.facts}
    return tuple(
        fact
        for fact in scene.facts
        if fact.query < len(maps[fact.kind].rows) and fact.key < len(maps[fact.kind].columns)
    )


def describe_thumbnail(scene: Scene, recording: Recording, reading: Reading) -> str:
    """The weight of each head's first fact: "Encoder L2 H7: does → eat 0.9999"."""
    first = {(fact.kind, fact.layer, fact.head): fact for fact in reversed(scene.facts)}
    return "; ".join(
        _fact_text(fact, read(recording, fact.kind, reading)) for fact in reversed(first.values())
    )


def _fact_text(fact: Fact, map: AttentionMap) -> str:
    weight = float(map.values(fact.layer, fact.head)[fact.query, fact.key])
    (row,) = of_groups(row_tokens(map.attention, map.reading), [map.row_groups[fact.query]])
    (column,) = of_groups(map.attention.keys, [map.column_groups[fact.key]])
    return f"{kind_title(fact.kind)} L{fact.layer} H{fact.head}: {row} → {column} {weight:.4f}"


def _lines(scene: Scene, recording: Recording, reading: Reading, theme: Theme) -> Iterable[str]:
    """Two rows of dots, keys above queries, and a line a weight."""
    facts = scene.facts
    map = read(recording, facts[0].kind, reading)
    heads = list(dict.fromkeys((fact.layer, fact.head) for fact in facts))
    only = None if _is_whole(scene) else sorted({fact.query for fact in facts})
    for i, (layer, head) in enumerate(heads):
        weights = map.values(layer, head)
        if scene.screen.special in ("hidden", "renormalised"):
            weights = _without_special(weights, map)
        colour = theme.ink if len(heads) == 1 else theme.head_colours[head]
        shift = 3.5 * (i - (len(heads) - 1) / 2)  # so that heads of one cell stand side by side
        yield from _head_lines(weights, only, colour, shift)
    for n, y in ((len(map.columns), _KEYS), (len(map.rows), _QUERIES)):
        dots = "".join(f'<circle cx="{_x(i, n):.1f}" cy="{y}" r="2"/>' for i in range(n))
        yield f'<g fill="{theme.dim}">{dots}</g>'
    yield from _labels([(fact.key, fact.column) for fact in facts], len(map.columns), _KEYS - 10)
    rows = [(fact.query, fact.row) for fact in facts]
    yield from _labels(rows, len(map.rows), _QUERIES + 19)


def _without_special(weights: Tensor, map: AttentionMap) -> Tensor:
    """The weights [Q, K], 0 in columns of special tokens: a scene leaves them out."""
    keys = map.attention.keys
    special = [all(keys[at].special for at in group) for group in map.column_groups]
    return weights.masked_fill(torch.tensor(special), 0.0)


def _is_whole(scene: Scene) -> bool:
    screen = scene.screen
    return not (screen.pins or screen.cell or screen.step)


def _head_lines(
    weights: Tensor, only: Sequence[int] | None, colour: str, shift: float
) -> Iterable[str]:
    """weights: [Q, K]; of all rows or those of `only`."""
    n_queries, n_keys = weights.shape
    middle = (_KEYS + _QUERIES) / 2
    for query in range(n_queries) if only is None else only:
        for key, weight in enumerate(weights[query].tolist()):
            if weight < _LEAST:
                continue
            start, end = _x(query, n_queries) + shift, _x(key, n_keys) + shift
            yield (
                f'<path d="M{start:.1f} {_QUERIES}C{start:.1f} {middle} {end:.1f} {middle} '
                f'{end:.1f} {_KEYS}" fill="none" stroke="{colour}" stroke-width="2" '
                f'stroke-opacity="{weight:.2f}"/>'
            )


def _x(position: int, n: int) -> float:
    return _MARGIN + (WIDTH - 2 * _MARGIN) * (position + 0.5) / n


def _labels(words: Iterable[tuple[int, str]], n: int, y: float) -> Iterable[str]:
    """Words at their positions, the first ones first; one that would touch another is left out."""
    taken: list[tuple[float, float]] = []
    for position, word in dict.fromkeys(words):
        half = _LETTER * len(word) / 2 + 3
        x = min(max(_x(position, n), half), WIDTH - half)
        if any(x - half < end and start < x + half for start, end in taken):
            continue
        taken.append((x - half, x + half))
        yield f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{html.escape(word)}</text>'


def _map(scene: Scene, recording: Recording, reading: Reading, theme: Theme) -> Iterable[str]:
    """The head's map, rows downwards; shade: square root of the weight, as in the grid."""
    fact = scene.facts[0]
    weights = read(recording, fact.kind, reading).values(fact.layer, fact.head)
    n_queries, n_keys = weights.shape
    size = min((HEIGHT - 20) / n_queries, (WIDTH - 2 * _MARGIN) / n_keys)
    left, top = (WIDTH - size * n_keys) / 2, (HEIGHT - size * n_queries) / 2
    frame = f'width="{size * n_keys:.1f}" height="{size * n_queries:.1f}"'
    yield f'<rect x="{left:.1f}" y="{top:.1f}" {frame} fill="none" stroke="{theme.grid}"/>'
    scale = theme.attention_scale
    for query, row in enumerate(weights.tolist()):
        y = top + size * query
        # Neighbours of one shade are one rectangle.
        shades = [round(rooted(value) * (len(scale) - 1)) for value in row]
        for shade, cells in groupby(range(n_keys), key=shades.__getitem__):
            first, *more = cells
            if shade:
                yield (
                    f'<rect x="{left + size * first:.1f}" y="{y:.1f}" '
                    f'width="{size * (1 + len(more)):.1f}" height="{size:.1f}" '
                    f'fill="{scale[shade]}"/>'
                )


# The cards of a story's scenes as HTML: a grid of one to three columns, with links.
#
# Not Streamlit's own, which keep the sentence and the checkpoint that the session has: `data-
# state` marks those that the address component goes to without loading the page anew.

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

    @property
    def html(self) -> str:
        """An image: Streamlit takes no SVG elements."""
        source = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{source}" alt="{html.escape(self.alt)}">'


def cards(story: Story, pictures: Sequence[Picture | None]) -> str:
    """One card per scene; a picture that is None keeps its place."""
    items = (_card(story, i + 1, picture) for i, picture in enumerate(pictures))
    return f'{_STYLE}<ul class="cards">{"".join(items)}</ul>'


def _card(story: Story, number: int, picture: Picture | None) -> str:
    scene = story.scenes[number - 1]
    title, screen = escaped(scene.heading), scene.screen
    address = html.escape(link(story.screen_of(number)))
    about = html.escape(" · ".join(filter(None, (screen.checkpoint, screen.page))))
    drawn = "" if picture is None else picture.html
    words = as_html(spelled_formulas(scene.text))  # the page drops what draws a formula
    opened = f'<a data-state href="{address}" aria-label="Open: {title}">Open</a>'
    return (
        f"<li><strong>{title}</strong>"
        f'<div class="picture">{drawn}</div>'
        f'<div class="words">{words}</div>'
        f'<div class="foot">{opened}<span>{about}</span></div>'
        "</li>"
    )
