"""python -m tests.gallery --data DIR: the means that the gallery's sentences state."""

import argparse
import re
from collections import defaultdict
from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.rules import RULES
from tests.gallery.seen import Seeing
from viz.gallery import COMPOSITIONS


def main(data: Path, checkpoint: Path, wanted: str) -> None:
    """Print each rule's cases and their means, of the composition's heads and the strongest."""
    torch.set_num_threads(1)
    seeing = Seeing(checkpoint)
    for title, (kind, rule) in RULES.items():
        if not re.search(wanted, title):
            continue
        print(f"\n{title}\n  {' '.join((rule.__doc__ or '').split())}")
        cases: dict[str, list[Tensor]] = defaultdict(list)
        for name, weights in rule(seeing, data):
            cases[name].append(weights)
        facts = (
            fact for each in COMPOSITIONS if title.startswith(each.title) for fact in each.facts
        )
        heads = list(dict.fromkeys((fact.layer, fact.head) for fact in facts if fact.kind == kind))
        for name, found in cases.items():
            mean = torch.stack(found).mean(0)
            best = [
                divmod(i, mean.size(1))
                for i in mean.flatten().argsort(descending=True)[:4].tolist()
            ]
            print(
                f"  {name} ({len(found):,}): {_said(mean, heads)} | strongest: {_said(mean, best)}",
                flush=True,
            )


def _said(mean: Tensor, heads: list[tuple[int, int]]) -> str:
    return ", ".join(f"L{layer} H{head} {float(mean[layer, head]):.2f}" for layer, head in heads)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.gallery")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--only", default="", help="compositions whose titles match this pattern")
    asked = parser.parse_args()
    main(asked.data, asked.checkpoint, asked.only)
