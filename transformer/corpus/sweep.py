"""sweep_corpus(): the worth of every head over many sentences."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from transformer.analysis.corpus_sweep import Worth, strongest, sweep_sentences, worths
from transformer.checkpoint import Checkpoint, check_open
from transformer.corpus.survey import by_line, each_line, empty_lines
from transformer.device import usual_state
from transformer.field_docs import fields_in_help
from transformer.hugging_face.model import pairing
from transformer.inputs import FUNCTION, TEXT, InputError, checks


@fields_in_help
@dataclass(frozen=True)
class CorpusSweep:
    """The worth of every head over the sentences of a corpus, the most changed output first."""

    worths: tuple[Worth, ...]
    """One a head, by how far its mean is from 0."""
    left_out: tuple[str, ...] = ()
    """The lines that are missing, and why, in sentences."""

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
    sentences: the texts that are read; what the model writes or names by itself is judged.
    second: a text that is read with each, of a checkpoint that takes two; "": none.
    on_step: called before each sentence, without arguments; it may wait, and what it raises ends
        the run.

    Returns a `CorpusSweep`: `.worths`, one `Worth` a head, the farthest from 0 first: the mean
    change of the whole output's log-probability, in nats, below 0 where the head is missed, with
    its 95 % interval over sentences (percentile bootstrap, Efron 1979); of a text's vector the
    change is minus the angle that it turns by, in degrees, of a number it is in its units. A
    sentence that cannot be read is left out, and `left_out` says why. Raises CheckpointError, and
    InputError where no sentence can be read.
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
