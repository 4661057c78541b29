"""The last shard first, in this process."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformer.corpus.shards import Shard
from transformer.engines.engine import ALONE, Done, Job, Resources


@dataclass(frozen=True)
class Backwards:
    """This process, from the end on."""

    name: str = "backwards"
    title: str = "the last shard first"

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Do one after the other."""
        yield from map(job.open(), reversed(shards))


ENGINE = Backwards()
