"""Find plug-ins: every module of a package that declares a given constant, for one or several."""

import importlib
import pkgutil
from functools import cache
from typing import Any


@cache
def discover(package: str, constant: str, only: str = "") -> dict[str, Any]:
    """name -> declaration, for each module of `package` that has `constant`, sorted by name.

    The constant is one declaration, or a tuple of several.

    only: of the module of this name, which alone is imported.

    >>> {"decoder_only", "encoder_decoder"} <= set(discover("transformer.models", "FAMILY"))
    True
    >>> list(discover("transformer.models", "FAMILY", only="decoder_only"))
    ['decoder_only']
    """
    result: dict[str, Any] = {}
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if only not in ("", module.name):
            continue
        declared = getattr(importlib.import_module(f"{package}.{module.name}"), constant, None)
        if declared is not None:
            several = declared if isinstance(declared, tuple) else (declared,)
            result |= {each.name: each for each in several}
    return dict(sorted(result.items()))
