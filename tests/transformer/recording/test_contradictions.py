"""The badge notices an attention that is not what it is called, though its weights are right."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.watch.inline import LAYERS, D, Layer, Translator, by_hand, fused, split
from tests.transformer.watch.test_extra_keys import WORDS, Own, Prefixed
from tests.transformer.watch.test_passes import IDS, MODELS, LayerByLayer, Pair, bert
from transformer import Recording, record
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.sources import UNKNOWN, Sources
from transformer.watch.kinds import kind, stacks
from transformer.watch.kinds import kind as extra_keys

pytestmark = pytest.mark.usefixtures("wrong_recordings")


def translated(layer: type[Layer], attend: Callable[..., Tensor], n: int = 4) -> Recording:
    generator = torch.Generator().manual_seed(1)
    inputs = tuple(torch.randn(1, size, D, generator=generator) for size in (n, 4))
    return record(Translator(layer, attend).eval(), inputs)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
@pytest.mark.parametrize("attend", [by_hand, fused])
@pytest.mark.parametrize("n", [4, 5])
def test_where_queries_and_keys_come_from_is_proven(
    layer: type[Layer], attend: Callable[..., Tensor], n: int
) -> None:
    recording = translated(layer, attend, n)
    assert recording.checked.is_right
    assert not recording.checked.contradictions and not recording.checked.unproven


def by_length(call: Seen, seen: object) -> str | None:
    """As it was before: as many keys as queries are those of the queries."""
    if call.is_causal:
        return "decoder_self"
    return "encoder_self" if call.sizes[1] == call.sizes[2] else "cross"


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
@pytest.mark.parametrize("attend", [by_hand, fused])
def test_a_role_by_lengths_is_noticed(
    layer: type[Layer], attend: Callable[..., Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacks, "kind_of", by_length)
    checked = translated(layer, attend).checked
    assert checked.is_right is False and checked.error is not None and checked.error < 1e-5
    assert any("another sequence" in each for each in checked.contradictions)


def test_a_role_by_names_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "kind_of", lambda call, seen: "cross")
    assert translated(LAYERS[0], fused).checked.is_right is False


def test_a_role_is_noticed_where_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what traces queries and keys nor what names roles is asked by the check."""
    monkeypatch.setattr(Sources, "made", lambda *args: UNKNOWN)
    monkeypatch.setattr(stacks, "kind_of", by_length)
    assert translated(LAYERS[0], fused).checked.is_right is False


class Twice(Layer):
    """Two attentions of its own, one after the other."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        for first in (0, 4):
            z = self.read(x)
            x = x + self.attended(z, z, first, False)
        return x


class Beside(Layer):
    """Two attentions that read the same, and something in between."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        near = self.attended(x, x, 0, False)
        return x + near + self.attended(x, x, 4, False) + self.w[0](near.tanh())  # type: ignore[no-any-return]


def stacked(layer: type[Layer]) -> Recording:
    torch.manual_seed(6)
    layers = nn.Sequential(*(layer(fused) for _ in range(2)))
    return record(layers.eval(), (torch.randn(1, 4, D),))


def test_two_attentions_of_a_layer_are_no_two_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [each.n_layers for each in stacked(Twice).attentions.values()] == [2, 2]
    assert stacked(Twice).checked.is_right
    monkeypatch.setattr(stacks, "_which", lambda calls: {})
    recording = stacked(Twice)
    assert [each.n_layers for each in recording.attentions.values()] == [4]
    assert recording.checked.is_right is False


def one_stack(seen: list[Seen]) -> dict[str, Any]:
    """As if each call were a layer."""
    return {"encoder_self": kind.Kind("encoder_self", seen[0].sizes, False, (0, 1), 0, seen)}


def test_attentions_that_read_the_same_are_no_two_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stacked(Beside).checked.is_right
    monkeypatch.setattr("transformer.watch.module.by_kind", one_stack)
    checked = stacked(Beside).checked
    assert checked.is_right is False and any("same states" in it for it in checked.contradictions)


def as_one(call: Seen) -> Seen:
    call.place, call.lineage = replace(call.place, reading=()), None
    return call


def test_texts_that_are_read_layer_by_layer_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = stacks.by_kind
    monkeypatch.setattr(
        "transformer.watch.module.by_kind", lambda seen: rule([as_one(each) for each in seen])
    )
    recording = record(LayerByLayer().eval(), (IDS, IDS.flip(1)))
    assert recording.attentions["encoder_self"].n_layers == 4
    assert recording.checked.is_right is False


@pytest.mark.parametrize(("make", "inputs", "n_passes"), [*MODELS[:4], MODELS[-1]])
def test_passes_that_are_stacked_are_noticed(
    make: Callable[[], nn.Module],
    inputs: tuple[Tensor, ...],
    n_passes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = stacks.by_kind
    monkeypatch.setattr(
        "transformer.watch.module.by_kind", lambda seen: rule([as_one(each) for each in seen])
    )
    recording = record(make().eval(), inputs)
    assert max(each.n_layers for each in recording.attentions.values()) > 2
    checked = recording.checked
    assert checked.is_right is False and any("text" in each for each in checked.contradictions)


@pytest.mark.parametrize(
    "module",
    [Own(False, False, add_zero_attn=True), Own(True, True, add_bias_kv=True), Prefixed(2, False)],
    ids=["zero key", "bias key", "prefix"],
)
def test_words_stand_in_their_columns_whatever_sizes_say(
    module: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(1))
    (right,) = record(module.eval(), (x,), WORDS).attentions.values()
    monkeypatch.setattr("transformer.watch.calls.watcher.added_keys", lambda *args, **kwargs: ())
    monkeypatch.setattr(extra_keys, "_first_word", lambda seen: None)
    (attention,) = record(module.eval(), (x,), WORDS).attentions.values()
    places = [[each.piece in WORDS for each in it.keys] for it in (right, attention)]
    assert places[0] == places[1]


def test_columns_that_are_moved_are_noticed() -> None:
    recording = record(Pair(bert()).eval(), (IDS, IDS.flip(1)), WORDS)
    name, attention = next(iter(recording.attentions.items()))
    moved = replace(attention, keys=(*attention.keys[1:], attention.keys[0]))
    assert recording.checked.is_right
    assert replace(recording, attentions={name: moved}).checked.is_right is False


class Branch(Layer):
    """An attention with a matrix and a function after it."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        return self.w[7](self.attended(x, x, 0, False)).tanh()  # type: ignore[no-any-return]


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(6)
        self.branches = nn.ModuleList(Branch(fused) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([each(x) for each in self.branches]).sum(0)


def test_branches_are_no_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(1, 4, D)
    recording = record(Branches().eval(), (x,))
    assert {each.n_layers for each in recording.attentions.values()} == {1}
    assert recording.checked.is_right
    monkeypatch.setattr(stacks, "_are_beside", lambda call, layer: False)
    monkeypatch.setattr(stacks, "chains", lambda calls: [calls])
    assert record(Branches().eval(), (x,)).checked.is_right is False


class Inducing(nn.Module):
    """Set Transformer: learned states read the text in every layer, and the text reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.points = nn.Parameter(torch.randn(1, 3, D))
        self.near, self.back = (nn.ModuleList(Layer(fused) for _ in range(2)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for near, back in zip(self.near, self.back, strict=True):
            inner = near.attended(self.points, x, 0, False)  # type: ignore[operator]
            x = x + back.attended(x, inner, 0, False)  # type: ignore[operator]
        return x


def test_states_that_are_learned_may_ask_in_every_layer() -> None:
    recording = record(Inducing().eval(), (torch.randn(1, 6, D),))
    assert {each.n_layers for each in recording.attentions.values()} == {2}
    assert not recording.checked.contradictions
    # What has no role is not called proved either: nobody sees where learned states come from.
    assert {each.role for each in recording.attentions.values()} == {None}
    assert recording.checked.is_right is None and len(recording.checked.unproven) == 2


class Narrow(Layer):
    """Queries and keys are made of what is made of the states, values of the states themselves."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        z = self.w[7](x).tanh()
        q, k, v = (split(f(each)) for f, each in zip(self.w[:3], (z, z, x), strict=True))
        return x + self.w[3](self.attend(q, k, v, False).transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class Copied(Layer):
    """Queries are made of a copy of the states: as JetMoE's, sorted by experts."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        return x + self.attended(x[:, torch.arange(x.size(1))], x, 0, False)


@pytest.mark.parametrize(("layer", "is_right"), [(Narrow, True), (Copied, True)])
@pytest.mark.parametrize("attend", [by_hand, fused])
def test_own_keys_are_no_other_sequence_s(
    layer: type[Layer],
    is_right: bool | None,
    attend: Callable[..., Tensor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A copy of the states is followed."""
    monkeypatch.setattr(stacks, "kind_of", lambda call, seen: "encoder_self")
    x = torch.randn(1, 4, D, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(6)
    layers = nn.Sequential(*(layer(attend) for _ in range(2)))
    checked = record(layers.eval(), (x,)).checked
    assert checked.is_right is is_right and not checked.contradictions
