"""Descent of what a module reads from what it gave before, where one runs several times in a pass.

A block that runs over what it gave is several layers; one that runs over something else has read
another text. The model runs once more for it, with every function of torch followed, and only where
it read none or several texts: with one, all runs are layers.
"""

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from transformer.watch.calls.seen import Seen
from transformer.watch.capture.as_written import as_written
from transformer.watch.capture.functions import Functions

Run = tuple[str, int]
"""A module's path, and the number of its run."""


class Descent:
    """Follows what modules give, while entered."""

    def __init__(self, model: nn.Module, paths: Iterable[str]) -> None:
        self.runs: dict[str, list[int]] = {path: [] for path in paths}
        """Path -> for each run, the latest run that gave what it read; -1: none did."""
        self._made_of: dict[int, tuple[weakref.ref[Tensor], frozenset[Run]]] = {}
        self._hooks = ExitStack()
        self._model, self._thread = model, threading.get_ident()  # others may run it, too

    def __enter__(self) -> "Descent":
        self._hooks.enter_context(as_written())
        for path in self.runs:
            module = self._model.get_submodule(path)
            before = module.register_forward_pre_hook(self._reads(path), with_kwargs=True)
            after = module.register_forward_hook(self._gives(path))
            self._hooks.callback(before.remove)
            self._hooks.callback(after.remove)
        self._hooks.enter_context(Functions(self._follow))
        return self

    def __exit__(self, *error: Any) -> None:
        self._hooks.close()

    def _follow(self, func: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        runs = self._runs_of([args, kwargs])
        if runs:
            self._put([args[0] if result is None else result], runs)  # what was written to
        return result

    def _runs_of(self, values: Any) -> frozenset[Run]:
        result: frozenset[Run] = frozenset()
        for tensor in _tensors(values):
            reference, runs = self._made_of.get(id(tensor), (None, frozenset()))
            if reference is not None and reference() is tensor:
                result |= runs
        return result

    def _put(self, values: Any, runs: frozenset[Run]) -> None:
        """Only numbers descend: ids that were chosen are a text of their own."""
        made_of = self._made_of
        for tensor in _tensors(values):
            if tensor.is_floating_point():
                for each in (tensor, tensor._base):
                    if each is not None:
                        made_of[id(each)] = (weakref.ref(each), self._runs_of([each]) | runs)

    def _reads(self, path: str) -> Callable[..., None]:
        def before(module: nn.Module, args: Any, kwargs: Mapping[str, Any]) -> None:
            if threading.get_ident() != self._thread:
                return
            direct = [it for it in (*args, *kwargs.values()) if isinstance(it, Tensor)]
            numbers = [number for own, number in self._runs_of(direct) if own == path]
            self.runs[path].append(max(numbers, default=-1))

        return before

    def _gives(self, path: str) -> Callable[..., None]:
        def after(module: nn.Module, args: Any, output: Any) -> None:
            if threading.get_ident() == self._thread:
                self._put([output], frozenset({(path, len(self.runs[path]) - 1)}))

        return after


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def settle(model: nn.Module, seen: Sequence[Seen], run: Callable[[Descent], object]) -> None:
    """Note in the calls of a pass which text each has read, where that takes another pass.

    run: runs the model over the same once more while that is entered.
    """
    paths = repeated(seen)
    if paths:
        descent = Descent(model, paths)
        run(descent)
        tell_apart(seen, descent.runs)


def repeated(seen: Sequence[Seen]) -> list[str]:
    """List modules that ran several times in one reading, with no or several texts read by then.

    A decoder may have the matrices of its encoder: that it is causal tells them apart. Two
    sequences that read each other by one module are told apart by their roles.
    """
    runs: dict[tuple[str, tuple[int, ...], bool], set[int]] = defaultdict(set)
    doubtful = set()
    for call in seen:
        if call.reads_another:
            continue
        runs[call.place.path, call.place.reading, call.is_causal].add(call.place.run)
        if call.trace is not None and call.trace.text != 1:
            doubtful.add(call.place.path)
    paths = (path for (path, *_), each in runs.items() if path in doubtful and len(each) > 1)
    return list(dict.fromkeys(paths))


def tell_apart(seen: Sequence[Seen], runs: Mapping[str, Sequence[int]]) -> None:
    """Note in calls which text their modules had read, by what their runs descend from."""
    for path, parents in runs.items():
        calls = [call for call in seen if call.place.path == path]
        numbers = sorted({call.place.run for call in calls})
        if len(numbers) != len(parents):  # it also runs without attention
            continue
        texts: list[int] = []
        for parent in parents:
            texts.append(max(texts, default=-1) + 1 if parent < 0 else texts[parent])
        wholes = {id(it.whole): it.whole for it in calls if it.whole is not None}
        for call in (*calls, *wholes.values()):
            text = texts[numbers.index(call.place.run)]
            call.place = replace(call.place, reading=(*call.place.reading, text))
            if call.trace is not None:
                call.trace = call.trace._replace(text=text)
