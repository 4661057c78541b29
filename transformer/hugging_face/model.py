"""Models of Hugging Face's library, as decoding and recording ask for them; and sentence pairs."""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint, check_open
from transformer.hugging_face.tokenizer import ALIKE, Ends, HuggingFaceTokenizer
from transformer.hugging_face.writing.method_defaults import Room, room
from transformer.hugging_face.writing.settings import rules_for
from transformer.in_a_line import in_a_line
from transformer.inputs import TEXT, InputError, check_length, checks
from transformer.models.family import Family, Ids
from transformer.recording.vector import Pooling
from transformer.token import Token
from transformer.tokenizer import Tokenizer
from transformer.watch.module import BESIDE_TEXT, lacking, names

# Models of Hugging Face's library, as decoding and recording ask for them.
#
# Nothing is known of their modules: their attention is recorded by watching
# (`transformer/watch/`). Only files of this name may import `transformers`, and only inside a
# function.


@dataclass(frozen=True)
@in_a_line
class HuggingFaceConfig:
    """The library's configuration, under this project's names."""

    architecture: str
    vocab_size: int
    max_len: int
    pad_id: int
    eos_id: int | None
    eos_ids: frozenset[int] = frozenset()
    """Any of these ends what is written."""
    writing: Mapping[str, Any] = field(default_factory=dict)
    """Its folder's settings for writing, as `rules_for` and `room` take them."""
    max_target_len: int | None = None
    """The longest target, start tokens included; None: as long as a source."""
    start_ids: tuple[int, ...] = ()
    """The tokens that decoding feeds first, beside a source; the second may be a language's."""
    mask_id: int | None = None
    """The token of a masked language model that asks what stands there."""
    languages: tuple[str, ...] = ()
    """Codes of those that a translator may be told to read and write: see `translating`."""
    source_language: str | None = None
    target_language: str | None = None
    """None: nothing says it, and the model's first token is what it takes for one."""
    templates: tuple[str, ...] = ()
    """Names of its chat templates, the first one is usual: see `chatting`."""
    classes: tuple[str, ...] = ()
    """The names of a classifier's classes, as the configuration has them."""
    numbers: tuple[str, ...] = ()
    """The names of the numbers that a model puts on a text in place of a class."""
    is_exclusive: bool = True
    """True: a classifier puts a text in one class alone."""
    reads_pairs: bool = False
    """True: a second text may follow the first; see `pairing`."""
    gives_positions: bool = False
    """True: a decoder by itself, which is told its tokens' positions, from 0, in every pass."""
    ends: Ends = ALIKE
    """Both ends of whatever it reads: its second text, and segments that are not 0."""
    pooling: Pooling | None = None
    """The way from a text's states to its vector, where the folder names one."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The whole configuration, as its file says it."""

    def to_dict(self) -> dict[str, Any]:
        return dict(self.values)

    @cached_property
    def widths(self) -> frozenset[int]:
        """The sizes of all vocabularies that the configuration names: of a source, of a target."""
        return frozenset({self.vocab_size, *_vocabularies(self.values)})


def _vocabularies(values: Any) -> Iterator[int]:
    for name, value in values.items() if isinstance(values, Mapping) else ():
        if isinstance(value, int) and "vocab_size" in name:
            yield value
        yield from _vocabularies(value)


class State:
    """The state of decoding: the keys and values that the model keeps, or the tokens."""

    def __init__(self, read: Tensor, named: dict[str, Any] | None = None) -> None:
        self.read = read
        """[B, T]"""
        self.named = named or {}
        """Further arguments: what the encoder made of a source."""
        self.cache: Any = None

    def reorder(self, parents: Tensor) -> None:
        """Continue with these rows [B] of the batch."""
        self.read = self.read[parents]
        self.named = {name: _rows(value, parents) for name, value in self.named.items()}
        if self.cache is not None:
            self.cache.reorder_cache(parents)


class HuggingFaceModel(nn.Module):
    """A model of the library; its arguments are token ids of one sequence."""

    def __init__(self, inner: nn.Module, config: HuggingFaceConfig) -> None:
        super().__init__()
        self.inner, self.config = inner, config

    def forward(self, *inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """The forced pass. inputs: the text, or source and target, [1, T] -> logits [1, T, V].

        mask: of the first of them [1, T], 0 at padding; None: there is none. Models without logits
        per token return their hidden states, or the logits of classes.
        """
        names = ("input_ids", "decoder_input_ids")
        named = dict(zip(names, inputs, strict=False))
        mask = torch.ones_like(inputs[0]) if mask is None else mask
        if self.config.ends.first or self.config.ends.last:
            # Segments of all tokens, 0 at padding: mask [B, T] -> [B, T].
            rows = torch.zeros_like(mask)
            for row, n in zip(rows, mask.sum(-1).tolist(), strict=True):
                row[:n] = mask.new_tensor(self.config.ends.segments(n))
            named["token_type_ids"] = rows
        named |= self._positions(inputs[0])
        # Logits where a model has some, else what its first output is: hidden states.
        output = self._run(attention_mask=mask, use_cache=False, **named)
        logits = output.get("logits")
        first: Tensor = output[0] if logits is None else logits
        result = first
        if len(result) != len(mask):
            raise InputError(
                f"{self.config.architecture} gives {len(result)} rows of numbers for {len(mask)}: "
                "it reads several texts as one, and is not shown here."
            )
        return result

    def start(self, source: Tensor, mask: Tensor | None = None) -> State:
        """Read a source [1, S], or a prompt [1, S] without its last token.

        mask: of several sources [B, S], 0 at padding; None: there is none.
        """
        if self.config.start_ids:
            mask = torch.ones_like(source) if mask is None else mask
            encoder: Any = self.inner
            named = {"input_ids": source, "attention_mask": mask}
            with _in_a_sentence(self.inner, named):
                read = encoder.get_encoder()(**named)
            return State(source[:, :0], {"encoder_outputs": read, "attention_mask": mask})
        state = State(source[:, :0])
        if source.size(1) > 1:
            self.advance(state, source[:, :-1])
        return state

    def first(self, source: Tensor) -> Tensor:
        """The tokens that decoding feeds first: source [1, S] -> [1, n]."""
        if self.config.start_ids:
            return source.new_tensor([self.config.start_ids])
        return source[:, -1:]

    def room(self, n_source: int) -> int:
        """Return how many tokens may follow a source or a prompt of n_source tokens."""
        return self._room(n_source).n_tokens

    def _room(self, n_source: int) -> Room:
        config, n_starts = self.config, len(self.config.start_ids)
        longest = (config.max_target_len if n_starts else None) or config.max_len
        return room(config.writing, n_source, n_starts, longest)

    def rules(self, source: Tensor, limit: int) -> Callable[[Tensor, Tensor], Tensor] | None:
        """Make its folder's rules for writing at most `limit` tokens; None: there are none."""
        config = self.config
        if not config.writing:
            return None
        own = self._room(source.size(1))
        is_cut = own.is_cut and limit >= own.n_tokens
        return rules_for(config.writing, source, config.start_ids, limit, config.eos_ids, is_cut)

    def advance(self, state: State, target: Tensor) -> Tensor:
        """Feed tokens [B, T] not seen yet; returns logits [B, T, V] and moves the state.

        A model that keeps no keys and values reads everything again.
        """
        state.read = torch.cat([state.read, target], dim=1)
        ids = state.read if state.cache is None else target
        named = dict(state.named)
        if self.config.start_ids:
            named["decoder_input_ids"] = ids
        else:
            named |= {"input_ids": ids, "attention_mask": torch.ones_like(state.read)}
            positions = self._positions(state.read)
            named |= {name: each[:, -ids.size(1) :] for name, each in positions.items()}
        output = self._run(past_key_values=state.cache, use_cache=True, **named)
        state.cache = output.get("past_key_values")
        return self._logits(output)[:, -target.size(1) :]

    def _positions(self, read: Tensor) -> dict[str, Tensor]:
        """Number the tokens of all that is read [B, T], from 0, as `generate` does.

        By themselves some (Bamba, MiniMax) count from 0 whatever their cache holds, and RoBERTa's
        kind from padding_idx + 1, as it was trained; what `generate` writes is from 0 all the same.
        """
        if not self.config.gives_positions:
            return {}
        return {"position_ids": torch.arange(read.size(1), device=read.device).expand_as(read)}

    def _logits(self, output: Any) -> Tensor:
        """Raises InputError for numbers that are not of a vocabulary."""
        logits = output.get("logits")
        n = 0 if logits is None else logits.size(-1)
        if logits is None or n not in self.config.widths:
            raise InputError(
                f"{self.config.architecture} gives {n or 'no'} numbers for each token to come, and "
                f"its vocabulary has {self.config.vocab_size:,} tokens: it writes nothing here."
            )
        return logits

    def _run(self, **named: Any) -> Any:
        """Not every model keeps a cache or reads a mask."""
        parameters = inspect.signature(type(self.inner).forward).parameters
        with _in_a_sentence(self.inner, named):
            return self.inner(
                **{name: value for name, value in named.items() if name in parameters}
            )


@contextmanager
def _in_a_sentence(model: nn.Module, arguments: Collection[str]) -> Iterator[None]:
    """A configuration may ask for what only fails once the model runs, with errors of any kind.

    arguments: the names of what it reads of a text.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        message = str(error)
        of_text = {*arguments, "decoder_input_ids"}
        left = [name for name in lacking(model, (), {}, message) if name not in of_text]
        reads_ids = "input_ids" in inspect.signature(type(model).forward).parameters
        absent = [
            each for each in left if each in BESIDE_TEXT or names(message, each) or not reads_ids
        ]
        if absent:
            raise InputError(
                f"The model cannot run over a text only: it also reads {', '.join(absent)}. It "
                "is recorded from Python, with record(module, inputs): docs/models.md."
            ) from error
        first = next(iter(message.splitlines()), "") or type(error).__name__
        raise InputError(f"The model cannot run over this text: {first[:300]}") from error


def _rows(value: Any, rows: Tensor) -> Any:
    """These rows of a tensor, or of every tensor in an output of the library."""
    if isinstance(value, Tensor):
        return value[rows]
    if isinstance(value, Mapping):
        return type(value)(**{name: _rows(each, rows) for name, each in value.items()})
    return value


# Sentence pairs: a second text, which an encoder reads behind the first (Devlin et al. 2019).
#
# The tokenizer joins both as its folder says: BERT's writes [CLS] A [SEP] B [SEP], with segments
# 0 and 1 (token_type_ids), RoBERTa's <s> A </s></s> B </s>, without segments.

PROBE = "a"
"""A text for which it is seen how a tokenizer joins two."""


@checks(second=TEXT)
def pairing(checkpoint: Checkpoint, second: str) -> Checkpoint:
    """Give the same model, for texts that a second one follows; nothing is loaded again.

    checkpoint: an encoder of Hugging Face's that reads pairs; open, or its name or path.
    second: B. A text is then A, joined with it as the folder's tokenizer does (Devlin et al. 2019,
        section 3). Neither is ever cut.

    Returns a `Checkpoint` that shares the weights. Raises InputError for a model that reads one
    text, and for a text of nothing.
    """
    check_open(checkpoint)
    config, tokenizer, model = checkpoint.config, checkpoint.tokenizer, checkpoint.model
    if (
        not isinstance(config, HuggingFaceConfig)
        or not isinstance(tokenizer, HuggingFaceTokenizer)
        or not isinstance(model, HuggingFaceModel)
        or not config.reads_pairs
    ):
        raise InputError(f"{checkpoint.name} reads one text: leave the second one out.")
    second = second.strip()
    check_length(second)
    ends = tokenizer.ends(PROBE, second) if second else ALIKE
    if not ends.n_second:
        raise InputError("The second text holds nothing that the model can read: type a sentence.")
    _check_segments(checkpoint, ends)
    config = replace(config, ends=ends)
    paired = HuggingFaceModel(model.inner, config).eval()
    return replace(checkpoint, config=config, tokenizer=tokenizer.for_pair(second), model=paired)


def reads_pairs(family: Family, tokenizer: Tokenizer) -> bool:
    """Tell whether it reads, and its tokenizer puts a special token between two texts."""
    return bool(_ends(family, tokenizer, PROBE).n_second)


def tells_segments(family: Family, tokenizer: Tokenizer) -> bool:
    """Tell whether its tokenizer gives the second of two texts segments of its own."""
    return any(_ends(family, tokenizer, PROBE).last)


def ends_of_one(family: Family, tokenizer: Tokenizer) -> Ends:
    """Find the segments at both ends of any text: XLNet's and Funnel's have one of their own."""
    return _ends(family, tokenizer, None)


def _ends(family: Family, tokenizer: Tokenizer, second: str | None) -> Ends:
    if family.decodes or not isinstance(tokenizer, HuggingFaceTokenizer):
        return ALIKE
    try:
        return tokenizer.ends(PROBE, second)
    except Exception:  # of a damaged one, which is said once it is to read a text
        return ALIKE


def of_two_texts(
    checkpoint: Checkpoint, tokens: tuple[Token, ...], sources: Ids
) -> tuple[Token, ...]:
    """Say of each token which text of a pair it is of; special ones belong to the text before.

    sources: what the model reads; a decoder may read the same, moved on by one.
    """
    config = checkpoint.config
    if not isinstance(config, HuggingFaceConfig) or not config.ends.n_second:
        return tokens
    ids = [token.id for token in tokens]
    moved = next((n for n in (0, 1) if ids[n:] == list(sources[: len(sources) - n])), None)
    if moved is None or len(ids) != len(sources):
        return tokens
    at = len(sources) - config.ends.n_second + moved
    return tuple(replace(it, segment="A" if i < at else "B") for i, it in enumerate(tokens))


def _check_segments(checkpoint: Checkpoint, ends: Ends) -> None:
    config: Any = checkpoint.config
    n_segments = config.values.get("type_vocab_size")
    last = max((*ends.first, *ends.last), default=0)
    if isinstance(n_segments, int) and 0 < n_segments <= last:
        raise InputError(
            f"{checkpoint.name} has {n_segments} segments, and its tokenizer gives a second text "
            f"the segment {last}, counted from 0: it reads no pairs."
        )
