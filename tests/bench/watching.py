"""What recording any module costs, on models of Hugging Face's library with random weights."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from tests.bench.bench import Bench, Row, paired_ratio
from transformer import record
from transformer.recording import Recording

PAIRS = {64: 80, 256: 12, 1024: 7}
"""Tokens -> how often both are timed, by turns."""
LENGTHS_IN_MEMORY = (1024, 2048)
SIZES = {"vocab_size": 1000, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 2048}
LLAMA = {
    **{"vocab_size": 1000, "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 8},
    **{"num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 512},
}

WIDE = {
    **{"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 4},
    **{"num_attention_heads": 32, "num_key_value_heads": 4},
}
"""Layers as a Llama of 1.1 billion parameters has them; of its 22 these are enough."""
PAIRS_WIDE = 10


def run(is_quick: bool) -> list[Row]:
    lengths, in_memory = ({64: 1}, (64,)) if is_quick else (PAIRS, LENGTHS_IN_MEMORY)
    plain, eager = _gpt2("sdpa"), _gpt2("eager")
    rows = []
    for n, pairs in lengths.items():
        ids = torch.arange(n)[None] % 1000

        def passed(ids: Tensor = ids) -> None:
            with torch.no_grad():
                plain(input_ids=ids, use_cache=False)

        def watched(ids: Tensor = ids) -> None:
            record(plain, {"input_ids": ids, "use_cache": False})

        def returned(ids: Tensor = ids) -> None:
            with torch.no_grad():
                eager(input_ids=ids, use_cache=False, output_attentions=True)

        ratio = paired_ratio(watched, passed, pairs)
        rows.append(Row(f"recording GPT-2, {n:,} tokens", ratio, "its pass, SDPA", goal=1.05))
        ratio = paired_ratio(returned, passed, pairs)
        rows.append(Row(f"output_attentions, {n:,} tokens", ratio, "the same pass"))
    rows.append(_row_of_llama(64, lengths[64], LLAMA))
    if not is_quick:
        rows.append(_row_of_llama(64, PAIRS_WIDE, {**LLAMA, **WIDE}, goal=1.10))
    for n in in_memory:
        ids = torch.arange(n)[None] % 1000
        held = sum(_held(record(plain, {"input_ids": ids, "use_cache": False})))
        full = 4 * SIZES["n_layer"] * SIZES["n_head"] * n * n
        said = f"all weights: {full / 2**20:,.0f} MiB; the recording: {held / 2**20:,.0f} MiB"
        rows.append(Row(f"memory of a recording, {n:,} tokens", held / full, said))
    return rows


def _row_of_llama(n: int, pairs: int, sizes: dict[str, int], goal: float | None = None) -> Row:
    """Rotary positions, grouped keys and layers without biases cost more to watch.

    The cost is that of the calls of torch's functions, 70 a layer, however wide the layer is.
    """
    import transformers

    torch.manual_seed(0)
    config = transformers.LlamaConfig(**sizes)
    model: Any = transformers.LlamaForCausalLM._from_config(config, attn_implementation="sdpa")
    model.eval()
    inputs = {"input_ids": torch.arange(n)[None], "use_cache": False}

    def passed() -> None:
        with torch.no_grad():
            model(**inputs)

    ratio = paired_ratio(lambda: record(model, inputs), passed, pairs)
    name = f"recording Llama, {n:,} tokens, {sizes['hidden_size']:,} wide"
    return Row(name, ratio, "its pass, SDPA", goal)


def _gpt2(attention: str) -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(**SIZES)
    model: nn.Module = transformers.GPT2LMHeadModel._from_config(
        config, attn_implementation=attention
    )
    return model.eval()


def _held(recording: Recording) -> Iterator[int]:
    """Bytes of each storage that the attentions of a recording keep alive."""
    seen = set()
    for attention in recording.attentions.values():
        for call in attention.calls:
            for tensor in (call.q, call.k, call.v, call.mask, call.bias):
                storage = None if tensor is None else tensor.untyped_storage()
                if storage is not None and storage.data_ptr() not in seen:
                    seen.add(storage.data_ptr())
                    yield storage.nbytes()


BENCH = Bench("watching", run)
