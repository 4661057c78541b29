"""The controls that views and methods declare as data, the choice of a head, and of its reading."""

import html
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from transformer.analysis.reading import BETWEEN, Reading, Selection, is_pair, lenses, writes
from transformer.decoding.method import Method
from transformer.recording import Attention
from transformer.refusal import visible
from transformer.words import RULE
from viz.app_packages import st
from viz.choice import with_entry
from viz.glossary import words
from viz.labels import kind_title, literal
from viz.screen import Screen, default, link
from viz.state.focus import turn_to_head, turn_to_reading
from viz.state.limits import offered
from viz.state.page import Pane, chosen_head
from viz.state.state import bound, bound_entry, change, session, widget
from viz.views.view import Amount, Control, Dimensions, HeadChoice
from viz.words import Word

# The controls that views and methods declare as data, and the choice of a head.

T = TypeVar("T")
MOST_BUTTONS = 8
"""Options beyond these are a list that opens."""


def choose_one(
    title: str,
    name: str,
    titles: Mapping[T, str],
    value: T | None,
    usual: T | None = None,
    as_list: bool = False,
    **look: Any,
) -> T:
    """One of a few values, by their titles; `usual`, or the first, where none of them is chosen.

    name: the field of the Screen; as_list: one that opens, not buttons; look: what else these take.
    """
    first = next(iter(titles)) if usual is None else usual
    chosen = value if value is not None and value in titles else first
    look |= bound(name, chosen, first)
    options = list(titles)
    if as_list:
        look["format_func"] = lambda option: visible(titles[option])
        st.selectbox(title, options, options.index(chosen), **look)
    else:
        look["format_func"] = lambda option: literal(titles[option])
        st.segmented_control(title, options, default=chosen, required=True, **look)
    return chosen


def draw_control(control: Control, pane: Pane) -> Any:
    """Draw one control and return what is chosen."""
    if isinstance(control, HeadChoice):
        return choose_head(pane)
    options = list(control.options(pane.recording))
    text = dict(pane.screen.controls).get(control.name, "")
    if isinstance(control, Dimensions):
        return _dimensions(control, options, text)
    chosen = next((option for option in options if str(option) == text), options[0])
    look = _named(control, chosen, options[0])
    if isinstance(control, Amount):
        least, most = min(options), max(options)
        return st.number_input(control.title, least, most, chosen, step=1, width=150, **look)
    if len(options) > MOST_BUTTONS:
        look["format_func"] = lambda option: visible(str(option).capitalize())
        return st.selectbox(control.title, options, options.index(chosen), width=260, **look)
    look["format_func"] = lambda option: literal(str(option).capitalize())
    return st.segmented_control(control.title, options, default=chosen, required=True, **look)


def value_on_screen(control: Control, pane: Pane) -> Any:
    """Return the value of a control on the Screen, without drawing it."""
    if isinstance(control, HeadChoice):
        return pane.selection
    options = list(control.options(pane.recording))
    text = dict(pane.screen.controls).get(control.name, "")
    if isinstance(control, Dimensions):
        offered = [dimension for (dimension,) in options[1:]]
        return tuple(each for each in offered if str(each) in text.split(",")) or options[0]
    return next((option for option in options if str(option) == text), options[0])


def _dimensions(control: Dimensions, options: list[tuple[int, ...]], text: str) -> tuple[int, ...]:
    usual, *single = options
    offered = [dimension for (dimension,) in single]
    chosen = [each for each in offered if str(each) in text.split(",")] or list(usual)
    picked = st.multiselect(
        control.title,
        offered,
        chosen,
        max_selections=8,
        width=380,
        **_named(control, chosen, list(usual)),
    )
    return tuple(picked) or usual


def _named(control: Control, chosen: Any, usual: Any) -> dict[str, Any]:
    """Bind a control as `bound_entry` does; the Screen keeps what views ask for as text."""

    def choose(new: Any) -> None:
        text = ",".join(map(str, new)) if isinstance(new, list) else str(new)
        entries = session().screen.controls
        change(controls=with_entry(entries, control.name, None if new in (usual, []) else text))

    return widget(control.name, chosen, choose)


def draw_link(text: str, screen: Screen) -> None:
    """Draw a link to another screen of the app, in small type."""
    look, address = "color: inherit; font-size: 0.875rem", html.escape(link(screen))
    st.html(
        f'<a data-state style="{look}" href="{address}">{html.escape(text)}</a>', width="content"
    )


def choose_head(
    pane: Pane, title: str = "", suffix: str | None = None, as_list: bool = False
) -> Selection:
    """Kind, layer and head. suffix: of other fields of the Screen than those of the pane.

    as_list: whether the kinds are a list that opens, not buttons.
    """
    suffix, default, recording = suffix or pane.suffix, pane.default, pane.recording
    chosen = chosen_head(pane.screen, recording, default, suffix)
    kinds, attention = list(recording.attentions), chosen.attention(recording)

    def turn(kind: str) -> None:
        if suffix:
            change(**{f"kind{suffix}": None if kind == default.kind else kind})
        else:
            turn_to_head(pane, kind, pane.screen.layer, pane.screen.head)

    with _row():
        if title:
            st.markdown(f"**{title}**", width=18)
        look = {
            "format_func": lambda kind: literal(kind_title(kind)),
            "label_visibility": "collapsed",
            **widget(f"kind{suffix}", chosen.kind, turn),
        }
        if as_list:
            look["format_func"] = lambda kind: visible(kind_title(kind))
            st.selectbox("Attention", kinds, kinds.index(chosen.kind), width=112, **look)
        else:
            st.segmented_control("Attention", kinds, default=chosen.kind, required=True, **look)
        _layer(attention, chosen.layer, default.layer, suffix)
        _number("Head", attention.n_heads, chosen.head, default.head, suffix)
    return chosen


def choose_heads(pane: Pane) -> None:
    """A layer of the decoder, and a head or the mean of its heads."""
    selection, default = pane.selection, pane.default
    attention = selection.attention(pane.recording)
    with _row():
        _layer(attention, selection.layer, default.layer)
        _number("Head", attention.n_heads, selection.head, default.head)
        st.toggle("Mean of heads", pane.screen.mean, **bound("mean", pane.screen.mean))


def _row() -> Any:
    look: Any = {"vertical_alignment": "center", "gap": "xxsmall", "width": "content"}
    return st.container(horizontal=True, **look)


def _layer(attention: Attention, chosen: int, usual: int, suffix: str = "") -> None:
    _number("Layer", attention.n_layers, chosen, usual, suffix, attention.number)


def _number(
    title: str,
    n: int,
    chosen: int,
    usual: int,
    suffix: str = "",
    called: Callable[[int], int] = int,
) -> None:
    """One of 0 .. n-1, and what it is called."""
    st.selectbox(
        title,
        range(n),
        chosen,
        format_func=lambda i: f"{title[0]}{called(i):d}",
        label_visibility="collapsed",
        width=72,
        **bound(f"{title.lower()}{suffix}", chosen, min(usual, n - 1)),
    )


def choose_options(method: Method, chosen: Mapping[str, float]) -> None:
    """Draw a field for each of them, in a row."""
    for option in map(offered, method.options):
        kind: Any = int if option.is_whole else float
        st.number_input(
            option.title,
            kind(option.least),
            kind(option.most),
            chosen[option.name],
            step=1 if option.is_whole else 0.05,
            help=option.explain or None,
            **bound_entry("options", option.name, chosen[option.name], kind(option.default)),
        )


def whole_number(
    title: str, name: str, value: int | None, least: int, most: int, usual: int, **look: Any
) -> int:
    """A field for a whole number within limits. look: what else `st.number_input` takes."""
    chosen = value if value is not None and least <= value <= most else usual
    return st.number_input(
        title, least, most, chosen, **{"step": 1} | look | bound(name, chosen, usual)
    )


# Words in labels and sentences of Streamlit's: the same texts as on the cards, as its help.


def help_of(*names: str) -> str:
    """Explain these behind a question mark: sentence, formula and source of each, in Markdown."""
    return "\n\n".join(explained(words()[name], is_titled=len(names) > 1) for name in names)


def explained(word: Word, is_titled: bool = False) -> str:
    """The same of one word, which need not stand in the glossary as it is."""
    title = f"**{word.title[:1].upper()}{word.title[1:]}**: " if is_titled else ""
    formula = f"$\\displaystyle {word.formula}$" if word.formula else ""
    return "\n\n".join(filter(None, (title + word.sentence, formula, word.source)))


# Controls of the reading of attention: the lens, and what rows and columns stand for.

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
