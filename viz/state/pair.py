"""The second text of a sentence pair, where a checkpoint reads pairs."""

from typing import Any

from transformer.checkpoint import Description
from viz.app_packages import st
from viz.screen import Screen
from viz.state.state import bound

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
