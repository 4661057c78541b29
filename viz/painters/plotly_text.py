"""Hover texts as Plotly takes them."""

import html
import re


def template(text: str) -> str:
    """A hover text in Plotly's form.

    >>> template("{y:.2f} of {0}")
    '%{y:.2f} of %{customdata[0]}'
    """
    words = html.escape(text, quote=False).replace("\n", "<br>")
    return re.sub(r"\{(\d)", r"%{customdata[\1]", re.sub(r"\{([xyz])", r"%{\1", words))
