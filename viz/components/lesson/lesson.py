"""The unseen part beside a lesson: it keeps the answers, and the focus."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from viz.components.kit.browser import Component, pack
from viz.components.kit.sync import News, show

LESSON = Component("lesson")


def keep_answers(
    answers: Mapping[str, Any], on_answers: Callable[[object], None], key: str = "answers"
) -> None:
    """Let the browser keep these for as long as its tab is open.

    answers: all of this session. on_answers: called before the script runs with the text, as JSON,
    of what was kept before this session began.
    """

    def tell(news: News) -> None:
        if "answers" in news:
            on_answers(news["answers"])

    show(LESSON, pack({"answers": answers}, np.zeros(0, np.uint8)), key, tell)
