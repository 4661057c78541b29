"""The decisions about a decoding, part by part, in words."""

from transformer import Checkpoint
from transformer.decoding.constraints import constraints_of
from transformer.inputs import InputError
from transformer.refusal import visible
from viz.labels import word_text
from viz.run.request import Request
from viz.state.branching import Ids

TITLES = {"prefix": "Begins with", "force": "Has", "forbid": "Never", "branch": "Hypothesis"}
"""Keys are the names of the fields of the Screen."""
MOST_READ = 48
"""Characters of a text that are read."""


def decisions(request: Request) -> list[tuple[str, Ids]]:
    """All that is decided, by the names of the fields; a branch, which is of the rest, last."""
    at = request.constraints
    phrases = [*(("force", ids) for ids in at.force), *(("forbid", ids) for ids in at.forbid)]
    every = [("prefix", at.prefix), *phrases, ("branch", request.branch)]
    return [(name, ids) for name, ids in every if ids]


def decided_texts(checkpoint: Checkpoint, request: Request) -> list[str]:
    """The same in words: "Begins with “Gestern”"."""
    return [decision_text(checkpoint, name, ids) for name, ids in decisions(request)]


def decision_text(checkpoint: Checkpoint, name: str, ids: Ids) -> str:
    """One of them in words; ids of another vocabulary, for which the page says so, as they are."""
    try:
        constraints_of(checkpoint, 1, ids)
    except InputError:
        text = ".".join(map(str, ids))
    else:
        tokens = tuple(map(checkpoint.tokenizer.token, ids))
        text = checkpoint.tokenizer.decode(ids).strip() or word_text(tokens)
    text = visible(text)
    text = text if len(text) <= MOST_READ else f"{text[: MOST_READ - 1].rstrip()}…"
    return f"{TITLES[name]} “{text}”"
