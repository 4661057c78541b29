"""Tensors by name with something wrong in one: its name, its type, its shape, its values."""

from random import Random

import torch
from torch import Tensor

NAMES = ("", ".", ".weight", "a..b", "weight.", "...", " ", "a\nb", "\ud800", "<b>", "x" * 3000)
TYPES = (
    *(torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool),
    *(torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2, torch.int8),
)
VALUES = (0.0, 1.0, float("nan"), float("inf"), 1e38, -1e38)


def strange_tensors(random: Random, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """A copy in which one to three of them have been changed."""
    found = {name: each.clone() for name, each in tensors.items()}
    for _ in range(random.choice((1, 1, 3))):
        _change(random, found)
    return found


def _change(random: Random, found: dict[str, Tensor]) -> None:
    if not found:
        return
    name = random.choice(sorted(found))
    value = found[name]
    match random.randrange(7):
        case 0:
            del found[name]
        case 1:
            found[strange_name(random, name)] = found.pop(name)
        case 2:
            found[strange_name(random, name)] = value.clone()
        case 3:
            found[name] = value.to(random.choice(TYPES))
        case 4:
            found[name] = torch.zeros(strange_shape(random, tuple(value.shape)))
        case 5:
            found[name] = torch.full(value.shape, random.choice(VALUES))
        case 6:
            found[name] = found[random.choice(sorted(found))].clone()


def strange_name(random: Random, name: str) -> str:
    """One without parts, or another that looks like this one."""
    parts = name.split(".")
    place = random.randrange(len(parts))
    made = (
        random.choice(NAMES).encode("utf-8", "replace").decode(),
        ".".join([*parts[:place], *parts[place + 1 :]]),
        ".".join([*parts[:place], str(random.choice((0, 1, 9, 10**9, "", -1))), *parts[place:]]),
        name.replace("0", "1"),
        name.replace("0", "7"),
    )
    return random.choice(made)


def strange_shape(random: Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Another number of axes, or other sizes, 0 among them."""
    made = list(shape)
    match random.randrange(4):
        case 0:
            return random.choice(((), (0,), (1,), (0, 0), (1, 1, 1, 1), (2, 0, 3)))
        case 1:
            made.append(1)
        case 2 if made:
            made.pop(random.randrange(len(made)))
        case _ if made:
            place = random.randrange(len(made))
            made[place] = max(0, made[place] + random.choice((-1, 1, made[place], -made[place])))
    return tuple(made)
