"""Many searches, one batch: what several threads decode at a time takes each step together."""

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from transformer.decoding.method import Ask, Hypothesis, Model, Search
from transformer.inputs import InputError
from transformer.layers.blocks import joined

# A search that has the model to itself.

OnStep = Callable[[], object]
T = TypeVar("T")


def in_steps(items: Iterable[T], on_step: OnStep | None) -> Iterator[T]:
    """The same items, with a call of on_step before each."""
    for each in items:
        if on_step is not None:
            on_step()
        yield each


def alone(
    model: Model, search: Search, source: Tensor, on_step: OnStep | None = None
) -> list[Hypothesis]:
    """Run it to its end. source: [1, S]; on_step: called before each step."""
    state, logits = model.start(source), None
    while True:
        try:
            ask = next(search) if logits is None else search.send(logits)
        except StopIteration as end:
            hypotheses: list[Hypothesis] = end.value
            return hypotheses
        if on_step is not None:
            on_step()
        if ask.parents is not None:
            state.reorder(ask.parents)
        try:
            logits = model.advance(state, ask.tokens)
        except InputError as error:
            return _ended(search, error)


def _ended(search: Search, error: InputError) -> list[Hypothesis]:
    """Return what it has where the model cannot go on. Raises the error where it has nothing."""
    try:
        search.throw(error)
    except StopIteration as end:
        hypotheses: list[Hypothesis] = end.value
        return hypotheses
    raise error


# Many searches, one batch: what several threads decode at a time takes each step together.
#
# A step of eight sentences costs little more than one of one: weights are read once for all rows.
# Who comes while others are at work joins them at their next step, and leaves at its own end.

MOST_ROWS = 64
"""The most rows of a step."""
EVERY = 0.5
"""Seconds between two times that who waits is told of its place."""


class Run(Protocol):
    """A runner of a search in place of `alone`: see `SharedBatch.run`."""

    def __call__(
        self,
        begin: Callable[[], Search],
        source: Tensor,
        on_step: OnStep | None,
        n_rows: int,
        own: Model | None = None,
    ) -> list[Hypothesis]: ...


class Pace(Protocol):
    """The turns that a batch takes for its steps, where other work needs the device as well."""

    rank: int
    """The lowest one of its searches, as `SharedBatch.run` takes it."""

    def enter(self) -> None: ...

    def give_way(self) -> None:
        """Between two steps."""

    def leave(self) -> None: ...


@dataclass(eq=False)
class _Member:
    """The search of one thread."""

    begin: Callable[[], Search]
    source: Tensor
    on_step: OnStep | None
    rank: int
    n_wanted: int
    """Rows that it may come to have."""
    woken: Event = field(default_factory=Event)
    """Its thread is to go on: it has ended, or its thread runs the next steps."""
    has_ended: bool = False
    hypotheses: list[Hypothesis] | None = None
    """None where it failed, or is to be run alone."""
    error: BaseException | None = None
    search: Search | None = None
    ask: Ask | None = None
    n_rows: int = 1
    """The number of its rows in the state; one at its start."""

    def take(self, logits: Tensor | None) -> None:
        """Go on to the next step that it wants, or to its end."""
        try:
            if self.search is None:
                self.search = self.begin()
            self.ask = next(self.search) if logits is None else self.search.send(logits)
        except StopIteration as end:
            self.end(hypotheses=end.value)
        except BaseException as error:
            self.end(error=error)
        else:
            self.hear()

    def hear(self) -> None:
        """Let it say whether it goes on."""
        try:
            if self.on_step is not None:
                self.on_step()
        except BaseException as error:
            self.end(error=error)

    def end(
        self, hypotheses: list[Hypothesis] | None = None, error: BaseException | None = None
    ) -> None:
        """Let its thread go on. Without either: alone."""
        self.hypotheses, self.error, self.has_ended = hypotheses, error, True
        self.search = self.ask = None
        self.woken.set()


class SharedBatch:
    """Searches over one model of ours, of as many threads as ask.

    The first of the threads runs the steps until its own search has ended; then another one does.
    """

    def __init__(self, model: Model, most_rows: int = MOST_ROWS, pace: Pace | None = None) -> None:
        self._model: Any = model
        self._pace = pace
        self._most_rows = most_rows
        self._lock = Lock()
        self._is_led = False
        self._waiting: list[_Member] = []
        self._members: list[_Member] = []
        """Members whose rows are in the state: both belong to the thread that runs the steps."""
        self._state: Any = None

    @property
    def n_waiting(self) -> int:
        """Searches for which there is no room yet."""
        return len(self._waiting)

    @property
    def is_at_work(self) -> bool:
        """Tell whether a thread runs the steps."""
        return self._is_led

    def run(
        self,
        begin: Callable[[], Search],
        source: Tensor,
        on_step: OnStep | None = None,
        n_rows: int = 1,
        own: Model | None = None,
        rank: int = 0,
        on_wait: Callable[[int | None], object] | None = None,
    ) -> list[Hypothesis]:
        """Run a search and return its result. Raises what it raises.

        begin: makes the search; a second time where a step of all has failed: then each of them
        runs alone, and fails alone. source: [1, S]. on_step: called before each step, and while
        it waits, by any of the threads: it must not wait, and what it raises ends this search.
        n_rows: that it may come to have. own: a model that is not the one that is shared, or is
        changed for this search: the search has it to itself, and nothing waits. rank: lower ones
        come first, and each next one leaves half of the rows to them. on_wait: told every half a
        second how many are before it, or None once there is room for it.
        """
        if own is not None:
            return alone(own, begin(), source, on_step)
        n_wanted = min(n_rows, self._room(rank))
        mine = _Member(begin, source, on_step, rank, n_wanted)
        with self._lock:
            insort(self._waiting, mine, key=lambda each: each.rank)
            leads, self._is_led = not self._is_led, True
        if leads and self._pace is not None:
            self._pace.rank = rank
            self._pace.enter()
        while not leads and not mine.woken.wait(None if on_wait is None else EVERY):
            if on_wait is not None:
                try:
                    on_wait(self._n_before(mine))
                except BaseException as error:
                    mine.on_step, on_wait = _raiser(error), None
        if not mine.has_ended:
            self._lead(mine)
        if mine.error is not None:
            raise mine.error
        if mine.hypotheses is None:
            return alone(self._model, begin(), source, on_step)
        return mine.hypotheses

    def _room(self, rank: int) -> int:
        return max(1, self._most_rows >> rank)

    def _n_before(self, mine: _Member) -> int | None:
        with self._lock:
            return self._waiting.index(mine) if mine in self._waiting else None

    def _lead(self, mine: _Member) -> None:
        try:
            while not mine.has_ended:
                self._step()
                self._give_way()
        finally:
            with self._lock:
                others = (*self._members, *self._waiting)
                following = next((each for each in others if not each.has_ended), None)
                self._is_led = following is not None
            if following is not None:
                following.woken.set()
            elif self._pace is not None:
                self._pace.leave()

    def _give_way(self) -> None:
        if self._pace is not None:
            with self._lock:
                ranks = [each.rank for each in (*self._members, *self._waiting)]
            self._pace.rank = min(ranks, default=self._pace.rank)
            self._pace.give_way()

    def _step(self) -> None:
        """Let in who waits, and take a step of all."""
        come = self._come()
        try:
            for each in come:
                each.take(None)
            self._arrange([each for each in come if not each.has_ended])
            if self._members:
                self._advance()
        except BaseException as error:
            failed, self._members, self._state = [*self._members, *come], [], None
            for each in failed:
                if not each.has_ended:
                    each.end()
            if not isinstance(error, Exception):
                raise

    def _come(self) -> list[_Member]:
        """Take those that begin now: as many as there is room for, and one in any case."""
        with self._lock:
            waiting = tuple(self._waiting)
        for each in waiting:
            each.hear()
        with self._lock:
            self._waiting = [each for each in self._waiting if not each.has_ended]
            at_work = [each for each in self._members if not each.has_ended]
            n_rows, n = sum(each.n_wanted for each in at_work), 0
            for each in self._waiting:
                n_rows += each.n_wanted
                if n_rows > self._room(each.rank) and (at_work or n):
                    break
                n += 1
            come, self._waiting = self._waiting[:n], self._waiting[n:]
        return come

    def _arrange(self, come: Sequence[_Member]) -> None:
        """Bring the state's rows to those that are asked for."""
        rows, n_seen, has_moved = [], 0, False
        for each in self._members:
            if each.ask is not None:
                parents = each.ask.parents
                has_moved = has_moved or parents is not None
                own = torch.arange(each.n_rows, device=each.source.device)
                rows.append(n_seen + (own if parents is None else parents))
            n_seen += each.n_rows
        members = [each for each in self._members if each.ask is not None]
        has_left = len(members) < len(self._members)
        if members and (has_moved or has_left):
            self._state.reorder(torch.cat(rows))
        states = [self._state] if members else []
        n_rows = [sum(map(len, rows))] if members else []
        for each in come:
            states.append(self._model.start(each.source))
            n_rows.append(1)
        is_one = len(states) == 1 and not has_left
        self._state = states[0] if is_one else joined(states, n_rows) if states else None
        self._members = [*members, *come]

    def _advance(self) -> None:
        """One step of all."""
        asks = [each.ask for each in self._members if each.ask is not None]
        n_rows = [len(ask.tokens) for ask in asks]
        logits = self._model.advance(self._state, torch.cat([ask.tokens for ask in asks]))
        for each, n, part in zip(self._members, n_rows, logits.split(n_rows), strict=True):
            each.n_rows = n
            each.take(part)


def _raiser(error: BaseException) -> OnStep:
    def raises() -> None:
        raise error

    return raises
