"""The frame that a text is put into: a chat template, a language, a second text."""

import re
from collections.abc import Iterable
from typing import Any

from transformer.checkpoint import Description
from transformer.hugging_face.chat.chatting import MOST, ROLES, Turn, spell, turn_of
from transformer.refusal import visible
from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.labels import literal
from viz.run.request import Chat, Languages, Request
from viz.run.settings import runs_templates
from viz.screen import Screen
from viz.state.state import bound, change, session, widget

# The chat template that a text is put into, and the message that it begins with.

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


# The language that a translator of many reads, and the one that it writes.

NAMES = ("source_language", "target_language")


def has_languages(description: Description) -> bool:
    """Tell whether a checkpoint needs to know its languages."""
    return bool(getattr(description.config, "languages", ()))


def chosen_languages(description: Description, screen: Screen) -> Languages:
    """One of the codes each; None where nothing is chosen, and the checkpoint does not say."""
    config: Any = description.config
    choices = (screen.source_language, screen.target_language)
    usual = (config.source_language, config.target_language)
    pairs = zip(choices, usual, strict=True)
    source, target = (next((c for c in pair if c in config.languages), None) for pair in pairs)
    return source, target


def choose_languages(description: Description, chosen: Languages) -> None:
    """Draw two lists of the codes that it knows."""
    config: Any = description.config
    for title, name, code in zip(("From", "To"), NAMES, chosen, strict=True):
        usual = getattr(config, name)
        codes = [*([] if usual else [None]), *config.languages]
        st.selectbox(
            literal(title),
            codes,
            codes.index(code),
            format_func=lambda each: visible(each or "model default"),
            **bound(name, code, usual),
        )


# The second text of a sentence pair, where a checkpoint reads pairs.

HELP = (
    "The model reads the sentence and this text as a pair, joined as its tokenizer does: "
    "[CLS] A [SEP] B [SEP] and the like."
)


def chosen_pair(description: Description | None, screen: Screen) -> str:
    """The Screen's second text; empty where there is none, or the checkpoint reads one text."""
    reads_pairs = getattr(description.config, "reads_pairs", False) if description else False
    return (screen.pair or "").strip() if reads_pairs else ""


def choose_pair(description: Description | None, pair: str, **look: Any) -> None:
    """Draw a field for it; a sentence pipeline, which gives one text's vector, is not asked."""
    config: Any = description.config if description else None
    is_offered = getattr(config, "reads_pairs", False) and config.pooling is None
    if pair or is_offered:
        st.text_input("Second text", pair, help=HELP, **look, **bound("pair", pair, ""))
