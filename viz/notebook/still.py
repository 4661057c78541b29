"""A picture where it cannot be pointed at: an image or a table, and the sentence that says so.

Whoever takes frames out of an output takes styles out, too: JupyterLab of a notebook that it does
not trust, others of every notebook. So the style that hides the still goes with the frame.
"""

import html
from base64 import b64encode

from transformer.extras import NotInstalled
from viz.paper.figure import Figure
from viz.paper.record import FigureError

OUTPUT, CLASS = "headscope-output", "headscope-still"
HIDING = f"<style>.{OUTPUT}:has(iframe) > .{CLASS} {{ display: none }}</style>"
"""A still is hidden by the frame of its own output: another cell may have lost its own. Marimo puts
an element around each frame, so no still follows one there."""
WIDTH = 6.9
"""Inches: two columns of a paper, about as wide as a notebook."""


def with_still(frame: str, title: str, content: str) -> str:
    """A frame, and what stands where it is left out. content: HTML, empty where there is none."""
    what = "this is a still of it" if content else "it is not shown"
    sentence = (
        f"{html.escape(title)}: {what}, as frames are left out here. "
        "Run the cell again, or trust the notebook, to point at things."
    )
    behind = f'<div class="{CLASS}">{content}<p>{sentence}</p></div>'
    return f'<div class="{OUTPUT}">{HIDING}{frame}{behind}</div>'


def image(figure: Figure | None, title: str) -> str:
    """Draw the figure as an image; empty where there is none, or nothing that draws it."""
    if figure is None:
        return ""
    try:
        source = b64encode(figure.file("svg", WIDTH)).decode()
    except (FigureError, NotInstalled):
        return ""
    return f'<img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{source}">'
