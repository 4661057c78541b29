"""Folders of Hugging Face's library: configurations, weights in parts, tokenizers, all damaged."""

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

from safetensors.torch import load_file, save_file

from tests.fuzz.checkpoints import emptied, used
from tests.fuzz.damage import damaged_bytes, no_file, strange_json
from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.tensors import strange_tensors
from tests.transformer.watch.hugging_face import build
from transformer.checkpoint import CONFIG

FAMILIES = ("GPT-2", "BERT", "Marian", "T5", "Llama", "BART")
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"


def start(folder: Path) -> Attempt:
    samples = []
    for family in FAMILIES:
        model: Any = build(family)
        samples.append(folder / "samples" / family)
        model.save_pretrained(samples[-1])
    parts = Path(shutil.copytree(samples[0], folder / "samples" / "parts"))
    tensors = load_file(parts / WHOLE)
    (parts / WHOLE).unlink()
    names = sorted(tensors)
    for part, inside in (("a.safetensors", names[::2]), ("b.safetensors", names[1::2])):
        save_file({name: tensors[name] for name in inside}, parts / part, {"format": "pt"})
    places = {name: "ab"[i % 2] + ".safetensors" for i, name in enumerate(names)}
    (parts / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places}))

    def attempt(random: Random) -> None:
        sample = random.choice([*samples, parts])
        made = Path(shutil.copytree(sample, emptied(folder / "tried") / "mine"))
        for _ in range(random.choice((1, 1, 2))):
            _damage(random, made)
        used(made)

    return attempt


def _damage(random: Random, folder: Path) -> None:
    chosen = random.random()
    files = sorted(file for file in folder.iterdir() if file.is_file())
    files = [file for file in files if file.stat().st_size < 2**26]
    config, weights = folder / CONFIG, folder / WHOLE
    texts = [file for file in files if file.suffix == ".json"]
    if chosen < 0.45 and config in files:
        config.write_text(strange_json(random, config.read_text(errors="replace")))
    elif chosen < 0.6 and texts:
        file = random.choice(texts)
        file.write_text(strange_json(random, file.read_text(errors="replace")))
    elif chosen < 0.8 and weights in files:
        try:
            save_file(strange_tensors(random, load_file(weights)), weights, {"format": "pt"})
        except Exception:
            weights.write_bytes(damaged_bytes(random, weights.read_bytes()))
    elif chosen < 0.87 and files:
        no_file(random, random.choice(files))
    elif files:
        file = random.choice(files)
        file.write_bytes(damaged_bytes(random, file.read_bytes()))


KIND = Kind("hugging_face", start, n=1500, n_quick=10)
