"""Which language a translator of many reads, and which it writes."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from transformer.checkpoint import Description
from viz.screen import Screen
from viz.ui.request import Languages
from viz.ui.state import bound


def has_languages(known: Description) -> bool:
    """Whether a checkpoint is told its languages."""
    return bool(getattr(known.config, "languages", ()))


def choose_languages(known: Description, screen: Screen) -> Languages:
    """Draw two lists of the codes that it knows."""
    config: Any = known.config
    return (
        _choose("From", "source_language", config, screen),
        _choose("To", "target_language", config, screen),
    )


def _choose(title: str, name: str, config: Any, screen: Screen) -> str | None:
    """One of the codes; None where nothing is chosen, and the checkpoint does not say."""
    codes: Sequence[str] = config.languages
    usual, said = getattr(config, name), getattr(screen, name)
    chosen = next((each for each in (said, usual) if each in codes), None)
    return st.selectbox(
        title, codes, index=None, placeholder="model default", **bound(name, chosen, usual)
    )
