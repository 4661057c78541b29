"""A sweep over several sentences, and pairs of the strongest heads."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unicodedata import category

from transformer.analysis.ablation import Synergy, n_pairs
from transformer.analysis.corpus_sweep import worths
from transformer.analysis.tables import Line, line_rows
from transformer.edits import parse
from transformer.files.foreign_text import clean
from transformer.inputs import InputError
from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads.all_heads import head_name
from viz.figures.sweeps import MeanOff, PairOff, means_table, pairs_table
from viz.labels import counted
from viz.page_fields import DecodeFields, ExperimentFields
from viz.pages.sweep.studies import HeadPairs, HeadsOverSentences, n_done, on_explore
from viz.run.settings import is_public
from viz.run.work import Growth
from viz.screen import link
from viz.state.limits import check_text
from viz.state.page import Pane
from viz.state.state import bound, change, session, warn
from viz.ui.controls import choose_one
from viz.ui.parts import Rows

# Sentences from a file of one's own, one per line, into the field where they may be changed.

MOST_CHARACTERS = 3000
"""The length of all sentences: they are part of the address."""
_KEY = "sentences file"
_LIMIT = (
    f"up to {MOST_CHARACTERS:,} characters are swept here; python -m transformer sweep takes any "
    "file."
)


@dataclass
class SentencesFile:
    """The file that was given last."""

    refused: str = ""
    """The reason why it was not taken; empty: it was."""


def choose_file() -> None:
    """Draw what opens the picker."""
    with st.popover("From a file", icon=":material/upload_file:"):
        st.file_uploader(
            "A text file in UTF-8, one sentence per line",
            ["txt"],
            key=_KEY,
            on_change=guarded(_take),
            max_upload_size=1,
        )
    if why := session().of(SentencesFile).refused:
        warn(why)


def _take() -> None:
    file, own = st.session_state[_KEY], session().of(SentencesFile)
    own.refused = ""
    if file is not None:
        try:
            change(sweep_sentences=lines_of(file.name, file.getvalue()))
        except InputError as error:  # said until another one is given: the page grows meanwhile
            own.refused = str(error)


def lines_of(name: str, content: bytes) -> str:
    """The lines of a file that are not empty. Raises InputError for what is no such text."""
    if len(content) > 4 * MOST_CHARACTERS:
        raise InputError(f"{clean(name)} is too long: {_LIMIT}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{clean(name)} is not a text in UTF-8: save it as one.") from None
    lines = list(filter(None, map(str.strip, text.splitlines())))
    if not lines:
        raise InputError(f"{clean(name)} has no sentence: write one per line.")
    if any(category(character) == "Cc" for line in lines for character in line.replace("\t", "")):
        raise InputError(f"{clean(name)} holds more than text: save it as plain text.")
    joined = "\n".join(lines)
    if len(joined) > MOST_CHARACTERS:
        raise InputError(f"{clean(name)} is too long: {_LIMIT}")
    return joined


# A sweep over several sentences: what each head is worth on average, and how sure that is.

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
FEW = 10
FEW_SAYS = f"Resamples of so few vary too little: below {FEW} sentences the interval is too narrow."


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


def left_out(pane: Pane, lines: Sequence[Line]) -> str:
    """Say how many of the sentences the model cannot read; empty where it reads them all."""
    n_left = len(sentences_of(_text_of(pane)[1])) - n_done(lines)
    why = "of the sentences cannot be read by this model and are left out."
    return f"{n_left:d} {why}" if n_left else ""


SENTENCE_ROWS = Rows(
    "Sentences as CSV", "headscope-sentences.csv", "One row per sentence and head", line_rows
)


def means(pane: Pane, kinds: Sequence[str], sort: str) -> Growth[list[Line]]:
    """The means over the sentences. Raises Refusal."""
    study = HeadsOverSentences.of(pane.answer.request, sentences_of(_text_of(pane)[1]))
    return Growth("", study, lambda lines: _exhibit(lines, pane, kinds, sort))


def _text_of(pane: Pane) -> tuple[str, str]:
    """The checkpoint's sentences, one per line, and those that are swept."""
    examples = "\n".join(pane.checkpoint.about.examples) or pane.answer.request.text
    text = pane.screen.of(ExperimentFields).sweep_sentences
    return examples, examples if text is None else text


def _exhibit(lines: Sequence[Line], pane: Pane, kinds: Sequence[str], sort: str) -> Exhibit:
    heads = [(parse(each.edits), each) for each in worths(lines)]
    heads = [(edit, each) for edit, each in heads if edit.place in kinds]
    if sort != "layer":
        heads.sort(key=lambda head: head[1].mean)
    rows = [
        MeanOff(
            head_name(edit.at_head, pane.recording),
            link(on_explore(pane.screen, edit)),
            each.mean,
            each.low,
            each.high,
            each.share_other,
        )
        for edit, each in heads
    ]
    unit, says = measured(pane)
    return Exhibit(
        "Heads over sentences (ablation)",
        means_table(rows, unit, n_done(lines), _others(pane)),
        f"Over {counted(n_done(lines), 'sentence', 'sentences')}. {says}",
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


def measured(pane: Pane) -> tuple[str, str]:
    """The unit of changes of this model's output, and what is said of them."""
    unit, says = ("nats", SAYS) if pane.recording.vector is None else ("degrees", TURNS)
    if pane.recording.numbers:
        unit, says = "units", CHANGES
    n = sum(1 for line in _text_of(pane)[1].split("\n") if line.strip())
    return unit, f"{says} {FEW_SAYS}" if n < FEW else says


def _others(pane: Pane) -> str:
    """Name what may become another one, as `Output.others` does."""
    if pane.recording.numbers or pane.recording.vector is not None:
        return ""
    is_classifier = pane.recording.classification is not None
    return "classes" if is_classifier else "tokens" if pane.recording.masked else "words"


# Pairs of the strongest heads: which of them make up for each other.

NUMBERS = (4, 8, 12, 16, 24)
"""The numbers of heads whose pairs are offered."""
PAIRS_SAYS = (
    "Synergy is what both heads lose together less what each loses by itself, in nats of the whole "
    "output. Below 0 one of them makes up for the loss of the other: backup heads (Wang et al. "
    "2022)."
)
PAIRS_TURNS = (
    "Synergy is minus the angle by which the text's vector turns with both heads off, less those "
    "with each of them off, in degrees. Below 0 one of them makes up for the loss of the other: "
    "backup heads (Wang et al. 2022)."
)
PAIRS_CHANGES = (
    "Synergy is the change of the text's number (of several the one that heads change most) with "
    "both heads off, less those with each of them off. Where it is as large as one of these and of "
    "the other sign, one makes up for the loss of the other: backup heads (Wang et al. 2022)."
)
BOTH = (
    "Synergy is the change of both sentences' cosine with both heads off, less those with each of "
    "them off. Below 0 one of them makes up for the loss of the other: backup heads (Wang et al. "
    "2022)."
)


def numbers_of(pane: Pane) -> list[int]:
    """The numbers of heads that the model has."""
    n_heads = sum(each.n_layers * each.n_heads for each in pane.recording.attentions.values())
    return [n for n in NUMBERS if n <= n_heads]


def choose_pairs(pane: Pane) -> None:
    """Let the number of heads be chosen whose pairs are tried; each choice says what it costs."""
    titles = {0: "No pairs"} | {
        n: f"Pairs of {n} strongest: {n_pairs(n)} more runs" for n in numbers_of(pane)
    }
    look: Any = {"width": 300, "label_visibility": "collapsed"}
    n = pane.screen.of(ExperimentFields).sweep_pairs
    choose_one("Pairs", "sweep_pairs", titles, n, as_list=True, **look)


def pairs(pane: Pane, n: int) -> Growth[Synergy]:
    """The pairs of the n heads that are worth most."""
    study = HeadPairs(pane.answer.request, n, second_text(pane))
    return Growth("Pairs", study, partial(_exhibit_pairs, pane))


def _exhibit_pairs(pane: Pane, synergy: Synergy) -> Exhibit:
    both = zip(synergy.pairs, synergy.together.tolist(), synergy.apart.tolist(), strict=True)
    rows = [
        PairOff(
            " + ".join(head_name(edit.at_head, pane.recording) for edit in two),
            link(on_explore(pane.screen, *two)),
            together,
            apart,
        )
        for two, together, apart in both
    ]
    table = pairs_table(sorted(rows, key=lambda row: row.synergy))
    return Exhibit("Pairs of heads (ablation)", table, says(pane), pane=pane)


def says(pane: Pane) -> str:
    """Say what synergy is, in the unit of this model's output."""
    if pane.recording.numbers:
        return PAIRS_CHANGES
    if pane.recording.vector is None:
        return PAIRS_SAYS
    return BOTH if second_text(pane) else PAIRS_TURNS


def second_text(pane: Pane) -> str:
    """Return Decode's second sentence, where the model gives vectors. Raises Refusal."""
    text = (pane.screen.of(DecodeFields).second_text or "").strip()
    if not text or pane.recording.vector is None:
        return ""
    check_text(text)
    return text
