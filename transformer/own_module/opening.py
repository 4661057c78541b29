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
    special_of,
    splitter,
)
from transformer.refusal import items_of
from transformer.tokenizer import Tokenizer
from transformer.vocabulary import PairTokenizer
from transformer.watch.capture.operators import name_of
from transformer.watch.kinds.attention import is_special

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
    source_pad: int | str | None = None,
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
    start, end, pad: ids or pieces, of the target where that has a vocabulary of its own; a target
        begins with `start`, which it must have.
    source_pad: the same as pad, of such a target's source; left out, it is the piece that `pad` is,
        or another special one of its id.
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
    has_two = target_pieces is not None
    of = " of the target" if has_two else ""
    bos, eos = _id(start, names_out, of), _id(end, names_out, of)
    pad_id = _id(pad, names_out, f"{of}, whose pad it is; source_pad is the source's" if of else "")
    special = [id for id in (bos, eos, pad_id) if id is not None]
    reads = splitter(tokenize)
    if target_tokenize is None and target_pieces is None:
        target_tokenize = tokenize
    splits = None if target_tokenize is None else splitter(target_tokenize, is_target=True)
    source_special = special_of(tokenize, pieces)
    special += special_of(target_tokenize, target_pieces) if has_two else source_special
    tokenizer: Tokenizer = OwnTokenizer(read, special, reads, detokenize, splits, eos)
    kind = "characters" if getattr(tokenizer, "kind", "") == "characters" else "own"
    source_pad_id = _id(source_pad, read, " of the source")
    if has_two:
        target = OwnTokenizer(names_out, special, None, detokenize, splits, eos)
        if source_pad_id is None:
            source_pad_id = _same(pad, OwnTokenizer(read, source_special), target)
        pads = [] if source_pad_id is None else [source_pad_id]
        tokenizer = PairTokenizer(OwnTokenizer(read, [*pads, *source_special], reads), target)
    elif source_pad is not None:
        raise InputError("Source and target have one vocabulary: say pad, and leave source_pad.")
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
        source_pad_id=-1 if has_two and source_pad_id is None else source_pad_id,
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


def _id(token: int | str | None, names: Sequence[str], of: str = "") -> int | None:
    """The id of a token that is given by its id or its piece; of: whose. Raises InputError."""
    if isinstance(token, str):
        if token not in names:
            raise InputError(f"There is no piece {token!r} among the {len(names)} pieces{of}.")
        return names.index(token)
    if token is not None and not is_whole(token):
        raise InputError(f"A token is an id or a piece, which {thing(token)} is not.")
    if token is not None and not 0 <= token < len(names):
        raise InputError(f"There is no token {token} among the {len(names)} pieces{of}.")
    return token


def _same(pad: int | str | None, source: OwnTokenizer, target: OwnTokenizer) -> int | None:
    """The id in a source of the padding of a target, if it has such a piece.

    Raises InputError for an id that means words in the two: one of them would be taken for padding.
    """
    pieces = [source.token(id) for id in range(source.vocab_size)]
    if isinstance(pad, str):
        return next((it.id for it in pieces if it.piece == pad), None)
    if pad is None or pad >= len(pieces):
        return None
    one, other = pieces[pad], target.token(pad)
    if one.piece == other.piece or (one.special and is_special(other.piece)):
        return pad
    if is_special(other.piece):
        return None
    raise InputError(
        f"pad is the target's, where {pad} is {other.piece!r}, and {one.piece!r} in the source: "
        f"say source_pad={pad} if that is meant, and pad by its piece if there is any."
    )


def _file_of(function: object) -> Path:
    """Return the file of a function: a path below a file is never one that can be opened."""
    code = getattr(function, "__code__", None)
    return Path(code.co_filename if code else "own_module.py").absolute()
