"""Which language a translator of many reads, and which it writes."""

from collections.abc import Sequence

import streamlit as st

from viz.ui.request import Languages, about

NEITHER: Languages = (None, None)


def choose_languages(checkpoint: str) -> Languages:
    """Draw two lists behind one button; nothing for a model that is not told its languages."""
    config = getattr(about(checkpoint), "config", None)
    codes = getattr(config, "languages", ())
    if not codes:
        return NEITHER
    said: Languages = (config.source_language, config.target_language) if config else NEITHER
    with st.popover(
        "Languages",
        icon=":material/translate:",
        help="The language of the sentence, and the one to translate it to",
        key="languages",
    ):
        return _choose("From", "from", codes, said[0]), _choose("To", "to", codes, said[1])


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
