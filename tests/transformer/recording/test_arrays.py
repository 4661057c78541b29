"""Recordings of bare arrays: whatever holds them, and what is refused by name."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from transformer import InputError, from_weights
from transformer.files import weights_file
from transformer.recording.calls import AttentionCall

torch.manual_seed(0)
SOURCE, TARGET = ["It", "rains", "."], ["<s>", "Es", "regnet", "."]
CROSS = torch.rand(2, 4, 4, 3).softmax(-1)  # [L, H, Q, K]
OWN = torch.rand(2, 4, 4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -torch.inf).softmax(-1)
READ = torch.rand(2, 4, 3, 3).softmax(-1)


class Cache:
    """As TransformerLens has one: a dict in all but its class."""

    def __init__(self, values: dict[str, Tensor]) -> None:
        self.values = values

    def keys(self) -> Any:
        return self.values.keys()

    def __getitem__(self, name: str) -> Tensor:
        return self.values[name]


class Output(dict[str, Any]):
    """As Hugging Face's models return one."""

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(self.values())


def saved_npz(folder: Path) -> Path:
    np.savez_compressed(folder / "a.npz", cross=CROSS.numpy())
    return folder / "a.npz"


def saved_safetensors(folder: Path) -> Path:
    save_file(
        {f"cross.{i}": each.clone() for i, each in enumerate(CROSS)}, folder / "a.safetensors"
    )
    return folder / "a.safetensors"


HOLDERS: dict[str, Callable[[Path], Any]] = {
    "torch": lambda _: {"cross": CROSS},
    "numpy in double": lambda _: {"cross": CROSS.double().numpy()},
    "numbers": lambda _: {"cross": CROSS.tolist()},
    "a list of layers": lambda _: {"cross": list(CROSS)},
    "outputs": lambda _: {"cross": tuple(CROSS[:, None])},
    "an output": lambda _: {"cross_attentions": tuple(CROSS[:, None]), "logits": torch.rand(1, 4)},
    "a cache": lambda _: Cache(
        {f"decoder.{i}.cross_attn.hook_pattern": each[None] for i, each in enumerate(CROSS)}
        | {"decoder.0.cross_attn.hook_q": torch.rand(1, 3, 4, 2)}
    ),
    "npz": saved_npz,
    "safetensors": saved_safetensors,
    "beside values": lambda _: {"cross": {"weights": CROSS, "v": torch.rand(2, 2, 3, 5)}},
    "steps": lambda _: {"cross": [CROSS[:, None, :, t : t + 1].unbind(0) for t in range(4)]},
    "steps without a cache": lambda _: {
        "cross": [CROSS[:, None, :, : t + 1].unbind(0) for t in range(4)]
    },
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_weights_are_those_that_were_given(holder: str, tmp_path: Path) -> None:
    recording = from_weights(HOLDERS[holder](tmp_path), queries=TARGET, keys=SOURCE)
    cross = recording.attentions["cross"]
    assert [*recording.attentions] == ["cross"] and cross.is_cross
    assert torch.equal(torch.stack([cross.weights(0), cross.weights(1)]), CROSS)
    assert [token.piece for token in cross.queries] == TARGET
    assert [token.piece for token in cross.keys] == SOURCE == [t.piece for t in recording.source]
    assert recording.logits is None and not recording.notes and cross.queries[0].special
    assert recording.checked.is_right is None


def test_what_is_changed_later_is_not_changed_in_the_recording() -> None:
    mine = CROSS.clone()
    recording = from_weights({"cross": mine})
    mine.zero_()
    assert torch.equal(recording.attentions["cross"].weights(0), CROSS[0])


@pytest.mark.parametrize("n_groups", [4, 2, 1])
def test_queries_and_keys_give_the_weights_of_attention(n_groups: int) -> None:
    q, k, v = torch.rand(2, 4, 5, 6), torch.rand(2, n_groups, 5, 6), torch.rand(2, n_groups, 5, 3)
    named = {"q": q, "k": k, "v": v, "scale": 0.5}
    wide = k.repeat_interleave(4 // n_groups, 1)
    scores = q @ wide.mT * 0.5
    own = from_weights({"encoder_self": named}).attentions["encoder_self"]
    assert torch.allclose(own.weights(1), scores[1].softmax(-1))
    later = torch.ones(5, 5).triu(1).bool()
    causal = from_weights({"decoder_self": named}).attentions["decoder_self"]
    assert torch.allclose(causal.weights(1), scores[1].masked_fill(later, -torch.inf).softmax(-1))
    masked = from_weights({"decoder_self": named | {"mask": np.ones((5, 5), bool)}})
    assert torch.equal(masked.attentions["decoder_self"].weights(1), own.weights(1))
    given = own.calls[0].heads_given()
    assert torch.allclose(given, own.weights(0) @ v[0].repeat_interleave(4 // n_groups, 0))


def test_the_texts_of_a_translator() -> None:
    kinds = {"decoder_self": OWN, "cross": CROSS, "encoder_self": READ}
    recording = from_weights(kinds, queries=TARGET, keys=SOURCE)
    assert [*recording.attentions] == ["encoder_self", "decoder_self", "cross"]
    assert recording.attentions["encoder_self"].queries == recording.source
    assert recording.attentions["decoder_self"].keys == recording.target
    assert not recording.attentions["decoder_self"].allowed(0)[:, 0, 1:].any()
    assert recording.attentions["cross"].allowed(0).all()


def test_what_a_text_that_reads_itself_is_called() -> None:
    kinds = {"encoder_self": READ, "decoder_self": OWN}
    for kind, weights in kinds.items():
        cache = {f"blocks.{i}.attn.hook_pattern": each for i, each in enumerate(weights)}
        for holder in ({"attentions": tuple(weights[:, None])}, cache):
            assert [*from_weights(holder).attentions] == [kind]


@pytest.mark.parametrize("way", ["a cache", "all rows", "a window", "a fixed size"])
def test_the_steps_of_a_generator(way: str) -> None:
    """The first step has the prompt, of 2 tokens; each later one writes the next."""
    steps = [OWN[:, None, :, :2, :2]]
    for n in (3, 4):
        rows = slice(0, n) if way == "all rows" else slice(n - 1, n)
        keys = {"a window": slice(max(0, n - 3), n), "a fixed size": slice(0, 4)}
        steps.append(OWN[:, None, :, rows, keys.get(way, slice(0, n))])
    pieces = [*TARGET, "</s>"]
    output = {"attentions": tuple(tuple(step.unbind(0)) for step in steps)}
    recording = from_weights(output, queries=pieces)
    own = recording.attentions["decoder_self"]
    expected = OWN.clone()
    if way == "a window":
        expected[:, :, 3, 0] = 0
    assert torch.equal(torch.stack([own.weights(0), own.weights(1)]), expected)
    assert own.produced is not None and [t.piece for t in own.produced] == pieces[1:]
    texts = [token.piece for token in recording.source], [t.piece for t in recording.target]
    assert texts == (pieces[:2], pieces[2:]) and recording.n_prompt == 2


def test_rows_that_do_not_sum_to_1_are_said() -> None:
    (note,) = from_weights({"cross": CROSS * 0.5}).notes
    assert "cross" in note and "0.50" in note


def test_steps_that_may_be_taken_for_layers_are_said() -> None:
    """Steps of cross-attention have the shape of layers with one row each."""
    (note,) = from_weights({"cross": [CROSS[0][:, i : i + 1] for i in range(4)]}).notes
    assert "cross" in note and "4 layers" in note and "steps" in note
    one = [tuple(CROSS[:, None, :, :1])]
    assert not from_weights({"cross": one}).notes and not from_weights({"cross": CROSS}).notes


BATCH = CROSS[:, None].expand(2, 3, 4, 4, 3)
LOST = CROSS.clone()
LOST[1, 2, 0, 0] = torch.nan
q = torch.rand(2, 4, 5, 6)
REFUSED: dict[str, tuple[Any, str]] = {
    "a batch": ({"cross": BATCH}, "weights[:, 0]"),
    "a batch of one": ({"cross": BATCH[:, :1]}, "weights[:, 0]"),
    "a batch in each layer": ({"cross": tuple(BATCH)}, "[layer[0] for layer in weights]"),
    "beams": ({"cross": [tuple(BATCH)]}, "[[layer[:1] for layer in step] for step in steps]"),
    "steps for layers": (
        {"decoder_self": [torch.ones(4, 1, n) / n for n in (1, 2, 3)]},
        "steps of `generate` as they came",
    ),
    "NaN": ({"cross": LOST}, "NaN or infinity in layer 1, head 2"),
    "scores": ({"cross": CROSS - 1}, "below 0 in layer 0"),
    "one layer": ({"cross": CROSS[0]}, "layers, heads, queries, keys"),
    "another kind": ({"cross": CROSS, "corss": CROSS}, "corss"),
    "no kind": ({}, "encoder_self, decoder_self, cross"),
    "no dict": (CROSS, "{'cross': weights}"),
    "an object": (SimpleNamespace(attentions=(CROSS,)), "{'cross': weights}"),
    "sdpa": ({"attentions": (None, None)}, "eager"),
    "none at all": ({"attentions": ()}, "eager"),
    "steps of none": ({"attentions": ((), (), ())}, "eager"),
    "steps of None": ({"cross_attentions": ((None, None), (None, None))}, "eager"),
    "None": ({"cross": None}, "eager"),
    "an output without weights": (Output(logits=torch.rand(1, 4)), "output_attentions=True"),
    "ragged": ({"cross": [[[[1.0], [0.5, 0.5]]]]}, "not an array"),
    "words": ({"cross": [["a"]]}, "not an array"),
    "empty": ({"cross": CROSS[:, :, :0]}, "empty"),
    "layers apart": ({"cross": [CROSS[0], CROSS[0, :, :2]]}, "Layer 1"),
    "a layer that is missing": ({"cross.0": CROSS[0], "cross.2": CROSS[0]}, "Layer 1"),
    "complex": ({"cross": CROSS.to(torch.complex64)}, "complex64"),
    "half of q and k": ({"cross": {"q": q}}, "'q' and 'k'"),
    "q and k apart": ({"cross": {"q": q, "k": q[..., :3]}}, "do not fit"),
    "heads apart": ({"cross": {"q": q, "k": q[:, :3]}}, "do not fit"),
    "layers of v": ({"cross": {"q": q, "k": q, "v": q[:1]}}, "1 of v"),
    "a mask of numbers": ({"cross": {"q": q, "k": q, "mask": torch.ones(5, 5)}}, "True"),
    "a small mask": ({"cross": {"q": q, "k": q, "mask": torch.ones(4, 5).bool()}}, "[4, 5, 5]"),
    "a bad scale": ({"cross": {"q": q, "k": q, "scale": np.ones(2)}}, "one number"),
    "no file": ("nowhere.npz", "missing"),
    "another file": (__file__, ".npz or .safetensors"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_shown_is_refused_by_name(what: str) -> None:
    weights, name = REFUSED[what]
    with pytest.raises(InputError) as caught:
        from_weights(weights)
    assert name in str(caught.value) and str(caught.value).endswith(".")


@pytest.mark.parametrize("tokens", [SOURCE[:2], "It rains.", [1, 2, 3], 5])
def test_tokens_that_do_not_fit(tokens: Any) -> None:
    with pytest.raises(InputError):
        from_weights({"cross": CROSS}, keys=tokens)


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects would be run; a file that swells would fill the memory."""
    monkeypatch.setattr(weights_file, "LARGEST_ARRAYS", 10_000)
    np.savez(tmp_path / "objects.npz", cross=np.array([{}], dtype=object))
    np.savez_compressed(tmp_path / "swells.npz", cross=np.zeros(2_000))
    (tmp_path / "text.npz").write_text("weights")
    (tmp_path / "text.safetensors").write_text("weights")
    for name in ("objects.npz", "swells.npz", "text.npz", "text.safetensors"):
        with pytest.raises(InputError, match=name):
            from_weights(tmp_path / name)


def test_one_call_is_kept_as_it_is_computed() -> None:
    (call,) = (
        from_weights({"encoder_self": {"q": q[:1], "k": q[:1]}}).attentions["encoder_self"].calls
    )
    assert type(call) is AttentionCall and call.scale == pytest.approx(6**-0.5)
