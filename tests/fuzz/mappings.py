"""Files of weights of every known codebase, with what lies beside them."""

import argparse
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.fuzz.checkpoints import emptied, used
from tests.fuzz.damage import STRANGE, damaged_bytes, no_file, strange_json
from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.tensors import strange_tensors
from tests.transformer.formats.codebases import CASES
from transformer.files.weights_file import SUFFIXES


def start(folder: Path) -> Attempt:
    samples = []
    for name, make in CASES.items():
        place = emptied(folder / "samples" / name)
        samples.append((place, make(place).file))

    def attempt(random: Random) -> None:
        sample, file = random.choice(samples)
        made = Path(shutil.copytree(sample, emptied(folder / "tried") / "mine"))
        weights = made / file.relative_to(sample)
        for _ in range(random.choice((1, 1, 2))):
            _damage(random, made, weights)
        used(random.choice((made, weights)))

    return attempt


def _damage(random: Random, folder: Path, weights: Path) -> None:
    chosen = random.random()
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    files = [file for file in files if file.stat().st_size < 2**24]
    texts = [file for file in files if file.suffix in (".json", ".yaml", ".yml", ".txt")]
    if chosen < 0.6 and weights in files:
        _retensor(random, weights)
    elif chosen < 0.75 and texts:
        file = random.choice(texts)
        file.write_text(_strange_text(random, file), errors="replace")
    elif chosen < 0.8 and files:
        no_file(random, random.choice(files))
    elif files:
        file = random.choice(files)
        file.write_bytes(damaged_bytes(random, file.read_bytes()))


def _strange_text(random: Random, file: Path) -> str:
    text = file.read_text(errors="replace")
    if file.suffix == ".json":
        return strange_json(random, text)
    lines = text.split("\n")
    place = random.randrange(len(lines))
    value = str(random.choice(STRANGE))
    lines[place] = random.choice((value, f"{lines[place].partition(':')[0]}: {value}", lines[0]))
    return "\n".join(lines)


def _retensor(random: Random, file: Path) -> None:
    """The same file with other tensors and settings; as it is where it is damaged already."""
    try:
        if file.suffix == ".npz":
            with np.load(file) as arrays:
                found = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
            changed = strange_tensors(random, found)
            kept = {name: each for name, each in changed.items() if name and "\n" not in name}
            np.savez(file, **{name: _as_array(each) for name, each in kept.items()})
        elif file.suffix == ".safetensors":
            save_file(strange_tensors(random, load_file(file)), file)
        else:
            with torch.serialization.safe_globals([argparse.Namespace]):
                saved = torch.load(file, map_location="cpu", weights_only=True)
            torch.save(_strange_values(random, saved), file)
    except Exception:  # it is damaged already
        file.write_bytes(damaged_bytes(random, file.read_bytes()))
    assert file.suffix in SUFFIXES or not file.suffix


def _as_array(value: Tensor) -> Any:
    odd = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
    return (value.float() if value.dtype in odd else value).numpy()


def _strange_values(random: Random, saved: Any) -> Any:
    """A state dict, or one within what was saved beside it, changed; or a value beside it."""
    if not isinstance(saved, dict):
        return saved
    if all(isinstance(value, Tensor) for value in saved.values()):
        return strange_tensors(random, saved)
    key = random.choice(list(saved))
    changed = dict(saved)
    inner = next((k for k, v in saved.items() if isinstance(v, dict) and k != key), key)
    if random.random() < 0.6 and isinstance(saved[inner], dict):
        changed[inner] = _strange_values(random, saved[inner])
    else:
        changed[key] = random.choice(STRANGE)
    return changed


KIND = Kind("mappings", start, n=2500, n_quick=30)
