"""In this process, one shard after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformer.corpus.shards import Shard
from transformer.engines.engine import Done, EngineError, Job


@dataclass(frozen=True)
class Here:
    """In this process."""

    name: str = "here"
    title: str = "in this process"

    def run(
        self, job: Job, shards: Sequence[Shard], jobs: int = 1, address: str = ""
    ) -> Iterator[Done]:
        """Do one after the other."""
        if address or jobs > 1:
            raise EngineError("The engine “here” is one process: leave out --jobs and --address.")
        if shards:
            yield from map(job.open(), shards)


ENGINE = Here()
