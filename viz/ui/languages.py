"""Which language a translator of many reads, and which it writes."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from transformer.checkpoint import Description
from viz.ui.address import carry
from viz.ui.request import Languages


def has_languages(known: Description) -> bool:
    """Whether a checkpoint is told its languages."""
    return bool(getattr(known.config, "languages", ()))


def choose_languages(known: Description) -> Languages:
    """Draw two lists of the codes that it knows."""
    config: Any = known.config
    codes = config.languages
    carry("from", "to")
    return (
        _choose("From", "from", codes, config.source_language),
        _choose("To", "to", codes, config.target_language),
    )


def _choose(title: str, key: str, codes: Sequence[str], default: str | None) -> str | None:
    """One of the codes; None where nothing is chosen, and the checkpoint does not say."""
    chosen: str | None = st.selectbox(
        title,
        codes,
        index=codes.index(default) if default in codes else None,
        placeholder="as the model does",
        key=key,
        bind="query-params",
    )
    return chosen
