"""The studies of one written token, and of every head that is off while it is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from transformer.causes.arrows import Arrows, arrows
from transformer.inputs import InputError
from viz.components.kit.picture import NothingLeft
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study


@dataclass(frozen=True)
class EachArrow(Study[Arrows]):
    """Every arrow of the row that writes a token, each cut by itself."""

    request: Request
    step: int
    """The number of the token in the target."""

    def run(self, before: Arrows | None, runner: Runner) -> Iterator[Arrows]:
        """Raises NothingLeft for a model whose arrows cannot be cut so."""
        plain = answer(self.request, runner)
        at = self.request.text, plain.recording.target, self.step, self.request.edits
        with runner.steps(plain.checkpoint.model).one(), _in_a_sentence():
            result = arrows(plain.checkpoint, *at)
        yield result

    def n_read(self, value: Arrows) -> int:
        """About: a row pass of 500 arrows costs as much as 8 texts."""
        n_cells = sum(each.numel() for each in value.costs.values())
        return n_cells // (1 if self.request.edits else 60)


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise NothingLeft(str(error)) from error
