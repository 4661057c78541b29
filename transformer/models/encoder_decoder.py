"""The Transformer of "Attention Is All You Need" (AIAYN, section 3)."""

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.layers.attention import padding_mask
from transformer.layers.blocks import Decoder, DecoderState, Encoder
from transformer.layers.embedding import make_positions
from transformer.models.family import Family, ForcedPass, Ids, Rows
from transformer.models.token_model import TokenWriter


class EncoderDecoder(TokenWriter):
    """Encoder and decoder; `config.tied` says which embeddings they share (section 3.4)."""

    def __init__(self, config: ModelConfig) -> None:
        config.require("n_encoder_layers", "n_decoder_layers")
        super().__init__(config)
        self.source_embedding = (
            None if config.tied == "all" else self.make_embedding(config.source_vocab_size)
        )
        self.source_positions = make_positions(config)[0] if config.source_positions else None
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.initialise()

    def start(self, source: Tensor) -> DecoderState:
        """Run the encoder and prepare decoding. source: [B, S], padded with pad_id."""
        mask = padding_mask(source, self.config.pad_id)
        memory_mask = None if bool(mask.all()) else mask
        x = self.embed(source, embedding=self.source_embedding, positions=self.source_positions)
        memory = self.encoder(x, memory_mask)
        return DecoderState(self.decoder.start(memory), memory_mask)

    def first(self, source: Tensor) -> Tensor:
        """The token that decoding feeds first: source [B, S] -> [B, 1]."""
        return torch.full_like(source[:, :1], self.config.bos_id)

    def room(self, n_source: int) -> int:
        """Return how many target tokens may be written after a source of n tokens.

        Without an end token a target is as long as its source. Otherwise twice the source and ten
        more: a translation that runs past that is one that repeats itself.
        """
        if self.config.eos_id is None:
            return n_source
        return min(self.config.max_len, 2 * n_source + 10)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """The forced pass. source: [B, S], target: [B, T] (both padded) -> logits [B, T, V].

        Target padding stands at the end, where the causal mask already hides it.
        """
        return self.logits(self.states(source, target))

    def states(self, source: Tensor, target: Tensor) -> Tensor:
        """The same up to the decoder's last states [B, T, D]."""
        return self.read(self.start(source), target)


def forced_pass(config: ModelConfig, source: Ids, target: Ids | None) -> ForcedPass:
    """The decoder reads the start token and all of the target but its last."""
    produced = target or ()
    read = [config.bos_id, *produced[:-1]]
    return ForcedPass(
        inputs=(source, read),
        rows={
            "encoder_self": Rows(source, source),
            "decoder_self": Rows(read, read, produced),
            "cross": Rows(read, source, produced),
        },
        embedded={"source": source, "target": read},
    )


def shared(config: ModelConfig) -> list[str]:
    """One matrix, saved once (AIAYN, section 3.4)."""
    if config.tied == "none":
        return []
    read = "source and target embeddings" if config.tied == "all" else "target embeddings"
    return [f"embedding.weight is one matrix for {read} and the output projection."]


FAMILY = Family(
    name="encoder_decoder",
    title="Encoder-decoder",
    build=EncoderDecoder,
    attentions={
        "encoder_self": "encoder.layers.*.self_attention.dot_product",
        "decoder_self": "decoder.layers.*.self_attention.dot_product",
        "cross": "decoder.layers.*.cross_attention.dot_product",
    },
    forced_pass=forced_pass,
    shared=shared,
)
