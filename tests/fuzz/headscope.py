"""Folders of ours: every file of one replaced, or its bytes, values and tensors changed."""

import shutil
from pathlib import Path
from random import Random

import torch
from safetensors.torch import load_file, save_file

from tests.conftest import SENTENCES
from tests.fuzz.checkpoints import emptied, used
from tests.fuzz.damage import damaged_bytes, no_file, strange_json
from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.tensors import strange_tensors
from transformer.checkpoint import CARD, CONFIG, HISTORY, SNAPSHOTS, WEIGHTS, About
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.formats.headscope import save_checkpoint, save_weights
from transformer.tokenizer import CharacterTokenizer, NumberTokenizer, SentencePieceTokenizer

SHIPPED = Path(__file__).parents[2] / "checkpoints" / "copy"
JSON = (CONFIG, CONFIG, CONFIG, HISTORY)


def start(folder: Path) -> Attempt:
    samples = _built(folder / "samples")

    def attempt(random: Random) -> None:
        place = emptied(folder / "tried")
        made = Path(shutil.copytree(random.choice(samples), place / "mine"))
        for _ in range(random.choice((1, 1, 2))):
            _damage(random, made)
        used(made)

    return attempt


def _damage(random: Random, folder: Path) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    chosen = random.random()
    file = folder / random.choice(JSON)
    if chosen < 0.55 and file in files and file.stat().st_size < 2**20:
        file.write_text(strange_json(random, file.read_text(errors="replace")))
    elif chosen < 0.7 and (folder / WEIGHTS).is_file():
        try:
            weights = load_file(folder / WEIGHTS)
        except Exception:  # it is damaged already
            return
        save_file(strange_tensors(random, weights), folder / WEIGHTS)
    elif chosen < 0.8:
        no_file(random, random.choice(files))
    elif small := [file for file in files if file.stat().st_size < 2**20]:
        file = random.choice(small)
        file.write_bytes(damaged_bytes(random, file.read_bytes()))


def _built(folder: Path) -> list[Path]:
    """A small model of each family, with each kind of tokenizer."""
    text = SentencePieceTokenizer.train(SENTENCES, 300)
    characters = CharacterTokenizer.train(" ".join(SENTENCES))
    sizes = {"d_model": 8, "d_ff": 8, "n_heads": 2, "max_len": 16}
    layers = {"n_encoder_layers": 1, "n_decoder_layers": 1}
    made = []
    for family, tokenizer, others in (
        ("encoder_decoder", text, {}),
        ("decoder_only", characters, {"n_encoder_layers": 0, "eos_id": None}),
        ("encoder_classifier", text, {"n_decoder_layers": 0, "classes": ("no", "yes")}),
        ("encoder_decoder", NumberTokenizer(12), {"eos_id": None, "positions": "learned"}),
    ):
        config = ModelConfig(
            **{"family": family, "vocab_size": tokenizer.vocab_size, **sizes, **layers, **others}
        )
        torch.manual_seed(0)
        weights = discover("transformer.models", "FAMILY")[family].build(config).state_dict()
        place = folder / f"{len(made)}"
        example = {"numbers": "3 4 5"}.get(tokenizer.kind, SENTENCES[0])
        about = About("Sample", "none", tokenizer.kind, (example[:9],))
        save_checkpoint(place, about, config, weights, tokenizer)
        (place / CARD).write_text("# Sample\n\n## Scores\n")
        (place / HISTORY).write_text('[{"step": 1, "loss": 2.5}, {"step": 2, "BLEU": 1.5}]')
        for step in (0, 1):
            save_weights(place / SNAPSHOTS / f"{step:06d}.safetensors", weights)
        made.append(place)
    return [*made, SHIPPED]


KIND = Kind("headscope", start, n=3000, n_quick=25)
