"""One call of attention, as a watcher noted it down, and its tensors without the batch axis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from transformer.inputs import InputError
from transformer.recording import AttentionCall, Sample
from transformer.recording.calls import Trace
from transformer.watch.capture.homes import Homes
from transformer.watch.capture.place import Place
from transformer.watch.capture.sources import UNKNOWN, Made
from transformer.watch.capture.turns import Ends


class Lineage(NamedTuple):
    """Origins of a call in its pass: numbers of earlier calls; of the model's inputs below 0."""

    number: int
    """Its place among the calls of the pass."""
    made: frozenset[int]
    """The origins of its queries, keys and values."""
    values: frozenset[int]
    """The origins of its values alone."""


@dataclass(eq=False)
class Seen:
    """One call, in the order of calling."""

    place: Place
    sizes: tuple[int, int, int]
    """H, Q and K."""
    make: Callable[[], AttentionCall]
    """The call as a recording keeps it: nothing is computed before it is asked."""
    is_causal: bool
    """True: no query may attend to a later key, and some would be later."""
    says_another: bool | None = None
    """True: arguments say that the keys come from another sequence; None where none does."""
    is_folded: bool = False
    """True: its heads may as well be a batch: one axis in front of [Q, d]."""
    is_softmax: bool = False
    """True: it is the softmax of the call before, whose values met something else."""
    goes_on: bool = False
    """True: it belongs to the layer of the call before."""
    is_block: bool = False
    """True: its queries are known to be a part of a sequence."""
    is_picked: bool = False
    """True: its queries or keys were picked out of a sequence."""
    is_random: bool = False
    """True: dropout took part where nothing shows it."""
    sample: Sample | None = None
    """Its output, at some queries."""
    trace: Trace | None = None
    """Its place in the pass, and what was read for it."""
    projection: Tensor | None = None
    """W_O [D, H * d_value], found where the joined heads met a matrix."""
    several: str = ""
    """The reason why W_O is not one matrix, in a clause; empty where it is or none was met."""
    parts: "tuple[Seen, ...]" = ()
    """The calls that its heads were, where they were several."""
    added: tuple[str, ...] = ()
    """Names of keys that its module is known to add after those of the sequence."""
    source: Made = UNKNOWN
    """The origin of its queries and keys, as the pass has shown."""
    is_of_products: bool = True
    """False: its scores do not show what its keys are made of, as those of additive attention."""
    softmax: object = None
    """The one of the watcher's softmaxes that made its weights, of attention by hand."""
    order: tuple[int, ...] | None = None
    """The way the axes of that were put in order; None: they came so."""
    homes: Homes | None = None
    """The positions that its rows and columns are of; None: nobody asked."""
    whole: "Seen | None" = None
    """The call of all heads, of which it was a part."""
    lineage: Lineage | None = None
    """Its origins, where paths leave open what it was made of; None: it is not known."""

    ends: Ends | None = None
    """The rows that its queries and keys were made of, until somebody has asked how they turn; None
    where nothing can turn them: torch has made them itself, or they meet in no product."""

    has_others: bool = False
    """True: products with something else than the keys of the text are in its scores."""

    @property
    def is_followed(self) -> bool:
        """Tell whether the pass has shown what its keys are made of."""
        return self.source.reads_another is not None

    @property
    def reads_another(self) -> bool | None:
        """Tell whether the keys come from another sequence; None where nothing tells."""
        return self.source.reads_another if self.is_followed else self.says_another


def one_of_batch(tensor: Tensor, path: str = "") -> Tensor:
    """[1, H, T, d], [H, T, d] or [T, d] -> [H, T, d]; axes between 1 and T all count as heads.

    Raises InputError for a batch of more than one.
    """
    n_axes = tensor.dim()
    if n_axes < 4:
        return tensor if n_axes == 3 else tensor[None]
    if tensor.size(0) != 1:
        raise InputError(
            f"The attention in {path or 'this module'} reads {tensor.size(0)} sequences at once: "
            "record one sequence at a time, as a batch of one."
        )
    return tensor[0] if n_axes == 4 else tensor[0].flatten(0, -3)


def later_keys_are_closed(mask: Tensor | None, n_queries: int, n_keys: int) -> bool:
    """Tell whether a mask [1 or H, 1 or Q, K], True = open, is causal; queries are the last keys.

    Last keys that are open to every query are nobody's later ones: a module has added them.
    """
    if mask is None or n_queries < 2 or n_keys < n_queries:
        return False
    is_open = mask.any(0)
    if bool((is_open == is_open[:1]).all()):  # padding
        return False
    while n_keys > n_queries and bool(is_open[:, n_keys - 1].all()):
        n_keys -= 1
    is_open = is_open[:, :n_keys]
    return not bool(is_open.triu(n_keys - n_queries + 1).any())
