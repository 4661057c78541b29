"""Descent of calls: which earlier calls, and which inputs, queries and values were computed from.

Paths say this of usual models: the layers of a stack run one after the other, over one text. Where
they do not (several models in one, a module that runs several times, all in one forward), the model
runs once more, with every function of torch followed.
"""

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.watch.calls.seen import Lineage, Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.sources import Made

NOTHING: frozenset[int] = frozenset()
_Made = frozenset[int]
"""Numbers of calls, and of the model's inputs below 0."""
_SHAPES = frozenset(
    getattr(space, name)
    for space in (torch, Tensor)
    for kind in ("zeros", "ones", "empty", "full", "rand", "randn")
    for name in (f"{kind}_like", f"new_{kind}")
    if hasattr(space, name)
)
"""Functions whose result has nothing but the shape of what they are given."""
_LOOKUPS = frozenset(
    {
        *(F.embedding, F.embedding_bag, torch.embedding, Tensor.__getitem__, torch.gather),
        *(Tensor.gather, torch.index_select, Tensor.index_select, Tensor.take, torch.take),
    }
)
"""Functions that make numbers of ids."""


class Descent(Watcher):
    """Follows what calls and tensors are made of, while entered."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model, is_kept=False)
        self.lineages: dict[int, Lineage] = {}
        """Number of a call -> what it was made of; some lack where torch does not tell."""
        self._made_of: dict[int, tuple[weakref.ref[Tensor], _Made]] = {}
        self._model, self._thread = model, threading.get_ident()  # others may run it, too

    def __enter__(self) -> "Descent":
        super().__enter__()
        self._watch_functions()
        hook = self._model.register_forward_pre_hook(self._number_inputs, with_kwargs=True)
        self._entered.callback(hook.remove)
        return self

    def _number_inputs(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        """All but masks of bools."""
        if threading.get_ident() == self._thread and not self._made_of:
            for i, each in enumerate(_tensors([args, kwargs])):
                if each.dtype != torch.bool:
                    number = -1 - 2 * i - int(_is_number(each))
                    self._made_of[id(each)] = weakref.ref(each), frozenset({number})

    def function(self, func: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        n = len(self.seen)
        result = super().function(func, args, kwargs)
        if len(self.seen) > n:
            self._called(range(n, len(self.seen)), list(_tensors([args, kwargs])), result)
        elif func not in _SHAPES:
            numbers, ids = _parted([args, kwargs])
            of_ids = self._of(ids)
            # Ids that are counted with are a mask: it is a text's, and no text.
            made = self._of(numbers) | (of_ids if func in _LOOKUPS else NOTHING)
            self._put([args[0] if result is None else result], made, of_ids)  # what was written to
        return result

    def _called(self, numbers: Iterable[int], operands: Sequence[Tensor], result: Any) -> None:
        """An attention was called. operands: weights and values, or queries, keys and values."""
        made = [self._of([each]) for each in operands]
        # Weights are made of whatever their keys are made of, so values are the smaller of both.
        values = made[2] if len(made) > 2 else min(made, key=len, default=NOTHING)
        every = NOTHING.union(*made[:3])
        for number in numbers:
            self.lineages[number] = Lineage(number, every, values)
        # A mask is no text: of inputs, what comes out has those of the values alone.
        calls = frozenset(each for each in every if each >= 0) | frozenset(numbers)
        self._put([result], calls | values, NOTHING)

    def _of(self, values: Any) -> _Made:
        result = NOTHING
        for tensor in _tensors(values):
            reference, made = self._made_of.get(id(tensor), (None, NOTHING))
            if reference is not None and reference() is tensor:
                result |= made
        return result

    def _put(self, values: Any, made: _Made, of_ids: _Made) -> None:
        """Numbers descend, and ids from ids: ids that were chosen are a text of their own."""
        made_of = self._made_of
        for tensor in _tensors(values):
            own = made if _is_number(tensor) else of_ids
            if own and tensor.dtype != torch.bool:
                for each in (tensor, tensor._base):
                    if each is not None:
                        made_of[id(each)] = weakref.ref(each), self._of([each]) | own


def are_ids(number: int) -> bool:
    """Tell whether the number is that of an input of ids."""
    return number < 0 and number % 2 == 1


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def _parted(values: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Tensors of numbers, and those of ids."""
    tensors = list(_tensors(values))
    numbers = [each for each in tensors if _is_number(each)]
    return numbers, [each for each in tensors if not _is_number(each)]


def _is_number(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def descend(seen: Sequence[Seen], descent: Descent) -> None:
    """Note in the calls of a pass what each was made of, as another one has shown, and its text."""
    pairs = zip(seen, descent.seen, strict=False)
    is_same = len(seen) == len(descent.seen) == len(descent.lineages) and all(
        (one.place.path, one.sizes) == (other.place.path, other.sizes) for one, other in pairs
    )
    # What descends from nothing went through something that is not followed.
    if is_same and all(each.made for each in descent.lineages.values()):
        for i, call in enumerate(seen):
            call.lineage = descent.lineages[i]
        for whole in {id(it.whole): it.whole for it in seen if it.whole is not None}.values():
            parts = [it.lineage for it in whole.parts if it.lineage is not None]
            made, values = ((getattr(it, name) for it in parts) for name in ("made", "values"))
            whole.lineage = Lineage(parts[-1].number, NOTHING.union(*made), NOTHING.union(*values))
        _tell_sequences_apart(seen)
        _tell_texts_apart(seen)


def _tell_sequences_apart(seen: Sequence[Seen]) -> None:
    """Note which calls read another sequence, where what their matrices read did not say so.

    Their queries are made of inputs that their values are not made of, or of a call that ran beside
    one that these are made of.
    """
    lineages = {it.lineage.number: it.lineage for it in seen if it.lineage is not None}
    texts = NOTHING.union(*(each.values for each in lineages.values()))
    for call in (*seen, *{id(it.whole): it.whole for it in seen if it.whole is not None}.values()):
        if call.lineage is None or call.is_followed:
            continue
        others = call.lineage.made - call.lineage.values
        calls = [lineages[it] for it in others if it >= 0]
        of_values = [lineages[it] for it in call.lineage.values if it >= 0]
        if any(it < 0 and it in texts for it in others) or any(
            one.number not in other.made and other.number not in one.made
            for one in calls
            for other in of_values
        ):
            call.source = Made(True, call.source.matrix)


def _tell_texts_apart(seen: Sequence[Seen]) -> None:
    """Number the texts that a module has read in runs of which none is made of the other.

    A decoder may have the matrices of its encoder: that it is causal tells them apart. Two
    sequences that read each other by one module are told apart by their roles.
    """
    runs: dict[tuple[object, ...], dict[int, list[Seen]]] = defaultdict(lambda: defaultdict(list))
    for call in seen:
        for each in {id(it): it for it in (call, call.whole or call)}.values():
            if not each.reads_another:
                place = each.place
                runs[place.path, place.reading, call.is_causal][place.run].append(each)
    for of_runs in runs.values():
        if len(of_runs) > 1:
            firsts = [calls[0] for calls in of_runs.values()]
            for text, chain in enumerate(chains(firsts)):
                for call in (call for first in chain for call in of_runs[first.place.run]):
                    place = call.place
                    call.place = replace(place, reading=(*place.reading, text))
                    if call.trace is not None:
                        call.trace = call.trace._replace(text=text)


def chains(calls: Sequence[Seen]) -> list[list[Seen]]:
    """Part calls into stacks: each is made of what the one before it in its stack gave.

    Where several fit, it is the one with the nearest module; of these the shortest, as pairs of
    layers run side by side. One stack where it is not known what calls were made of.
    """
    result: list[list[Seen]] = []
    ends: list[int] = []
    for call in calls:
        if call.lineage is None:
            return [list(calls)]
        fitting = [i for i, end in enumerate(ends) if end in call.lineage.made]
        if not fitting:
            fitting = [len(result)]
            result.append([])
            ends.append(-1)
        near = max(fitting, key=lambda i: (_n_shared(result[i], call), -len(result[i])))
        result[near].append(call)
        ends[near] = call.lineage.number
    return result


def _n_shared(stack: Sequence[Seen], call: Seen) -> int:
    """Count the parts of a path that are the same as in that of a stack's last call."""
    last = stack[-1].place.path if stack else ""
    return sum(a == b for a, b in zip(last.split("."), call.place.path.split("."), strict=False))
