"""Every kind of edit says what it is and is spelled one way; what is spelled wrongly is refused."""

import random

import pytest

from transformer import Edit, EditError
from transformer.edits import EditKind, edit_kinds, edits_of, parse
from transformer.edits.edit import NUMBERS
from transformer.edits.spelling import spelling
from viz.formula import mathml

KINDS = edit_kinds()
each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@each
def test_it_says_what_it_is(kind: EditKind) -> None:
    assert kind.title and kind.explain.endswith(".")
    assert mathml(kind.formula)
    functions = ("scores", "heads", "states", "places", "encodings", "frequencies", "bias", "words")
    functions += ("closes",)
    assert sum(getattr(kind, name) is not None for name in functions) == 1
    if kind.zero:
        (factor,) = kind.values
        none = KINDS[kind.zero]
        assert factor.slider and (none.of, none.values, none.zero) == (kind.of, (), "")
    assert kind.source == "" or not kind.source.endswith(".")


def some(kind: EditKind, dice: random.Random) -> Edit:
    wanted = [*kind.values, *([kind.further] * dice.randint(1, 4) if kind.further else [])]
    values = []
    for value in wanted:
        least, most = max(value.least, -1e6), min(value.most, 1e6)
        number = dice.choice([value.default, least, most, dice.uniform(least, most)])
        values.append(float(round(number)) if value.is_whole else number)
    place = (
        "source" if kind.of == "side" else dice.choice(["cross", "encoder_self", "a.b", "x 2/3"])
    )
    text = ""
    if kind.text == "needed" or (kind.text == "optional" and dice.random() < 0.5):
        text = dice.choice(["The cat sleeps.", "a=b, c=1.5", "x:y.0.1=2", " é = ü "])
    numbers = tuple(dice.randint(0, 40) for _ in NUMBERS[kind.of])
    return Edit(kind.name, place, numbers, tuple(values), text)


@each
def test_spelling_and_reading_are_each_others_inverse(kind: EditKind) -> None:
    dice = random.Random(0)
    for _ in range(200):
        edit = some(kind, dice)
        assert parse(str(edit)) == edit
        assert str(parse(str(edit))) == str(edit)


@each
def test_what_is_spelled_wrongly_is_refused_in_one_sentence(kind: EditKind) -> None:
    right = str(some(kind, random.Random(1)))
    place, equals, _ = right.partition("=")
    wrong = [f"{kind.name}", f"{kind.name}:", f"{place}=", "="]
    if kind.text == "none":
        wrong += [f"{place}=x", f"{place}=nan", f"{place}=inf"]
        wrong += [place] if equals else [f"{place}=1"]
    wrong += [right.replace("0", "-x")] if NUMBERS[kind.of] and "0" in place else []
    for text in wrong:
        with pytest.raises(EditError) as said:
            parse(text)
        assert str(said.value).endswith(".")
    with pytest.raises(EditError, match=f"There is no edit 'x{kind.name}'"):
        parse(f"x{right}")
    assert spelling(kind).startswith(f"{kind.name}:")


def test_edits_may_be_given_as_data_or_as_text() -> None:
    edit = Edit("head-scale", "cross", (2, 3), (0.5,))
    assert edits_of([edit, "head-scale:cross.2.3=0.50"]) == (edit, edit)
    assert edits_of("head-off:cross.0.1") == (Edit("head-off", "cross", (0, 1)),)
    assert str(parse("arrow-scale:cross.0.1.2.3=1e-5")) == "arrow-scale:cross.0.1.2.3=1e-05"


def test_a_number_out_of_its_range_is_named() -> None:
    with pytest.raises(EditError, match="factor lies between 1e-06 and 1000000; 0 does not"):
        parse("arrow-scale:cross.0.0.0.0=0")
    with pytest.raises(EditError, match=r"positions is a whole number, not 1\.5"):
        parse("positions-shift:source=1.5")
