"""The tensors of a model with its adapter applied, for inspecting: each is computed when read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from transformer.files.tensor_files import Later
from transformer.files.tensors import Stored, TensorSource, Unread
from transformer.hugging_face.adapters.adapter import Adapter
from transformer.hugging_face.opening import Examined


class AdaptedTensors:
    """The tensors of a base, some of which an adapter changes."""

    def __init__(
        self,
        source: TensorSource,
        adapter: Adapter,
        model: Any,
        names: Mapping[str, str],
        changed: Mapping[str, str],
    ) -> None:
        """names: name -> the base's. changed: name -> the model's, of those with other values."""
        self._source, self._adapter, self._model = source, adapter, model
        self._names, self._changed, self.faults = names, changed, source.faults
        stored = {name: replace(source.stored[was], name=name) for name, was in names.items()}
        computed = {name: replace(stored[name], dtype="F32") for name in changed}
        self.stored: Mapping[str, Stored] = {**stored, **computed}

    def read(self, *names: str) -> Iterator[Tensor]:
        """See TensorSource."""
        values = self._source.read(*(self._names[name] for name in names))
        for name, each in zip(names, values, strict=True):
            place = self._changed.get(name)
            yield each if place is None else self._adapter.value(place, self._model, each)

    def _value(self, name: str) -> Tensor:
        return next(self.read(name))

    @contextmanager
    def unread(self) -> Iterator[Mapping[str, Unread]]:
        """See TensorSource."""
        yield {name: Later(partial(self._value, name)) for name in self._names}


def with_adapter(examined: Examined, adapter: Adapter) -> Examined:
    """The tensors as the adapter leaves them: what it changes alone is not tied any more."""
    skeleton, fit = examined.skeleton, examined.skeleton.fit
    changed, users = set(adapter.changed), skeleton.users
    stored_as: dict[str, str] = {}
    names: dict[str, str] = {}
    for was in fit.order:
        several = users.get(was, [])
        own = [name for name in several if name in changed] if len(several) > 1 else []
        others = [name for name in several if name not in own]
        shared = others[0] if was in own and others else was
        stored_as |= {**dict.fromkeys(others, shared), **{name: name for name in own}}
        names |= dict.fromkeys([shared, *own] if others or not several else own, was)
    values = {stored_as[name]: name for name in adapter.changed if name in stored_as}
    tied = {a: b for a, b in fit.tied.items() if not {a, b} & values.keys()}
    fit = replace(fit, order=list(names), tied=tied)
    return replace(
        examined,
        source=AdaptedTensors(examined.source, adapter, skeleton.model, names, values),
        skeleton=replace(skeleton, fit=fit, stored_as=stored_as),
    )
