"""Patching as TransformerLens has it (patching.py, get_act_patch_attn_head_out_all_pos and others).

Its formulas are written out here, on a GPT-2 of a few dimensions whose weights are ours: every head
has W_Q, W_K, W_V and W_O of its own, its output z is hooked before W_O, its pattern after softmax.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS
from transformer import Checkpoint, record

CLEAN, CORRUPT = "3 9 4 4 17 6", "3 9 8 4 17 6"
Hook = Callable[[int, Tensor], Tensor]
close = {"rtol": 0.0, "atol": 1e-4}


class Lens:
    """GPT-2 head by head, with its activations cached and hooked."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.state, self.config = checkpoint.model.state_dict(), checkpoint.config
        self.cache: dict[str, Tensor] = {}

    def matrices(self, layer: int, name: str) -> tuple[Tensor, Tensor]:
        config: Any = self.config
        at = f"decoder.layers.{layer}.self_attention.{name}"
        weight, bias = self.state[f"{at}.weight"], self.state[f"{at}.bias"]
        return weight.unflatten(0, (config.n_heads, -1)), bias.unflatten(0, (config.n_heads, -1))

    def norm(self, x: Tensor, at: str) -> Tensor:
        weight, bias = self.state[f"{at}.weight"], self.state[f"{at}.bias"]
        return F.layer_norm(x, (x.size(-1),), weight, bias, self.config.norm_eps)  # type: ignore[attr-defined]

    def run(
        self,
        text: str,
        z: Hook = lambda layer, z: z,
        pattern: Hook = lambda layer, pattern: pattern,
        resid: Hook = lambda layer, x: x,
    ) -> Tensor:
        """Logits after the last word [V]; hooks are given what each layer has [H, T, d]."""
        config: Any = self.config
        ids = torch.tensor([int(word) for word in text.split()])
        x = self.state["embedding.weight"][ids] + self.state["positions.table"][: len(ids)]
        for layer in range(config.n_decoder_layers):
            at = f"decoder.layers.{layer}"
            normed = self.norm(x, f"{at}.self_residual.norm")
            q, k, v = (
                torch.einsum("td,hed->hte", normed, weight) + bias[:, None]
                for weight, bias in (self.matrices(layer, it) for it in ("query", "key", "value"))
            )
            scores = torch.einsum("hqe,hke->hqk", q, k) / config.d_head**0.5
            later = torch.ones(len(ids), len(ids)).triu(1).bool()
            self.cache[f"pattern{layer}"] = scores.masked_fill(later, -torch.inf).softmax(-1)
            weights = pattern(layer, self.cache[f"pattern{layer}"].clone())
            self.cache[f"z{layer}"] = torch.einsum("hqk,hke->hqe", weights, v)
            heads = z(layer, self.cache[f"z{layer}"].clone())
            output = self.state[f"{at}.self_attention.output.weight"]
            output = output.unflatten(1, (config.n_heads, -1))  # [D, H, d_value]
            x = x + torch.einsum("hqe,dhe->qd", heads, output)
            x = x + self.state[f"{at}.self_attention.output.bias"]
            inner = F.linear(
                self.norm(x, f"{at}.feed_residual.norm"),
                self.state[f"{at}.feed_forward.inner.weight"],
                self.state[f"{at}.feed_forward.inner.bias"],
            )
            inner = F.gelu(inner, approximate="tanh")
            outer = self.state[f"{at}.feed_forward.outer.weight"]
            x = x + F.linear(inner, outer, self.state[f"{at}.feed_forward.outer.bias"])
            self.cache[f"resid{layer}"] = x
            x = resid(layer, x.clone())
        return F.linear(self.norm(x, "decoder.norm")[-1], self.state["embedding.weight"])


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return random_checkpoint(CONFIGS["gpt2"])


def ours(checkpoint: Checkpoint, text: str, *edits: str) -> Tensor:
    return record(checkpoint, text, edits=edits).logits[-1]


def heads_of(checkpoint: Checkpoint) -> list[tuple[int, int]]:
    config: Any = checkpoint.config
    return [(l, h) for l in range(config.n_decoder_layers) for h in range(config.n_heads)]


def test_the_formulas_are_those_of_the_model(checkpoint: Checkpoint) -> None:
    torch.testing.assert_close(Lens(checkpoint).run(CLEAN), ours(checkpoint, CLEAN), **close)


def test_a_head_out_patched_at_all_positions(checkpoint: Checkpoint) -> None:
    """With the normalised effect (m - corrupt) / (clean - corrupt) of each head."""
    clean = Lens(checkpoint)
    m_clean, m_corrupt = (Lens(checkpoint).run(text) for text in (CLEAN, CORRUPT))
    right, wrong = 5, 7
    clean.run(CLEAN)

    def effect(logits: Tensor) -> float:
        def metric(x: Tensor) -> float:
            return float(x[right] - x[wrong])

        return (metric(logits) - metric(m_corrupt)) / (metric(m_clean) - metric(m_corrupt))

    for layer, head in heads_of(checkpoint):

        def patch(at: int, z: Tensor, layer: int = layer, head: int = head) -> Tensor:
            if at == layer:
                z[head] = clean.cache[f"z{layer}"][head]
            return z

        wanted = Lens(checkpoint).run(CORRUPT, z=patch)
        found = ours(checkpoint, CORRUPT, f"head-from:decoder_self.{layer}.{head}={CLEAN}")
        torch.testing.assert_close(found, wanted, **close)
        assert effect(found) == pytest.approx(effect(wanted), abs=1e-3)
        without = Lens(checkpoint).run(
            CLEAN,
            z=lambda at, z, layer=layer, head=head: (
                z.index_fill(0, torch.tensor([head]), 0.0) if at == layer else z
            ),
        )
        torch.testing.assert_close(
            ours(checkpoint, CLEAN, f"head-off:decoder_self.{layer}.{head}"), without, **close
        )


def test_a_pattern_patched_at_one_edge(checkpoint: Checkpoint) -> None:
    """TransformerLens writes one number into a row as it is; an edit's row sums to 1 again."""
    for layer, head in heads_of(checkpoint):
        for query, key in ((5, 0), (3, 2), (5, 5)):

            def cut(at: int, pattern: Tensor, spot: Any = (layer, head, query, key)) -> Tensor:
                if at == spot[0]:
                    pattern[spot[1], spot[2], spot[3]] = 0
                    pattern[spot[1], spot[2]] /= pattern[spot[1], spot[2]].sum()
                return pattern

            wanted = Lens(checkpoint).run(CLEAN, pattern=cut)
            edit = f"cut:decoder_self.{layer}.{head}.{query}.{key}"
            torch.testing.assert_close(ours(checkpoint, CLEAN, edit), wanted, **close)


def test_a_state_patched_at_one_position(checkpoint: Checkpoint) -> None:
    """resid_post of each layer and word, from the clean sentence into the other."""
    clean = Lens(checkpoint)
    clean.run(CLEAN)
    config: Any = checkpoint.config
    for layer in range(config.n_decoder_layers):
        for word in range(6):

            def patch(at: int, x: Tensor, layer: int = layer, word: int = word) -> Tensor:
                if at == layer:
                    x[word] = clean.cache[f"resid{layer}"][word]
                return x

            wanted = Lens(checkpoint).run(CORRUPT, resid=patch)
            edit = f"state-from:decoder_self.{layer}.{word}={CLEAN}"
            torch.testing.assert_close(ours(checkpoint, CORRUPT, edit), wanted, **close)
