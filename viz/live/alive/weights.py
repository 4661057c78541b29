"""The parts of a page whose reader types: code, one model, and the sentences around a field."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformer import Checkpoint
from viz.components.kit.browser import bundle
from viz.export import inline
from viz.live.models import POLICY, SAYS, models_of, worker_script

_ENTRY = Path(__file__).with_name("typing.js")
WORDS = {
    **SAYS,
    "still": "Type another sentence: {model} answers in this browser.",
    "coming": "{model} comes ({of} MB). Until it answers, what was recorded stays.",
    "failed": "{fault}. What was recorded stays.",
    "no_worker": "This browser runs no worker, and so no model: what is shown was recorded",
}
"""The sentences around a field."""


@dataclass(frozen=True, eq=False)
class Weights:
    """The model that answers in a page, and where its files are."""

    model: Mapping[str, Any]
    """All that the page knows of it: one of what `models_of` gives."""
    elements: Mapping[str, str] = field(default_factory=dict)
    """Its files in base64, by the names of elements; empty: the page asks its host for them."""
    base: str = ""
    """The way from the page to the folder that its files are named from, as `../`."""

    @property
    def policy(self) -> str:
        """The page's Content-Security-Policy."""
        return POLICY if self.elements else f"{POLICY}; connect-src 'self'"

    def html(self) -> str:
        """The elements with all of it, which `entry` reads."""
        site = {
            "models": [self.model],
            "words": WORDS,
            "base": self.base,
        }
        files = (
            f'<script type="application/octet-stream" id="{name}">{text}</script>\n'
            for name, text in self.elements.items()
        )
        text = json.dumps(site, ensure_ascii=False).replace("<", "\\u003c")
        return f'<script type="application/json" id="engine">{text}</script>\n{"".join(files)}'

    @staticmethod
    def entry() -> str:
        """Code: a function of the node that says who answers, to what `typing.js` returns."""
        site = 'JSON.parse(document.querySelector("#engine").textContent)'
        start = f"({bundle(_ENTRY).script})({site}, {json.dumps(worker_script())}, line)"
        return inline(f"((line) => {start})")


@lru_cache(maxsize=1)  # as large as its files; a notebook's pictures are of one, opened once
def weights_within(checkpoint: Checkpoint) -> Weights:
    """Return a checkpoint for a page that holds all of it. Raises SiteError."""
    (model,), _, elements = models_of([checkpoint], one_file=True)
    return Weights(model, elements)
