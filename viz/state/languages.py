"""The language that a translator of many reads, and the one that it writes."""

from typing import Any

from transformer.checkpoint import Description
from transformer.visible import visible
from viz.app_packages import st
from viz.labels import literal
from viz.run.request import Languages
from viz.screen import Screen
from viz.state.state import bound

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
