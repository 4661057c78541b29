"""The training loop: resumable, on any device, and watched while it runs."""

import errno
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel
from tqdm import tqdm

from transformer.checkpoint import HISTORY, SNAPSHOTS
from transformer.device import choose_device
from transformer.discover import discover
from transformer.files.foreign_text import whole_folder, write_whole
from transformer.files.tensors import UNMAPPED
from transformer.formats.headscope import save_checkpoint, save_weights
from transformer.formats.opening import load_checkpoint
from transformer.training.batches import Batch, epochs, n_processes
from transformer.training.step import Update, held_out_loss
from transformer.training.task import Recipe, Task, TrainingError, rate, snapshot_steps
from transformer.training.warm_start import ADVICE, COLLAPSED, spreads, start_from

# Everything a stopped run needs to go on, in one safetensors file.


def load_state(file: Path, modules: dict[str, nn.Module], optimizer: Optimizer) -> dict[str, Any]:
    """Put everything back where `save_state` found it; returns progress. Raises TrainingError."""
    try:
        with safe_open(file, framework="pt", backend=UNMAPPED) as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            progress: dict[str, Any] = json.loads(opened.metadata()["progress"])
        _restore(tensors, modules, optimizer)
    except (SafetensorError, RuntimeError, KeyError, ValueError) as error:
        raise TrainingError(
            f"{file} does not belong to this recipe: move its folder away to start again."
        ) from error
    return progress


def _restore(
    tensors: dict[str, Tensor], modules: dict[str, nn.Module], optimizer: Optimizer
) -> None:
    torch.set_rng_state(tensors.pop("random"))
    for prefix, module in modules.items():
        module.load_state_dict(_under(tensors, f"{prefix}/"))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _under(tensors, "optimizer/").items():
        index, key = name.split("/")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


# The training loop: resumable, on any device, and watched while it runs.

SAVE_SECONDS = 40
"""A killed run loses at most this much, and the time of one save."""
LOG_STEPS = 50


class Run:
    """One training run; its folder holds the state and, for a look, the weights so far."""

    def __init__(
        self,
        recipe: Recipe,
        task: Task,
        folder: Path,
        device: str | None,
        start: Path | None = None,
    ) -> None:
        """start: a checkpoint whose weights a new run begins with."""
        torch.manual_seed(recipe.training.seed)
        self.recipe, self.task, self.folder = recipe, task, folder
        self.device = choose_device(device)
        family = discover("transformer.models", "FAMILY")[recipe.model.family]
        self.model = family.build(recipe.model)
        self.state_file = folder / "state.safetensors"
        if start is not None and not self.state_file.exists():
            start_from(self.model, task.tokenizer, start)
        self.model.to(self.device)
        self.update = Update(self.model, recipe.training)
        self.averaged = AveragedModel(
            self.model, multi_avg_fn=_moving_average(recipe.training.average_decay)
        )
        self.progress: dict[str, Any] = {
            "start": start and start.absolute().name,
            "step": 0,
            "epoch": 0,
            "batch": 0,
            "tokens": 0,
            "seconds": 0.0,
            "cpu_seconds": 0.0,
            "precisions": [],
            "history": [],
        }
        self.snapshots = set(snapshot_steps(recipe.training.steps, recipe.training.snapshots))
        if self.state_file.exists():
            self.progress = load_state(self.state_file, self._modules(), self.update.optimizer)

    def train(self) -> None:
        """Go on to the last step. Safe to kill and call again."""
        steps, done = self.recipe.training.steps, self.progress["step"]
        clock = _Clock(self.progress)
        self.speed = _Speed(self.progress["tokens"])
        batches = self._batches()
        if done == 0:
            self._snapshot(0)
        precision, device = self._precision(), self.device
        with tqdm(total=steps, initial=done, unit="step", mininterval=2, dynamic_ncols=True) as bar:
            bar.write(f"training in {precision} on {device}", file=sys.stderr)
            try:
                for step in range(done, steps):
                    self._step(step, next(batches), bar)
                    if clock.due(SAVE_SECONDS):
                        self._save()
                    if (step + 1) % self.recipe.training.validate_every == 0 or step + 1 == steps:
                        self._validate(bar)
                        clock.tick()
            finally:
                clock.tick()
                self._save()

    def _precision(self) -> str:
        """The one taken now; progress has all that the run took, as it may go on elsewhere."""
        now, taken = self.update.precision, self.progress.setdefault("precisions", [])
        if now not in taken:
            taken.append(now)
        return now

    def _step(self, step: int, batch: Batch, bar: "tqdm[Any]") -> None:
        training = self.recipe.training
        factor = rate(step, training.steps, training.warmup_steps, training.decay_fraction)
        loss = self.update(batch, factor)
        self.averaged.update_parameters(self.model)
        self.progress["step"] = step + 1
        self.progress["batch"] += 1
        self.progress["tokens"] += batch.n_tokens
        bar.update()
        if step % LOG_STEPS == 0 or step + 1 == training.steps:
            self._log(bar, loss=loss.item(), learning_rate=training.learning_rate * factor)
        if step + 1 in self.snapshots:
            self._snapshot(step + 1)

    def _batches(self) -> Iterator[Batch]:
        """Batches from where the run stands, for ever."""
        first, n = self.progress["epoch"], n_processes(self.device)
        for epoch, batches in epochs(self.task.batches, first, n):
            if epoch != self.progress["epoch"]:
                self.progress |= {"epoch": epoch, "batch": 0}
            yield from islice(batches, self.progress["batch"], None)

    def _validate(self, bar: "tqdm[Any]") -> None:
        """Loss of the averaged weights on held-out batches, and quick scores of decoding."""
        model = self.averaged.module.eval()
        total, n = 0.0, 0
        with spreads(model) as measured:
            for batch in self.task.validation():
                total += held_out_loss(model, batch, self.device) * batch.n_targets
                n += batch.n_targets
        if measured and max(measured) < COLLAPSED:
            bar.write(f"step {self.progress['step']:,}: {ADVICE}.", file=sys.stderr)
        self.export(self.folder)
        scores = self.task.sample_scores(load_checkpoint(self.folder, str(self.device)))
        self._log(bar, validation_loss=total / n, **scores)
        row = _row_text(self.progress["history"][-1])
        bar.write(f"step {self.progress['step']:,}: {row}", file=sys.stderr)

    def _log(self, bar: "tqdm[Any]", **values: float) -> None:
        row = {"step": self.progress["step"], "tokens": self.progress["tokens"], **values}
        self.progress["history"].append(row)
        if "loss" in values:
            speed = self.speed.tokens_per_second(self.progress["tokens"])
            bar.set_postfix_str(f"loss {values['loss']:.3f}, {speed:,.0f} tokens/s")

    def export(self, folder: Path) -> None:
        """Write the averaged weights as a checkpoint that the app opens."""
        save_checkpoint(
            folder,
            self.recipe.about,
            self.recipe.model,
            self.averaged.module.state_dict(),
            self.task.tokenizer,
        )
        write_whole(folder / HISTORY, json.dumps(self.progress["history"]).encode())

    def publish(self, output: Path) -> None:
        """Write the finished checkpoint with its snapshots, in place of those that it had.

        Raises Unwritten; what was published before is then untouched.
        """
        made = sorted((self.folder / SNAPSHOTS).iterdir()) if self.snapshots else []
        with whole_folder(output) as draft:
            self.export(draft)
            for file in made:
                write_whole(draft / SNAPSHOTS / file.name, file.read_bytes())
        names = {file.name for file in made}
        for file in (output / SNAPSHOTS).glob("*.safetensors") if made else ():
            if file.name not in names:
                file.unlink()

    def _snapshot(self, step: int) -> None:
        if step in self.snapshots:
            file = self.folder / SNAPSHOTS / f"{step:06d}.safetensors"
            save_weights(file, self.averaged.module.state_dict())

    def _modules(self) -> dict[str, nn.Module]:
        return {"model": self.model, "averaged": self.averaged}

    def _save(self) -> None:
        # Write modules, optimizer, the random state and progress (JSON values) in one move.
        modules = self._modules()
        tensors = {"random": torch.get_rng_state()}
        for prefix, module in modules.items():
            tensors |= {f"{prefix}/{name}": tensor for name, tensor in module.state_dict().items()}
        for index, values in self.update.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{index}/{name}": value for name, value in values.items()}
        metadata = {"progress": json.dumps(self.progress)}
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        write_whole(self.state_file, save(tensors, metadata))


class _Speed:
    """Tokens a second since the last time that it was asked."""

    def __init__(self, tokens: int) -> None:
        self.seen, self.at = tokens, time.monotonic()

    def tokens_per_second(self, tokens: int) -> float:
        now = time.monotonic()
        speed = (tokens - self.seen) / max(now - self.at, 1e-9)
        self.seen, self.at = tokens, now
        return speed


class _Clock:
    """Adds wall and processor time to a run's progress, over all its resumptions."""

    def __init__(self, progress: dict[str, Any]) -> None:
        self.progress = progress
        self.wall, self.cpu = time.monotonic(), time.process_time()
        self.saved = self.wall

    def tick(self) -> None:
        wall, cpu = time.monotonic(), time.process_time()
        self.progress["seconds"] += wall - self.wall
        self.progress["cpu_seconds"] += cpu - self.cpu
        self.wall, self.cpu = wall, cpu

    def due(self, seconds: float) -> bool:
        """Tell whether `seconds` have passed since this last said so."""
        if time.monotonic() - self.saved < seconds:
            return False
        self.tick()
        self.saved = self.wall
        return True


def _moving_average(decay: float) -> Any:
    """An exponential moving average that starts short, so that early weights are forgotten."""

    @torch.no_grad()
    def update(averaged: Any, current: Any, n: Tensor | int) -> None:
        n = int(n)
        torch._foreach_lerp_(averaged, current, 1 - min(decay, (1 + n) / (10 + n)))

    return update


def _row_text(row: dict[str, float]) -> str:
    skipped = ("step", "tokens")
    return ", ".join(f"{name} {value:.3f}" for name, value in row.items() if name not in skipped)


# A run's folder belongs to one process at a time: two would overwrite each other's state.

LOCK = "lock"
"""An empty file, which stays in the folder."""
_HELD = errno.EACCES, errno.EAGAIN


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """Hold the folder, which is made where there is none. Raises TrainingError where another does.

    The system lets go of it when this process ends, even if it is killed. Its forks hold nothing:
    with `flock` one that outlives it would.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("ab")
    except OSError as error:
        raise TrainingError(f"{folder} cannot be written to: {error.strerror}.") from error
    with lock:
        try:
            import fcntl

            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows has none: there nobody is told
        except OSError as error:  # any other: the file system has no locks
            if error.errno in _HELD:
                raise TrainingError(
                    f"Another training is at work in {folder}: wait for its end, or choose another "
                    "folder with --work."
                ) from error
        yield
