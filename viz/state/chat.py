"""The chat template that a text is put into, and the message that it begins with."""

import re
from collections.abc import Iterable
from typing import Any

from transformer.checkpoint import Description
from transformer.hugging_face.chat.turns import MOST, ROLES, Turn, spell, turn_of
from transformer.visible import visible
from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.labels import literal
from viz.run.request import Chat, Request
from viz.run.settings import runs_templates
from viz.screen import Screen
from viz.state.state import bound, change, session, widget

MOST_SHOWN = 300
"""Characters of an earlier turn that stand above the text."""
_BEGINS = re.compile(rf"\\*\s*(?:{'|'.join(ROLES)})\s*:")
"""A line that is a turn, or with backslashes before it one of a turn's own lines."""


def chosen_chat(screen: Screen) -> Chat | None:
    """The Screen's template and message; None where texts are read as typed."""
    if screen.template is None:
        return None
    return Chat(screen.template, screen.system, screen.turns)


def templates(description: Description | None, chat: Chat | None) -> list[str]:
    """Names of what may be chosen; with a name that is chosen and not there, to be left again."""
    config: Any = description.config if description else None
    names = [*getattr(config, "templates", ())] if runs_templates() else []
    return names if chat is None or chat.template in names else [*names, chat.template]


def choose_template(names: list[str], chat: Chat | None) -> None:
    """Draw a list of them, beside the text."""
    name = None if chat is None else chat.template
    titles: dict[str | None, str] = {None: "as typed", **{each: f"chat: {each}" for each in names}}
    options = list(titles)
    st.selectbox(
        "Chat template",
        options,
        options.index(name),
        format_func=lambda each: visible(titles.get(each, str(each))),
        label_visibility="collapsed",
        width=136,
        help="The text is read as typed, or as a user's message in a chat template of the folder.",
        **bound("template", name),
    )


def choose_system(chat: Chat) -> None:
    """Draw a field for the message that the template begins with."""
    look: Any = {"placeholder": "None", **bound("system", chat.system, "")}
    st.text_area(literal("System message"), chat.system, **look)


def show_turns(chat: Chat) -> None:
    """Show what was said before the text, a line for each turn."""
    for role, text in chat.turns:
        more = "…" if len(text) > MOST_SHOWN else ""
        st.caption(literal(f"{role}: {visible(text[:MOST_SHOWN])}{more}"))


def choose_turns(request: Request) -> None:
    """Draw a field for the earlier turns, and a button that adds the text and its answer."""
    turns = request.chat.turns if request.chat else ()
    written = lines_of(turns)
    st.text_area(
        "Earlier turns",
        written,
        placeholder="user: …\nassistant: …",
        help="One turn a line, beginning with user:, assistant: or system:; a line without one "
        "continues the turn above it, and so does one with a backslash before it (`\\user:`).",
        **widget("turns", written, lambda text: change(turns=turns_in(text))),
    )
    if len(turns) > MOST - 2:
        st.caption(
            f"A conversation has at most {MOST} earlier turns: of more in this field the first "
            f"{MOST} are read, and the button leaves the oldest out."
        )

    def add() -> None:
        last = session().answer
        if last is not None and last.request == request and last.decoding is not None:
            added = (("user", request.text), ("assistant", last.decoding.text))
            change(turns=(*turns, *added)[-MOST:])

    st.button("Add this text and its answer", key="add_turns", on_click=guarded(add))


def lines_of(turns: Iterable[Turn]) -> str:
    """Write turns as `turns_in` reads them: a backslash stands before a line that begins as one.

    >>> lines_of([("user", "A dialogue:\\nuser: hi")])
    'user: A dialogue:\\n\\\\user: hi'
    """
    return "\n".join(spell((role, _marked(text))) for role, text in turns)


def _marked(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([first, *(f"\\{it}" if _BEGINS.match(it) else it for it in others)])


def turns_in(text: str) -> tuple[Turn, ...]:
    """Read turns, one a line; a line without a role goes on with the turn above it.

    >>> turns_in("user: a\\nb\\nassistant: c")
    (('user', 'a\\nb'), ('assistant', 'c'))
    """
    turns: list[str] = []
    for line in text.split("\n"):
        role, colon, _ = line.partition(":")
        if colon and role.strip() in ROLES:
            turns.append(line)
            continue
        own = line.removeprefix("\\") if _BEGINS.match(line) else line
        if turns:
            turns[-1] += f"\n{own}"
        elif own.strip():
            turns.append(f"user: {own}")
    return tuple(map(turn_of, turns))[:MOST]
