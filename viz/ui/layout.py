"""The page below the navigation: the header, the tokens and the page that is open."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import streamlit as st

from transformer import CheckpointError
from transformer.files.foreign_text import clean
from transformer.refusal import visible
from viz.app_packages import DeltaGenerator
from viz.causes.card import why_word
from viz.components.tour.tour import effect_of, line_here, tour
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.labels import literal
from viz.page_fields import CompareFields
from viz.run.cache import SPINNER, freeze_modules, one_run
from viz.run.line import may_repeat
from viz.run.operating import timed, timed_run
from viz.run.pace import PACE
from viz.run.request import Request, about
from viz.run.settings import put_back_main_module
from viz.run.work import Growth
from viz.screen import FIRST_PAGE, Screen, link
from viz.state.address import open_page, write_address
from viz.state.branching import follow_decision
from viz.state.changing import stay_with_words
from viz.state.checkpoints import (
    NOT_FETCHED,
    at_start,
    checkpoint_names,
    is_at_home,
    is_here,
    open_linked,
    title,
)
from viz.state.fingerprints import meant, name_weights
from viz.state.focus import elsewhere, over_text, pinned_target, stay_pinned
from viz.state.live_preview import previewed
from viz.state.page import (
    PAGES,
    Drawing,
    Page,
    Pane,
    as_opened,
    report,
    say_failed_choice,
    say_failure,
)
from viz.state.requests import is_usual, request_of_page
from viz.state.state import current_theme, fail, mend, mend_head, note, session, warn
from viz.stories.reading import shipped_stories
from viz.talks.stage import is_asked, is_presented, on_stage, open_scene, present_ways
from viz.talks.stories import Dropped
from viz.talks.story import tell_story
from viz.talks.story_drafts import keep_draft
from viz.ui.branches import branches
from viz.ui.controls import draw_link
from viz.ui.experiment import experiment, offer_edit, say_unchanged
from viz.ui.header import header, turn_to
from viz.ui.notes import made_with, of_figure, other_path, other_weights
from viz.ui.progress import drawn
from viz.ui.save_menu import save_menu
from viz.ui.showing import below, show_all, show_declared
from viz.ui.showing import show as show_exhibit
from viz.ui.sidebar import sidebar
from viz.ui.style import style
from viz.ui.token_row import token_row


def show(page: Page, pages: Mapping[str, Page]) -> None:
    """Draw one of the pages."""
    put_back_main_module()
    PAGES.update(pages)
    style(page, pages.values())
    open_page(page.name)
    session().of(Drawing).theme = current_theme().name
    try:
        keep_draft()
        _open_checkpoint(page)
    except Exception as error:
        say_failure(report(error, "What was asked for could not be opened"))
    _draw(page, list(pages))
    freeze_modules()


def _open_checkpoint(page: Page) -> None:
    """Open what the sidebar or the address asks for; where that fails the sentence says why."""
    if (opened := sidebar(page)) is not None:
        turn_to(opened)
    if refused := session().of(Dropped).refused:
        session().of(Dropped).refused = ""
        fail(refused)
    problem, screen = at_start()[1], _meant(session().screen)
    if screen.hub is not None and not is_at_home():
        warn(NOT_FETCHED.format(screen.hub))
        screen = replace(screen, hub=None)
    try:
        name = open_linked(screen.checkpoint)
    except CheckpointError as error:
        name, problem = None, str(error)
    names = checkpoint_names()
    if problem is None and name is not None and names and name not in names:
        last = session().answer
        if last is None or last.request.checkpoint != name:  # else the header says it
            problem = f"There is no checkpoint {clean(name)} here: {title(names[0])} is shown."
    if name not in names and name is not None:  # what is decided is of another vocabulary
        screen = replace(screen, prefix=(), force=(), forbid=(), branch=())
    mend(made_with(replace(screen, checkpoint=name if name in names else None)))
    if problem:
        figure = f" {of_figure(screen)}" if screen.made_with else other_path(screen)
        fail(f"{problem}{figure}")
    elif why := other_weights(session().screen, names):
        warn(why)


def _meant(screen: Screen) -> Screen:
    """The screen with the checkpoints that its link means by the weights it names, where a path, or
    what lies there by now, is another's; and say so.
    """
    result, names = meant(screen), checkpoint_names()
    both = [(each.checkpoint, each.of(CompareFields).checkpoint_b) for each in (screen, result)]
    for name, same in zip(*both, strict=True):
        if name is not None and same is not None and name != same:
            why = "This link's path leads nowhere here"
            if is_here(name, names):
                why = f"This link's weights are not those of {title(name)} here"
            note(f"{why}: {title(same)} has the same weights.")
    return result


@st.fragment
def _draw(page: Page, pages: list[str]) -> None:
    """All but the navigation and the sidebar, which nothing on a page changes."""
    with timed_run(page.title), one_run(), PACE.run():
        _draw_timed(page, pages)


def _draw_timed(page: Page, pages: list[str]) -> None:
    """The header and the page.

    A page that fails is left out of the run that follows, which says why below the header:
    nothing that was drawn in part stays.
    """
    SPINNER.set(partial(_spinning, st.container(key="working")))
    drawing = session().of(Drawing)
    if drawing.theme != current_theme().name:
        st.rerun()  # what is outside of this fragment, too
    name_weights()
    write_address(pages, (session().screen.story or "") if page.tells else "", present_ways(page))
    state, failed = session(), f"{page.title} could not be drawn"
    sentence, drawing.failed = drawing.failed, None
    try:
        if not open_scene(page):
            return
        here = st.container(key="here", gap=None)
        _say_here(page, here)
        with timed("header"):
            request = header(page)
        say_failed_choice()
    except Exception as error:
        sentence = report(error, failed)
    if sentence is not None:
        say_failure(sentence)
        return
    try:
        _draw_page(page, request, here)
    except Exception as error:
        screen, last = state.screen, state.answer
        again = last is not None and may_repeat(
            error,
            last.request.text,
            last.request.checkpoint,
            screen.of(CompareFields).checkpoint_b,
        )
        drawing.failed = None if again else report(error, failed)
        st.rerun()
    if state.answer is None or state.answer.request == request:
        drawing.good = page.title, state.screen


@contextmanager
def _spinning(place: DeltaGenerator, text: str) -> Iterator[None]:
    """Say what a page waits for, at one place of the window: none of its parts moves."""
    with place, st.spinner(literal(text)):
        yield


def _say_here(page: Page, place: DeltaGenerator, pane: Pane | None = None) -> None:
    """Say what the page is and what it shows, beside the way to the tour, to who has come by no
    story and no talk. pane: as the page drew it, for one whose sentence is about that.
    """
    screen = session().screen
    is_led = screen.role is not None or (screen.story is not None and not page.tells)
    if is_led or not checkpoint_names():
        return
    if pane is None and page.here is not None:
        place.empty()  # it has its height from the first moment on
    if (pane is None) != (page.here is None):
        return
    with place:
        if page.name == FIRST_PAGE:
            _offer_tour(page)
            return
        is_there = pane is not None and pane.result is not None
        words = page.here(pane) if page.here and pane and is_there else f"{page.subject}."
        line_here(visible(words), f"{elsewhere(screen, FIRST_PAGE)}#tour", current_theme())


def _offer_tour(page: Page) -> None:
    """Say what the app is, on the first page, and offer the tour of it."""
    request = request_of_page(page)
    description = about(request.checkpoint)
    if description is not None:
        effect = effect_of(request.checkpoint, description.about, request.text)
        if effect is not None:  # its own edits are clicks on the way to it
            others = tuple(each for each in request.edits if each not in effect.edits)
            is_done = not set(effect.edits) - set(request.edits)
            effect = effect if not is_done and is_usual(replace(request, edits=others)) else None
        links = {
            "Lessons": elsewhere(session().screen, "lessons"),
            "Gallery": link(Screen(page="gallery")),
        }
        tour(description.about, description.family, links, current_theme(), effect)


def _draw_page(page: Page, request: Request, here: DeltaGenerator) -> None:
    """The tokens and the page."""
    follow_decision(request)
    state, description = session(), about(request.checkpoint)
    screen = state.screen
    if description is not None:
        screen = as_opened(screen, description.about)
        state.first_special = description.about.special
    pane = Pane(screen, request, state.answer)
    if pane.result is not None and pane.answer.request == request:  # what is written is not whole
        stay_with_words(pane.answer)
        stay_pinned(pane)
    pane_here = page.pane(pane)
    if pane_here.is_of_asked_checkpoint:
        mend_head(pane_here.selection)
    with previewed(request, pane.result):
        if not is_asked(pane_here):
            with save_menu(page):
                pane_here = _draw_pictures(page, pane, pane_here)
            _say_here(page, here, pane_here)
    drawn()


def _draw_pictures(page: Page, pane: Pane, pane_here: Pane) -> Pane:
    """Each part in a container of its own: when one of them has more to say, the page below keeps
    its place. Elsewhere it would be another page, which stands beside the old one until the run
    has ended. Return the pane with what the header found.
    """
    is_own = pane_here is pane
    if page.shows == "sentence":
        with st.container(), timed("tokens"):
            pane_here = token_row(page, pane_here, previews=is_own)
        with st.container():
            if is_own and page.edits == "none":
                say_unchanged(pane.screen)
            if is_own and on_stage():
                _decided(page, pane)
        with st.container():
            if not page.tells:
                tell_story()
    with st.container(key="page"), timed("page"):
        if page.lesson and not on_stage():
            title = shipped_stories()[page.lesson].title
            draw_link(f"← Lesson: {title}", over_text(pane.screen, "lessons", story=page.lesson))
        _arrange(page, pane_here)
    if page.shows == "sentence":
        with st.container(key="decided", gap="xsmall"):
            if page.card is not None and pane_here.result is not None:
                below(page.card, pane_here)
            if is_own and not on_stage():
                _decided(page, pane)
    return pane_here


def _decided(page: Page, pane: Pane) -> None:
    """Draw the strips of edits and decisions: on a screen at the foot of the window, where they
    come and go while what is clicked keeps its place.
    """
    with timed("experiment"):
        experiment(pane, page)
        branches(pane)


def _arrange(page: Page, pane: Pane) -> None:
    """All that a page draws; on a stage perhaps its main picture alone."""
    exhibits = page.exhibits(pane) if page.stands_alone and on_stage() else {}
    main = [name for name, exhibit in exhibits.items() if exhibit.is_main]
    alone = exhibits[main[0]] if len(main) == 1 else None
    if alone is not None and is_presented() and page.presented is not None:
        page.presented(pane)
    if isinstance(alone, Exhibit) and isinstance(alone.content, PictureAt):
        show_exhibit(alone, main[0])
    elif isinstance(alone, Growth):
        show_declared(pane, lambda _: {main[0]: alone})
    elif page.draw is not None:
        page.draw(pane)
        has_place = page.has_card or page.card is not None
        if page.shows == "sentence" and not has_place and pane.result is not None:
            below(partial(_card, page), pane)
    else:
        if page.edits == "shown":
            offer_edit(pane)
        show_all(pane, page.exhibits(pane))


def _card(page: Page, pane: Pane) -> None:
    """Draw the card of a written word that is pinned, on pages that have no place of their own.

    A page that tells a story may ask what a head looks at: there no card comes ahead of a pin.
    """
    if pane.recording.target:
        why_word(pane, pinned_target, is_ahead=not page.tells)
