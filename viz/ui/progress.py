"""A study, or a text that is written, on a page: how far it is, what stops it, and what lets it
go on.
"""

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from transformer import InputError
from transformer.decoding.decode import Written
from transformer.refusal import Refusal
from viz.app_packages import DeltaGenerator, st
from viz.choice import SESSION
from viz.labels import counted, literal
from viz.run.line import place_in_line
from viz.run.pace import PACE
from viz.run.request import Answer, Request, about, answer, part_of
from viz.run.work import (
    Follower,
    Study,
    Value,
    Work,
    at_hand,
    finish,
    follow,
    keep_at_hand,
    n_going_on,
)
from viz.state.limits import charge, charge_more
from viz.state.page import Pane
from viz.state.state import change, note, session
from viz.ui.hand_over import WaitOffer, beside, offered

TICK = 0.7
"""Seconds between two looks at work that goes on."""
AT_ONCE = 10
"""Texts that a study reads for one run of a visitor: its steps give way to everybody's."""
PATIENCE, FIRST, LONG = 0.4, 1.0, 1.5
"""Seconds in which most studies are done that are short, in which a first value is waited for, and
for which a page stays as it was."""
FEW = 4
"""Studies that go on at once while each of them has the machine: of more, all pages wait longer."""
DONE, STOPPED = "{done:d} of {all:d} are done", "Stopped: {done:d} of {all:d} are done."
STOP, GO_ON = "Stop", "Go on"
LOOK = 0.1
"""Seconds between two looks at what a page waits for, while few of them wait."""


def is_written(pane: Pane, title: str) -> bool:
    """Tell whether the text is written; else say that it is waited for. title: of what follows."""
    if pane.request == pane.answer.request:
        return True
    st.caption(f"{literal(title)} once the text is written.")
    return False


def begin(study: Study[Value]) -> Work[Value]:
    """The session's work on a study, in place of another study of its sort. Raises Refusal."""
    return _followed(study).work


def _followed(study: Study[Value]) -> Follower[Value]:
    now = session().studies.get(type(study))
    if now is None or now.work.study != study:
        charge(study)
        now = wait_for(study)
        now.work.ended.wait(PATIENCE)
        while now.work.latest is None and time.perf_counter() - now.work.began < FIRST:
            _ = SESSION in st.session_state  # ends this run where another page is asked for
            if now.work.ended.wait(LOOK):
                break
    now.look()
    keep_at_hand(now.work)
    return now


def wait_for(study: Study[Value], sort: Hashable = None) -> Follower[Value]:
    """The session's waiting for a study; for another one of its sort it waits no longer.

    sort: where it is not the study's type.
    """
    followers, sort = session().studies, sort or type(study)
    now: Follower[Value] | None = followers.get(sort)
    if now is None or now.work.study != study or (now.work.was_left and not now.is_stopped):
        wait_no_longer(sort)
        now = followers[sort] = follow(study, browser_of_session())
    now.look()
    return now


def wait_no_longer(sort: Hashable) -> None:
    """Stop waiting for a study of this sort, where the session does."""
    now = session().studies.pop(sort, None)
    if now is not None:
        now.stop()


def whole(study: Study[Value], place: DeltaGenerator, sort: Hashable = None) -> Value | None:
    """Its value once it is whole; None before, and where somebody stopped it.

    For a moment the page stays as it was; then it says in its place, which is empty, how far that
    is, with Stop or Go on, and is drawn anew when all is there. A page that is drawn with nothing
    new costs as much as an answer, so the moment grows with the largest number of those that wait.
    Raises what the study raises.
    """
    value = at_hand(study)
    if value is not None:
        wait_no_longer(sort or type(study))
        return value
    now = wait_for(study, sort)
    work = now.work
    PACE.waits()
    wait(now, place, long_wait(work))
    place.empty()
    if work.is_whole or work.error is not None:
        wait_no_longer(sort or type(study))
        return work.result()
    PACE.gives_up()
    with place.container():
        _watch(now)
    return None


def long_wait(work: Work[Any]) -> Callable[[], bool]:
    """Make what tells whether it takes long, for as many as were waiting with it at most.

    Those that were before it are answered one after the other: by what is left of them, everybody
    at the end of a line would have waited for long.
    """
    crowd = 1.0

    def is_long() -> bool:
        nonlocal crowd
        crowd = max(crowd, _crowd())
        return time.perf_counter() - work.began >= LONG * crowd

    return is_long


def paid(study: Study[Value], place: DeltaGenerator, sort: Hashable = None) -> Value | None:
    """Its value as `whole` has it, paid for first; where it is refused, a note says why."""
    try:
        if at_hand(study) is None:
            charge(study)
        return whole(study, place, sort)
    except Refusal as reason:
        note(reason)
        return None


def finished_for(study: Study[Value]) -> Value:
    """Its value for what shows nothing before, as a wall or a figure: it is paid for as any other.
    Raises what the study raises.
    """
    value = at_hand(study)
    if value is None:
        charge(study)
        value = finish(study)
        charge_more(study.n_read(value) // AT_ONCE)
    return value


def wait(
    now: Follower[Any],
    place: DeltaGenerator,
    is_enough: Callable[[], bool],
    text: Callable[[Any], str] | None = None,
) -> None:
    """Wait until it is over, or that is enough; the place says who comes first.

    text: what the place says of a draft.
    """
    work, before, offer = now.work, "", WaitOffer(now.work)
    while not now.is_over and not is_enough():
        work.ended.wait(min(LOOK * _crowd(), offer.soon))
        now.look()
        _ = SESSION in st.session_state  # ends this run where another page is asked for
        if escaped_link := offer.due():
            place, before = beside(place, escaped_link), ""
        words, tell = "", partial(place.caption)
        if text is not None and work.draft is not None:
            words, tell = text(work.draft), partial(place.text)
        elif work.n_before is not None:
            words = place_in_line(work.n_before)
        if words not in ("", before):  # each is a message to the browser
            tell(words)
            before = words


def _crowd() -> float:
    """Return how much longer all things take while so many wait: 1 for few."""
    return max(1.0, n_going_on() / FEW)


def browser_of_session() -> Callable[[], bool]:
    """Tells, of any thread, whether this session is connected to a browser now."""
    run = st.runtime.scriptrunner.get_script_run_ctx()
    if run is None or not st.runtime.exists():  # as in tests
        return lambda: True
    return partial(st.runtime.get_instance().is_active_session, run.session_id)


def grow(study: Study[Value], draw: Callable[[Value], None]) -> Work[Value]:
    """Draw a study's value, again and again while it grows. Raises what the study raises.

    Above it stands how far it is, while it is not whole, with Stop or Go on.
    """
    now = _followed(study)
    if now.work.error is not None:  # not within the fragment: Streamlit would show it by itself
        raise now.work.error
    _watch(now, draw)
    return now.work


def _watch(now: Follower[Value], draw: Callable[[Value], None] | None = None) -> None:
    """Show how far it is, again and again, and its value where that is drawn as it grows."""
    # The page is a part, too: where it is drawn after the end, the browser would ask for ever.
    is_going = not now.is_over or now.is_asked_on
    now.is_asked_on = is_going

    def growing() -> None:
        now.look()
        _charge(now)
        is_other = now not in session().studies.values()  # another one goes on in its place
        if is_other or (is_going and now.is_over):
            now.is_asked_on = False
            st.rerun()
        latest = now.work.latest
        if not now.work.is_whole:
            is_far = draw is not None and latest is not None
            with _row(key=f"far {id(now):d}" if is_far else None):
                _progress(now)
        if draw is not None and latest is not None:
            draw(latest)

    def at_rest() -> None:
        growing()

    # Of another name: a look that the browser asked for meanwhile finds no such part. It would draw
    # this one again, and begin with dropping what of it is not sent yet: the page would be empty.
    st.fragment(growing if is_going else at_rest, run_every=TICK if is_going else None)()


def _charge(now: Follower[Any]) -> None:
    latest, n_read = now.work.latest, now.work.study.n_read
    if latest is None or now.is_stopped:
        return
    n = (n_read(latest) - (0 if now.before is None else n_read(now.before))) // AT_ONCE
    more, now.n_charged = n - now.n_charged, n
    if more > 0:
        try:
            charge_more(more)
        except InputError as error:
            now.why = str(error)
            now.stop()


def _row(key: str | None) -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", key=key)


def _progress(now: Follower[Any]) -> None:
    if now.is_over:
        _say_stopped(now)
    else:
        work, n_before = now.work, now.work.n_before
        if n_before is not None:
            st.caption(place_in_line(n_before), width="content")
        elif work.latest is not None:
            n_done, n_all = work.study.progress(work.latest)
            st.progress(n_done / max(1, n_all), DONE.format(done=n_done, all=n_all), width=300)
        else:
            st.caption("Working …", width="content")
        look: Any = {"icon": ":material/stop:", "key": f"stop {id(now):d}"}
        st.button(STOP, on_click=now.stop, **look)
        if escaped_link := offered(work):
            st.html(escaped_link, width="content")


def _say_stopped(now: Follower[Any]) -> None:
    work, text = now.work, "Nothing is known yet: it was stopped."
    if work.latest is not None:
        n_done, n_all = work.study.progress(work.latest)
        text = STOPPED.format(done=n_done, all=n_all)
    st.caption(f"{text} {literal(now.why)}", width="content")
    look: Any = {"icon": ":material/play_arrow:", "key": f"go on {id(now):d}"}
    st.button(GO_ON, on_click=_go_on, args=(now,), **look)


def _go_on(now: Follower[Any]) -> None:
    followers = session().studies
    for sort, each in followers.items():
        if each is now:
            followers[sort] = follow(now.work.study, now.is_open)


# A text that is being written: its pictures grow with it, and it can be stopped.

LIVE_TEXT_PATIENCE, LIVE_TEXT_TICK = 0.5, 0.3
"""Seconds in which most texts are finished, and between two looks at one that is not."""
LEAST, SHARE = 1.0, 4
"""Pictures are drawn anew when the text has grown for so many seconds, and for so many times as
long as they took: drawing takes a fifth of the time at most."""


def written_answer(request: Request) -> Answer:
    """The answer, or as much of it as is written after a moment; then the page grows with it.

    Raises as `make_answer`.
    """
    now, place = wait_for(request), st.empty()
    work = now.work
    PACE.waits()

    def is_growing() -> bool:
        return work.draft is not None and time.perf_counter() - work.began > LIVE_TEXT_PATIENCE

    wait(now, place, is_growing, partial(_text, request))
    if not work.ended.is_set() and is_growing():
        now.drawing_since, now.took = time.perf_counter(), None
        with place.container():
            # Not as a decorator: whoever imports this module needs no Streamlit yet.
            st.fragment(run_every=LIVE_TEXT_TICK)(_growing)(request)
        return part_of(work)
    wait_no_longer(Request)
    place.empty()
    if (stopped := session().screen.stopped) is not None:
        with place.container(horizontal=True, vertical_alignment="center", key="stopped"):
            n = counted(stopped, "token", "tokens")
            st.caption(f"Stopped after {n}.", width="content")
            st.button("Write all of it", on_click=change, kwargs={"stopped": None})
    return work.result() if work.is_whole or work.error else answer(request)


def drawn() -> None:
    """The pictures of a part are on the page."""
    now = _reader()
    if now is not None and now.took is None:
        now.took = time.perf_counter() - now.drawing_since


def _reader() -> Follower[Answer] | None:
    return session().studies.get(Request)


def _growing(request: Request) -> None:
    """The text so far, and what stops it."""
    reader = _reader()
    if reader is None or reader.work.study != request:
        st.rerun()  # it was stopped, or another text is asked for
    reader.look()
    now, work, took = time.perf_counter(), reader.work, reader.took
    if took is not None and (
        work.ended.is_set() or now - reader.drawing_since > took + max(LEAST, SHARE * took)
    ):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        if work.draft is not None:
            st.text(_text(request, work.draft), width="stretch")
        st.button("Stop", icon=":material/stop:", on_click=_stop)


def _stop() -> None:
    reader = _reader()
    if reader is not None:
        part = part_of(reader.work)
        change(stopped=int(dict(part.request.options)["max_len"]))
        wait_no_longer(Request)


def _text(request: Request, draft: Written) -> str:
    description = about(request.checkpoint)
    return (
        f"{request.text}{draft.text}"
        if description and description.family.continues and request.chat is None
        else draft.text
    )
