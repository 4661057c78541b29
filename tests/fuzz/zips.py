"""Files of torch.save as the zips that they are: their parts left out, packed, renamed, damaged."""

import io
import zipfile
from pathlib import Path
from random import Random

import torch

from tests.fuzz.checkpoints import emptied, used
from tests.fuzz.damage import damaged_bytes
from tests.fuzz.kind import Attempt, Kind

NAMES = ("model.pt", "model.bin", "model.ckpt", "model", "model.npz")
PARTS = ("data.pkl", "a/../../b", "constants.pkl", "/etc/x", "/", "a/version", "x" * 2000, "é")


def start(folder: Path) -> Attempt:
    tensors = {f"layers.{i}.weight": torch.ones(3, 4) * i for i in range(4)}
    samples = []
    for saved in (
        tensors,
        {"model": tensors, "args": {"n_head": 2}},
        [1],
        tensors["layers.0.weight"],
    ):
        for is_zip in (True, True, False):
            stream = io.BytesIO()
            torch.save(saved, stream, _use_new_zipfile_serialization=is_zip)
            samples.append(stream.getvalue())

    def attempt(random: Random) -> None:
        file = emptied(folder / "tried") / random.choice(NAMES)
        content = random.choice(samples)
        if content.startswith(b"PK") and random.random() < 0.7:
            content = _rewritten(random, content)
        else:
            content = damaged_bytes(random, content)
        file.write_bytes(content)
        used(file)

    return attempt


def _rewritten(random: Random, content: bytes) -> bytes:
    """The same zip with other parts."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    place = random.randrange(len(parts))
    name, data = parts[place]
    packing = zipfile.ZIP_STORED
    match random.randrange(6):
        case 0:
            del parts[place]
        case 1:
            parts[place] = name, damaged_bytes(random, data)
        case 2:
            pickles = [i for i, (each, _) in enumerate(parts) if each.endswith("data.pkl")]
            parts[pickles[0]] = parts[pickles[0]][0], damaged_bytes(random, parts[pickles[0]][1])
        case 3:
            parts[place] = random.choice(PARTS), data
        case 4:
            packing = zipfile.ZIP_DEFLATED
            parts[place] = name, b"\0" * random.choice((10, 10**6))
        case 5:
            parts += [(f"archive/more{i}", b"") for i in range(random.choice((1, 9000)))]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for each, found in parts:
            archive.writestr(each, found)
    return stream.getvalue()


KIND = Kind("zips", start, n=1500)
