"""Under-trained tokens: those that training hardly met, found without any text.

Land and Bartolo 2024, "Fishing for Magikarp: Automatically Detecting Under-trained Tokens in Large
Language Models", section 3.2. A byte that UTF-8 never has stands in no text, so its row of the
output matrix W_U is what training makes of a token that it never meets: every step makes it less
likely. A token whose row is like those was hardly met either.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.models.token_model import TokenWriter
from transformer.token import Token
from transformer.tokenizer import Tokenizer
from transformer.words import SPACES, characters

RULE = (
    "Under-trained tokens (Land and Bartolo 2024): their rows of the output matrix are like the "
    "mean row of pieces that no text has, bytes that UTF-8 never writes, as the cosine tells, all "
    "rows centred. Training hardly met one from 0.40 on, where that is more than 99 % of ordinary "
    "pieces have, or no less than each of those that no text has."
)
"""The rule of `Training.lacks`, in words for people."""
NEVER = re.compile(r"<0x(?:C[01]|F[5-9A-F])>|\[unused\d+\]", re.IGNORECASE)
"""Pieces that no text has: bytes that UTF-8 never writes (RFC 3629, section 3), and those that
WordPiece vocabularies leave free."""
LEAST, USUAL = 0.4, 0.99
"""An under-trained token is at least so like those, and more than this share of ordinary ones are,
or as much as each of those is: where many were never met, that share are among them."""
FEWEST, ALIKE = 8, 0.6
"""Pieces that no text has, and the length of the mean of their unit vectors, below which it says
nothing: of eight random directions it is .35 long."""
FIRST = 1024
"""Ids among which such pieces are looked for: every vocabulary that has them begins with them."""
ROWS = 8192
"""Rows that are compared at once: a large matrix is not copied whole."""


@dataclass(frozen=True, eq=False)
class Training:
    """The training of each token of a vocabulary, as far as the weights tell it."""

    likeness: Tensor
    """The cosine of each token's row with the mean of those that were never met; [V], centred."""
    least: float
    """The likeness from which on a token counts as under-trained."""

    def lacks(self, token: Token) -> bool:
        """Tell whether a token is under-trained; special ones are not asked."""
        is_asked = not token.special and not token.unknown and token.id < len(self.likeness)
        return is_asked and float(self.likeness[token.id]) >= self.least

    def lacking(self, tokens: Sequence[Token]) -> list[str]:
        """Return what under-trained tokens write, each once, in order: pieces, and characters.

        A character that is spelled by bytes is one where any of them is.
        """
        names = []
        added = characters(tokens)
        for i, token in enumerate(tokens):
            if self.lacks(token):
                spelled = (
                    next(filter(None, added[i:]), "") if token.byte is not None else token.piece
                )
                names.append(spelled.strip(SPACES) or spelled)
        return list(dict.fromkeys(names))


def training(output: Tensor, tokenizer: Tokenizer) -> Training | None:
    """Compare the rows of an output matrix [V, D] with those of pieces that no text has.

    The mean of all rows is taken off first, as all share it. None where nothing is known: there are
    too few pieces that no text has, or their rows are not alike, as in a model without training.
    """
    n_tokens = min(tokenizer.vocab_size, len(output))
    first = [tokenizer.token(id) for id in range(min(FIRST, n_tokens))]
    never = [token.id for token in first if NEVER.fullmatch(token.piece)]
    if len(never) < FEWEST or output.is_meta or not output.is_floating_point():
        return None
    with torch.inference_mode():
        parts = output.split(ROWS)
        middle = torch.stack([part.float().sum(0) for part in parts]).sum(0) / len(output)
        mean = F.normalize(output[never].float() - middle, dim=-1).mean(0)
        if not mean.norm() >= ALIKE:
            return None
        cosines = [F.cosine_similarity(part.float() - middle, mean[None]).cpu() for part in parts]
        likeness = torch.cat(cosines)
        other = [it.id for it in first if it.special or it.byte is not None]
        usual = torch.ones(len(output), dtype=torch.bool)
        usual[other], usual[n_tokens:] = False, False
        beyond = min(float(likeness[usual].quantile(USUAL)), float(likeness[never].min()))
        return Training(likeness, max(LEAST, beyond))


_KNOWN: WeakKeyDictionary[nn.Module, Training | None] = WeakKeyDictionary()


def training_of(model: nn.Module, tokenizer: Tokenizer) -> Training | None:
    """The same of an open model, kept while it is; None, too, where it writes other tokens."""
    if model not in _KNOWN:
        output, n_tokens = _output(model), tokenizer.vocab_size
        is_known = output is not None and len(output) >= n_tokens
        _KNOWN[model] = training(output, tokenizer) if is_known and output is not None else None
    return _KNOWN[model]


def _output(model: nn.Module) -> Tensor | None:
    """The matrix that writes tokens, where the tokens that are read are the same ones.

    Of other people's models it is the last linear layer, where a table of embeddings has its shape.
    """
    if isinstance(model, TokenWriter):
        is_other = model.config.source_vocab_size is not None
        return None if is_other else (model.output or model.embedding).weight.detach()
    tables = [it.weight for it in model.modules() if isinstance(it, nn.Embedding)]
    linear = [it.weight.detach() for it in model.modules() if isinstance(it, nn.Linear)]
    shapes = {table.shape for table in tables}
    return next((it for it in reversed(linear) if it.shape in shapes), None)
