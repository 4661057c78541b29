"""A picture where it cannot be pointed at: an image or a table, and the sentence that says so.

Whoever takes frames out of an output takes styles out, too: JupyterLab of a notebook that it does
not trust, others of every notebook. So the style that hides the still goes with the frame.
"""

import html
from base64 import b64encode

from transformer.extras import NotInstalled
from viz.paper.figure import Figure
from viz.paper.record import FigureError

CLASS = "headscope-still"
HIDING = f"<style>iframe + .{CLASS} {{ display: none }}</style>"
"""A still is hidden by the frame before it: another cell of the notebook may have lost its own."""
WIDTH = 6.9
"""Inches: two columns of a paper, about as wide as a notebook."""


def still(title: str, content: str) -> str:
    """Write what stands behind a frame. content: HTML, empty where there is none."""
    what = "this is a still of it" if content else "it is not shown"
    sentence = (
        f"{html.escape(title)}: {what}, as frames are left out here. "
        "Run the cell again, or trust the notebook, to point at things."
    )
    return f'<div class="{CLASS}">{content}<p>{sentence}</p></div>'


def image(figure: Figure | None, title: str) -> str:
    """Draw the figure as an image; empty where there is none, or nothing that draws it."""
    if figure is None:
        return ""
    try:
        source = b64encode(figure.file("svg", WIDTH)).decode()
    except (FigureError, NotInstalled):
        return ""
    return f'<img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{source}">'
