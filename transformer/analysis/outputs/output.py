"""The output of a text that is judged, of whatever sort it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError, source_ids, target_ids
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups


@dataclass(frozen=True)
class Output:
    """The words of an output, the classes of a classifier, the numbers that a model puts on a text,
    the tokens that a masked model sees or fills in, or a text's vector: what is judged.
    """

    source: str
    target: tuple[Token, ...] | None
    """The tokens that the model is given as its writing; None: it only reads."""
    words: tuple[Token, ...]
    """The words that are judged: the target; of a text that is only read, all but its first."""
    foils: tuple[Token, ...] = ()
    """Another token for each word of a target, of which is said too how likely it is."""
    classes: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    """The places in the source of a masked language model that its words stand at: those of its
    masks; without a mask all that are not special."""
    likeliest: tuple[Token, ...] = ()
    """The most probable token of each place, without an edit."""
    vector: Tensor | None = field(default=None, compare=False)
    """The text's vector without an edit [D], of a model that gives one."""
    second: str = ""
    """A second text, with whose vector the text's is compared; empty: with its own."""

    @property
    def unit(self) -> str:
        """The unit of changes; "units" are a number's own."""
        if self.numbers:
            return "units"
        return "nats" if self.vector is None else "cosine" if self.second else "degrees"

    @property
    def others(self) -> str:
        """Name what a change may put in place of what is there; empty where nothing is chosen."""
        if self.numbers or self.vector is not None:
            return ""
        return "classes" if self.classes else "tokens" if self.places else "words"

    @property
    def groups(self) -> list[list[int]]:
        """The columns of scores that belong together: a word's pieces."""
        if self.classes or self.numbers or self.vector is not None:
            return [[i] for i in range(max(1, len(self.classes or self.numbers)))]
        if self.places and self.words == self.likeliest:  # masks are words by themselves
            return [[i] for i in range(len(self.places))]
        return [list(group) for group in word_groups(self.words)]


def output_of(checkpoint: Checkpoint, source: str, target: str | Sequence[Token] | None) -> Output:
    """Find what can be judged of this source and target. Raises InputError where nothing can."""
    token, family = checkpoint.tokenizer.token, checkpoint.family
    sources = source_ids(checkpoint, source)
    ids = target_ids(checkpoint, target, len(sources))
    if ids is not None:
        tokens = tuple(map(token, ids))
        return Output(source, tokens, tokens)
    if family.decodes:
        if len(sources) < 2:
            raise InputError("The text is one token: there is none that the model could foresee.")
        return Output(source, None, tuple(map(token, sources[1:])))
    return output_read(checkpoint, source, record(checkpoint, source))


def output_read(checkpoint: Checkpoint, source: str, plain: Recording) -> Output:
    """Find the same in the recording of a model that writes nothing. Raises InputError."""
    if plain.classification is not None:
        return Output(source, None, (), classes=tuple(plain.classification.classes))
    if plain.numbers:
        return Output(source, None, (), numbers=tuple(plain.numbers))
    if plain.vector is not None:
        return Output(source, None, (), vector=plain.vector.values)
    if plain.logits.dim() == 2 and plain.logits.size(1) == checkpoint.config.vocab_size:
        masks = tuple(each.position for each in plain.masked)
        places = masks or tuple(i for i, it in enumerate(plain.source) if not it.special)
        best = plain.logits[list(places)].argmax(-1).tolist()
        likeliest = tuple(map(checkpoint.tokenizer.token, best))
        words = likeliest if masks else tuple(plain.source[i] for i in places)
        if places:
            return Output(source, None, words, places=places, likeliest=likeliest)
    raise InputError(
        f"{checkpoint.name} writes nothing, names no class and gives neither number nor "
        "vector: there is no output to compare."
    )


def compared(output: Output, second: str) -> Output:
    """The same output, judged by its cosine with a second text. Raises InputError."""
    if second and output.vector is None:
        raise InputError("There is no vector to compare with that of a second text.")
    return replace(output, second=second)
