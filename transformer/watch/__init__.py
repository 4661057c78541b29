"""Seeing the attention of any torch module while it runs, without a line for its class.

`watcher.Watcher` stands in the way of torch's functions for one thread and one pass; `fused` and
`by_hand` know what an attention looks like there, `place` where in the model it was called,
`kinds` which attention it is, and `module.record_module` makes a Recording of it all.
"""

from transformer.watch.module import record_module
from transformer.watch.schemes import position_schemes
from transformer.watch.watcher import Watcher

__all__ = ["Watcher", "position_schemes", "record_module"]
