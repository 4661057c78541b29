"""Edits in modules that are watched: the attentions that they are of are changed as they run."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from math import prod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.editing.editor import Change, Editor, Given, OfHead, Sizes, kinds_of, softmax
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds
from transformer.models.family import ForcedPass
from transformer.recording.calls import WeightsCall
from transformer.watch.calls.by_hand import are_shares
from transformer.watch.calls.fused import covered_by_scores
from transformer.watch.calls.marks import Addend, Origin, bias_of
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.operators import watching
from transformer.watch.capture.tables import Where
from transformer.watch.capture.turns import frequencies_of_angles
from transformer.watch.kinds.kind import Kind
from transformer.watch.kinds.schemes import has_two_sides, positions_added, token_inputs
from transformer.watch.kinds.stacks import by_kind

# States between the layers of a watched module, for each word.
#
# The layer is the module above an attention that is counted: blocks.3 of blocks.3.attn. Hooks
# stand there only while a pass is edited, and only its own thread is told.

Tell = Callable[[str, Tensor], Tensor | None]
"""(path, what its module gives [T, D]) -> what it gives instead; None: the same."""


def layer_paths(kinds: Mapping[str, Kind]) -> dict[tuple[str, int], str]:
    """(kind, layer) -> the path of the layer's module, where paths tell it; of self-attention."""
    result = {}
    for name, kind in kinds.items():
        if kind.role != "cross" and not kind.is_softmax:
            paths = [call.place.path for call in kind.calls]
            for layer, path in enumerate(_above(paths)):
                result[name, layer] = path
    return result


def _above(paths: Sequence[str]) -> list[str]:
    """Map attentions to their layers; nothing where they are not counted, or are the layer.

    >>> _above(["dec.0.attn.0", "dec.1.attn.0"]), _above(["attn.0", "attn.1"])
    (['dec.0', 'dec.1'], [])
    """
    parts = [path.split(".") for path in paths]
    for at, column in enumerate(zip(*parts, strict=False)):
        if all(map(str.isdecimal, column)) and len(set(column)) == len(paths):
            is_above = all(len(each) > at + 1 for each in parts)
            return [".".join(each[: at + 1]) for each in parts] if is_above else []
    return []


def counted(model: nn.Module) -> list[str]:
    """Paths that may be those of layers."""
    return [path for path, _ in model.named_modules() if path.rpartition(".")[2].isdecimal()]


@contextmanager
def states_of(model: nn.Module, paths: Sequence[str], tell: Tell) -> Iterator[None]:
    """While entered, what these modules give in runs of this thread is told."""
    thread = threading.get_ident()

    def hook(path: str) -> Callable[..., Any]:
        def on_output(module: nn.Module, inputs: Any, output: Any) -> Any:
            states = output[0] if isinstance(output, tuple) and output else output
            is_sequence = isinstance(states, Tensor) and states.dim() > 1
            if threading.get_ident() != thread or not is_sequence:
                return None
            with watching(None):
                changed = tell(path, states.reshape(-1, states.size(-1)))
            if changed is None:
                return None
            changed = changed.view(states.shape)
            return (changed, *output[1:]) if isinstance(output, tuple) else changed

        return on_output

    with ExitStack() as hooks:
        for path in paths:
            handle = model.get_submodule(path).register_forward_hook(hook(path))
            hooks.callback(handle.remove)
        yield


def given_by(kinds: Mapping[str, Kind], states: Mapping[str, Tensor]) -> Given:
    """Collect what heads of a finished pass gave, where their values are understood, and layers.

    states: path -> what its module gave [T, D].
    """
    result: Given = {
        (kind, layer, "states"): states[path]
        for (kind, layer), path in layer_paths(kinds).items()
        if path in states
    }
    for name, kind in kinds.items():
        for layer, seen in enumerate(kind.calls):
            call = seen.make()
            if call.v.size(-1) and not kind.is_softmax:
                result[name, layer, "heads"] = call.heads_given()
    return result


# Plans of edits: which call of a module is which attention.
#
# Which call is which is known after a pass only. So one pass is watched first; in the next the
# same calls, counted module by module, are the same attentions.

Call = tuple[str, int]
"""A module's path, and which of its calls in a pass."""


@dataclass(frozen=True)
class Spot:
    """The place of a call among attentions."""

    kind: str
    layer: int
    first_head: int
    """More than 0 where the heads of a layer are calls of their own."""
    order: tuple[int, ...] | None
    """The order of the axes of weights by hand."""


class Plan:
    """A table of which call is which attention, as one pass has shown."""

    def __init__(self, watcher: Watcher, kinds: Mapping[str, Kind], inputs: Any) -> None:
        """inputs: what the pass was given, a tensor, a tuple or a dict."""
        added = positions_added(watcher, by_kind(watcher.seen), token_inputs(inputs))
        self.additions = {
            it.where: (side, it)
            for side, (first, _) in added.items()
            for it in (first, *first.further)
        }
        self.sides = {side: it.n_positions for side, (it, _) in added.items()}
        if not has_two_sides(kinds) and watcher.turns.turned:
            self.sides["text"] = max(kind.sizes[1] for kind in kinds.values())
        spots = {
            id(part): spot
            for name, kind in kinds.items()
            if not kind.is_softmax
            for layer, call in enumerate(kind.calls)
            for part, spot in _spots(name, layer, call)
        }
        self.calls: dict[Call, Spot] = {}
        self.softmaxes: dict[Call, Spot] = {}
        of_softmax: dict[int, Spot] = {}
        n_calls: Counter[str] = Counter()
        for seen in watcher.seen:
            if seen.is_softmax:
                of_softmax.pop(id(seen.softmax), None)  # its weights are changed afterwards
                continue
            path = seen.place.path
            if id(seen) in spots:
                self.calls[path, n_calls[path]] = spots[id(seen)]
                if seen.softmax is not None:
                    of_softmax[id(seen.softmax)] = spots[id(seen)]
            n_calls[path] += 1
        n_softmaxes: Counter[str] = Counter()
        for origin in watcher.softmaxes:
            if id(origin) in of_softmax:
                self.softmaxes[origin.path, n_softmaxes[origin.path]] = of_softmax[id(origin)]
            n_softmaxes[origin.path] += 1
        self.n_calls, self.n_softmaxes = n_calls, n_softmaxes
        self.sizes = {name: _sizes(kind) for name, kind in kinds.items() if not kind.is_softmax}
        self._n_words = {
            name: kind.sizes[2] - len(kind.calls[0].added) for name, kind in kinds.items()
        }
        """Kind -> the keys that nobody is known to have added."""
        self.layers = layer_paths(kinds)

    def check_words(self, edits: Sequence[Edit], forced: ForcedPass) -> None:
        """Raise EditError for a word of attentions whose keys are others than the tokens read.

        Such a model has a prefix of its own, or shortens what it reads.
        """
        for edit in edits:
            is_word = edit_kinds()[edit.name].of == "read word"
            for kind in kinds_of(edit) if is_word else ():
                rows, n_words = forced.rows.get(kind), self._n_words.get(kind)
                if n_words is not None and (rows is None or len(rows.keys) != n_words):
                    raise EditError(
                        f"{edit}: the {n_words} keys of {kind} are not the tokens that are read, "
                        "so it is not known which of them are the word's."
                    )

    def spot(self, seen: Seen, n_calls: Counter[str]) -> Spot | None:
        """Find the spot of a module's next call. n_calls: path -> its calls before, counted on."""
        path = seen.place.path
        n = n_calls[path] % self.n_calls.get(path, 1)
        n_calls[path] += 1
        return self.calls.get((path, n))

    def spots(self, watcher: Watcher) -> Iterator[tuple[Seen, Spot]]:
        """Yield what another pass of the same module has shown, and which attention each of it is.

        Told by where it was called: what is computed there may look like another kind.
        """
        n_calls: Counter[str] = Counter()
        for seen in watcher.seen:
            path = seen.place.path
            spot = self.calls.get((path, n_calls[path]))
            n_calls[path] += 1
            if spot is not None:
                yield seen, spot


def _spots(kind: str, layer: int, call: Seen) -> list[tuple[Seen, Spot]]:
    first, result = 0, []
    for part in call.parts or (call,):
        result.append((part, Spot(kind, layer, first, part.order)))
        first += part.sizes[0]
    return result if first == call.sizes[0] else []


def _sizes(kind: Kind) -> Sizes:
    return Sizes(len(kind.calls), *kind.sizes, is_same_sequence=kind.role != "cross")


# Edits in modules that are watched: the attentions that they are of are changed as they run.


class EditingWatcher(Watcher):
    """A watcher that changes attentions, as an editor says, before it notes them down.

    Of several editors each is of one row of a batch, of scores and heads there and nothing else;
    what is noted down is then as it was without them.
    """

    def __init__(self, model: nn.Module, plan: Plan, *editors: Editor, **options: Any) -> None:
        super().__init__(model, **options, is_for_edits=len(editors) == 1)
        self.n_texts = len(editors)
        self._model = model
        self._plan, self._editors, self._editor = plan, editors, editors[0]
        self._n_calls: Counter[str] = Counter()
        self._n_softmaxes: Counter[str] = Counter()
        self._turned: list[Tensor] = []
        """Angles that were changed: sines and cosines are made of the same ones."""

    def __enter__(self) -> Watcher:
        stated = {path: spot for spot, path in self._plan.layers.items()}
        paths = [path for path, spot in stated.items() if self._editor.states(*spot)]

        def change(path: str, states: Tensor) -> Tensor:
            changed = states.clone()
            self._editor.stated(*stated[path], changed)
            return changed

        if paths:
            self._entered.enter_context(states_of(self._model, paths, change))
        return super().__enter__()

    def _edit_positions(self, where: Where, operands: Sequence[Any]) -> Sequence[Any]:
        side, added = self._plan.additions.get(where, ("", None))
        if added is None or not self._editor.is_moved(side):
            return operands
        rows = [each for each in operands if isinstance(each, Tensor)][added.operand]
        table = added.rows.table.detach()[int(added.rows.ids.flatten()[0]) :]
        encodings = self._editor.encodings(side, table, 0, rows.numel() // rows.size(-1))
        changed = encodings.view_as(rows).to(rows.dtype)
        return [changed if each is rows else each for each in operands]

    def _edit_angles(self, angles: Tensor) -> None:
        if "text" not in self._plan.sides or not self._editor.is_moved("text"):
            return
        is_known = any(each is angles for each in self._turned)
        if is_known or self._held.is_constant(angles) or self._held.is_learned(angles):
            return
        if frequencies_of_angles(angles) is not None:
            rows = angles.reshape(-1, angles.size(-1))  # [T, n]
            angles.copy_(_turned_by(self._editor, rows).view_as(angles))
            self._turned.append(angles)

    def _edit(self, seen: Seen, heads: Tensor) -> None:
        spot = self._spot(seen)
        if spot is None:
            return
        if prod(heads.shape[:-2]) != seen.sizes[0]:
            raise EditError(f"What the heads of {spot.kind} give is not told apart here.")
        self._edit_heads(seen, spot, partial(_of_head, heads))

    def _edit_heads(self, seen: Seen, spot: Spot, of_head: OfHead) -> None:
        """Change what heads gave. of_head: one of those of all rows, a row after the other."""
        n_heads, make = seen.sizes[0] // self.n_texts, cache(seen.make)
        first = spot.first_head
        numbers = range(first, first + n_heads)
        for row, editor in self._editing(spot):

            def of_row(head: int, before: int = row * n_heads) -> Tensor:
                return of_head(before + head)

            call = None
            if self.n_texts == 1:
                call = make()
            elif any(editor.rescores(spot.kind, spot.layer, number) for number in numbers):
                part = slice(row * n_heads, (row + 1) * n_heads)
                call = replace(make(), projection=None).heads(part)
            change: Change | None
            if call is None or isinstance(call, WeightsCall):
                if call is not None and getattr(seen.softmax, "is_written_out", False):
                    call = _rescored(editor, spot, call, of_row)
                change = editor.reheads(spot.kind, spot.layer, n_heads, of_row, first)
            else:
                change = editor.attended(spot.kind, spot.layer, call, of_row, offset=first)
            if self.n_texts == 1 and call is not None and change is not None:
                seen.make = partial(change.of, call)

    def _edit_projected(self, seen: Seen, result: Tensor) -> None:
        spot = self._spot(seen)
        if spot is None:
            return
        with watching(None):
            call = seen.make()
            assert call.projection is not None
            before = call.heads_given()
            heads = before.clone()
            self._edit_heads(seen, spot, heads.__getitem__)
            changes = (heads - before).unflatten(0, (self.n_texts, -1))  # [B, H, Q, d_value]
            joined = changes.permute(2, 0, 1, 3).flatten(2)  # [Q, B, H * d_value]
            result += (joined @ call.projection.float().mT).view_as(result).to(result.dtype)

    def _edit_weights(
        self, origin: Origin, scores: Tensor, weights: Tensor, addends: Sequence[Addend]
    ) -> None:
        n = self._n_softmaxes[origin.path] % self._plan.n_softmaxes.get(origin.path, 1)
        self._n_softmaxes[origin.path] += 1
        spot = self._plan.softmaxes.get((origin.path, n))
        if spot is None or not self._is_edited(spot):
            return
        if spot.order is not None:
            scores, weights = scores.permute(spot.order), weights.permute(spot.order)
        n_heads, (n_queries, n_keys) = prod(weights.shape[:-2]), weights.shape[-2:]
        with watching(None):
            n_words, n_first = n_keys - origin.has_sink, int(bool(origin.is_sink_first))
            biases = None if spot.order else bias_of(addends, (n_heads, n_queries, n_words))
            biases = None if biases is None else F.pad(biases, (0, n_keys - n_words))
            n_heads //= self.n_texts
            for head, (row, editor) in product(range(n_heads), self._editing(spot)):
                number, at = spot.first_head + head, row * n_heads + head
                if editor.rescores(spot.kind, spot.layer, number):
                    if origin.has_sink and origin.is_sink_first is None:
                        raise EditError(
                            f"{spot.kind} of this model adds a key of its own to its scores, it is "
                            "not known where: they cannot be changed here, what the heads give can."
                        )
                    seen = _of_head(scores, at).float().roll(-n_first, -1)  # [Q, K]
                    covered = covered_by_scores(seen)
                    before = seen if covered is None else _closed(seen, covered)
                    bias = None if biases is None else biases[at if len(biases) > 1 else 0][None]
                    after = editor.rescored(spot.kind, spot.layer, number, before, bias)
                    rows = (after != before).any(-1)
                    changed = softmax(after[rows]).roll(n_first, -1)
                    _of_head(weights, at)[rows] = changed.to(weights.dtype)

    def _spot(self, seen: Seen) -> Spot | None:
        """Find the spot of a call that edits are of."""
        spot = self._plan.spot(seen, self._n_calls)
        return spot if spot is not None and self._is_edited(spot) else None

    def _is_edited(self, spot: Spot) -> bool:
        return any(True for _ in self._editing(spot))

    def _editing(self, spot: Spot) -> Iterator[tuple[int, Editor]]:
        """Yield the rows in which an attention is edited, and their editors."""
        for row, editor in enumerate(self._editors):
            if editor.touches(spot.kind, spot.layer) or editor.closes(spot.kind):
                yield row, editor


def _rescored(editor: Editor, spot: Spot, call: WeightsCall, of_head: OfHead) -> WeightsCall:
    """The call with what edits make of its scores, which are the logarithms of its weights.

    But for a number for each query, which no softmax tells from 0.
    """
    n_heads, weights = len(call.given), call.given.clone()
    for head in range(n_heads if call.v.size(-1) else 0):
        number = spot.first_head + head
        if editor.rescores(spot.kind, spot.layer, number):
            if not are_shares(call.given):
                raise EditError(
                    f"{spot.kind} of this model changes its weights after their softmax: its "
                    "scores cannot be changed here, what the heads give can."
                )
            before = call.given[head].float().log()
            after = editor.rescored(spot.kind, spot.layer, number, before, None)
            rows = (after != before).any(-1)
            weights[head][rows] = softmax(after[rows]).to(weights.dtype)
            values = call.v[head * len(call.v) // n_heads]
            of_head(head)[rows] = weights[head][rows] @ values
    return replace(call, given=weights)


def _closed(scores: Tensor, covered: Tensor) -> Tensor:
    """Scores [Q, K] with -inf where a mask leaves a weight of 0."""
    return scores.masked_fill(covered & (scores.softmax(-1) == 0), -torch.inf)


def check_met(editor: Editor) -> None:
    """Raise EditError for an edit that found nothing to change in a whole pass."""
    for edit in editor.edits:
        if edit not in editor.met:
            kind = edit_kinds()[edit.name]
            if kind.of == "side":
                what = "turns nothing by the angles of that" if kind.frequencies else _NOT_SHOWN
                raise EditError(f"{edit}: this model {what}, so there is nothing to change.")
            what = "biases" if kind.bias else "scores" if kind.scores or kind.closes else "heads"
            what = "states" if kind.states else what
            raise EditError(
                f"{edit}: this model does not show the {what} of {edit.place} before it uses them, "
                "so they cannot be changed."
            )


_NOT_SHOWN = "does not show how it tells positions apart"


def _turned_by(editor: Editor, angles: Tensor) -> Tensor:
    """Angles of positions that follow each other [T, n] as edits leave them."""
    steps = angles[1] - angles[0]
    first = (angles[0, 0] / steps[0]).round()  # the number of the first position
    n = len(steps) // 2
    if 2 * n == len(steps) and torch.equal(steps[:n], steps[n:]):  # each pair in both halves
        steps = editor.turned("text", steps[:n]).repeat(2)
    elif 2 * n == len(steps) and torch.equal(steps[0::2], steps[1::2]):  # or as neighbours
        steps = editor.turned("text", steps[0::2]).repeat_interleave(2)
    else:
        steps = editor.turned("text", steps)
    places = editor.places("text", torch.arange(len(angles), device=angles.device))
    return editor.scaled("text", (first + places)[:, None] * steps)


def _of_head(tensor: Tensor, head: int) -> Tensor:
    """[..., Q, d] -> one head's [Q, d], a view; all axes before these two count heads."""
    index = []
    for size in reversed(tensor.shape[:-2]):
        head, at = divmod(head, size)
        index.append(at)
    return tensor[tuple(reversed(index))]
