"""The picture of a link: the first picture of its page, as a slide.

It is drawn of shipped checkpoints alone; for strangers only where everything of it is at hand, so
that none of them has a model run.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace

from transformer.checkpoint import shipped_path
from transformer.extras import missing
from transformer.fingerprint import version_of
from viz.page_fields import CompareFields
from viz.paper.printed import WIDE, png
from viz.paper.sheet import Sheet
from viz.run.line import Runner
from viz.run.settings import is_public
from viz.run.work import Study, at_hand, only_at_hand
from viz.screen import Screen
from viz.server.link_head import PIXELS
from viz.server.recording_scenes import exhibits_of, pane_of
from viz.server.scene_picture import drawn
from viz.state.checkpoints import shipped_names
from viz.state.limits import may_draw
from viz.ui.saving import figure_of


@dataclass(frozen=True)
class LinkPicture(Study[bytes]):
    """The picture of a link. version: of the weights that it is made by."""

    screen: Screen
    version: int

    def run(self, before: bytes | None, runner: Runner) -> Iterator[bytes]:
        with only_at_hand() if is_public() else nullcontext():
            made = picture_of(self.screen)
        yield made


def link_picture(screen: Screen, who: str) -> bytes | None:
    """The picture of a Screen; None where there is none, or `who` asked for many just now."""
    names = shipped_names()
    named = {screen.checkpoint, screen.of(CompareFields).checkpoint_b} - {None}
    if not names or not named <= set(names) or missing("paper"):
        return None
    study = LinkPicture(screen, version_of(shipped_path(screen.checkpoint or names[0])))
    if (made := at_hand(study)) is not None:
        return made
    return drawn(study, "The picture of a link") if may_draw(who) else None


def picture_of(screen: Screen) -> bytes:
    """Draw it; empty where the page shows nothing that is made at once. Raises Refusal."""
    sheet = sheet_of(screen)
    return b"" if sheet is None else png(sheet, "", "", "", round(PIXELS[0] / WIDE))


def sheet_of(screen: Screen) -> Sheet | None:
    """The slide, before it is pixels. Raises Refusal."""
    page, _, pane = pane_of(screen)
    exhibits = exhibits_of(page, pane) if page is not None else ()
    if not exhibits:
        return None
    return replace(figure_of(pane, exhibits[0]), is_slide=True).sheet(WIDE)
