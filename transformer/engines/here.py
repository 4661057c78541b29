"""In this process, one shard after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from transformer.corpus.shards import Shard
from transformer.engines.engine import ALONE, Done, EngineError, Job, Resources


@dataclass(frozen=True)
class Here:
    """This process."""

    name: str = "here"
    title: str = "in this process"

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Do one after the other."""
        if resources.address or resources.jobs > 1:
            raise EngineError("The engine here is one process: leave out --jobs and --address.")
        if not shards:
            return
        threads = torch.get_num_threads()
        torch.set_num_threads(resources.threads)
        try:
            yield from map(job.open(), shards)
        finally:
            torch.set_num_threads(threads)


ENGINE = Here()
