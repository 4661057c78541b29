"""The spelling of edits: name:place=values, the same in an address, a shell and Python."""

import math
from collections.abc import Iterable

from transformer.discover import discover
from transformer.edits.edit import NUMBERS, Edit, EditError, EditKind, spell
from transformer.refusal import items_of, quoted


def edit_kinds() -> dict[str, EditKind]:
    """name -> kind of edit, for every file of this folder that declares one."""
    return discover("transformer.edits", "EDIT")


def edits_of(edits: Iterable[Edit | str] | None) -> tuple[Edit, ...]:
    """Edits, or how they are spelled, as edits; None: there are none. Raises EditError."""
    if edits is None:
        return ()
    if isinstance(edits, Edit | str):
        edits = (edits,)
    every = items_of(edits)
    if every is None:
        raise EditError(f"{quoted(edits)} is neither an edit nor a list of edits.")
    return tuple(parse(str(edit)) for edit in every)


def parse(spelled: str) -> Edit:
    """The edit that is spelled so. Raises EditError, which says how its kind is spelled.

    >>> parse("head-scale:cross.2.3=0.5") == Edit("head-scale", "cross", (2, 3), (0.5,))
    True
    """
    name, colon, rest = spelled.partition(":")
    kind = edit_kinds().get(name)
    if kind is None:
        names = ", ".join(edit_kinds())
        raise EditError(f"There is no edit {quoted(name)}; there are {names}.")
    where, equals, values = rest.partition("=")
    if kind.text == "none" and equals:
        where, _, values = rest.rpartition("=")
    place, *numbers = where.rsplit(".", len(NUMBERS[kind.of])) if NUMBERS[kind.of] else (where,)
    is_whole = all(part.isascii() and part.isdecimal() and len(part) < 10 for part in numbers)
    if not colon or not place or len(numbers) < len(NUMBERS[kind.of]) or not is_whole:
        raise EditError(f"{quoted(spelled)} is not an edit: write {spelling(kind)}.")
    if kind.text != "none":
        if bool(equals) != bool(values.strip()) or (kind.text == "needed" and not equals):
            raise EditError(f"{quoted(spelled)} is not an edit: write {spelling(kind)}.")
        return Edit(name, place, tuple(map(int, numbers)), text=values)
    entries = tuple(_number(part, spelled, kind) for part in values.split(",")) if equals else ()
    n_more = len(entries) - len(kind.values)
    if n_more < (kind.further is not None) or (n_more and kind.further is None):
        raise EditError(f"{quoted(spelled)} is not an edit: write {spelling(kind)}.")
    more = () if kind.further is None else (kind.further,) * n_more
    for number, value in zip(entries, (*kind.values, *more), strict=True):
        title = value.title.lower()
        if value.is_whole and number != int(number):
            raise EditError(f"{quoted(spelled)}: {title} is a whole number, not {spell(number)}.")
        if not value.least <= number <= value.most:
            raise EditError(
                f"{quoted(spelled)}: {title} lies between {spell(value.least)} and "
                f"{spell(value.most)}; {spell(number)} does not."
            )
    return Edit(name, place, tuple(map(int, numbers)), entries)


def of_any_text(edits: Iterable[str]) -> tuple[str, ...]:
    """Leave out those that name words of the text that they were made for.

    >>> of_any_text(["head-off:cross.2.3", "cut:cross.2.3.5.7", "hide:source.2"])
    ('head-off:cross.2.3',)
    """
    kinds = edit_kinds()
    names = {name for name, kind in kinds.items() if kind.is_of_text}
    return tuple(each for each in edits if each.partition(":")[0] not in names)


def spelling(kind: EditKind) -> str:
    """Spell a kind, with an example of its values.

    >>> spelling(edit_kinds()["cut"])
    'cut:KIND.LAYER.HEAD.QUERY.KEY'
    """
    where = "SIDE" if kind.of == "side" else "PLACE" if kind.closes else "KIND"
    place = ".".join((where, *NUMBERS[kind.of])).upper()
    wanted = [*kind.values, *([kind.further] * 2 if kind.further else [])]
    values = ",".join(spell(value.default) for value in wanted)
    if kind.text != "none":
        values = "SENTENCE"
    return f"{kind.name}:{place}" + (f"={values}" if values else "")


def _number(text: str, spelled: str, kind: EditKind) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        message = f"{quoted(text)} is not a number"
        raise EditError(f"{quoted(spelled)}: {message}; write {spelling(kind)}.")
    return number + 0.0  # no -0.0
