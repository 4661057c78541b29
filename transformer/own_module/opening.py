"""from_module(): a torch.nn.Module and how text becomes its inputs -> a Checkpoint."""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch import nn

from transformer.checkpoint import About, Checkpoint
from transformer.device import usual_state
from transformer.inputs import (
    COUNT,
    FUNCTION,
    MODULE,
    TEXT,
    InputError,
    Wanted,
    checks,
    is_whole,
    thing,
)
from transformer.own_module.model import FAMILIES, OwnConfig, OwnModel
from transformer.own_module.tokenizer import (
    OwnTokenizer,
    Pieces,
    Splits,
    Vocabulary,
    names_of,
    splitter,
)
from transformer.refusal import items_of
from transformer.tokenizer import Tokenizer
from transformer.vocabulary import PairTokenizer
from transformer.watch.capture.operators import name_of

Writes = Literal["nothing", "continuation", "target"]
SPLITS = Wanted(
    lambda value: callable(value) or callable(getattr(value, "encode", None)),
    "a function, text -> ids, or a tokenizer",
)


@usual_state()
@checks(
    module=MODULE,
    tokenize=SPLITS,
    target_tokenize=SPLITS.or_none,
    writes=TEXT,
    mask=TEXT.or_none,
    run=FUNCTION.or_none,
    detokenize=FUNCTION.or_none,
    max_len=COUNT,
    title=TEXT,
)
def from_module(
    module: nn.Module,
    tokenize: Splits | Vocabulary,
    pieces: Pieces | None = None,
    examples: str | Sequence[str] = (),
    *,
    writes: Writes = "nothing",
    run: Callable[..., Any] | None = None,
    start: int | str | None = None,
    end: int | str | None = None,
    pad: int | str | None = None,
    mask: str | None = None,
    target_tokenize: Splits | Vocabulary | None = None,
    target_pieces: Pieces | None = None,
    detokenize: Callable[[list[int]], str] | None = None,
    classes: Sequence[str] = (),
    max_len: int = 256,
    title: str = "",
) -> Checkpoint:
    """Make a checkpoint of a module of your own, for `explore`, `decode` and `record`.

    module: a torch module, which is put into eval() and is not copied.
    tokenize: text -> its token ids, a list or a tensor [T]; or a tokenizer of the tokenizers or the
        transformers library.
    pieces: the name of each id: a list, a dict either way round, or a tokenizer with get_vocab,
        which `tokenize` may be: then they are left out.
    examples: texts to begin with.
    writes: "nothing"; "continuation" of the text that it reads; or a "target" for a source.
    run: (ids [1, T]), or for a target (source [1, S], target [1, T]) -> logits [1, T, V]; of what
        writes nothing, any output. Left out: the module itself.
    start, end, pad: ids or pieces; a target begins with `start`, which it must have.
    mask: the argument of `run`, or of the module, that takes a mask of the text or source: bool
        [B, T], True at its tokens, False at padding. With it, or where the module knows padding by
        its id `pad`, a survey reads texts in batches, and edits are tried in the rows of one, if
        each shows there what it shows alone.
    target_tokenize: the same as tokenize, of a text that it writes, whose start and end need not be
        there; left out, `tokenize` splits it where both have one vocabulary.
    target_pieces: the same as pieces, where it writes another vocabulary than it reads.
    detokenize: ids -> text; left out, pieces are put together.
    classes: C names, of a classifier that gives logits [1, C].
    max_len: the longest source and the longest target, in tokens.
    title: its name; left out, the module's.

    Returns a `Checkpoint`. Raises InputError where these do not go together.
    """
    if writes not in FAMILIES:
        raise InputError(f"writes must be one of {', '.join(map(repr, FAMILIES))}, not {writes!r}.")
    texts = (examples,) if isinstance(examples, str) else _texts("examples", examples)
    if (start is not None) is not (writes == "target"):
        raise InputError(
            "A module that writes a target needs start, the token that a target begins with; no "
            "other module has one."
        )
    if writes == "nothing" and target_tokenize is not None:
        raise InputError("This module writes nothing: leave target_tokenize out, or say writes.")
    if pieces is None and not hasattr(tokenize, "get_vocab"):
        raise InputError(
            "pieces must name every id; only a tokenizer that has get_vocab does without."
        )
    second = _check_arguments(module, run, writes, mask)
    pieces = cast(Pieces, tokenize) if pieces is None else pieces
    owns = target_tokenize not in (None, tokenize) and hasattr(target_tokenize, "get_vocab")
    if target_pieces is None and owns:
        target_pieces = cast(Pieces, target_tokenize)
    read, names_out = names_of(pieces), names_of(pieces if target_pieces is None else target_pieces)
    if not read:
        raise InputError("pieces must name every id: without names range(n) does.")
    bos, eos, pad_id = (_id(each, names_out) for each in (start, end, pad))
    special = [id for id in (bos, eos, pad_id) if id is not None]
    reads = splitter(tokenize)
    if target_tokenize is None and target_pieces is None:
        target_tokenize = tokenize
    splits = None if target_tokenize is None else splitter(target_tokenize, is_target=True)
    tokenizer: Tokenizer = OwnTokenizer(read, special, reads, detokenize, splits, eos)
    kind = "characters" if getattr(tokenizer, "kind", "") == "characters" else "own"
    source_pad = pad_id
    if target_pieces is not None:
        has_pad = pad in read if isinstance(pad, str) else pad_id is not None and pad_id < len(read)
        source_pad = _id(pad, read) if has_pad else None
        source = OwnTokenizer(read, [] if source_pad is None else [source_pad], reads)
        target = OwnTokenizer(names_out, special, None, detokenize, splits, eos)
        tokenizer = PairTokenizer(source, target)
    name = name_of(module)
    config = OwnConfig(
        module=name,
        vocab_size=len(names_out),
        max_len=max_len,
        pad_id=-1 if pad_id is None else pad_id,
        bos_id=bos,
        eos_id=eos,
        classes=_texts("classes", classes),
        mask=mask,
        source_pad_id=None if target_pieces is None else source_pad or 0,
    )
    family = FAMILIES[writes]
    opens_at = (list(family.attentions)[-1], 0, 0)
    model = OwnModel(module.eval(), config, family.decodes, run, second)
    tensors = chain(module.parameters(), module.buffers())
    return Checkpoint(
        path=_file_of(tokenize) / (title or name),
        about=About("a module of your own", "", kind, texts, opens_at),
        config=config,
        family=family,
        model=model,
        tokenizer=tokenizer,
        device=next((tensor.device for tensor in tensors), torch.device("cpu")),
    )


SECOND = "decoder_input_ids"
"""The name of the target in encoder-decoders of Hugging Face's, where it is not the second one."""


def _check_arguments(
    module: nn.Module, run: Callable[..., Any] | None, writes: Writes, mask: str | None
) -> str | None:
    """Return the name under which a target is given; None: in its place. Raises InputError."""
    try:
        arguments = signature(run or module.forward).parameters
    except (TypeError, ValueError):  # of a function of C nothing is known
        return None
    second = SECOND if writes == "target" and run is None and SECOND in arguments else None
    n_texts = 2 if writes == "target" and second is None else 1
    of_any = any(each.kind is Parameter.VAR_KEYWORD for each in arguments.values())
    usual, by_name = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    texts = [name for name, each in arguments.items() if each.kind is usual][:n_texts]
    names = [name for name, each in arguments.items() if each.kind in (usual, by_name)]
    names = [name for name in names if name not in (*texts, second)]
    if mask is not None and mask not in names and not of_any:
        of = "run" if run else name_of(module)
        there = f"there are {', '.join(names)}" if names else "there are none beside its texts"
        raise InputError(f"{of} has no argument {mask!r} that could take a mask: {there}.")
    return second


def _texts(name: str, values: Any) -> tuple[str, ...]:
    """The texts of a list. Raises InputError."""
    every = items_of(values)
    other = values if every is None else next((it for it in every if not isinstance(it, str)), "")
    if every is None or not isinstance(other, str):
        raise InputError(f"{name} of from_module are texts, in a list: {thing(other)} is none.")
    return tuple(every)


def _id(token: int | str | None, names: Sequence[str]) -> int | None:
    """The id of a token that is given by its id or its piece. Raises InputError."""
    if isinstance(token, str):
        if token not in names:
            raise InputError(f"There is no piece {token!r} among the {len(names)} pieces.")
        return names.index(token)
    if token is not None and not is_whole(token):
        raise InputError(f"A token is an id or a piece, which {thing(token)} is not.")
    if token is not None and not 0 <= token < len(names):
        raise InputError(f"There is no token {token}: the pieces have names from 0 on.")
    return token


def _file_of(function: object) -> Path:
    """Return the file of a function: a path below a file is never one that can be opened."""
    code = getattr(function, "__code__", None)
    return Path(code.co_filename if code else "own_module.py").absolute()
