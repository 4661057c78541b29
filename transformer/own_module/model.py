"""A module of one's own, as decoding and recording ask for it.

Nothing is known of what is inside: its attention is recorded by watching (`transformer/watch/`),
and it keeps no keys and values from step to step: each step reads everything again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any
from warnings import catch_warnings

import torch
from torch import Tensor, nn

from transformer.device import callers_state
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.models import decoder_only, encoder_decoder
from transformer.models.family import Family, ForcedPass, Ids, Rows
from transformer.own_module.tokenizer import in_a_sentence
from transformer.watch.results import (
    are_shares,
    described,
    difference,
    log_of_shares,
    logits_of,
    notes_on_values,
    tensors_in,
)

MOST_WRITTEN = 64
"""Tokens that a text is continued by at most: each costs a pass over all of it."""


@dataclass(frozen=True)
@in_a_line
class OwnConfig:
    """The settings that its author gives a module, under this project's names."""

    module: str
    """The name of its class."""
    vocab_size: int
    """The vocabulary of what it writes; of a module that only reads, of that."""
    max_len: int
    pad_id: int
    """-1 where there is none."""
    bos_id: int | None
    """The token that a target starts with; None where nothing is written beside a source."""
    eos_id: int | None
    classes: tuple[str, ...] = ()
    """The names of a classifier's classes."""
    mask: str | None = None
    """The argument that takes a mask of padding; None: none does."""
    source_pad_id: int | None = None
    """The id of padding in a source that has another vocabulary, -1 where there is none."""

    @property
    def eos_ids(self) -> frozenset[int]:
        """Return the tokens that end a text that is written."""
        return frozenset() if self.eos_id is None else frozenset({self.eos_id})

    def to_dict(self) -> dict[str, Any]:
        settings = {name: value for name, value in vars(self).items() if value is not None}
        return {**settings, "classes": list(self.classes)} if self.classes else settings


class State:
    """The tokens that decoding has read so far."""

    def __init__(
        self, source: tuple[Tensor, ...], read: Tensor, mask: Tensor | None = None
    ) -> None:
        self.source, self.read, self.mask = source, read, mask
        """The source [1, S], where a target is written beside one; and [B, T]. With a mask [B, S]
        the source is of several texts [B, S]."""

    def reorder(self, parents: Tensor) -> None:
        """Continue with these rows [B] of the batch."""
        self.read = self.read[parents]
        if self.mask is not None:
            self.mask = self.mask[parents]
            self.source = tuple(each[parents] for each in self.source)


class OwnModel(nn.Module):
    """A module with the function that runs it; its arguments are token ids of one sequence."""

    def __init__(
        self,
        inner: nn.Module,
        config: OwnConfig,
        writes: bool,
        run: Callable[..., Any] | None,
        second: str | None = None,
    ) -> None:
        """run: None: the module itself. second: the name under which it takes a target, if any."""
        super().__init__()
        self.inner, self.config, self.writes = inner, config, writes
        self._run, self._lock, self._second = run, RLock(), second
        self._name = config.module if run is None else "run"
        self._longest = 0
        """The most tokens of a sequence that it took."""
        self._difference: str | None = None
        """`difference` of its first two passes over one text; None: it has run over none twice."""
        self._is_mask_tried = False
        self.notes: tuple[str, ...] = ()
        """Sentences about the numbers that it gave last."""

    def forward(self, *inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """The forced pass. inputs: the text, or source and target, [1, T] -> logits [1, T, V].

        Of a module that writes nothing, logits [1, C] or [1, T, C] where it gives any, else
        [1, 0]. Several texts [B, T] give the same for each; with a mask they are run for whoever
        watches, and give [B, 0], as where the module gives nothing of each.
        mask: of the text or source [B, T], 0 at padding; without an argument for it the module
        tells padding by its id, if it does. Raises InputError.
        """
        if len(inputs[0]) == 1:
            return self._logits(*inputs, mask=mask)[None]
        if mask is None:
            return self._rows(*inputs)
        self._output(*inputs, mask=mask)
        return inputs[0].new_empty(len(inputs[0]), 0)

    def start(self, source: Tensor, mask: Tensor | None = None) -> State:
        """Read a source [1, S], or a prompt [1, S] without its last token.

        mask: of several sources [B, S], 0 at padding: their targets are written together.
        """
        one = source[:1]
        self.check_mask(one, *([self.first(one)] if self.config.bos_id is not None else []))
        if self.config.bos_id is not None:
            return State((source,), source[:, :0], mask)
        return State((), source[:, :-1])

    def first(self, source: Tensor) -> Tensor:
        """The token that decoding feeds first: source [1, S] -> [1, 1]."""
        if self.config.bos_id is not None:
            return source.new_tensor([[self.config.bos_id]])
        return source[:, -1:]

    def room(self, n_source: int) -> int:
        """Return how many tokens may follow a source or a prompt of n tokens."""
        if self.config.bos_id is None:
            return min(self.config.max_len - n_source + 1, MOST_WRITTEN)
        longest = n_source if self.config.eos_id is None else 2 * n_source + 10
        return min(self.config.max_len, longest)

    def advance(self, state: State, target: Tensor) -> Tensor:
        """Feed tokens [B, T] not seen yet; returns logits [B, T, V] and moves the state.

        Rows of one source are run one by one: a module may be written for a batch of one.
        """
        state.read = torch.cat([state.read, target], dim=1)
        n = target.size(1)
        if state.mask is not None:
            return self._rows(*state.source, state.read, mask=state.mask)[:, -n:]
        return torch.stack([self._last(state.source, row[None], n) for row in state.read])

    def _last(self, source: tuple[Tensor, ...], read: Tensor, n: int) -> Tensor:
        """The logits after each of the last n tokens of what was read [1, T]: [n, V].

        A module may give those after the very last only: then each of the n is a pass.
        """
        logits = self._logits(*source, read)
        if len(logits) >= n:
            return logits[-n:]
        ends = range(read.size(1) - n + 1, read.size(1))
        earlier = [self._logits(*source, read[:, :end])[-1:] for end in ends]
        return torch.cat([*earlier, logits[-1:]])

    def difference(self, *inputs: Tensor, logits: Tensor | None = None) -> str:
        """Say in a sentence that passes over one text differ; empty: they give the same.

        Tried once, over the first text, and not while it is trained. logits: of a pass over it.
        """
        if self._difference is None and not any(it.training for it in self.inner.modules()):
            is_there = logits is not None and logits.numel() > 0
            run = self._logits if is_there else self._output
            first = logits if is_there else run(*inputs)
            try:
                self._difference = difference(self._name, first, run(*inputs))
            except InputError as error:
                self._difference = f"A second pass over the same text fails: {error}"
        return self._difference or ""

    def check_mask(self, *inputs: Tensor) -> None:
        """Try once, over the first text, whether its mask is True at tokens. Raises InputError.

        With all of a text's tokens in the mask a pass gives what it gives without a mask. Where it
        does so with none of them instead, the module takes True as padding, as torch's own do. To
        be called where nobody watches. inputs: as of `forward`.
        """
        name = self.config.mask
        if name is None or self._is_mask_tried or any(it.training for it in self.inner.modules()):
            return
        every = torch.ones_like(inputs[0]).bool()
        plain = self._tried(inputs, {})
        plain = self._tried(inputs, {name: None}) if plain is None else plain
        by_tokens = self._tried(inputs, {name: every})
        if not _is_like(by_tokens, plain) and _is_like(self._tried(inputs, {name: ~every}), plain):
            texts = "source, target" if len(inputs) == 2 else "ids"
            example = f'run=lambda {texts}, mask: module({texts}, {name}=~mask), mask="mask"'
            raise InputError(
                f"{name} is True at tokens and False at padding, and {self._name} takes True as "
                f"padding: turn it round: {f'~{name}' if self._run else example}."
            )
        self._is_mask_tried = True

    def _tried(self, inputs: Sequence[Tensor], named: dict[str, Any]) -> Any:
        """One pass -> whatever it gives; None where it fails."""
        try:
            with catch_warnings(action="ignore"):
                return self._pass(inputs, named)
        except Exception:  # whatever it is, it is said when that pass is wanted
            return None

    def _output(self, *inputs: Tensor, mask: Tensor | None = None) -> Any:
        """One pass -> whatever it gives."""
        named = {}
        if self.config.mask is not None:
            mask = torch.ones_like(inputs[0]) if mask is None else mask
            named[self.config.mask] = mask.bool()
        n = max(ids.size(-1) for ids in inputs)
        hint = f" It was given {n} tokens: if it takes fewer, say so by max_len."
        with in_a_sentence(self._name, hint=hint if 0 < self._longest < n else ""):
            output = self._pass(inputs, named)
        self._longest = max(n, self._longest)
        return output

    def _pass(self, inputs: Sequence[Tensor], named: dict[str, Any]) -> Any:
        with (
            self._lock,  # it may keep something of a pass in itself
            torch.inference_mode(False),  # else what it keeps could never be trained again
            torch.no_grad(),
            callers_state(),
        ):
            args = [ids.clone() for ids in inputs]  # here: one of inference mode is not followed
            if self._second is not None:
                named = {**named, self._second: args.pop()}
            return (self._run or self.inner)(*args, **named)

    def _logits(self, *inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """One pass -> [T, V]; of a module that writes nothing, what is like that."""
        return self._logits_in(self._output(*inputs, mask=mask))

    def _rows(self, *inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """One pass over several texts -> the same of each; [B, 0] where it gives no such."""
        output, n = self._output(*inputs, mask=mask), len(inputs[0])
        try:
            return torch.stack([self._logits_in(output, row, n) for row in range(n)])
        except InputError:
            return inputs[0].new_empty(n, 0)

    def _logits_in(self, output: Any, row: int = 0, n_rows: int = 1) -> Tensor:
        first = output[0] if isinstance(output, tuple | list) and output else output
        logits, n_classes = logits_of(first, row, n_rows), len(self.config.classes)
        if self.writes or n_classes:
            self.notes = notes_on_values(self._name, logits, ", and their logarithms are taken")
            logits = log_of_shares(logits) if are_shares(logits) else logits
        if not self.writes:
            if n_classes and logits.shape != (n_classes,):
                raise InputError(
                    f"{self._name} must give logits [1, {n_classes}], one for each class; it gave "
                    f"{described(output)}."
                )
            return logits
        logits = logits[None] if logits.dim() == 1 and logits.numel() else logits
        n_pieces = self.config.vocab_size
        if logits.dim() != 2 or logits.size(1) != n_pieces:
            is_other = self.config.source_pad_id is None and self.config.bos_id is not None
            other = " If it writes other pieces than it reads, name them by target_pieces."
            raise InputError(
                f"{self._name} must give logits [1, T, {n_pieces}], a column for each piece; it "
                f"gave {described(output)}.{other if is_other else ''}"
            )
        return logits


def _is_like(output: Any, plain: Any) -> bool:
    """Tell whether a pass with a mask gave what one without it did.

    Where none runs without it, that it gave numbers is all that can be asked.
    """
    if output is None:
        return False
    if plain is not None:
        return not difference("", output, plain)
    return all(bool(each.isfinite().all()) for each in tensors_in(output))


def _reads(config: Any, source: Ids, target: Ids | None) -> ForcedPass:
    """Make one pass for both kinds: whether it sees later tokens is for its attention to say."""
    rows = Rows(source, source)
    return ForcedPass((source,), {"encoder_self": rows, "decoder_self": rows}, embedded={})


def _unbuildable(config: Any) -> nn.Module:
    raise TypeError("a module of one's own is built by whoever wrote it")


READS = Family(
    name="own_reader",
    title="Module that reads",
    build=_unbuildable,
    attentions={"encoder_self": None, "decoder_self": None},
    forced_pass=_reads,
    target="none",
    reads="text",
    is_own=True,
)
CONTINUES = Family(
    name="own_generator",
    title="Module that continues a text",
    build=_unbuildable,
    attentions={"decoder_self": None},
    forced_pass=decoder_only.forced_pass,
    target="optional",
    reads="prompt",
    is_own=True,
)
TRANSLATES = Family(
    name="own_encoder_decoder",
    title="Module that writes a target for a source",
    build=_unbuildable,
    attentions={"encoder_self": None, "decoder_self": None, "cross": None},
    forced_pass=encoder_decoder.forced_pass,
    is_own=True,
)
FAMILIES = {"nothing": READS, "continuation": CONTINUES, "target": TRANSLATES}
"""The families, by what a module writes."""
