"""The place to drop or choose a figure that the app saved: its screen is back.

The browser looks for what the file carries and goes to its address; the file is sent nowhere. A
story, which ends in .md, is text, and attention weights are arrays: the server reads these.
"""

from collections.abc import Callable

from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.sync import mountable
from viz.theme import Theme

FIGURE_DROP = Component("figure_drop")
_figure_drop = mountable(FIGURE_DROP)


def figure_drop(
    theme: Theme,
    mark: str,
    *,
    longest: int,
    largest: int,
    longest_story: int,
    largest_arrays: int,
    goes: str,
    on_refused: Callable[[str], None],
    on_story: Callable[[object], None],
    on_arrays: Callable[[object], None],
    key: str = "figure_drop",
) -> None:
    """Draw the button; a file may be dropped anywhere on the page.

    mark: what stands before the word that a figure carries; longest: characters of that word at
    most; largest: bytes of a file that is looked through; longest_story: bytes of a story;
    largest_arrays: of attention weights, 0 where none are taken. goes: the link to which the
    browser goes now, as a file was taken; empty: to none. on_refused: called with a sentence where
    a file is none of these. on_story: called with {"name", "text"} of a story. on_arrays: with
    {"name", "data"}, in base64, of an .npz or .safetensors file.
    """
    _figure_drop(
        envelope(
            pack({}),
            theme,
            mark=mark,
            longest=longest,
            largest=largest,
            longest_story=longest_story,
            largest_arrays=largest_arrays,
            goes=goes,
        ),
        key,
        on_refused=on_refused,
        on_story=on_story,
        on_arrays=on_arrays,
    )
