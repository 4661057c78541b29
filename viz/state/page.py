"""A page, as it declares itself, the pane that it gets to show, and what is said where it fails."""

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from logging import getLogger
from typing import Any, Literal

from transformer import Checkpoint, Recording
from transformer.analysis.reading import (
    AttentionMap,
    Reading,
    Selection,
    lenses,
    merges_unasked,
    read,
)
from transformer.checkpoint import About
from transformer.models.family import Family
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.choice import PageFields
from viz.components.kit.picture import sides
from viz.components.kit.sync import take_failure
from viz.exhibits.exhibit import Exhibit
from viz.run.line import relieved
from viz.run.operating import COUNTS, failure
from viz.run.previews import Derive
from viz.run.request import Answer, Request
from viz.run.work import Growth, finished
from viz.screen import Screen, declare, is_opening, link, value_of
from viz.state.state import current_theme, fail, session

# A page, as it declares itself, and a pane, which it gets to show.

Shows = Literal["sentence", "checkpoint", "nothing"]
"""The choices at the top of a page: a sentence and all that makes a model answer it; only the
checkpoint, where its files are read; nothing, where neither changes the page."""


@dataclass(frozen=True)
class Pane:
    """An answer on a page, and what is chosen of it. A page may have two, side by side."""

    screen: Screen
    request: Request
    """The header's request; not that of the answer where the header's cannot be answered."""
    result: Answer | None
    opens_at: Selection | None = None
    """The head where none is chosen; None: as the checkpoint says."""
    of: Derive | None = None
    """The way from the page's answer to this one; None: it is the page's."""
    beside: "Pane | None" = None
    """The first of two, whose rows and columns are those that the Screen's pins name."""
    suffix: str = ""
    """The end of the names of this pane's fields of the Screen, and of its widgets."""
    second: "Pane | None" = None
    """The other of two, as the header found it; None: it was not looked for."""

    @property
    def is_of_asked_checkpoint(self) -> bool:
        """Tell whether something is shown, and not only what another checkpoint answered before."""
        return self.result is not None and self.result.request.checkpoint == self.request.checkpoint

    @property
    def is_locked(self) -> bool:
        """Tell whether it shows the first pane's head; only another checkpoint has the same."""
        return (
            self.of is not None and self.beside is not None and value_of(self.screen, "same_head")
        )

    @property
    def answer(self) -> Answer:
        """The answer that is shown. Only pages that need no answer have panes without one."""
        assert self.result is not None
        return self.result

    @property
    def recording(self) -> Recording:
        return self.answer.recording

    @property
    def checkpoint(self) -> Checkpoint:
        return self.answer.checkpoint

    @property
    def default(self) -> Selection:
        """The head that is shown first."""
        return self.opens_at or first_head(self.checkpoint.about, self.checkpoint.family)

    @property
    def selection(self) -> Selection:
        return chosen_head(self.screen, self.recording, self.default, self.suffix)

    @property
    def usual_tokens(self) -> str:
        """Words; but of a model of single characters these."""
        return "words" if merges_unasked(self.checkpoint.about) else "pieces"

    @property
    def usual_special(self) -> str:
        """Special tokens where nobody chose: as the first picture has them, of any other shown."""
        return opening_special(self.screen, (self.beside or self).checkpoint.about)

    @property
    def reading(self) -> Reading:
        """The Screen's reading; the plain weights for a lens that does not exist."""
        screen = self.screen
        rows: Any = screen.rows
        special: Any = screen.special or self.usual_special
        between: Any = screen.between
        lens = screen.lens if screen.lens in lenses() else "weight"
        words = (screen.tokens or self.usual_tokens) == "words"
        return Reading(lens=lens, rows=rows, words=words, special=special, between=between)

    @cached_property
    def map(self) -> AttentionMap:
        """Its kind of attention in plain weights, in whose rows and columns pins are places: they
        are the same through every lens.
        """
        return read(self.recording, self.selection.kind, replace(self.reading, lens="weight"))

    @cached_property
    def sides(self) -> dict[str, Any]:
        """The rows and columns of that map by the tokens of the two lines."""
        return sides(self.map)

    @cached_property
    def pinned_rows(self) -> list[int]:
        """Places in that map, the one that was pinned last at the end."""
        return [int(pin[1:]) for pin in self.screen.pins if pin[0] == "q"]

    @cached_property
    def pinned_columns(self) -> list[int]:
        """The same of columns."""
        return [int(pin[1:]) for pin in self.screen.pins if pin[0] == "k"]

    def chosen(self, name: str) -> Any:
        """The field of the Screen of this name that belongs to this pane."""
        return value_of(self.screen, f"{name}{self.suffix}")


Exhibits = Mapping[str, Exhibit | Growth[Any]]


def _none(pane: Pane) -> Exhibits:
    return {}


def _the_same(pane: Pane) -> Pane:
    return pane


@dataclass(frozen=True)
class Page:
    """A page of the app: a file, or a folder, in viz/pages with a constant PAGE."""

    name: str
    """In the address."""
    title: str
    group: str
    """The menu of the navigation that it is in."""
    order: int
    """In the navigation, the first one being the page that opens."""
    draw: Callable[[Pane], None] | None = None
    """Arranges what it shows, with what is chosen there; None: its exhibits below each other."""
    choices: Callable[[Pane], None] | None = None
    """Draws what is chosen in the header, beside the tokens."""
    below_tokens: Callable[[Pane], Pane] = _the_same
    """Draws what stands in the header, below the tokens. Returns the pane, with what it found."""
    pane: Callable[[Pane], Pane] = _the_same
    """Choose the pane to draw: of another checkpoint, where the chosen one lacks its subject."""
    completed: Callable[[Pane], Pane] = _the_same
    """Choose, for a figure without a header, what is chosen there. Raises Refusal."""
    shows: Shows = "sentence"
    subject: str = ""
    """Its subject in half a sentence, with which a link begins before it is opened."""
    here: Callable[[Pane], str] | None = None
    """Say in a sentence what it is and what it shows, to who has come by a link; None: its subject
    says it."""
    exhibits: Callable[[Pane], Exhibits] = _none
    """Return its exhibits by name, the main one first; some grow with a study."""
    stands_alone: bool = False
    """True: its main picture stands alone on a wall and on phones, where it has only one."""
    presented: Callable[[Pane], None] | None = None
    """Draws what stands above that picture, where no talk is given."""
    has_card: bool = False
    """True: it has a place for the card of a pinned word; else that stands below the page."""
    card: Callable[[Pane], None] | None = None
    """Draws that card, with what follows it, at the foot of the window."""
    takes_long: bool = False
    """True: many runs of the model make its exhibits, and nobody waits for them unasked."""
    tells: bool = False
    """True: it draws the story of the Screen by itself."""
    edits: Literal["none", "own", "shown", "made"] = "none"
    """The model that it shows: unchanged ("none"), as it is changed ("shown"), or so that a click
    changes it ("made"); "own": its answer is of the model unchanged, and the page tells changes."""
    lesson: str = ""
    """The lesson that asks about what it shows, and opens it: it is in no menu."""
    invites: str = ""
    """The words of that link."""
    fields: type | None = None
    """The record of its own choices, where viz/page_fields.py declares none: `Screen.of`."""

    def __post_init__(self) -> None:
        if self.fields is not None:
            declare(PageFields(self.name, self.fields))

    def finished(self, pane: Pane) -> dict[str, Exhibit]:
        """Return its exhibits, with all studies run to their end. Raises as they do."""
        return finished(self.exhibits(pane))

    def main(self, pane: Pane) -> dict[str, Exhibit]:
        """Return those that everybody looks at; no study of others is run. Raises the same."""
        every = self.exhibits(pane).items()
        whole = finished({name: each for name, each in every if each.is_main})
        return {name: each for name, each in whole.items() if each.is_main}

    @property
    def chooses_checkpoint(self) -> bool:
        """Tell whether it may show another checkpoint than the one that is chosen."""
        return self.pane is not _the_same

    @property
    def has_pictures(self) -> bool:
        """Tell whether there is something to look at, which may be a scene of a story."""
        return self.exhibits is not _none


PAGES: dict[str, Page] = {}
"""The app's pages, once it is open: so scenes of a story are recorded below any page."""


def opening_special(screen: Screen, about: About) -> str:
    """The special tokens of a picture where nobody chose: `About.special` belongs to the one that a
    checkpoint opens with, and any that an address names is shown with all of its tokens.
    """
    return about.special if is_opening(screen) else "shown"


def as_opened(screen: Screen, about: About) -> Screen:
    """The screen with what `opening_special` says written out: what is made of it, as a link, goes
    on so with another head.
    """
    implied = opening_special(screen, about) if screen.special is None else "shown"
    return screen if implied == "shown" else replace(screen, special=implied)


def first_head(about: About, family: Family) -> Selection:
    """The head that a checkpoint names, of a kind that its family has."""
    kind, layer, head = about.opens_at
    kinds = list(family.attentions)
    return Selection(kind if kind in kinds else kinds[0], layer, head)


def chosen_head(
    screen: Screen, recording: Recording, default: Selection, suffix: str = ""
) -> Selection:
    """The head that these fields of the Screen name; the default where it does not exist."""
    chosen = [value_of(screen, f"{name}{suffix}") for name in ("kind", "layer", "head")]
    kinds = list(recording.attentions)
    kind = next(each for each in (chosen[0], default.kind, *kinds) if each in kinds)
    attention = recording.attentions[kind]
    layer = _one_of(attention.n_layers, chosen[1], default.layer)
    return Selection(kind, layer, _one_of(attention.n_heads, chosen[2], default.head))


def _one_of(n: int, chosen: int | None, default: int) -> int:
    return chosen if chosen is not None and chosen < n else min(default, n - 1)


# Failures: a sentence with a way back, and a traceback in the log; never Streamlit's box.
#
# Streamlit stops and repeats a run by raising what is not an `Exception`: that passes.

_LOG = getLogger(__name__)


@dataclass
class Drawing:
    """The last pages of a session, as they were drawn."""

    theme: str = ""
    """The name of the theme of the last one, with its style and its sidebar."""
    failed: str | None = None
    """The reason why the last run could not draw its page; the run that follows says it."""
    good: tuple[str, Screen] | None = None
    """The last screen that was drawn whole, after the title of its page."""


def report(error: Exception, failed: str) -> str:
    """Log where, without what people typed. What a screen says of it; failed: its beginning.

    A refusal is an answer, and no failure: it is neither logged nor counted.
    """
    trouble = relieved(error)
    if trouble is None and isinstance(error, Refusal):
        return str(error)
    _LOG.error("%s: %s", failed, failure(error))
    COUNTS.add("headscope_failures_total")
    if trouble is not None:
        return str(trouble)
    if isinstance(error, MemoryError):
        why = "there is not enough memory; a shorter text or a smaller checkpoint needs less"
    elif isinstance(error, OSError) and error.strerror:
        why = f"a file cannot be read or written ({error.strerror})"
    else:
        why = f"the program has a fault there ({type(error).__name__}), which its log describes"
    return f"{failed}: {why}."


def say_failure(sentence: str) -> None:
    """Draw the sentence, with a link to the last screen that was drawn whole."""
    fail(f"{sentence} Choose another page, text or checkpoint, or go back to what worked.")
    title, screen = _last_good()
    style = f"color: {current_theme().accent}; text-underline-offset: 3px"
    st.html(f'<a data-state style="{style}" href="{html.escape(link(screen))}">{title}</a>')


def say_failed_choice() -> None:
    """Draw a sentence where the callback before this run failed; the page stays as it was."""
    if (error := take_failure()) is not None:
        fail(report(error, "What you chose last did not work"))


def _last_good() -> tuple[str, Screen]:
    """A link's words, and where it leads: to the start, where nothing was drawn whole before."""
    good, screen = session().of(Drawing).good, session().screen
    if good is not None and good[1] != screen:
        return f"Back to {html.escape(good[0])}", good[1]
    is_start = screen == Screen()
    return "Try again" if is_start else "Back to the start", Screen()
