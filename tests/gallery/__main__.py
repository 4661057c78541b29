"""python -m tests.gallery: facts of stories that the shipped weights no longer bear out.

--renew rewrites their figures in the stories' files, in facts and texts. --data DIR measures the
means that texts state instead.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.findings import STORY, left_out, outside
from tests.gallery.renewing import renewed_story
from tests.gallery.rules import RULES
from tests.gallery.seen import Seeing
from viz.stories.reading import FOLDER, shipped_stories, write_story


def facts(renew: bool) -> int:
    """Print each fact that does not hold, and what is there. How many nobody has mended."""
    torch.set_num_threads(1)
    n_left = 0
    for story in shipped_stories().values():
        again, wrong = renewed_story(story)
        for number, scene in wrong:
            print(f"\n{story.name}.md, scene {number}: {scene.scene.heading}")
            print("\n".join(f"  {line}" for line in scene.said), flush=True)
            n_left += not (renew and scene.is_whole)
        if renew and again != story:
            (FOLDER / f"{story.name}.md").write_text(write_story(again), encoding="utf-8")
    for line in left_out():
        print(f"\n{line}")
        n_left += 1
    print(f"{n_left} scenes are to be looked at." if n_left else "All facts hold.")
    return n_left


def means(data: Path, checkpoint: Path, wanted: str) -> None:
    """Print each rule's cases and their means, of the scene's heads and the strongest."""
    torch.set_num_threads(1)
    seeing = Seeing(checkpoint)
    scenes = [each for story in shipped_stories().values() for each in story.scenes]
    for title, (kind, rule) in RULES.items():
        if not re.search(wanted, title):
            continue
        print(f"\n{title}\n  {' '.join((rule.__doc__ or '').split())}")
        cases: dict[str, list[Tensor]] = defaultdict(list)
        for name, weights in rule(seeing, data):
            cases[name].append(weights)
        facts = (fact for each in scenes if title.startswith(each.heading) for fact in each.facts)
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
    parser.add_argument("--data", type=Path, help="folder of the data sets: measure means")
    parser.add_argument("--renew", action="store_true", help="write the figures of now")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--only", default="", help="scenes whose headings match this pattern")
    asked = parser.parse_args()
    if asked.data is None:
        raise SystemExit(facts(asked.renew) > 0)
    means(asked.data, asked.checkpoint, asked.only)
    if re.search(asked.only, STORY):
        outside(asked.data)
