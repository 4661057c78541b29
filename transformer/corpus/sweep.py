"""sweep_corpus(): the worth of every head over many sentences."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.corpus_sweep import Worth, strongest, sweep_sentences, worths
from transformer.checkpoint import Checkpoint, check_open
from transformer.corpus.survey import by_line, each_line, empty_lines
from transformer.corpus.surveyed import digits
from transformer.device import usual_state
from transformer.field_docs import fields_in_help
from transformer.files.foreign_text import csv_bytes
from transformer.hugging_face.model import pairing
from transformer.inputs import FUNCTION, TEXT, InputError, checks
from transformer.recording.data import NoSuchKind
from transformer.refusal import quoted


@fields_in_help
@dataclass(frozen=True)
class CorpusSweep:
    """The worth of every head over the sentences of a corpus, the most changed output first."""

    worths: tuple[Worth, ...]
    """One a head, by how far its mean is from 0."""
    left_out: tuple[str, ...] = ()
    """The lines that are missing, and why, in sentences."""

    @checks(kind=TEXT)
    def means(self, kind: str) -> Tensor:
        """The means of one kind of attention [L, H], in the unit of `worths`; float64, on the CPU.

        kind: "encoder_self", "decoder_self" or "cross". A head that was never tried is NaN. Raises
        NoSuchKind.
        """
        every = {(each.layer, each.head): each.mean for each in self.worths if each.kind == kind}
        if not every:
            kinds = ", ".join(dict.fromkeys(str(each.kind) for each in self.worths))
            raise NoSuchKind(f"There is no {quoted(kind)} here; there is {kinds}.")
        n_layers, n_heads = (1 + max(numbers) for numbers in zip(*every, strict=True))
        result = torch.full((n_layers, n_heads), torch.nan, dtype=torch.float64)
        for place, mean in every.items():
            result[place] = mean
        return result

    def to_csv(self) -> bytes:
        """Write a line for each head, in UTF-8, in the order of `worths`."""
        header = ("kind", "layer", "head", "mean", "low", "high", "share_other", "sentences")
        return csv_bytes(
            header,
            (
                (
                    *(of.kind, of.layer, of.head),
                    *map(digits, (of.mean, of.low, of.high, of.share_other)),
                    of.n_sentences,
                )
                for of in self.worths
            ),
        )

    def __repr__(self) -> str:
        n = max((each.n_sentences for each in self.worths), default=0)
        out = f", {len(self.left_out)} left out" if self.left_out else ""
        return f"CorpusSweep({len(self.worths)} heads over {n} sentences{out})"


@usual_state()
@checks(second=TEXT, on_step=FUNCTION.or_none)
def sweep_corpus(
    checkpoint: Checkpoint,
    sentences: Iterable[str],
    second: str = "",
    on_step: Callable[[], object] | None = None,
) -> CorpusSweep:
    """Turn every head off on each of many sentences, and average the change of the output.

    checkpoint: open, or its name or path.
    sentences: the texts that are read. Judged is what an encoder-decoder writes of each, greedily;
        of a generator such as GPT-2 the sentence itself, each token after those before it; else a
        classifier's class, a number, a masked model's tokens, or the text's vector.
    second: a text that is read with each, of a checkpoint that takes two; "": none.
    on_step: called before each sentence, so as many times as there are some that are not empty,
        without arguments; it may wait, and what it raises ends the run.

    Returns a `CorpusSweep`: `.worths`, one `Worth` a head, the farthest from 0 first. The change of
    a sentence is the sum, over its judged tokens, of the log-probability without the head less that
    with it, in nats: below 0 the output is less probable without the head; of a text's vector it is
    minus the angle that it turns by, in degrees, of a number in its units. `.mean` of a `Worth` is
    the mean of these over `.n_sentences`, `.low` to `.high` its 95 % interval (percentile
    bootstrap, Efron 1979), `.kind`, `.layer` and `.head` say which head it is, `.edits` spells it,
    and `.share_other` is the share of sentences with another most probable token. `.means("cross")`
    has them as [L, H], and `.to_csv()` as a table. A sentence that cannot be read is left out, and
    `.left_out` says why. Raises CheckpointError, and InputError where no sentence can be read.

    >>> sweep_corpus("en-de", sentences).means("cross")[0, 6]  # doctest: +SKIP
    """
    check_open(checkpoint)
    texts = each_line("sweep_corpus", "sentences", sentences)
    lines = {number: text for number, text in enumerate(texts, 1) if text}
    left_out = empty_lines(texts)
    opened = pairing(checkpoint, second) if second else checkpoint
    each: Callable[[], object] = on_step or (lambda: None)
    *_, result = sweep_sentences(opened, lines, say=left_out.append, pair=second, on_step=each)
    if not result:
        why = left_out[0] if left_out else "there is none: give at least one."
        raise InputError(f"There is no sentence that can be swept: {why}")
    every = worths(result)
    return CorpusSweep(tuple(strongest(every, len(every))), tuple(by_line(left_out)))
