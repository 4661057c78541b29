"""Following every number of a pass to its home, while torch's operators run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from transformer.watch.capture.homes import (
    LABELS,
    MIXED,
    NONE,
    PATCHES,
    TEXT,
    UNKNOWN,
    Homes,
    along,
    axes_of,
    chosen,
    is_soft_order,
    is_sound,
    text_of,
    texts_in,
    together,
)
from transformer.watch.capture.tensors import tensors_in

# The rules of operators: labels of arguments -> labels of the result.

aten = torch.ops.aten
_MOVING: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            *("clone", "cat", "stack", "index", "index_select", "gather", "flip", "roll", "repeat"),
            *("take", "masked_select", "constant_pad_nd", "lift_fresh_copy", "diag_embed"),
            *("reflection_pad1d", "replication_pad1d", "pixel_shuffle", "channel_shuffle"),
            *("tril", "triu", "tril_", "triu_", "_to_copy", "unfold_copy", "slice_copy"),
        ),
        (0,),
    ),
    **dict.fromkeys(("slice_scatter", "select_scatter", "diagonal_scatter"), (0, 1)),
    **dict.fromkeys(("index_put", "masked_scatter", "put"), (0, 2)),
    **dict.fromkeys(("scatter", "index_copy"), (0, 3)),
    **dict.fromkeys(("copy", "copy_", "_copy_from"), (1,)),
}
"""Operators that put numbers elsewhere -> the arguments whose numbers these are: the same is done
with their labels."""
_KEEPING = {"tril", "triu", "tril_", "triu_", "_to_copy", "copy", "copy_", "_copy_from"}
"""Operators of these after which a number stands where it stood."""
_NORMS = ("native_layer_norm", "_fused_rms_norm", "native_group_norm")
_ALONG = ("_softmax", "_log_softmax", "_safe_softmax", "cumsum", "cumprod", "logcumsumexp")
"""Operators after which each number has read all others along an axis."""
_FIRST = (
    "native_dropout",
    "native_batch_norm",
    "_native_batch_norm_legit_no_training",
    "bernoulli",
)
"""Operators that change each number of their first argument."""
_TEXTLESS = frozenset(
    {
        *("zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "zero_"),
        *("new_empty", "new_full", "new_empty_strided", "rand_like", "randn_like", "fill_"),
        *("_local_scalar_dense", "argsort", "argmax", "argmin", "nonzero", "multinomial"),
    }
)
"""Operators whose result is made of no text, whatever they are given."""
_REDUCING = (
    *("all", "amax", "amin", "aminmax", "any", "count_nonzero", "linalg_vector_norm", "logsumexp"),
    *("max", "mean", "min", "nansum", "norm", "prod", "std", "std_mean", "sum", "var", "var_mean"),
)
"""By name: the tag `reduction` is younger than torch 2.7."""
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "mv", "addmv")


class Followed(TorchDispatchMode):
    """Follows the homes of all numbers of a pass, while entered."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing compiles in a watched pass; torch would import its compiler, for a second."""
        return False

    def __init__(self, inputs: Iterable[object], *, are_texts: bool = False) -> None:
        """inputs: of the model. are_texts: whether each of them is known to be one."""
        super().__init__()  # type: ignore[no-untyped-call]
        self._labels: dict[int, tuple[Tensor, int]] = {}
        """The place of a storage -> its labels, one a number of it, and the bytes of such a one."""
        self.lengths: dict[int, int] = {}
        """Text -> the number of its positions; those of patches and frames are from PATCHES on."""
        self._same: dict[int, int] = {}
        """A text -> another whose positions its own have met before any attention, one by one, as
        ids and their types do: they are one."""
        self.is_open = True
        """True: no attention was called yet."""
        self._pictures = list(tensors_in(inputs))
        """Inputs: what a convolution makes of one is a text of patches, or of frames."""
        for tensor in self._pictures:
            is_picture = tensor.is_floating_point() and (tensor.dim() > 3 or is_sound(tensor))
            if is_picture and tensor.numel() and tensor.layout == torch.strided:
                self._put(tensor, self._new_text(tensor.numel(), PATCHES))
        self._raw = frozenset(self.lengths)
        """The texts of pictures and sounds as they are given: all numbers of one have one label."""
        texts = ((it, it.dim() - 1) for it in self._pictures) if are_texts else texts_in(inputs)
        for tensor, axis in texts:
            shape = [-1 if i == axis else 1 for i in range(tensor.dim())]
            places = torch.arange(tensor.size(axis), dtype=LABELS, device=tensor.device)
            self._put(tensor, self._new_text(len(places)) + places.view(shape))

    def _new_text(self, n: int, first: int = 0) -> int:
        """Give the label of the first position of a new text, whose number is at least this."""
        text = max((it + 1 for it in self.lengths if it >= first), default=first)
        self.lengths[text] = n
        return text * TEXT

    def forget(self) -> None:
        """The pass is over."""
        self._labels.clear()
        self._pictures.clear()

    def rows(self, tensor: Tensor, axis: int = -2) -> Tensor:
        """Give the homes of a tensor's rows along an axis, a label each [T], on the CPU."""
        labels = self._of(tensor)
        axis %= tensor.dim()
        with torch._C._DisableTorchDispatch():  # what is asked here is no part of the pass
            if labels is None:
                return torch.full((tensor.size(axis),), NONE, dtype=LABELS)
            return along(labels, [i for i in range(tensor.dim()) if i != axis]).cpu()

    def of_product(self, operands: Sequence[Any], scores: Tensor) -> Homes | None:
        """Give the homes of queries and keys that a product makes scores of; None: unclear axes.

        operands: (equation, q, k) of an einsum, or (q, k). The scores have the homes of queries.
        """
        q, k = [*tensors_in(operands)][-2:]
        axes: tuple[int, int, int] | None = (-2, -1, -2)
        if isinstance(operands[0], str):
            axes = axes_of(operands[0])
            if axes is None:
                turned = axes_of(operands[0], is_turned=True)
                q, k, axes = k, q, turned
        if axes is None or min(q.dim(), k.dim()) < 2:
            return None
        of_q, of_k, rows = axes
        if (q.size(of_q), k.size(of_k)) != (scores.size(rows), scores.size(-1)):
            return None
        homes = Homes(self.rows(q, of_q), self.rows(k, of_k))
        if q is not [*tensors_in(operands)][-2]:  # else they are those of the first already
            self.give_rows(scores, homes.queries, rows)
        return homes

    def has_text(self, tensor: Tensor) -> bool:
        """Tell whether some number of it is of a text."""
        labels = self._of(tensor)
        with torch._C._DisableTorchDispatch():
            return labels is not None and bool((labels >= 0).any())

    def of_readings(self, tensors: Iterable[Tensor], n: int, keys: Tensor) -> Tensor | None:
        """Find the homes of n queries among what learned matrices have read; None: unclear.

        keys: labels of the keys, which queries are only where nothing else was read.
        """
        rows = [self.rows(each) for each in tensors if each.dim() > 1 and each.size(-2) == n]
        clear = {tuple(each.tolist()) for each in rows if bool((each >= 0).all())}
        others = clear - {tuple(keys.tolist())}
        chosen = others or clear
        return torch.tensor(list(chosen.pop()), dtype=LABELS) if len(chosen) == 1 else None

    def give_rows(self, result: Tensor, labels: Tensor, axis: int = -2) -> None:
        """Say that rows of a result have these homes [T]: those of the queries that asked."""
        axis %= result.dim()
        if result.size(axis) == len(labels):
            shape = [-1 if i == axis else 1 for i in range(result.dim())]
            with torch._C._DisableTorchDispatch():
                self._put(result, labels.to(result.device).view(shape))

    def united(self, homes: Homes) -> Homes:
        """The same with texts that turned out to be one named as one."""
        return Homes(*map(self._united, homes))

    def _united(self, labels: Tensor) -> Tensor:
        for text, other in self._same.items():
            is_text = (labels >= 0) & (labels // TEXT == text)
            labels = torch.where(is_text, labels + (other - text) * TEXT, labels)
        return labels

    def _joined(self, a: Tensor, b: Tensor) -> Tensor:
        """Join labels of numbers that meet each other, and note which texts are one."""
        if not self.is_open:
            return together(a, b)
        both = (a >= 0) & (b >= 0)
        is_same = a % TEXT == b % TEXT
        differs = both & (a != b)
        if bool(differs.any()) and not bool((both & ~is_same).any()):
            places = (a.expand(both.shape)[differs] % TEXT).unique()
            if len(places) < 2:  # one row may meet another anywhere
                return together(a, b)
            pairs = torch.stack([it.expand(both.shape)[both] // TEXT for it in (a, b)]).sort(0)
            for first, second in pairs.values.unique(dim=1).mT.tolist():
                if first != second:
                    self._same[second] = self._same.get(first, first)
        return together(a, b)

    def keep_rows(self, result: Tensor, tensor: Tensor) -> None:
        """Say that each row of a result has the home of a tensor's row: [..., n] of [..., m]."""
        labels = self._of(tensor)
        if labels is not None and tensor.shape[:-1] == result.shape[:-1]:
            with torch._C._DisableTorchDispatch():
                self._put(result, along(labels, [tensor.dim() - 1], keep=True))

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):  # flex attention, and others of its kind
            result = func(*args, **named)
            self._label(
                result,
                [self._by_rows(args[0]) if func.name() == "flex_attention" else UNKNOWN, NONE],
            )
            return result
        is_plain = torch.Tag.pointwise in func.tags
        if not is_plain and func._can_decompose():  # in inference mode nothing has done so before
            with self:
                result = func.decompose(*args, **named)
            if result is not NotImplemented:
                return result
        result = func(*args, **named)
        if not func.is_view or func is aten.lift_fresh.default:  # what that gives is new
            self._follow(func, args, named, result)
        return result

    def _follow(
        self, func: Any, args: Sequence[Any], named: Mapping[str, Any], result: Any
    ) -> None:
        """Label what an operator has made."""
        results = _results(result)
        name = func.overloadpacket.__name__
        operands = [it for it in tensors_in((*args, *named.values())) if it.layout == torch.strided]
        has_text = any(_storage(each) in self._labels for each in operands)
        if not func._schema.is_mutable:
            held = {_storage(each) for each in operands}
            is_new = func is aten.lift_fresh.default
            results = [it for it in results if is_new or _storage(it) not in held]  # else a view
            for each in results:  # it may lie in the place of one that is no more
                self._labels.pop(_storage(each), None)
        if not has_text and name != "convolution":
            return
        try:
            self._label(results, self._labels_of(func, args, named, results))
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            self._label(results, [UNKNOWN])  # arguments that the rule does not know

    def _label(self, results: Any, labels: Sequence[Tensor | int]) -> None:
        """Put labels to each of several results, the last to all that follow."""
        for i, each in enumerate(_results(results)):
            self._put(each, NONE if each.dtype == torch.bool else labels[min(i, len(labels) - 1)])

    def _by_rows(self, tensor: Tensor) -> Tensor:
        """Join labels along the last axis [..., 1]."""
        return along(self._all(tensor), [tensor.dim() - 1], keep=True)

    def _labels_of(
        self, func: Any, args: Sequence[Any], named: Mapping[str, Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | int]:
        """Find labels of each result, the last for all that follow; an integer is for all numbers.

        What an operator that is not known has made is UNKNOWN, so that nothing is said of it.
        """
        name: str = func.overloadpacket.__name__
        if not results or name in _TEXTLESS:
            return [NONE]
        first = results[0]
        if name.removesuffix("_") in _MOVING or name in _MOVING:
            return [self._moved(name, func, args, named)]
        if name in _PRODUCTS:
            return [self._product(args)]
        if name.startswith("_scaled_dot_product"):
            return [self._by_rows(args[0]), NONE]
        if name == "embedding":
            return [self._looked_up(*args[:2])]
        if name == "convolution":
            return [self._convolved(args, first)]
        if name == "im2col":  # of floats alone; what it pads with is 0
            return [(aten.im2col(self._all(args[0]).double() - NONE, *args[1:]) + NONE).to(LABELS)]
        if name in ("sort", "topk"):
            axis = named.get(
                "dim", args[-1] if name == "sort" and len(args) > 1 else (*args, -1, -1)[2]
            )
            return [self._all(args[0]).gather(axis, results[1]), NONE]
        if name == "_pack_padded_sequence":
            return [self._all(args[0]).reshape(first.shape), NONE]
        if name in _FIRST:
            return [self._all(args[0]), NONE]
        if name == "glu":
            return [together(*self._all(args[0]).chunk(2, (*args, -1)[1]))]
        if torch.Tag.pointwise in func.tags:
            return [self._pointwise(args, named)]
        if name in _ALONG:
            labels = self._all(args[0])
            return [along(labels, [args[1] % labels.dim()], keep=True)]
        if name in _NORMS:
            labels = self._all(args[0])
            n = labels.dim() - 1 if name == "native_group_norm" else len(args[1])
            axes = range(labels.dim() - n, labels.dim())
            return [together(labels, along(labels, axes, keep=True)), NONE]
        if name in _REDUCING:
            return [self._reduced(args, first), NONE]
        return [UNKNOWN]

    def _moved(self, name: str, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Tensor:
        """Do with labels what was done with numbers; indices and masks stay what they are."""
        plain = name if name in _MOVING else name.removesuffix("_")
        own = _MOVING[plain]
        if plain in _KEEPING:
            return self._all(args[own[0]])
        if plain == "scatter" and not isinstance(args[3], Tensor):  # one-hot
            of_index = along(self._all(args[2]), [args[1] % args[2].dim()], keep=True)
            return together(self._all(args[0]), of_index)
        changed = list(args)
        for i in own:
            is_one = isinstance(args[i], Tensor)
            changed[i] = self._all(args[i]) if is_one else [self._all(each) for each in args[i]]
        if plain == "constant_pad_nd":
            changed[2:] = [NONE]
        operator = getattr(getattr(aten, plain), func._overloadname)
        result: Tensor = operator(*changed)
        of_ids = self._of_indices(plain, args, result)
        return result if of_ids is None else torch.where(result >= 0, result, of_ids)

    def _of_indices(self, name: str, args: Sequence[Any], result: Tensor) -> Tensor | None:
        """Labels that rows of a plain table have by the ids that took them; None: none have."""
        if name in ("gather", "take"):
            return self._of(args[-1])
        if name == "index_select":
            axis, labels = args[1] % result.dim(), self._of(args[2])
        elif name == "index":
            there = [(i, each) for i, each in enumerate(args[1]) if each is not None]
            axis, labels = there[0][0], self._of(there[0][1]) if len(there) == 1 else None
        else:
            return None
        if labels is None:
            return None
        n_after = result.dim() - axis - labels.dim()
        return labels[(...,) + (None,) * n_after].expand_as(result)

    def _product(self, args: Sequence[Any]) -> Tensor:
        """Join along the axis that is summed; rows of the first operand are rows of the result.

        So scores are those of their query, and so is what values give it.
        """
        *added, a, b = args
        of_a, of_b = self._of(a), self._of(b)
        is_vector = b.dim() == 1
        rows = None if of_a is None else along(of_a, [a.dim() - 1], keep=True)  # [..., n, 1]
        if rows is not None and of_b is not None and is_soft_order(a):
            rows = torch.full_like(rows, MIXED)
        if rows is not None and of_a is not None and self._is_cut(of_a, rows):
            rows = self._patches(rows.numel(), rows.shape[:-1]).view(rows.shape)  # cut out of it
        columns = None
        if of_b is not None:
            columns = along(of_b, [b.dim() - (1 if is_vector else 2)], keep=not is_vector)
            if of_a is None and bool((columns < NONE).any()) and not is_vector:
                columns = chosen(a, of_b, columns)
        if rows is None:
            assert columns is not None  # else there is nothing to follow
            labels = columns
        elif columns is None:
            labels = rows.squeeze(-1) if is_vector else rows
        else:
            rows = rows.squeeze(-1) if is_vector else rows
            labels = torch.where(rows == NONE, columns, rows)
        of_added = self._of(added[0]) if added else None
        return labels if of_added is None else together(labels, of_added)

    def _looked_up(self, table: Tensor, ids: Tensor) -> Tensor:
        """Rows have the homes of their ids; those of a table of states have the states'."""
        labels = self._all(ids)[..., None]
        of_table = self._of(table)
        if of_table is None:
            return labels
        return together(labels, torch.nn.functional.embedding(ids, of_table))

    def _convolved(self, args: Sequence[Any], result: Tensor) -> Tensor | int:
        """Patches of a picture are a text; what keeps its length keeps its places."""
        tensor, kernel = args[:2]
        is_given = any(tensor.data_ptr() == each.data_ptr() for each in self._pictures)
        labels = self._all(tensor)
        is_text = kernel.dim() == 3 and bool((along(labels, [1]) >= 0).all())
        is_text = is_text and len(along(labels, [0, 1]).unique()) == labels.size(2) > 1
        if (is_given and not is_text) or self._is_of_patches(labels):
            each = result.select(1, 0)  # of a batch, too: patches may be cut before
            return self._patches(each.numel(), each.shape)[0].unsqueeze(1)
        if kernel.dim() != 3:
            return MIXED
        labels = along(labels, [1], keep=True)  # [..., 1, n]
        n_fewer = labels.size(2) - result.size(2)
        if n_fewer > 0 and not args[4][0] and args[3][0] == 1:  # padded before, by hand
            is_padding = (labels == NONE).all(0)[0]
            n_first = int(is_padding.long().cumprod(0).sum())
            end = n_first + result.size(2)
            if int(is_padding.sum()) == n_fewer and bool(is_padding[end:].all()):
                return labels[..., n_first:end]
        return labels if n_fewer == 0 else MIXED

    def _is_cut(self, labels: Tensor, rows: Tensor) -> bool:
        """Tell whether rows [..., 1] are pieces of a picture, which a matrix makes states of."""
        if not self._is_of_patches(labels):
            return False
        first = int(rows.flatten()[0])
        is_raw = text_of(first) in self._raw and rows.numel() > 1
        return (is_raw and bool((rows == first).all())) or bool((rows == MIXED).all())

    def _is_of_patches(self, labels: Tensor) -> bool:
        """Tell whether numbers are of a picture, or of what was made of it piece by piece."""
        return text_of(int(labels.max())) >= PATCHES

    def _patches(self, n: int, shape: Sequence[int]) -> Tensor:
        """Number a new text of n patches [1, ...]."""
        return (self._new_text(n, PATCHES) + torch.arange(n, dtype=LABELS)).view(1, *shape)

    def _pointwise(self, args: Sequence[Any], named: Mapping[str, Any]) -> Tensor | int:
        labels: Tensor | None = None
        for each in tensors_in((*args, *named.values())):
            own = self._of(each)
            if own is not None:
                labels = own if labels is None else self._joined(labels, own)
        return NONE if labels is None else labels

    def _reduced(self, args: Sequence[Any], result: Tensor) -> Tensor:
        """Join along what was reduced: the axes that are told, or all."""
        labels = self._all(args[0])
        axes = next(
            (it for it in args[1:] if isinstance(it, list | tuple) or type(it) is int), None
        )
        chosen = [axes] if isinstance(axes, int) else axes
        every = [axis % labels.dim() for axis in chosen] if chosen else list(range(labels.dim()))
        return along(labels, every, keep=result.dim() == labels.dim() > 0)

    def _of(self, tensor: Tensor) -> Tensor | None:
        """Give the labels of a tensor, a view of its storage's; None: no text."""
        held = self._labels.get(_storage(tensor))
        if held is None:
            return None
        labels, size = held
        if len(labels) * size != tensor.untyped_storage().nbytes():  # of another one, now gone
            del self._labels[_storage(tensor)]
            return None
        n, rest = divmod(tensor.element_size(), size)
        shape, steps, start = tensor.size(), tensor.stride(), tensor.storage_offset()
        if n == 1 and not rest:
            return labels.as_strided(shape, steps, start)
        if n > 1:  # complex numbers in the place of pairs
            pairs = labels.as_strided((*shape, n), (*(n * step for step in steps), 1), n * start)
            return along(pairs, [tensor.dim()])
        each = labels.repeat_interleave(size // tensor.element_size())  # the other way round
        return each.as_strided(shape, steps, start)

    def _all(self, tensor: Tensor) -> Tensor:
        """The same, with NONE for every number that has no text."""
        labels = self._of(tensor)
        if labels is None:
            return torch.full(tensor.shape, NONE, dtype=LABELS, device=tensor.device)
        return labels

    def _put(self, tensor: Tensor, labels: Tensor | int) -> None:
        place, size = _storage(tensor), tensor.element_size()
        n = tensor.untyped_storage().nbytes() // size
        held = self._labels.get(place)
        if held is None or len(held[0]) != n:
            if isinstance(labels, int) and labels == NONE:
                return
            held = torch.full((n,), NONE, dtype=LABELS, device=tensor.device), size
            self._labels[place] = held
        own = held[0].as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
        new = labels.expand(own.shape) if isinstance(labels, Tensor) else None
        for axis, step in enumerate(tensor.stride()):
            if step == 0 and tensor.size(axis) > 1:  # one number is there several times
                own, new = (
                    own[(slice(None),) * axis + (slice(1),)],
                    (None if new is None else along(new, [axis], keep=True)),
                )
        own.fill_(labels) if new is None else own.copy_(new)


def _results(result: Any) -> list[Tensor]:
    return [it for it in tensors_in([result]) if it.layout == torch.strided]


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else 0
