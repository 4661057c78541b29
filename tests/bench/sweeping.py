"""What it costs to try every head of a model: in one batch, against a pass per head.

Of the shipped one, and of one as large as GPT-2.
"""

from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint, random_checkpoint, sentence, unwatched
from transformer import decode, load_checkpoint, record
from transformer.analysis.ablation import heads_off, sweep
from transformer.config import ModelConfig
from transformer.editing.ours import Editing, editing, places
from transformer.inputs import source_ids

N_TOKENS, PAIRS, N_GPT2 = 15, 7, 32
TIMED = 2
"""Heads of each layer of the large model whose passes are timed: each takes as long."""


def run(is_quick: bool) -> list[Row]:
    n, pairs = (3, 1) if is_quick else (N_TOKENS, PAIRS)
    checkpoint = bench_checkpoint()
    text = sentence(checkpoint, n)
    target = decode(checkpoint, text, max_len=n).target
    edits = heads_off(checkpoint)
    model: Any = checkpoint.model
    source = torch.tensor([source_ids(checkpoint, text)])
    bos: Any = checkpoint.config
    read = torch.tensor([[bos.bos_id, *(token.id for token in target[:-1])]])

    def swept() -> None:
        sweep(checkpoint, text, target)

    def decoded() -> None:
        for edit in edits:
            decode(checkpoint, text, "forced", target=target, edits=[edit])

    @torch.inference_mode()
    def passed() -> None:
        for edit in edits:
            with editing(model, checkpoint.family, Editing([edit])):
                model(source, read).log_softmax(-1)

    def recorded() -> None:
        record(checkpoint, text, target)

    def edited() -> None:
        record(checkpoint, text, target, edits=edits[:1])

    name = f"sweep of {len(edits)} heads, {n} tokens"
    ratio = paired_ratio(swept, decoded, pairs)
    rows = [Row(name, ratio, "decode(..., edits=) per head", goal=0.2)]
    rows.append(Row(name, paired_ratio(swept, passed, pairs), "a bare pass per head"))
    ratio = paired_ratio(edited, recorded, 1 if is_quick else 40)
    rows.append(Row(f"recording with a head off, {n} tokens", ratio, "recording without"))
    return [*rows, _gpt2(is_quick), _encoder(is_quick)]


def _gpt2(is_quick: bool) -> Row:
    """Random weights: what a pass costs does not depend on them.

    The goal is out of reach of one core. A pass multiplies 85 M weights of layers and 38.6 M of the
    output with each token; a sweep shares the layers below each head's own (on average 5.5 of 12)
    and needs all of the output, since log-probabilities are over all tokens: 85 * 6.5 / 12 + 38.6
    of 123.6 M, 0.68 of the loop's arithmetic. Beyond that there is only what larger products gain
    over those of 32 rows: 1.3 times here, which makes 0.52 (0.72 without the sharing). Of the loop
    with hooks that TransformerLens 4.3 runs it is 0.39.
    """
    sizes: dict[str, Any] = {"n_decoder_layers": 12, "n_heads": 12, "d_model": 768, "d_ff": 3072}
    if is_quick:
        sizes = {"n_decoder_layers": 2, "n_heads": 2, "d_model": 16, "d_ff": 16}
    config = ModelConfig(family="decoder_only", vocab_size=50257, max_len=N_GPT2, **sizes)
    checkpoint = random_checkpoint(config)
    model = unwatched(checkpoint)
    ids = torch.arange(2, 2 + N_GPT2)[None]
    text = " ".join(map(str, ids[0].tolist()))

    def swept() -> None:
        sweep(checkpoint, text)

    @torch.inference_mode()
    def looped() -> None:
        for _, module in places(model, checkpoint.family)["decoder_self"]:
            for head in range(TIMED):
                hook = module.register_forward_hook(partial(_zero, head))
                model(ids).log_softmax(-1)
                hook.remove()

    ratio = paired_ratio(swept, looped, 1) * TIMED / config.n_heads
    name = f"sweep of {config.n_decoder_layers} x {config.n_heads} heads, {N_GPT2} tokens"
    return Row(name, ratio, "a pass per head with a hook", goal=0.2)


def _encoder(is_quick: bool) -> Row:
    """An encoder of the library's as large as all-MiniLM-L6-v2: it is watched, a row a head."""
    import transformers

    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
    if is_quick:
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 8}
    torch.manual_seed(0)
    config = transformers.BertConfig(**sizes, intermediate_size=4 * sizes["hidden_size"])
    with TemporaryDirectory() as folder:
        transformers.BertModel(config).eval().save_pretrained(folder)
        checkpoint = load_checkpoint(folder, "cpu")
    ids = range(5, 5 + N_TOKENS)
    n_heads = sizes["num_hidden_layers"] * sizes["num_attention_heads"]
    batch = torch.tensor([list(ids)]).expand(n_heads, -1)

    def swept() -> None:
        sweep(checkpoint, " ".join(map(str, ids)))

    @torch.inference_mode()
    def passed() -> None:
        checkpoint.model(batch)

    ratio = paired_ratio(swept, passed, 1 if is_quick else 5)
    name = f"sweep of {n_heads} heads of an encoder that is watched, {N_TOKENS} tokens"
    return Row(name, ratio, "one pass of as many rows", goal=3)


def _zero(head: int, module: nn.Module, inputs: Any, heads: Tensor) -> None:
    heads[:, head] = 0


BENCH = Bench("sweeping", run)
