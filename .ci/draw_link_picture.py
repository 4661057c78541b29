"""make link-picture: viz/server/link_picture.png, which stands for a link that has no other.

It is the first picture of the app, below the app's name. It needs matplotlib, and is drawn anew
when that picture changes.
"""

import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from transformer.discover import discover  # noqa: E402
from viz.paper.printed import (  # noqa: E402
    WIDE,
    enlarged,
    png,
)
from viz.paper.sheet import INCH, Words, moved  # noqa: E402
from viz.screen import Screen  # noqa: E402
from viz.server.link_drawing import sheet_of  # noqa: E402
from viz.server.link_head import (  # noqa: E402
    APP,
    FIXED,
    PIXELS,
    SUBJECT,
)
from viz.state.page import PAGES  # noqa: E402
from viz.theme import LIGHT  # noqa: E402

COLOURS = 16
"""As many as its ink, text and lines need: a package carries it."""
SMALLER, HIGH, LOW = 0.72, 76.0, 120.0
"""The picture beside its size on a slide; points from the top to the lines of the two texts."""

if __name__ == "__main__":
    PAGES.update(discover("viz.pages", "PAGE"))
    sheet = sheet_of(Screen())
    assert sheet is not None
    middle = WIDE * INCH / 2
    words = (
        Words(middle, HIGH, APP, 56, LIGHT.ink, "middle", True),
        Words(middle, LOW, SUBJECT, 28, LIGHT.text, "middle"),
    )
    beside, above = middle * (1 - SMALLER), sheet.height * (1 - SMALLER)
    picture = moved(enlarged(sheet.marks, SMALLER), beside, above)
    whole = replace(sheet, marks=(*words, *picture))
    made = Image.open(BytesIO(png(whole, "", "", "", round(PIXELS[0] / WIDE)))).convert("RGB")
    made.quantize(COLOURS, dither=Image.Dither.NONE).save(FIXED, optimize=True)
