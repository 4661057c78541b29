"""python -m tests.real.large [--billions 1.1] [--saved bfloat16] [PRECISION ...]

A Llama of that size with random weights is made in a temporary folder, in parts as hubs have them,
and opened by a process of its own in each precision: seconds and memory to open, to record a text
and to write. It takes the folder's size of the disk, and what the table says of the memory.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

SIZES = {
    "tiny": (512, 64, 176, 2, 4, 2),
    "deep": (512, 64, 176, 16, 4, 2),
    "1.1": (32_000, 2048, 5632, 22, 32, 4),
    "3": (32_000, 3072, 8192, 28, 24, 8),
}
"""Billions of parameters -> vocabulary, width, width of the layers' middle, layers, heads, heads of
keys: TinyLlama's, and a Llama of 3 billion; and two for tests."""
PART = 2**30
"""Bytes of a part of the weights."""
TEXT = " ".join(str(number) for number in range(100, 120))
"""The ids of 20 tokens, as the folder has no vocabulary."""
GIB = 2**30


def make(
    folder: Path, size: str, saved: torch.dtype, is_tied: bool = False, most: int = PART
) -> int:
    """Write the folder, in parts of that many bytes; returns the number of its parameters."""
    from transformers import LlamaConfig, LlamaForCausalLM

    vocabulary, width, middle, n_layers, n_heads, n_kv = SIZES[size]
    config: Any = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=middle,
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        num_key_value_heads=n_kv,
        tie_word_embeddings=is_tied,
        max_position_embeddings=2048,
    )
    with torch.device("meta"):
        shapes = LlamaForCausalLM(config).state_dict()
    if is_tied:
        del shapes["lm_head.weight"]
    config.architectures, config.dtype = ["LlamaForCausalLM"], saved
    config.save_pretrained(folder)
    index = {}
    for part, tensors in _parts(shapes, saved, most):
        save_file(tensors, folder / part, {"format": "pt"})
        index |= dict.fromkeys(tensors, part)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": index})
    )
    return sum(each.numel() for each in shapes.values())


def _parts(
    shapes: dict[str, Tensor], saved: torch.dtype, most: int
) -> Iterator[tuple[str, dict[str, Tensor]]]:
    names, tensors, n_bytes = count(1), dict[str, Tensor](), 0
    noise = torch.randn(2**20 + 7, generator=torch.Generator().manual_seed(0)).mul_(0.02).to(saved)
    for name, shape in shapes.items():
        value = torch.ones(shape.shape, dtype=saved)
        if value.dim() > 1:  # the same numbers again and again, as drawing each takes minutes
            for some in value.view(-1).split(len(noise)):
                some.copy_(noise[: len(some)])
        tensors[name] = value
        n_bytes += value.nbytes
        if n_bytes > most:
            yield f"model-{next(names):05}.safetensors", tensors
            tensors, n_bytes = {}, 0
    if tensors:
        yield f"model-{next(names):05}.safetensors", tensors


def memory(which: str) -> float:
    """VmHWM, the most that this process had in memory, or VmRSS, what it has now; in GiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 2**20 for line in lines if line.startswith(f"{which}:"))


def opened(folder: Path) -> dict[str, Any]:
    """Open the folder in this process; what that took."""
    import transformers.models.llama.modeling_llama  # not part of what opening takes

    from transformer import decode, load_checkpoint, record

    del transformers
    torch.set_num_threads(1)
    before, began, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
    checkpoint = load_checkpoint(folder, "cpu")
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    row = {
        "open_s": seconds,
        "processor_s": cpu,
        "before_gib": before,
        "now_gib": memory("VmRSS"),
        "most_gib": memory("VmHWM"),
    }
    began = time.perf_counter()
    recording = record(checkpoint, TEXT)
    row["weights"] = float(recording.attentions["decoder_self"].weights(0, 0)[-1].float().sum())
    row["record_s"] = time.perf_counter() - began
    began = time.perf_counter()
    written = decode(checkpoint, TEXT, "greedy", max_len=10)
    row["ten_tokens_s"] = time.perf_counter() - began
    row |= {
        "after_gib": memory("VmHWM"),
        "wrote": len(written.target),
        "notes": checkpoint.about.notes,
    }
    return row


def main(size: str, saved: str, precisions: list[str], is_tied: bool, at: str | None) -> None:
    """Print a row a precision; "auto" sets none."""
    with TemporaryDirectory(dir=at, prefix="large-") as name:
        folder = Path(name) / f"llama-{size}b"
        folder.mkdir()
        n = make(folder, size, getattr(torch, saved), is_tied)
        print(f"{n:,} parameters, saved in {saved}{', tied' if is_tied else ''}", flush=True)
        for precision in precisions:
            setting = {} if precision == "auto" else {"HEADSCOPE_PRECISION": precision}
            others = {k: v for k, v in os.environ.items() if k != "HEADSCOPE_PRECISION"}
            command = [sys.executable, "-m", "tests.real.large", "--open", str(folder)]
            done = subprocess.run(
                command, env={**others, **setting}, capture_output=True, text=True
            )
            if done.returncode:
                print(precision, done.stderr.strip().splitlines()[-1])
                continue
            row = json.loads(done.stdout)
            figures = ", ".join(f"{k} {v:.2f}" for k, v in row.items() if isinstance(v, float))
            print(f"{precision}: {figures}; {row['notes']}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.real.large")
    parser.add_argument(
        "precisions", nargs="*", default=["float32", "float16"], metavar="PRECISION"
    )
    parser.add_argument("--billions", choices=SIZES, default="1.1")
    parser.add_argument("--saved", choices=("bfloat16", "float16", "float32"), default="bfloat16")
    parser.add_argument("--tied", action="store_true")
    parser.add_argument("--in", dest="at", help="a folder for the temporary one")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.open:
        print(json.dumps(opened(asked.open)))
    else:
        main(asked.billions, asked.saved, asked.precisions, asked.tied, asked.at)
