"""first_picture(): the head whose picture a checkpoint opens with, chosen from its own examples.

The commands `train` and `ship-survey` ask, and write the answer down; opening a checkpoint never
does.
A model that writes opens at the head whose picture is true most often: in the first example, the
most written words look most at the word that they need (`evidence`), special tokens left out; all
examples decide between equals. A model that only reads opens at the head without which its output
for the first example changes most: a class by its log-probability, a number by itself, a vector by
its angle. A module of one's own is not asked: it opens at the first head of its last kind, as do
models that read numbers in place of words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from transformer.analysis.ablation import sweep
from transformer.causes.evidence import evidence_beside
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode, default_method
from transformer.fingerprint import fingerprint
from transformer.formats.headscope import FORMAT, save_opening
from transformer.formats.opening import format_of
from transformer.inputs import InputError
from transformer.recording import Attention, Recording
from transformer.recording.ours import record
from transformer.tokenizer import TokenizerError
from transformer.words import word_groups

MOST_HIDDEN = 0.1
"""The share of a head's weight on special tokens from which on they are left out of its picture:
as much as draws a line to them from most words."""

MOST_EXAMPLES = 20
"""Examples that are asked, at most: each costs some seconds of a large model."""


@dataclass(frozen=True)
class FirstPicture:
    """The head that is shown first, and how it is read."""

    opens_at: tuple[str, int, int]
    """Kind, layer and head."""
    special: Literal["shown", "hidden"]
    why: str
    """The figures that chose it, in a sentence."""


def first_picture(checkpoint: Checkpoint) -> FirstPicture:
    """Choose it from the examples of a checkpoint, as far as it reads them.

    Raises InputError where there are none.
    """
    picture = (_of_writer if checkpoint.family.decodes else _of_reader)(checkpoint)
    if picture is None:
        raise InputError(
            f"{checkpoint.name} has no examples that it reads, to choose its first picture from: "
            "write some into its config.json."
        )
    return picture


def open_at(checkpoint: Checkpoint, is_new: bool = False) -> FirstPicture | None:
    """Choose it, and write it into the checkpoint's config.json; links that were made before go on
    to open it.

    is_new: no links to it were made yet. None: it is no folder of ours, or reads no example.
    Raises Unwritten.
    """
    about, path = checkpoint.about, checkpoint.path
    if format_of(path).name != FORMAT.name or path.is_file():
        return None
    try:
        picture = first_picture(checkpoint)
    except InputError:
        return None
    if (picture.opens_at, picture.special) != (about.opens_at, about.special):
        earlier = () if is_new else (*about.earlier, fingerprint(path))
        save_opening(path, picture.opens_at, picture.special, earlier)
    return picture


def _of_reader(checkpoint: Checkpoint) -> FirstPicture | None:
    for text in checkpoint.about.examples[:MOST_EXAMPLES]:
        try:
            changes = sweep(checkpoint, text)
        except (InputError, TokenizerError):
            continue
        of_heads = changes.totals.abs()
        best = int(of_heads.argmax())
        change = f"{of_heads[best]:.3f} {changes.output.unit}".strip()
        why = f"Without it the output for the first example changes by {change}."
        return FirstPicture(changes.edits[best].at_head, "shown", why)
    return None


def _of_writer(checkpoint: Checkpoint) -> FirstPicture | None:
    """Cross-attention where there is any."""
    kind = list(checkpoint.family.attentions)[-1]
    method = default_method(checkpoint.family.reads)
    counts, n_words, first = [], 0, None
    for text in checkpoint.about.examples[:MOST_EXAMPLES]:
        try:
            recording = record(checkpoint, text, decode(checkpoint, text, method=method).target)
            needed = list(_needed(checkpoint, text, recording))
        except (InputError, TokenizerError):
            continue
        attention = recording.attentions[kind]
        counts.append(_right(attention, needed))
        first = first or (recording, needed)
        n_words = n_words or len(needed)
    if first is None:
        return None
    of_first, of_all = counts[0], torch.stack(counts).sum(0)
    places = [divmod(i, of_first.size(1)) for i in range(of_first.numel())]
    layer, head = max(places, key=lambda at: (int(of_first[at]), int(of_all[at])))
    hidden = _on_special(first[0].attentions[kind], layer, head, first[1])
    why = (
        f"In the first example {int(of_first[layer, head])} of {n_words} written words look most "
        f"at the word that they need; special tokens have {100 * hidden:.0f} % of their weight."
    )
    special: Literal["shown", "hidden"] = "hidden" if hidden >= MOST_HIDDEN else "shown"
    return FirstPicture((kind, layer, head), special, why)


@dataclass(frozen=True)
class _Word:
    """A written word: the rows that write it, the words that it may look at, and the needed one."""

    queries: tuple[int, ...]
    words: tuple[tuple[int, ...], ...]
    """The positions of each word's keys."""
    needed: int | None
    """Its number among these; None: it needs none of them."""


def _needed(checkpoint: Checkpoint, text: str, recording: Recording) -> Iterator[_Word]:
    """Go through the written words; what is written is read, too, by a decoder alone."""
    needs = evidence_beside(checkpoint, text, recording, ())
    first, n_source = max(0, recording.n_prompt - 1), len(recording.source)
    read = [tuple(group) for group in word_groups(recording.source)]
    written = [tuple(group) for group in word_groups(recording.target)]
    for t, group in enumerate(written):
        if recording.target[group[0]].special:
            continue
        costs, words = (needs.hidden if needs.cut is None else needs.cut)[t], read
        if needs.cut is None and needs.prefix is not None:
            costs = torch.cat([costs, needs.prefix[t, :t]])
            words = [*read, *(tuple(n_source + i for i in each) for each in written[:t])]
        best = int(costs.argmax())
        yield _Word(
            tuple(first + i for i in group), tuple(words), best if costs[best] > 0 else None
        )


def _right(attention: Attention, needed: list[_Word]) -> Tensor:
    """Count, for each head [L, H], the words that look most at the one that they need."""
    return torch.stack(
        [
            sum(
                (_of_words(weights, word).argmax(-1) == word.needed).long()
                for word in needed
                if word.needed is not None
            )
            + torch.zeros(len(weights), dtype=torch.long)
            for weights in map(attention.weights, range(attention.n_layers))
        ]
    )


def _of_words(weights: Tensor, word: _Word) -> Tensor:
    """[H, Q, K] -> [H, W]: the weight on each word, the mean of the rows that write this one."""
    row = weights[:, list(word.queries)].mean(1)
    return torch.stack([row[:, list(keys)].sum(-1) for keys in word.words], -1)


def _on_special(attention: Any, layer: int, head: int, needed: list[_Word]) -> float:
    special = [i for i, key in enumerate(attention.keys) if key.special]
    weights = attention.weights(layer, head)[:, special].sum(-1)
    rows = [weights[list(word.queries)].mean() for word in needed]
    return float(torch.stack(rows).mean()) if rows else 0.0
