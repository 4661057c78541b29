"""Word alignment by cross-attention: every head and layer against alignments made by people."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from transformer.analysis.alignment import (
    AlignedPair,
    Links,
    diagonal,
    error_rate,
    links_of,
    words_of_pieces,
)
from transformer.analysis.reading import lenses
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.training.data_folder import MissingData
from transformer.training.evaluation.gold import (
    bicici_alignments,
    rwth_alignments,
    stage_alignments,
)
from transformer.training.evaluation.say import say
from transformer.training.task import Scores, TrainingError

ROWS = {"produced": "row of the word it writes", "read": "row of the word it has read"}
LENSES = {"weight": "weights", "value_norm": "value norms", "sum_norm": "sum of heads"}


@dataclass(frozen=True)
class Reader:
    """One way to read an alignment from cross-attention."""

    rows: str
    """A row belongs to the word it "produced" or to the one it "read", as in `Reading.rows`."""
    lens: str
    layer: int
    head: int | None
    """None: the mean over heads, or the one map of a lens that makes one per layer."""

    @property
    def name(self) -> str:
        return f"L{self.layer}" if self.head is None else f"L{self.layer} H{self.head}"


def evaluate_alignment(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Alignment error rates of the stage set's aligned sentences and of the gold sets.

    Per set: of the best head and of the best mean over a layer's heads, chosen on that set, for
    both readings of rows and each lens in LENSES; and of the diagonal. The decoder is given the
    set's own German sentence. A set that the data folder lacks is left out, and that is said.
    """
    sets: dict[str, Callable[[], list[AlignedPair]]] = {
        "Stage alignment": stage_alignments,
        "RWTH alignment": partial(rwth_alignments, data),
        "Bicici alignment": partial(bicici_alignments, data),
    }
    result: Scores = {}
    for title, pairs_of in sets.items():
        try:
            pairs = pairs_of()
        except MissingData as error:
            say(f"{title}: left out: {error}")
            continue
        scores = error_rates(checkpoint, pairs, title)
        result |= {f"{title}, {name}": value for name, value in scores.items()}
    return result


def error_rates(
    checkpoint: Checkpoint, pairs: Sequence[AlignedPair], title: str | None = None
) -> Scores:
    """Row name -> alignment error rate in percent. title: of a progress bar; None draws none."""
    by_reader: dict[Reader, list[Links]] = defaultdict(list)
    bar = tqdm(pairs, desc=title, disable=title is None, unit="sentence", dynamic_ncols=True)
    for pair in bar:
        for reader, links in readings(checkpoint, pair):
            by_reader[reader].append(links)
    rates = {reader: error_rate(links, pairs) for reader, links in by_reader.items()}
    scores: Scores = {"sentences": len(pairs)}
    scores["diagonal, AER"] = error_rate(map(diagonal, pairs), pairs)
    for rows, row_title in ROWS.items():
        for lens, lens_title in LENSES.items():
            of = {r: rate for r, rate in rates.items() if (r.rows, r.lens) == (rows, lens)}
            scores |= {f"{lens_title}, {row_title}, {n}, AER": v for n, v in _best(of).items()}
    return scores


def _best(rates: dict[Reader, float]) -> Scores:
    """The best head and the best layer among the readers of one kind."""
    heads = [reader for reader in rates if reader.head is not None]
    layers = [reader for reader in rates if reader.head is None]
    kinds = {"best head": heads, "best layer mean" if heads else "best layer": layers}
    best = {kind: min(readers, key=rates.__getitem__) for kind, readers in kinds.items() if readers}
    return {f"{kind} ({reader.name})": rates[reader] for kind, reader in best.items()}


def readings(checkpoint: Checkpoint, pair: AlignedPair) -> Iterator[tuple[Reader, Links]]:
    """Every reader's alignment of one pair. Raises TrainingError where the model cannot read it."""
    try:
        recording = record(checkpoint, pair.source, pair.target)
        attention = recording.attentions["cross"]
        columns = words_of_pieces(attention.keys, pair.source_words)
        sides = {"produced": attention.produced or (), "read": attention.queries}
        rows = {name: words_of_pieces(tokens, pair.target_words) for name, tokens in sides.items()}
    except (InputError, ValueError, KeyError) as error:
        raise TrainingError(f"“{pair.source}” cannot be aligned: {error}") from error
    for lens, layer, heads, values in _maps(recording):
        for name, words in rows.items():
            for head, links in zip(heads, links_of(values, words, columns), strict=True):
                yield Reader(name, lens, layer, head), links


def _maps(recording: Recording) -> Iterator[tuple[str, int, list[int | None], Tensor]]:
    """Lens, layer and what each of its maps [N, Q, K] is of: every head, then None, their mean."""
    for name in LENSES:
        lens = lenses()[name]
        for layer in range(recording.attentions["cross"].n_layers):
            values = lens.compute(recording, "cross", layer)
            if not lens.per_head:
                yield name, layer, [None], values
                continue
            both = torch.cat([values, values.mean(0, keepdim=True)])
            yield name, layer, [*range(len(values)), None], both
