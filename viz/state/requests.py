"""The way from a Screen to a Request: the one that a page asks for."""

from dataclasses import replace

from transformer import Decoding
from transformer.decoding import decoding_methods, default_method
from transformer.decoding.constraints import Constraints
from transformer.decoding.method import Method, Option
from viz.run.request import NEITHER, Answer, Request, about, answer, as_stopped, make_request
from viz.screen import Screen
from viz.state.chat import chosen_chat, chosen_languages, chosen_pair, has_languages
from viz.state.checkpoints import checkpoint_names
from viz.state.limits import limited, offered
from viz.state.page import Page, Pane
from viz.state.state import session


def request_of_page(page: Page) -> Request:
    """Return the Screen's Request on a page, where there is any checkpoint."""
    names, screen = checkpoint_names(), session().screen
    checkpoint = screen.checkpoint if screen.checkpoint in names else names[0]
    return request_on(page, checkpoint, text_of(checkpoint), screen)


def request_on(page: Page, checkpoint: str, text: str, screen: Screen) -> Request:
    """Return a page's Request: of the model unchanged, unless it shows the changed one."""
    edits = screen.edits if page.edits in ("shown", "made") else ()
    return request_of(checkpoint, text, replace(screen, edits=edits))


def text_of(checkpoint: str) -> str:
    """The sentence that the Screen names, or the one that a checkpoint starts with."""
    text = session().screen.text
    return first_example(checkpoint) if text is None else text


def request_of(checkpoint: str, text: str, screen: Screen) -> Request:
    """Return the Request for this checkpoint.

    The method, its options, the languages and the chat template are the Screen's, as far as there
    are any.
    """
    description = about(checkpoint)
    if description is None or not description.family.decodes:
        pair = chosen_pair(description, screen)
        request = make_request(checkpoint, text, "none", edits=screen.edits, pair=pair)
        return replace(request, chat=chosen_chat(screen))
    usual = default_method(description.family.reads)
    method = screen.decoding if screen.decoding in methods() else usual
    options = chosen_options(decoding_methods(description.about)[method], screen)
    languages = chosen_languages(description, screen) if has_languages(description) else NEITHER
    choices = (method, tuple(options.items()), languages, screen.edits, chosen_chat(screen))
    request = make_request(checkpoint, text, *choices)
    return limited(as_stopped(decided(request, screen), screen.stopped))


def is_first(request: Request) -> bool:
    """Tell whether it is what a checkpoint shows before anybody has chosen anything.

    What is known of it is for all visitors alike, so none of them pays for it.
    """
    return request.text == first_example(request.checkpoint) and is_usual(request)


def is_usual(request: Request) -> bool:
    """Tell whether nothing was chosen but its checkpoint and its text: no method, no edits."""
    return request == request_of(request.checkpoint, request.text, Screen())


def decided(request: Request, screen: Screen) -> Request:
    """The request with what is decided of the decoding, and the hypothesis that is shown."""
    constraints = Constraints(screen.prefix, screen.force, screen.forbid)
    return replace(request, constraints=constraints, branch=screen.branch)


def method_of(request: Request) -> Method:
    """The decoding method of a request that writes, with the defaults of its checkpoint."""
    description = about(request.checkpoint)
    return decoding_methods(None if description is None else description.about)[request.method]


def chosen_options(method: Method, screen: Screen) -> dict[str, float]:
    """name -> value of what a decoding method may be given; its default for what is not legal."""
    values = dict(screen.options)
    return {
        each.name: _legal(each, values.get(each.name, each.default))
        for each in map(offered, method.options)
    }


def _legal(option: Option, value: float) -> float:
    is_legal = option.least <= value <= option.most and (not option.is_whole or value == int(value))
    legal = value if is_legal else option.default
    return int(legal) if option.is_whole else legal


def methods() -> dict[str, str]:
    """name -> title of those that write by themselves."""
    every = decoding_methods().items()
    return {name: each.title for name, each in every if not each.needs_target}


def first_example(checkpoint: str) -> str:
    """Return the text that a checkpoint starts with."""
    return next(iter(examples(checkpoint)), "")


def examples(checkpoint: str) -> tuple[str, ...]:
    """Texts that a checkpoint names to start with; none of a damaged one."""
    description = about(checkpoint)
    return description.about.examples if description else ()


def decoding_of_search(result: Answer) -> Decoding | None:
    """Return the decoding whose search came by a text; None where nothing was decoded.

    Of a branch that of the request without it: it is only judged, and has no rivals. Raises as
    `make_answer`.
    """
    if result.request.branch:
        return answer(result.request.of_search).decoding
    return result.decoding


def searched(pane: Pane) -> Pane:
    """The same pane with what the search chose itself, where another hypothesis of it is shown."""
    request = pane.answer.request
    return replace(pane, result=answer(request.of_search)) if request.branch else pane
