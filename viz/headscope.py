"""Headscope: see what every attention head of a Transformer attends to.

>>> from headscope import decode, from_module, head_view, load_checkpoint, record
"""

from viz import shell  # noqa: F401  --help ends here: what follows takes seconds

# isort: split
from typing import TYPE_CHECKING, Any

import transformer
import viz
from transformer import *  # noqa: F403

if TYPE_CHECKING:
    from viz import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Import what a notebook shows; only then, as it takes a second."""
        if name in viz.__all__:
            return getattr(viz, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [*transformer.__all__, *viz.__all__]
__version__ = transformer.__version__


def __dir__() -> list[str]:
    """Every name, so that it is completed before it is imported."""
    return sorted({*globals(), *__all__})
