"""Read-only mappings that can be copied, and sent to other processes: Python pickles none.

It holds from when this is imported, as by `transformer`, for whatever holds such a mapping.
"""

import copyreg
from types import MappingProxyType
from typing import Any


def read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A view of a dict that nothing writes through; by this name it is opened elsewhere."""
    return MappingProxyType(values)


def _parts(mapping: MappingProxyType[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    return read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _parts)
