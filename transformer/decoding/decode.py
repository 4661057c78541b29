"""decode(): text in, the chosen target and how it came about out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from inspect import signature
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import About, Checkpoint, check_open
from transformer.decoding.constraints import Bars, Constraints, Phrase, constraints_of
from transformer.decoding.course import Course, Trail
from transformer.decoding.coverage import COVERAGE, FEWEST_LOST, covered, losing_least
from transformer.decoding.method import (
    MAX_LEN,
    Hypothesis,
    Method,
    OptionError,
    Search,
    checked_options,
)
from transformer.decoding.phrases import phrases_of
from transformer.decoding.shared_batch import OnStep, Run, alone
from transformer.decoding.steps import Decoding, OnToken, steps_of, written_text
from transformer.device import NotFinite, device_trouble, usual_state
from transformer.discover import discover
from transformer.editing.checking import read_words
from transformer.editing.running import edited
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.field_docs import fields_in_help
from transformer.finite import not_finite
from transformer.in_a_line import in_a_line
from transformer.inputs import FUNCTION, TEXT, InputError, checks, target_ids
from transformer.models.token_model import TokenWriter, check_mode
from transformer.old_spelling import respelled
from transformer.origin import Origin
from transformer.refusal import quoted
from transformer.tokenizer import Side
from transformer.vocabulary import source_side


def decoding_methods(of: About | None = None) -> dict[str, Method]:
    """name -> method, for every file of this folder that declares one.

    of: a checkpoint, whose own defaults its options then have.
    """
    methods = discover("transformer.decoding", "METHOD")
    own = {} if of is None else of.decoding
    return methods | {name: methods[name].with_defaults(values) for name, values in own.items()}


def default_method(reads: Side) -> str:
    """The method for models that read so: one that says it is for them, else greedy.

    >>> default_method("source"), default_method("prompt"), default_method("text")
    ('beam', 'sample', 'greedy')
    """
    methods = decoding_methods()
    return next((name for name, each in methods.items() if reads in each.first_for), "greedy")


@respelled(
    (
        *("checkpoint", "text", "method", "on_token", "edits", "on_step", "run"),
        *("prefix", "force", "forbid"),
    ),
    text="source",
)
@usual_state()
@checks(method=TEXT, on_token=FUNCTION.or_none, on_step=FUNCTION.or_none, run=FUNCTION.or_none)
def decode(
    checkpoint: Checkpoint,
    text: str,
    method: str = "greedy",
    *,
    edits: Iterable[Edit | str] | None = (),
    prefix: Phrase | None = (),
    force: Iterable[Phrase] | None = (),
    forbid: Iterable[Phrase] | None = (),
    on_step: OnStep | None = None,
    on_token: Callable[["Written"], object] | None = None,
    run: Run | None = None,
    **options: Any,
) -> Decoding:
    """Translate a text, or continue a prompt.

    checkpoint: of a model that writes; open, or its name or path.
    text: the source, or the prompt.
    method: "greedy", "beam", "diverse", "sample" or "forced", as `decoding_methods()` has them.
    edits: changes of the model for this run, such as "head-off:cross.2.3".
    prefix: what the target begins with: a text, or tokens or their ids.
    force: phrases that must stand in it somewhere, each the same, for methods that can place them
        ("beam").
    forbid: phrases that may not: see `Constraints`.
    on_step: called before each step, without arguments; it may wait, and what it raises ends the
        run. A step is one of the method's, or a pass that ranks anew.
    on_token: given, after each token, a `Written` of what is there so far, by methods that write
        one after the other ("greedy", "sample"); what it raises ends the writing.
    run: what takes the steps, such as `SharedBatch.run`; it hears of a model of its own where that
        is not ours, or is edited, or a target is given: these share no batch. None: they run here.
    options: the method's own, and max_len, in tokens; without it at most 2 S + 10 for S tokens
        that an encoder-decoder reads (S where it has no token for the end), of a generator as many
        as it has places for (one of Hugging Face's: 128), or what its folder says. beam_size and
        length_penalty of "beam", which ranks by log p / ((5 + T) / 6) ** length_penalty for T
        tokens (Wu et al. 2016, section 7); temperature, top_k, top_p and seed of "sample"; target
        (text or tokens) of "forced". One that is left out, or None, is what the checkpoint says for
        it (`About.decoding`), else the method.

    Returns a `Decoding`: `.text`; `.target`, T tokens; `.steps`, with what each was chosen from;
    `.hypotheses`, the best first; `.log_prob`, in nats; `.search`, the tree. Raises
    CheckpointError; InputError when the text cannot be read or the model writes nothing, and for
    constraints that contradict each other; EditError; DeviceError where the device fails or the
    model gives no numbers; OptionError, an InputError too, for an unknown method or option and for
    one out of its range.

    >>> decode("en-de", "It rains.", "beam", beam_size=4, prefix="Heute").text  # doctest: +SKIP
    """
    check_open(checkpoint)
    check_mode(checkpoint)
    methods = decoding_methods(checkpoint.about)
    if method not in methods:
        raise OptionError(f"unknown decoding method {quoted(method)}; known: {', '.join(methods)}.")
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: there is nothing to decode.")
    sources, made = read_words(checkpoint, text, edits_of(edits))
    target = options.pop("target", None) if methods[method].needs_target else None
    chosen = {name: value for name, value in options.items() if value is not None}
    own_options = checkpoint.about.decoding.get(method, {})
    instead = partial(_instead, methods[method])
    options = {**own_options, **checked_options(methods[method], options, instead)}
    if methods[method].needs_target:
        target_tokens = target_ids(checkpoint, target, len(sources))
        if target_tokens is None:
            raise InputError(f"The method {method} judges a target: give it one.")
        options["target_ids"] = tuple(target_tokens)
    penalty, fewest = options.pop(COVERAGE.name, 0.0), options.pop(FEWEST_LOST.name, 0)
    constraints = constraints_of(checkpoint, len(sources), prefix, force, forbid)
    check_constraints(methods[method], constraints)
    bars, courses = Bars(constraints.forbid, checkpoint.tokenizer), [Course()]
    phrases = phrases_of(checkpoint, constraints.force, sources)
    is_shared = isinstance(checkpoint.model, TokenWriter)
    is_shared = is_shared and not made and not methods[method].needs_target

    def begin(model: Any, ids: Tensor) -> Search:
        courses[0] = Course(
            constraints, bars, phrases
        )  # a second time where a step of all has failed
        more: dict[str, Any] = {"course": courses[0]}
        # What these make of a hypothesis is known when all are there.
        is_ranked_anew = penalty or fewest
        if on_token is not None and methods[method].streams and not is_ranked_anew:
            more["on_token"] = _tell(checkpoint, sources, courses[0], on_token)
        return methods[method].run(model, ids, **options, **more)

    with device_trouble(), torch.inference_mode():
        ids = torch.tensor([sources], device=checkpoint.device)
        try:
            with edited(checkpoint, text, sources, made) as model:
                if run is None:
                    hypotheses = alone(model, begin(model, ids), ids, on_step)
                else:
                    n_rows = methods[method].n_rows(options)
                    own = None if is_shared else model
                    hypotheses = run(lambda: begin(model, ids), ids, on_step, n_rows, own)
        except NotFinite as error:
            raise not_finite(checkpoint, _first_inputs(checkpoint, sources)) from error
        if not hypotheses:  # a rule of its folder wants what is forbidden
            raise InputError("What is forbidden leaves no text that could be written: forbid less.")
        trail = courses[0].trail
        if penalty:
            hypotheses = covered(checkpoint, text, made, hypotheses, penalty, trail, on_step)
        if fewest:
            own = tuple(map(source_side(checkpoint.tokenizer).token, sources))
            every = edits_of(edits)
            hypotheses = losing_least(checkpoint, text, own, every, hypotheses, on_step)
    result = _decoding(checkpoint, sources, hypotheses, trail)
    if checkpoint.family.is_watched:
        return result
    chosen |= {name: it for name in ("force", "forbid") if (it := getattr(constraints, name))}
    edits_made = tuple(map(str, made))
    origin = Origin(checkpoint.path, text, edits_made, method, chosen, constraints.prefix)
    return replace(result, origin=origin)


def _instead(method: Method, name: str) -> str:
    """Say, of an option that a method lacks, what is near: an argument, or another's option."""
    every = signature(decode).parameters.values()
    own = [MAX_LEN.name, *(option.name for option in method.options)]
    own += [each.name for each in every if each.kind is each.KEYWORD_ONLY]
    has = {each.name: [it.name for it in each.options] for each in decoding_methods().values()}
    for near in get_close_matches(name, dict.fromkeys([*own, *chain(*has.values())]), 1):
        able = [] if near in own else [quoted(each) for each in has if near in has[each]]
        where = f" of method={' or '.join(able)}" if able else ""
        return f" {near} is one{where}." if near == name else f" Did you mean {near}{where}?"
    return ""


def check_constraints(method: Method, constraints: Constraints) -> None:
    """Raise InputError where the method cannot keep them."""
    if constraints and method.needs_target:
        raise InputError(f"{method.title} judges a text that is given: it takes no constraints.")
    if constraints.force and not method.places:
        able = [each.title for each in decoding_methods().values() if each.places]
        raise InputError(
            f"{method.title} cannot find a place for forced words: choose {' or '.join(able)}, or "
            "let the text begin with them."
        )


def _first_inputs(checkpoint: Checkpoint, sources: list[int]) -> Sequence[Sequence[int]]:
    """Return what the model reads before it has written anything."""
    family, config = checkpoint.family, checkpoint.config
    target = [config.eos_id or 0] if family.target == "needed" else None
    return family.forced_pass(config, sources, target).inputs


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Written:
    """The text that a model that goes on writing had written after one of its tokens."""

    text: str
    """The text so far, without special tokens."""
    decoding: Callable[[], Decoding]
    """Makes what `decode` would return with so many tokens as max_len."""
    n_tokens: int
    """Tokens of the longest text that there could be by then: that max_len."""


def _decoding(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    hypotheses: Sequence[Hypothesis],
    trail: Trail,
    longest: int | None = None,
) -> Decoding:
    best, ends = hypotheses[0], checkpoint.config.eos_ids
    token = checkpoint.tokenizer.token
    return Decoding(
        text=written_text(checkpoint, sources, best.ids),
        source=tuple(map(source_side(checkpoint.tokenizer).token, sources)),
        target=tuple(map(token, best.ids)),
        steps=steps_of(best, checkpoint.tokenizer),
        hypotheses=tuple(
            replace(each, text=written_text(checkpoint, sources, each.ids)) for each in hypotheses
        ),
        search=trail.tree(token, [each.leaf or 0 for each in hypotheses], longest),
        vocab_size=best.log_probs.size(1),
        is_ended=best.error is None and (not ends or best.ids[-1] in ends),
        ended_by="" if best.error is None else str(best.error),
    )


def _tell(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    course: Course,
    on_token: Callable[[Written], object],
) -> OnToken:
    def tell(ids: Sequence[int], n: int, hypotheses: Callable[[], Sequence[Hypothesis]]) -> None:
        text = written_text(checkpoint, sources, ids)
        make = partial(_decoding, checkpoint, sources, trail=course.trail, longest=n)
        on_token(Written(text, lambda: make(hypotheses()), n))

    return tell
