"""Controls of the reading of attention: the lens, and what rows and columns stand for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from transformer.analysis.reading import BETWEEN, Reading, is_pair, lenses, writes
from transformer.words import RULE
from viz.app_packages import st
from viz.screen import Screen, default
from viz.state.focus import turn_to_reading
from viz.state.page import Pane
from viz.state.state import bound, widget
from viz.ui.controls import choose_one
from viz.ui.words import help_of

ROWS = {"produced": "word being written", "read": "word just read"}
ROWS_EXPLAINED = (
    "The weights are the same, the names are off by one: alignments are read off *word being "
    "written*."
)
TOKENS = {"words": "words", "pieces": "pieces"}
SPECIAL = {"shown": "shown", "hidden": "hidden", "renormalised": "renormalised"}
SPECIAL_EXPLAINED = (
    "Tokens such as `</s>` often collect attention that has no better place to go. *hidden* leaves "
    "their rows and columns out, so that rows sum to less than 1; *renormalised* also divides each "
    "row by what remains of it."
)
BETWEEN_EXPLAINED = (
    "A sentence pair has weights from the words of one text to those of the other, and within "
    "each. Special tokens belong to the text before them. Rows then sum to less than 1, unless "
    "special tokens are *renormalised*: that divides each row by what remains of it."
)

OWN_SCALE = (
    "Shades go up to 1 everywhere, so heads can be compared; where many tokens share the attention "
    "every cell is pale. On its own scale, the darkest cell of each head is its largest weight."
)


def choose_reading(pane: Pane, picture: str) -> None:
    """All that changes how a picture is read, behind one button; every picture says what is chosen.

    picture: its name.
    """
    box = st.popover(
        "Show as",  # always: under another name it would be another one, and closed
        icon=":material/visibility:",
        help="What is measured, and what rows and columns stand for",
        key="reading",
        on_change="rerun",
    )
    if not box.open:  # its contents are no burden while nobody looks at them
        return
    screen = pane.screen
    with box:
        _choose_lens(screen)
        if writes(pane.selection.attention(pane.recording)):
            choose_one(
                "Row", "rows", ROWS, screen.rows, help=f"{help_of('row')}\n\n{ROWS_EXPLAINED}"
            )
        choose_tokens(pane)
        _choose("Special tokens", "special", SPECIAL, pane, pane.usual_special, SPECIAL_EXPLAINED)
        if is_pair(pane.selection.attention(pane.recording)):
            _choose("Between the texts", "between", BETWEEN, pane, "all", BETWEEN_EXPLAINED)
        own = screen.own_scale
        st.toggle("Each head on its own scale", own, help=OWN_SCALE, **bound("own_scale", own))
        if picture == "map":
            st.toggle("Path of the largest weights", screen.path, **bound("path", screen.path))


def choose_tokens(pane: Pane, **look: Any) -> None:
    """Words, or the pieces that they are made of. look: what else the buttons take."""
    _choose("Tokens as", "tokens", TOKENS, pane, pane.usual_tokens, RULE, **look)


def _choose(
    title: str,
    name: str,
    titles: Mapping[Any, str],
    pane: Pane,
    usual: str,
    help: str,
    **look: Any,
) -> None:
    """A switch that changes which rows and columns there are: what is pinned stays so."""
    chosen = getattr(pane.screen, name) or usual

    def turn(new: str) -> None:
        turn_to_reading(pane, **{name: default(name) if new == usual else new})

    look |= {"default": chosen, "format_func": titles.__getitem__, "help": help}
    st.segmented_control(title, list(titles), required=True, **look, **widget(name, chosen, turn))


def _choose_lens(screen: Screen) -> None:
    every_lens = lenses()
    titles = {name: each.title for name, each in every_lens.items()}
    look: Any = {"as_list": True, "help": help_of("measure")}
    lens = every_lens[choose_one("Measure", "lens", titles, screen.lens, **look)]
    st.latex(lens.formula, width="content")
    st.caption(lens.cited)


def readable(pane: Pane) -> Reading:
    """The chosen reading; the plain weights where the lens refuses."""
    return replace(pane.reading, lens="weight") if why_not(pane) else pane.reading


def why_not(pane: Pane) -> str | None:
    """Say why the chosen lens shows nothing here, if it does not."""
    return lenses()[pane.reading.lens].why_not(pane.recording, pane.selection.kind)
