"""Limits on what a visitor of a public server asks for; each is a setting, and none holds at home.

A visitor is a session. As anybody may open many, an address has a limit too; a larger one, since
a room of people may share it.
"""

import math
import time
from collections import deque
from dataclasses import dataclass, field, fields, replace
from threading import Lock

from transformer import InputError
from transformer.decoding import decoding_methods
from transformer.decoding.method import MAX_LEN, Option
from viz.app_packages import draws_pages, st
from viz.run.operating import COUNTS
from viz.run.request import Request, about
from viz.run.settings import is_public, whole_number
from viz.state.state import session

MINUTE = 60.0
MOST_NAMES = 10_000
"""Addresses, and sessions, that are remembered; those that asked longest ago are forgotten."""
_previews: dict[str, deque[float]] = {}
_drawn: dict[str, deque[float]] = {}
_of_address: dict[str, deque[float]] = {}
_lock = Lock()


def _limit(variable: str, usual: int) -> int | None:
    return field(default=None, metadata={"variable": variable, "usual": usual})


@dataclass(frozen=True)
class Limits:
    """Each is None at home; in public mode what its variable says, else the usual number."""

    characters: int | None = _limit("HEADSCOPE_MOST_CHARACTERS", 1000)
    """Characters of a text, with a second text and the conversation before it."""
    beam_size: int | None = _limit("HEADSCOPE_MOST_BEAM", 8)
    """Texts that a decoding follows at once: hypotheses of a beam, samples that are drawn."""
    tokens: int | None = _limit("HEADSCOPE_MOST_TOKENS", 200)
    """Tokens that a model writes for one text."""
    runs: int | None = _limit("HEADSCOPE_MOST_RUNS", 30)
    """Texts of one visitor that a model reads within a minute; those that it still knows, and
    previews, which wait for each other, are not counted."""
    runs_of_address: int | None = _limit("HEADSCOPE_MOST_RUNS_OF_ADDRESS", 300)
    """The same for all visitors of one network address."""
    previews: int | None = _limit("HEADSCOPE_MOST_PREVIEWS", 300)
    """Texts of one visitor that are shown while they are typed, within a minute."""
    sessions: int | None = _limit("HEADSCOPE_MOST_SESSIONS", 250)
    """Open pages, of all visitors together."""


@dataclass
class Runs:
    """The texts that models read for one visitor."""

    times: deque[float] = field(default_factory=deque)
    """The moments when they were read, within the last minute."""
    charged: object = None
    """The last of them."""
    sought: object = None
    """The last work that nobody asked for."""


def limits() -> Limits:
    """The limits that hold now. Raises Refusal for a setting that is no whole number above 0."""
    if not is_public():
        return Limits()
    return Limits(**{each.name: whole_number(**each.metadata) for each in fields(Limits)})


def offered(option: Option) -> Option:
    """The option of a decoding method with no more than visitors may choose."""
    most_of = limits()
    follows = {each.follows for each in decoding_methods().values() if each.follows}
    most = {MAX_LEN.name: most_of.tokens, **dict.fromkeys(follows, most_of.beam_size)}.get(
        option.name
    )
    if most is None or option.most <= most:
        return option
    return replace(option, most=most, default=min(option.default, most))


def limited(request: Request) -> Request:
    """The request with no more tokens to write than a visitor may ask for."""
    most, description = limits().tokens, about(request.checkpoint)
    if (
        most is None
        or description is None
        or not description.family.decodes
        or description.config.max_len <= most
    ):
        return request
    options = dict(request.options)
    options["max_len"] = min(most, int(options.get("max_len", most)))
    return replace(request, options=tuple(options.items()))


def check_text(text: str, *beside: str) -> None:
    """Raise InputError for a text that is longer than visitors may enter.

    beside: further texts that a model reads in the same pass: they count with it.
    """
    most, n = limits().characters, sum(map(len, (text, *beside)))
    if most is not None and n > most:
        more = ", with all that is read beside it" if any(beside) else ""
        raise InputError(
            f"This server reads texts of up to {most:,} characters; this one has {n:,}{more}."
        )


def may_read(text: str, *beside: str) -> bool:
    """Tell whether `check_text` takes it."""
    try:
        check_text(text, *beside)
    except InputError:
        return False
    return True


def charge(run: object) -> None:
    """Count what a model is about to compute for the visitor. Raises InputError with the wait.

    run: what it is; the same one twice in a row, as while it is being written, counts once.
    """
    own, most = session().of(Runs), limits()
    if run == own.charged:
        return
    now, address = time.monotonic(), _address()
    with _lock:
        _check_times(own.times, most.runs, "visitor", now)
        of_address = _of(address, _of_address)
        _check_times(of_address, most.runs_of_address, "address", now)
        for times in (own.times, of_address):
            times.append(now)
    own.charged = run
    COUNTS.add("headscope_runs_total")


def may_seek(run: object) -> bool:
    """Count work that nobody asked for, and tell whether it may be done. It is the address's: the
    runs of a visitor are for what they ask for.
    """
    own, most, address = session().of(Runs), limits().runs_of_address, _address()
    if run == own.sought:
        return True
    with _lock:
        times = _of(address, _of_address)
        try:
            _check_times(times, most, "address", time.monotonic())
        except InputError:
            return False
        times.append(time.monotonic())
    own.sought = run
    COUNTS.add("headscope_runs_total")
    return True


def charge_more(n: int) -> None:
    """Count n further texts, that work which goes on has read. Raises InputError where so many
    were read within a minute that it is to wait.
    """
    own, most, now = session().of(Runs), limits(), time.monotonic()
    with _lock:
        of_address = _of(_address(), _of_address)
        try:
            _check_times(own.times, most.runs, "visitor", now)
            _check_times(of_address, most.runs_of_address, "address", now)
        finally:
            for times in (own.times, of_address):
                times.extend([now] * n)
    COUNTS.add("headscope_runs_total", n)


def may_preview(ticket: str) -> bool:
    """Tell whether one more text may be shown while it is typed. ticket: names the session."""
    return _may_one_more(ticket, _previews, limits().previews)


def may_draw(address: str) -> bool:
    """Tell whether one more picture of a link may be drawn for a network address."""
    return _may_one_more(address, _drawn, limits().runs)


def _may_one_more(name: str, times_of: dict[str, deque[float]], most: int | None) -> bool:
    if most is None:
        return True
    try:
        with _lock:
            times = _of(name, times_of)
            _check_times(times, most, "visitor", time.monotonic())
            times.append(time.monotonic())
    except InputError:
        return False
    return True


def _of(name: str, times_of: dict[str, deque[float]]) -> deque[float]:
    """The times of this name, which becomes the last one to be forgotten."""
    times = times_of.pop(name, deque())
    times_of[name] = times
    while len(times_of) > MOST_NAMES:
        del times_of[next(iter(times_of))]
    return times


def _check_times(times: deque[float], most: int | None, whose: str, now: float) -> None:
    """Forget what is older than a minute; raise InputError where the rest is too much."""
    while times and now - times[0] >= MINUTE:
        times.popleft()
    if most is not None and len(times) >= most:
        COUNTS.add("headscope_refused_total", reason=f"runs of {whose}")
        wait = math.ceil(MINUTE - (now - times[-most]))
        seconds = f"{wait} second{'s' * (wait != 1)}"
        raise InputError(
            f"This server reads {most} texts per minute for each {whose}: ask again in {seconds}."
        )


def _address() -> str:
    """Return the visitor's address, as the last trusted proxy has it; empty on this machine."""
    return (st.context.ip_address or "") if draws_pages() else ""
