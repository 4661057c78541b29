"""All finished hypotheses on Decode: the parts of their scores, and the penalties of ties."""

from transformer import Decoding
from transformer.decoding.decode import written_text
from transformer.decoding.reranking import Base, by_gnmt, by_length
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.fields.decode import DecodeFields
from viz.figures.decoding import hypotheses, penalty_curves
from viz.figures.decoding.hypotheses import DRAWN, IN_ORDER, NAME, Ranked
from viz.state.page import Pane
from viz.state.requests import decoding_of_search, method_of
from viz.state.state import change
from viz.ui.saving import download
from viz.ui.showing import files_of, show

HELP = (
    "All texts that the search finished: their log-probabilities, lengths and scores, and the "
    "length penalties at which another one would be first."
)
PENALTY, PLAIN, CURVES = "length_penalty", "plain_length", "Scores over the length penalty"
FOOT = (
    "The score is the log-probability of all tokens, the end included, divided by the divisor, "
    "which is a power of the length."
)
WITH_COVERAGE = (
    "Added to it is the coverage penalty, which is low where a source word was read too little."
)
WITHOUT = "The score is the log-probability of all tokens, the end included."
DRAWN_FOOT = f"{WITHOUT} Chance wrote these texts: they are {IN_ORDER}, and none of them has won."
DRAWN_HELP = "All texts that were drawn: their log-probabilities and lengths."


def hypotheses_exhibits(pane: Pane) -> dict[str, Exhibit]:
    """The table and the curves, once they are asked for."""
    decoding = decoding_of_search(pane.answer)
    if decoding is None or not pane.screen.of(DecodeFields).hypotheses:
        return {}
    ranked, penalty = _ranked(pane, decoding), _penalty(pane)
    foot, curves = _foot(ranked, penalty), {}
    if penalty is not None and len(ranked) > 1:
        base = _base(pane)
        says = f"{penalty_curves.first_of_all(ranked, base)} {penalty_curves.ONLY_RANKED_AGAIN}"
        chart = penalty_curves.chart(ranked, penalty, base)
        curves = {"penalties": Exhibit(CURVES, chart, says, is_main=False)}
        foot = f"{foot} By the length penalty: {says}"
    is_drawn = decoding.search.is_drawn
    content = hypotheses.table(ranked, DRAWN_FOOT if is_drawn else foot, is_drawn)
    says = hypotheses.says(ranked, is_drawn)
    return {"hypotheses": Exhibit(content.name, content, says, is_main=False)} | curves


def why_this_one(pane: Pane) -> None:
    """The button, and both below it while it is open."""
    decoding = pane.answer.decoding
    if decoding is None or not decoding.hypotheses:
        return
    is_open = pane.screen.of(DecodeFields).hypotheses
    is_drawn = decoding.search.is_drawn
    st.button(
        DRAWN if is_drawn else NAME,
        on_click=change,
        kwargs={"hypotheses": not is_open},
        icon=f":material/{'expand_less' if is_open else 'expand_more'}:",
        help=DRAWN_HELP if is_drawn else HELP,
    )
    for name, exhibit in hypotheses_exhibits(pane).items():
        show(exhibit, name)
        with files_of(pane, exhibit, name):
            if name == "hypotheses":
                download(
                    "Hypotheses as CSV",
                    lambda: hypotheses_csv(pane),
                    "headscope-n-best.csv",
                    "Every finished text with its score in parts, one row each",
                )


def hypotheses_csv(pane: Pane) -> bytes:
    """A row for each finished hypothesis, by rank; of texts that were drawn, by seed."""
    decoding = decoding_of_search(pane.answer)
    if decoding is None:
        return rows_csv([])
    place = "draw" if decoding.search.is_drawn else "rank"
    ranked = _ranked(pane, decoding)
    return rows_csv([{place: number} | vars(each) for number, each in enumerate(ranked, 1)])


def _ranked(pane: Pane, decoding: Decoding) -> list[Ranked]:
    sources = [token.id for token in decoding.source]
    ranked = []
    for rank, each in enumerate(decoding.hypotheses):
        text = written_text(pane.checkpoint, sources, each.ids)
        score = decoding.search.leaf(rank).score
        parts = each.log_prob, score.log_prob, score.length, score.divisor, score.coverage
        ranked.append(Ranked(text, *parts, each.score))
    return ranked


def _penalty(pane: Pane) -> float | None:
    """The length penalty in use; None: the method has none."""
    request = pane.answer.request
    options = method_of(request).options
    usual = next((each.default for each in options if each.name == PENALTY), None)
    return None if usual is None else float(dict(request.options).get(PENALTY, usual))


def _base(pane: Pane) -> Base:
    """The number whose power the divisor is."""
    return by_length if dict(pane.answer.request.options).get(PLAIN) else by_gnmt


def _foot(ranked: list[Ranked], penalty: float | None) -> str:
    if penalty is None:
        return WITHOUT
    return f"{FOOT} {WITH_COVERAGE}" if any(each.coverage for each in ranked) else FOOT
