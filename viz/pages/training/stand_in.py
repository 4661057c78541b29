"""The checkpoint whose heads are shown over steps: the chosen one, or else one with snapshots."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer import CheckpointError
from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method
from transformer.formats.opening import format_of
from transformer.refusal import Refusal
from transformer.training.history import Snapshot, left_out, list_snapshots
from viz.run.request import Answer, Request, about, answer, make_request
from viz.state.checkpoints import at_start, shipped_names
from viz.state.opening import check_allowed
from viz.state.page import Pane

FIRST = "en-de-small"
"""Its heads change most clearly."""


def with_snapshots(pane: Pane) -> Pane:
    """The same pane, or one of a shipped checkpoint that has snapshots, of the same text.

    Where that checkpoint cannot read the text, of its own example. The same pane where none has
    some.
    """
    if pane.result is None or len(snapshots_of(pane.result)) > 1:
        return pane
    for request in _requests(pane.result.request):
        try:
            return Pane(pane.screen, pane.request, answer(request))
        except Refusal:
            continue
    return pane


def _requests(first: Request) -> Iterator[Request]:
    """Yield requests to other checkpoints, the best first."""
    folder = checkpoints_folder()
    for name in _shipped():
        if len(list_snapshots(folder / name)) < 2:
            continue
        description = about(name)
        if description is not None:
            family = description.family
            method = default_method(family.reads) if family.decodes else "none"
            for text in (first.text, *description.about.examples[:1]):
                yield make_request(name, text, method)


def shipped_left_out() -> str:
    """Say where the snapshots are that would stand in; empty where none were left out."""
    folder = checkpoints_folder()
    return next(filter(None, (left_out(folder / name) for name in _shipped())), "")


def _shipped() -> list[str]:
    return sorted(shipped_names(), key=lambda each: each != FIRST)


def snapshots_of(answer: Answer) -> list[Snapshot]:
    """Return the snapshots of its checkpoint that may be opened."""
    return allowed(list_snapshots(answer.checkpoint.path), answer.request.checkpoint)


def allowed(snapshots: Sequence[Snapshot], checkpoint: str) -> list[Snapshot]:
    """Return those that may be opened: of a checkpoint opened by path, its neighbours may not."""
    path = Path(checkpoint)
    if not path.is_absolute() or path in at_start()[0]:
        return list(snapshots)
    return [each for each in snapshots if _is_allowed(each.path)]


def _is_allowed(path: Path) -> bool:
    try:
        check_allowed([path, *format_of(path).files(path)])
    except CheckpointError:
        return False
    return True
