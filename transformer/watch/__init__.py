"""Seeing the attention of any torch module while it runs, without a line for its class.

`capture` stands in the way of torch's functions for one thread and one pass, `calls` knows what an
attention looks like there, `kinds` which attention it is, `editing` changes it on its way, and
`module.record_module` makes a Recording of it all.
"""

from transformer.watch.calls.watcher import Watcher
from transformer.watch.kinds.schemes import position_schemes
from transformer.watch.module import record_module

__all__ = ["Watcher", "position_schemes", "record_module"]
