"""Attention of several texts at once, as a survey asks for it: padded, with the axis of texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase, digits

import torch
from torch import Tensor

from transformer.analysis.reading import row_tokens, writes
from transformer.checkpoint import Checkpoint
from transformer.editing.editor import Editor
from transformer.inputs import InputError, source_ids
from transformer.models.family import ForcedPass, Ids
from transformer.recording import AttentionCall, Recording
from transformer.recording.ours import calls_of_batch
from transformer.recording.watched import record_watched, watched_calls
from transformer.recording.watched_batch import reads_masks, watched_calls_of_batch
from transformer.token import Token, n_words
from transformer.tokenizer import Tokenizer
from transformer.vocabulary import source_side

Tokens = tuple[Token, ...]


@dataclass(frozen=True, eq=False)
class BatchAttention:
    """One kind of attention of several texts; see `transformer.recording.Attention`."""

    kind: str
    is_cross: bool
    has_source_keys: bool
    """True: its keys are the tokens of a source, or of all that a generator reads."""
    queries: tuple[Tokens, ...]
    """The tokens of each text's rows, without padding."""
    keys: tuple[Tokens, ...]
    names: tuple[Tokens, ...]
    """The tokens that name each text's rows: see `row_tokens` in transformer.analysis.reading."""
    calls: Sequence[AttentionCall]
    """One a layer; its heads are those of all texts, one text after the other."""
    written: tuple[Tokens, ...] = ()
    """The tokens that each text's rows wrote, or read where they write nothing."""

    @property
    def n_heads(self) -> int:
        return self.calls[0].n_heads // len(self.queries)

    @cached_property
    def is_same(self) -> bool:
        """Tell whether queries and keys are the same tokens, but for added ones, in every text."""
        words = zip(self.keys, self.n_words.tolist(), strict=True)
        return self.queries == tuple(keys[:n] for keys, n in words)

    @cached_property
    def n_queries(self) -> Tensor:
        """The queries of each text: [B]."""
        return torch.tensor([len(each) for each in self.queries])

    @cached_property
    def n_keys(self) -> Tensor:
        """The keys of each text: [B]."""
        return torch.tensor([len(each) for each in self.keys])

    @cached_property
    def n_words(self) -> Tensor:
        """The keys of each text, without those that a model adds behind them: [B]."""
        return torch.tensor([n_words(each) for each in self.keys])

    @property
    def n_added(self) -> int:
        """Count these: the same in every text."""
        return int((self.n_keys - self.n_words)[0])

    @cached_property
    def is_query(self) -> Tensor:
        """bool [B, Q], False at padding."""
        return torch.arange(self.calls[0].q.size(1)) < self.n_queries[:, None]

    @cached_property
    def is_key(self) -> Tensor:
        """bool [B, K], False at padding."""
        return torch.arange(self.calls[0].k.size(1)) < self.n_keys[:, None]

    def weights(self, layer: int) -> Tensor:
        """Attention weights of a layer, 0 in rows of padding: [B, H, Q, K], on the CPU."""
        weights = self.calls[layer].weights().cpu().unflatten(0, (len(self.queries), -1))
        if bool(self.is_query.all()):
            return weights
        return weights.masked_fill(~self.is_query[:, None, :, None], 0.0)

    @cached_property
    def masks(self) -> tuple[tuple[Tensor, tuple[int, ...]], ...]:
        """The cells that masks leave open, bool [B, Q, K], each with the heads that have them.

        Heads are numbered over all layers. Layers differ where every other one has a window, and
        heads of a layer where each has a window of its own.
        """
        different: list[tuple[Tensor, list[int]]] = []
        for layer, call in enumerate(self.calls):
            of_heads = call.allowed().unflatten(0, (len(self.queries), -1)).cpu()
            first, heads = of_heads[:, 0], range(layer * self.n_heads, (layer + 1) * self.n_heads)
            is_one = torch.equal(of_heads, first[:, None].expand_as(of_heads))
            masks = (
                [(first, [*heads])]
                if is_one
                else [(of_heads[:, at], [head]) for at, head in enumerate(heads)]
            )
            for mask, some in masks:
                allowed = mask & self.is_query[:, :, None] & self.is_key[:, None]
                for other, others in different:
                    if torch.equal(other, allowed):
                        others += some
                        break
                else:
                    different.append((allowed, some))
        return tuple((allowed, tuple(heads)) for allowed, heads in different)


def of_recording(recording: Recording) -> list[BatchAttention]:
    """The attention of one text that was recorded by itself."""
    return [
        BatchAttention(
            kind=kind,
            is_cross=each.is_cross,
            has_source_keys=not each.is_decoder or len(recording.attentions) == 1,
            queries=(each.queries,),
            keys=(each.keys,),
            names=(row_tokens(each),),
            calls=each.calls,
            written=(each.produced or each.queries,),
        )
        for kind, each in recording.attentions.items()
    ]


@dataclass(frozen=True, eq=False)
class Text:
    """One text that a survey reads."""

    sentence: int
    """Its line in the file, from 1."""
    target: tuple[int, ...] | None
    forced: ForcedPass

    @property
    def n_tokens(self) -> int:
        """The tokens of the longest argument of its pass."""
        return max(map(len, self.forced.inputs))


MOST_TOKENS = 2048
MOST_CELLS = 1 << 25
"""Most padded tokens of a batch, and most cells of one layer's heads: 128 MiB of weights."""


def batches(texts: Sequence[Text], size: int, n_heads: int = 16) -> Iterator[list[Text]]:
    """Group texts of like length, at most `size`; fewer where they are long."""
    ordered = sorted(texts, key=lambda each: (each.n_tokens, each.sentence))
    for n in _sizes([each.n_tokens for each in ordered], size, n_heads):
        yield ordered[:n]
        del ordered[:n]


def of_like_length(ids: Mapping[int, Ids], size: int) -> Iterator[list[int]]:
    """Group the numbers of texts in the same way, by how many tokens each has."""
    ordered = sorted(ids, key=lambda number: (len(ids[number]), number))
    for n in _sizes([len(ids[number]) for number in ordered], size):
        yield ordered[:n]
        del ordered[:n]


def _sizes(lengths: Sequence[int], size: int, n_heads: int = 0) -> Iterator[int]:
    """Count the texts of each batch. lengths: ascending; n_heads: whose cells are limited."""
    n = 0
    for longest in lengths:
        rows = n + 1
        is_much = rows * longest > MOST_TOKENS or rows * n_heads * longest**2 > MOST_CELLS
        if n and (is_much or rows > size):
            yield n
            n = 0
        n += 1
    if n:
        yield n


class Names:
    """The tokens of ids, each made once."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._sides = source_side(checkpoint.tokenizer), checkpoint.tokenizer
        self._tokens: tuple[dict[int, Token], dict[int, Token]] = ({}, {})

    def __call__(self, ids: Ids, is_source: bool) -> Tokens:
        """Name the tokens of a source, or of what a decoder reads."""
        side = 0 if is_source else 1
        tokens, tokenizer = self._tokens[side], self._sides[side]
        for id in set(ids) - tokens.keys():
            tokens[id] = tokenizer.token(id)
        return tuple(tokens[id] for id in ids)


def observed(checkpoint: Checkpoint, texts: Sequence[Text], names: Names) -> list[BatchAttention]:
    """The attention of these texts in one padded pass. Raises InputError."""
    passes = [each.forced for each in texts]
    if checkpoint.family.is_watched:
        kinds, added = watched_calls_of_batch(checkpoint, passes)
    else:
        kinds = calls_of_batch(checkpoint, [*zip(*(each.inputs for each in passes), strict=True)])
        added = {}
    result = []
    for kind, calls in kinds.items():
        rows = [text.forced.rows[kind] for text in texts]
        inputs = [text.forced.inputs[0] for text in texts]
        queries = [
            names(of.queries, of.queries is ids) for of, ids in zip(rows, inputs, strict=True)
        ]
        keys = [
            read if of.keys is of.queries else names(of.keys, of.keys is ids)
            for of, ids, read in zip(rows, inputs, queries, strict=True)
        ]
        written = [
            read if of.produced is None else names(of.produced, False)
            for of, read in zip(rows, queries, strict=True)
        ]
        named = [
            wrote if writes(of) else read
            for of, wrote, read in zip(rows, written, queries, strict=True)
        ]
        result.append(
            BatchAttention(
                kind=kind,
                is_cross=kind == "cross",
                has_source_keys=rows[0].keys is inputs[0],
                queries=tuple(queries),
                keys=tuple((*each, *added.get(kind, ())) for each in keys),
                names=tuple(named),
                calls=calls,
                written=tuple(written),
            )
        )
    return result


def why_alone(checkpoint: Checkpoint) -> str:
    """The reason, in a clause, why texts are observed one by one; empty where batches are right.

    A model that is watched is tried with texts of different lengths: in a batch, each must show
    what it shows by itself.
    """
    if not checkpoint.family.is_watched:
        return ""
    if not reads_masks(checkpoint):
        return "the model takes no mask of padding"
    try:
        return _compared(checkpoint)
    except Exception as error:  # of a stranger's model, which may not know batches at all
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        return f"a batch of texts fails ({first[:100]})"


PROBES = 1, 4, 11, 40
"""Words of the texts that are tried: in one of a few tokens a convolution hardly reaches padding,
and a layer that reads the best few keys reads them all."""


def _compared(checkpoint: Checkpoint) -> str:
    family = checkpoint.family
    texts: list[Text] = []
    for n, length in enumerate(PROBES):
        ids = probe_ids(checkpoint, length)
        target = None
        if family.target == "needed":
            target = _plain_ids(checkpoint.tokenizer, length) if family.is_own else ids
        forced = family.forced_pass(checkpoint.config, ids, target)
        texts.append(Text(n, None if target is None else tuple(target), forced))
    names = Names(checkpoint)
    together = {each.kind: each for each in observed(checkpoint, texts, names)}
    for n, text in enumerate(texts):
        alone = _alone(checkpoint, text)
        if isinstance(alone, str):
            return alone
        if set(alone) != set(together) or not alone:
            return "its kinds of attention are told apart in one text only"
        for kind, (calls, tokens) in alone.items():
            batch = together[kind]
            n_queries, n_keys = len(batch.queries[n]), len(batch.keys[n])
            for layer, call in enumerate(calls):
                weights = call.weights().cpu()
                if weights.shape != (batch.n_heads, n_queries, n_keys):
                    return "its attention has other rows or columns than its text has tokens"
                apart = batch.weights(layer)[n, :, :n_queries, :n_keys] - weights
                if not float(apart.abs().max()) < FURTHEST:
                    return "a text shows other weights in a padded batch"
            if tokens and tokens != (batch.queries[n], batch.keys[n]):
                return "its rows or columns are of other tokens than its text's, in their order"
    return ""


def _alone(
    checkpoint: Checkpoint, text: Text
) -> dict[str, tuple[Sequence[AttentionCall], tuple[Tokens, Tokens] | None]] | str:
    """Kind -> its calls in a pass over one text; of a module of one's own, whose rows may be in any
    order, with the tokens of rows and columns. A reason, in a clause: its passes do not repeat.
    """
    inputs = text.forced.inputs
    if not checkpoint.family.is_own:
        calls = watched_calls(checkpoint, text.forced, inputs, len(inputs[0]))
        return {kind: (of, None) for kind, of in calls.items()}
    targets = [] if text.target is None else [*text.target]
    recording = record_watched(checkpoint, text.forced, inputs[0], targets, Editor())
    if recording.varies:
        return "its passes over one text differ"
    every = recording.attentions.items()
    return {kind: (each.calls, (each.queries, each.keys)) for kind, each in every}


def _plain_ids(tokenizer: Tokenizer, n: int) -> list[int]:
    """Ids of n tokens that are not special, each another one as far as they last."""
    plain = [id for id in range(tokenizer.vocab_size) if not tokenizer.token(id).special]
    return [plain[at % len(plain)] for at in range(n)]


def probe_ids(checkpoint: Checkpoint, n_words: int) -> list[int]:
    """A text of different words, as far as its places last."""
    config = checkpoint.config
    most = min(config.max_len, int(getattr(config, "max_target_len", None) or config.max_len))
    words = [*ascii_lowercase, *digits, *ascii_uppercase][: min(n_words, most)]
    if checkpoint.family.is_own:  # its function may take other words than letters, or fail
        return _plain_ids(source_side(checkpoint.tokenizer), min(n_words, most))
    try:
        ids = source_ids(checkpoint, " ".join(words))
        if len(ids) <= most and 2 * len({*ids}) > len(ids):  # else letters are all one <unk>
            return ids
    except InputError:  # a vocabulary without letters, or more tokens than places
        pass
    special = config.vocab_size // 4  # a vocabulary begins with what is special
    n_others = config.vocab_size - special
    return [special + 7 * at % n_others for at in range(max(1, min(n_words, most - 1)))]


FURTHEST = 1e-4
"""Rounding in a batch moves weights, and probabilities, by less."""
