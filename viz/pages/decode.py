"""Decode: what the model wrote, step by step; or what it decided, where it writes nothing."""

import streamlit as st

from transformer import Decoding
from transformer.discover import discover
from viz.components.decode_player.decode_player import DecodePlayer, decode_player
from viz.export import decoding_csv
from viz.labels import literal
from viz.ui.address import keep, kept
from viz.ui.current import current, current_theme
from viz.ui.panel import panel
from viz.ui.payloads import payload_of
from viz.ui.request import Answer, Request
from viz.ui.saving import download

STEP = "step"
DECISION = ("class_probabilities", "pooled_positions")
"""Views of a classifier, side by side."""
MASKED = "masked_predictions"
"""The view of a masked language model."""


def shown_step(request: Request, n_steps: int) -> int:
    """Where the player was left, else what the link says; another sentence starts at 0."""

    def legal(step: str) -> str:
        return str(min(int(step[:9]), n_steps - 1)) if step.isdecimal() else "0"

    return int(kept(STEP, request, "0", legal))


def steps(answer: Answer, decoding: Decoding) -> None:
    """The player of a decoding."""
    layer, head, mean = (st.session_state[name] for name in ("layer", "head", "mean"))
    request, player = answer.request, DecodePlayer(layer, None if mean else head)
    step = shown_step(request, len(decoding.steps))
    data = player.data(payload_of(answer, player), current_theme(), step=step)
    decode_player(data, "player", on_move=lambda step: keep(STEP, request, str(step)))
    download(
        "Steps as CSV",
        lambda: decoding_csv(decoding),
        "headscope-steps.csv",
        "Every step with its candidates and their probabilities",
    )


def read_only(answer: Answer) -> None:
    """What a model made of the text that writes nothing."""
    if answer.recording.classification is not None:
        st.caption("This model writes nothing: it reads the text and decides what it is.")
        views = discover("viz.views", "VIEW")
        fitting = [name for name in DECISION if views[name].applies_to(answer.recording)]
        for column, name in zip(st.columns(2, gap="large"), fitting, strict=False):
            with column:
                panel(name)
    elif answer.recording.masked:
        st.caption("This model writes nothing: it says what could stand in the place of a mask.")
        panel(MASKED)
    else:
        st.info(_nothing_written(answer), icon=":material/info:")


def _nothing_written(answer: Answer) -> str:
    mask = next((text for text in answer.checkpoint.about.examples if "MASK" in text.upper()), "")
    if mask:
        return f"This model fills masks: try “{literal(mask)}”."
    return "This model writes nothing: it makes vectors of the text. Explore shows its attention."


answer = current()
if answer.decoding is None:
    read_only(answer)
else:
    steps(answer, answer.decoding)
