"""Words of a story on a page of the app: HTML of our own, formulas among them."""

import re

from viz.app_packages import st
from viz.labels import unmade


def draw_words(escaped_html: str) -> None:
    """Draw what viz/stories/markdown.py makes, and elements of ours around it."""
    if not escaped_html:  # st.html refuses it, and a scene has no words until somebody writes them
        return
    if "<math" not in escaped_html:
        st.html(escaped_html)
        return
    # st.html leaves formulas out. Markdown keeps them, but makes icons and links of plain words.
    parts = re.split(r"(<[^>]*>)", escaped_html)
    plain = "".join(part if part.startswith("<") else unmade(part) for part in parts)
    # It pulls what follows up by a rem, as the last of its paragraphs has a margin; ours has none.
    below = f'<div style="padding-bottom: 1rem">{plain}</div>'
    st.markdown(below, unsafe_allow_html=True, width="stretch")
