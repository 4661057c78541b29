"""The same edits in TransformerLens, of a small GPT-2 with the same weights.

The library is no requirement of ours: where it is not installed, test_patching.py has the same
formulas written out.
"""

import copy
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from transformer import Checkpoint, load_checkpoint, record

IDS, OTHER = "7 9 11 13 4", "7 9 30 13 4"
N_LAYERS, N_HEADS, N_WORDS = 2, 4, 5
close = {"rtol": 0.0, "atol": 1e-4}
Lens = Any
"""TransformerLens' model around the library's."""


@pytest.fixture(scope="module")
def hugging_face() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(5)
    config = GPT2Config(
        vocab_size=50,
        n_embd=16,
        n_layer=N_LAYERS,
        n_head=N_HEADS,
        n_positions=40,
        initializer_range=0.4,  # weights of attention that are far from even
        activation_function="gelu",
    )
    return GPT2LMHeadModel(config).eval()


@pytest.fixture(scope="module")
def lens(hugging_face: Any) -> Lens:
    """It changes the model that it is given."""
    with warnings.catch_warnings():  # those of its own modules
        warnings.simplefilter("ignore")
        pytest.importorskip("transformer_lens")
        from transformer_lens.model_bridge.sources import _bridge_builder

        model = copy.deepcopy(hugging_face)
        return _bridge_builder.build_bridge_from_module(
            model, "GPT2LMHeadModel", hf_config=model.config
        )


@pytest.fixture(scope="module", params=["opened", "ours"])
def checkpoint(
    request: pytest.FixtureRequest, hugging_face: Any, tmp_path_factory: pytest.TempPathFactory
) -> Checkpoint:
    """Watched while the library's code runs, and as a model of ours."""
    path: Path = tmp_path_factory.mktemp(request.param)
    if request.param == "opened":
        hugging_face.save_pretrained(path)
        return load_checkpoint(path, "cpu")
    state = {
        name: each.T.contiguous() if ".c_" in name and name.endswith("weight") else each
        for name, each in hugging_face.state_dict().items()
    }
    torch.save({"model": state, "model_args": {"n_head": N_HEADS}}, path / "ckpt.pt")
    return load_checkpoint(path / "ckpt.pt", "cpu")


def theirs(lens: Lens, *hooks: tuple[str, Any], ids: str = IDS) -> Tensor:
    """Logits [T, V] with these hooks at work."""
    given = torch.tensor([[int(each) for each in ids.split()]])
    with torch.no_grad():
        logits: Tensor = lens.run_with_hooks(given, fwd_hooks=list(hooks))
    return logits[0]


def kept(lens: Lens, name: str, ids: str) -> Tensor:
    """What stands at this point in a run of its own."""
    found: list[Tensor] = []

    def keep(value: Tensor, hook: Any) -> Tensor:
        found.append(value.clone())
        return value

    theirs(lens, (name, keep), ids=ids)
    return found[0]


def ours(checkpoint: Checkpoint, edit: str) -> Tensor:
    return record(checkpoint, IDS, edits=[edit] if edit else []).logits


def test_without_an_edit_both_are_one_model(checkpoint: Checkpoint, lens: Lens) -> None:
    torch.testing.assert_close(ours(checkpoint, ""), theirs(lens), **close)


@pytest.mark.parametrize("layer", range(N_LAYERS))
@pytest.mark.parametrize("head", range(N_HEADS))
def test_a_head_off_scaled_or_of_another_sentence(
    checkpoint: Checkpoint, lens: Lens, layer: int, head: int
) -> None:
    point, of = f"blocks.{layer}.attn.hook_z", f"decoder_self.{layer}.{head}"
    other = kept(lens, point, OTHER)

    def change(z: Tensor, hook: Any, new: Any) -> Tensor:
        z = z.clone()
        z[:, :, head] = new(z[:, :, head])
        return z

    plain = theirs(lens)
    for edit, new in (
        (f"head-off:{of}", torch.zeros_like),
        (f"head-scale:{of}=0.5", lambda z: z * 0.5),
        (f"head-from:{of}={OTHER}", lambda z: other[:, :, head]),
    ):
        expected = theirs(lens, (point, partial(change, new=new)))
        assert float((expected - plain).abs().max()) > 1e-3
        torch.testing.assert_close(ours(checkpoint, edit), expected, **close)


@pytest.mark.parametrize("layer", range(N_LAYERS))
@pytest.mark.parametrize("head", [0, 3])
def test_an_edge_of_the_pattern_is_cut(
    checkpoint: Checkpoint, lens: Lens, layer: int, head: int
) -> None:
    point = f"blocks.{layer}.attn.hook_pattern"
    for query in range(1, N_WORDS):
        for key in range(query + 1):

            def cut(pattern: Tensor, hook: Any, query: int = query, key: int = key) -> Tensor:
                pattern = pattern.clone()
                pattern[:, head, query, key] = 0
                pattern[:, head, query] /= pattern[:, head, query].sum()
                return pattern

            edit = f"cut:decoder_self.{layer}.{head}.{query}.{key}"
            expected = theirs(lens, (point, cut))
            torch.testing.assert_close(ours(checkpoint, edit), expected, **close)


@pytest.mark.parametrize("layer", range(N_LAYERS))
def test_the_state_of_each_word_is_that_of_another_sentence(
    checkpoint: Checkpoint, lens: Lens, layer: int
) -> None:
    point = f"blocks.{layer}.hook_resid_post"
    other = kept(lens, point, OTHER)
    for word in range(N_WORDS):

        def patch(states: Tensor, hook: Any, word: int = word) -> Tensor:
            states = states.clone()
            states[:, word] = other[:, word]
            return states

        edit = f"state-from:decoder_self.{layer}.{word}={OTHER}"
        expected = theirs(lens, (point, patch))
        torch.testing.assert_close(ours(checkpoint, edit), expected, **close)


POSITIONS = "hook_pos_embed"
"""Where the rows of positions pass by, before they are added."""


@pytest.mark.parametrize(
    ("edit", "order", "factor"),
    [
        ("positions-zero:text", range(N_WORDS), 0.0),
        ("positions-scale:text=0.5", range(N_WORDS), 0.5),
        ("positions-swap:text=1,3", [0, 3, 2, 1, 4], 1.0),
        ("positions-permute:text=4,2,0,1,3", [4, 2, 0, 1, 3], 1.0),
    ],
)
def test_positions_are_zeroed_scaled_swapped_and_permuted(
    checkpoint: Checkpoint, lens: Lens, edit: str, order: Sequence[int], factor: float
) -> None:
    def change(rows: Tensor, hook: Any) -> Tensor:
        return rows[:, list(order)] * factor

    expected = theirs(lens, (POSITIONS, change))
    assert float((expected - theirs(lens)).abs().max()) > 1e-3
    torch.testing.assert_close(ours(checkpoint, edit), expected, **close)


def test_positions_are_shifted(checkpoint: Checkpoint, lens: Lens, hugging_face: Any) -> None:
    def change(rows: Tensor, hook: Any) -> Tensor:
        return hugging_face.transformer.wpe.weight[None, 3 : 3 + N_WORDS].expand_as(rows)

    expected = theirs(lens, (POSITIONS, change))
    assert float((expected - theirs(lens)).abs().max()) > 1e-3
    torch.testing.assert_close(ours(checkpoint, "positions-shift:text=3"), expected, **close)


@pytest.mark.parametrize("layer", range(N_LAYERS))
def test_the_states_of_all_positions_are_those_of_another_sentence(
    checkpoint: Checkpoint, lens: Lens, layer: int
) -> None:
    """The model then goes on as in the other sentence, from its beginning to its end."""
    point = f"blocks.{layer}.hook_resid_post"
    other = kept(lens, point, OTHER)
    expected = theirs(lens, (point, lambda states, hook: other))
    edits = [f"state-from:decoder_self.{layer}.{word}={OTHER}" for word in range(N_WORDS)]
    found = record(checkpoint, IDS, edits=edits).logits
    torch.testing.assert_close(found, expected, **close)
    torch.testing.assert_close(found, theirs(lens, ids=OTHER), **close)
