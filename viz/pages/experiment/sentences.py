"""A sweep over several sentences: what each head is worth on average, and how sure that is."""

from collections.abc import Sequence

from transformer.analysis.corpus_sweep import worths
from transformer.analysis.tables.sweep_table import Line, as_csv
from transformer.edits import parse
from transformer.inputs import InputError
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.fields.experiment import ExperimentFields
from viz.figures.heads.names import head_name
from viz.figures.means_table import MeanOff, means_table
from viz.labels import counted
from viz.pages.experiment.asking import ask, is_asked
from viz.pages.experiment.heads import on_explore
from viz.pages.experiment.sentences_file import MOST_CHARACTERS, choose_file
from viz.pages.experiment.studies import HeadsOverSentences, n_done
from viz.run.growth import Growth
from viz.run.settings import is_public
from viz.screen import link
from viz.state.limits import check_text
from viz.state.page import Pane
from viz.state.state import bound
from viz.ui.progress import grow
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show

MOST, MOST_OF_VISITORS = 30, 10
"""Sentences, at home and of a visitor."""
SAYS = (
    "In each row one head is off: the mean change of the output's log-probability, in nats, its "
    "95 % interval by 2,000 resamples of the sentences, and in how many sentences another word "
    "becomes most probable somewhere."
)
CHANGES = (
    "In each row one head is off: the mean change of the number that the model gives a sentence "
    "(of several the one that heads change most in the first), and its 95 % interval by 2,000 "
    "resamples of the sentences."
)
TURNS = (
    "In each row one head is off: the mean of minus the angle by which a sentence's vector turns, "
    "in degrees, and its 95 % interval by 2,000 resamples of the sentences."
)


def choose_sentences(pane: Pane) -> None:
    """Draw the field of the sentences, and what reads them from a file."""
    examples, text = _text_of(pane)
    st.text_area(
        f"Sentences, one per line, up to {_most():d}",
        text,
        height=150,
        max_chars=MOST_CHARACTERS,
        **bound("sweep_sentences", text, examples),
    )
    if not is_public():  # it takes no files
        choose_file()


def over_sentences(pane: Pane, growth: Growth[list[Line]]) -> None:
    """The means over the sentences. Raises what the study raises."""
    if not is_asked(pane, growth.study):
        ask(pane, len(sentences_of(_text_of(pane)[1])))
        return
    says = _measured(pane)[1]
    work = grow(growth.study, lambda lines: _means(lines, growth.exhibit(lines), says))
    if work.is_whole and work.latest:
        for_a_paper(pane, {"means": growth.exhibit(work.latest)}, "paper means")
    n_left = len(sentences_of(_text_of(pane)[1])) - n_done(work.latest or [])
    if work.is_whole and n_left:
        st.caption(f"{n_left:d} of the sentences cannot be read by this model and are left out.")


def means(pane: Pane, kinds: Sequence[str], sort: str) -> Growth[list[Line]]:
    """The means over the sentences. Raises Refusal."""
    study = HeadsOverSentences.of(pane.answer.request, sentences_of(_text_of(pane)[1]))
    return Growth("Means", study, lambda lines: _exhibit(lines, pane, kinds, sort))


def _text_of(pane: Pane) -> tuple[str, str]:
    """The checkpoint's sentences, one per line, and those that are swept."""
    examples = "\n".join(pane.checkpoint.about.examples) or pane.answer.request.text
    text = pane.screen.of(ExperimentFields).sweep_sentences
    return examples, examples if text is None else text


def _exhibit(lines: Sequence[Line], pane: Pane, kinds: Sequence[str], sort: str) -> Exhibit:
    return Exhibit(
        "Heads over sentences (ablation)",
        means_table(
            _rows(lines, pane, kinds, sort), _measured(pane)[0], n_done(lines), _others(pane)
        ),
        f"Over {counted(n_done(lines), 'sentence', 'sentences')}. {_measured(pane)[1]}",
        about="checkpoint",
    )


def _most() -> int:
    return MOST_OF_VISITORS if is_public() else MOST


def sentences_of(text: str) -> tuple[str, ...]:
    """One per line. Raises InputError for too many, none, and more text than visitors may enter."""
    check_text(text)
    sentences = tuple(filter(None, map(str.strip, text.split("\n"))))
    if not sentences:
        raise InputError("There is no sentence: write one per line.")
    if len(sentences) > _most():
        raise InputError(f"{len(sentences)} sentences are too many: {_most()} are swept at most.")
    return sentences


def _rows(lines: Sequence[Line], pane: Pane, kinds: Sequence[str], sort: str) -> list[MeanOff]:
    rows = [(parse(each.edits), each) for each in worths(lines)]
    rows = [(edit, each) for edit, each in rows if edit.place in kinds]
    if sort == "change":
        rows.sort(key=lambda row: row[1].mean)
    return [
        MeanOff(
            head_name(edit.at_head, pane.recording),
            link(on_explore(pane.screen, edit)),
            each.mean,
            each.low,
            each.high,
            each.share_other,
        )
        for edit, each in rows
    ]


def _measured(pane: Pane) -> tuple[str, str]:
    """The unit of changes of this model's output, and what is said of them."""
    if pane.recording.numbers:
        return "units", CHANGES
    return ("nats", SAYS) if pane.recording.vector is None else ("degrees", TURNS)


def _others(pane: Pane) -> str:
    """Name what may become another one, as `Output.others` does."""
    if pane.recording.numbers or pane.recording.vector is not None:
        return ""
    is_classifier = pane.recording.classification is not None
    return "classes" if is_classifier else "tokens" if pane.recording.masked else "words"


def _means(lines: Sequence[Line], exhibit: Exhibit, says: str) -> None:
    st.caption(says)
    show(exhibit, "means")
    download(
        "Sentences as CSV",
        lambda: as_csv(lines),
        "headscope-sentences.csv",
        "One row per sentence and head",
    )
