"""A head's QK and OV circuits between words of one's choice."""

from collections.abc import Sequence

from torch import Tensor

from transformer.analysis.reading import Selection
from transformer.inspection.circuits import CircuitError, ov, qk
from transformer.token import Token
from transformer.tokenizer import Tokenizer, TokenizerError
from transformer.vocabulary import PairTokenizer, source_side
from viz.app_packages import DeltaGenerator, st
from viz.exhibits.exhibit import Exhibit
from viz.fields.fields import InspectFields
from viz.figures.tensors import (
    SMALL,
    chart_circuit_heatmap,
    chart_copying_scores,
    describe_circuit_heatmap,
    describe_copying_scores,
)
from viz.labels import kind_title, literal, number
from viz.pages.inspect.files import Key, ends_of, head_of, inspected, scores_of, tokenizer_of
from viz.state.page import Pane, chosen_head
from viz.state.state import bound, mend_head, note, warn
from viz.ui.controls import choose_head, help_of
from viz.ui.saving import for_a_paper
from viz.ui.showing import columns, show

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


def circuits_of(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """Choose a head and words; see what the head makes of them."""
    if pane.result is None or pane.result.request.checkpoint != key[0]:
        note("Circuits need a checkpoint that is whole; Modules says what is wrong with it.")
        return
    with top:
        chosen = choose_head(pane, suffix=SUFFIX)
        mend_head(chosen, SUFFIX)
    words, usual = _words(pane, key)
    st.text_input("Words", words, **bound("circuit_words", words, usual))
    try:
        _draw(pane, key, chosen, _tokens(pane, key, chosen.kind))
    except TokenizerError as error:
        warn(error)
    except CircuitError as error:
        note(error)


def circuit_exhibits(pane: Pane, key: Key) -> dict[str, Exhibit]:
    """Declare the exhibits of a head's circuits. Raises Refusal."""
    if pane.result is None or pane.result.request.checkpoint != key[0]:
        return {}
    chosen = chosen_head(pane.screen, pane.recording, pane.default, SUFFIX)
    return _exhibits(pane, key, chosen, _tokens(pane, key, chosen.kind))


def _words(pane: Pane, key: Key) -> tuple[str, str]:
    """The words that are chosen, and those that are offered."""
    usual = " ".join(inspected(key).about.examples)
    typed = pane.screen.of(InspectFields).circuit_words
    return usual if typed is None else typed, usual


def _tokens(pane: Pane, key: Key, kind: str) -> list[Token]:
    """The tokens of these words on the side that heads of a kind read. Raises Refusal."""
    tokenizer = tokenizer_of(key)
    if isinstance(tokenizer, PairTokenizer) and kind == "cross":
        raise CircuitError(TWO_VOCABULARIES)
    if kind == "encoder_self":
        tokenizer = source_side(tokenizer)
    return distinct(tokenizer, _words(pane, key)[0])


def _exhibits(
    pane: Pane, key: Key, chosen: Selection, tokens: Sequence[Token]
) -> dict[str, Exhibit]:
    """QK, OV and the copying scores. Raises CircuitError."""
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
    copying = Exhibit(
        f"Copying scores, {kind_title(chosen.kind)}",
        chart_copying_scores(scores),
        describe_copying_scores(scores),
        about="checkpoint",
    )
    return exhibits | {"copying": copying}


def _draw(pane: Pane, key: Key, chosen: Selection, tokens: Sequence[Token]) -> None:
    """Raises CircuitError before anything is drawn."""
    ends, scores = ends_of(key, chosen.kind), scores_of(key, chosen.kind)
    exhibits = _exhibits(pane, key, chosen, tokens)
    queries, outputs, copying = columns([5, 5, 4], gap="medium")
    with queries:
        if ends.queries is None:
            note(NO_TOKEN_FORM)
        elif tokens:
            show(exhibits["qk"], "circuit qk")
    with outputs:
        if tokens:
            show(exhibits["ov"], "circuit ov")
    with copying:
        show(exhibits["copying"], f"copying {chosen.kind}")
        _copying(chosen, scores)
    for_a_paper(pane, exhibits, "paper circuits")
    remark = CROSS if ends.queries is None else READS_ITSELF if ends.reads_itself else ""
    norms = head_of(key, chosen.kind, chosen.layer, chosen.head).left_out
    own = f" So are the norms within its attention, {', '.join(norms)}." if norms else ""
    st.caption(literal(remark + EXPLAIN + own), help=help_of("qk_circuit", "ov_circuit"))


def _copying(chosen: Selection, scores: Tensor) -> None:
    """The head's score among those of all heads."""
    score = number(scores[chosen.layer, chosen.head], 4)
    sentence = f"L{chosen.layer:d} H{chosen.head:d} has the copying score **{score}**."
    st.markdown(sentence, help=help_of("copying_score"))


def distinct(tokenizer: Tokenizer, words: str) -> list[Token]:
    """The tokens of a text, each once, without special ones; the first MOST of them."""
    ids = dict.fromkeys(tokenizer.encode(words, "text"))
    return [
        token for token in map(tokenizer.token, ids) if not token.special and not token.unknown
    ][:MOST]
