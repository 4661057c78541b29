"""Activation patching: which states and heads make one sentence's output, tried in another.

Two sentences A and B of as many tokens. B is run with one state, or one head, as it is in A.
Measured is d = log p(A's token) - log p(B's token), the difference of their logits, at the first
token in which what greedy decoding writes for both differs, after those that both have before it;
of a classifier, with the class that each is given. The effect of a patch is (d_patched - d_B) /
(d_A - d_B): 0 where it changes nothing, 1 where B then says what A says. Of an encoder that gives
a text's vector d is minus the angle to A's vector, in degrees: d_A = 0, and the effect is the share
of the angle between A and B that a patch takes away. Of numbers that are put on a text d is the one
in which A and B differ most. Zhang and Nanda 2023, section 2; Meng et al. 2022.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.scored import states_with
from transformer.checkpoint import Checkpoint, check_open
from transformer.decoding.greedy import greedy
from transformer.decoding.shared_batch import OnStep, alone, in_steps
from transformer.device import usual_state
from transformer.editing.editor import Editor
from transformer.editing.ours import Editing, editing, places
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import FUNCTION, TEXT, InputError, Wanted, checks, source_ids
from transformer.models.family import ForcedPass
from transformer.recording.vector import angle
from transformer.recording.watched import edited_logits, numbers, plan_of, text_vector
from transformer.token import Token
from transformer.vocabulary import source_side
from transformer.watch.editing import Plan

ROWS = 64
"""Patches that are tried at once."""
FEW = 4
"""The same of a watched model, which reads one sequence at a time: results come sooner."""


# The outputs of two texts as they are.

MOST_CONTINUED = 24
"""Tokens that a generator goes on with until both differ."""


def vectors_of(checkpoint: Checkpoint, texts: Sequence[Sequence[int]]) -> list[Tensor]:
    """The vectors of texts; none of a model that gives none."""
    if not checkpoint.family.is_watched or checkpoint.family.decodes:
        return []
    with torch.inference_mode():
        rows = (torch.tensor([ids], device=checkpoint.device) for ids in texts)
        vectors = [text_vector(checkpoint, checkpoint.model(each)[0]) for each in rows]
    return [each.values for each in vectors if each is not None]


def scores_of(checkpoint: Checkpoint, texts: Sequence[Sequence[int]]) -> list[dict[str, float]]:
    """The numbers of texts by their names; none of a model that gives none."""
    if not getattr(checkpoint.config, "numbers", ()):
        return []
    with torch.inference_mode():
        rows = (torch.tensor([ids], device=checkpoint.device) for ids in texts)
        return [numbers(checkpoint, checkpoint.model(each)[0]) for each in rows]


def answer_of(checkpoint: Checkpoint, sources: Sequence[int]) -> Sequence[int]:
    """Decode greedily, or find the class. Raises InputError."""
    rows = torch.tensor([sources], device=checkpoint.device)
    family, config = checkpoint.family, checkpoint.config
    with torch.inference_mode():
        if family.decodes:
            room = MOST_CONTINUED if family.continues else None
            model: Any = checkpoint.model
            return alone(model, greedy(model, rows, room), rows)[0].ids
        logits = checkpoint.model(rows)[0]
    if logits.shape != (len(getattr(config, "classes", ())),):
        raise InputError(
            f"{checkpoint.name} writes nothing, names no class and gives neither number nor "
            "vector: nothing is measured."
        )
    return [int(logits.argmax())]


# The patches of a pair.

NAMES = ("state-from", "head-from")
"""The kinds of edit that are tried."""
BOTH = "The text (B) and the other sentence (A)"
EXCHANGE = "exchange a word that matters more."


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Pair:
    """Two sentences, and where a model tells them apart; A is `other`, and B is `text`."""

    other: str
    """A, from which is patched."""
    text: str
    """B, which is patched."""
    other_tokens: tuple[Token, ...]
    """A's tokens, as the model reads them."""
    tokens: tuple[Token, ...]
    """B's; there are as many."""
    written: tuple[Token, ...]
    """The tokens that both write before they differ; of a classifier none."""
    names: tuple[str, str]
    """The next pieces of A's run and of B's, or their classes; of a number its name, twice."""
    ids: tuple[int, int]
    """The ids of these."""
    clean: float
    """d of A, in nats, of a vector in degrees, or a number."""
    plain: float
    """d of B."""
    vector: Tensor | None = None
    """A's vector [D], of a model that gives one."""

    @property
    def is_number(self) -> bool:
        """Tell whether d is a number that the model puts on a text."""
        return self.vector is None and self.ids[0] == self.ids[1]

    def effect(self, difference: float) -> float:
        """(d - d_B) / (d_A - d_B)."""
        return (difference - self.plain) / (self.clean - self.plain)


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Patching:
    """The patches of a pair, as far as they were tried.

    An effect is (d with the patch - d of the text) / (d of the other - d of the text), a share
    without a unit; `patch` says what d is.
    """

    pair: Pair
    """The two sentences."""
    edits: tuple[Edit, ...]
    """All of them."""
    places: Mapping[str, tuple[Token, ...]]
    """Kind -> the words whose states are patched: the text's, or what a translator's decoder has
    read."""
    effects: Mapping[Edit, float] = field(default_factory=dict)
    """Patch -> its effect, a share: 0 changes nothing, with 1 the text says what the other one
    says; below 0 it says still less of that, and above 1 more than the other does."""

    def __repr__(self) -> str:
        return f"Patching({len(self.effects)} of {len(self.edits)} patches)"

    @checks(
        name=Wanted(lambda it: isinstance(it, str) and it in NAMES, '"state-from" or "head-from"')
    )
    def of(self, name: str) -> dict[str, list[dict[int, Edit]]]:
        """Kind -> layer by layer, place or head -> its edit, whose effect is `effects[edit]`.

        name: "state-from" or "head-from"; another raises InputError.
        """
        result: dict[str, list[dict[int, Edit]]] = {}
        for edit in self.edits:
            if edit.name == name:
                layers = result.setdefault(edit.place, [])
                layers += [{} for _ in range(edit.layer + 1 - len(layers))]
                layers[edit.layer][edit.numbers[1]] = edit
        return result


def pair_of(checkpoint: Checkpoint, text: str, other: str) -> Pair:
    """B and A, run as they are. Raises InputError where nothing can be patched or measured."""
    other, text = other.strip(), text.strip()
    ids_a, ids_b = source_ids(checkpoint, other), source_ids(checkpoint, text)
    if len(ids_a) != len(ids_b):
        raise InputError(
            f"The other sentence (A) has {len(ids_a)} tokens and the text (B) {len(ids_b)}; a "
            "state is put where it was, so both must have as many: exchange words for others of "
            "the same length."
        )
    if ids_a == ids_b:
        raise InputError(f"{BOTH} are the same sentence: exchange a word in one of them.")
    read = source_side(checkpoint.tokenizer).token
    tokens = tuple(map(read, ids_a)), tuple(map(read, ids_b))
    vectors = vectors_of(checkpoint, (ids_a, ids_b))
    if vectors:
        turned = -angle(*vectors)
        if not turned:
            raise InputError(f"{BOTH} have the same vector: {EXCHANGE}")
        return Pair(other, text, *tokens, (), ("A", "B"), (0, 0), 0.0, turned, vectors[0])
    if scores := scores_of(checkpoint, (ids_a, ids_b)):
        a, b = scores
        name = max(a, key=lambda name: abs(a[name] - b[name]))
        if a[name] == b[name]:
            raise InputError(f"{BOTH} get the same number: {EXCHANGE}")
        place = [*a].index(name)
        return Pair(other, text, *tokens, (), (name, name), (place, place), a[name], b[name])
    outputs = answer_of(checkpoint, ids_a), answer_of(checkpoint, ids_b)
    step = next((i for i, (a, b) in enumerate(zip(*outputs, strict=False)) if a != b), None)
    if step is None:
        what = "continued" if checkpoint.family.continues else "answered"
        raise InputError(f"{BOTH} are {what} alike, so nothing tells them apart: {EXCHANGE}")
    prefix, ids = tuple(outputs[1][:step]), (outputs[0][step], outputs[1][step])
    of_a, of_b = (Run(checkpoint, each, prefix, ids) for each in (ids_a, ids_b))
    clean, plain = of_a.differences()[0], of_b.differences()[0]
    if not clean > plain:
        raise InputError(f"{BOTH} are equally probable: {EXCHANGE}")
    wrote = checkpoint.tokenizer.token
    config: Any = checkpoint.config
    names = [wrote(id).piece if checkpoint.family.decodes else config.classes[id] for id in ids]
    return Pair(
        other=other,
        text=text,
        other_tokens=tokens[0],
        tokens=tokens[1],
        written=tuple(map(wrote, prefix)),
        names=(names[0], names[1]),
        ids=ids,
        clean=clean,
        plain=plain,
    )


@usual_state()
@checks(text=TEXT, other=TEXT, on_step=FUNCTION.or_none)
def patch(checkpoint: Checkpoint, text: str, other: str, on_step: OnStep | None = None) -> Patching:
    """Put every state and every head of another sentence's run into the run of a text, one by one.

    checkpoint: open, or its name or path.
    text: the one whose run is patched; B in messages, in papers the corrupted one.
    other: the one whose states are put in, A: it has as many tokens, and another output.
    on_step: called before each batch of patches, without arguments; it may wait, and what it raises
        ends the run.

    Returns a `Patching`: `.effects`, each patch, an `Edit`, -> its share of the way from the text's
    output to the other's, without a unit: (d with the patch - d of the text) / (d of the other - d
    of the text). 0 changes nothing, with 1 the text says what the other says. d = log p(the token
    that the other goes on with) - log p(the text's own), where what is written for both first
    differs; of a classifier of the two classes. Of a vector d is minus the angle to the other's, of
    numbers the one that differs most (Zhang and Nanda 2023, section 2; Meng et al. 2022). `.pair`
    has both tokens and both d; `.of("state-from")` and `.of("head-from")` have the patches by kind,
    layer and place or head. Raises CheckpointError, and InputError where nothing can be patched or
    measured.

    >>> patch("en-de", "I see a dog.", "I see a cat.").effects  # doctest: +SKIP
    """
    check_open(checkpoint)
    *_, last = patching(checkpoint, text, other, on_step=on_step)
    return last


def patching(
    checkpoint: Checkpoint,
    text: str,
    other: str,
    result: Patching | None = None,
    on_step: OnStep | None = None,
) -> Iterator[Patching]:
    """The same while it grows: every state at every layer and place, then every head.

    Places of a translator's decoder are those up to the measured one; of a generator, the prompt's.
    result: what was tried before. Raises InputError, as `pair_of` does.
    """
    if result is None:
        pair = pair_of(checkpoint, text, other)
        result = Patching(pair, *_patches(Run.of(checkpoint, pair), pair))
        yield result
    left = [edit for edit in result.edits if edit not in result.effects]
    for more in effects(checkpoint, result.pair, left, on_step):
        result = replace(result, effects={**result.effects, **more})
        yield result


def effects(
    checkpoint: Checkpoint, pair: Pair, edits: Sequence[Edit], on_step: OnStep | None = None
) -> Iterator[dict[Edit, float]]:
    """The normalised effects of edits of B's run, each by itself. Raises EditError."""
    run = Run.of(checkpoint, pair)
    tensors = references(checkpoint, pair.text, run.sources, edits)
    n = FEW if checkpoint.family.is_watched else ROWS
    for first in in_steps(range(0, len(edits), n), on_step):
        some = edits[first : first + n]
        yield dict(zip(some, map(pair.effect, run.differences(some, tensors)[1:]), strict=True))


@dataclass(frozen=True, eq=False)
@in_a_line
class Run:
    """A sentence, what is written before the measured token, and that token in A and in B."""

    checkpoint: Checkpoint
    sources: Sequence[int]
    prefix: tuple[int, ...]
    ids: tuple[int, int]
    vector: Tensor | None = None
    """A's, of a model that gives one."""

    @classmethod
    def of(cls, checkpoint: Checkpoint, pair: Pair) -> "Run":
        """B's."""
        prefix = tuple(token.id for token in pair.written)
        return cls(checkpoint, source_ids(checkpoint, pair.text), prefix, pair.ids, pair.vector)

    def differences(
        self, tried: Sequence[Edit] = (), tensors: Mapping[Edit, Tensor] = MappingProxyType({})
    ) -> list[float]:
        """d without an edit, and with each by itself. tensors: what they refer to."""
        checkpoint = self.checkpoint
        groups = [(), *((edit,) for edit in tried)]
        with torch.inference_mode():
            if checkpoint.family.is_watched:
                return [self._difference(each) for each in self._watched(groups, tensors)]
            if checkpoint.family.decodes:
                model: Any = checkpoint.model
                target = (*self.prefix, self.ids[1])
                states = states_with(checkpoint, self.sources, target, groups, tensors)
                logits = model.logits(states[:, -1])
            else:
                batch = torch.tensor([self.sources] * len(groups), device=checkpoint.device)
                at_work = Editing((), rows=groups, references=tensors)
                with editing(checkpoint.model, checkpoint.family, at_work):
                    logits = checkpoint.model(batch)
            return list(map(self._difference, logits))

    def _watched(
        self, groups: Sequence[Sequence[Edit]], tensors: Mapping[Edit, Tensor]
    ) -> Iterator[Tensor]:
        """[T, V], [C] or [T, D] for each: a pass each, as a watcher sees one sequence."""
        for edits in groups:
            editor = Editor(edits, tensors)
            yield edited_logits(self.checkpoint, self.forced, self.plan, editor)

    def _difference(self, output: Tensor) -> float:
        """d of one output: of the last token's logits [T, V] or [V], of classes or numbers [C], of
        states.
        """
        made = None if self.vector is None else text_vector(self.checkpoint, output)
        if self.vector is not None and made is not None:
            return -angle(self.vector, made.values)
        a, b = (output if output.dim() == 1 else output[-1])[list(self.ids)].double().tolist()
        return a if self.ids[0] == self.ids[1] else a - b

    @cached_property
    def plan(self) -> Plan:
        """Find out which attention is which in a model that is watched."""
        return plan_of(self.checkpoint, self.forced)

    def places(self, kind: str) -> tuple[Token, ...]:
        """Find what a translator's decoder has read; nothing where the kind is of the sentence."""
        rows = self.forced.rows.get(kind)
        if rows is None or rows.queries is self.sources or self.checkpoint.family.continues:
            return ()
        return tuple(map(self.checkpoint.tokenizer.token, rows.queries))

    @property
    def forced(self) -> ForcedPass:
        checkpoint = self.checkpoint
        target = (*self.prefix, self.ids[1]) if checkpoint.family.decodes else None
        return checkpoint.family.forced_pass(checkpoint.config, self.sources, target)


def _patches(run: Run, pair: Pair) -> tuple[tuple[Edit, ...], dict[str, tuple[Token, ...]]]:
    checkpoint = run.checkpoint
    if checkpoint.family.is_watched:
        plan = run.plan
        sizes = {kind: (each.n_layers, each.n_heads) for kind, each in plan.sizes.items()}
        layers = {kind: n for kind, (n, _) in sizes.items() if (kind, n - 1) in plan.layers}
    else:
        config: Any = checkpoint.config
        stacks = places(checkpoint.model, checkpoint.family)
        sizes = {kind: (len(each), config.n_heads) for kind, each in stacks.items()}
        layers = {kind: n for kind, (n, _) in sizes.items() if kind != "cross"}
    words = {kind: run.places(kind) or pair.tokens for kind in layers}
    states = [
        Edit("state-from", kind, (layer, place), text=pair.other)
        for kind, n_layers in layers.items()
        for layer in range(n_layers)
        for place in range(len(words[kind]))
    ]
    heads = [
        Edit("head-from", kind, (layer, head), text=pair.other)
        for kind, (n_layers, n_heads) in sizes.items()
        for layer in range(n_layers)
        for head in range(n_heads)
    ]
    return (*states, *heads), words
