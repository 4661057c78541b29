"""Modules of distinct mechanisms, each with what its own code makes of the text: the truth.

A truth is written beside the module by whoever read its code, and never by what a recorder says:
for each size of attention the tokens of its rows and of its columns, a letter each, and a dot where
a row is of no token, or of several. `moved` holds it against finite changes of the inputs.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer import InputError, Recording, record

D, HEADS, SIZE = 16, 2, 8
IDS = (torch.tensor([[3, 1, 4, 7, 5, 9]]),)
STATES = (torch.randn(1, 6, D, generator=torch.Generator().manual_seed(3)),)
OUTCOMES = ("named", "numbered", "refused")


@dataclass(frozen=True)
class Case:
    """A module, and the tokens that rows and columns of its attentions are of."""

    build: Callable[[], nn.Module]
    truth: tuple[tuple[str, str], ...]
    """Rows and columns of each attention; those of one size in the order of running."""
    outcome: str
    """ "named": whatever is of a token has its name; "numbered": some has a number, or nothing is
    of a token; "refused"."""
    inputs: tuple[Tensor, ...]
    tokens: Any
    moves: bool
    """Whether rows of the first of them change with their own token alone."""

    def module(self) -> nn.Module:
        torch.manual_seed(0)
        return self.build().eval()

    def recorded(self) -> Recording | str:
        """The recording, or the sentence that refuses it."""
        try:
            return record(self.module(), self.inputs, self.tokens)
        except InputError as error:
            return str(error)


CASES: dict[str, Case] = {}
"""Name -> the case: those of a file are there when it was imported."""


def case(
    truth: str,
    outcome: str = "named",
    *,
    inputs: tuple[Tensor, ...] = IDS,
    tokens: Any = "abcdef",
    moves: bool = True,
) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Enter a module. truth: "rows|columns" of each attention, parted by blanks."""

    def enter(module: type[nn.Module]) -> type[nn.Module]:
        pairs = tuple((rows, columns) for rows, columns in (it.split("|") for it in truth.split()))
        given = list(tokens) if isinstance(tokens, str) else tokens
        CASES[module.__name__] = Case(module, pairs, outcome, inputs, given, moves)
        return module

    return enter


def true_of(of: Case, n_queries: int, n_keys: int, n_before: int = 0) -> tuple[str, str]:
    """Give the truth of an attention of these sizes; dots where nobody wrote one.

    n_before: of the same sizes. What is written last is true of all that follow.
    """
    sizes = (n_queries, n_keys)
    fitting = [pair for pair in of.truth if (len(pair[0]), len(pair[1])) == sizes]
    return (fitting or [("." * n_queries, "." * n_keys)])[: n_before + 1][-1]


def outcome_of(of: Case, recording: Recording | str) -> tuple[str, list[str]]:
    """Tell how a case came out, and what it names wrongly."""
    if isinstance(recording, str):
        return "refused", []
    wrong, is_whole, has_word = [], True, False
    letters = {letter for pair in of.truth for axis in pair for letter in axis} - {"."}
    sizes = Counter[tuple[int, int]]()
    for kind, attention in recording.attentions.items():
        axes = (attention.queries, attention.keys)
        n_rows, n_columns = map(len, axes)
        truths = true_of(of, n_rows, n_columns, sizes[n_rows, n_columns])
        sizes[n_rows, n_columns] += 1
        for axis, truth in zip(axes, truths, strict=True):
            names = [token.piece if token.piece in letters else "." for token in axis]
            pairs = zip(names, truth, strict=True)
            if any(name not in (letter, ".") for name, letter in pairs):
                wrong.append(f"{kind}: {''.join(names)} are {truth}")
            is_whole &= "".join(names) == truth
            has_word |= set(names) != {"."}
    return "named" if is_whole and has_word else "numbered", wrong


Moved = list[set[str] | None]
"""The tokens whose change moves each row, or each column; None: too few of its cells are open."""


def moved(of: Case) -> tuple[Moved, Moved] | None:
    """Find what moves rows and columns of scores where the first attention of a case attends.

    Logarithms of weights are scores but for a number a row, which their median takes away. A row
    that moves does so in most of its cells, and so does a column. None: there is no such attention.
    """
    before = _scores(of, of.inputs)
    if before is None:
        return None
    is_judged = [(before.isfinite().sum(axis) > 2).all(0).tolist() for axis in (-1, -2)]
    result: tuple[Moved, Moved] = tuple(
        [set() if it else None for it in each] for each in is_judged
    )  # type: ignore[assignment]
    for i, (tensor, letters) in enumerate(zip(of.inputs, _letters(of), strict=True)):
        for at, letter in enumerate(letters):
            changed = tensor.clone()
            own = changed.select(_axis(tensor), at)
            own.copy_(own * 1.01 + 0.01 if tensor.is_floating_point() else own + 10)
            after = _scores(of, (*of.inputs[:i], changed, *of.inputs[i + 1 :]))
            assert after is not None
            apart = after - before
            apart = (apart - apart.nanmedian(-1, keepdim=True).values).abs()
            share = (apart > 1e-5).double().masked_fill(apart.isnan(), torch.nan)
            for sets, axis in zip(result, (-1, -2), strict=True):
                for n, is_moved in enumerate((share.nanmean(axis) > 0.5).any(0).tolist()):
                    own_set = sets[n]
                    if is_moved and own_set is not None and letter != ".":
                        own_set.add(letter)
    return result


def _axis(tensor: Tensor) -> int:
    return 1 if tensor.dim() > 1 else 0


def _letters(of: Case) -> list[str]:
    """The tokens of each input, a letter each, and dots where nobody names them."""
    lengths = [tensor.size(_axis(tensor)) for tensor in of.inputs]
    if isinstance(of.tokens, dict):
        sides = ["".join(side) for side in of.tokens.values()]
        in_order = [len(side) for side in sides] == lengths
        return sides if in_order else [next(it for it in sides if len(it) == n) for n in lengths]
    text, starts = "".join(of.tokens or ()), [sum(lengths[:i]) for i in range(len(lengths))]
    return [text[at : at + n].ljust(n, ".") for at, n in zip(starts, lengths, strict=True)]


def _scores(of: Case, inputs: Sequence[Tensor]) -> Tensor | None:
    """[H, Q, K], NaN where a cell is closed."""
    for attention in record(of.module(), tuple(inputs)).attentions.values():
        if (len(attention.queries), len(attention.keys)) == tuple(map(len, of.truth[0])):
            weights = attention.weights(0).double()
            return weights.log().masked_fill_(weights == 0, torch.nan)
    return None
