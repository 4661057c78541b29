"""Patch: states and heads of one sentence in another, and how far its output turns."""

import html
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from transformer import InputError, Recording
from transformer.analysis.patching import Pair, Patching
from transformer.analysis.tables import Columns, patched_at
from transformer.checkpoint import Checkpoint
from transformer.edits import Edit
from transformer.inputs import source_ids
from transformer.refusal import Refusal
from transformer.vocabulary import source_side
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Table
from viz.export import patch_rows, rows_csv
from viz.figures.decoding import token_lines
from viz.figures.sweeps import patch_cell, patch_map, patch_maps
from viz.labels import bare_label, kind_title, label, literal, signed
from viz.page_fields import ExperimentFields
from viz.pages.sweep.studies import Patches
from viz.run.work import Growth
from viz.screen import FIRST_PAGE, choose, link
from viz.state.changing import edit
from viz.state.limits import check_text
from viz.state.page import Exhibits, Pane
from viz.state.state import bound, change, note
from viz.ui.changed_output import output_exhibit
from viz.ui.experiment import show_output
from viz.ui.parts import Part
from viz.ui.progress import grow, is_written
from viz.ui.save_menu import is_menu_open, offer_figures, offer_file
from viz.ui.showing import show, show_table

TITLE = "The patches follow"
NO_OTHER = (
    "Enter a sentence A of as many tokens, or press Example: each state and each head of A is put "
    "into the sentence above, and maps show how far each turns its output towards that of A."
)
EXAMPLES = {
    "source": ("I see the cat in the garden.", "I see the dog in the garden."),
    "text": ("This film was wonderful.", "This film was horrible."),
    "prompt": ("The women said that", "The woman said that"),
    "characters": ("My lord", "My lady"),
    "numbers": ("3 9 4 7", "3 9 5 7"),
}
"""A and B, by what a model reads; "characters" and "numbers" by its tokens."""


def patch_page(pane: Pane) -> None:
    """Sentence A, all effects, and what the patches that are kept make of the output."""
    other = _other(pane)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Sentence A, whose states and heads are put into B, the sentence above",
            other,
            placeholder="As many tokens as the sentence above, with another word",
            width=520,
            **bound("patch_from", other, ""),
        )
        begin = partial(_example, pane.checkpoint)
        st.button("Example", on_click=begin, help="Fill in two sentences")
    if not is_written(pane, TITLE):
        return
    try:
        if growth := _patches(pane):
            _effects(pane, growth)
        else:
            note(NO_OTHER)
    except Refusal as error:
        note(error)
        _tokens(pane, other.strip())


def _other(pane: Pane) -> str:
    return pane.screen.of(ExperimentFields).patch_from or ""


def _example(checkpoint: Checkpoint) -> None:
    """Fill in two sentences that the checkpoint tells apart."""
    reads, tokens = checkpoint.family.reads, checkpoint.about.tokenizer
    a, b = EXAMPLES.get(tokens) or EXAMPLES.get(reads) or EXAMPLES["text"]
    change(text=b, patch_from=a)


def _patches(pane: Pane) -> Growth[Patching] | None:
    """Every patch, each of which is tried; None without a sentence A. Raises Refusal."""
    other = _other(pane).strip()
    if not other:
        return None
    check_text(other)
    return Growth(TITLE, Patches(pane.answer.request, other), partial(_exhibit, pane))


def _exhibits(pane: Pane) -> Exhibits:
    growth = _patches(pane)
    return {"patches": growth, **output_exhibit(pane)} if growth else {}


def _effects(pane: Pane, growth: Growth[Patching]) -> None:
    """The effects as they come, the output below them, and the files of both."""
    screen = pane.screen

    def draw(patches: Patching) -> None:
        what, most = _measured(patches.pair, pane.checkpoint), _strongest(patches, pane.recording)
        st.markdown(f"{what}  \n{most}")
        show(growth.exhibit(patches), "patches")

    patches = grow(growth.study, draw).latest
    show_output(pane)
    if screen.edits:
        with st.container(horizontal=True, vertical_alignment="center"):
            address = html.escape(link(replace(screen, page=FIRST_PAGE)))
            st.html(f'<a data-state href="{address}">Open on Explore</a>', width="content")
            st.button("Take all back", on_click=edit, args=((),), type="tertiary")
    if patches is not None and is_menu_open():
        exhibit, rows = growth.exhibit(patches), partial(patch_rows, patches)
        help, name = "Every patch that was tried, with its effect", "headscope-patches.csv"
        offer_file("Effects as CSV", lambda: rows_csv(rows()), name, help, exhibit.title)
        offer_figures(pane, {"patches": exhibit} | output_exhibit(pane))


def _exhibit(pane: Pane, patches: Patching) -> Exhibit:
    """Maps of states, and below them those of heads."""
    draw = partial(_map, patches, pane)
    maps = [
        [
            draw(
                f"{kind_title(kind)}: state after a layer",
                _columns(patches, kind),
                layers,
                patched_at(patches, kind),
            )
            for kind, layers in patches.of("state-from").items()
        ],
        [
            draw(f"{kind_title(kind)}: heads", [(f"H{i}", f"H{i}") for i in layers[0]], layers)
            for kind, layers in patches.of("head-from").items()
        ],
    ]
    says = f"Effects of states and heads of “{_other(pane)}”, each put into this sentence"
    says += f", in {_measure(patches.pair)}"
    return Exhibit("Patches (activation patching)", patch_maps(maps), says)


def _measured(pair: Pair, checkpoint: Checkpoint) -> str:
    """Say what is measured, in a sentence."""
    if pair.vector is not None:
        return (
            f"Measured: the angle to the vector of A, {-pair.plain:.2f}° from that of B; an effect "
            "is the share of it that a patch takes away."
        )
    a, b = (literal(_word(name)) for name in pair.names)
    if pair.is_number:
        return (
            f"Measured: the number **{a}**, A {signed(pair.clean)}, B {signed(pair.plain)}; an "
            "effect is the share of the way from B's to A's."
        )
    after = ""
    if pair.written:
        text = "".join(map(label, pair.written)).replace("▁", " ").strip()
        after = f" after “{literal(text)}”"
    elif checkpoint.family.decodes:
        after = ", the first word"
    return (
        f"Measured: log p(**{a}**) − log p(**{b}**){after}. "
        f"A {signed(pair.clean)} nats, B {signed(pair.plain)}."
    )


def _measure(pair: Pair) -> str:
    """Name what is measured."""
    a, b = map(_word, pair.names)
    if pair.is_number:
        return f"its number {a}"
    return f"log p({a}) − log p({b})" if pair.vector is None else "the angle to its vector"


def _word(name: str) -> str:
    return name.removeprefix("▁") or name


def _strongest(patches: Patching, recording: Recording) -> str:
    """The state and the head that do most, in a sentence."""
    sentences = []
    for name, what in (("state-from", "state"), ("head-from", "head")):
        effects = {edit: it for edit, it in patches.effects.items() if edit.name == name}
        if effects:
            most = max(effects, key=lambda edit: abs(effects[edit]))
            where = _where(most, patches, recording)
            sentences.append(f"Strongest {what}: **{literal(where)}**, {signed(effects[most])}")
    return ". ".join(sentences) + "." * bool(sentences)


def _where(patch: Edit, patches: Patching, recording: Recording) -> str:
    attention = recording.attentions.get(patch.place)
    layer = patch.layer if attention is None else attention.number(patch.layer)
    if patch.name == "head-from":
        return f"{kind_title(patch.place)} L{layer} H{patch.head}"
    a, b = _columns(patches, patch.place)[patch.query]
    return f"{kind_title(patch.place)} L{layer}, {a if a == b else f'{a} for {b}'}"


def _columns(patches: Patching, kind: str) -> list[tuple[str, str]]:
    """The words above a map of states, of A and of B."""
    words, pair = patches.places[kind], patches.pair
    others = pair.other_tokens if words is pair.tokens else words
    return [(bare_label(a), bare_label(b)) for a, b in zip(others, words, strict=True)]


def _map(
    patches: Patching,
    pane: Pane,
    title: str,
    columns: Sequence[tuple[str, str]],
    layers: Sequence[dict[int, Edit]],
    origins: Sequence[Columns] = (),
) -> Table:
    attentions, kind = pane.recording.attentions, next(iter(layers[0].values())).place
    number = attentions[kind].number if kind in attentions else int
    rows = [
        (f"L{number(i)}", [_cell(patches, pane, patch) for patch in layer.values()])
        for i, layer in enumerate(layers)
    ]
    return patch_map(title, columns, rows, origins)


def _cell(patches: Patching, pane: Pane, patch: Edit) -> Cell | None:
    now, spelled = pane.screen.edits, str(patch)
    is_kept = spelled in now
    edits = tuple(each for each in now if each != spelled) if is_kept else (*now, spelled)
    return patch_cell(
        link(choose(pane.screen, edits=edits)),
        _where(patch, patches, pane.recording),
        patches.effects.get(patch),
        is_kept,
    )


def _tokens(pane: Pane, other: str) -> None:
    """Both sentences token by token: which pieces are in the way."""
    checkpoint, read = pane.checkpoint, pane.recording.source
    try:
        token = source_side(checkpoint.tokenizer).token
        own = tuple(map(token, source_ids(checkpoint, other)))
    except InputError:
        return
    lines = [("A", own), ("B", read)]
    ids = [{token.id for token in tokens} for _, tokens in lines]
    marked = [
        (f"{title}, {len(tokens)}", [(bare_label(it), it.id not in others) for it in tokens])
        for (title, tokens), others in zip(lines, reversed(ids), strict=True)
    ]
    show_table(token_lines(marked))


PATCH = Part(
    "Patch (activation patching)",
    _exhibits,
    draw=patch_page,
    says="An intervention: states and heads of one run in another.",
    words=("activation_patching", "intervention"),
)
