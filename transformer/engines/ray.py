"""Actors of Ray, on this machine or on the machines of a cluster.

Plain actors do what Ray Data would do for a list of shards, without its three actors and its
imports. Nothing is installed on other machines: they have the same versions, or the job ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from transformer.corpus.shards import Shard
from transformer.engines.crew import Death, Report, attempt, do_all
from transformer.engines.engine import ALONE, Done, EngineError, Job, Resources, Work
from transformer.engines.machine import check_machine, marks_of
from transformer.engines.ray_session import first_line, joined
from transformer.extras import require


@dataclass(frozen=True)
class Ray:
    """Ray."""

    name: str = "ray"
    title: str = "actors of Ray, a local one or with --address a cluster's"

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Start or join Ray, and give each actor a shard whenever it is ready."""
        require("cluster", "use --jobs")
        if shards:
            address, threads = resources.address, resources.threads
            with joined(address, resources.jobs * threads) as ray:
                if ray.cluster_resources().get("CPU", 0) < threads:
                    raise EngineError(f"The cluster at {address} has no processor for a job.")
                yield from do_all(_Actors(ray, job, resources), shards, resources.jobs)


@dataclass
class _Actors:
    """Actors by their number, and what each is asked at the moment."""

    ray: Any
    job: Job
    resources: Resources
    actors: list[Any] = field(default_factory=list)
    asked_of: dict[Any, int] = field(default_factory=dict)

    def start(self) -> int:
        device = str(getattr(self.job, "device", None) or "")
        kind = self.ray.remote(
            num_cpus=self.resources.threads,
            num_gpus=int(device.startswith("cuda")),
            max_restarts=0,  # another actor takes its place, of which the deaths are counted
        )(_Worker)
        marks = marks_of(self.job.checkpoint) if self.resources.address else None
        self.actors.append(kind.remote(self.job, marks, self.resources.threads))
        worker = len(self.actors) - 1
        self.asked_of[self.actors[worker].open.remote()] = worker
        return worker

    def give(self, worker: int, shard: Shard) -> None:
        self.asked_of[self.actors[worker].do.remote(shard)] = worker

    def report(self) -> tuple[int, Report]:
        (answer, *_), _ = self.ray.wait(list(self.asked_of), num_returns=1)
        worker = self.asked_of.pop(answer)
        try:
            return worker, self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            return worker, Death(first_line(error))

    def end(self) -> None:
        for actor in self.actors:
            self.ray.kill(actor)


class _Worker:
    """An actor, in a process of its own."""

    def __init__(self, job: Job, marks: Mapping[str, str] | None, threads: int) -> None:
        torch.set_num_threads(threads)
        self.job, self.marks = job, marks
        self.work: list[Work] = []

    def open(self) -> Report:
        return attempt(self._open)

    def do(self, shard: Shard) -> Report:
        return attempt(lambda: self.work[0](shard))

    def _open(self) -> None:
        if self.marks is not None:  # other machines
            check_machine(self.marks, marks_of(self.job.checkpoint))
        self.work.append(self.job.open())


ENGINE = Ray()
