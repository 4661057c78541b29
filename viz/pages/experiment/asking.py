"""The question before a sweep: it takes long, so it begins when somebody asks for it."""

from typing import Any

from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.fields.experiment import ExperimentFields
from viz.labels import counted
from viz.run.study import Study
from viz.run.work import at_hand
from viz.state.page import Pane
from viz.state.state import change

WRITTEN, READ = 1.5, 0.05
"""A run with a head off beside the first answer, which was written with all heads and shared its
steps with others: where the text is written again, and where a forced pass is all."""
PER_SECOND = 1e10
"""Multiplications and additions that a thread of a processor does, about."""
ROUND = (1, 2, 5, 10, 15, 20, 30, 45, 60)
"""Seconds that are said; more is said in minutes."""


def is_asked(pane: Pane, study: Study[Any]) -> bool:
    """Tell whether somebody asked for it, by a click or a link; what is at hand needs no asking.

    Whoever opens a scene of a story asks for what it shows.
    """
    own = pane.screen.of(ExperimentFields)
    return own.sweep_asked or pane.screen.story is not None or at_hand(study) is not None


def ask(pane: Pane, n_read: int = 0) -> None:
    """Draw the button by which it begins, and say about how long it takes.

    n_read: texts that are only read; 0: the answer's text is written again.
    """
    attentions = pane.recording.attentions.values()
    n = max(1, n_read) * sum(each.n_layers * each.n_heads for each in attentions)
    takes = about_time((READ if n_read else WRITTEN) * n * _seconds(pane))
    begin = guarded(lambda: change(sweep_asked=True))
    st.button(f"Begin the sweep: {counted(n, 'run', 'runs')}, {takes}", on_click=begin)


def _seconds(pane: Pane) -> float:
    """The time of an answer; the first one of a server took longer than any that follows."""
    decoding = pane.answer.decoding
    if decoding is None:
        return pane.answer.seconds
    n_tokens = len(decoding.target) * len(decoding.hypotheses)
    n_weights = sum(each.numel() for each in pane.checkpoint.model.parameters())
    return min(pane.answer.seconds, 2 * n_weights * n_tokens / PER_SECOND)


def about_time(seconds: float) -> str:
    """Say a time in round numbers.

    >>> about_time(0.2), about_time(17), about_time(200)
    ('about 1 second', 'about 15 seconds', 'about 3 minutes')
    """
    if seconds <= ROUND[-1]:
        nearest = min(ROUND, key=lambda each: abs(each - seconds))
        return f"about {counted(nearest, 'second', 'seconds')}"
    return f"about {counted(round(seconds / 60), 'minute', 'minutes')}"
