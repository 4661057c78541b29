"""Small checkpoints that code makes, under the names of the shipped ones: weights never change.

Every weight is a multiple of 1/16 that the name of its tensor decides: neither a new training nor
another generator of random numbers moves a golden value.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from sentencepiece import sentencepiece_model_pb2 as pb
from torch import Tensor

from tests.transformer.hugging_face.pairs import save_pair_reader
from transformer.checkpoint import HISTORY, SNAPSHOTS, About
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.files.foreign_text import write_whole
from transformer.formats.headscope import save_checkpoint, save_weights
from transformer.token import Token
from transformer.tokenizer import (
    CharacterTokenizer,
    NumberTokenizer,
    SentencePieceTokenizer,
    Tokenizer,
)

SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "I have never seen such a beautiful house.",
    "She didn't come to school yesterday because she was ill.",
    "My mother read the book because she was ill.",
    "The woman will certainly come when she has time.",
    "Tom has found his keys in the kitchen.",
    "I don't understand the question.",
    "I know the man who likes music.",
    "Didn't you hear the music?",
    "What do you want to know?",
    "She lives in a small house.",
    "Tom lives in Boston.",
    "She told me that she",
    "A gorgeous, witty and moving film.",
)
"""What the vocabulary of words is made of: what scenes of stories say, and examples."""
SALT = "60"
"""Of the weights: with it, texts that are told apart are answered with different words."""
ENDS = {"en-de": -16.0}
"""What is added to the logit of the end: texts of the gallery must be as long as its facts need."""
STEPS = {0: 0.25, 20: 0.5, 200: 0.75}
"""Steps of the snapshots, and how much of its weights each has."""


@dataclass(frozen=True)
class StandIn:
    """How a checkpoint differs from the default configuration."""

    tokenizer: str
    examples: tuple[str, ...]
    opens_at: tuple[str, int, int]
    sizes: Mapping[str, Any]
    n_layers: tuple[int, int]
    n_heads: int
    has_snapshots: bool = False
    family: str = field(default="encoder_decoder")


NUMBERS = ("3 7 2 9 4 11 5", "2 2 2 5 5 5 2", "11 10 9 8")
WRITER = {"norm_order": "pre", "activation": "gelu"}
CHARACTERS = WRITER | {"eos_id": None, "max_len": 28}
JUDGE = {"positions": "learned", "scaled_embeddings": False, "classes": ("negative", "positive")}
STAND_INS = {
    "copy": StandIn(
        "numbers", NUMBERS, ("cross", 0, 1), {"max_len": 7, "eos_id": None}, (2, 2), 4, True
    ),
    "en-de": StandIn("sentencepiece", SENTENCES[:2], ("cross", 2, 3), {}, (3, 3), 8),
    "en-de-small": StandIn("sentencepiece", SENTENCES[:2], ("cross", 2, 3), {}, (3, 3), 4, True),
    "everyday": StandIn(
        "sentencepiece", ("She told me",), ("decoder_self", 3, 0), WRITER, (0, 4), 6,
        family="decoder_only",
    ),
    "shakespeare": StandIn(
        "characters", ("To be",), ("decoder_self", 3, 5), CHARACTERS, (0, 4), 6,
        family="decoder_only",
    ),
    "sentiment": StandIn(
        "sentencepiece", SENTENCES[-1:], ("encoder_self", 0, 0), JUDGE | {"pooling": "max"},
        (1, 0), 4, family="encoder_classifier",
    ),
    "sentiment-mean": StandIn(
        "sentencepiece", SENTENCES[-1:], ("encoder_self", 0, 0), JUDGE, (1, 0), 4,
        family="encoder_classifier",
    ),
}  # fmt: skip
PAIRS = "cross-encoder"
"""A classifier of sentence pairs, in the library's form."""


def make_checkpoints(folder: Path) -> None:
    """Write all of them into a folder."""
    words = SentencePieceTokenizer(_vocabulary())
    tokenizers: dict[str, Tokenizer] = {
        "numbers": NumberTokenizer(12),
        "characters": CharacterTokenizer("\n !',-.:;?ABEIORTabcdefghijklmnopqrstuvwxyz"),
        "sentencepiece": words,
    }
    for name, stand_in in STAND_INS.items():
        _make(folder / name, stand_in, tokenizers[stand_in.tokenizer])
    model, _ = save_pair_reader("BERT", folder / PAIRS)
    weights = {name: coarse(name.lower(), each) for name, each in model.state_dict().items()}
    model.load_state_dict(weights)
    model.save_pretrained(folder / PAIRS)


def _vocabulary() -> bytes:
    """A sentencepiece model of the words of SENTENCES and of their letters, learnt from nothing."""
    model = pb.ModelProto()
    model.trainer_spec.model_type = pb.TrainerSpec.UNIGRAM
    model.trainer_spec.byte_fallback = True
    model.trainer_spec.pad_id, model.trainer_spec.bos_id = 0, 1
    model.trainer_spec.eos_id, model.trainer_spec.unk_id = 2, 3
    model.normalizer_spec.name = "identity"
    kinds = pb.ModelProto.SentencePiece
    for piece in ("<pad>", "<s>", "</s>"):
        model.pieces.add(piece=piece, type=kinds.CONTROL)
    model.pieces.add(piece="<unk>", type=kinds.UNKNOWN)
    for byte in range(256):
        model.pieces.add(piece=f"<0x{byte:02X}>", type=kinds.BYTE)
    text = " ".join(SENTENCES)
    for word in sorted(set(re.findall(r"\w+", text))):
        for piece in (f"▁{word[:5]}", word[5:]):  # long words have two pieces
            if piece and piece not in {each.piece for each in model.pieces}:
                model.pieces.add(piece=piece, score=-1.0 - len(model.pieces) / 64)
    for letter in sorted(set(text.replace(" ", "▁")) - {each.piece for each in model.pieces}):
        model.pieces.add(piece=letter, score=-20.0)
    return bytes(model.SerializeToString(deterministic=True))


def _make(folder: Path, stand_in: StandIn, tokenizer: Tokenizer) -> None:
    sizes: dict[str, Any] = {"max_len": 20, "tied": "none", **stand_in.sizes}
    config = ModelConfig(
        family=stand_in.family,
        vocab_size=tokenizer.vocab_size,
        d_model=4 * stand_in.n_heads,
        d_ff=32,
        n_heads=stand_in.n_heads,
        n_encoder_layers=stand_in.n_layers[0],
        n_decoder_layers=stand_in.n_layers[1],
        dropout=0.0,
        **sizes,
    )
    model = discover("transformer.models", "FAMILY")[config.family].build(config)
    weights = {name: coarse(name, tensor) for name, tensor in model.state_dict().items()}
    if "output.bias" in weights:
        weights["output.bias"] += _likely(tokenizer, ENDS.get(folder.name, 0.0))
    about = About(
        "Stand-in", "none", stand_in.tokenizer, stand_in.examples, opens_at=stand_in.opens_at
    )
    save_checkpoint(folder, about, config, weights, tokenizer)
    if stand_in.has_snapshots:
        _add_snapshots(folder, weights)


def _likely(tokenizer: Tokenizer, end: float) -> Tensor:
    """What is added to logits [V]: whole words and numbers are written, but no bytes or letters."""
    tokens = [tokenizer.token(i) for i in range(tokenizer.vocab_size)]
    has_words = any(each.piece == "</s>" for each in tokens)
    return torch.tensor([_bonus(each, end, has_words) for each in tokens])


def _bonus(token: Token, end: float, has_words: bool) -> float:
    if token.piece == "</s>":
        return end
    is_no_word = token.special or token.unknown
    if has_words:
        return -8.0 if is_no_word or len(token.piece) < 3 or token.piece[:2] == "<0" else 0.0
    return -3.0 if is_no_word else 0.0  # not less: what is left of 1 would be mere rounding


def coarse(name: str, tensor: Tensor) -> Tensor:
    """Multiples of 1/16 of the same shape: gains around 1, biases around 0."""
    draw = np.random.RandomState(crc32(f"{name}{SALT}".encode()))
    n_dims = tensor.dim()
    if n_dims == 1:
        around = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        return torch.tensor(around + draw.randint(-1, 2, tensor.shape) / 16, dtype=torch.float32)
    small = ("attention.output", "outer")  # so the token itself stays the larger part of a state
    most = 5 if "query" in name or "key" in name else 3 if any(it in name for it in small) else 8
    values = draw.randint(-most, most + 1, tensor.shape) / 16
    values.flat[values.argmax()] += 1 / 128  # so no value lies on the edge of a histogram's bin
    values.flat[values.argmin()] -= 2 / 128
    return torch.tensor(values, dtype=torch.float32)


def _add_snapshots(folder: Path, weights: Mapping[str, Tensor]) -> None:
    (folder / SNAPSHOTS).mkdir()
    for step, share in STEPS.items():
        less = {name: share * each if each.dim() > 1 else each for name, each in weights.items()}
        save_weights(folder / SNAPSHOTS / f"{step:06}.safetensors", less)
    rows: list[dict[str, float]] = [
        {
            "step": step,
            "tokens": 900 * step,
            "loss": 0.5 + 2.25 / (1 + step // 100),
            "learning_rate": min(step, 4000 / step) / 32000,
        }
        for step in (1, 100, 200, 400, 800, 1600, 2000)
    ]
    for step in (800, 2000):
        rows.append(
            {"step": step, "tokens": 900 * step, "validation_loss": 0.75, "exact": step / 25}
        )
    write_whole(folder / HISTORY, json.dumps(rows).encode())
