"""A search that has the model to itself."""

from collections.abc import Callable

from torch import Tensor

from transformer.decoding.method import Hypothesis, Model, Search
from transformer.inputs import InputError

OnStep = Callable[[], object]


def alone(
    model: Model, search: Search, source: Tensor, on_step: OnStep | None = None
) -> list[Hypothesis]:
    """Run it to its end. source: [1, S]; on_step: called before each step."""
    state, logits = model.start(source), None
    while True:
        try:
            ask = next(search) if logits is None else search.send(logits)
        except StopIteration as end:
            hypotheses: list[Hypothesis] = end.value
            return hypotheses
        if on_step is not None:
            on_step()
        if ask.parents is not None:
            state.reorder(ask.parents)
        try:
            logits = model.advance(state, ask.tokens)
        except InputError as error:
            return _ended(search, error)


def _ended(search: Search, error: InputError) -> list[Hypothesis]:
    """Return what it has where the model cannot go on. Raises the error where it has nothing."""
    try:
        search.throw(error)
    except StopIteration as end:
        hypotheses: list[Hypothesis] = end.value
        return hypotheses
    raise error
