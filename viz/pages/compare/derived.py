"""The answer of B: another checkpoint's to A's text, or A's own with edits."""

from dataclasses import dataclass, replace

from transformer import Checkpoint
from transformer.decoding import default_method
from viz.run.batches import Runner, entered
from viz.run.request import Answer, Request, make_answer, make_request, open_checkpoint
from viz.state.limits import limited


@dataclass(frozen=True)
class Second:
    """The answer of the checkpoint of this name to the text of another answer."""

    name: str

    def request(self, first: Answer) -> Request:
        """B by itself, or made to read what A wrote, where both split the text alike."""
        own = _own_request(first, self.name)
        if first.decoding is None or not _reads_alike(first, open_checkpoint(own)):
            return own
        return own.made_to_read(first.request)

    def with_edits(self, edits: tuple[str, ...]) -> "Second":
        """Another checkpoint is not edited."""
        return self

    def __call__(self, first: Answer, runner: Runner = entered) -> Answer:
        return make_answer(self.request(first), followed=first, runner=runner)


@dataclass(frozen=True)
class Changed:
    """The answer of another answer's model to the same text with these edits."""

    edits: tuple[str, ...]
    writes: bool
    """True: it writes by itself; else it is made to read the output without the edits."""

    def request(self, first: Answer) -> Request:
        own = replace(first.request.of_search, edits=self.edits)
        return own if self.writes or first.decoding is None else own.made_to_read(first.request)

    def with_edits(self, edits: tuple[str, ...]) -> "Changed":
        """The same with others."""
        return replace(self, edits=edits)

    def __call__(self, first: Answer, runner: Runner = entered) -> Answer:
        return make_answer(self.request(first), followed=first, runner=runner)


@dataclass(frozen=True)
class ByMethod:
    """The answer of another answer's model to the same text, written by another method."""

    method: str

    def request(self, first: Answer) -> Request:
        """With the usual options of the method."""
        return limited(replace(first.request.of_search, method=self.method, options=()))

    def with_edits(self, edits: tuple[str, ...]) -> "ByMethod":
        """The model is not edited."""
        return self

    def __call__(self, first: Answer, runner: Runner = entered) -> Answer:
        return make_answer(self.request(first), followed=first, runner=runner)


def _own_request(first: Answer, name: str) -> Request:
    """Return B's own request: the same, or what suits it where it is of another sort."""
    checkpoint = open_checkpoint(make_request(name, first.request.text, "none"))
    reads, decodes = checkpoint.family.reads, checkpoint.family.decodes
    chat, templates = first.request.chat, getattr(checkpoint.config, "templates", ())
    chat = chat if chat is not None and chat.template in templates else None
    if decodes and reads == first.checkpoint.family.reads and first.decoding is not None:
        method, options = first.request.method, first.request.options
        return limited(make_request(name, first.request.text, method, options, chat=chat))
    method = default_method(reads) if decodes else "none"
    pair = first.request.pair if getattr(checkpoint.config, "reads_pairs", False) else ""
    return limited(make_request(name, first.request.text, method, pair=pair))


def _reads_alike(first: Answer, second: Checkpoint) -> bool:
    """Tell whether both split this text and the output into the same tokens."""
    family = second.family
    if not family.decodes or family.reads != first.checkpoint.family.reads:
        return False
    tokens = (*first.recording.source, *first.recording.target)
    if max(token.id for token in tokens) >= second.config.vocab_size:
        return False
    return all(second.tokenizer.token(token.id) == token for token in tokens)
