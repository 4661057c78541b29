"""Inspect: what a checkpoint's files hold, without running them; its parts, and of these the
circuits of a head between words of one's choice."""

from collections.abc import Sequence

from torch import Tensor

from transformer.inspection.circuits import CircuitError, ov, qk
from transformer.token import Token
from transformer.tokenizer import TokenizerError
from transformer.vocabulary import PairTokenizer, source_side
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.chart import Axis, Chart, differences
from viz.exhibits.exhibit import Exhibit
from viz.figures.tables import heat_map
from viz.labels import counted, kind_title, literal, number, word_label
from viz.page_fields import InspectFields
from viz.pages.inspect.files import (
    MODULES,
    VOCABULARY,
    ends_of,
    head_of,
    inspected,
    key_of,
    scores_of,
    tokenizer_of,
)
from viz.pages.inspect.tensor import POSITIONS, TENSOR
from viz.state.checkpoints import title
from viz.state.page import Pane, chosen_head
from viz.state.state import bound, fail, mend_head, note, warn
from viz.ui.controls import choose_head, help_of
from viz.ui.parts import Part, Parts
from viz.ui.save_menu import offer_figures
from viz.ui.showing import columns, show

# A head's QK or OV circuit between chosen tokens.

TITLES = {
    "qk": ("QK", "score before the softmax", "query", "key"),
    "ov": ("OV", "what attending adds", "attended token", "token whose logit it moves"),
}
"""Circuit -> its name, what a cell is, and its two sides."""

SMALL = 20
"""Labels of a side where two circuits and the copying scores share a row."""


def chart_circuit_heatmap(
    circuit: str, values: Tensor, tokens: Sequence[Token], most_labels: int = 64
) -> Chart:
    """values: [N, N] between N tokens. circuit: "qk" or "ov"."""
    name, what, rows, columns = TITLES[circuit]
    return heat_map(
        f"circuit {circuit}",
        (name, f": {what}"),
        values,
        Axis(rows, labels=tokens, most_labels=most_labels),
        Axis(columns, labels=tokens, most_labels=most_labels),
        differences("score" if circuit == "qk" else "logit", float(values.abs().amax()) or 1.0),
        is_square=True,
    ).in_words


def describe_circuit_heatmap(circuit: str, values: Tensor, tokens: Sequence[Token]) -> str:
    """The largest and the smallest value, in words."""
    name, what, *_ = TITLES[circuit]
    row, column = divmod(int(values.argmax()), len(tokens))
    of = f"{word_label(tokens[row])} and {word_label(tokens[column])}"
    return (
        f"{name} circuit between {len(tokens)} tokens, {what}: the largest value is "
        f"{number(values[row, column], 4)}, of {of}; "
        f"the smallest is {number(values.min(), 4)}."
    )


# The copying score of every head of a kind.


def chart_copying_scores(scores: Tensor) -> Chart:
    """scores: [L, H], from -1 to 1."""
    rows, columns = (
        Axis(title, labels=[f"{letter}{i}" for i in range(n)])
        for title, letter, n in zip(("layer", "head"), "LH", scores.shape, strict=True)
    )
    title = ("Copying score", " of every head")
    hover = "{y} {x}: {z:.4f}"
    return heat_map("copying_scores", title, scores, rows, columns, differences("score"), hover)


def describe_copying_scores(scores: Tensor) -> str:
    """The span of the scores, in words."""
    layer, head = divmod(int(scores.argmax()), scores.size(1))
    n = counted(scores.numel(), "head", "heads")
    return (
        f"Copying scores of {n}, from {number(scores.min(), 4)} to "
        f"{number(scores.max(), 4)}, which is that of L{layer} H{head}."
    )


# The part of circuits: a head and words are chosen, and what the head makes of them is drawn.

SUFFIX = "_circuit"
"""The end of the names of the Screen's fields that name the head."""
MOST = 32
"""Tokens on a side: more could not be read."""
EXPLAIN = (
    "W_QK = W_Q W_Kᵀ and W_OV = W_V W_O of this head only, on token embeddings W_E, scaled as the "
    "model does (Elhage et al. 2021). QK: W_E W_QK W_Eᵀ times the attention's scale. OV: "
    "W_E W_OV W_U. The copying score is computed over the whole vocabulary. Left out: layer norms, "
    "positions, biases, and every other layer and head."
)
NO_TOKEN_FORM = (
    "The QK circuit of a cross head has no pure token form: its queries are states of the decoder, "
    "its keys those of the encoder."
)
TWO_VOCABULARIES = (
    "Source and target are two vocabularies here, so one word has no row in both: choose a head of "
    "the encoder or of the decoder."
)
CROSS = "Its values are states of the encoder, too: in OV the source embeddings stand in for them. "
READS_ITSELF = "An encoder's layers write no tokens: in OV its own embeddings stand in for W_U. "


def _choose(pane: Pane) -> None:
    _check_whole(pane)
    chosen = choose_head(pane, suffix=SUFFIX)
    mend_head(chosen, SUFFIX)


def _check_whole(pane: Pane) -> None:
    """Raise NothingLeft for a checkpoint that does not run, CheckpointError for unread files."""
    inspected(key_of(pane))
    if not pane.is_of_asked_checkpoint:
        whole = "Circuits need a checkpoint that is whole"
        raise NothingLeft(f"{whole}; Modules says what is wrong with it.")


def _words(pane: Pane) -> tuple[str, str]:
    """The words that are chosen, and those that are offered."""
    usual = " ".join(inspected(key_of(pane)).about.examples)
    typed = pane.screen.of(InspectFields).circuit_words
    return usual if typed is None else typed, usual


def _tokens(pane: Pane, kind: str) -> list[Token]:
    """The tokens of these words on the side that heads of a kind read, each once, without special
    ones; the first MOST of them. Raises Refusal.
    """
    tokenizer = tokenizer_of(key_of(pane))
    if isinstance(tokenizer, PairTokenizer) and kind == "cross":
        raise CircuitError(TWO_VOCABULARIES)
    if kind == "encoder_self":
        tokenizer = source_side(tokenizer)
    tokens = map(tokenizer.token, dict.fromkeys(tokenizer.encode(_words(pane)[0], "text")))
    return [token for token in tokens if not token.special and not token.unknown][:MOST]


def _exhibits(pane: Pane) -> dict[str, Exhibit]:
    """QK, OV and the copying scores of a head. Raises Refusal."""
    _check_whole(pane)
    key, chosen = key_of(pane), chosen_head(pane.screen, pane.recording, pane.default, SUFFIX)
    tokens = _tokens(pane, chosen.kind)
    ids = [token.id for token in tokens]
    head, ends = head_of(key, chosen.kind, chosen.layer, chosen.head), ends_of(key, chosen.kind)
    written, scores = ov(head, ends, ids), scores_of(key, chosen.kind)
    circuits = {"ov": written} if tokens else {}
    if tokens and ends.queries is not None:
        circuits = {"qk": qk(head, ends, ids)} | circuits
    name = f"{kind_title(chosen.kind)} L{chosen.layer:d} H{chosen.head:d}"
    exhibits = {
        circuit: Exhibit(
            f"{circuit.upper()} circuit of {name}",
            chart_circuit_heatmap(circuit, values, tokens),
            describe_circuit_heatmap(circuit, values, tokens),
            about="checkpoint",
            small=chart_circuit_heatmap(circuit, values, tokens, SMALL),
        )
        for circuit, values in circuits.items()
    }
    copying = chart_copying_scores(scores), describe_copying_scores(scores)
    title = f"Copying scores, {kind_title(chosen.kind)}"
    return exhibits | {"copying": Exhibit(title, *copying, about="checkpoint")}


def _draw(pane: Pane) -> None:
    words, usual = _words(pane)
    st.text_input("Words", words, **bound("circuit_words", words, usual))
    try:
        exhibits = _exhibits(pane)
    except TokenizerError as error:
        warn(error)
    except CircuitError as error:
        note(error)
    else:
        _draw_circuits(pane, exhibits)


def _draw_circuits(pane: Pane, exhibits: dict[str, Exhibit]) -> None:
    key, chosen = key_of(pane), chosen_head(pane.screen, pane.recording, pane.default, SUFFIX)
    ends, scores = ends_of(key, chosen.kind), scores_of(key, chosen.kind)
    queries, outputs, copying = columns([5, 5, 4], gap="medium")
    with queries:
        if ends.queries is None:
            note(NO_TOKEN_FORM)
        elif "qk" in exhibits:
            show(exhibits["qk"], "circuit qk")
    with outputs:
        if "ov" in exhibits:
            show(exhibits["ov"], "circuit ov")
    with copying:
        show(exhibits["copying"], f"copying {chosen.kind}")
        score = number(scores[chosen.layer, chosen.head], 4)
        sentence = f"L{chosen.layer:d} H{chosen.head:d} has the copying score **{score}**."
        st.markdown(sentence, help=help_of("copying_score"))
    offer_figures(pane, exhibits)
    remark = CROSS if ends.queries is None else READS_ITSELF if ends.reads_itself else ""
    norms = head_of(key, chosen.kind, chosen.layer, chosen.head).left_out
    own = f" So are the norms within its attention, {', '.join(norms)}." if norms else ""
    st.caption(literal(remark + EXPLAIN + own), help=help_of("qk_circuit", "ov_circuit"))


# The page: of the checkpoint that is chosen, whether or not it can run.

PARTS = Parts(
    "Inspect",
    "inspect",
    {
        "modules": MODULES,
        "tensor": TENSOR,
        "circuits": Part("Circuits", _exhibits, _choose, draw=_draw),
        "vocabulary": VOCABULARY,
        "positions": POSITIONS,
    },
    lambda pane: pane.screen.of(InspectFields).inspect,
    refuse=fail,
)
PAGE = PARTS.page(
    "inspect",
    "Inspect",
    "Model",
    6,
    shows="checkpoint",
    subject="What the files of a checkpoint hold",
    here=lambda pane: f"What the files of {title(pane.answer.request.checkpoint)} hold.",
)
