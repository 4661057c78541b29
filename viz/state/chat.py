"""The chat template that a text is put into, and the message that it begins with."""

from typing import Any

from transformer.checkpoint import Description
from transformer.visible import visible
from viz.app_packages import st
from viz.labels import literal
from viz.run.request import Chat
from viz.run.settings import runs_templates
from viz.screen import Screen
from viz.state.state import bound


def chosen_chat(screen: Screen) -> Chat | None:
    """The Screen's template and message; None where texts are read as typed."""
    return None if screen.template is None else (screen.template, screen.system)


def templates(description: Description | None, chat: Chat | None) -> list[str]:
    """Names of what may be chosen; with a name that is chosen and not there, to be left again."""
    config: Any = description.config if description else None
    names = [*getattr(config, "templates", ())] if runs_templates() else []
    return names if chat is None or chat[0] in names else [*names, chat[0]]


def choose_template(names: list[str], chat: Chat | None) -> None:
    """Draw a list of them, beside the text."""
    name = None if chat is None else chat[0]
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
    look: Any = {"placeholder": "None", **bound("system", chat[1], "")}
    st.text_area(literal("System message"), chat[1], **look)
