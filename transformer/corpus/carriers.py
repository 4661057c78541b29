"""Heads that carry the negation of a translator: without them most sentences that have one lose it.

They are found over many sentences, and kept beside the survey. That they do nothing else is not
said: without them other sentences change, too.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import torch

from transformer.analysis.ablation import rewrite_with
from transformer.analysis.scored import Output, scored
from transformer.causes.change import Carriers, cross_heads, has_negation, negates
from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.corpus.shipped import FOLDER
from transformer.corpus.summary import count, text
from transformer.decoding.decode import decode, default_method
from transformer.edits.edit import Edit
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import write_whole
from transformer.inputs import InputError
from transformer.token import Token
from transformer.tokenizer import TokenizerError
from transformer.words import word_groups, words_of

# The search over sentences: which heads a negation misses most, and which groups remove it.

FILE = "carriers.json"
LARGEST = 2**13
"""Bytes of a file that are read."""
LARGEST_GROUP, WIDTH = 3, 3
"""The heads of a group at most, and the groups of each size that are followed."""
LEAST = 0.1
"""The share of the sentences that each further head of a group has to add."""
MOST_GROUPS = 5
"""Groups that are kept, at most: each is decoded while a person looks at their sentence."""
Group = tuple[Edit, ...]


@dataclass(frozen=True)
class ShippedCarriers:
    """Groups of heads, and how many sentences lose their negation without each."""

    fingerprint: str
    """The fingerprint of the checkpoint: other weights have other heads."""
    carriers: Carriers
    """The last group removes the negation from most of the sentences; the others are parts of it
    that do so from some."""
    n_removed: tuple[int, ...]
    """The sentences that lose it, for each group."""
    n_sentences: int
    """The sentences that are written with a negation."""


def find_carriers(
    checkpoint: Checkpoint,
    fingerprint: str,
    sources: Sequence[str],
    language: str,
    on_step: Callable[[], object] = lambda: None,
) -> ShippedCarriers | None:
    """Find them with the usual method of the checkpoint and its options.

    Sources that are refused count nowhere. on_step: called for each source, several times where it
    is written with a negation. None: no group removes it from most of them. Raises InputError where
    no sentence has one.
    """
    method = default_method(checkpoint.family.reads)
    # 1. The texts that have a negation, and the places of its tokens.
    heads = cross_heads(checkpoint)
    negations: dict[str, tuple[tuple[Token, ...], list[int]]] = {}
    for source in sources:
        on_step()
        with suppress(InputError, TokenizerError):
            target = decode(checkpoint, source, method=method).target
            words = zip(words_of(target), word_groups(target), strict=True)
            if places := [i for word, group in words if negates(word, language) for i in group]:
                negations[source] = target, places
    if not negations:
        raise InputError(f"No sentence is written with a negating word of {language!r}.")
    # 2. The groups that it misses most, and the one without which most texts lose it: greedy, all
    # groups in a batch.
    groups = list(_missed_most(checkpoint, negations, heads, on_step))
    removed: Counter[Group] = Counter()
    for source in negations:
        on_step()
        for group, ids in zip(groups, rewrite_with(checkpoint, source, groups), strict=True):
            removed[group] += not has_negation(checkpoint.tokenizer.decode(ids), language)
    texts = list(negations)
    whole = max(groups, key=lambda group: removed[group] - LEAST * len(texts) * len(group))
    # 3. Its parts, as the usual method writes without them.
    parts = [part for n in range(1, len(whole) + 1) for part in combinations(whole, n)]
    counts = dict.fromkeys(parts, 0)
    for source in texts:
        for part in parts:
            written = decode(checkpoint, source, method=method, edits=part)
            counts[part] += not has_negation(written.text, language)
    tries = sorted(filter(counts.get, parts), key=lambda part: -counts[part])[:MOST_GROUPS]
    tries.sort(key=lambda part: (len(part), -counts[part]))
    if whole not in tries or 2 * counts[whole] <= len(texts):
        return None
    n_removed = tuple(counts[part] for part in tries)
    return ShippedCarriers(fingerprint, Carriers(language, tuple(tries)), n_removed, len(texts))


def _missed_most(
    checkpoint: Checkpoint,
    negations: Mapping[str, tuple[tuple[Token, ...], list[int]]],
    heads: Sequence[Edit],
    on_step: Callable[[], object],
) -> Iterator[Group]:
    """Go through groups of one head, of two, of three: those whose absence costs the negating
    words most, each of which is longer by one than a group before. Heads that back each other up
    cost little one by one.
    """
    best: list[Group] = [()]
    for _ in range(LARGEST_GROUP):
        longer = {
            frozenset((*group, head)) for group in best for head in heads if head not in group
        }
        groups = sorted((tuple(sorted(each, key=heads.index)) for each in longer), key=str)
        costs = torch.zeros(len(groups))
        for source, (target, places) in negations.items():
            on_step()
            parts = scored(checkpoint, Output(source, target, target), groups)
            costs -= torch.cat([it.log_probs[:, places].sum(-1) for it in parts])
        best = [groups[i] for i in costs.topk(min(WIDTH, len(groups))).indices.tolist()]
        yield from best


# The file beside the survey of a checkpoint.


def write_carriers(folder: Path, shipped: ShippedCarriers) -> None:
    """Write them into the folder of a survey. Raises Unwritten."""
    pairs = zip(shipped.carriers.groups, shipped.n_removed, strict=True)
    value = {
        "fingerprint": shipped.fingerprint,
        "language": shipped.carriers.language,
        "n_sentences": shipped.n_sentences,
        "groups": [
            {"heads": [list(edit.numbers) for edit in group], "n_removed": n} for group, n in pairs
        ],
    }
    write_whole(folder / FILE, (json.dumps(value) + "\n").encode())


def shipped_carriers(checkpoint: Path) -> ShippedCarriers | None:
    """Read them from a checkpoint's folder; None where there are none. Raises CheckpointError."""
    file = checkpoint / FOLDER / FILE
    if not file.is_file():
        return None
    value = read_json(file, LARGEST)
    try:
        mark, language, n_sentences = value["fingerprint"], value["language"], value["n_sentences"]
        groups = [[tuple(head) for head in each["heads"]] for each in value["groups"]]
        n_removed = tuple(each["n_removed"] for each in value["groups"])
        text(mark, language)
        count(n_sentences, *n_removed, *(i for group in groups for head in group for i in head))
        sizes = [len(group) for group in groups]
        is_right = all(len(head) == 2 for group in groups for head in group)
        if not (is_right and len(groups) <= MOST_GROUPS and max(sizes) <= LARGEST_GROUP):
            raise ValueError
        edits = tuple(tuple(Edit("head-off", "cross", head) for head in group) for group in groups)
        return ShippedCarriers(mark, Carriers(language, edits), n_removed, n_sentences)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise CheckpointError(f"{file} names no heads: make it anew.") from error
