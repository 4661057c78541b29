"""Recordings that views are drawn of: each has something that the others lack."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import torch

from tests.golden.checkpoints import coarse
from tests.transformer.watch.placed import Alibi, Layer, Learned, Stack, Turning
from transformer import Recording, decode, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from transformer.decoding import Candidate
from transformer.recording.data import Masked
from transformer.token import Token
from transformer.watch import record_module

IDS = (0, 7, 14, 21, 28, 35, 42)


def _of_checkpoint(name: str, text: str) -> Recording:
    checkpoint = load_checkpoint(checkpoints_folder() / name, "cpu")
    if not checkpoint.family.decodes:
        return record(checkpoint, text)
    return record(checkpoint, text, decode(checkpoint, text, "greedy").target)


def _of_module(layer: type[Layer]) -> Recording:
    """Two layers of a module that is no family of ours."""
    model = Stack(*(layer() for _ in range(2))).eval()
    model.load_state_dict(
        {
            name: coarse(name, each)
            if each.is_floating_point() and "inv_freq" not in name
            else each
            for name, each in model.state_dict().items()
        }
    )
    return record_module(model, torch.tensor([IDS]), [str(each) for each in IDS])


def _masked() -> Recording:
    """Two positions, ten candidates each, of falling probability."""
    best = tuple(Candidate(Token(i, f"word {i}"), 0.4 / 2**i) for i in range(10))
    rest = 1 - sum(each.prob for each in best)
    plain = recording_of("copy")
    return replace(plain, positions={}, masked=tuple(Masked(i, best, rest) for i in (1, 4)))


RECORDINGS: dict[str, Callable[[], Recording]] = {
    "copy": partial(_of_checkpoint, "copy", "3 7 2 9 4 11 5"),
    "sentiment": partial(_of_checkpoint, "sentiment", "A gorgeous, witty and moving film."),
    "sentiment-mean": partial(_of_checkpoint, "sentiment-mean", "A gorgeous, witty film."),
    "masked": _masked,
    "alibi": partial(_of_module, Alibi),
    "relative": partial(_of_module, Learned),
    "rotary": partial(_of_module, Turning),
}


@cache
def recording_of(name: str) -> Recording:
    """The recording of this name, made once."""
    return RECORDINGS[name]()
