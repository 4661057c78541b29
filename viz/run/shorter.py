"""A text that is not written to its end: as far as it goes it is that of a shorter request."""

import time
from dataclasses import replace

from transformer.decoding import decoding_methods
from viz.run.batches import entered
from viz.run.models.choosing import models_for
from viz.run.models.task import Task
from viz.run.request import Answer, Request, about, keep_answer, open_checkpoint
from viz.run.work import Work


def part_of(work: Work[Answer]) -> Answer:
    """The answer as far as it is written: that to a request with so many tokens as its length.

    There is one after the first token. It is kept, as other answers are.
    """
    assert isinstance(work.study, Request)
    request, draft = work.study, work.draft
    decoding = draft.decoding()
    checkpoint = open_checkpoint(request)
    ids = tuple(token.id for token in decoding.target)
    choices = (request.languages, request.edits, request.pair)
    task = Task(checkpoint.name, request.text, *choices, target=ids)
    outcome = models_for(checkpoint).run(task, checkpoint, entered)
    shorter = with_length(request, draft.n_tokens)
    seconds = time.perf_counter() - work.began
    part = Answer(shorter, checkpoint, decoding, outcome.recording, seconds, outcome.instead)
    keep_answer(part)
    return part


def with_length(request: Request, n: int) -> Request:
    """The request for at most n tokens."""
    options = dict(request.options)
    options["max_len"] = max(1, min(n, int(options.get("max_len", n))))
    return replace(request, options=tuple(options.items()))


def is_part(request: Request, whole: Request) -> bool:
    """Tell whether a request is for the beginning of the text of another one."""
    length = dict(request.options).get("max_len")
    return request != whole and length is not None and request == with_length(whole, int(length))


def streams(request: Request) -> bool:
    """Tell whether its text is written token after token, so that a part of it can be shown."""
    description = about(request.checkpoint)
    return (
        description is not None
        and description.family.decodes
        and decoding_methods()[request.method].streams
        and not request.branch
    )


def as_stopped(request: Request, stopped: int | None) -> Request:
    """Return the request after somebody stopped the writing: for so many tokens."""
    if stopped is None or not streams(request.of_search):
        return request
    return with_length(request, stopped)
