"""The checkpoint that a scene is shown on: the chosen one, or a shipped one that can do it."""

from collections.abc import Iterator
from textwrap import shorten

from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method
from transformer.refusal import Refusal
from transformer.training.history import list_snapshots
from viz.app_packages import st
from viz.lessons.needs import NEEDS, lacking
from viz.pages.training.stand_in import snapshots_of
from viz.run.request import Answer, Request, about, make_request
from viz.state.checkpoints import shipped_names, title
from viz.state.page import Pane
from viz.ui.progress import whole

MOST_WRITTEN = 160
"""Characters of an output that are said."""


def standing_in(
    pane: Pane, needs: tuple[str, ...], answers: dict[Request, Answer | None]
) -> tuple[Answer, str] | None:
    """The answer that meets all needs, and what is said where it is another one's.

    None where no checkpoint meets them, or somebody stopped it. answers: those that this run of
    the page has waited for.
    """
    lacks = _lacking(pane.answer, needs)
    if lacks is None:
        return pane.answer, ""
    chosen, place = title(pane.answer.request.checkpoint), st.empty()
    for request in _requests(pane.answer.request, needs):
        try:
            if request not in answers:
                answers[request] = whole(request, place, ("stands in", request))
        except Refusal:
            continue
        other = answers[request]
        if other is None:
            return None
        if _lacking(other, needs) is None:
            is_yours = request.text == pane.answer.request.text
            of = "your sentence" if is_yours else f"its own example, “{request.text}”"
            remark = f"{chosen} {lacks}: this is {title(request.checkpoint)}, over {of}."
            return other, remark + _written(other)
    return None


def _written(other: Answer) -> str:
    """Say what it writes: the header says what the chosen checkpoint does."""
    text = shorten(other.decoding.text if other.decoding else "", MOST_WRITTEN, placeholder=" …")
    return f" It writes “{text}”{'' if text.endswith('.') else '.'}" if text else ""


def _lacking(answer: Answer, needs: tuple[str, ...]) -> str | None:
    if "snapshots" in needs and not _may_open_snapshots(answer):
        return NEEDS["snapshots"].lacks
    return lacking(needs, answer.checkpoint, answer.recording)


def _may_open_snapshots(answer: Answer) -> bool:
    """Tell whether all its neighbours may be opened: not those of one that somebody opened."""
    return len(snapshots_of(answer)) == len(list_snapshots(answer.checkpoint.path))


def _requests(first: Request, needs: tuple[str, ...]) -> Iterator[Request]:
    """Yield requests to shipped checkpoints; those without the kinds of attention are left out."""
    kinds = {name for name in needs if name in ("encoder_self", "decoder_self", "cross")}
    folder = checkpoints_folder()
    for name in sorted(shipped_names(), key=_rank):
        description = about(name)
        if (
            description is None
            or not kinds <= set(description.family.attentions)
            or name == first.checkpoint
            or ("snapshots" in needs and len(list_snapshots(folder / name)) < 2)
        ):
            continue
        method = default_method(description.family.reads) if description.family.decodes else "none"
        method = "greedy" if method == "sample" else method  # tasks are about no word of chance
        for text in (first.text, *description.about.examples[:1]):
            yield make_request(name, text, method)


def _rank(name: str) -> int:
    """The best translator first, then the one with snapshots."""
    return {"en-de": 0, "en-de-small": 1}.get(name, 2)


assert {"encoder_self", "decoder_self", "cross"} <= set(NEEDS)
