"""Our generator computes what Hugging Face's GPT-2 computes from the same weights."""

import pytest
import torch
from torch import Tensor

from tests.conftest import random_model, tiny
from tests.presets import PRESETS

NAMES = (
    ("embedding", "wte"),
    ("positions.table", "wpe.weight"),
    ("decoder.layers", "h"),
    ("self_attention.output", "attn.c_proj"),
    ("self_residual.norm", "ln_1"),
    ("feed_residual.norm", "ln_2"),
    ("feed_forward.inner", "mlp.c_fc"),
    ("feed_forward.outer", "mlp.c_proj"),
    ("decoder.norm", "ln_f"),
)


def gpt2_names(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under GPT-2's names; its linear layers keep theirs transposed."""
    named = {}
    for name, tensor in weights.items():
        if ".key." in name or ".value." in name:
            continue
        if ".query." in name:
            parts = [weights[name.replace("query", p)] for p in ("query", "key", "value")]
            tensor, name = torch.cat(parts), name.replace("self_attention.query", "attn.c_attn")
        for ours, theirs in NAMES:
            name = name.replace(ours, theirs)
        is_linear = name.startswith("h.") and tensor.dim() == 2
        named[f"transformer.{name}"] = tensor.T if is_linear else tensor
    return named | {"lm_head.weight": weights["embedding.weight"]}


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_equals_hugging_face_gpt2(attention: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import GPT2Config, GPT2LMHeadModel

    ours = random_model(tiny(PRESETS["gpt2"].config))
    ours.embedding.weight.mul_(20)  # as small as they start, all logits are nearly equal
    config = GPT2Config(
        vocab_size=20,
        n_positions=16,
        n_embd=12,
        n_layer=2,
        n_head=3,
        n_inner=20,
        bos_token_id=1,
        eos_token_id=2,
        attn_implementation=attention,
    )
    theirs = GPT2LMHeadModel(config).eval().requires_grad_(False)
    theirs.load_state_dict(gpt2_names(ours.state_dict()))
    ids = torch.randint(20, (3, 16), generator=torch.Generator().manual_seed(1))
    logits = theirs(input_ids=ids).logits
    assert float(logits.std()) > 0.1
    torch.testing.assert_close(ours(ids), logits, rtol=0, atol=1e-4)
