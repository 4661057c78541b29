"""Attentions of a recording, made of kinds: their calls, and the tokens of rows and columns."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, overload

from transformer.inputs import InputError
from transformer.marks import marks_of
from transformer.recording import Attention, AttentionCall
from transformer.recording.check import FOLLOWED, SAME
from transformer.recording.origin import Origin
from transformer.token import UNKNOWN, Token
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.homes import text_in
from transformer.watch.kinds.kind import Kind, keys_of, n_after
from transformer.watch.kinds.naming import Named, doubts, named, texts_of

NO_TEXTS: Mapping[int, int] = MappingProxyType({})
Tokens = Sequence[str | Token] | Mapping[str, Sequence[str | Token]]
"""Tokens of the one text that a model reads; or side, "source" or "target", -> its tokens."""

SPECIAL = re.compile(r"</?(?!unk>)[a-z_]+>|\[(CLS|SEP|PAD|MASK|BOS|EOS)\]|<\|.*\|>")


class Calls(Sequence[AttentionCall]):
    """The calls of one kind, each made when it is first asked for, on the device of the first."""

    def __init__(self, makers: Sequence[Callable[[], AttentionCall]]) -> None:
        self._makers = makers
        self._made: dict[int, AttentionCall] = {}

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Calls({len(self)} layers)"

    def __reduce__(self) -> tuple[type[tuple[Any, ...]], tuple[list[AttentionCall]]]:
        """A copy, or what is sent to another process, has every call made."""
        return tuple, (list(self),)

    @overload
    def __getitem__(self, layer: int) -> AttentionCall: ...
    @overload
    def __getitem__(self, layer: slice) -> tuple[AttentionCall, ...]: ...
    def __getitem__(self, layer: int | slice) -> AttentionCall | tuple[AttentionCall, ...]:
        if isinstance(layer, slice):
            return tuple(self[each] for each in range(len(self))[layer])
        layer = range(len(self))[layer]
        if layer not in self._made:  # two threads may both make it: the same numbers
            made, first = self._makers[layer](), next(iter(self._made.values()), None)
            self._made[layer] = made if first is None else made.on(first.q.device)
        return self._made[layer]


def maker(seen: Seen) -> Callable[[], AttentionCall]:
    """Prepare to make the call that was seen, with the matrix that joins its heads."""
    make, projection = seen.make, seen.projection
    sample, trace = seen.sample, seen.trace

    def call() -> AttentionCall:
        made = replace(make(), sample=sample, trace=trace)
        if projection is None:
            return made
        return replace(made, projection=projection, has_output=True)

    return call


Sides = Mapping[str, tuple[Token, ...]]


def sides_of(
    kinds: Mapping[str, Kind], tokens: Tokens | None, n_positions: Mapping[int, int] = NO_TEXTS
) -> Sides:
    """The tokens of each side that the model has, as given or numbered. Raises InputError.

    n_positions: of each text among its inputs, where the pass was followed.
    """
    sides = tokens if isinstance(tokens, Mapping) else {} if tokens is None else {"source": tokens}
    lengths = dict(_lengths(kinds, len(sides.get("source", ()))))
    texts = texts_of(kinds.values())
    for side, text in texts.items():
        n, own = n_positions[text], len(sides.get(side, ()))
        if side not in lengths or (own == n and own not in lengths[side]):
            lengths[side] = n, n
    if not lengths and n_positions:  # nothing that attends is a text's: said in a note
        return {side: as_tokens(each) for side, each in sides.items()}
    unknown = sorted(set(sides) - set(lengths))
    if unknown and not lengths:  # as where a module adds tokens of its own, fixed ones
        n, read = (
            len(sides[unknown[0]]),
            {size for kind in kinds.values() for size in kind.sizes[1:]},
        )
        more = f", {max(read) - n} more" if max(read) > n else ""
        raise InputError(
            f"There are {n} tokens for the {unknown[0]}, and attention runs over "
            f"{' or '.join(map(str, sorted(read)))} positions{more}: which of them are the text's "
            "is not known, so leave tokens out, or give one for each position."
        )
    if unknown:
        raise InputError(
            f"There are tokens for {', '.join(map(repr, unknown))}, but what this model reads is "
            f"{' and '.join(map(repr, lengths)) or 'not known'}."
        )
    for side, each in sides.items():
        n_queries, n_keys = lengths[side]
        is_cut = n_queries < n_keys < len(each)  # a cache that holds a window only
        if len(each) not in lengths[side] and not is_cut:
            sizes = " or ".join(map(str, sorted(set(lengths[side]))))
            raise InputError(
                f"There are {len(each)} tokens for the {side}, but the model read {sizes} there."
            )
    by_text = {texts[side]: each for side, each in sides.items() if side in texts}
    result = {}
    for side, (_, n_keys) in lengths.items():
        of_side = sides.get(side)
        same = by_text.get(texts.get(side, -1), ())  # both sides may read one text
        of_side = same if of_side is None and len(same) == n_keys else of_side
        result[side] = numbered(n_keys) if of_side is None else as_tokens(of_side)
    return result


def _lengths(kinds: Mapping[str, Kind], n_given: int = 0) -> Iterator[tuple[str, tuple[int, int]]]:
    """Side -> its queries and keys in the pass; there are more keys where a cache had some.

    n_given: tokens that somebody gives for the source. What reads itself may be other states than
    those that cross-attention reads: the latents of a Perceiver, which read the text.
    """
    sizes: dict[str | None, tuple[int, int, int]] = {}
    for kind in kinds.values():
        n_heads, n_queries, n_keys = kind.sizes
        sizes.setdefault(kind.role, (n_heads, n_queries, n_keys - n_after(kind.calls[0])))
    own = "target" if "cross" in sizes or "encoder_self" in sizes else "source"
    _, n_rows, n_keys = sizes.get("cross", (0, 0, 0))
    if "encoder_self" in sizes:  # no cache: more keys than queries are no words
        n_words = min(sizes["encoder_self"][1:])
        n_words = n_keys if 0 < n_given == n_keys else n_words
        yield "source", (n_words, n_words)
    elif "cross" in sizes:
        yield "source", (n_keys, n_keys)
    if "decoder_self" in sizes:
        yield own, sizes["decoder_self"][1:]
    elif "cross" in sizes:
        yield "target", (n_rows, n_rows)


def attention_of(
    name: str,
    kinds: Mapping[str, Kind],
    sides: Sides,
    n_positions: Mapping[int, int] = NO_TEXTS,
    *,
    named_sides: Collection[str] = (),
) -> tuple[Attention, tuple[Named, Named]]:
    """Name rows and columns after the tokens of their side; and how that was done.

    n_positions: as `sides_of` takes them. named_sides: those whose tokens somebody gave.
    """
    kind = kinds[name]
    _, n_queries, n_keys = kind.sizes
    own, of = _sides(kind, kinds.values(), sides)
    cached = _cached(kind, kinds.values())
    numbers = {side: numbered(len(each)) for side, each in sides.items()}
    queries = _rows(numbers[own], n_queries, cached) if own else None
    is_whole = queries is not None or kind.role == "cross"
    keys = keys_of(numbers[of], kind.calls[0], cached) if of and is_whole else None
    texts = {side: (it, n_positions[it]) for side, it in texts_of(kinds.values()).items()}
    homes = kind.calls[0].homes
    of_rows, of_columns = (None, None) if homes is None else homes
    named_rows, named_columns = (
        named(
            labels,
            slots,
            sides.get(side, ()),
            texts.get(side),
            is_given=side in named_sides,
        )
        for labels, slots, side in ((of_rows, queries, own), (of_columns, keys, of))
    )
    attention = Attention(
        kind=name,
        queries=named_rows.tokens or numbered(n_queries),
        keys=named_columns.tokens or numbered(n_keys),
        calls=Calls([maker(call) for call in kind.calls]),
        role=kind.role,
        is_softmax=kind.is_softmax,
        numbers=kind.numbers,
    )
    named_axes = named_rows, named_columns
    return with_names(attention, kind, *named_axes), named_axes


def with_names(attention: Attention, kind: Kind, rows: Named, columns: Named) -> Attention:
    """The same with how its names were got, and what the layers of its kind say against them."""
    is_same = columns.by == FOLLOWED and columns.tokens == rows.tokens
    wrong, unproven = doubts(kind)
    whys = (("rows", rows.why), ("columns", columns.why))
    return replace(
        attention,
        rows_by=rows.by,
        columns_by=SAME if is_same else columns.by,
        unnamed=tuple(f"whose {what} are numbered, for {why}" for what, why in whys if why),
        contradictions=wrong,
        unproven=unproven,
    )


def _sides(kind: Kind, kinds: Iterable[Kind], sides: Sides) -> tuple[str, str]:
    """The sides of queries and keys, each empty where it is not known."""
    if kind.role is None:
        return _sides_by_text(kind, kinds, sides)
    own = "target" if kind.role in ("decoder_self", "cross") and "target" in sides else "source"
    if kind.role != "cross":
        return own, own
    first = next(each for each in kinds if each.role == "cross")
    return (own, "source") if first is kind or kind.is_softmax else _read_as(kind, first, own)


def _sides_by_text(kind: Kind, kinds: Iterable[Kind], sides: Sides) -> tuple[str, str]:
    """The same of a kind of no known role: the sides of the texts that its rows are of."""
    homes = kind.calls[0].homes
    if homes is None:
        return "", ""
    of_texts = {text: side for side, text in texts_of(kinds).items() if side in sides}
    of_rows, of_columns = map(text_in, homes)
    n_given = len(sides.get("source", ()))
    if of_rows is None and kind.sizes[1:] == (n_given, n_given) and bool((homes[0] >= 0).all()):
        return "source", "source"  # several texts, one after the other
    return (
        "" if of_rows is None else of_texts.get(of_rows, ""),
        "" if of_columns is None else of_texts.get(of_columns, ""),
    )


def _read_as(kind: Kind, first: Kind, own: str) -> tuple[str, str]:
    """The sides of another cross-attention: two sequences may read each other."""
    queries, keys = _states(kind)
    _, of_first = _states(first)
    is_turned = not keys & of_first and bool(queries & of_first)
    return ("source", own) if is_turned else (own, "source")


def _states(kind: Kind) -> tuple[set[int], set[int]]:
    """Numbers of the states that its first queries and its values are made of."""
    call = kind.calls[0]
    if call.trace is None:
        return set(), set()
    origin = Origin(call.make(), call.trace)
    return {read.states.number for read in origin.queries}, set(origin.columns)


def _cached(kind: Kind, kinds: Iterable[Kind]) -> bool:
    """Tell whether its queries are the last of a sequence, whose other keys are of earlier passes.

    Else fewer queries than tokens are others: an encoder has shortened what it reads.
    """
    return kind.role != "encoder_self" and any(
        each.role == "decoder_self" and kind.sizes[1] == each.sizes[1] < each.sizes[2]
        for each in kinds
    )


def _rows(tokens: tuple[Token, ...], n: int, are_last: bool) -> tuple[Token, ...] | None:
    """The tokens of n queries; None where it is not known which they are."""
    n_before = len(tokens) - n
    return tokens[n_before:] if n_before == 0 or (are_last and n_before > 0) else None


@lru_cache(maxsize=16)
def numbered(n: int) -> tuple[Token, ...]:
    """Tokens of a sequence of n whose pieces are not known: their positions."""
    return tuple(Token(i, str(i)) for i in range(n))


def as_tokens(tokens: Sequence[str | Token]) -> tuple[Token, ...]:
    """Make tokens of pieces; the id of each is where it first stood. Raises InputError."""
    others = [each for each in tokens if not isinstance(each, str | Token)]
    if others:
        raise InputError(
            "Tokens are the pieces of the text, in strings, not "
            f"{type(others[0]).__name__}: ids go into the inputs."
        )
    firsts: dict[str, int] = {}
    marks = marks_of(each for each in tokens if isinstance(each, str))

    def named(i: int, piece: str) -> Token:
        id = firsts.setdefault(piece, i)
        token = marks.token(id, piece, is_special(piece), piece in UNKNOWN)
        is_named = token.piece == piece  # else it is in bytes, which are its name all the same
        return token if is_named else replace(token, piece=piece, text=token.piece)

    return tuple(
        each if isinstance(each, Token) else named(i, each) for i, each in enumerate(tokens)
    )


def is_special(piece: str) -> bool:
    """Tell whether a piece is written as padding, start, end and the like are.

    >>> is_special("<pad>"), is_special("[CLS]"), is_special("pad")
    (True, True, False)
    """
    return bool(SPECIAL.fullmatch(piece))
