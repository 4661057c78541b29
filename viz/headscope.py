"""Headscope: see what every attention head of a Transformer attends to.

>>> from headscope import decode, from_module, head_view, load_checkpoint, record
"""

from viz import shell  # noqa: F401  --help ends here: what follows takes seconds

# isort: split
from typing import Any

import transformer
import viz
from transformer import *  # noqa: F403
from transformer.extras import missing

__all__ = [*transformer.__all__, *viz.__all__]
if missing("app"):
    __all__.remove("explore")


def __getattr__(name: str) -> Any:
    """Import what a notebook shows; only then, as it takes a second."""
    if name in viz.__all__:
        return getattr(viz, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
