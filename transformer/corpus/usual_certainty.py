"""The certainty with which a translator usually writes: what a text is less sure than, is a guess.

The mean log-probability of the tokens that a model writes goes with the quality of its translation
(Fomicheva et al. 2020, "Unsupervised Quality Estimation for Neural Machine Translation", section
3.1). How low is low differs from model to model: it is measured over held-out sentences, by every
method that decodes without chance, and kept beside the survey.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.corpus.shipped import FOLDER
from transformer.corpus.summary import count, number, text
from transformer.corpus.targets import decode_many
from transformer.decoding.steps import Decoding
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import write_whole

FILE = "certainty.json"
METHODS = ("greedy", "beam")
LARGEST = 2**16
"""Bytes of a file that are read."""
DIGITS = 4


@dataclass(frozen=True)
class UsualCertainty:
    """The lowest mean log-probability of a token, in nats, of texts that a checkpoint decoded."""

    fingerprint: str
    """The fingerprint of the checkpoint: another one writes otherwise."""
    n_sentences: int
    least: Mapping[str, float]
    """Method -> that of the sentence where it is lowest."""

    def exceeds(self, decoding: Decoding, method: str) -> bool:
        """Tell whether a text is less sure than each of those sentences; no for other methods."""
        of = mean_log_prob(decoding)
        return method in self.least and of is not None and of < self.least[method]


def mean_log_prob(decoding: Decoding) -> float | None:
    """The log-probability of what was written, by the number of its tokens; None: it is empty."""
    return decoding.log_prob / len(decoding.target) if decoding.target else None


def measure_certainty(
    checkpoint: Checkpoint, fingerprint: str, sources: Sequence[str]
) -> UsualCertainty | None:
    """Decode every source by each method, with the checkpoint's own options.

    Sources that are refused count nowhere. None: it is no translator, or wrote nothing.
    """
    if not checkpoint.family.decodes or checkpoint.family.continues:
        return None
    least: dict[str, float] = {}
    n_sentences = len(sources)
    for method in METHODS:
        results = [result for _, result in decode_many(checkpoint, sources, method=method)]
        means = [mean_log_prob(it) for it in results if isinstance(it, Decoding)]
        written = [of for of in means if of is not None]
        if not written:
            return None
        least[method], n_sentences = min(written), min(n_sentences, len(written))
    return UsualCertainty(fingerprint, n_sentences, least)


def write_certainty(folder: Path, usual: UsualCertainty) -> None:
    """Write it into the folder of a survey. Raises Unwritten."""
    value = {
        "fingerprint": usual.fingerprint,
        "n_sentences": usual.n_sentences,
        "least": {name: round(of, DIGITS) for name, of in usual.least.items()},
    }
    write_whole(folder / FILE, (json.dumps(value, indent=1) + "\n").encode())


def usual_certainty(checkpoint: Path) -> UsualCertainty | None:
    """Read it from a checkpoint's folder; None where there is none. Raises CheckpointError."""
    return read_certainty(checkpoint / FOLDER)


def read_certainty(folder: Path) -> UsualCertainty | None:
    """Read it from the folder of a survey; None where there is none. Raises CheckpointError."""
    file = folder / FILE
    if not file.is_file():
        return None
    value = read_json(file, LARGEST)
    try:
        mark, n_sentences, least = value["fingerprint"], value["n_sentences"], value["least"]
        text(mark, *least)
        count(n_sentences)
        number(*least.values())
        return UsualCertainty(mark, n_sentences, dict(least))
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise CheckpointError(f"{file} holds no certainty: ship the survey anew.") from error
