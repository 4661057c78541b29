"""Logs of trainings: ours and those of Hugging Face's Trainer, and the curves that show them."""

import json
from pathlib import Path
from random import Random

from tests.fuzz.checkpoints import emptied
from tests.fuzz.damage import no_file, strange_json
from tests.fuzz.kind import Attempt, Kind
from transformer.checkpoint import HISTORY, SNAPSHOTS
from transformer.training.history import TRAINER_STATE, list_snapshots, training_rows
from viz.pages.training import (
    chart_loss_curve,
    chart_score_curves,
    describe_loss_curve,
    describe_score_curves,
    scores,
)
from viz.painters.chart_plotly import figure
from viz.theme import theme

OURS = [
    {"step": 1, "tokens": 90, "loss": 2.5, "learning_rate": 0.1},
    {"step": 1, "tokens": 90, "validation_loss": 2.0, "BLEU": 1.5},
    {"step": 50, "tokens": 900, "loss": 1.5, "learning_rate": 0.2},
]
THEIRS = {
    "global_step": 50,
    "log_history": [{"step": 1, "loss": 2.5, "epoch": 0.1}, {"step": 50, "eval_loss": 2.0}],
}
NAMES = ("000001.safetensors", "9" * 15 + ".safetensors", "9" * 40 + ".safetensors", "a.b")


def start(folder: Path) -> Attempt:
    def attempt(random: Random) -> None:
        place = emptied(folder / "tried")
        kept = {HISTORY: json.dumps(OURS), TRAINER_STATE: json.dumps(THEIRS)}
        name = random.choice(list(kept))
        (place / name).write_text(strange_json(random, kept[name]))
        if random.random() < 0.1:
            no_file(random, place / name)
        (place / SNAPSHOTS).mkdir()
        (place / SNAPSHOTS / random.choice(NAMES)).write_bytes(b"")
        (place / "checkpoint-50").mkdir()
        snapshots = list_snapshots(place)
        [f"{each.step:,}" for each in snapshots]
        rows = training_rows(place, snapshots)
        if rows:
            is_log = random.random() < 0.5
            figure(chart_loss_curve(rows, None, is_log), theme("light")).to_json()
            describe_loss_curve(rows)
            if scores(rows):
                figure(chart_score_curves(rows, is_log), theme("dark")).to_json()
                describe_score_curves(rows)

    return attempt


KIND = Kind("logs", start, n=2000)
