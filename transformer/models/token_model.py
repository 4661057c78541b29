"""A model of tokens, shared by families: tokens become vectors, and back; and its training mode."""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.config import ModelConfig
from transformer.inputs import InputError
from transformer.layers.attention import Linear
from transformer.layers.blocks import Decoder, DecoderState
from transformer.layers.embedding import TokenEmbedding, make_positions

# A model of tokens, shared by families: tokens become vectors, and vectors tokens again.


class TokenModel(nn.Module):
    """A module that reads token ids: `embed` makes vectors of them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = self.make_embedding()
        self.positions, self.join = make_positions(config)
        self.dropout = nn.Dropout(config.dropout)

    def make_embedding(self, vocab_size: int | None = None) -> TokenEmbedding:
        """A matrix of embeddings, beside those that there are; None: of the usual size."""
        config = self.config
        size = vocab_size or config.vocab_size
        return TokenEmbedding(size, config.d_model, config.scaled_embeddings)

    def embed(
        self,
        ids: Tensor,
        start: int | Tensor = 0,
        embedding: TokenEmbedding | None = None,
        positions: nn.Module | None = None,
    ) -> Tensor:
        """ids: [B, T] at positions start .. start+T-1 -> [B, T, D]; None: the model's own.

        start: one for all rows, or [B].
        """
        x: Tensor = (embedding or self.embedding)(ids)
        positions = positions or self.positions
        if positions is not None:
            x = self.join(x, positions(ids.size(1), start))
        dropped: Tensor = self.dropout(x)
        return dropped

    def initialise(self) -> None:
        """Glorot's uniform weights for every projection, and no bias at first."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class TokenWriter(TokenModel):
    """A module whose decoder writes tokens: `advance` takes it from one to the next.

    Each has `states`, the forced pass without its logits, with the arguments of `forward`.
    """

    decoder: Decoder

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.output = Linear(config.d_model, config.vocab_size) if config.tied == "none" else None
        has_bias = config.output_bias and self.output is None
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if has_bias else None

    def advance(self, state: DecoderState, target: Tensor) -> Tensor:
        """Feed target tokens [B, T] not seen yet; returns logits [B, T, V] and moves the state."""
        return self.logits(self.read(state, target))

    def read(self, state: DecoderState, target: Tensor) -> Tensor:
        """The same up to the decoder's last states [B, T, D]."""
        # Only a batch norm asks, and only while training.
        real = target.ne(self.config.pad_id) if self.training else None
        states: Tensor = self.decoder(self.embed(target, state.n_positions), state, real)
        return states

    def logits(self, x: Tensor) -> Tensor:
        """The decoder's last states [..., D] -> [..., V]."""
        if self.output is not None:
            return self.output(x)
        logits = self.embedding.logits(x)
        return logits if self.output_bias is None else logits + self.output_bias


# Training mode: dropout takes part in a pass, and means are those of its batch.

_KEEPS_MEANS = nn.modules.batchnorm._BatchNorm
"""Each pass in training mode changes the means that it keeps."""


def notes_on_mode(modules: Iterable[nn.Module]) -> tuple[str, ...]:
    """Say in a sentence that these modules ran in training mode; nothing in evaluation."""
    training = [each for each in modules if each.training]
    if not training:
        return ()
    rates = sorted({rate for each in training for rate in _rates(each)})
    name = type(training[0]).__name__
    if not rates:
        return (f"{name} ran in training mode: eval() makes passes repeat where it drops out.",)
    shares = " and ".join(f"{rate:g}" for rate in rates)
    return (
        f"{name} ran in training mode, with dropout of {shares}: another pass gives other numbers. "
        "Call eval() first.",
    )


def check_mode(checkpoint: Checkpoint) -> None:
    """Raise InputError where a pass may not repeat, as with dropout after train().

    A recording says it in its notes. Nothing is switched here: another thread may train the model.
    """
    training = (each for each in checkpoint.model.modules() if each.training)
    if any(isinstance(each, _KEEPS_MEANS) or any(_rates(each)) for each in training):
        raise InputError(
            f"{checkpoint.name} is in training mode, in which another pass may give other numbers: "
            "call .eval() of its model first."
        )


def _rates(module: nn.Module) -> Iterator[float]:
    """With which probabilities above 0 a module drops out, by itself or by a function."""
    names = ("p",) if isinstance(module, nn.modules.dropout._DropoutNd) else ()
    for name, value in vars(module).items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and (name in names or "drop" in name) and 0 < value <= 1:
            yield float(value)
