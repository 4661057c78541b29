"""The Screen and its spelling: each other's inverse, for every screen and for any address."""

import random
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from transformer.discover import discover
from transformer.edits import EditKind, edit_kinds
from transformer.edits.edit import NUMBERS
from viz import spelling
from viz.choice import choices, with_entry
from viz.page_fields import FIELDS, CompareFields, ExperimentFields
from viz.screen import (
    Screen,
    all_choices,
    choose,
    default,
    link,
    parse,
    put,
    query,
    spell,
    value_of,
)
from viz.spelling import Spelling
from viz.state.focus import elsewhere

NASTY = [
    "",
    " ",
    "a b",
    "a&b=c",
    "ä⏎🙂",
    "%20",
    "q5,k3",
    "none",
    "1e400",
    "../..",
    "+",
    "#",
    "\0\n",
]


def some_text(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(NASTY)
    return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xD800)))) for _ in "abc")


def some_wholes(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.randrange(10**9) for _ in range(rng.randrange(4)))


def some_heads(rng: random.Random) -> tuple[tuple[str, int, int], ...]:
    kinds = ("cross", "a.b,c", *filter(None, NASTY))
    return tuple((rng.choice(kinds), *(rng.randrange(99) for _ in "ab")) for _ in range(2))


def some_ids(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.randrange(10**6) for _ in range(rng.randrange(1, 5)))


def some_number(rng: random.Random) -> float:
    return rng.choice((0.1, 2.0, -3.5, 1e-9, 1e22, 0.6, rng.random()))


VALUES: list[tuple[Spelling, Any]] = [
    (spelling.TEXT, some_text),
    (spelling.NAME, lambda rng: some_text(rng) or "x"),
    (spelling.PAGE, lambda rng: some_text(rng) or "x"),
    (spelling.WHOLE, lambda rng: rng.randrange(10**9)),
    (spelling.NUMBER, some_number),
    (spelling.YES, lambda rng: True),
    (spelling.WHOLES, some_wholes),
    (spelling.HEADS, some_heads),
    (spelling.PAIR, lambda rng: (rng.randrange(99), rng.randrange(99))),
    (spelling.PINS, lambda rng: ("q5", f"k{rng.randrange(10**6)}")),
    (spelling.EDITS, lambda rng: some_edits(rng)),
    (spelling.IDS, lambda rng: some_ids(rng)),
    (spelling.PHRASES, lambda rng: tuple(dict.fromkeys(some_ids(rng) for _ in "ab"))),
    (
        spelling.TURNS,
        lambda rng: tuple(("assistant", some_text(rng)) for _ in range(1, rng.randrange(2, 5))),
    ),
    (spelling.NUMBERS, lambda rng: entries(rng, some_number)),
    (spelling.HUB_NAME, lambda rng: f"some/model-{rng.randrange(9)}.v_1"),
    (spelling.NAMES, lambda rng: entries(rng, lambda rng: some_text(rng) or "x")),
]
MAKERS = {id(spelled): make for spelled, make in VALUES}
CHOICES = {
    "rows": ("produced", "read"),
    "special": ("shown", "hidden", "renormalised"),
    "between": ("all", "a-b", "b-a", "a-a", "b-b"),
    "picture": ("arrows", "map", "inside"),
    "column": ("one", "two"),
    "scale": ("root", "linear"),
    "decode_as": ("tree", "steps", "text"),
    "pooling": ("largest", "mean"),
    "masks": ("used", "textbook"),
    "tokens": ("words", "pieces"),
    "tint": ("off", "log_prob", "rank", "entropy"),
    "sweep_over": ("sentence", "sentences"),
    "tool": ("look", "heads", "arrows"),
    "asks": ("there", "back"),
    "heads_of": ("all", "one", "ask"),
    "role": ("stage", "presenter", "audience"),
}


def some_edits(rng: random.Random) -> tuple[str, ...]:
    head = f"{rng.randrange(9)}.{rng.randrange(9)}"
    found = [f"head-off:cross.{head}", f"cut:a b.c.{head}.5.7", f"head-scale:cross.{head}=0.5"]
    found.append(f"head-from:cross.{head}=50 % of 3/4 is %2F, isn't it?")
    return tuple(rng.sample(found, rng.randrange(1, 4)))


def entries(rng: random.Random, value: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted({some_text(rng) or "x": value(rng) for _ in range(2)}.items()))


def some_screen(rng: random.Random) -> Screen:
    """About half of the fields are chosen."""
    chosen: dict[str, Any] = {}
    for name, each in all_choices().items():
        if rng.random() < 0.5:
            spelled = each.metadata["spelling"]
            is_one = name in CHOICES
            chosen[name] = rng.choice(CHOICES[name]) if is_one else MAKERS[id(spelled)](rng)
    return put(Screen(), **chosen)


SEEDS = 200


def test_every_screen_reads_back() -> None:
    for seed in range(SEEDS):
        screen = some_screen(random.Random(seed))
        assert parse(spell(screen)) == screen, seed
        assert spell(parse(spell(screen))) == spell(screen), seed
        address = urlsplit(link(screen).replace("./", "http://host/", 1))
        assert parse_qsl(address.query, keep_blank_values=True) == [
            (name, value) for name, value in spell(screen).items() if name != "page"
        ], seed


def test_any_address_is_a_screen() -> None:
    for seed in range(SEEDS):
        rng = random.Random(seed)
        names = [*all_choices(), "options.x", "options.", "controls.y", "own", "?"]
        address = {rng.choice(names): some_text(rng) for _ in range(12)}
        screen = parse(address)
        assert parse(spell(screen)) == screen, seed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("layer", text) for text in ("", "-1", "L2", "1.0", "1" * 10, "٣", " 1")),
        *(("picture", text) for text in ("", "Heatmap", "MAP")),
        *((name, "") for name in ("kind", "topic", "view", "lens", "decoding", "inspect")),
        *(("path", text) for text in ("", "no", "true")),
        *(("hub", text) for text in ("", "model", "../up", "a/b/c", "/a/b")),
        *(("heads", text) for text in ("", "1,", "a,b", "1,-2")),
        *(("cell", text) for text in ("", "1", "1,2,3", "a,b", "0,-1")),
        *(("pins", text) for text in ("", "?", "q", "q5,", "x5")),
        *(("epsilon", text) for text in ("", "nan", "1e400", "cat")),
    ],
)
def test_what_cannot_be_read_is_the_default_of_that_field_alone(name: str, text: str) -> None:
    assert parse({name: text, "layer_b": "2"}) == put(Screen(), layer_b=2)


@pytest.mark.parametrize("text", ["", "nan", "1e400", "-inf", "cat"])
def test_an_option_that_is_no_number_is_not_mentioned(text: str) -> None:
    assert parse({"options.seed": text, "options.beam_size": "2"}).options == (("beam_size", 2.0),)


def test_the_address_says_names_and_leaves_defaults_out() -> None:
    assert spell(Screen()) == {}
    screen = Screen(
        page="compare", kind="cross", layer=2, head=3, decoding="beam", picture="map", heads=()
    )
    assert query(screen) == "decoding=beam&kind=cross&layer=2&head=3&picture=map&heads=none"
    assert link(screen).startswith("./compare?decoding=beam")
    assert link(Screen()) == "./?"


def test_a_choice_lets_go_of_what_belonged_to_the_old_one() -> None:
    chosen = Screen(
        kind="cross", layer=2, head=3, heads=(1, 2), pins=("q5",), cell=(4, 9), step=3, top=5
    )
    other_head = choose(chosen, head=1)
    assert other_head == replace(chosen, head=1, heads=None)
    other_kind = choose(chosen, kind="encoder_self")
    assert (other_kind.pins, other_kind.cell, other_kind.step) == ((), None, 3)
    other_text = choose(chosen, text="It rains.")
    assert other_text == replace(chosen, text="It rains.", pins=(), cell=None, step=0)
    other_model = choose(chosen, checkpoint="copy")
    assert other_model == Screen(checkpoint="copy", top=5)
    assert choose(chosen, head=3, text=None) == chosen
    assert choose(chosen, text="It rains.", cell=(1, 1)).cell == (1, 1)


def test_a_lock_keeps_both_panes_at_one_head() -> None:
    """As on Compare with two checkpoints: a change of either is one of both."""
    two = put(Screen(kind="cross", layer=2, head=3), checkpoint_b="copy", head_b=1, heads_b=(1, 2))
    assert other(choose(two, head=4)).head_b == 1
    locked = choose(two, same_head=True)
    own = other(locked)
    assert (own.kind_b, own.layer_b, own.head_b, own.heads_b) == ("cross", 2, 3, None)
    assert other(choose(locked, head=5)).head_b == 5
    told = choose(choose(locked, heads=(1, 2)), layer_b=1)
    assert (told.layer, other(told).layer_b, told.head, told.heads) == (1, 1, 3, None)
    assert choose(locked, kind_b="encoder_self").kind == "encoder_self"
    moved = choose(locked, checkpoint="en-de")
    assert (moved.head, other(moved).head_b) == (None, None)
    turned = choose(locked, checkpoint_b="everyday", layer_b=2, head_b=3, kind_b="cross")
    assert (turned.head, other(turned).head_b) == (3, 3)
    free = choose(locked, same_head=False)
    assert other(choose(free, head=7)).head_b == 3


@pytest.mark.parametrize("change", [{"method_b": "greedy"}, {"own_b": True}, {"text": "other"}])
def test_what_is_pinned_in_b_goes_with_its_text(change: dict[str, Any]) -> None:
    two = put(Screen(), pins_b=("q5",), cell_b=(5, 2))
    chosen = other(choose(two, **change))
    assert (chosen.pins_b, chosen.cell_b) == ((), None)
    assert other(choose(two, layer=1)) == other(two)


@pytest.mark.parametrize(
    ("b", "stays"),
    [
        ({"checkpoint_b": "de-en"}, True),
        ({"method_b": "greedy"}, True),
        ({"edited_b": True}, True),  # it reads what A wrote
        ({"edited_b": True, "own_b": True}, False),
    ],
)
def test_what_is_pinned_in_b_goes_with_edits_where_they_make_its_text(
    b: dict[str, Any], stays: bool
) -> None:
    two = put(Screen(), **b, pins_b=("q5",), cell_b=(5, 2))
    chosen = other(choose(two, edits=("head-off:cross.0.0",)))
    assert (chosen.pins_b, chosen.cell_b) == ((("q5",), (5, 2)) if stays else ((), None))


def other(screen: Screen) -> CompareFields:
    """The choices that are about B."""
    return screen.of(CompareFields)


def test_what_a_field_belongs_to_is_there() -> None:
    for name, each in all_choices().items():
        assert each.metadata["about"] < all_choices().keys()
        assert name not in each.metadata["about"]
        assert default(name) == value_of(Screen(), name)
    assert parse({}) == Screen()


def test_choices_of_a_page_are_read_as_its_record() -> None:
    screen = parse({"layer": "2", "sweep_sort": "layer", "sweep_over": "sentences"})
    own = screen.of(ExperimentFields)
    assert (own.sweep_sort, own.sweep_over, own.sweep_pairs) == ("layer", "sentences", 0)
    assert put(screen, sweep_sort="change", sweep_over="sentence") == Screen(layer=2)
    assert choose(screen, checkpoint="copy", sweep_pairs=4).of(ExperimentFields).sweep_pairs == 4
    with pytest.raises(TypeError):
        put(screen, sweep="layer")


def test_choices_of_a_page_are_those_of_one_that_there_is() -> None:
    pages, declared = discover("viz.pages", "PAGE"), FIELDS
    assert declared.keys() <= pages.keys()
    names = [name for each in declared.values() for name in each.fields]
    assert len(names) == len(set(names)) and set(names).isdisjoint(choices(Screen))
    assert all(each.before in {"", *choices(Screen)} for each in declared.values())


def test_entries_stay_in_order() -> None:
    entries = with_entry(with_entry((), "b", 2.0), "a", 1.0)
    assert entries == (("a", 1.0), ("b", 2.0))
    assert with_entry(entries, "b", None) == (("a", 1.0),)


def test_half_a_character_in_the_name_of_a_page_is_replaced_in_its_link() -> None:
    assert link(Screen(page="\ud83dx")).startswith("./%3Fx?")


def test_an_edit_that_cannot_be_read_takes_no_other_with_it() -> None:
    said = {"edits": "head-off:cross.2.3/nothing/head-scale:cross.1.1=-0.50/head-off:cross.2.3"}
    assert parse(said).edits == ("head-off:cross.2.3", "head-scale:cross.1.1=-0.5")
    assert parse({"edits": "nothing"}).edits == ()
    many = "/".join(f"head-off:cross.0.{head}" for head in range(1000))
    assert len(parse({"edits": many}).edits) == spelling.MOST_EDITS


def test_edits_stay_with_another_text_and_go_with_another_checkpoint() -> None:
    screen = Screen(edits=("head-off:cross.2.3",))
    assert choose(screen, text="other").edits == screen.edits
    assert choose(screen, checkpoint="copy").edits == ()


@pytest.mark.parametrize("kind", edit_kinds().values(), ids=lambda kind: kind.name)
def test_an_edit_that_names_a_word_goes_with_its_sentence(kind: EditKind) -> None:
    """The fifth word of another text is another word, whatever number it has."""
    place = ".".join(("source", *("1" for _ in NUMBERS[kind.of])))
    screen = Screen(text="one", edits=(f"{kind.name}:{place}=1", "head-off:cross.2.3"))
    by_value = {"emphasise", "words-swap"}
    names_a_word = {"query", "word"} & set(NUMBERS[kind.of]) or kind.name in by_value
    left = screen.edits[bool(names_a_word) :]
    assert choose(screen, text="other").edits == choose(screen, pair="a second").edits == left
    assert (
        choose(screen, text="one").edits == choose(screen, decoding="greedy").edits == screen.edits
    )
    assert choose(screen, text="other", edits=screen.edits).edits == screen.edits, "chosen with it"
    assert choose(screen, checkpoint="copy").edits == ()


def test_phrases_stay_with_another_text_and_a_beginning_and_a_branch_do_not() -> None:
    screen = choose(Screen(), prefix=(12, 45), force=((7,),), forbid=((8, 9),), branch=(12, 45, 3))
    other = choose(replace(screen, step=2), text="Another sentence.")
    assert (other.prefix, other.force, other.forbid) == ((), ((7,),), ((8, 9),))
    assert choose(screen, decoding="greedy").prefix == (12, 45)
    assert (other.branch, other.step) == ((), 0)
    assert choose(screen, force=()).branch == ()
    assert choose(Screen(stopped=5), branch=(12,)).stopped == 5, "the search is as it was"
    assert choose(screen, checkpoint="fr-en") == Screen(checkpoint="fr-en")


def test_the_longest_address_of_constraints_is_one_that_a_proxy_takes() -> None:
    ids = tuple(range(10**6 - spelling.MOST_IDS, 10**6))  # of six digits, as the largest have
    phrases = tuple((id,) for id in ids[: spelling.MOST_OF_PHRASES])
    screen = Screen(prefix=ids, branch=ids, force=phrases, forbid=phrases)
    assert parse(spell(screen)) == screen
    assert len(link(screen)) < 7_000
    longer = spell(replace(screen, prefix=(*ids, 1), force=(*phrases, (1,))))
    assert parse(longer) == replace(screen, prefix=(), force=())


def test_another_page_is_over_the_same_text() -> None:
    screen = Screen(text="It rains.", checkpoint="en-de-small", decoding="beam", pins=("q1",))
    assert elsewhere(screen, "lessons", story="masks") == link(
        Screen(
            "lessons", text="It rains.", checkpoint="en-de-small", decoding="beam", story="masks"
        )
    )
