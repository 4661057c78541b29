"""The Transformer of "Attention Is All You Need" (AIAYN, section 3)."""

from dataclasses import dataclass

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.blocks import DecoderLayer, EncoderLayer, LayerCache
from transformer.layers.embedding import TokenEmbedding
from transformer.layers.positions import SinusoidalPositions
from transformer.models.family import Family


class Encoder(nn.Module):
    """A stack of encoder layers: x [B, S, D], mask [B, 1, 1, S] -> memory [B, S, D]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.norm = _closing_norm(config)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


class Decoder(nn.Module):
    """A stack of decoder layers, each with its own cache: x [B, T, D] -> [B, T, D]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        self.norm = _closing_norm(config)

    def forward(self, x: Tensor, memory_mask: Tensor | None, caches: list[LayerCache]) -> Tensor:
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, memory_mask, cache)
        return self.norm(x)


@dataclass
class DecoderState:
    """What decoding carries from step to step."""

    caches: list[LayerCache]
    memory_mask: Tensor | None
    n_positions: int = 0

    def reorder(self, rows: Tensor) -> None:
        """Keep the given batch rows, in that order; rows may repeat or be missing."""
        for cache in self.caches:
            cache.reorder(rows)
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask[rows]


class EncoderDecoder(nn.Module):
    """Encoder and decoder that share one embedding with the output projection (section 3.4)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.vocab_size, config.d_model)
        self.positions = SinusoidalPositions(config.max_len, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and not name.startswith("embedding"):
                nn.init.xavier_uniform_(parameter)

    def embed(self, ids: Tensor, start: int = 0) -> Tensor:
        """ids: [B, T] at positions start .. start+T-1 -> [B, T, D]."""
        return self.dropout(self.embedding(ids) + self.positions(ids.size(1), start))

    def start(self, source: Tensor) -> DecoderState:
        """Run the encoder and prepare decoding. source: [B, S], padded with pad_id."""
        mask = source.ne(self.config.pad_id)[:, None, None, :]  # [B, 1, 1, S]
        memory_mask = None if bool(mask.all()) else mask
        memory = self.encoder(self.embed(source), memory_mask)
        caches = [layer.start(memory) for layer in self.decoder.layers]  # type: ignore[operator]
        return DecoderState(caches, memory_mask)

    def advance(self, state: DecoderState, target: Tensor) -> Tensor:
        """Feed target tokens [B, T] not seen yet; returns logits [B, T, V] and moves the state.

        Several tokens at once are allowed only as the first call; raises ValueError.
        """
        if state.n_positions and target.size(1) > 1:
            raise ValueError("several target tokens at once are taken only at the start.")
        x = self.embed(target, state.n_positions)
        state.n_positions += target.size(1)
        return self.embedding.logits(self.decoder(x, state.memory_mask, state.caches))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """The forced pass. source: [B, S], target: [B, T] (both padded) -> logits [B, T, V].

        Target padding stands at the end, where the causal mask already hides it.
        """
        return self.advance(self.start(source), target)


def _closing_norm(config: ModelConfig) -> nn.Module:
    # Pre-norm leaves the last residual sum unnormalised; post-norm does not (AIAYN, figure 1).
    return nn.LayerNorm(config.d_model) if config.norm_order == "pre" else nn.Identity()


FAMILY = Family(
    name="encoder_decoder",
    title="Encoder-decoder",
    build=EncoderDecoder,
    attentions={
        "encoder_self": "encoder.layers.*.self_attention.dot_product",
        "decoder_self": "decoder.layers.*.self_attention.dot_product",
        "cross": "decoder.layers.*.cross_attention.dot_product",
    },
)
