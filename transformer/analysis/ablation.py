"""Head ablation: what each head is worth to each word of an output, alone and in pairs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.scored import Output, Scored, compared, output_of, scored
from transformer.checkpoint import Checkpoint, check_open
from transformer.decoding.decode import decode
from transformer.decoding.method import length_limit
from transformer.decoding.shared_batch import OnStep
from transformer.device import usual_state
from transformer.editing.ours import Editing, check, editing, places
from transformer.editing.references import references
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edits_of
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import FUNCTION, TEXT, InputError, checks, of_class, source_ids
from transformer.old_spelling import respelled
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import words_of

# sweep(): what each head is worth to each word of an output, every head off in turn.


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Sweep:
    """The effect of each of N edits on each of T words of a known output. Tensors are on the CPU.

    Of a classifier, on each of its C classes: T is then C; so it is of C numbers, whose changes are
    in units of their own and do not add up. Of a text's vector T is 1, and a change is minus the
    angle by which the vector turns, in degrees; with a second text the change of the cosine of
    both, read under the same edit.
    """

    edits: tuple[Edit, ...]
    """The N edits that were tried."""
    output: Output
    """The output that is judged, and its unit."""
    log_probs: Tensor
    """[T] of the words as the model gives them without any of the edits, in nats; of numbers
    themselves; of a vector 0, or its cosine with that of a second text."""
    changes: Tensor
    """[N, T]: log-probability with the edit less that without it."""
    best: Tensor
    """[T] the most probable token's id without an edit; of a classifier [1], the class."""
    best_edited: Tensor
    """[N, T]: with it. Where it differs, greedy decoding would write another word."""
    n_asked: int
    """Edits that were to be tried."""
    refused: tuple[str, ...] = ()
    """The reasons why some of them are not among `edits`."""
    number: str = ""
    """The one of several numbers that stands for the whole output; empty: the most changed one."""

    def __repr__(self) -> str:
        n = self.changes.size(-1)
        return f"Sweep({len(self.edits)} of {self.n_asked} edits, {n} changes each)"

    @property
    def target(self) -> tuple[Token, ...]:
        return self.output.words

    @property
    def totals(self) -> Tensor:
        """[N]: of the whole output, the sum over its words; of a classifier, of the class that it
        finds most probable without an edit; of several numbers, of one.
        """
        return self.totalled(self.changes)

    @property
    def judged_number(self) -> str:
        """The number that stands for the whole output; empty where none is put on the text."""
        numbers = self.output.numbers
        if not numbers or self.number in numbers:
            return self.number if numbers else ""
        return numbers[int(self.changes.abs().sum(0).argmax())]

    @checks(changes=of_class(Tensor, "a tensor of changes [..., T]"))
    def totalled(self, changes: Tensor) -> Tensor:
        """The same of other changes [..., T] of this output: [...]."""
        if self.output.numbers:
            return changes[..., self.output.numbers.index(self.judged_number)]
        return changes[..., int(self.best)] if self.output.classes else changes.sum(-1)


def heads_off(checkpoint: Checkpoint, judged: Output | None = None) -> tuple[Edit, ...]:
    """One edit for each head: kind by kind, layer by layer.

    judged: of a model that is watched, what it runs over: its heads are those that are then seen.
    """
    config: Any = checkpoint.config
    if checkpoint.family.is_watched:
        assert judged is not None
        seen = record(checkpoint, judged.source, judged.target).attentions
        sizes = {kind: (each.n_layers, each.n_heads) for kind, each in seen.items()}
    else:
        stacks = places(checkpoint.model, checkpoint.family)
        sizes = {kind: (len(layers), config.n_heads) for kind, layers in stacks.items()}
    return tuple(
        Edit("head-off", kind, (layer, head))
        for kind, (n_layers, n_heads) in sizes.items()
        for layer in range(n_layers)
        for head in range(n_heads)
    )


@respelled(text="source")
@usual_state()
@checks(second=TEXT, on_step=FUNCTION.or_none)
def sweep(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] | None = None,
    second: str = "",
    on_step: OnStep | None = None,
) -> Sweep:
    """Try edits one by one, such as each head off, on a text and its target.

    checkpoint: open, or its name or path.
    text: the source, or what is read.
    target: what is judged, as text or tokens, such as `.target` of a decoding. None: what greedy
        decoding of an encoder-decoder writes; other models only read the text, and judged are a
        generator's words, each given those before it, a classifier's classes, numbers, a masked
        model's tokens, or the text's vector.
    edits: `Edit`s of heads and arrows, or their spelling, as "head-off:cross.2.3"; None: every head
        off in turn.
    second: a text, with whose vector the text's is compared, by the cosine; "": with its own.
    on_step: called before each batch of edits, or each edit that runs by itself, without arguments;
        it may wait, and what it raises ends the run.

    Returns a `Sweep`: `.changes` [N, T], for N edits and T tokens the log-probability with the edit
    less that without it, in nats, and `.totals` [N], of the whole output. T are a classifier's
    classes, or numbers in their own units; of a vector T is 1 and the change minus the angle, in
    degrees, or the cosine's. An edit that cannot be made is left out, and `.refused` says why.
    Raises CheckpointError, InputError, and EditError where no edit can be made.
    """
    check_open(checkpoint)
    if target is None and checkpoint.family.decodes and checkpoint.family.target == "needed":
        target = decode(checkpoint, text).target
    *_, last = sweeping(checkpoint, text, target, edits, second, on_step)
    if last.refused and not last.edits:
        raise EditError(last.refused[0])
    return last


def sweeping(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] | None = None,
    second: str = "",
    on_step: OnStep | None = None,
) -> Iterator[Sweep]:
    """The same while it grows: of models of ours in batches, of others edit by edit."""
    judged = compared(output_of(checkpoint, text, target), second)
    tried = heads_off(checkpoint, judged) if edits is None else edits_of(edits)
    groups: list[tuple[Edit, ...]] = [(), *((edit,) for edit in tried)]
    results: list[Scored] = []
    for some in scored(checkpoint, judged, groups, on_step=on_step):
        results.append(some)
        yield _sweep(judged, tried, results)


def _sweep(judged: Output, tried: Sequence[Edit], results: Sequence[Scored]) -> Sweep:
    """Gather what is known after some of the groups, the first of which changes nothing."""
    log_probs = torch.cat([each.log_probs for each in results])
    best = torch.cat([each.best for each in results])
    was_tried = [not each.refused for each in results for _ in each.log_probs]
    is_there = torch.tensor(was_tried[1:], dtype=torch.bool)
    done = zip(tried, is_there.tolist(), strict=False)
    return Sweep(
        edits=tuple(edit for edit, is_it in done if is_it),
        output=judged,
        log_probs=log_probs[0],
        changes=log_probs[1:][is_there] - log_probs[0],
        best=best[0],
        best_edited=best[1:][is_there],
        n_asked=len(tried),
        refused=tuple(why for each in results for why in each.refused),
    )


# Head ablation of one text: how likely its output stays, and what the model writes instead.


@dataclass(frozen=True)
@in_a_line
class Ablation:
    """Every head off in turn, as far as that was tried."""

    sweep: Sweep
    written: Mapping[Edit, tuple[str, ...]] = field(default_factory=dict)
    """The words of the output when it is written again with the edit; of a classifier its class,
    of a masked model the words it finds most probable, of a vector or numbers none."""

    @property
    def is_measured(self) -> bool:
        """Tell whether every head's changes are there."""
        return len(self.sweep.edits) + len(self.sweep.refused) == self.sweep.n_asked

    @property
    def progress(self) -> tuple[int, int]:
        """Count the heads that are done, and all of them. Only words are written again."""
        output = self.sweep.output
        is_read = bool(output.classes or output.numbers or output.vector is not None)
        n_done = len(self.sweep.edits if is_read else self.written)
        return n_done + len(self.sweep.refused), self.sweep.n_asked

    @property
    def plain(self) -> list[str]:
        """The words without an edit, with which those that are written again are compared."""
        output = self.sweep.output
        if output.classes:
            return [output.classes[int(self.sweep.best)]]
        return words_of(output.likeliest or output.words)


def ablating(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token] | None = None,
    ablation: Ablation | None = None,
    on_step: Callable[[], object] | None = None,
    second: str = "",
    **options: Any,
) -> Iterator[Ablation]:
    """Measure the words' log-probabilities with every head off, then write each output again.

    Heads whose words lose most are written first. target: the output; None where the model only
    reads. ablation: what was tried before. on_step: called before each step of a decoding.
    second: as `sweep` takes it. options: of `decode`, whose method they name. Raises Refusal.
    """
    if ablation is None or not ablation.is_measured:
        for sweep in sweeping(checkpoint, text, target, second=second):
            ablation = Ablation(sweep)
            yield ablation
    assert ablation is not None
    for row in ablation.sweep.totals.argsort().tolist():
        edit = ablation.sweep.edits[row]
        if edit in ablation.written:
            continue
        words: tuple[str, ...]
        if target is None:
            words = _likeliest(checkpoint, ablation.sweep, row)
        else:
            again = decode(checkpoint, text, edits=(edit,), on_step=on_step, **options)
            words = tuple(words_of(again.target))
        ablation = replace(ablation, written={**ablation.written, edit: words})
        yield ablation


def _likeliest(checkpoint: Checkpoint, sweep: Sweep, row: int) -> tuple[str, ...]:
    """Say what a model that writes nothing finds most probable with an edit."""
    best = sweep.best_edited[row].tolist()
    if sweep.output.classes:
        return (sweep.output.classes[best[0]],)
    if sweep.output.vector is not None or sweep.output.numbers:
        return ()
    return tuple(words_of([checkpoint.tokenizer.token(id) for id in best]))


# The worth of two heads together, beyond what each is worth by itself: heads that back up.


@dataclass(frozen=True, eq=False)
@in_a_line
class Synergy:
    """The P pairs of edits, as far as they were tried. D is the change of the whole output's
    log-probability, in nats.
    """

    pairs: tuple[tuple[Edit, Edit], ...]
    together: Tensor
    """[P]: D(h, g), of both at once."""
    apart: Tensor
    """[P]: D(h) + D(g)."""
    n_other: Tensor
    """[P]: words at which another one is most probable than without an edit."""
    n_asked: int

    @property
    def synergy(self) -> Tensor:
        """[P]: D(h, g) - D(h) - D(g). Below 0 where one makes up for the loss of the other."""
        return self.together - self.apart


def strongest(sweep: Sweep, n: int) -> list[int]:
    """The rows of the n edits that change the whole output most, up or down, the first first."""
    return torch.argsort(sweep.totals.abs(), descending=True, stable=True)[:n].tolist()


def n_pairs(n: int) -> int:
    """Count the pairs of n edits.

    >>> n_pairs(8)
    28
    """
    return n * (n - 1) // 2


def pairs_of(checkpoint: Checkpoint, sweep: Sweep, rows: Sequence[int]) -> Iterator[Synergy]:
    """Try these rows' edits two at a time: what is known grows. Backup heads: Wang et al. 2022.

    Pairs that a watched model refuses are left out; raises as `scored`.
    """
    pairs = list(combinations(rows, 2))
    groups = [(sweep.edits[a], sweep.edits[b]) for a, b in pairs]
    scores: list[Scored] = []
    for some in scored(checkpoint, sweep.output, groups):
        scores.append(some)
        is_there = [not each.refused for each in scores for _ in each.log_probs]
        log_probs = torch.cat([each.log_probs for each in scores])[torch.tensor(is_there)]
        best = torch.cat([each.best for each in scores])[torch.tensor(is_there)]
        tried = [i for i, it in enumerate(is_there) if it]
        first, second = torch.tensor([pairs[i] for i in tried]).view(-1, 2).T
        yield Synergy(
            pairs=tuple(groups[i] for i in tried),
            together=sweep.totalled(log_probs - sweep.log_probs),
            apart=sweep.totals[first] + sweep.totals[second],
            n_other=(best != sweep.best).sum(-1),
            n_asked=len(groups),
        )


# A model's outputs under many groups of edits, all at once: greedy decoding, a row per group.


@torch.inference_mode()
def rewrite_with(
    checkpoint: Checkpoint, source: str, groups: Sequence[Sequence[Edit]]
) -> list[list[int]]:
    """The ids that greedy decoding writes with each group, of heads, arrows and words, in force.

    Of models of ours that write. Raises InputError, of an edit EditError.
    """
    if checkpoint.family.is_watched or not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name}: only models of ours that write are decoded so.")
    sources, model = source_ids(checkpoint, source), checkpoint.model
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, [0])
    check(checkpoint, [edit for group in groups for edit in group], forced)
    tensors = references(checkpoint, source, sources, [it for group in groups for it in group])
    inputs = torch.tensor([sources], device=checkpoint.device)
    ids: list[list[int]] = [[] for _ in groups]
    left = list(range(len(groups)))
    state: Any = None
    last = None
    for _ in range(length_limit(model, inputs, None)):  # type: ignore[arg-type]
        at_work = Editing((), rows=[groups[i] for i in left], references=tensors)
        with editing(model, checkpoint.family, at_work):
            ours: Any = model
            if state is None:
                state = ours.start(inputs.expand(len(left), -1))
                last = ours.first(inputs).expand(len(left), -1)
            best = ours.advance(state, last)[:, -1].argmax(-1)
        for i, id in zip(left, best.tolist(), strict=True):
            ids[i].append(id)
        going_on = [at for at, i in enumerate(left) if ids[i][-1] not in checkpoint.config.eos_ids]
        if not going_on:
            break
        left = [left[at] for at in going_on]
        rows = torch.tensor(going_on, device=checkpoint.device)
        state.reorder(rows)
        last = best[rows][:, None]
    return ids
