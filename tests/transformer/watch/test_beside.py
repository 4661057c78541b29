"""What ran side by side, or in one forward, is told apart by what it was computed from."""

from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch import beside
from tests.transformer.watch.beside import encoder
from tests.transformer.watch.inline import fused
from transformer import Recording, record

TEXT, OTHER, SHORT = torch.arange(6)[None], torch.arange(2, 8)[None], torch.arange(3, 7)[None]
Expected = list[tuple[str | None, tuple[int, ...], str]]
"""Role, numbers of layers, and the first pieces of rows and columns of each kind."""


def recorded(model: nn.Module, *inputs: Tensor, tokens: object = tuple("abcdef")) -> Recording:
    return record(model.eval(), inputs, tokens)  # type: ignore[arg-type]


def kinds(recording: Recording) -> Expected:
    return [
        (it.role, it.numbers, it.queries[0].piece + it.keys[0].piece)
        for it in recording.attentions.values()
    ]


def of_each(n: int, *numbers: int) -> Expected:
    return [("encoder_self", numbers, "aa")] * n


ONE_TEXT: Mapping[str, tuple[Callable[[], nn.Module], Expected]] = {
    "ensemble": (lambda: beside.ensemble(encoder(), encoder(), encoder()), of_each(3, 0, 1)),
    "ensemble of other depths": (
        lambda: beside.ensemble(encoder(1), encoder(3)),
        [*of_each(1, 0), *of_each(1, 0, 1, 2)],
    ),
    "ensemble of one layer each": (
        lambda: beside.ensemble(encoder(1), encoder(1)),
        [*of_each(1, 0), *of_each(1, 1)],
    ),
    "models in a list": (beside.plain_list, of_each(2, 0, 1)),
    "branches": (lambda: beside.branches(2), of_each(2, 1, 2)),
    "branches of one layer": (lambda: beside.branches(1), [*of_each(1, 0), *of_each(1, 1)]),
    "two tasks": (beside.tasks, [*of_each(1, 0, 1), *of_each(1, 0), *of_each(1, 1)]),
    "pairs": (beside.pairs, [*of_each(1, 0, 2), *of_each(1, 1, 3)]),
    "experts": (beside.experts, of_each(2, 0, 1)),
    "skips": (beside.skipping, of_each(2, 0, 1)),
    "stages": (lambda: beside.stages(0, 1), of_each(1, 0, 1, 2, 3)),
    "stages, last first": (lambda: beside.stages(1, 0), of_each(1, 2, 3, 0, 1)),
    "last first": (lambda: beside.in_order(3, 2, 1, 0), of_each(1, 3, 2, 1, 0)),
    "one dropped": (lambda: beside.in_order(0, 2, 3), of_each(1, 0, 2, 3)),
    "one twice": (lambda: beside.in_order(0, 1, 1, 2), of_each(1, 0, 1, 1, 2)),
    "recycled": (lambda: beside.in_order(0, 1, 0, 1), of_each(1, 0, 1, 0, 1)),
    "one for all": (lambda: beside.in_order(0, 0, 0), of_each(1, 0, 1, 2)),
    "sorts that alternate": (beside.alternating, of_each(1, 0, 1, 2, 3)),
}
FEW = {
    "several numbers in paths": "ensemble",
    "no paths": "models in a list",
    "one number in paths": "branches of one layer",
    "other stacks around": "two tasks",
    "joined again": "pairs",
    "one layer's": "experts",
    "numbers by rank": "stages, last first",
    "numbers that repeat": "one twice",
    "several sorts": "sorts that alternate",
}


@pytest.mark.parametrize("name", cases(ONE_TEXT, FEW))
def test_what_ran_side_by_side_is_no_stack(name: str) -> None:
    make, expected = ONE_TEXT[name]
    torch.manual_seed(1)
    recording = recorded(make(), TEXT)
    assert kinds(recording) == expected
    assert recording.checked.is_right and not recording.notes


@pytest.mark.parametrize(
    "make",
    [beside.towers, lambda: beside.towers(1), beside.named_towers],
    ids=["towers", "of one layer", "named"],
)
def test_towers_over_other_inputs_are_numbered_and_said(make: Callable[[], nn.Module]) -> None:
    recording = recorded(make(), TEXT, OTHER)
    first, other = kinds(recording)
    assert (first[0], first[2], other[0], other[2]) == ("encoder_self", "aa", None, "00")
    (note,) = recording.notes
    assert list(recording.attentions)[1] in note


def test_states_that_are_turned_round_keep_their_words() -> None:
    recording = recorded(beside.both_ways(), TEXT)
    assert kinds(recording) == [("encoder_self", (0, 1), "aa"), (None, (0, 1), "ff")]
    assert recording.checked.is_right


def test_texts_that_read_each_other_take_the_words_of_one() -> None:
    named = kinds(recorded(beside.read_each_other(), TEXT, OTHER))
    assert sorted(pieces for _, _, pieces in named) == ["00", "0a", "a0", "aa"]
    assert {role for role, _, pieces in named if pieces[1] == "a"} == {"encoder_self", "cross"}


TRANSLATORS: Mapping[str, Callable[[], nn.Module]] = {
    "by hand": lambda: beside.translator(2, is_causal=True),
    "fused": lambda: beside.translator(2, fused, is_causal=True),
    "one layer": lambda: beside.translator(1, is_causal=True),
    "no mask": lambda: beside.translator(2, is_causal=False),
    "no mask, one layer": lambda: beside.translator(1, is_causal=False),
    "aligned": lambda: beside.translator(2, is_causal=True, is_aligned=True),
    "aligned, no mask": lambda: beside.translator(2, fused, is_causal=False, is_aligned=True),
    "halves of a list": lambda: beside.halves(2),
    "halves, one layer": lambda: beside.halves(1),
}
WRITTEN = {
    "no roles but by what is read": ("no mask, one layer", 6),
    "lengths that tell": ("by hand", 4),
    "layer by layer": ("aligned, no mask", 6),
    "a list": ("halves of a list", 6),
}


@pytest.mark.parametrize(
    ("name", "n"), cases([(name, n) for name in TRANSLATORS for n in (6, 4)], WRITTEN)
)
def test_encoder_and_decoder_in_one_forward(name: str, n: int) -> None:
    torch.manual_seed(1)
    tokens = {"source": [f"s{i}" for i in range(6)], "target": [f"t{i}" for i in range(n)]}
    recording = recorded(TRANSLATORS[name](), TEXT, OTHER if n == 6 else SHORT, tokens=tokens)
    named = {(role, pieces) for role, _, pieces in kinds(recording)}
    assert named == {("encoder_self", "s0s0"), ("decoder_self", "t0t0"), ("cross", "t0s0")}
    assert len({each.n_layers for each in recording.attentions.values()}) == 1
    assert recording.checked.is_right is not False


def test_an_ensemble_of_translators_has_three_kinds_each() -> None:
    models = nn.ModuleList(beside.halves(1) for _ in range(2))
    model = beside.Model(lambda m, a, b: sum(it(a, b) for it in m.models), models=models)
    tokens = {"source": list("abcdef"), "target": list("ghijkl")}
    found = kinds(recorded(model, TEXT, OTHER, tokens=tokens))
    roles = {"encoder_self": "aa", "decoder_self": "gg", "cross": "ga"}
    assert sorted((role, pieces) for role, _, pieces in found) == sorted([*roles.items()] * 2)


def test_a_pass_that_cannot_be_followed_is_said() -> None:
    recording = recorded(beside.not_followed(), TEXT)
    (note,) = recording.notes
    assert "encoder_self" in note
    assert not recorded(beside.in_order(0, 1, 0, 1), TEXT).notes


def zeroed(layer: nn.Module) -> None:
    """Make it read all words alike."""
    for each in layer.w[:2]:  # type: ignore[index]
        nn.init.zeros_(each.weight)
        nn.init.zeros_(each.bias)


def test_weights_are_in_the_order_of_running() -> None:
    last_first, sorts = beside.in_order(3, 2, 1, 0), beside.alternating()
    zeroed(last_first.layers[2])
    zeroed(sorts.layers[1]["far"])
    for model in (last_first, sorts):
        (attention,) = recorded(model, TEXT).attentions.values()
        rows = [attention.weights(layer)[0, 0] for layer in range(4)]
        assert [bool((row == row[0]).all()) for row in rows] == [False, True, False, False]


@pytest.mark.parametrize("kind", ["models.1", "models.0"])
def test_edits_reach_one_of_several_models(kind: str) -> None:
    torch.manual_seed(1)
    model = beside.ensemble(encoder(), encoder())
    plain = recorded(model, TEXT)
    edited = record(model, TEXT, edits=[f"head-off:{kind}.1.0"])
    assert list(edited.attentions) == list(plain.attentions)
    assert not torch.equal(edited.logits, plain.logits)
